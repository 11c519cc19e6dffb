function rosbridgeDisconnect()
% rosbridgeDisconnect  Ends the connection: subscriptions and publishers are gone.
%
%   rosbridgeDisconnect
%
%   Example:
%     rosbridgeDisconnect
%
%   See also rosbridgeConnect
  rosbridge('drop');
end

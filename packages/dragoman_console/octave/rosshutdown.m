function rosshutdown()
% rosshutdown  For GNU Octave: ends the connection.
%
%   rosshutdown
%
%   Example:
%     rosshutdown
%
%   See also rosinit
  rosbridgeDisconnect();
end

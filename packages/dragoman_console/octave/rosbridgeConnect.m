function rosbridgeConnect(host, port, token)
% rosbridgeConnect  Sets where the console is, and connects to its rosbridge.
%
%   rosbridgeConnect(host, port, token)
%
%   host    name or address, default '127.0.0.1'
%   port    default 8080
%   token   of a console on another address; default none
%
%   Not needed for a console of this computer: the first ros2subscriber, ros2publisher or ros2svcclient connects to it,
%   or to what the environment variables ROSBRIDGE_HOST, ROSBRIDGE_PORT and ROSBRIDGE_TOKEN say.
%
%   Example:
%     rosbridgeConnect('192.168.1.20', 8080, 'the token that dragoman prints');
%
%   See also ros2node, rosbridgeDisconnect
  if nargin < 1, host = ''; end
  if nargin < 2, port = []; end
  if nargin < 3, token = ''; end
  rosbridge('connect', host, port, token);
end

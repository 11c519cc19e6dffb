function rosinit(varargin)
% rosinit  For GNU Octave: MATLAB's function for ROS 1, over the console's rosbridge.
%
%   rosinit
%   rosinit(host, ...)
%
%   host   name, address or URI of the robot's computer, where the console is; default: see rosbridgeConnect. Ports and
%          names and values that follow are those of ROS 1, and are ignored
%
%   With rossubscriber, rospublisher, rossvcclient and rosmessage messages have the names of ROS 1: message.Linear.X.
%
%   Example:
%     rosinit
%     odometry = rossubscriber('/odom');
%     message = receive(odometry, 3);
%     message.Pose.Pose.Position.X
%
%   See also rosshutdown, rossubscriber, ros2node
  if nargin > 0 && ~isempty(varargin{1})
    rosbridgeConnect(regexprep(char(varargin{1}), '^\w+://|:\d+/?$', ''));
  else
    rosbridge('open');
  end
end

function [publisher, message] = rospublisher(topic, type, varargin)
% rospublisher  For GNU Octave: a publisher of MATLAB's for ROS 1, for send, and an empty message.
%
%   [publisher, message] = rospublisher(topic)
%   [publisher, message] = rospublisher(topic, type, ...)
%
%   topic   name of the topic, e.g. '/cmd_vel'
%   type    e.g. 'geometry_msgs/Twist'; without it the topic's own
%
%   Example:
%     [velocity, message] = rospublisher('/cmd_vel', 'geometry_msgs/Twist');
%     message.Linear.X = 0.1;
%     send(velocity, message);
%
%   See also rosinit, rosmessage, send
  if nargin < 2, type = typeOf('topic', char(topic)); end
  publisher = ros2publisher(ros2node('octave'), topic, type, varargin{:});
  publisher.isRos1 = true;
  if nargout > 1, message = rosmessage(publisher); end
end

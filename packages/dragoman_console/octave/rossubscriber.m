function subscriber = rossubscriber(topic, type, varargin)
% rossubscriber  For GNU Octave: a subscriber of MATLAB's for ROS 1, for receive.
%
%   subscriber = rossubscriber(topic)
%   subscriber = rossubscriber(topic, type, ...)
%
%   topic   name of the topic, e.g. '/odom'
%   type    e.g. 'nav_msgs/Odometry'; without it the topic's own
%
%   Callbacks are not supported; names and values that follow have no effect.
%
%   Example:
%     message = receive(rossubscriber('/odom'), 3);
%
%   See also rosinit, receive
  if nargin < 2, type = typeOf('topic', char(topic)); end
  subscriber = ros2subscriber(ros2node('octave'), topic, type, varargin{:});
  subscriber.isRos1 = true;
end

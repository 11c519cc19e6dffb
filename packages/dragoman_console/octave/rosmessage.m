function message = rosmessage(of, varargin)
% rosmessage  For GNU Octave: an empty message with the names that MATLAB gives fields in ROS 1.
%
%   message = rosmessage(of)
%
%   of   a type such as 'std_msgs/String', a publisher, a subscriber, or a service client: then a request
%
%   Example:
%     message = rosmessage('geometry_msgs/Twist');
%     message.Linear.X = 0.1;
%
%   See also rospublisher, rossvcclient
  message = withCapitals(ros2message(of));
end

function publisher = ros2publisher(node, topic, type, varargin)
% ros2publisher  For GNU Octave: a publisher for send.
%
%   publisher = ros2publisher(node, topic, type, ...)
%
%   node    from ros2node
%   topic   name of the topic, e.g. '/cmd_vel'
%   type    e.g. 'geometry_msgs/Twist'
%
%   Names and values that follow are those of MATLAB; 'Durability', 'transientlocal' keeps the last message for later
%   subscribers, the others have no effect.
%
%   Example:
%     velocity = ros2publisher(ros2node('my_program'), '/cmd_vel', 'geometry_msgs/Twist');
%     message = ros2message(velocity);
%     message.linear.x = 0.1;
%     send(velocity, message);
%
%   See also send, ros2message, ros2subscriber
  topic = absolute(node, topic);
  publisher = struct('kind', 'publisher', 'TopicName', topic, 'MessageType', char(type));
  rosbridge('details', 'message', publisher.MessageType);
  publisher.latch = any(strcmpi('transientlocal', varargin(cellfun(@ischar, varargin))));
  rosbridge('advertise', topic, publisher.MessageType, publisher.latch);
end

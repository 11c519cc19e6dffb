function subscriber = ros2subscriber(node, topic, type, varargin)
% ros2subscriber  For GNU Octave: a subscriber for receive.
%
%   subscriber = ros2subscriber(node, topic)
%   subscriber = ros2subscriber(node, topic, type, ...)
%
%   node    from ros2node
%   topic   name of the topic, e.g. '/odom'
%   type    e.g. 'nav_msgs/Odometry'; without it the topic's own
%
%   Names and values that follow are those of MATLAB (History, Depth, Reliability, Durability); they have no effect: the
%   console takes the publishers' settings. Callbacks are not supported. The subscription ends with the last copy of the
%   subscriber: clear subscribers of images that are not needed any more.
%
%   Example:
%     odometry = ros2subscriber(ros2node('my_program'), '/odom', 'nav_msgs/Odometry');
%     message = receive(odometry, 3);
%
%   See also receive, ros2publisher
  topic = absolute(node, topic);
  if nargin < 3 || isempty(type)
    type = rosbridge('service', '/rosapi/topic_type', struct('topic', topic), 10).type;
    if isempty(type), error('ros2:unknownTopic', '%s has no publisher: say its type', topic); end
  end
  if isa(type, 'function_handle') || any(cellfun(@(one) isa(one, 'function_handle'), varargin))
    error('ros2:callback', 'callbacks are not supported in Octave: use receive');
  end
  subscriber = struct('kind', 'subscriber', 'TopicName', topic, 'MessageType', char(type));
  rosbridge('details', 'message', subscriber.MessageType);
  rosbridge('subscribe', topic, subscriber.MessageType);
  subscriber.cleanup = onCleanup(@() rosbridge('unsubscribe', topic));
end

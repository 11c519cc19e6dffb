function send(publisher, message)
% send  For GNU Octave: publishes a message.
%
%   send(publisher, message)
%
%   publisher   from ros2publisher
%   message     from ros2message
%
%   Example:
%     send(velocity, message);
%
%   See also ros2publisher, ros2message
  if ~isstruct(publisher) || ~strcmp(publisher.kind, 'publisher')
    error('ros2:publisher', 'the first argument is no publisher');
  end
  % Without an effect, except after rosbridgeDisconnect.
  rosbridge('advertise', publisher.TopicName, publisher.MessageType, publisher.latch);
  details = rosbridge('details', 'message', publisher.MessageType);
  values = toJson(message, details, 1, publisher.TopicName, isfield(publisher, 'isRos1'));
  rosbridge('send', struct('op', 'publish', 'topic', publisher.TopicName, 'msg', values));
end

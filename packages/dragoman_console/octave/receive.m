function [message, status, statusText] = receive(subscriber, timeout)
% receive  For GNU Octave: waits for the next message of a topic.
%
%   message = receive(subscriber)
%   message = receive(subscriber, timeout)
%   [message, status, statusText] = receive(subscriber, timeout)
%
%   subscriber   from ros2subscriber
%   timeout      s; without it there is no limit
%
%   A message that came before is skipped, except for the first call: a topic may have only one. Without a message in
%   time there is an error, or with two results status is false.
%
%   Example:
%     message = receive(odometry, 3);
%
%   See also ros2subscriber
  if ~isstruct(subscriber) || ~strcmp(subscriber.kind, 'subscriber')
    error('ros2:subscriber', 'the first argument is no subscriber');
  end
  if nargin < 2, timeout = Inf; end
  if ~isscalar(timeout) || ~(timeout > 0), error('ros2:timeout', 'timeout must be above 0'); end
  text = rosbridge('receive', subscriber.TopicName, subscriber.MessageType, timeout);
  [message, status, statusText] = deal([], ~isempty(text), '');
  if status
    details = rosbridge('details', 'message', subscriber.MessageType);
    message = fromJson(jsondecode(text).msg, details, 1);
    message.MessageType = subscriber.MessageType;
    if isfield(subscriber, 'isRos1'), message = withCapitals(message); end
    return
  end
  statusText = sprintf('no message of %s within %g s', subscriber.TopicName, timeout);
  if nargout < 2, error('ros2:timeout', '%s', statusText); end
end

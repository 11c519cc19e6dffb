function message = ros2message(of)
% ros2message  For GNU Octave: an empty message.
%
%   message = ros2message(of)
%
%   of        a type such as 'std_msgs/String', a publisher, a subscriber, or a service client: then a request
%   message   a struct with the fields of the type. Sequences are empty
%
%   Example:
%     message = ros2message('geometry_msgs/Twist');
%
%   See also send, call
  kind = 'message';
  if isstruct(of) && strcmp(of.kind, 'client')
    kind = 'service_request';
    type = of.ServiceType;
  elseif isstruct(of)
    type = of.MessageType;
  else
    type = char(of);
  end
  message = emptyMessage(rosbridge('details', kind, type), 1);
  message.MessageType = type;
end

function type = typeOf(what, name)
% The type of a topic or service that is there, such as nav_msgs/Odometry.
  found = rosbridge('service', sprintf('/rosapi/%s_type', what), struct(what, name), 10);
  type = regexprep(found.type, '/(msg|srv)/', '/');
  if isempty(type), error('ros2:unknownType', 'there is no %s %s: say its type', what, name); end
end

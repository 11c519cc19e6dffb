function message = toRos2(message, template)
% toRos2  A message with the field names of ROS 1 as a message of ROS 2 like the template, with its classes.
  if ~isstruct(template)
    if ischar(template) || isstring(template)
      message = char(message);
    elseif islogical(template)
      message = logical(message);
    else
      message = cast(message, class(template));
    end
    return
  end
  names = fieldnames(template);
  if isempty(names)
    message = template;
    return
  end
  source = VREP.toRos1(template(1));
  capitals = fieldnames(source);
  converted = repmat(template(1), size(message));
  for k = 1:numel(message)
    for i = 1:numel(names)
      if isfield(message, capitals{i})
        converted(k).(names{i}) = VREP.toRos2(message(k).(capitals{i}), template(1).(names{i}));
      end
    end
  end
  message = converted;
end

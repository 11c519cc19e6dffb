function out = toJson(message, details, place, what, isRos1)
% A message as what jsonencode writes as its JSON: lists are cell arrays, so that one element is a list as well.
% isRos1: fields have the names that MATLAB gives them in ROS 1.
  type = details(place);
  if ~isstruct(message) || ~isscalar(message), error('ros2:message', '%s: a message is a struct', what); end
  out = struct();
  names = type.fieldnames;
  if isRos1, names = cellfun(@capitalized, names, 'UniformOutput', false); end
  for name = fieldnames(message)'
    name = name{1};
    if any(strcmp(name, {'MessageType', 'structure_needs_at_least_one_member', 'StructureNeedsAtLeastOneMember'})), continue, end
    i = find(strcmp(names, name));
    if isempty(i), error('ros2:field', '%s: %s has no field ''%s''', what, type.type, name); end
    value = message.(name);
    inner = [what '.' name];
    name = type.fieldnames{i};
    if type.places(i) > 0
      if type.fieldarraylen(i) < 0
        out.(name) = toJson(value, details, type.places(i), inner, isRos1);
      else
        if iscell(value), value = [value{:}]; end
        convert = @(one) toJson(one, details, type.places(i), inner, isRos1);
        out.(name) = arrayfun(convert, reshape(value, 1, []), 'UniformOutput', false);
      end
    else
      out.(name) = primitives(value, type.fieldtypes{i}, type.fieldarraylen(i), inner);
    end
  end
end

function out = primitives(value, type, count, what)
  if any(strcmp(type, {'string', 'wstring'}))
    if count < 0
      if ~(ischar(value) || isa(value, 'string')), error('ros2:field', '%s must be a text', what); end
      out = char(value);
    else
      out = reshape(cellstr(value), 1, []);
      if isempty(value), out = {}; end
    end
    return
  end
  if ~(isnumeric(value) || islogical(value)) || (count < 0 && ~isscalar(value))
    error('ros2:field', '%s must be a number', what);
  end
  limits = 'int8 uint8 int16 uint16 int32 uint32 int64 uint64';
  kind = classOf(type);
  if ~isempty(strfind(limits, kind)) && any(double(value(:)) ~= double(cast(value(:), kind)))
    error('ros2:field', '%s: values must be whole numbers of %s', what, type);
  end
  if count >= 0 && isBytes(type)
    out = matlab.net.base64encode(uint8(reshape(value, 1, [])));
    if isempty(value), out = ''; end
    return
  end
  if strcmp(kind, 'logical')
    value = logical(value);
  else
    if any(abs(double(value(:))) > 2^53 & ~isinf(double(value(:)))) && ~any(strcmp(kind, {'single', 'double'}))
      error('ros2:field', '%s: whole numbers beyond 2^53 cannot be sent', what);
    end
    value = double(value);
  end
  out = value;
  if count >= 0, out = num2cell(reshape(value, 1, [])); end
end

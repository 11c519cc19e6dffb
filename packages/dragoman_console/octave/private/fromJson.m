function message = fromJson(value, details, place)
% A decoded JSON object as a message with MATLAB's classes.
  type = details(place);
  message = struct();
  for i = 1:numel(type.fieldnames)
    name = type.fieldnames{i};
    found = [];
    if isfield(value, name), found = value.(name); end
    if type.places(i) > 0
      message.(name) = structures(found, details, type.places(i), type.fieldarraylen(i));
    else
      message.(name) = primitives(found, type.fieldtypes{i}, type.fieldarraylen(i));
    end
  end
  if isempty(type.fieldnames), message.structure_needs_at_least_one_member = uint8(0); end
end

function found = structures(value, details, place, count)
  if count < 0
    found = fromJson(value, details, place);
    return
  end
  if iscell(value), value = [value{:}]; end
  found = repmat(emptyMessage(details, place), numel(value), 1);
  for i = 1:numel(value)
    found(i) = fromJson(value(i), details, place);
  end
end

function found = primitives(value, type, count)
  if any(strcmp(type, {'string', 'wstring'}))
    found = value;
    if count >= 0 && ~iscell(found)
      found = cell(0, 1);
      if ~isempty(value), found = {value}; end
    elseif count < 0
      found = char(found);
    end
    return
  end
  if count >= 0 && ischar(value) && isBytes(type)
    found = reshape(matlab.net.base64decode(value), [], 1);
    return
  end
  if iscell(value)
    % JSON has no NaN: it is null, which jsondecode makes empty.
    value(cellfun(@isempty, value)) = {NaN};
    value = [value{:}];
  end
  if isempty(value) && count < 0, value = NaN; end
  if strcmp(classOf(type), 'logical'), value(isnan(value)) = false; end
  found = cast(value(:), classOf(type));
end

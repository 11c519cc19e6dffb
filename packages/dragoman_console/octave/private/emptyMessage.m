function message = emptyMessage(details, place)
% An empty message of the type at this place of the details. They are a struct array as of rosapi, and so is each field
% 'places': the place of each field's type, 0 for a primitive one.
  type = details(place);
  message = struct();
  for i = 1:numel(type.fieldnames)
    inner = type.places(i);
    if inner > 0
      value = emptyMessage(details, inner);
      if type.fieldarraylen(i) >= 0, value = repmat(value, type.fieldarraylen(i), 1); end
    else
      value = emptyValues(type.fieldtypes{i}, type.fieldarraylen(i));
    end
    message.(type.fieldnames{i}) = value;
  end
  if isempty(type.fieldnames), message.structure_needs_at_least_one_member = uint8(0); end
  % The only default that a definition of this kind has, and that rosapi does not show.
  if strcmp(type.type, 'geometry_msgs/msg/Quaternion'), message.w = 1; end
end

function value = emptyValues(type, count)
% The value of a field of a primitive type; count: -1 for a single one, 0 for a sequence.
  isText = any(strcmp(type, {'string', 'wstring'}));
  if count < 0 && isText
    value = '';
  elseif isText
    value = repmat({''}, count, 1);
  else
    value = cast(zeros(abs(count), 1), classOf(type));
  end
end

function bytes = apoloDoubles(values, count, what)
% The bytes of this number of doubles. 'what' is the error text for any other number.
  if ~isnumeric(values) || ~isreal(values) || numel(values) ~= count
    error('apolo:values', '%s', what);
  end
  bytes = reshape(typecast(reshape(double(values), 1, []), 'uint8'), 1, []);
end

function bytes = apoloDoubles(values, count, what)
% The bytes of so many doubles. 'what' names them in the error that another number of them gives.
  if ~isnumeric(values) || ~isreal(values) || numel(values) ~= count
    error('apolo:values', '%s', what);
  end
  bytes = reshape(typecast(reshape(double(values), 1, []), 'uint8'), 1, []);
end

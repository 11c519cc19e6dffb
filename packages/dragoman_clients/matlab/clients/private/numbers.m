function values = numbers(values, what, count, low, high)
% A row of this many finite numbers.
  if nargin < 4, [low, high] = deal(-realmax, realmax); end
  if ~(isnumeric(values) && isreal(values) && numel(values) == count && all(isfinite(values(:))))
    fail('badArgument', '%s must have %d finite numbers', what, count);
  end
  values = reshape(double(values), 1, []);
  if any(values < low | values > high)
    fail('badArgument', 'numbers of %s must be between %g and %g', what, low, high);
  end
end

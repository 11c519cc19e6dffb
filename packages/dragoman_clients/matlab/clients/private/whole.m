function value = whole(value, what, low, high)
% A whole number within these limits.
  if nargin < 3, [low, high] = deal(-2^31, 2^31 - 1); end
  value = inRange(value, what, low, high);
  if value ~= fix(value), fail('badArgument', '%s must be a whole number, not %g', what, value); end
end

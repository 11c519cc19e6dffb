function value = inRange(value, what, low, high)
% A finite number within these limits.
  if ~isnumeric(value) || ~isscalar(value) || ~isreal(value) || ~isfinite(value)
    fail('badArgument', '%s must be a finite number', what);
  end
  value = double(value);
  if value < low || value > high
    fail('badArgument', '%s must be between %g and %g, not %g', what, low, high, value);
  end
end

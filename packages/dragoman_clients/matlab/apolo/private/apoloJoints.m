function bytes = apoloJoints(values)
% The bytes of joint values: their number, and each as a double.
  count = numel(values);
  if count < 1 || count > 255
    error('apolo:values', 'values must be a vector of 1 to 255 numbers');
  end
  bytes = [uint8(count), apoloDoubles(values, count, 'values must be a vector of real numbers')];
end

function degrees = angleDifference(a, b)
% How far direction a lies counterclockwise of direction b, in degrees, from -180 up to 180.
  degrees = mod(a - b + 180, 360) - 180;
end

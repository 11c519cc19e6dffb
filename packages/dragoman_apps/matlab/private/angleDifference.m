function degrees = angleDifference(a, b)
% Angle from direction b counterclockwise to direction a, in degrees, from -180 up to 180.
  degrees = mod(a - b + 180, 360) - 180;
end

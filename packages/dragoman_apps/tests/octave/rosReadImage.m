function image = rosReadImage(message)
% The camera image of the scripted robot: circles, on three rows.
  global ROBOT
  assert(strcmp(message.encoding, '32FC1'));
  columns = 64;
  angles = atan((columns / 2 - ((1:columns) - 0.5)) / (columns / 2) * tan(deg2rad(28.5)));
  line = nan(1, columns, 'single');
  for i = 1:size(ROBOT.circles, 1)
    away = ROBOT.circles(i, 1:2) - ROBOT.pose(1:2);
    across = away(2) * cos(ROBOT.pose(3) + angles) - away(1) * sin(ROBOT.pose(3) + angles);
    along = away(1) * cos(ROBOT.pose(3) + angles) + away(2) * sin(ROBOT.pose(3) + angles);
    radius = ROBOT.circles(i, 3);
    hit = along > 0 & abs(across) < radius;
    depth = (along - sqrt(max(0, radius ^ 2 - across .^ 2))) .* cos(angles);
    hit = hit & depth > 0.4 & depth < 4.5;
    line(hit) = min(line(hit), depth(hit));
  end
  image = repmat(line, 3, 1);
end

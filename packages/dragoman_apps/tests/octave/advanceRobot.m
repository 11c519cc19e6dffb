function advanceRobot(seconds)
% Advances the time of the scripted robot: it drives as commanded, for 0.6 s after a command, and stops at obstacles.
  global ROBOT
  finish = ROBOT.time + seconds;
  while ROBOT.time < finish - 1e-9
    step = min(0.02, finish - ROBOT.time);
    ROBOT.time = ROBOT.time + step;
    if ROBOT.time - ROBOT.commanded > 0.6
      ROBOT.velocity = [0 0];
    end
    pose = ROBOT.pose;
    pose(3) = pose(3) + ROBOT.velocity(2) * step;
    pose(1:2) = pose(1:2) + ROBOT.velocity(1) * step * [cos(pose(3)) sin(pose(3))];
    touched = 0;
    for i = 1:size(ROBOT.circles, 1)
      away = ROBOT.circles(i, 1:2) - pose(1:2);
      if norm(away) < ROBOT.circles(i, 3) + 0.177
        % Left 4, centre 2, right 1.
        left = away(2) * cos(pose(3)) - away(1) * sin(pose(3));
        touched = 2 + (left > 0.05) * 2 - (left < -0.05);
      end
    end
    if touched
      pose(1:2) = ROBOT.pose(1:2);
      ROBOT.contacts = ROBOT.contacts + (ROBOT.bumper == 0);
    end
    ROBOT.bumper = touched;
    ROBOT.pose = pose;
  end
end

function mockRobot(circles)
% A robot at the origin, among circles [x y radius] in m.
  global ROBOT
  ROBOT = struct('time', 0, 'pose', [0 0 0], 'velocity', [0 0], 'commanded', -1, 'bumper', 0, 'isReal', false);
  ROBOT.circles = circles;
  ROBOT.log = {};
  ROBOT.console = {};
  ROBOT.contacts = 0;
end

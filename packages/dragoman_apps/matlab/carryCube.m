function carryCube()
% carryCube  The first application of the TurtleBot thesis, 5.2: a cube of 3 cm from the far table to the near one.
%
%   carryCube
%
%   The robot stands between the tables, facing the far one, its odometry at zero: 2.915 m before the place from
%   which it grasps, 3 m before the place from which it puts down. 'dragoman up --world laboratory' is such a room.
%
%   Example:
%     carryCube
%
%   See also TurtleBot, firstProgram, navigateTargets
  farTable = 2.915;                   % m ahead of the start
  nearTable = -3;                     % m, behind it
  robot = TurtleBot('carry_cube', {'arm'});
  stopAtTheEnd = onCleanup(@() drive(robot, 0, 0));

  printConsole(robot, 'To the far table');
  driveLine(robot, farTable, 0);
  drive(robot, 0, 0);
  waitTime(robot, 1);

  printConsole(robot, 'Grasping the cube');
  moveJoint(robot, 'arm_3_joint', deg2rad(90));       % biceps
  waitTime(robot, 1.5);
  moveJoint(robot, 'arm_4_joint', deg2rad(-90));      % forearm
  waitTime(robot, 1.5);
  moveJoint(robot, 'arm_1_joint', 0);                 % base of the arm
  waitTime(robot, 1.5);
  setJointSpeed(robot, 'arm_2_joint', deg2rad(10));   % shoulder, slowly down to the cube
  moveJoint(robot, 'arm_2_joint', deg2rad(65));
  waitTime(robot, 7);
  setJointSpeed(robot, 'arm_2_joint', deg2rad(100));
  moveJoint(robot, 'arm_5_joint', 0);                 % wrist
  waitTime(robot, 1.5);
  moveJoint(robot, 'gripper_1_joint', 1);
  waitTime(robot, 2);

  printConsole(robot, 'Lifting it');                  % folded, the gripper towards the ceiling
  moveJoint(robot, 'arm_2_joint', deg2rad(-15));
  moveJoint(robot, 'arm_4_joint', deg2rad(90));
  moveJoint(robot, 'arm_3_joint', deg2rad(-90));
  moveJoint(robot, 'arm_5_joint', 0);
  moveJoint(robot, 'arm_2_joint', deg2rad(-90));
  waitTime(robot, 1);

  printConsole(robot, 'Turning round');
  turnTo(robot, 180);
  drive(robot, 0, 0);

  printConsole(robot, 'To the near table');
  driveLine(robot, nearTable, 180);
  drive(robot, 0, 0);
  waitTime(robot, 1);

  printConsole(robot, 'Putting the cube down');
  moveJoint(robot, 'arm_2_joint', deg2rad(40));
  moveJoint(robot, 'arm_3_joint', deg2rad(50));
  moveJoint(robot, 'arm_4_joint', deg2rad(-90));
  waitTime(robot, 2);
  moveJoint(robot, 'gripper_1_joint', 0);
  waitTime(robot, 2);

  printConsole(robot, 'Arm home');
  moveJoint(robot, 'arm_2_joint', 0);
  moveJoint(robot, 'arm_4_joint', 0);
  moveJoint(robot, 'arm_3_joint', 0);
  waitTime(robot, 2);
  for i = 1:5
    relaxJoint(robot, sprintf('arm_%d_joint', i));
  end
  printConsole(robot, 'Done');
end

function driveLine(robot, goal, heading)
% Along the line through the start to x = goal, in m; heading, in degrees, is 0 or 180.
  direction = cosd(heading);
  contacts = 0;
  [x, y, theta] = poseFromOdometry(receive(robot.odometry, 3));
  while (goal - x) * direction > 0
    sensors = receive(robot.sensors, 3);
    if sensors.bumper ~= 0 || sensors.cliff ~= 0
      contacts = contacts + 1;
      if contacts > 8
        error('carryCube:blocked', 'the way to x = %g m was blocked %d times', goal, contacts);
      end
      printConsole(robot, 'Something is in the way');
      driveFor(robot, -0.2, 0, 1.5);
      % Away from the touched side: 4 is the left bumper, 1 the right one.
      side = 1 - 2 * (bitand(sensors.bumper, 5) == 4);
      driveFor(robot, 0, side * pi / 4, 1.5);
      driveFor(robot, 0.2, 0, 2);
    else
      % Heading towards the line, in degrees, and 0.1 rad/s for each degree of heading error.
      towardsLine = direction * max(-28, min(28, rad2deg(-1.5 * y)));
      off = angleDifference(theta, heading + towardsLine);
      ahead = 0.2 * (abs(off) < 45);
      drive(robot, ahead, max(-0.8, min(0.8, -0.1 * off)));
    end
    [x, y, theta] = poseFromOdometry(receive(robot.odometry, 3));
  end
end

function driveFor(robot, linear, angular, seconds)
  began = simulationTime(robot);
  while simulationTime(robot) - began < seconds
    drive(robot, linear, angular);
    pause(0.02);
  end
end

function turnTo(robot, heading)
% Turns on the spot to a heading, in degrees, within half a degree; slowly in the last fifteen.
  [~, ~, theta] = poseFromOdometry(receive(robot.odometry, 3));
  off = angleDifference(heading, theta);
  while abs(off) > 0.5
    if abs(off) > 15.5
      rate = pi / 4;
    else
      rate = 0.05;
    end
    drive(robot, 0, rate * sign(off));
    [~, ~, theta] = poseFromOdometry(receive(robot.odometry, 3));
    off = angleDifference(heading, theta);
  end
end

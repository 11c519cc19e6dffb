function firstProgram()
% firstProgram  The first program of the TurtleBot thesis, A.4: straight on for three seconds, and stop.
%
%   firstProgram
%
%   Shows the parts of every program: create publishers and subscribers, print a text, loop, stop. In three seconds at
%   0.2 m/s the base drives nearly 0.6 m; it loses some distance while it accelerates.
%
%   Example:
%     setenv('ROS_DOMAIN_ID', '0');
%     firstProgram
%
%   See also TurtleBot, carryCube, navigateTargets
  linearVelocity = 0.2;               % m/s
  seconds = 3;

  robot = TurtleBot('first_program');
  stopAtTheEnd = onCleanup(@() drive(robot, 0, 0));
  printConsole(robot, 'Initialized.');

  printConsole(robot, 'Moving for %g seconds...', seconds);
  began = simulationTime(robot);
  while simulationTime(robot) - began < seconds
    [x, y, theta] = poseFromOdometry(receive(robot.odometry, 3));
    printConsole(robot, 'X: %.3f, Y: %.3f, Theta: %.1f', x, y, theta);
    % Repeat the command in every cycle: without a command for 0.6 s the base stops.
    drive(robot, linearVelocity, 0);
  end

  printConsole(robot, 'Stopping...');
  drive(robot, 0, 0);
  waitTime(robot, 1);
end

function navigateTargets(targets)
% navigateTargets  The second application of the TurtleBot thesis, 5.3: from target to target with the Kinect.
%
%   navigateTargets
%   navigateTargets(targets)
%
%   targets   n x 2: x and y of the targets in the frame of the odometry, m; without them those of 'dragoman up --world
%             corridor'
%
%   A force attracts the robot to the target, another one repels it from the nearest obstacle on the middle line of
%   the depth image; their sum determines the turn. The law of the thesis uses grey values, in which near is bright;
%   depths in m are converted: see greyFromDepth. The law gets stuck where an obstacle is before a far target, so it
%   needs many targets, and a repulsion that only bends the way. The program navigate of dragoman_apps has a memory and
%   searches for free directions, and needs six targets. Here the robot may touch an obstacle that leaves the picture
%   before it is passed, and then backs off.
%
%   Example:
%     navigateTargets([1 0; 1 1]);
%
%   See also greyFromDepth, TurtleBot, carryCube
  if nargin < 1
    targets = [1.4 -0.2; 2.5 0.7; 2.8 2.0; 2.6 3.2; 1.9 3.8; 1.1 3.9; 0.3 3.5; -0.4 3.1; -1.6 3.0; -2.9 3.0
               -3.5 3.5; -4.3 3.7; -5.0 4.3; -5.0 5.2; -5.2 6.2; -6.2 6.5];
  end
  attraction = 1;                     % per m
  repulsion = 0.0003;                 % per grey value
  nearGrey = 120;
  arrived = 0.05;                     % m
  slow = 0.2;                         % m/s
  fast = 0.25;
  halfField = deg2rad(57) / 2;        % of the picture
  robotRadius = 0.177;

  robot = TurtleBot('navigate_targets', {'depth'});
  stopAtTheEnd = onCleanup(@() drive(robot, 0, 0));
  count = size(targets, 1);
  for i = 1:count
    target = targets(i, :);
    began = simulationTime(robot);
    d = inf;
    while d > arrived
      if simulationTime(robot) - began > 120
        error('navigateTargets:timeOut', 'target %d of %d was not reached within 120 s', i, count);
      end
      sensors = receive(robot.sensors, 3);
      if sensors.bumper ~= 0 || sensors.cliff ~= 0
        printConsole(robot, 'Something is in the way');
        retreat(robot);
      end
      [x, y, theta] = poseFromOdometry(receive(robot.odometry, 3));
      theta = deg2rad(theta);
      d = hypot(target(1) - x, target(2) - y);

      % The nearest point on the vision line repels. Behind the target it does not: near a target the repulsion would
      % be greater than the attraction.
      image = rosReadImage(receive(robot.depth, 3));
      line = image(floor(end / 2) + 1, :);
      if isa(line, 'uint8')
        line = double(line);            % mono8: already grey values
      else
        line = greyFromDepth(line);
      end
      [grey, column] = max(line);
      force = repulsion * max(0, grey - nearGrey) * (grey > greyFromDepth(d + robotRadius));
      half = numel(line) / 2;
      angle = (half - (column - 0.5)) * halfField / half;
      push = force * [cos(theta + angle + pi), sin(theta + angle + pi)];

      % The target attracts, near it with a constant factor.
      pull = attraction * max(d, 0.5) * (target - [x y]);

      speed = fast;
      if d < 0.5 && i == count
        speed = slow;
      end
      sum = pull + push;
      turn = atan2(sum(2), sum(1)) - theta;
      turn = atan2(sin(turn), cos(turn));
      % Large turns are made on the spot.
      if abs(turn) > halfField
        speed = 0;
      end
      drive(robot, min(speed, d), max(-pi / 2, min(pi / 2, turn)));
    end
    printConsole(robot, 'Target %d of %d reached at X: %.2f, Y: %.2f', i, count, x, y);
  end
  drive(robot, 0, 0);
  waitTime(robot, 1);
end

function retreat(robot)
% Back off, and turn a little.
  for velocity = [-0.2 0; 0 pi / 4]
    began = simulationTime(robot);
    while simulationTime(robot) - began < 1.5
      drive(robot, velocity(1), velocity(2));
      pause(0.02);
    end
  end
end

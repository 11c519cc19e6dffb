function log = driveCourse(port, folder)
% driveCourse  Drives a wheeled robot of Apolo around a square, and logs where it is and where its odometry is.
%
%   log = driveCourse(port, folder)
%
%   port     of Apolo's protocol, default 12000
%   folder   for course.csv and course.svg, default '.'
%   log      rows [time x y yaw odometryX odometryY odometryYaw nearest]: s, m, rad, and the laser's least range
%
%   Example:
%     addpath ../apolo
%     driveCourse
%
%   See also apoloMoveMRobot, calibrateOdometry
  if nargin < 1, port = 12000; end
  if nargin < 2, folder = '.'; end
  robot = 'Pioneer3AT';
  [speed, turnRate, step] = deal(0.5, 0.8, 0.05);
  apoloConnect('127.0.0.1', port);
  if apoloPlaceMRobot(robot, [0.7 0.7 0], 0) ~= 1, error('there is no room for the robot'); end
  apoloResetOdometry(robot, [0.7 0.7 0]);
  log = zeros(0, 8);
  time = 0;
  for side = 1:4
    for motion = [speed, 0, 1 / speed; 0, turnRate, pi / 2 / turnRate]'
      left = motion(3);
      % In small steps, so that the robot does not jump over obstacles.
      while left > 1e-9
        seconds = min(step, left);
        if apoloMoveMRobot(robot, motion(1:2)', seconds) ~= 1, error('the robot stands in front of an obstacle'); end
        apoloUpdate
        left = left - seconds;
        time = time + seconds;
        location = apoloGetLocationMRobot(robot);
        nearest = min(apoloGetLaserData('LMS100'));
        log(end + 1, :) = [time, location([1 2 4]), apoloGetOdometry(robot), nearest]; %#ok<AGROW>
      end
    end
    fprintf('side %d: x %.3f, y %.3f; odometry x %.3f, y %.3f\n', side, log(end, [2 3 5 6]));
  end
  apoloDisconnect
  writeTable(fullfile(folder, 'course.csv'), 'time,x,y,yaw,odometry_x,odometry_y,odometry_yaw,nearest', log);
  drawPicture(fullfile(folder, 'course.svg'), [robot ' around a square'], {'x, m', 'y, m'}, ...
              {'where it is', 'its odometry'}, log(:, 2), log(:, 3), 'b', log(:, 5), log(:, 6), 'r');
end

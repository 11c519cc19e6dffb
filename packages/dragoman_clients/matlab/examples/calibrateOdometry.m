function factors = calibrateOdometry(port, folder, runs)
% calibrateOdometry  Calibrates the odometry of the RoMAA: how far it goes when its odometry says 1 m, and 1 rad.
%
%   factors = calibrateOdometry(port, folder, runs)
%
%   port      of Apolo's protocol, default 12000
%   folder    for odometry.svg, default '.'
%   runs      of each kind, default 20
%   factors   rows for way and angle: the factor, and its standard deviation
%
%   Drives forth and back, and turns left and right. Where the robot really is comes from the simulated world; in a
%   laboratory it comes from a tape measure or a camera.
%
%   Example:
%     addpath ../apolo
%     calibrateOdometry
%
%   See also apoloGetOdometry, driveCourse
  if nargin < 1, port = 12000; end
  if nargin < 2, folder = '.'; end
  if nargin < 3, runs = 20; end
  robot = 'RoMAA';
  apoloConnect('127.0.0.1', port);
  start = apoloGetLocationMRobot(robot);
  factors = zeros(2, 2);
  pairs = cell(1, 2);
  for kind = 1:2
    pairs{kind} = zeros(runs, 2);
    for run = 1:runs
      direction = 1 - 2 * mod(run + 1, 2);
      apoloResetOdometry(robot, [0 0 0]);
      before = apoloGetLocationMRobot(robot);
      speeds = direction * ((1:2) == kind) .* [0.4 0.8];
      for i = 1:25
        if apoloMoveMRobot(robot, speeds, 0.05) ~= 1, error('the robot stands in front of an obstacle'); end
      end
      after = apoloGetLocationMRobot(robot);
      odometry = apoloGetOdometry(robot);
      if kind == 1
        pairs{kind}(run, :) = direction * [norm(odometry(1:2)), norm(after(1:2) - before(1:2))];
      else
        pairs{kind}(run, :) = [odometry(3), atan2(sin(after(4) - before(4)), cos(after(4) - before(4)))];
      end
    end
    % Least squares.
    [by, is] = deal(pairs{kind}(:, 1), pairs{kind}(:, 2));
    factor = sum(by .* is) / sum(by .^ 2);
    factors(kind, :) = [factor, sqrt(sum((is - factor * by) .^ 2) / (runs - 1) / sum(by .^ 2))];
    names = {'way', 'angle'};
    fprintf('%s: true = %.5f +- %.5f times the odometry, %d runs\n', names{kind}, factors(kind, :), runs);
  end
  apoloPlaceMRobot(robot, start(1:3), start(4));
  apoloDisconnect
  difference = @(of) 1000 * (of(:, 2) - of(:, 1));
  ends = @(of) [min(of(:, 1)), max(of(:, 1))];
  drawPicture(fullfile(folder, 'odometry.svg'), 'Odometry of the RoMAA', ...
              {'by the odometry, m or rad', 'true - odometry, mm or mrad'}, {'way', 'angle'}, ...
              pairs{1}(:, 1), difference(pairs{1}), 'bo', pairs{2}(:, 1), difference(pairs{2}), 'rx', ...
              ends(pairs{1}), 1000 * (factors(1) - 1) * ends(pairs{1}), 'b', ...
              ends(pairs{2}), 1000 * (factors(2) - 1) * ends(pairs{2}), 'r');
end

function heights = pickCube(apoloPort, folder)
% pickCube  Lets the TurtleBot with its WidowX arm fetch a cube from a table, over ROS, and draws its height.
%
%   heights = pickCube(apoloPort, folder)
%
%   apoloPort   of Apolo's protocol, only to draw where the cube is, default 12000
%   folder      for cube.svg, default '.'
%   heights     rows [time height] of the cube, s and m
%
%   For the room of 'dragoman up --world laboratory'. carryCube is the whole application of the TurtleBot thesis, 5.2.
%
%   Example:
%     addpath ../apolo ../../../dragoman_apps/matlab         % in Octave also ../../../dragoman_console/octave
%     pickCube
%
%   See also carryCube, TurtleBot
  if nargin < 1, apoloPort = 12000; end
  if nargin < 2, folder = '.'; end
  table = 2.915;                      % m ahead of the start
  apoloConnect('127.0.0.1', apoloPort);
  began = tic;
  heights = look(zeros(0, 2), began);
  robot = TurtleBot('pick_cube', {'arm'});
  stopAtTheEnd = onCleanup(@() drive(robot, 0, 0));
  moveJoint(robot, 'gripper_1_joint', 0);
  while true
    [x, y, theta] = poseFromOdometry(receive(robot.odometry, 3));
    if x >= table, break, end
    drive(robot, min(0.3, max(0.05, table - x)), max(-0.8, min(0.8, -1.5 * y - 2 * deg2rad(theta))));
    heights = look(heights, began);
  end
  drive(robot, 0, 0);
  waitTime(robot, 1);
  printConsole(robot, 'At the table: %.3f m', x);
  % Joint, degrees, its speed in degrees/s, and seconds that it needs.
  steps = {'arm_3_joint', 90, 100, 1.5; 'arm_4_joint', -90, 100, 1.5; 'arm_1_joint', 0, 100, 1.5
           'arm_5_joint', 0, 100, 0.1; 'arm_2_joint', 65, 10, 7; 'gripper_1_joint', rad2deg(2.5), 100, 3
           'arm_2_joint', -15, 10, 9; 'arm_2_joint', -60, 60, 2};
  for i = 1:size(steps, 1)
    [joint, degrees, speed, seconds] = steps{i, :};
    setJointSpeed(robot, joint, deg2rad(speed));
    moveJoint(robot, joint, deg2rad(degrees));
    start = simulationTime(robot);
    while simulationTime(robot) - start < seconds
      heights = look(heights, began);
    end
  end
  start = simulationTime(robot);
  while simulationTime(robot) - start < 3
    drive(robot, -0.2, 0);
    heights = look(heights, began);
  end
  drive(robot, 0, 0);
  apoloDisconnect
  printConsole(robot, 'The cube was at %.3f m and is at %.3f m', heights(1, 2), heights(end, 2));
  drawPicture(fullfile(folder, 'cube.svg'), 'Fetching the cube', {'time, s', 'height of the cube, m'}, {'cube'}, ...
              heights(:, 1), heights(:, 2), 'b');
  if heights(end, 2) < heights(1, 2) + 0.05, error('pickCube:notLifted', 'the cube was not lifted'); end
end

function heights = look(heights, began)
  place = apoloGetLocation('cube');
  heights(end + 1, :) = [toc(began), place(3)];
end

function ret = apoloGetOdometry(robot, world)
% apoloGetOdometry  Odometry of a wheeled robot since the last reset.
%
%   ret = apoloGetOdometry(robot, world)
%
%   robot    name of the robot, e.g. 'Pioneer3AT'
%   world    name of the world; without it the first world that has it
%   ret      [x y heading], m and rad; empty if the name is unknown
%
%   Example:
%     apoloGetOdometry('Pioneer3AT')
%
%   See also apoloResetOdometry, apoloGetLocationMRobot
  apoloNeeds(nargin, {'robot'});
  if nargin < 2, world = ''; end
  ret = apoloVector('o', {world, robot});
end

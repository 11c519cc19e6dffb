function ret = apoloGetLocationMRobot(robot, world)
% apoloGetLocationMRobot  Position and heading of a wheeled robot.
%
%   ret = apoloGetLocationMRobot(robot, world)
%
%   robot    name of the robot, e.g. 'Neo'
%   world    name of the world; without it the first world that has it
%   ret      [x y z rz], m and rad; empty if the name is unknown
%
%   Example:
%     apoloGetLocationMRobot('Neo')
%
%   See also apoloGetOdometry, apoloPlaceMRobot
  apoloNeeds(nargin, {'robot'});
  if nargin < 2, world = ''; end
  ret = apoloVector('g', {world, robot});
end

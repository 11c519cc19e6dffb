function ret = apoloGetLocation(robot, world)
% apoloGetLocation  Position and orientation of a robot or an object.
%
%   ret = apoloGetLocation(robot, world)
%
%   robot    name of the robot or object, e.g. 'Puma560'
%   world    name of the world; without it the first world that has it
%   ret      [x y z roll pitch yaw], m and rad; empty if the name is unknown
%
%   Example:
%     apoloGetLocation('pieza')
%
%   See also apoloGetLocationMRobot, apoloPlace
  apoloNeeds(nargin, {'robot'});
  if nargin < 2, world = ''; end
  ret = apoloVector('G', {world, robot});
end

function ret = apoloGetAllultrasonicSensors(robot, world)
% apoloGetAllultrasonicSensors  Ranges of all ultrasonic sensors of a robot.
%
%   ret = apoloGetAllultrasonicSensors(robot, world)
%
%   robot    name of the robot, e.g. 'Marvin'
%   world    name of the world; without it the first world that has it
%   ret      ranges in m, in the order of the robot's sensors; empty if there is none, or the name is unknown
%
%   Example:
%     apoloGetAllultrasonicSensors('Marvin')
%
%   See also apoloGetUltrasonicSensor
  apoloNeeds(nargin, {'robot'});
  if nargin < 2, world = ''; end
  ret = apoloVector('d', {world, robot});
end

function ret = apoloMoveMRobot(robot, speeds, time, world)
% apoloMoveMRobot  Moves a wheeled robot with a velocity for some time.
%
%   ret = apoloMoveMRobot(robot, speeds, time, world)
%
%   robot    name of the robot, e.g. 'Neo'
%   speeds   [speed rotation_speed], m/s and rad/s
%   time     duration, s, of the world: the call does not wait. With small steps the robot does not jump over obstacles.
%   world    name of the world; without it the first world that has it
%   ret      1: it moved, 0: it did not, because it would have collided or lost the floor
%
%   Example:
%     apoloMoveMRobot('Pioneer3AT', [0.1 0.0], 0.1);
%     apoloUpdate
%
%   See also apoloUpdate, apoloGetOdometry
  apoloNeeds(nargin, {'robot', 'speeds', 'time'});
  if nargin < 4, world = ''; end
  data = [apoloDoubles(speeds, 2, 'speeds must be a vector of two numbers'), ...
          apoloDoubles(time, 1, 'time must be a number')];
  ret = apoloVerdict('m', {world, robot}, data);
end

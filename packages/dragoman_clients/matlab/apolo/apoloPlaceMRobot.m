function ret = apoloPlaceMRobot(robot, pose, angle, world)
% apoloPlaceMRobot  Drops a wheeled robot onto what is below a position.
%
%   ret = apoloPlaceMRobot(robot, pose, angle, world)
%
%   robot    name of the robot, e.g. 'Neo'
%   pose     [x y z], m
%   angle    rotation about z, rad
%   world    name of the world; without it the first world that has it
%   ret      1: it stands there, 0: it has no support there, or collides, and was not moved
%
%   Example:
%     apoloPlaceMRobot('Pioneer3AT', [0.7 0.7 0], 0.23)
%
%   See also apoloGetLocationMRobot, apoloMoveMRobot
  apoloNeeds(nargin, {'robot', 'pose', 'angle'});
  if nargin < 4, world = ''; end
  data = [apoloDoubles(pose, 3, 'pose must be a vector of three numbers'), ...
          apoloDoubles(angle, 1, 'angle must be a number')];
  ret = apoloVerdict('p', {world, robot}, data);
end

function ret = apoloCheckRobotJoints(robot, values, world)
% apoloCheckRobotJoints  Moves the joints of an arm and returns whether it then collides.
%
%   ret = apoloCheckRobotJoints(robot, values, world)
%
%   robot    name of the arm, e.g. 'Puma560'
%   values   vector of joint positions, rad or m; if shorter than the arm's number of joints: the first ones
%   world    name of the world; without it the first world that has the arm
%   ret      1: it collides, or cannot take these joint positions; 0: it does not collide
%
%   Example:
%     if apoloCheckRobotJoints('Puma560', [0.5 0.23 -0.1], 'world1') == 1
%       disp('collides');
%     end
%
%   See also apoloSetRobotJoints
  apoloNeeds(nargin, {'robot', 'values'});
  if nargin < 3, world = ''; end
  ret = apoloVerdict('j', {world, robot}, apoloJoints(values));
end

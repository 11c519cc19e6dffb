function apoloSetRobotJoints(robot, values, world)
% apoloSetRobotJoints  Moves the joints of an arm, without a check for collisions.
%
%   apoloSetRobotJoints(robot, values, world)
%
%   robot    name of the arm, e.g. 'Puma560'
%   values   vector of joint positions, rad or m; if shorter than the arm's number of joints: the first ones
%   world    name of the world; without it the first world that has the arm
%
%   Example:
%     apoloSetRobotJoints('Puma560', [0.5 0.23 -0.1], 'world1');
%
%   See also apoloCheckRobotJoints
  apoloNeeds(nargin, {'robot', 'values'});
  if nargin < 3, world = ''; end
  apoloSend('J', {world, robot}, apoloJoints(values));
end

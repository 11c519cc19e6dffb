function apoloLinkToRobotTCP(robot, object, world)
% apoloLinkToRobotTCP  Fixes an object to the tool of an arm: from now on it moves with it.
%
%   apoloLinkToRobotTCP(robot, object, world)
%
%   robot    name of the arm, e.g. 'Puma560'
%   object   name of the object, e.g. 'pieza'
%   world    name of the world; without it the first world that has the arm
%
%   Example:
%     apoloLinkToRobotTCP('Puma560', 'pieza')
%
%   See also apoloSetRobotJoints
  apoloNeeds(nargin, {'robot', 'object'});
  if nargin < 3, world = ''; end
  apoloSend('L', {world, robot, object}, []);
end

function apoloResetOdometry(robot, pose, world)
% apoloResetOdometry  Resets the odometry of a wheeled robot to a pose.
%
%   apoloResetOdometry(robot, pose, world)
%
%   robot    name of the robot, e.g. 'Pioneer3AT'
%   pose     [x y heading], m and rad; default: [0 0 0]
%   world    name of the world; without it the first world that has it
%
%   Example:
%     apoloResetOdometry('Pioneer3AT', [0 2 0.2])
%
%   See also apoloGetOdometry
  apoloNeeds(nargin, {'robot'});
  if nargin < 2, pose = [0 0 0]; end
  if nargin < 3, world = ''; end
  apoloSend('R', {world, robot}, apoloDoubles(pose, 3, 'pose must be a vector of three numbers'));
end

function drive(robot, linear, angular)
% drive  Commands a velocity of the base.
%
%   drive(robot, linear, angular)
%
%   robot     from TurtleBot
%   linear    ahead, m/s
%   angular   counterclockwise, rad/s
%
%   The base stops 0.6 s after the last command, so a program has to repeat it.
%
%   Example:
%     drive(robot, 0.2, 0);
%
%   See also TurtleBot, waitTime
  message = ros2message(robot.velocity);
  message.linear.x = double(linear);
  message.angular.z = double(angular);
  send(robot.velocity, message);
end

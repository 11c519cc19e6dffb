function drive(robot, linear, angular)
% drive  Tells the base a velocity.
%
%   drive(robot, linear, angular)
%
%   robot     from TurtleBot
%   linear    ahead, m/s
%   angular   counterclockwise, rad/s
%
%   The base stops 0.6 s after the last command, so a program that drives says it again and again.
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

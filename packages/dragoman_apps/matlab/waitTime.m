function waitTime(robot, seconds)
% waitTime  Waits, using the simulator's clock if there is one.
%
%   waitTime(robot, seconds)
%
%   robot     from TurtleBot
%   seconds   duration
%
%   A slow computer slows down the simulation; with the simulator's clock the robot always gets the same time.
%
%   Example:
%     waitTime(robot, 1.5);
%
%   See also simulationTime
  began = simulationTime(robot);
  while simulationTime(robot) - began < seconds
    pause(0.005);
  end
end

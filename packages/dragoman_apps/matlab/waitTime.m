function waitTime(robot, seconds)
% waitTime  Waits, by the clock of the simulator where there is one.
%
%   waitTime(robot, seconds)
%
%   robot     from TurtleBot
%   seconds   how long
%
%   A slow computer makes the simulation slow; with its clock the robot always has the same time.
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

function seconds = simulationTime(robot)
% simulationTime  The simulator's time, or this computer's time without a simulator.
%
%   seconds = simulationTime(robot)
%
%   robot     from TurtleBot
%   seconds   time since an arbitrary fixed moment, s
%
%   Example:
%     began = simulationTime(robot);
%
%   See also waitTime
  persistent isReal began
  if isempty(began)
    began = tic;
    isReal = false;
  end
  if ~isReal
    try
      message = receive(robot.time, 1);
      seconds = message.data;
      return
    catch
      % A real robot has no such topic.
      isReal = true;
    end
  end
  seconds = toc(began);
end

function message = getConsoleMsgAndDispInMatlab(varargin)
% getConsoleMsgAndDispInMatlab  A message for the auxiliary console, with the simulation's time; also shown here.
%
%   message = getConsoleMsgAndDispInMatlab(message, time, text)
%
%   message   of robot.rosmessage(publisher) for /vrep/aux_console/print
%   time      a message of /simulation/sim_time, or s
%   text      what is shown
%
%   The thesis does not print the order of the arguments (table A.4): any is accepted.
%
%   Example:
%     message = getConsoleMsgAndDispInMatlab(robot.rosmessage(print), robot.receive(time, 3), 'Ready.');
%     robot.send(print, message);
%
%   See also VREP
  message = struct('Data', '');
  [time, text] = deal(0, '');
  for i = 1:nargin
    argument = varargin{i};
    if isstruct(argument) && ischar(argument.Data)
      message = argument;
    elseif isstruct(argument)
      time = argument.Data;
    elseif isnumeric(argument)
      time = argument;
    else
      text = char(argument);
    end
  end
  message.Data = sprintf('[%.2f] %s', time, text);
  disp(message.Data);
end

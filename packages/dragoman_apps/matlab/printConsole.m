function printConsole(robot, varargin)
% printConsole  Shows a text here and on the robot's auxiliary console.
%
%   printConsole(robot, text)
%   printConsole(robot, format, values...)
%
%   robot    from TurtleBot
%   format   as for sprintf
%
%   Example:
%     printConsole(robot, 'X: %.3f, Y: %.3f', x, y);
%
%   See also TurtleBot
  text = sprintf(varargin{:});
  disp(text);
  message = ros2message(robot.consolePrint);
  message.data = text;
  send(robot.consolePrint, message);
end

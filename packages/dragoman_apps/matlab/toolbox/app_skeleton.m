% app_skeleton  A first program for the toolbox: straight on for three seconds, and stop (TurtleBot thesis, A.4).
%
%   app_skeleton
%
%   Start it in this folder, with 'dragoman up' running, and write your own program from it.
%
%   Example:
%     app_skeleton
%
%   See also VREP
addpath('api');
addpath('tools');
[v_ip, v_port, r_ip, r_port] = deal('127.0.0.1', 19999, '10.42.0.17', 11311);
turtle = VREP('vrep');
turtle.rosinit(v_ip, v_port, r_ip, r_port);

velocities = turtle.rospublisher('/mobile_base/commands/velocity');
bar = turtle.rospublisher('/vrep/status_bar_message');
open_console = turtle.rospublisher('/vrep/aux_console/create');
print_console = turtle.rospublisher('/vrep/aux_console/print');
odometry = turtle.rossubscriber('/odom');
clock_sub = turtle.rossubscriber('/simulation/sim_time');

velocity = turtle.rosmessage(velocities);
bar_text = turtle.rosmessage(bar);
opening = turtle.rosmessage(open_console);
line_text = turtle.rosmessage(print_console);

bar_text.Data = 'Program: MY PROGRAM';
turtle.send(bar, bar_text);
turtle.send(open_console, opening);
line_text.Data = 'Initialized OK.';
turtle.send(print_console, line_text);

time = turtle.receive(clock_sub);
start = time.Data;
now = start;
while (now - start < 3)
  [x, y, theta] = getKobukiPoseAndOrientation(turtle.receive(odometry));
  time = turtle.receive(clock_sub);
  now = time.Data;
  line_text.Data = strcat('X: ', num2str(x), ', Y: ', num2str(y), ', Theta: ', num2str(theta));
  turtle.send(print_console, line_text);
  velocity.Linear.X = 0.2;
  velocity.Angular.Z = 0;
  turtle.send(velocities, velocity);
end
velocity.Linear.X = 0;
velocity.Angular.Z = 0;
turtle.send(velocities, velocity);
turtle.pause(1);
turtle.rosshutdown;

% The toolbox of tables A.3 and A.4: each function, on a scripted robot. Prints 'all passed' at the end.
global ROBOT
lastOf = @(entries) entries{end}{3};

% A program with the calls of the TurtleBot thesis, A.4.
mockRobot(zeros(0, 3));
cd(fileparts(fileparts(which('VREP'))));
app_skeleton
assert(abs(ROBOT.pose(1) - 0.6) < 0.05 && isequal(ROBOT.velocity, [0 0]));
bars = logged('/vrep/status_bar_message');
assert(isequal(cellfun(@(entry) entry{3}, bars, 'UniformOutput', false), ...
               {'Connected from MATLAB', 'Program: MY PROGRAM', 'Disconnected from Matlab.'}));
assert(printed('Initialized OK.') && printed('X:0.'));

% Modes and noise.
robot = VREP();
assert(robot.isVREPEnabled() && robot.isVREPEEnabled() && ~robot.isROSEnabled());
real_one = VREP('real');
assert(~real_one.isVREPEnabled() && real_one.isROSEnabled());
both = VREP('mixed', 'noiseless');
assert(both.isVREPEnabled() && both.isROSEnabled());
assert(fails(@() VREP('gazebo'), 'VREP:argument') && fails(@() VREP('vrep', 'loud'), 'VREP:argument'));
assert(fails(@() robot.rospublisher('/odom'), 'VREP:notConnected'));

% Connection: the noise of the simulated gyro is set; without a simulator there is an error.
mockRobot(zeros(0, 3));
assert(robot.rosinit('127.0.0.1', 19999, '127.0.0.1', 11311) == 0);
assert(isequal(lastOf(logged('/simulation/set_parameters')), {'imu_noise', true}));
both.rosinit();
assert(isequal(lastOf(logged('/simulation/set_parameters')), {'imu_noise', false}));
ROBOT.isReal = true;
lost = VREP('vrep');
assert(fails(@() lost.rosinit(), 'VREP:noSimulator'));
real_one.rosinit();
ROBOT.isReal = false;

% rostopic, rosservice.
[list, code] = robot.rostopic('list');
assert(code == 0 && numel(list) == 39 && any(strcmp(list, '/vrep/aux_console/hide')));
assert(numel(real_one.rostopic('list')) == 29);
assert(strcmp(robot.rostopic('type', '/odom'), 'nav_msgs/Odometry'));
[~, code] = robot.rostopic('type', '/nowhere');
assert(code == -1);
text = evalc('robot.rosservice(''list'');');
assert(~isempty(strfind(text, '/gripper_1_joint/set_speed')) && numel(strfind(text, '_joint/')) == 18);
assert(robot.rosservice('find') == -1);

% Every topic of table A.2 has a publisher or subscriber, and a message.
for i = 1:numel(list)
  [publisher, code] = robot.rospublisher(list{i});
  assert(code == 0 && strcmp(publisher.TopicName, list{i}));
  [subscriber, code] = robot.rossubscriber(list{i});
  assert(code == 0 && strcmp(subscriber.TopicName, list{i}));
  [message, code] = robot.rosmessage(subscriber);
  assert(code == 0 && isstruct(message));
end
assert(fails(@() robot.rospublisher('/nowhere'), 'VREP:unknownName'));
assert(fails(@() robot.rossvcclient('/nowhere'), 'VREP:unknownName'));

% send: classes of the fields are those of the message, whatever the program puts in.
led = robot.rospublisher('/mobile_base/commands/led1');
message = robot.rosmessage(led);
message.Value = 2;
assert(robot.send(led, message) == 0 && isa(lastOf(logged('/mobile_base/commands/led1')), 'uint8'));
power = robot.rospublisher('/mobile_base/commands/motor_power');
message = robot.rosmessage(power);
message.State = true;
robot.send(power, message);
assert(isequal(lastOf(logged('/mobile_base/commands/motor_power')), uint8(1)));

% receive: names of ROS 1; a timeout is an error.
message = robot.receive(robot.rossubscriber('/mobile_base/sensors/core'), 3);
assert(isequal(message.Bumper, uint8(0)) && isequal(message.WheelDrop, uint8(0)));
message = robot.receive(robot.rossubscriber('/simulation/pose'), 3);
assert(isequal(message.Header.Stamp.Nsec, uint32(7)) && isfield(message.Header, 'FrameId'));
message = robot.receive(robot.rossubscriber('/mobile_base/version_info'), 3);
assert(strcmp(message.Hardware, '1.0.4') && message.Features == 3 && strcmp(message.Software, '0.6.0'));
message = robot.receive(robot.rossubscriber('/joint_states'), 3);
assert(isequal(message.Name, {'wheel_left_joint'; 'arm_1_joint'}) && isequal(message.Effort, [-1; -1]));
message = real_one.receive(real_one.rossubscriber('/joint_states'), 3);
assert(isequaln(message.Effort, [NaN; 0.3]));
times = robot.rossubscriber('/simulation/sim_time');
ROBOT.isReal = true;
assert(fails(@() robot.receive(times, 0.5), 'VREP:noMessage'));
ROBOT.isReal = false;

% A reset of the odometry sets the encoders of the simulated robot to 0 (3.6.1), and they wrap.
core = robot.rossubscriber('/mobile_base/sensors/core');
resets = robot.rospublisher('/mobile_base/commands/reset_odometry');
ROBOT.pose = [1 0 0];
message = robot.receive(core, 3);
assert(message.LeftEncoder == 11700 && isa(message.LeftEncoder, 'uint16'));
robot.send(resets, robot.rosmessage(resets));
message = robot.receive(core, 3);
assert(message.LeftEncoder == 0 && message.RightEncoder == 0);
ROBOT.pose = [0.9 0 0];
message = robot.receive(core, 3);
assert(message.LeftEncoder == 65536 - 1170);
robot.resetSimulation();
message = robot.receive(core, 3);
assert(message.LeftEncoder == 10530);
mockRobot(zeros(0, 3));

% The depth image has grey values: near is bright.
mockRobot([1.5 0 0.2; 3.9 -1.5 0.2]);
message = robot.receive(robot.rossubscriber('/camera/depth/image'), 3);
assert(strcmp(message.Encoding, 'mono8') && message.Height == 3 && message.Width == 64);
image = readImage(message);
assert(isa(image, 'uint8') && isequal(size(image), [3 64]));
% 1.3 m: 255 * 3.2 / 4.1.
assert(abs(double(image(2, 32)) - 199) <= 1 && image(2, 1) == 0 && max(image(2, 45:end)) > 20);
colors = readImage(robot.receive(robot.rossubscriber('/camera/rgb/image_color'), 3));
assert(isequal(size(colors), [1 2 3]) && isequal(squeeze(colors(1, 2, :))', uint8([4 5 6])));

% Services.
[client, code] = robot.rossvcclient('/arm_2_joint/set_speed');
assert(code == 0 && strcmp(client.ServerName, '/arm_2_joint/set_speed'));
request = robot.rosmessage(client);
request.Speed = deg2rad(10);
[~, code] = robot.call(client, request);
assert(code == 0 && abs(lastOf(logged('/arm_2_joint/set_speed')) - deg2rad(10)) < 1e-12);
client = robot.rossvcclient('/arm_3_joint/enable');
request = robot.rosmessage(client);
request.Enable = 1;
robot.call(client, request);
assert(islogical(lastOf(logged('/arm_3_joint/enable'))));
robot.call(robot.rossvcclient('/arm_1_joint/relax'));
assert(numel(logged('/arm_1_joint/relax')) == 1);

% Mode 'mixed': two robots, which may get different messages.
wheels = both.rospublisher('/mobile_base/commands/velocity');
[first, second] = deal(both.rosmessage(wheels), both.rosmessage(wheels));
first.Linear.X = 0.1;
second.Linear.X = 0.2;
both.send(wheels, first, wheels, second);
assert(lastOf(logged('/real/mobile_base/commands/velocity')) == 0.1);
assert(lastOf(logged('/sim/mobile_base/commands/velocity')) == 0.2);
both.send(wheels, first);
assert(lastOf(logged('/sim/mobile_base/commands/velocity')) == 0.1);
[real_message, simulated_message, code] = both.receive(both.rossubscriber('/odom'), 3);
assert(code == 0 && isfield(real_message, 'Pose') && isfield(simulated_message, 'Pose'));
odometry = both.rossubscriber('/odom');
[real_message, simulated_message] = both.receive(odometry, odometry, 3);
assert(isstruct(real_message) && isstruct(simulated_message));
[real_answer, code, simulated_answer] = both.call(both.rossvcclient('/arm_1_joint/relax'));
assert(code == 0 && isstruct(real_answer) && isstruct(simulated_answer));
message = both.receive(both.rossubscriber('/simulation/sim_time'), 3);
assert(message.Data > 0);

% pause takes the simulation's time; with a real robot that of this computer.
before = ROBOT.time;
robot.pause(1.5);
assert(ROBOT.time - before >= 1.5 && ROBOT.time - before < 1.6);
before = ROBOT.time;
real_one.pause(0.5);
assert(abs(ROBOT.time - before - 0.5) < 1e-9);
assert(robot.getPingTime() >= 0 && robot.getPingTme() < 3000);
assert(fails(@() real_one.getPingTime(), 'VREP:notSimulated'));

% Control of the simulation.
robot.startSimulation();
robot.pauseSimulation();
robot.stopSimulation();
robot.resetSimulation();
for name = {'start', 'pause', 'stop', 'reset'}
  assert(numel(logged(['/simulation/' name{1}])) == 1, name{1});
end
robot.setSimulationSpeed(2);
robot.setSimulationTimeStep(0.05);
assert(lastOf(logged('/simulation/set_speed')) == 2 && lastOf(logged('/simulation/set_time_step')) == 0.05);
assert(fails(@() robot.setSimulationSpeed(1000), 'VREP:refused'));
assert(fails(@() real_one.startSimulation(), 'VREP:notSimulated'));

% Tools.
assert(isequal(thetaTo360([-180 -90 0 90 179.5]), [180 270 0 90 179.5]));
message = robot.rosmessage(robot.rossubscriber('/odom'));
[message.Pose.Pose.Position.X, message.Pose.Pose.Position.Y] = deal(1, 2);
[message.Pose.Pose.Orientation.Z, message.Pose.Pose.Orientation.W] = deal(sin(-pi / 4), cos(-pi / 4));
[x, y, theta] = getKobukiPoseAndOrientation(message);
assert(x == 1 && y == 2 && abs(theta + 90) < 1e-9);
template = robot.rosmessage(robot.rospublisher('/vrep/aux_console/print'));
shown = evalc('message = getConsoleMsgAndDispInMatlab(template, 12.5, ''Ready.'');');
assert(strcmp(message.Data, '[12.50] Ready.') && ~isempty(strfind(shown, message.Data)));
message = getConsoleMsgAndDispInMatlab('Ready.', robot.receive(times, 3), template);
assert(~isempty(strfind(message.Data, 'Ready.')));
depth = robot.receive(robot.rossubscriber('/camera/depth/image'), 3);
drawn = drawKinectImage(depth);
% The first row of the picture is at the top.
assert(isequal(drawn.heights, flipud(double(readImage(depth)))) && isempty(drawn.colors));
color = struct('Height', 3, 'Width', 64, 'Encoding', 'rgb8', 'Data', repmat(uint8([255; 0; 51]), 192, 1));
for order = {{color, depth}, {depth, color}}
  drawn = drawKinectImage(order{1}{:});
  assert(isequal(size(drawn.colors), [3 64 3]) && isequal(squeeze(drawn.colors(3, 64, :))', [1 0 0.2]));
  assert(isequal(drawn.heights, flipud(double(readImage(depth)))));
end

% After the end nothing can be sent.
assert(robot.rosshutdown == 0 && fails(@() robot.receive(times, 1), 'VREP:notConnected'));
printf('all passed\n');

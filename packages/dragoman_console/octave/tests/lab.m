% The functions of the ROS Toolbox in Octave, and our programs for MATLAB, against a lab's rosbridge on ROSBRIDGE_PORT.
% When it prints 'cut', the connection has to be cut from outside.
1;

function fails(identifier, action, words)
  try
    action();
  catch problem
    assert(strcmp(problem.identifier, identifier) && ~isempty(strfind(problem.message, words)), ...
           '%s: %s', problem.identifier, problem.message);
    return
  end
  error('no error: %s', func2str(action));
end

node = ros2node('octave_test');

% Types and classes of messages.
message = ros2message('geometry_msgs/PoseStamped');
assert(message.pose.orientation.w == 1 && isa(message.header.stamp.nanosec, 'uint32'));
assert(isequal(message.header.frame_id, '') && strcmp(message.MessageType, 'geometry_msgs/PoseStamped'));
message = ros2message('sensor_msgs/JointState');
assert(iscell(message.name) && isempty(message.position) && isa(message.position, 'double'));
message = ros2message('sensor_msgs/LaserScan');
assert(isa(message.ranges, 'single') && isa(message.angle_min, 'single'));
fails('ros2:service', @() ros2message('std_msgs/Nothing'), 'std_msgs/msg/Nothing is unknown');

% What is sent arrives as it was: lists of one and of no element, texts, bytes, numbers that JSON has not.
pairs = {'std_msgs/String', 'data', "Gr\303\274\303\237e \"x\"\n"; 'std_msgs/Float64', 'data', 0.1
         'std_msgs/Bool', 'data', true; 'std_msgs/UInt8MultiArray', 'data', uint8([0; 7; 255])
         'std_msgs/Int64', 'data', int64(9007199254740992); 'std_msgs/Float64MultiArray', 'data', 1.5
         'std_msgs/Float64MultiArray', 'data', zeros(0, 1); 'std_msgs/Float64MultiArray', 'data', [1; NaN; 3]
         'sensor_msgs/JointState', 'name', {'a'}; 'sensor_msgs/JointState', 'name', {'a'; 'b'}
         'std_msgs/Float32', 'data', single(NaN)};
for i = 1:size(pairs, 1)
  topic = sprintf('/octave_test_%d', i);
  subscriber = ros2subscriber(node, topic, pairs{i, 1});
  publisher = ros2publisher(node, topic, pairs{i, 1});
  message = ros2message(publisher);
  message.(pairs{i, 2}) = pairs{i, 3};
  found = [];
  for attempt = 1:30
    send(publisher, message);
    [found, isThere] = receive(subscriber, 1);
    if isThere, break, end
  end
  found = found.(pairs{i, 2});
  assert(isequaln(found, pairs{i, 3}) && strcmp(class(found), class(pairs{i, 3})), pairs{i, 1});
end
transforms = receive(ros2subscriber(node, '/tf', 'tf2_msgs/TFMessage'), 10).transforms;
assert(isstruct(transforms) && ischar(transforms(1).child_frame_id));

% Faults of programs.
message = ros2message(publisher);
message.dat = 1;
fails('ros2:field', @() send(publisher, message), 'has no field ''dat''');
message = ros2message(publisher);
message.data = 'text';
fails('ros2:field', @() send(publisher, message), '.data must be a number');
nobody = ros2subscriber(node, '/nobody', 'std_msgs/String');
fails('ros2:timeout', @() receive(nobody, 0.5), 'no message of /nobody within');
[~, isThere, reason] = receive(nobody, 0.2);
assert(~isThere && ~isempty(reason));
fails('ros2:unknownTopic', @() ros2subscriber(node, '/nothing'), 'has no publisher');
client = ros2svcclient(node, '/nobody', 'std_srvs/Trigger');
fails('ros2:service', @() call(client, ros2message(client), 'Timeout', 1), '/nobody');
assert(~waitForServer(client, 'Timeout', 0.1));

% Services, the latest of a topic that has one message only, images.
stop = ros2svcclient(node, '/ranger/stop', 'std_srvs/Trigger');
assert(waitForServer(stop, 'Timeout', 20));
response = call(stop, ros2message(stop), 'Timeout', 20);
assert(islogical(response.success) && response.success);
assert(any(strcmp(ros2('topic', 'list'), '/odom')) && strcmp(ros2('topic', 'type', '/odom'), 'nav_msgs/msg/Odometry'));
topics = ros2('topic', 'list');
assert(numel(unique(topics)) == numel(topics));
fails('ros2:unknown', @() ros2('topic', 'type', '/no/such'), '/no/such');
assert(any(strcmp(ros2('service', 'list'), '/ranger/stop')) && ~isempty(ros2('node', 'list')));
info = receive(ros2subscriber(node, '/mobile_base/version_info'), 10);
assert(isa(info.udid, 'uint32') && numel(info.udid) == 3);
camera = ros2subscriber(node, '/camera/depth/image', 'sensor_msgs/Image');
image = rosReadImage(receive(camera, 20));
assert(isequal(size(image), [480 640]) && isa(image, 'single') && any(image(:) > 0.4));
camera = ros2subscriber(node, '/camera/rgb/image_color');
assert(isequal(size(rosReadImage(receive(camera, 20))), [480 640 3]));
clear camera
disp('ros');

% Our programs for MATLAB, unchanged.
firstProgram
odometry = ros2subscriber(node, '/odom', 'nav_msgs/Odometry');
[x, y] = poseFromOdometry(receive(odometry, 5));
assert(x > 0.3 && x < 0.8 && abs(y) < 0.1);
turtle = VREP('vrep');
turtle.rosinit('127.0.0.1', 19999, '10.42.0.17', 11311);
[there, ~] = getKobukiPoseAndOrientation(turtle.receive(turtle.rossubscriber('/odom')));
assert(abs(there - x) < 0.1);
assert(strcmp(turtle.receive(turtle.rossubscriber('/mobile_base/version_info'), 5).Software, '0.6.0'));
speed = turtle.rossvcclient('/arm_1_joint/set_speed');
request = turtle.rosmessage(speed);
request.Speed = 0.5;
turtle.call(speed, request);
joint = turtle.rospublisher('/arm_1_joint/command');
message = turtle.rosmessage(joint);
message.Data = 0.3;
turtle.send(joint, message);
states = turtle.rossubscriber('/joint_states');
began = tic;
while true
  found = turtle.receive(states, 5);
  if abs(found.Position(strcmp(found.Name, 'arm_1_joint')) - 0.3) < 0.02, break, end
  assert(toc(began) < 60);
end
fails('VREP:refused', @() turtle.setSimulationSpeed(1000), 'is not within');
turtle.rosshutdown;
disp('programs');

% The functions for ROS 1: other names of fields.
rosinit
[velocity, message] = rospublisher('/octave_test_twist', 'geometry_msgs/Twist');
message.Linear.X = 0.25;
twists = rossubscriber('/octave_test_twist', 'geometry_msgs/Twist');
for attempt = 1:30
  send(velocity, message);
  [found, isThere] = receive(twists, 1);
  if isThere, break, end
end
assert(found.Linear.X == 0.25 && strcmp(found.MessageType, 'geometry_msgs/Twist'));
stamp = receive(rossubscriber('/odom'), 5).Header.Stamp;
assert(isa(stamp.Nsec, 'uint32') && stamp.Sec > 0);
[client, request] = rossvcclient('/ranger/stop');
assert(call(client, request, 'Timeout', 20).Success);
message = rosmessage('geometry_msgs/PoseStamped');
assert(message.Pose.Orientation.W == 1 && ischar(message.Header.FrameId));
message = rosmessage(velocity);
message.linear = 1;
fails('ros2:field', @() send(velocity, message), 'has no field ''linear''');
assert(any(strcmp(rostopic('list'), '/odom')) && any(strcmp(rosservice('list'), '/ranger/stop')));
fails('ros2:unknownType', @() rossvcclient('/nothing'), 'there is no service /nothing');
clear twists
disp('ros 1');

% A lost connection is an error, and then everything is as before: subscriptions and publishers.
disp('cut');
fflush(stdout);
losses = 0;
found = 0;
began = tic;
while found < 5 && toc(began) < 60
  try
    receive(odometry, 5);
    if losses > 0, found = found + 1; end
  catch problem
    assert(any(strcmp(problem.identifier, {'ros2:connectionLost', 'ros2:notConnected'})), problem.message);
    losses = losses + 1;
    pause(0.1);
  end
end
assert(losses > 0 && found == 5);
publisher = ros2publisher(node, '/octave_test_2', 'std_msgs/Float64');
rosbridgeDisconnect
send(publisher, ros2message(publisher));
receive(odometry, 5);
disp('connection');

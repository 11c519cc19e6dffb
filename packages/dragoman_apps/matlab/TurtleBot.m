function robot = TurtleBot(name, wanted)
% TurtleBot  Publishers, subscribers and service clients for the robot.
%
%   robot = TurtleBot(name)
%   robot = TurtleBot(name, wanted)
%
%   name     name of the program: its node's name, also shown in the status bar
%   wanted   cell array of the parts needed besides base and console: 'arm', 'depth'
%   robot    struct for the other functions
%
%   The names are those of table A.2; the domain is that of the environment variable ROS_DOMAIN_ID. Pass the fields to
%   send, receive and call, or use drive, moveJoint, setJointSpeed, relaxJoint, printConsole and waitTime.
%
%   Example:
%     robot = TurtleBot('my_program', {'arm'});
%     drive(robot, 0.2, 0);
%
%   See also drive, moveJoint, setJointSpeed, relaxJoint, printConsole, waitTime
  if nargin < 2, wanted = {}; end
  node = ros2node(name);
  robot.node = node;
  robot.velocity = ros2publisher(node, '/mobile_base/commands/velocity', 'geometry_msgs/Twist');
  robot.odometry = ros2subscriber(node, '/odom', 'nav_msgs/Odometry');
  robot.sensors = ros2subscriber(node, '/mobile_base/sensors/core', 'kobuki_ros_interfaces/SensorState');
  robot.time = ros2subscriber(node, '/simulation/sim_time', 'std_msgs/Float64');
  robot.statusBar = ros2publisher(node, '/vrep/status_bar_message', 'std_msgs/String');
  robot.consoleOpen = ros2publisher(node, '/vrep/aux_console/create', 'std_msgs/Empty');
  robot.consolePrint = ros2publisher(node, '/vrep/aux_console/print', 'std_msgs/String');
  if any(strcmp(wanted, 'arm'))
    robot.joints = {'arm_1_joint', 'arm_2_joint', 'arm_3_joint', 'arm_4_joint', 'arm_5_joint', 'gripper_1_joint'};
    for i = 1:numel(robot.joints)
      joint = robot.joints{i};
      robot.command.(joint) = ros2publisher(node, ['/' joint '/command'], 'std_msgs/Float64');
      robot.setSpeed.(joint) = ros2svcclient(node, ['/' joint '/set_speed'], 'arbotix_msgs/SetSpeed');
      robot.relax.(joint) = ros2svcclient(node, ['/' joint '/relax'], 'arbotix_msgs/Relax');
    end
  end
  if any(strcmp(wanted, 'depth'))
    robot.depth = ros2subscriber(node, '/camera/depth/image', 'sensor_msgs/Image', ...
                                 'Reliability', 'besteffort', 'Depth', 1);
  end
  % Messages sent before other nodes have discovered the publishers are lost.
  pause(2);
  message = ros2message(robot.statusBar);
  message.data = ['Program: ' name];
  send(robot.statusBar, message);
  send(robot.consoleOpen, ros2message(robot.consoleOpen));
end

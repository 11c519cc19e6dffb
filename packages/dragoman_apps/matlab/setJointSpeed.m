function setJointSpeed(robot, joint, speed)
% setJointSpeed  Sets the maximum speed of a joint of the arm.
%
%   setJointSpeed(robot, joint, speed)
%
%   robot   from TurtleBot with 'arm'
%   joint   'arm_1_joint' ... 'arm_5_joint', 'gripper_1_joint'
%   speed   rad/s
%
%   Example:
%     setJointSpeed(robot, 'arm_2_joint', deg2rad(10));
%
%   See also TurtleBot, moveJoint, relaxJoint
  request = ros2message(robot.setSpeed.(joint));
  request.speed = double(speed);
  call(robot.setSpeed.(joint), request, 'Timeout', 5);
end

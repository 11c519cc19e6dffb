function relaxJoint(robot, joint)
% relaxJoint  Switches off the torque of a joint of the arm, until its next command.
%
%   relaxJoint(robot, joint)
%
%   robot   from TurtleBot with 'arm'
%   joint   'arm_1_joint' ... 'arm_5_joint', 'gripper_1_joint'
%
%   Example:
%     relaxJoint(robot, 'arm_1_joint');
%
%   See also TurtleBot, moveJoint, setJointSpeed
  call(robot.relax.(joint), ros2message(robot.relax.(joint)), 'Timeout', 5);
end

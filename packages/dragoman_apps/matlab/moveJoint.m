function moveJoint(robot, joint, position)
% moveJoint  Commands a position of a joint of the arm.
%
%   moveJoint(robot, joint, position)
%
%   robot      from TurtleBot with 'arm'
%   joint      'arm_1_joint' (base) ... 'arm_5_joint' (wrist), 'gripper_1_joint'
%   position   rad; of the gripper 0 (open) to 2.5 (closed)
%
%   The function does not wait until the joint arrives: see waitTime. A command also holds a relaxed joint again.
%
%   Example:
%     moveJoint(robot, 'arm_3_joint', pi / 2);
%
%   See also TurtleBot, setJointSpeed, relaxJoint
  message = ros2message(robot.command.(joint));
  message.data = double(position);
  send(robot.command.(joint), message);
end

function moveJoint(robot, joint, position)
% moveJoint  Sends a joint of the arm to a position.
%
%   moveJoint(robot, joint, position)
%
%   robot      from TurtleBot with 'arm'
%   joint      'arm_1_joint' (base) ... 'arm_5_joint' (wrist), 'gripper_1_joint'
%   position   rad; of the gripper 0 (open) to 2.5 (closed)
%
%   The function does not wait for the joint to arrive: see waitTime. A relaxed joint is held again from then on.
%
%   Example:
%     moveJoint(robot, 'arm_3_joint', pi / 2);
%
%   See also TurtleBot, setJointSpeed, relaxJoint
  message = ros2message(robot.command.(joint));
  message.data = double(position);
  send(robot.command.(joint), message);
end

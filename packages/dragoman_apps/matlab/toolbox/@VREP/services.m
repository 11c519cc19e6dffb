function table = services()
% services  The services of the arm (TurtleBot thesis, 4.2.7): name, type, and whose it is.
  joints = {'arm_1_joint', 'arm_2_joint', 'arm_3_joint', 'arm_4_joint', 'arm_5_joint', 'gripper_1_joint'};
  kinds = {'relax', 'arbotix_msgs/Relax'; 'enable', 'arbotix_msgs/Enable'; 'set_speed', 'arbotix_msgs/SetSpeed'};
  table = cell(0, 3);
  for i = 1:numel(joints)
    for k = 1:size(kinds, 1)
      table(end + 1, :) = {['/' joints{i} '/' kinds{k, 1}], kinds{k, 2}, 'robot'}; %#ok<AGROW>
    end
  end
end

function node = ros2node(name)
% A stand-in for MATLAB's ROS Toolbox: the functions of this folder control the scripted robot of mockRobot.
  assert(ischar(name) && ~isempty(regexp(name, '^[a-z][a-z0-9_]*$', 'once')), 'a node''s name');
  node = struct('name', name);
end

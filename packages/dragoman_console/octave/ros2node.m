function node = ros2node(name, domain)
% ros2node  For GNU Octave: the ROS Toolbox's function, over the console's rosbridge.
%
%   node = ros2node(name)
%   node = ros2node(name, domain)
%
%   name     name of the program; ROS sees the console's node
%   domain   ignored: the domain is the console's
%   node     for ros2subscriber, ros2publisher and ros2svcclient
%
%   Example:
%     node = ros2node('my_program');
%
%   See also ros2subscriber, ros2publisher, ros2svcclient, rosbridgeConnect
  name = char(name);
  if isempty(regexp(name, '^/?[A-Za-z_][A-Za-z0-9_/]*$', 'once'))
    error('ros2:name', '''%s'' is no name of a node', name);
  end
  rosbridge('open');
  node = struct('kind', 'node', 'Name', name);
end

function name = absolute(node, name)
% The name of a topic or service, from the root.
  if ~isstruct(node) || ~isfield(node, 'kind') || ~strcmp(node.kind, 'node')
    error('ros2:node', 'the first argument is no node of ros2node');
  end
  name = char(name);
  if isempty(name) || name(1) ~= '/', name = ['/' name]; end
end

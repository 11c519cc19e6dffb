function subscriber = ros2subscriber(node, topic, type, varargin)
  assert(isstruct(node) && topic(1) == '/' && mod(numel(varargin), 2) == 0);
  assert(all(ismember(varargin(1:2:end), {'History', 'Depth', 'Reliability', 'Durability'})));
  subscriber = struct('kind', 'subscriber', 'topic', topic, 'type', type);
  emptyMessage(type);
end

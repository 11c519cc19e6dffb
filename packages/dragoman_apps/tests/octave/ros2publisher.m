function publisher = ros2publisher(node, topic, type)
  assert(isstruct(node) && topic(1) == '/');
  publisher = struct('kind', 'publisher', 'topic', topic, 'type', type);
  emptyMessage(type);
end

function client = ros2svcclient(node, service, type)
  assert(isstruct(node) && service(1) == '/');
  client = struct('kind', 'client', 'topic', service, 'type', type);
  emptyMessage(type);
end

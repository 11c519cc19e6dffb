function response = call(client, request, varargin)
  global ROBOT
  assert(strcmp(client.kind, 'client'));
  assert(numel(varargin) == 2 && strcmp(varargin{1}, 'Timeout') && varargin{2} > 0);
  sameShape(request, emptyMessage(client.type), client.topic);
  value = [];
  for name = {'speed', 'enable', 'factor', 'time_step'}
    if isfield(request, name{1})
      value = request.(name{1});
    end
  end
  if isfield(request, 'parameters')
    value = {request.parameters.name, request.parameters.value.bool_value};
  end
  ROBOT.log{end + 1} = {ROBOT.time, client.topic, value};
  advanceRobot(0.01);
  response = struct('success', true, 'message', '');
  if isequal(value, 1000)
    response = struct('success', false, 'message', 'a speed of 1000 is not within 0.01 to 100');
  elseif strncmp(client.type, 'arbotix_msgs', 12)
    response = struct('structure_needs_at_least_one_member', uint8(0));
  end
end

function response = call(client, request, varargin)
  global ROBOT
  assert(strcmp(client.kind, 'client'));
  assert(numel(varargin) == 2 && strcmp(varargin{1}, 'Timeout') && varargin{2} > 0);
  sameShape(request, emptyMessage(client.type), client.topic);
  value = [];
  if isfield(request, 'speed')
    value = request.speed;
  end
  ROBOT.log{end + 1} = {ROBOT.time, client.topic, value};
  advanceRobot(0.01);
  response = struct();
end

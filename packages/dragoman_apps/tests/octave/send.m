function send(publisher, message)
  global ROBOT
  assert(strcmp(publisher.kind, 'publisher'));
  sameShape(message, emptyMessage(publisher.type), publisher.topic);
  switch publisher.topic
    case {'/mobile_base/commands/velocity', '/sim/mobile_base/commands/velocity', '/real/mobile_base/commands/velocity'}
      ROBOT.log{end + 1} = {ROBOT.time, publisher.topic, message.linear.x};
      ROBOT.velocity = [message.linear.x message.angular.z];
      ROBOT.commanded = ROBOT.time;
    case '/vrep/aux_console/print'
      ROBOT.console{end + 1} = message.data;
    otherwise
      for name = {'data', 'value', 'state'}
        if isfield(message, name{1})
          ROBOT.log{end + 1} = {ROBOT.time, publisher.topic, message.(name{1})};
        end
      end
  end
end

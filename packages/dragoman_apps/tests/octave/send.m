function send(publisher, message)
  global ROBOT
  assert(strcmp(publisher.kind, 'publisher'));
  sameShape(message, emptyMessage(publisher.type), publisher.topic);
  switch publisher.topic
    case '/mobile_base/commands/velocity'
      ROBOT.velocity = [message.linear.x message.angular.z];
      ROBOT.commanded = ROBOT.time;
    case '/vrep/aux_console/print'
      ROBOT.console{end + 1} = message.data;
    otherwise
      if isfield(message, 'data')
        ROBOT.log{end + 1} = {ROBOT.time, publisher.topic, message.data};
      end
  end
end

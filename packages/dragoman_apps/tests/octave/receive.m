function message = receive(subscriber, timeout)
% The next message: advances the time until it arrives.
  global ROBOT
  assert(strcmp(subscriber.kind, 'subscriber') && isscalar(timeout) && timeout > 0);
  message = emptyMessage(subscriber.type);
  if strcmp(subscriber.topic, '/simulation/sim_time') && ROBOT.isReal
    advanceRobot(timeout);
    error('no message within %g s', timeout);
  end
  advanceRobot(0.02);
  switch subscriber.topic
    case '/odom'
      message.pose.pose.position.x = ROBOT.pose(1);
      message.pose.pose.position.y = ROBOT.pose(2);
      message.pose.pose.orientation.z = sin(ROBOT.pose(3) / 2);
      message.pose.pose.orientation.w = cos(ROBOT.pose(3) / 2);
    case '/mobile_base/sensors/core'
      message.bumper = uint8(ROBOT.bumper);
    case '/simulation/sim_time'
      message.data = ROBOT.time;
    case '/camera/depth/image'
      [message.width, message.height, message.encoding] = deal(uint32(64), uint32(3), '32FC1');
      message.data = ROBOT.time;
    otherwise
      error('%s has no publisher', subscriber.topic);
  end
end

function message = receive(subscriber, timeout)
% The next message: advances the time until it arrives.
  global ROBOT
  assert(strcmp(subscriber.kind, 'subscriber'));
  if nargin < 2
    timeout = 3600;
  end
  assert(isscalar(timeout) && isfinite(timeout) && timeout > 0);
  message = emptyMessage(subscriber.type);
  if strcmp(subscriber.topic, '/simulation/sim_time') && ROBOT.isReal
    advanceRobot(timeout);
    error('no message within %g s', timeout);
  end
  advanceRobot(0.02);
  % The robots of mode 'mixed' are the same one here.
  switch regexprep(subscriber.topic, '^/(sim|real)/', '/')
    case '/odom'
      message.pose.pose.position.x = ROBOT.pose(1);
      message.pose.pose.position.y = ROBOT.pose(2);
      message.pose.pose.orientation.z = sin(ROBOT.pose(3) / 2);
      message.pose.pose.orientation.w = cos(ROBOT.pose(3) / 2);
    case '/mobile_base/sensors/core'
      message.bumper = uint8(ROBOT.bumper);
      % 11.7 ticks per mm, in 16 bits.
      ticks = uint16(mod(floor(ROBOT.pose(1) * 11700), 65536));
      [message.left_encoder, message.right_encoder] = deal(ticks, ticks);
    case '/simulation/sim_time'
      message.data = ROBOT.time;
    case '/camera/depth/image'
      [message.width, message.height, message.encoding] = deal(uint32(64), uint32(3), '32FC1');
      message.data = ROBOT.time;
    case '/camera/rgb/image_color'
      [message.width, message.height, message.encoding] = deal(uint32(2), uint32(1), 'rgb8');
      message.data = uint8([1; 2; 3; 4; 5; 6]);
    case '/joint_states'
      message.name = {'wheel_left_joint'; 'arm_1_joint'};
      [message.position, message.velocity, message.effort] = deal([1; 2], [0; 0], [NaN; 0.3]);
    case '/mobile_base/version_info'
      [message.hardware, message.features] = deal('1.0.4', uint64(3));
    case '/simulation/pose'
      message.pose.position.x = ROBOT.pose(1);
      message.header.stamp.nanosec = uint32(7);
    otherwise
      error('%s has no publisher', subscriber.topic);
  end
end

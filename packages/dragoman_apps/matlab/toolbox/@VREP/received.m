function message = received(subscriber, topic, timeout, isSimulated)
% received  The next message of a topic, as programs of the TurtleBot thesis expect it.
  try
    if isinf(timeout)
      message = receive(subscriber);
    else
      message = receive(subscriber, timeout);
    end
  catch err
    error('VREP:noMessage', 'RECEIVE: No events occurred: %s: %s', topic, err.message);
  end
  if strcmp(topic, '/camera/depth/image')
    message = greyImage(message);
  end
  message = VREP.toRos1(message);
  if isSimulated && strcmp(topic, '/mobile_base/version_info')
    message.Software = '0.6.0';
  end
  if isSimulated && strcmp(topic, '/joint_states')
    % The simulator of the thesis has no efforts, and its own version (3.6.1).
    message.Effort = -ones(numel(message.Name), 1);
  end
end

function message = greyImage(message)
% Near is bright (5.3): 255 at 0.4 m and nearer, 0 at 4.5 m, farther, and where nothing was measured.
  if strcmp(message.encoding, 'mono8')
    return
  end
  depth = double(rosReadImage(message));
  if strcmp(message.encoding, '16UC1')
    depth = depth / 1000;
  end
  grey = 255 * max(0, min(1, (4.5 - depth) / (4.5 - 0.4)));
  grey(~isfinite(depth) | depth <= 0) = 0;
  message.encoding = 'mono8';
  message.step = uint32(size(grey, 2));
  message.is_bigendian = uint8(0);
  % Row by row.
  message.data = reshape(uint8(round(grey))', [], 1);
end

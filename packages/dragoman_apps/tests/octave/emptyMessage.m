function message = emptyMessage(type)
% A message, or a service request, with all fields that the program may access.
  vector = struct('x', 0, 'y', 0, 'z', 0);
  switch type
    case 'geometry_msgs/Twist'
      message = struct('linear', vector, 'angular', vector);
    case 'nav_msgs/Odometry'
      pose = struct('position', vector, 'orientation', struct('x', 0, 'y', 0, 'z', 0, 'w', 1));
      message = struct('pose', struct('pose', pose));
    case 'kobuki_ros_interfaces/SensorState'
      message = struct('bumper', uint8(0), 'cliff', uint8(0), 'wheel_drop', uint8(0));
    case 'std_msgs/Float64'
      message = struct('data', 0);
    case 'std_msgs/String'
      message = struct('data', '');
    case 'std_msgs/Empty'
      message = struct('structure_needs_at_least_one_member', uint8(0));
    case 'sensor_msgs/Image'
      message = struct('width', uint32(0), 'height', uint32(0), 'encoding', '', 'data', single([]));
    case 'arbotix_msgs/SetSpeed'
      message = struct('speed', 0);
    case 'arbotix_msgs/Relax'
      message = struct('structure_needs_at_least_one_member', uint8(0));
    otherwise
      error('unknown type %s', type);
  end
end

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
      message = struct('bumper', uint8(0), 'cliff', uint8(0), 'wheel_drop', uint8(0), ...
                       'left_encoder', uint16(0), 'right_encoder', uint16(0));
    case 'std_msgs/Float64'
      message = struct('data', 0);
    case 'std_msgs/String'
      message = struct('data', '');
    case 'std_msgs/Empty'
      message = struct('structure_needs_at_least_one_member', uint8(0));
    case 'sensor_msgs/Image'
      message = struct('height', uint32(0), 'width', uint32(0), 'encoding', '', 'is_bigendian', uint8(0), ...
                       'step', uint32(0), 'data', uint8([]));
    case 'arbotix_msgs/SetSpeed'
      message = struct('speed', 0);
    case 'arbotix_msgs/Relax'
      message = struct('structure_needs_at_least_one_member', uint8(0));
    case 'arbotix_msgs/Enable'
      message = struct('enable', false);
    case {'kobuki_ros_interfaces/Led'}
      message = struct('value', uint8(0));
    case {'kobuki_ros_interfaces/MotorPower'}
      message = struct('state', uint8(0));
    case {'kobuki_ros_interfaces/BumperEvent', 'kobuki_ros_interfaces/ButtonEvent', ...
          'kobuki_ros_interfaces/CliffEvent', 'kobuki_ros_interfaces/WheelDropEvent'}
      message = struct('state', uint8(0));
    case 'kobuki_ros_interfaces/ControllerInfo'
      message = struct('type', uint8(0), 'p_gain', 0, 'i_gain', 0, 'd_gain', 0);
    case 'kobuki_ros_interfaces/VersionInfo'
      message = struct('hardware', '', 'firmware', '', 'software', '', 'udid', uint32([0; 0; 0]), 'features', uint64(0));
    case 'sensor_msgs/Imu'
      message = struct('angular_velocity', vector, 'orientation', struct('x', 0, 'y', 0, 'z', 0, 'w', 1));
    case 'sensor_msgs/JointState'
      message = struct('name', {{''}}, 'position', 0, 'velocity', 0, 'effort', zeros(0, 1));
    case 'sensor_msgs/LaserScan'
      message = struct('angle_min', single(0), 'ranges', single(0));
    case 'sensor_msgs/CompressedImage'
      message = struct('format', '', 'data', uint8([]));
    case 'geometry_msgs/PoseStamped'
      stamp = struct('sec', int32(0), 'nanosec', uint32(0));
      pose = struct('position', vector, 'orientation', struct('x', 0, 'y', 0, 'z', 0, 'w', 1));
      message = struct('header', struct('stamp', stamp, 'frame_id', ''), 'pose', pose);
    case {'dragoman_msgs/GetGeometry', 'std_srvs/Trigger'}
      message = struct('structure_needs_at_least_one_member', uint8(0));
    case 'dragoman_msgs/SetSimulationSpeed'
      message = struct('factor', 0);
    case 'dragoman_msgs/SetTimeStep'
      message = struct('time_step', 0);
    case 'rcl_interfaces/Parameter'
      message = struct('name', '', 'value', struct('type', uint8(0), 'bool_value', false, 'double_value', 0));
    case 'rcl_interfaces/SetParameters'
      message = struct('parameters', emptyMessage('rcl_interfaces/Parameter'));
    otherwise
      error('unknown type %s', type);
  end
end

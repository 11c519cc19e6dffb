//! The types that a relay supports: it decodes the messages, so that it works with both implementations of ROS.

/// Evaluates `$body` with `$alias` as the message type of this name; `None` for an unknown type.
macro_rules! with_message_type {
    ($name:expr, $alias:ident => $body:expr) => {
        $crate::relay::types::with_type! { $name, $alias => $body;
            geometry_msgs/msg/Twist, geometry_msgs/msg/TwistStamped, geometry_msgs/msg/PoseStamped,
            kobuki_ros_interfaces/msg/BumperEvent, kobuki_ros_interfaces/msg/ButtonEvent,
            kobuki_ros_interfaces/msg/CliffEvent, kobuki_ros_interfaces/msg/ControllerInfo,
            kobuki_ros_interfaces/msg/DigitalInputEvent, kobuki_ros_interfaces/msg/DigitalOutput,
            kobuki_ros_interfaces/msg/DockInfraRed, kobuki_ros_interfaces/msg/ExternalPower,
            kobuki_ros_interfaces/msg/Led, kobuki_ros_interfaces/msg/MotorPower,
            kobuki_ros_interfaces/msg/PowerSystemEvent, kobuki_ros_interfaces/msg/RobotStateEvent,
            kobuki_ros_interfaces/msg/SensorState, kobuki_ros_interfaces/msg/Sound,
            kobuki_ros_interfaces/msg/VersionInfo, kobuki_ros_interfaces/msg/WheelDropEvent,
            nav_msgs/msg/Odometry,
            sensor_msgs/msg/BatteryState, sensor_msgs/msg/CameraInfo, sensor_msgs/msg/CompressedImage,
            sensor_msgs/msg/Image, sensor_msgs/msg/Imu, sensor_msgs/msg/JointState, sensor_msgs/msg/LaserScan,
            std_msgs/msg/Bool, std_msgs/msg/Empty, std_msgs/msg/Float64, std_msgs/msg/String,
            tf2_msgs/msg/TFMessage
        }
    };
}

/// As [`with_message_type`], for services; `$alias` is the module with `Service`, `Request` and `Response`.
macro_rules! with_service_type {
    ($name:expr, $alias:ident => $body:expr) => {
        $crate::relay::types::with_type! { $name, $alias => $body;
            arbotix_msgs/srv/Enable::Service, arbotix_msgs/srv/Relax::Service, arbotix_msgs/srv/SetSpeed::Service,
            dragoman_msgs/srv/GetGeometry::Service, dragoman_msgs/srv/SetOdometry::Service,
            std_srvs/srv/Empty::Service, std_srvs/srv/SetBool::Service, std_srvs/srv/Trigger::Service
        }
    };
}

/// The match of the macros above.
macro_rules! with_type {
    ($name:expr, $alias:ident => $body:expr; $($package:ident / $kind:ident / $type:ident $(:: $part:ident)?),*) => {
        match $name {
            $(name if name == concat!(stringify!($package), "/", stringify!($kind), "/", stringify!($type)) => {
                type $alias = dragoman_ros::$package::$kind::$type $(:: $part)?;
                Some($body)
            })*
            _ => None,
        }
    };
}

pub(crate) use {with_message_type, with_service_type, with_type};

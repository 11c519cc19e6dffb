//! The parameters, and the driver options made from them. Parameters of the Kobuki's ROS driver keep their names.

use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_geometry::limits::{AxisLimits, Limits};
use dragoman_ros::parameters;
use dragoman_ros::velocity::VelocityParameters;

use super::{BaseNodeError, Role};
use crate::differential::driver as differential;
use crate::geometry::Geometry;
use crate::kobuki::driver::{BatteryConfig, Config, HeadingSource};

parameters! {
    /// The parameters of every base.
    pub struct BaseParameters {
        ..cmd_vel: VelocityParameters;
        /// Serial port, for example /dev/ttyUSB0; empty: simulated in this process by `dragoman up`.
        device_port: String;
        /// Time for which a velocity command holds, s.
        cmd_vel_timeout_sec: Duration = 0.6, in 0.05..=10.0;
        /// Time without data after which the base counts as lost and is stopped, s.
        feedback_timeout_sec: Duration, in 0.02..=10.0;
        /// Maximum speed forward and backward, m/s.
        linear_max_velocity as "linear.max_velocity": f64, in 0.01..=20.0, settable;
        /// Maximum acceleration, m/s^2; 0: no limit.
        linear_max_acceleration as "linear.max_acceleration": Option<f64>, in 0.0..=100.0, settable;
        /// Maximum deceleration, m/s^2; 0: no limit. A safety stop is always immediate.
        linear_max_deceleration as "linear.max_deceleration": Option<f64>, in 0.0..=100.0, settable;
        /// Maximum turn rate, rad/s.
        angular_max_velocity as "angular.max_velocity": f64, in 0.01..=20.0, settable;
        /// Maximum angular acceleration, rad/s^2; 0: no limit.
        angular_max_acceleration as "angular.max_acceleration": Option<f64>, in 0.0..=100.0, settable;
        /// Maximum angular deceleration, rad/s^2; 0: no limit.
        angular_max_deceleration as "angular.max_deceleration": Option<f64>, in 0.0..=100.0, settable;
        /// Frame of the odometry.
        odom_frame: String = "odom";
        /// Frame of the base.
        base_frame: String = "base_footprint";
        /// Topic of the wheel joints; not joint_states if a node merges them with other joints.
        joint_states_topic: String;
        /// Publish the transform from odom_frame to base_frame.
        publish_tf: bool = true;
        /// Name of the left wheel in joint_states.
        wheel_left_joint_name: String = "wheel_left_joint";
        /// Name of the right wheel in joint_states.
        wheel_right_joint_name: String = "wheel_right_joint";
        /// Length, width and height of the base, m, as returned by get_geometry.
        size: Vec<f64>, in 0.001..=100.0;
        /// Centre of the body relative to the centre of rotation: x and y in m, rotation in rad.
        center: Vec<f64>, in -100.0..=100.0;
    }
}

impl BaseParameters {
    fn new(
        port: &str,
        role: Role<'_>,
        feedback_timeout: Duration,
        &Limits { linear, angular }: &Limits,
        &Geometry { size, center }: &Geometry,
    ) -> Self {
        let joint_states = match role {
            Role::Robot => "joint_states",
            Role::Part { joint_states } => joint_states,
        };
        Self {
            device_port: port.to_owned(),
            feedback_timeout_sec: feedback_timeout,
            linear_max_velocity: linear.velocity,
            linear_max_acceleration: linear.acceleration,
            linear_max_deceleration: linear.deceleration,
            angular_max_velocity: angular.velocity,
            angular_max_acceleration: angular.acceleration,
            angular_max_deceleration: angular.deceleration,
            joint_states_topic: joint_states.to_owned(),
            size: size.to_vec(),
            center: vec![center.x, center.y, center.heading],
            ..Self::default()
        }
    }

    /// The limits of the velocities.
    pub(super) fn limits(&self) -> Limits {
        Limits {
            linear: AxisLimits {
                velocity: self.linear_max_velocity,
                acceleration: self.linear_max_acceleration,
                deceleration: self.linear_max_deceleration,
            },
            angular: AxisLimits {
                velocity: self.angular_max_velocity,
                acceleration: self.angular_max_acceleration,
                deceleration: self.angular_max_deceleration,
            },
        }
    }

    /// The size and centre of the base.
    pub(super) fn geometry(&self) -> Result<Geometry, BaseNodeError> {
        let (&[length, width, height], &[x, y, heading]) = (&*self.size, &*self.center) else {
            return Err(BaseNodeError::Geometry);
        };
        Ok(Geometry { size: [length, width, height], center: Pose::new(x, y, heading) })
    }
}

parameters! {
    /// The parameters of a Kobuki's node.
    pub struct KobukiParameters {
        ..base: BaseParameters;
        /// Publish where the sensors are on the base; false if a node with the robot's description does. True for
        /// `dragoman base`.
        publish_sensor_tf: bool;
        /// Switch the motors off when a wheel drops, until they are switched on again.
        motors_off_on_wheel_drop: bool;
        /// Heading from the gyro; otherwise from the wheels.
        use_imu_heading: bool = true;
        /// Whether a reset of the odometry also sets the encoders in sensors/core to 0, as in the simulator of the
        /// TurtleBot thesis; a Kobuki's counters continue.
        reset_encoders: bool;
        /// Voltage of the full battery, V.
        battery_capacity: f64 = BatteryConfig::default().full, in 1.0..=25.5;
        /// Voltage up to which the battery is low, V.
        battery_low: f64 = BatteryConfig::default().low, in 1.0..=25.5;
        /// Voltage up to which the battery is nearly empty, V.
        battery_dangerous: f64 = BatteryConfig::default().dangerous, in 1.0..=25.5;
    }
}

impl KobukiParameters {
    /// The defaults for a Kobuki at this serial port.
    pub fn new(port: &str, role: Role<'_>) -> Self {
        let timeout = Config::default().feedback_timeout;
        Self {
            base: BaseParameters::new(port, role, timeout, &Limits::KOBUKI, &Geometry::TURTLEBOT_2),
            publish_sensor_tf: matches!(role, Role::Robot),
            ..Self::default()
        }
    }

    /// Options of the driver.
    pub(super) fn config(&self) -> Config {
        Config {
            feedback_timeout: self.base.feedback_timeout_sec,
            command_timeout: self.base.cmd_vel_timeout_sec,
            limits: self.base.limits(),
            motors_off_on_wheel_drop: self.motors_off_on_wheel_drop,
            reset_encoders: self.reset_encoders,
            heading: if self.use_imu_heading { HeadingSource::Gyro } else { HeadingSource::Wheels },
            battery: BatteryConfig {
                full: self.battery_capacity,
                low: self.battery_low,
                dangerous: self.battery_dangerous,
            },
            ..Config::default()
        }
    }
}

parameters! {
    /// The parameters of the node of another base with two driven wheels.
    pub struct DifferentialParameters {
        ..base: BaseParameters;
        /// Bits per second on the serial port.
        baud: u32 = 57_600, in 300..=4_000_000;
        /// Distance of the wheels' centres, m.
        wheel_separation: f64 = differential::Config::default().wheel_separation, in 0.001..=100.0;
        /// Radius of the wheels, m.
        wheel_radius: f64 = differential::Config::default().wheel_radius, in 0.001..=100.0;
        /// Encoder ticks per turn of a wheel.
        ticks_per_turn: f64 = differential::Config::default().ticks_per_turn, in 1.0..=1e9;
        /// Rate of the base's controller, Hz; speeds are sent in ticks per period.
        controller_rate: f64 = differential::Config::default().controller_rate, in 1.0..=1000.0;
        /// Period of reading the encoders, s.
        period: Duration = differential::Config::default().period, in 0.005..=1.0;
    }
}

impl DifferentialParameters {
    /// The defaults for a base at this serial port.
    pub fn new(port: &str, role: Role<'_>) -> Self {
        let differential::Config { feedback_timeout, limits, geometry, .. } = differential::Config::default();
        Self {
            base: BaseParameters::new(port, role, feedback_timeout, &limits, &geometry),
            ..Self::default()
        }
    }

    /// Options of the driver.
    pub(super) fn config(&self) -> Result<differential::Config, BaseNodeError> {
        Ok(differential::Config {
            wheel_separation: self.wheel_separation,
            wheel_radius: self.wheel_radius,
            ticks_per_turn: self.ticks_per_turn,
            controller_rate: self.controller_rate,
            geometry: self.base.geometry()?,
            limits: self.base.limits(),
            command_timeout: self.base.cmd_vel_timeout_sec,
            feedback_timeout: self.base.feedback_timeout_sec,
            period: self.period,
            ..differential::Config::default()
        })
    }
}

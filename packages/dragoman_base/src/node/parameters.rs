//! The parameters, and the driver options made from them. Parameters of the Kobuki's ROS driver keep their names.

use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_geometry::limits::{AxisLimits, Limits};
use dragoman_ros::parameters::{Declaration, Parameters, Range};
use dragoman_ros::velocity;

use super::{BaseNodeError, Role};
use crate::differential::driver as differential;
use crate::geometry::Geometry;
use crate::kobuki::driver::{BatteryConfig, Config, HeadingSource};

/// The parameters of every base; the defaults of the limits are `limits`.
fn common(port: &str, role: Role<'_>, limits: &Limits, feedback_timeout: f64) -> Vec<Declaration> {
    let joint_states = match role {
        Role::Robot => "joint_states",
        Role::Part { joint_states } => joint_states,
    };
    let speed = Range::Double { from: 0.01, to: 20.0 };
    let acceleration = Range::Double { from: 0.0, to: 100.0 };
    let rate = |rate: Option<f64>| rate.unwrap_or(0.0);
    vec![
        Declaration::new(
            "device_port",
            port,
            "Serial port, for example /dev/ttyUSB0; empty: simulated in this process by `dragoman up`.",
        )
        .read_only(),
        Declaration::new("cmd_vel_timeout_sec", 0.6, "Time for which a velocity command holds, s.")
            .within(Range::Double { from: 0.05, to: 10.0 })
            .read_only(),
        velocity::declaration(),
        Declaration::new(
            "feedback_timeout_sec",
            feedback_timeout,
            "Time without data after which the base counts as lost and is stopped, s.",
        )
        .within(Range::Double { from: 0.02, to: 10.0 })
        .read_only(),
        Declaration::new(
            "linear.max_velocity",
            limits.linear.velocity,
            "Maximum speed forward and backward, m/s.",
        )
        .within(speed.clone()),
        Declaration::new(
            "linear.max_acceleration",
            rate(limits.linear.acceleration),
            "Maximum acceleration, m/s^2; 0: no limit.",
        )
        .within(acceleration.clone()),
        Declaration::new(
            "linear.max_deceleration",
            rate(limits.linear.deceleration),
            "Maximum deceleration, m/s^2; 0: no limit. A safety stop is always immediate.",
        )
        .within(acceleration.clone()),
        Declaration::new("angular.max_velocity", limits.angular.velocity, "Maximum turn rate, rad/s.")
            .within(speed),
        Declaration::new(
            "angular.max_acceleration",
            rate(limits.angular.acceleration),
            "Maximum angular acceleration, rad/s^2; 0: no limit.",
        )
        .within(acceleration.clone()),
        Declaration::new(
            "angular.max_deceleration",
            rate(limits.angular.deceleration),
            "Maximum angular deceleration, rad/s^2; 0: no limit.",
        )
        .within(acceleration),
        Declaration::new("odom_frame", "odom", "Frame of the odometry.").read_only(),
        Declaration::new("base_frame", "base_footprint", "Frame of the base.").read_only(),
        Declaration::new(
            "joint_states_topic",
            joint_states,
            "Topic of the wheel joints; not joint_states if a node merges them with other joints.",
        )
        .read_only(),
        Declaration::new("publish_tf", true, "Publish the transform from odom_frame to base_frame.")
            .read_only(),
        Declaration::new(
            "wheel_left_joint_name",
            "wheel_left_joint",
            "Name of the left wheel in joint_states.",
        )
        .read_only(),
        Declaration::new(
            "wheel_right_joint_name",
            "wheel_right_joint",
            "Name of the right wheel in joint_states.",
        )
        .read_only(),
    ]
}

/// The size and centre of a base; the defaults are `geometry`.
fn outline(geometry: &Geometry) -> [Declaration; 2] {
    let Geometry { size, center } = geometry;
    [
        Declaration::new(
            "size",
            size.to_vec(),
            "Length, width and height of the base, m, as returned by get_geometry.",
        )
        .within(Range::Double { from: 0.001, to: 100.0 })
        .read_only(),
        Declaration::new(
            "center",
            vec![center.x, center.y, center.heading],
            "Centre of the body relative to the centre of rotation: x and y in m, rotation in rad.",
        )
        .within(Range::Double { from: -100.0, to: 100.0 })
        .read_only(),
    ]
}

/// The parameters of a Kobuki's node.
pub fn kobuki(port: &str, role: Role<'_>) -> Vec<Declaration> {
    let battery = BatteryConfig::default();
    let volts = Range::Double { from: 1.0, to: 25.5 };
    let own = [
        Declaration::new(
            "publish_sensor_tf",
            matches!(role, Role::Robot),
            "Publish where the sensors are on the base; false if a node with the robot's description does. True for \
             `dragoman base`.",
        ),
        Declaration::new(
            "motors_off_on_wheel_drop",
            false,
            "Switch the motors off when a wheel drops, until they are switched on again.",
        ),
        Declaration::new("use_imu_heading", true, "Heading from the gyro; otherwise from the wheels."),
        Declaration::new(
            "reset_encoders",
            false,
            "Whether a reset of the odometry also sets the encoders in sensors/core to 0, as in the simulator of the \
             TurtleBot thesis; a Kobuki's counters continue.",
        ),
        Declaration::new("battery_capacity", battery.full, "Voltage of the full battery, V.")
            .within(volts.clone()),
        Declaration::new("battery_low", battery.low, "Voltage up to which the battery is low, V.")
            .within(volts.clone()),
        Declaration::new(
            "battery_dangerous",
            battery.dangerous,
            "Voltage up to which the battery is nearly empty, V.",
        )
        .within(volts),
    ];
    let own = own.into_iter().map(Declaration::read_only);
    let timeout = Config::default().feedback_timeout.as_secs_f64();
    common(port, role, &Limits::KOBUKI, timeout)
        .into_iter()
        .chain(outline(&Geometry::TURTLEBOT_2))
        .chain(own)
        .collect()
}

/// Options of a Kobuki's driver.
pub(super) fn kobuki_config(values: &Parameters) -> Config {
    Config {
        feedback_timeout: seconds(values, "feedback_timeout_sec"),
        command_timeout: seconds(values, "cmd_vel_timeout_sec"),
        limits: limits(values),
        motors_off_on_wheel_drop: values.value("motors_off_on_wheel_drop"),
        reset_encoders: values.value("reset_encoders"),
        heading: if values.value("use_imu_heading") { HeadingSource::Gyro } else { HeadingSource::Wheels },
        battery: BatteryConfig {
            full: values.value("battery_capacity"),
            low: values.value("battery_low"),
            dangerous: values.value("battery_dangerous"),
        },
        ..Config::default()
    }
}

/// The parameters of the node of another base with two driven wheels.
pub fn differential(port: &str, role: Role<'_>) -> Vec<Declaration> {
    let config = differential::Config::default();
    let length = Range::Double { from: 0.001, to: 100.0 };
    let count = Range::Double { from: 1.0, to: 1e9 };
    let own = [
        Declaration::new("baud", 57_600, "Bits per second on the serial port.")
            .within(Range::Integer { from: 300, to: 4_000_000 }),
        Declaration::new("wheel_separation", config.wheel_separation, "Distance of the wheels' centres, m.")
            .within(length.clone()),
        Declaration::new("wheel_radius", config.wheel_radius, "Radius of the wheels, m.").within(length),
        Declaration::new("ticks_per_turn", config.ticks_per_turn, "Encoder ticks per turn of a wheel.")
            .within(count),
        Declaration::new(
            "controller_rate",
            config.controller_rate,
            "Rate of the base's controller, Hz; speeds are sent in ticks per period.",
        )
        .within(Range::Double { from: 1.0, to: 1000.0 }),
        Declaration::new("period", config.period.as_secs_f64(), "Period of reading the encoders, s.")
            .within(Range::Double { from: 0.005, to: 1.0 }),
    ];
    let own = own.into_iter().map(Declaration::read_only);
    let timeout = config.feedback_timeout.as_secs_f64();
    common(port, role, &config.limits, timeout)
        .into_iter()
        .chain(outline(&config.geometry))
        .chain(own)
        .collect()
}

/// Options of the driver of such a base.
pub(super) fn differential_config(values: &Parameters) -> Result<differential::Config, BaseNodeError> {
    Ok(differential::Config {
        wheel_separation: values.value("wheel_separation"),
        wheel_radius: values.value("wheel_radius"),
        ticks_per_turn: values.value("ticks_per_turn"),
        controller_rate: values.value("controller_rate"),
        geometry: geometry(values)?,
        limits: limits(values),
        command_timeout: seconds(values, "cmd_vel_timeout_sec"),
        feedback_timeout: seconds(values, "feedback_timeout_sec"),
        period: seconds(values, "period"),
        ..differential::Config::default()
    })
}

/// The size and centre of the base.
pub(super) fn geometry(values: &Parameters) -> Result<Geometry, BaseNodeError> {
    let numbers = |name| values.value::<Vec<f64>>(name).try_into().map_err(|_| BaseNodeError::Geometry);
    let size: [f64; 3] = numbers("size")?;
    let [x, y, heading]: [f64; 3] = numbers("center")?;
    Ok(Geometry { size, center: Pose::new(x, y, heading) })
}

/// The limits in the present parameters.
pub(super) fn limits(values: &Parameters) -> Limits {
    let rate = |name: &str| Some(values.value::<f64>(name)).filter(|rate| *rate > 0.0);
    Limits {
        linear: AxisLimits {
            velocity: values.value("linear.max_velocity"),
            acceleration: rate("linear.max_acceleration"),
            deceleration: rate("linear.max_deceleration"),
        },
        angular: AxisLimits {
            velocity: values.value("angular.max_velocity"),
            acceleration: rate("angular.max_acceleration"),
            deceleration: rate("angular.max_deceleration"),
        },
    }
}

fn seconds(values: &Parameters, name: &str) -> Duration {
    Duration::from_secs_f64(values.value(name))
}

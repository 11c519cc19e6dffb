//! Interfaces of every base: velocity commands, odometry with its transform, wheel joints, the services of Player's
//! position2d.

use std::time::Duration;

use dragoman_geometry::limits::Limits;
use dragoman_geometry::{Pose, Twist};
use dragoman_io::serial::Line;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::dragoman_msgs::srv::{GetGeometry, SetOdometry};
use dragoman_ros::geometry_msgs::msg::Twist as TwistMessage;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::parameters::{ParameterSet, Parameters};
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::shared::Switch;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::times::SharedClock;
use dragoman_ros::{Node, Publisher, QosProfile, poses, times, velocity};
use futures::StreamExt;

use super::parameters::BaseParameters;
use crate::base::{Base, Motion};
use crate::geometry::Geometry;
use dragoman_ros::diagnostics::Refusals;

/// Parts that [`serve`] provides to the rest of the node.
pub(super) struct Served {
    pub(super) topics: MotionTopics,
    pub(super) refusals: Refusals,
}

/// Subscribes to velocities, offers position2d, and creates the topics of the motion.
pub(super) fn serve<B: Base>(
    tasks: &mut NodeTasks,
    line: &Line<B>,
    values: &BaseParameters,
    geometry: Geometry,
) -> dragoman_ros::Result<Served> {
    let refusals = Refusals::default();
    serve_velocities(tasks, line, values, &refusals)?;
    let motors = Switch::new(tasks.node(), "~/motors_on")?;
    serve_position2d(tasks, line, geometry, motors.clone())?;
    Ok(Served { topics: MotionTopics::new(tasks.node(), values, motors)?, refusals })
}

fn serve_velocities<B: Base>(
    tasks: &mut NodeTasks,
    line: &Line<B>,
    values: &BaseParameters,
    refusals: &Refusals,
) -> dragoman_ros::Result<()> {
    let (line, refusals) = (line.clone(), refusals.clone());
    let command = move |twist: TwistMessage| {
        let twist = Twist::new(twist.linear.x, twist.angular.z);
        if let Err(refusal) = line.send_now(|now, driver| driver.command(now, twist)) {
            refusals.note(&refusal);
        }
    };
    // Of queued velocities only the last counts.
    let newest = || QosProfile::default().keep_last(1);
    tasks.subscribe("~/commands/velocity", newest(), command.clone())?;
    velocity::subscribe(tasks, &values.cmd_vel, "cmd_vel", newest(), command)
}

fn serve_position2d<B: Base>(
    tasks: &mut NodeTasks,
    line: &Line<B>,
    geometry: Geometry,
    motors: Switch,
) -> dragoman_ros::Result<()> {
    tasks.serve::<GetGeometry::Service>("~/get_geometry", move |_request| {
        let Geometry { size: [length, width, height], center } = geometry;
        let mut response = GetGeometry::Response { success: true, ..Default::default() };
        (response.size.x, response.size.y, response.size.z) = (length, width, height);
        (response.pose.x, response.pose.y, response.pose.theta) = (center.x, center.y, center.heading);
        response
    })?;
    let switched = line.clone();
    tasks.serve::<SetBool::Service>("~/set_motor_power", move |request| {
        let outcome = switched.with(|_, driver| {
            let outcome = driver.set_motor_power(request.data);
            // Before the answer, and each change: they may be switched again before the next cycle.
            motors.show(driver.motion().motor_power);
            outcome
        });
        match outcome {
            Ok(()) => {
                let message = if request.data { "motors on" } else { "motors off" };
                SetBool::Response { success: true, message: message.to_owned() }
            }
            Err(refusal) => SetBool::Response { success: false, message: refusal.to_string() },
        }
    })?;
    let reset = line.clone();
    tasks.serve::<Trigger::Service>("~/reset_odometry", move |_request| {
        let result = reset.with(|_, driver| driver.set_odometry(Pose::ORIGIN));
        Trigger::Response {
            success: result.is_ok(),
            message: result.map_or_else(|error| error.to_string(), |()| "reset".to_owned()),
        }
    })?;
    let set = line.clone();
    tasks.serve::<SetOdometry::Service>("~/set_odometry", move |request| {
        let pose = Pose::new(request.pose.x, request.pose.y, request.pose.theta);
        let result = set.with(|_, driver| driver.set_odometry(pose));
        SetOdometry::Response {
            success: result.is_ok(),
            message: result.map_or_else(
                |error| error.to_string(),
                |()| if pose == Pose::ORIGIN { "reset".to_owned() } else { "set".to_owned() },
            ),
        }
    })
}

/// Applies changed limit parameters.
pub(super) async fn follow_limits<P: ParameterSet, B: Base>(
    parameters: Parameters<P>,
    limits: fn(&P) -> Limits,
    line: Line<B>,
) {
    let mut changes = parameters.changes();
    while changes.next().await.is_some() {
        if let Err(error) = line.with(|_, driver| driver.set_limits(limits(&parameters.read()))) {
            tracing::warn!(%error, "setting the velocity limits failed");
        }
    }
}

/// Odometry, its transform, and the wheels.
pub(super) struct MotionTopics {
    clock: SharedClock,
    odometry: Publisher<Odometry>,
    transform: Option<Publisher<TFMessage>>,
    joints: Publisher<JointState>,
    motors: Switch,
    odom_frame: String,
    base_frame: String,
    wheel_names: Vec<String>,
}

impl MotionTopics {
    fn new(node: &mut Node, values: &BaseParameters, motors: Switch) -> dragoman_ros::Result<Self> {
        Ok(Self {
            clock: node.get_ros_clock(),
            odometry: node.create_publisher("odom", QosProfile::default())?,
            transform: values
                .publish_tf
                .then(|| node.create_publisher("/tf", QosProfile::default().keep_last(100)))
                .transpose()?,
            joints: node.create_publisher(&values.joint_states_topic, QosProfile::default())?,
            motors,
            odom_frame: values.odom_frame.clone(),
            base_frame: values.base_frame.clone(),
            wheel_names: vec![values.wheel_left_joint_name.clone(), values.wheel_right_joint_name.clone()],
        })
    }

    /// The present time.
    pub(super) fn now(&self) -> Duration {
        times::now(&self.clock)
    }

    /// The same as a stamp.
    pub(super) fn stamp(&self) -> Time {
        times::stamp(&self.clock)
    }

    /// Publishes whether the motors are on, if that has changed; while the driver is locked, so that the newest comes last.
    pub(super) fn show_motors(&self, on: bool) {
        self.motors.show(on);
    }

    /// Publishes the motion measured at `stamp`.
    pub(super) fn publish(&self, stamp: &Time, motion: &Motion) -> dragoman_ros::Result<()> {
        if let Some(transform) = &self.transform {
            let message = poses::transform(stamp, &self.odom_frame, &self.base_frame, &motion.pose);
            transform.publish(&TFMessage { transforms: vec![message] })?;
        }
        let mut odometry = Odometry { child_frame_id: self.base_frame.clone(), ..Default::default() };
        odometry.header.stamp = stamp.clone();
        odometry.header.frame_id.clone_from(&self.odom_frame);
        odometry.pose.pose = poses::pose(&motion.pose);
        odometry.pose.covariance = motion.pose_covariance.to_vec();
        odometry.twist.twist.linear.x = motion.twist.linear;
        odometry.twist.twist.angular.z = motion.twist.angular;
        self.odometry.publish(&odometry)?;
        let mut joints = JointState {
            name: self.wheel_names.clone(),
            position: motion.wheels.iter().map(|wheel| wheel.angle).collect(),
            velocity: motion.wheels.iter().map(|wheel| wheel.rate).collect(),
            ..Default::default()
        };
        joints.header.stamp = stamp.clone();
        self.joints.publish(&joints)
    }
}

/// Logs that the connection to the base was established or lost.
pub(super) fn log_robot(online: bool) {
    tracing::info!("connection to the base {}", if online { "established" } else { "lost" });
}

/// Logs that the motors were switched.
pub(super) fn log_motors(on: bool) {
    tracing::info!("motors {}", if on { "on" } else { "off" });
}

/// Logs that commands have ended.
pub(super) fn log_expired() {
    tracing::warn!("velocity command timed out; stopping the base");
}

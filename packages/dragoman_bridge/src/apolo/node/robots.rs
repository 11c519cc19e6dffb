//! The mobile robots of an old server's world, as other ROS nodes see them.

use std::f64::consts::PI;
use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_neobotix::messages;
use dragoman_ros::naming;
use dragoman_ros::shared::SharedPublisher;
use dragoman_ros::times::SharedClock;
use dragoman_ros::{
    Node, Publisher, QosProfile, Result, geometry_msgs, nav_msgs, poses, sensor_msgs, std_msgs, tf2_msgs,
    times,
};
use futures::stream::{BoxStream, SelectAll, StreamExt};

use super::client::ClientParameters;
use crate::BridgeError;
use crate::apolo::Refusal;
use crate::apolo::client::robot::{RobotConfig, RobotCycle, RobotEvent};
use crate::clock;

/// A velocity for the robot with this index.
pub(super) type Command = (usize, geometry_msgs::msg::Twist);

/// One robot: its cycles and its topics.
pub(super) struct Robot {
    pub(super) name: String,
    pub(super) cycle: RobotCycle,
    /// Why its last query was refused.
    pub(super) refusal: Option<Refusal>,
    frame_prefix: String,
    laser: LaserGeometry,
    clock: SharedClock,
    odometry: Publisher<nav_msgs::msg::Odometry>,
    scan: Option<Publisher<sensor_msgs::msg::LaserScan>>,
    tf: SharedPublisher<tf2_msgs::msg::TFMessage>,
}

/// Properties of a laser that the protocol does not transmit.
#[derive(Clone, Copy)]
struct LaserGeometry {
    /// rad
    angle_min: f64,
    /// rad
    angle_increment: f64,
    /// m
    range_max: f64,
    /// s
    scan_time: f64,
}

/// Creates the robots named in the parameters, and the stream of commands to them.
pub(super) fn start(
    node: &mut Node,
    parameters: &ClientParameters,
) -> Result<(Vec<Robot>, SelectAll<BoxStream<'static, Command>>), BridgeError> {
    let ClientParameters { robots: names, lasers, rates, .. } = parameters;
    for (parameter, len) in [("lasers", lasers.len()), ("rates", rates.len())] {
        if len != 0 && len != names.len() {
            let robots = names.len();
            let reason = format!("parameter '{parameter}' has {len} entries; there are {robots} robots");
            return Err(BridgeError::Robots { reason });
        }
    }
    let mut robots: Vec<Robot> = Vec::new();
    let mut commands = SelectAll::new();
    let tf = if names.is_empty() { None } else { Some(messages::transforms(node)?.into()) };
    for (index, (name, tf)) in names.iter().zip(std::iter::repeat(tf).flatten()).enumerate() {
        let frame_prefix = naming::token(name);
        if robots.iter().any(|robot| robot.frame_prefix == frame_prefix) {
            let reason = format!("parameter 'robots' names '{frame_prefix}' twice");
            return Err(BridgeError::Robots { reason });
        }
        let period = 1.0 / rates.get(index).copied().unwrap_or(DEFAULT_RATE);
        let laser = lasers.get(index).filter(|laser| !laser.is_empty()).cloned();
        let newest = QosProfile::default().keep_last(1);
        let velocities =
            node.subscribe::<geometry_msgs::msg::Twist>(&format!("{frame_prefix}/cmd_vel"), newest)?;
        commands.push(velocities.map(move |twist| (index, twist)).boxed());
        let scan = match &laser {
            Some(_) => {
                Some(node.create_publisher(&format!("{frame_prefix}/scan"), QosProfile::sensor_data())?)
            }
            None => None,
        };
        let config = RobotConfig {
            world: parameters.world.clone(),
            robot: name.clone(),
            laser,
            period: Duration::from_secs_f64(period),
            command_timeout: parameters.command_timeout,
        };
        robots.push(Robot {
            name: name.clone(),
            cycle: RobotCycle::new(clock::now(), config),
            refusal: None,
            laser: LaserGeometry {
                angle_min: parameters.laser_angle_min,
                angle_increment: parameters.laser_angle_increment,
                range_max: parameters.laser_range_max,
                scan_time: period,
            },
            clock: node.get_ros_clock(),
            odometry: node.create_publisher(&format!("{frame_prefix}/odom"), QosProfile::default())?,
            scan,
            tf,
            frame_prefix,
        });
    }
    Ok((robots, commands))
}

/// Default number of cycles per second.
pub(super) const DEFAULT_RATE: f64 = 10.0;

/// As the laser LMS100: from -135 degrees every half degree, up to 20 m.
pub(super) const LASER_ANGLE_MIN: f64 = -0.75 * PI;
pub(super) const LASER_ANGLE_INCREMENT: f64 = PI / 360.0;
pub(super) const LASER_RANGE_MAX: f64 = 20.0;

impl Robot {
    /// Handles a velocity command.
    pub(super) fn command(&mut self, twist: &geometry_msgs::msg::Twist) {
        if !self.cycle.handle_command(clock::now(), twist.linear.x, twist.angular.z) {
            tracing::warn!(robot = self.name, "velocity command refused: not finite");
        }
    }

    /// Publishes an event of the robot.
    pub(super) fn note(&mut self, event: RobotEvent) {
        match event {
            RobotEvent::Odometry { x, y, yaw, velocity } => {
                self.refusal = None;
                self.publish_odometry([x, y, yaw], velocity);
            }
            RobotEvent::Scan { ranges } => self.publish_scan(&ranges),
            RobotEvent::Refused(refusal) => {
                if self.refusal.as_ref() != Some(&refusal) {
                    tracing::warn!(robot = self.name, %refusal, "call refused by Apolo");
                }
                self.refusal = Some(refusal);
            }
        }
    }

    fn publish_odometry(&self, [x, y, yaw]: [f64; 3], [speed, rotation_speed]: [f64; 2]) {
        let header = self.header("odom");
        let child_frame_id = format!("{}/base_footprint", self.frame_prefix);
        let transform =
            poses::transform(&header.stamp, &header.frame_id, &child_frame_id, &Pose::new(x, y, yaw));
        let mut odometry = nav_msgs::msg::Odometry { header, child_frame_id, ..Default::default() };
        odometry.pose.pose.position = geometry_msgs::msg::Point { x, y, z: 0.0 };
        odometry.pose.pose.orientation = transform.transform.rotation.clone();
        odometry.twist.twist.linear.x = speed;
        odometry.twist.twist.angular.z = rotation_speed;
        report(self.odometry.publish(&odometry), "odom");
        report(self.tf.publish(&tf2_msgs::msg::TFMessage { transforms: vec![transform] }), "tf");
    }

    #[allow(clippy::cast_possible_truncation, reason = "scans have single precision in ROS")]
    fn publish_scan(&self, ranges: &[f64]) {
        let Some(publisher) = &self.scan else { return };
        let LaserGeometry { angle_min, angle_increment, range_max, scan_time } = self.laser;
        let beams = ranges.len().saturating_sub(1) as f64;
        let scan = sensor_msgs::msg::LaserScan {
            header: self.header("laser"),
            angle_min: angle_min as f32,
            angle_max: (angle_min + beams * angle_increment) as f32,
            angle_increment: angle_increment as f32,
            time_increment: 0.0,
            scan_time: scan_time as f32,
            range_min: 0.0,
            range_max: range_max as f32,
            // Readings at the maximum range hit nothing: infinite (REP 117).
            ranges: ranges
                .iter()
                .map(|range| if *range < range_max { *range as f32 } else { f32::INFINITY })
                .collect(),
            intensities: Vec::new(),
        };
        report(publisher.publish(&scan), "scan");
    }

    fn header(&self, frame: &str) -> std_msgs::msg::Header {
        std_msgs::msg::Header {
            stamp: times::stamp(&self.clock),
            frame_id: format!("{}/{frame}", self.frame_prefix),
        }
    }
}

fn report(result: Result<()>, topic: &str) {
    if let Err(error) = result {
        tracing::warn!(%error, topic, "publishing failed");
    }
}

//! What each robot on wheels without a driver of its own has besides the services: velocities, odometry.

use std::time::Duration;

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::{TransformStamped, Twist};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Publisher, QosProfile};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use super::frames::{pose_message, prefix, stamped, world_frame};
use super::pace::Pace;
use super::{Live, State, WorldNodeError, listened};
use crate::WorldError;
use crate::world::ObjectKind;

/// A robot, and where it tells of itself.
pub(super) struct Robot {
    world: String,
    world_frame: String,
    name: String,
    /// Its frames and topics begin with this.
    prefix: String,
    odometry: Publisher<Odometry>,
    /// Odometry and the worlds' time when it was published last.
    last: Option<([f64; 3], Duration)>,
}

/// Takes velocities for all robots that nobody else drives, and makes their topics.
pub(super) fn serve(tasks: &mut NodeTasks, live: &Live) -> Result<Vec<Robot>, WorldNodeError> {
    let mut robots: Vec<Robot> = Vec::new();
    for (world, world_frame, name, prefix) in live.with(found) {
        if robots.iter().any(|other| other.prefix == prefix) {
            return Err(WorldNodeError::Robots { name: prefix });
        }
        let newest = QosProfile::default().keep_last(1);
        let (commanded, in_world, robot) = (live.clone(), world.clone(), name.clone());
        tasks.subscribe(&format!("{prefix}/cmd_vel"), newest, move |twist: Twist| {
            commanded.command(&in_world, &robot, [twist.linear.x, twist.angular.z]);
        })?;
        let node = tasks.node();
        let odometry = node.create_publisher(&format!("{prefix}/odom"), QosProfile::default())?;
        robots.push(Robot { world, world_frame, name, prefix, odometry, last: None });
    }
    Ok(robots)
}

/// World, its frame, name and prefix of these robots.
fn found(state: &mut State) -> Vec<(String, String, String, String)> {
    let mut robots = Vec::new();
    let driven: Vec<String> = state.driven.iter().map(|driven| driven.robot.name.clone()).collect();
    for (at, world) in state.pace.worlds().worlds().iter().enumerate() {
        let is_ours = |name: &str| !driven.iter().any(|driven| driven == name);
        let wheeled = world.objects().iter().filter(|object| object.kind() == ObjectKind::Wheeled);
        for object in wheeled.filter(|object| is_ours(object.name())) {
            let (frame, prefix) = (world_frame(at, world), prefix(at, world, object.name()));
            robots.push((world.name().to_owned(), frame, object.name().to_owned(), prefix));
        }
    }
    robots
}

impl Robot {
    /// What it has to say, if somebody listens.
    pub(super) fn tell(&mut self, pace: &mut Pace, stamp: &Time) -> Result<Option<Odometry>, WorldError> {
        if listened(&self.odometry) {
            return self.odometry(pace, stamp).map(Some);
        }
        self.last = None;
        Ok(None)
    }

    /// Sends it.
    pub(super) fn send(&self, odometry: &Odometry) -> dragoman_ros::Result<()> {
        self.odometry.publish(odometry)
    }

    fn odometry(&mut self, pace: &mut Pace, stamp: &Time) -> Result<Odometry, WorldError> {
        let now = pace.worlds().odometry(Some(&self.world), &self.name)?;
        let time = pace.time();
        let mut message =
            Odometry { child_frame_id: format!("{}/base_footprint", self.prefix), ..Default::default() };
        message.header.stamp = stamp.clone();
        message.header.frame_id = format!("{}/odom", self.prefix);
        message.pose.pose = pose_message(&planar(now));
        // Requests move in no time: only who drives has a velocity.
        if let Some((before, then)) = self.last.filter(|_| pace.is_driving(&self.world, &self.name)) {
            let passed = time.saturating_sub(then).as_secs_f64();
            if passed > 0.0 {
                let (sin, cos) = now[2].sin_cos();
                let ahead = (now[0] - before[0]) * cos + (now[1] - before[1]) * sin;
                let turn = now[2] - before[2];
                message.twist.twist.linear.x = ahead / passed;
                message.twist.twist.angular.z = turn.sin().atan2(turn.cos()) / passed;
            }
        }
        self.last = Some((now, time));
        Ok(message)
    }

    /// From the world to where its odometry began, and from there to the robot.
    pub(super) fn transforms(
        &self,
        pace: &mut Pace,
        stamp: &Time,
    ) -> Result<Vec<TransformStamped>, WorldError> {
        let world = Some(self.world.as_str());
        let pose = pace.worlds().pose(world, &self.name)?;
        let odometry = planar(pace.worlds().odometry(world, &self.name)?);
        let (odom, base) = (format!("{}/odom", self.prefix), format!("{}/base_footprint", self.prefix));
        Ok(vec![
            stamped(stamp, &self.world_frame, odom.clone(), &(pose * odometry.inverse())),
            stamped(stamp, &odom, base, &odometry),
        ])
    }
}

fn planar([x, y, heading]: [f64; 3]) -> Isometry3<f64> {
    let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), heading);
    Isometry3::from_parts(Translation3::new(x, y, 0.0), rotation)
}

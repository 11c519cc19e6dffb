//! What each robot on wheels has besides the services: velocities, odometry, the scans of its laser.

use std::time::Duration;

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::{TransformStamped, Twist};
use dragoman_ros::naming;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::LaserScan;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Publisher, QosProfile};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use super::frames::{pose_message, stamped, world_frame};
use super::pace::Pace;
use super::{Live, WorldNodeError};
use crate::WorldError;
use crate::world::{LaserFigures, ObjectKind};

/// A robot, and where it tells of itself.
pub(super) struct Robot {
    world: String,
    world_frame: String,
    name: String,
    /// Its frames and topics begin with this.
    prefix: String,
    odometry: Publisher<Odometry>,
    laser: Option<Laser>,
    /// Odometry and the worlds' time when it was published last.
    last: Option<([f64; 3], Duration)>,
}

struct Laser {
    name: String,
    figures: LaserFigures,
    scan: Publisher<LaserScan>,
}

/// Takes velocities for all robots, and makes their topics. With two lasers, the first has the topic.
pub(super) fn serve(tasks: &mut NodeTasks, live: &Live) -> Result<Vec<Robot>, WorldNodeError> {
    let mut robots: Vec<Robot> = Vec::new();
    for (world, world_frame, name, prefix, laser) in live.with(|state| found(&mut state.pace)) {
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
        let laser = match laser {
            None => None,
            Some((name, figures)) => {
                let scan = node.create_publisher(&format!("{prefix}/scan"), QosProfile::sensor_data())?;
                Some(Laser { name, figures, scan })
            }
        };
        robots.push(Robot { world, world_frame, name, prefix, odometry, laser, last: None });
    }
    Ok(robots)
}

type Found = (String, String, String, String, Option<(String, LaserFigures)>);

/// World, its frame, name, prefix, and first laser of all robots on wheels.
fn found(pace: &mut Pace) -> Vec<Found> {
    let mut robots = Vec::new();
    for (at, world) in pace.worlds().worlds().iter().enumerate() {
        for object in world.objects().iter().filter(|object| object.kind() == ObjectKind::Wheeled) {
            let own = naming::token(object.name());
            let prefix = if at == 0 { own } else { format!("{}/{own}", naming::token(world.name())) };
            let on_it = |laser: &&str| world.carrier(laser).is_some_and(|by| by.name() == object.name());
            let laser = world.lasers().find(on_it).map(str::to_owned);
            let frame = world_frame(at, world);
            robots.push((world.name().to_owned(), frame, object.name().to_owned(), prefix, laser));
        }
    }
    let worlds = pace.worlds();
    let with_figures = robots.into_iter().map(|(world, frame, name, prefix, laser)| {
        let laser = laser.and_then(|laser| {
            let figures = worlds.laser_figures(Some(&world), &laser).ok()?;
            Some((laser, figures))
        });
        (world, frame, name, prefix, laser)
    });
    with_figures.collect()
}

impl Robot {
    /// Publishes what somebody listens to.
    pub(super) fn publish(&mut self, pace: &mut Pace, stamp: &Time) -> Result<Messages, WorldError> {
        let mut messages = Messages::default();
        if listened(&self.odometry) {
            messages.odometry = Some(self.odometry(pace, stamp)?);
        } else {
            self.last = None;
        }
        if let Some(laser) = self.laser.as_ref().filter(|laser| listened(&laser.scan)) {
            let ranges = pace.worlds().laser_data(Some(&self.world), &laser.name)?;
            messages.scan =
                Some(laser_scan(&laser.figures, &ranges, stamp, format!("{}/laser", self.prefix)));
        }
        Ok(messages)
    }

    /// Sends them.
    pub(super) fn send(&self, messages: Messages) -> dragoman_ros::Result<()> {
        if let Some(odometry) = messages.odometry {
            self.odometry.publish(&odometry)?;
        }
        if let (Some(laser), Some(scan)) = (&self.laser, messages.scan) {
            laser.scan.publish(&scan)?;
        }
        Ok(())
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

    /// From the world to where its odometry began, from there to the robot, and from there to its laser.
    pub(super) fn transforms(
        &self,
        pace: &mut Pace,
        stamp: &Time,
    ) -> Result<Vec<TransformStamped>, WorldError> {
        let world = Some(self.world.as_str());
        let pose = pace.worlds().pose(world, &self.name)?;
        let odometry = planar(pace.worlds().odometry(world, &self.name)?);
        let (odom, base) = (format!("{}/odom", self.prefix), format!("{}/base_footprint", self.prefix));
        let mut transforms = vec![
            stamped(stamp, &self.world_frame, odom.clone(), &(pose * odometry.inverse())),
            stamped(stamp, &odom, base.clone(), &odometry),
        ];
        if let Some(laser) = &self.laser {
            let mount = pose.inverse() * pace.worlds().pose(world, &laser.name)?;
            transforms.push(stamped(stamp, &base, format!("{}/laser", self.prefix), &mount));
        }
        Ok(transforms)
    }
}

/// What a robot has to say.
#[derive(Default)]
pub(super) struct Messages {
    odometry: Option<Odometry>,
    scan: Option<LaserScan>,
}

fn planar([x, y, heading]: [f64; 3]) -> Isometry3<f64> {
    let rotation = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), heading);
    Isometry3::from_parts(Translation3::new(x, y, 0.0), rotation)
}

/// Whether anybody listens, here or elsewhere.
pub(super) fn listened<T: dragoman_ros::WrappedTypesupport>(publisher: &Publisher<T>) -> bool {
    publisher.get_inter_process_subscription_count().is_ok_and(|count| count > 0)
}

/// Nothing hit is infinitely far (REP 117).
fn laser_scan(figures: &LaserFigures, ranges: &[f64], stamp: &Time, frame: String) -> LaserScan {
    let last_angle = figures.first_angle + ranges.len().saturating_sub(1) as f64 * figures.angle_step;
    let single = |range: &f64| if *range >= figures.max_range { f32::INFINITY } else { *range as f32 };
    let mut scan = LaserScan {
        angle_min: figures.first_angle as f32,
        angle_max: last_angle as f32,
        angle_increment: figures.angle_step as f32,
        range_min: figures.min_range as f32,
        range_max: figures.max_range as f32,
        ranges: ranges.iter().map(single).collect(),
        ..Default::default()
    };
    scan.header.stamp = stamp.clone();
    scan.header.frame_id = frame;
    scan
}

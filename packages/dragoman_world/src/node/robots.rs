//! Robots on wheels without a driver of their own: velocities and odometry, besides the services.

use std::time::Duration;

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::{TransformStamped, Twist};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Publisher, QosProfile, Result};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use super::frames::{pose_message, prefix, stamped, world_frame};
use super::pace::Pace;
use super::{Live, State, listened};
use crate::ObjectKind;
use crate::WorldError;

/// A robot and its topics.
pub(super) struct Robot {
    world: String,
    world_frame: String,
    name: String,
    /// Prefix of its frames and topics.
    prefix: String,
    odometry: Publisher<Odometry>,
    /// The last published state; `None` without subscribers.
    last: Option<Travelled>,
}

/// Counts of its encoders, m and rad, at a time of the worlds.
#[derive(Debug, Clone, Copy)]
struct Travelled {
    counted: [f64; 2],
    time: Duration,
}

impl Travelled {
    fn now(pace: &mut Pace, world: &str, robot: &str) -> std::result::Result<Self, WorldError> {
        Ok(Self { counted: pace.worlds().travelled(Some(world), robot)?, time: pace.time() })
    }

    /// The mean velocities since an earlier time, m/s and rad/s; `None` if no time has passed.
    ///
    /// They are not derived from the odometry, which may be set to any value in between.
    fn since(&self, before: &Self) -> Option<[f64; 2]> {
        let passed = self.time.saturating_sub(before.time).as_secs_f64();
        let [ahead, turn] = [0, 1].map(|at| (self.counted[at] - before.counted[at]) / passed);
        (passed > 0.0).then_some([ahead, turn])
    }
}

/// Subscribes to velocities for all robots without a driver of their own, and creates their topics.
pub(super) fn serve(tasks: &mut NodeTasks, live: &Live) -> Result<Vec<Robot>> {
    let mut robots = Vec::new();
    for (world, world_frame, name, prefix) in live.with(found) {
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
    /// Its odometry, if the topic has subscribers.
    pub(super) fn message(
        &mut self,
        pace: &mut Pace,
        stamp: &Time,
    ) -> std::result::Result<Option<Odometry>, WorldError> {
        if listened(&self.odometry) {
            return self.odometry(pace, stamp).map(Some);
        }
        self.last = None;
        Ok(None)
    }

    /// Publishes it.
    pub(super) fn send(&self, odometry: &Odometry) -> Result<()> {
        self.odometry.publish(odometry)
    }

    fn odometry(&mut self, pace: &mut Pace, stamp: &Time) -> std::result::Result<Odometry, WorldError> {
        let now = pace.worlds().wheel_odometry(Some(&self.world), &self.name)?;
        let travelled = Travelled::now(pace, &self.world, &self.name)?;
        let mut message =
            Odometry { child_frame_id: format!("{}/base_footprint", self.prefix), ..Default::default() };
        message.header.stamp = stamp.clone();
        message.header.frame_id = format!("{}/odom", self.prefix);
        message.pose.pose = pose_message(&planar(now));
        // Requests move a robot instantly: only a robot with a command has a velocity.
        let driving = self.last.replace(travelled).filter(|_| pace.is_driving(&self.world, &self.name));
        if let Some([ahead, turn]) = driving.and_then(|before| travelled.since(&before)) {
            message.twist.twist.linear.x = ahead;
            message.twist.twist.angular.z = turn;
        }
        Ok(message)
    }

    /// Transforms from the world to the origin of the odometry, and from there to the robot.
    pub(super) fn transforms(
        &self,
        pace: &mut Pace,
        stamp: &Time,
    ) -> std::result::Result<Vec<TransformStamped>, WorldError> {
        let world = Some(self.world.as_str());
        let pose = pace.worlds().pose(world, &self.name)?;
        let odometry = planar(pace.worlds().wheel_odometry(world, &self.name)?);
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

#[cfg(test)]
mod tests {
    use super::super::pace::Speed;
    use super::*;
    use crate::Worlds;

    const WORLD: &str = "worlds:
- name: A
  bodies: [{name: floor, shapes: [{box: [90, 90, 1], xyz: [0, 0, -0.5]}]}]
  wheeled_robots:
  - {name: Cart, wheel_radius: 0.1, body: [{box: [0.4, 0.4, 0.2], xyz: [0, 0, 0.3]}], supports: [[0.2, 0.2], [0.2, -0.2], [-0.2, 0]]}
";

    #[test]
    fn the_odometry_of_the_topic_does_not_jump_when_the_robot_is_placed() {
        let mut worlds = Worlds::from_yaml(WORLD, &|name| Err(format!("no {name}"))).unwrap();
        assert!(worlds.move_m_robot(None, "Cart", [0.5, 0.0], 1.0).unwrap());
        assert!(worlds.place_m_robot(None, "Cart", [3.0, 4.0, 0.0], 0.0).unwrap());
        assert!(worlds.move_m_robot(None, "Cart", [0.5, 0.0], 1.0).unwrap());
        let far = |a: [f64; 3], b: [f64; 3]| (a[0] - b[0]).hypot(a[1] - b[1]);
        let topic = worlds.wheel_odometry(None, "Cart").unwrap();
        assert!(far(topic, [1.0, 0.0, 0.0]) < 1e-9, "{topic:?}");
        // Apolo's function, and so its service, has the jump.
        let service = worlds.odometry(None, "Cart").unwrap();
        assert!(far(service, [3.5, 4.0, 0.0]) < 1e-9, "{service:?}");
    }

    #[test]
    fn a_driving_robot_has_its_velocity_while_the_odometry_is_set() {
        let worlds = Worlds::from_yaml(WORLD, &|name| Err(format!("no {name}"))).unwrap();
        let second = Duration::from_secs(1);
        let mut pace = Pace::new(worlds, Speed::Factor(1.0), 10 * second);
        pace.command("A", "Cart", [0.5, 0.2]).unwrap();
        let mut before = Travelled::now(&mut pace, "A", "Cart").unwrap();
        assert_eq!(before.since(&before), None);
        for (at, odometry) in [(1, None), (2, Some([7.0, -3.0, 2.0])), (3, Some([0.0; 3]))] {
            if let Some(odometry) = odometry {
                pace.worlds().reset_odometry(None, "Cart", odometry).unwrap();
            }
            pace.advance_to(at * second);
            let now = Travelled::now(&mut pace, "A", "Cart").unwrap();
            let [ahead, turn] = now.since(&before).unwrap();
            assert!((ahead - 0.5).abs() < 1e-9 && (turn - 0.2).abs() < 1e-9, "{at}: {ahead}, {turn}");
            before = now;
        }
    }
}

//! Robots on wheels without a driver of their own: velocities, odometry and Player's position2d (RoMAA page), besides
//! the services.

use std::time::Duration;

use dragoman_geometry::Twist as Planar;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::dragoman_msgs::srv::{GetGeometry, SetOdometry};
use dragoman_ros::geometry_msgs::msg::{TransformStamped, Twist};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::shared::Switch;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Publisher, QosProfile, Result, poses};
use nalgebra::{Isometry3, Translation3, UnitQuaternion, Vector3};

use super::frames::{prefix, world_frame};
use super::pace::Pace;
use super::{Live, NodeState, listened};
use crate::ObjectKind;
use crate::{Step, WorldError};

/// A robot and its topics.
pub(super) struct Robot {
    world: String,
    world_frame: String,
    name: String,
    /// Prefix of its frames and topics.
    prefix: String,
    odometry: Publisher<Odometry>,
    motors: Switch,
    /// The last published state; `None` without subscribers.
    last: Option<Travelled>,
}

/// Counts of its encoders at a time of the worlds.
#[derive(Debug, Clone, Copy)]
struct Travelled {
    counted: Step,
    time: Duration,
}

impl Travelled {
    fn now(pace: &mut Pace, world: &str, robot: &str) -> std::result::Result<Self, WorldError> {
        Ok(Self { counted: pace.worlds().travelled(Some(world), robot)?, time: pace.time() })
    }

    /// The mean velocity since an earlier time; `None` if no time has passed.
    ///
    /// They are not derived from the odometry, which may be set to any value in between.
    fn since(&self, before: &Self) -> Option<Planar> {
        let passed = self.time.saturating_sub(before.time).as_secs_f64();
        let (now, before) = (self.counted, before.counted);
        let mean =
            Planar::planar(now.distance - before.distance, now.side - before.side, now.turn - before.turn);
        (passed > 0.0).then_some(mean.times(1.0 / passed))
    }
}

/// Subscribes to velocities for all robots without a driver of their own, and creates their topics.
pub(super) fn serve(tasks: &mut NodeTasks, live: &Live) -> Result<Vec<Robot>> {
    let mut robots = Vec::new();
    for (world, world_frame, name, prefix) in live.with(found) {
        let newest = QosProfile::default().keep_last(1);
        let (commanded, in_world, robot) = (live.clone(), world.clone(), name.clone());
        tasks.subscribe(&format!("{prefix}/cmd_vel"), newest, move |twist: Twist| {
            commanded.command(
                &in_world,
                &robot,
                Planar::planar(twist.linear.x, twist.linear.y, twist.angular.z),
            );
        })?;
        let node = tasks.node();
        let motors = Switch::new(node, &format!("{prefix}/motors_on"))?;
        let odometry = node.create_publisher(&format!("{prefix}/odom"), QosProfile::default())?;
        serve_position2d(tasks, live, &world, &name, &prefix, &motors)?;
        robots.push(Robot { world, world_frame, name, prefix, odometry, motors, last: None });
    }
    Ok(robots)
}

/// The services of Player's position2d for one robot.
fn serve_position2d(
    tasks: &mut NodeTasks,
    live: &Live,
    world: &str,
    robot: &str,
    prefix: &str,
    motors: &Switch,
) -> Result<()> {
    // Clones for each service.
    let names = || (live.clone(), world.to_owned(), robot.to_owned());
    let (asked, world, name) = names();
    tasks.serve::<GetGeometry::Service>(&format!("{prefix}/get_geometry"), move |_request| {
        match asked.ask(|worlds| worlds.outline(Some(&world), &name)) {
            Ok(corners) => geometry(corners),
            Err(refused) => GetGeometry::Response { message: refused.message, ..Default::default() },
        }
    })?;
    let (switched, world, name) = names();
    let motors = motors.clone();
    tasks.serve::<SetBool::Service>(&format!("{prefix}/set_motor_power"), move |request| {
        let done = switched.with(|state| {
            let result = state.pace.set_motor_power(&world, &name, request.data);
            result.map_err(|error| state.refuse(&error))?;
            // Now, and not in the next cycle: they may be switched again before it.
            motors.show(request.data);
            Ok(())
        });
        let message = if request.data { "motors on" } else { "motors off" };
        SetBool::Response { success: done.is_ok(), message: done.err().unwrap_or_else(|| message.to_owned()) }
    })?;
    let (reset, world, name) = names();
    tasks.serve::<Trigger::Service>(&format!("{prefix}/reset_odometry"), move |_request| {
        let done = reset.ask(|worlds| worlds.reset_odometry(Some(&world), &name, [0.0; 3]));
        let message = done.as_ref().err().map_or("reset", |refused| refused.message.as_str()).to_owned();
        Trigger::Response { success: done.is_ok(), message }
    })?;
    let (set, world, name) = names();
    tasks.serve::<SetOdometry::Service>(&format!("{prefix}/set_odometry"), move |request| {
        let pose = [request.pose.x, request.pose.y, request.pose.theta];
        let done = set.ask(|worlds| worlds.reset_odometry(Some(&world), &name, pose));
        // Player's clients reset in this way.
        let named = if pose == [0.0; 3] { "reset" } else { "set" };
        let message = done.as_ref().err().map_or(named, |refused| refused.message.as_str()).to_owned();
        SetOdometry::Response { success: done.is_ok(), message }
    })
}

/// Size and centre of a robot with these corners in its own frame, that of the odometry.
fn geometry([low, high]: [[f64; 3]; 2]) -> GetGeometry::Response {
    // To the micrometre: the corners depend on the pose by their last digits, and clients take a base of another size for
    // another base.
    let round = |length: f64| (length * 1e6).round() / 1e6;
    let mut response = GetGeometry::Response { success: true, ..Default::default() };
    (response.size.x, response.size.y, response.size.z) =
        (round(high[0] - low[0]), round(high[1] - low[1]), round(high[2] - low[2]));
    (response.pose.x, response.pose.y) = (round((low[0] + high[0]) / 2.0), round((low[1] + high[1]) / 2.0));
    response
}

/// World, its frame, name and prefix of these robots.
fn found(state: &mut NodeState) -> Vec<(String, String, String, String)> {
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
    /// Its odometry, if the topic has subscribers. Publishes its motors, which a reset switches as well.
    pub(super) fn message(
        &mut self,
        pace: &mut Pace,
        stamp: &Time,
    ) -> std::result::Result<Option<Odometry>, WorldError> {
        if let Ok(on) = pace.worlds().has_motor_power(Some(&self.world), &self.name) {
            self.motors.show(on);
        }
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
        message.pose.pose = poses::pose(&planar(now));
        // Requests move a robot instantly: only a robot with a command has a velocity.
        let driving = self.last.replace(travelled).filter(|_| pace.is_driving(&self.world, &self.name));
        if let Some(mean) = driving.and_then(|before| travelled.since(&before)) {
            message.twist.twist.linear.x = mean.linear;
            message.twist.twist.linear.y = mean.lateral;
            message.twist.twist.angular.z = mean.angular;
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
            poses::transform(stamp, &self.world_frame, odom.clone(), &(pose * odometry.inverse())),
            poses::transform(stamp, &odom, base, &odometry),
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
        pace.command("A", "Cart", Planar::new(0.5, 0.2)).unwrap();
        let mut before = Travelled::now(&mut pace, "A", "Cart").unwrap();
        assert_eq!(before.since(&before), None);
        for (at, odometry) in [(1, None), (2, Some([7.0, -3.0, 2.0])), (3, Some([0.0; 3]))] {
            if let Some(odometry) = odometry {
                pace.worlds().reset_odometry(None, "Cart", odometry).unwrap();
            }
            pace.advance_to(at * second);
            let now = Travelled::now(&mut pace, "A", "Cart").unwrap();
            let Planar { linear, angular, .. } = now.since(&before).unwrap();
            assert!((linear - 0.5).abs() < 1e-9 && (angular - 0.2).abs() < 1e-9, "{at}: {linear}, {angular}");
            before = now;
        }
    }
}

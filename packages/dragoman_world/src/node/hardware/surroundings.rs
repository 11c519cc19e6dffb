//! What the devices of the lab's platform sense of the world: gyro and accelerations, reflectors (the world's
//! landmarks, as its laser sees them), and charging stations.

use std::time::Duration;

use dragoman_geometry::{Pose, relative, wrap_angle};
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::PoseArray;
use dragoman_ros::sensor_msgs::msg::Imu;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Publisher, QosProfile, Result, poses};

use super::super::{Live, listened};
use crate::{World, Worlds, heading};

/// Period of the topics.
const PERIOD: Duration = Duration::from_millis(200);
/// Maximum distance of a charging station that is detected, m.
const STATION_RANGE: f64 = 8.0;
/// Maximum distance from a charging station at which a robot is docked, m and rad.
const DOCKED: [f64; 2] = [0.05, 0.1];
/// m/s^2.
const GRAVITY: f64 = 9.81;

/// Publishes while there are subscribers.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    worlds: &Live,
    robot: &str,
    frame_prefix: &str,
    stamp: impl Fn() -> Time + Send + 'static,
) -> Result<()> {
    let node = tasks.node();
    let imu: Publisher<Imu> = node.create_publisher("imu", QosProfile::sensor_data())?;
    let reflectors: Publisher<PoseArray> = node.create_publisher("reflectors", QosProfile::sensor_data())?;
    let stations: Publisher<PoseArray> =
        node.create_publisher("charging_stations", QosProfile::sensor_data())?;
    let (worlds, robot, frame) = (worlds.clone(), robot.to_owned(), format!("{frame_prefix}base_footprint"));
    let mut gyro = Gyro::default();
    let poses = move |poses: Vec<Pose>, stamp: Time| {
        let mut message = PoseArray {
            poses: poses.into_iter().map(|pose| poses::pose(&pose)).collect(),
            ..Default::default()
        };
        (message.header.stamp, message.header.frame_id) = (stamp, frame.clone());
        message
    };
    tasks.every(PERIOD, move || {
        let wanted = [listened(&imu), listened(&reflectors), listened(&stations)];
        if !wanted.contains(&true) {
            return;
        }
        let found = worlds.with(|state| {
            let worlds = state.pace.worlds();
            let here = place(worlds, &robot)?;
            let seen = if wanted[1] { reflected(worlds, &robot) } else { Vec::new() };
            Some((here, seen, near(worlds, &robot, here)))
        });
        let Some((here, seen, near)) = found else { return };
        let mut results = Vec::new();
        if wanted[0] {
            let mut message = gyro.measure(here);
            message.header.stamp = stamp();
            results.push(imu.publish(&message));
        }
        if wanted[1] {
            results.push(reflectors.publish(&poses(seen, stamp())));
        }
        if wanted[2] {
            results.push(stations.publish(&poses(near, stamp())));
        }
        for error in results.into_iter().filter_map(std::result::Result::err) {
            tracing::warn!(%error, "publishing the platform's sensors failed");
        }
    })
}

/// Whether the robot stands on a charging station.
pub(super) fn is_docked(worlds: &Live, robot: &str) -> bool {
    worlds.with(|state| {
        let worlds = state.pace.worlds();
        let Some(here) = place(worlds, robot) else { return false };
        near(worlds, robot, here).iter().any(is_at)
    })
}

/// Whether a station at this pose, in the robot's frame, has the robot docked.
fn is_at(station: &Pose) -> bool {
    station.x.hypot(station.y) <= DOCKED[0] && wrap_angle(station.heading).abs() <= DOCKED[1]
}

fn holder<'a>(worlds: &'a Worlds, robot: &str) -> Option<&'a World> {
    worlds.worlds().iter().find(|world| world.pose(robot).is_ok())
}

fn place(worlds: &Worlds, robot: &str) -> Option<Pose> {
    let pose = holder(worlds, robot)?.pose(robot).ok()?;
    Some(Pose::new(pose.translation.x, pose.translation.y, heading(&pose)))
}

/// The charging stations near the robot, in its frame.
fn near(worlds: &Worlds, robot: &str, here: Pose) -> Vec<Pose> {
    let stations = holder(worlds, robot).map(World::chargers).unwrap_or_default();
    let relative = stations.iter().map(|station| {
        let [x, y, heading] = station.pose;
        relative(here, Pose::new(x, y, heading))
    });
    relative.filter(|station| station.x.hypot(station.y) <= STATION_RANGE).collect()
}

/// The landmarks that the robot's first laser sees, in the robot's frame.
fn reflected(worlds: &mut Worlds, robot: &str) -> Vec<Pose> {
    let Some(world) = holder(worlds, robot) else { return Vec::new() };
    let is_on = |laser: &&str| world.carrier(laser).is_some_and(|carrier| carrier.name() == robot);
    let Some(laser) = world.lasers().find(is_on).map(str::to_owned) else { return Vec::new() };
    let (Ok(robot_pose), Ok(laser_pose)) = (world.pose(robot), world.pose(&laser)) else { return Vec::new() };
    let (name, mount) = (world.name().to_owned(), robot_pose.inverse() * laser_pose);
    let sightings = worlds.laser_landmarks(Some(&name), &laser).unwrap_or_default();
    let point = |sighting: crate::Sighting| {
        let (sin, cos) = sighting.angle.sin_cos();
        let seen = mount * nalgebra::Point3::new(sighting.distance * cos, sighting.distance * sin, 0.0);
        Pose::new(seen.x, seen.y, 0.0)
    };
    sightings.into_iter().map(point).collect()
}

/// A gyro and accelerometers, from the true poses of the robot.
#[derive(Default)]
struct Gyro {
    last: Option<Pose>,
    /// Velocity ahead and to the left, m/s.
    velocity: [f64; 2],
}

impl Gyro {
    fn measure(&mut self, here: Pose) -> Imu {
        let period = PERIOD.as_secs_f64();
        let moved = self.last.replace(here).map_or(Pose::ORIGIN, |before| relative(before, here));
        let velocity = [moved.x / period, moved.y / period];
        let before = std::mem::replace(&mut self.velocity, velocity);
        let [ahead, left] = [(velocity[0] - before[0]) / period, (velocity[1] - before[1]) / period];
        let mut message = Imu { orientation: poses::turn(here.heading), ..Default::default() };
        message.angular_velocity.z = wrap_angle(moved.heading) / period;
        let acceleration = &mut message.linear_acceleration;
        (acceleration.x, acceleration.y, acceleration.z) = (ahead, left, GRAVITY);
        message
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lab_s_platform_is_docked_at_its_charger_only() {
        let mut worlds = Worlds::load_default().unwrap();
        let robot = "neobotix_platform";
        let mut station = |x: f64, y: f64, yaw: f64| {
            assert!(worlds.place_m_robot(None, robot, [x, y, 0.1], yaw).unwrap());
            let here = place(&worlds, robot).unwrap();
            let stations = near(&worlds, robot, here);
            (stations.len(), stations.iter().any(is_at))
        };
        assert_eq!(station(5.1, 2.2, 0.0), (1, true));
        assert_eq!(station(5.13, 2.2, 0.05), (1, true));
        assert_eq!(station(5.0, 2.2, 0.0), (1, false));
        assert_eq!(station(5.1, 2.2, 0.2), (1, false));
        // Too far to be detected.
        assert_eq!(station(-4.5, 0.0, 0.0), (0, false));
    }

    #[test]
    fn reflectors_are_the_landmarks_that_the_laser_sees() {
        let mut worlds = Worlds::load_default().unwrap();
        // At (4.5, 3.8), facing -y: landmark 2 at (5.98, 4) is 1.48 m to the left and 0.2 m behind.
        let seen = reflected(&mut worlds, "neobotix_platform");
        // The laser's noise is 14 mm and 17 mrad.
        let found = seen.iter().any(|pose| (pose.x + 0.2).abs() < 0.08 && (pose.y - 1.48).abs() < 0.08);
        assert!(found, "{seen:?}");
    }

    #[test]
    fn the_gyro_follows_the_robot() {
        let mut gyro = Gyro::default();
        gyro.measure(Pose::new(1.0, 2.0, 0.5));
        let message = gyro.measure(Pose::new(1.0, 2.0, 0.6));
        assert!((message.angular_velocity.z - 0.5).abs() < 1e-9);
        assert_eq!(message.linear_acceleration.z, GRAVITY);
    }
}

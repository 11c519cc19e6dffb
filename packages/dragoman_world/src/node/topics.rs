//! Published topics: markers and poses when something has moved, transforms and odometry while they have subscribers.

use std::time::Duration;

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::TransformStamped;
use dragoman_ros::rosgraph_msgs::msg::Clock as ClockMessage;
use dragoman_ros::tasks::{NodeError, NodeTasks};
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Publisher, QosProfile, Result, poses, std_msgs};

use super::driven::Driven;
use super::frames::{in_world, part_frame, prefix, world_frame};
use super::markers::{Board, Places};
use super::moved::Moved;
use super::pace::Pace;
use super::rhythm::Rhythm;
use super::robots::Robot;
use super::sensors::Sensor;
use super::{Live, NodeState, Stamps, descriptions, listened};
use crate::World;
use crate::{Object, ObjectKind, Worlds};

/// Other parts of the node with topics.
pub(super) struct Sources {
    pub(super) robots: Vec<Robot>,
    pub(super) descriptions: Vec<Publisher<std_msgs::msg::String>>,
    pub(super) sensors: Vec<Sensor>,
}

/// Publishes at a rate, Hz.
pub(super) fn serve(
    tasks: &mut NodeTasks,
    live: &Live,
    stamps: &Stamps,
    Sources { robots, descriptions, sensors }: Sources,
    rate: f64,
    rhythm: &mut Rhythm,
) -> std::result::Result<(), NodeError> {
    let node = tasks.node();
    let latched = || QosProfile::default().keep_last(1).transient_local();
    let clock_topic = if stamps.are_the_worlds() {
        Some(node.create_publisher("/clock", QosProfile::default().keep_last(1))?)
    } else {
        None
    };
    let markers = node.create_publisher("markers", latched())?;
    let mut topics = Topics {
        live: live.clone(),
        stamps: stamps.clone(),
        clock_topic,
        markers: live.with(|state| Board::new(state.pace.worlds(), markers))?,
        poses: node.create_publisher("poses", latched())?,
        moved: Moved::new(node.create_publisher("scene_poses", QosProfile::default().keep_last(1))?, rate),
        tf: node.create_publisher("/tf", QosProfile::default().keep_last(100))?,
        robots,
        _descriptions: descriptions,
        sensors,
        shown: None,
    };
    topics.publish();
    let period = Duration::from_secs_f64(1.0 / rate);
    Ok(rhythm.every(tasks, period, move || topics.publish())?)
}

struct Topics {
    live: Live,
    stamps: Stamps,
    clock_topic: Option<Publisher<ClockMessage>>,
    markers: Board,
    poses: Publisher<TFMessage>,
    moved: Moved,
    tf: Publisher<TFMessage>,
    robots: Vec<Robot>,
    /// Kept for late subscribers.
    _descriptions: Vec<Publisher<std_msgs::msg::String>>,
    sensors: Vec<Sensor>,
    /// Revisions of the worlds that were last published.
    shown: Option<Vec<u64>>,
}

impl Topics {
    fn publish(&mut self) {
        if let Err(error) = self.try_publish() {
            tracing::warn!(%error, "publishing failed");
        }
    }

    fn try_publish(&mut self) -> Result<()> {
        let with_transforms = listened(&self.tf);
        let live = self.live.clone();
        // Messages are created while the worlds are locked, and sent after they are unlocked.
        let (stamp, changed, moved, transforms, odometry) = live.with(|state| {
            let NodeState { pace, driven, .. } = state;
            let stamp = self.stamps.now(pace);
            let revisions: Vec<u64> = pace.worlds().worlds().iter().map(|world| world.revision()).collect();
            let changed = (self.shown.as_ref() != Some(&revisions)).then(|| {
                let poses = TFMessage { transforms: poses(pace.worlds(), &stamp) };
                (Places::of(pace.worlds(), &stamp), poses)
            });
            self.shown = Some(revisions);
            let moved = self.moved.message(pace.worlds(), &stamp);
            let transforms = with_transforms.then(|| self.transforms(pace, driven, &stamp));
            let odometry: Vec<_> = self.robots.iter_mut().map(|robot| robot.message(pace, &stamp)).collect();
            (stamp, changed, moved, transforms, odometry)
        });
        if let Some(clock) = &self.clock_topic {
            clock.publish(&ClockMessage { clock: stamp })?;
        }
        if let Some((places, poses)) = changed {
            self.markers.show(places);
            self.poses.publish(&poses)?;
        }
        if let Some(moved) = moved {
            self.moved.send(&moved)?;
        }
        if let Some(transforms) = transforms {
            self.tf.publish(&TFMessage { transforms })?;
        }
        for (robot, odometry) in self.robots.iter().zip(odometry) {
            match odometry {
                Ok(Some(odometry)) => robot.send(&odometry)?,
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "reading a robot failed"),
            }
        }
        Ok(())
    }

    /// Bodies and links of arms in the world, and the frames of robots. Those of robots with drivers of their own are
    /// published by the drivers.
    fn transforms(&self, pace: &mut Pace, driven: &[Driven], stamp: &Time) -> Vec<TransformStamped> {
        let mut transforms = Vec::new();
        for (at, world) in pace.worlds().worlds().iter().enumerate() {
            let frame = world_frame(at, world);
            let is_driven = |robot: &str| driven.iter().any(|driven| driven.robot.name == robot);
            for object in world.objects() {
                match object.kind() {
                    ObjectKind::Body => {
                        let name = prefix(at, world, object.name());
                        transforms.push(poses::transform(stamp, &frame, name, object.pose()));
                    }
                    ObjectKind::Arm if carrier(world, object).is_some_and(is_driven) => {}
                    ObjectKind::Arm => {
                        let links = world.parts().get(object.parts()).unwrap_or_default().iter();
                        let link = |name: &str| in_world(at, world, part_frame(name));
                        transforms.extend(
                            links.map(|part| poses::transform(stamp, &frame, link(&part.name), part.pose())),
                        );
                    }
                    ObjectKind::Wheeled if is_driven(object.name()) => {}
                    ObjectKind::Wheeled => {
                        let prefix = prefix(at, world, object.name());
                        transforms.extend(descriptions::transforms(object, &prefix, stamp));
                    }
                }
            }
        }
        let of_robots = self.robots.iter().flat_map(|robot| robot.transforms(pace, stamp));
        transforms.extend(of_robots.flatten());
        transforms.extend(driven.iter().filter_map(|robot| robot.transform(pace, stamp)));
        transforms.extend(self.sensors.iter().flat_map(|sensor| sensor.transforms(pace, stamp)));
        transforms
    }
}

/// The robot on which an arm is mounted.
fn carrier<'a>(world: &'a World, arm: &Object) -> Option<&'a str> {
    world.objects().get(arm.mounted_on()?).map(Object::name)
}

/// All objects by their names in the worlds.
fn poses(worlds: &Worlds, stamp: &Time) -> Vec<TransformStamped> {
    let mut poses = Vec::new();
    for (at, world) in worlds.worlds().iter().enumerate() {
        let frame = world_frame(at, world);
        let objects = world.objects().iter();
        poses.extend(
            objects.map(|object| poses::transform(stamp, &frame, object.name().to_owned(), object.pose())),
        );
    }
    poses
}

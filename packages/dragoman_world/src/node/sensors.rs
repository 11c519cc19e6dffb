//! Lasers and cameras: their topics and frames.

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::geometry_msgs::msg::TransformStamped;
use dragoman_ros::naming;
use dragoman_ros::poses;
use nalgebra::{Isometry3, Translation3, UnitQuaternion};

use super::frames::{prefix, world_frame};
use super::pace::Pace;
use super::{Live, WorldNodeError};
use crate::{CameraFigures, LaserFigures, ObjectKind, optical_frame};
use crate::{World, WorldError};

/// A sensor with topics.
#[derive(Clone)]
pub(super) struct Sensor {
    pub(super) world: String,
    pub(super) name: String,
    pub(super) kind: SensorKind,
    /// The topic of a laser; the prefix of a camera's topics.
    pub(super) topic: String,
    /// The frame of a laser; the prefix of a camera's frames.
    pub(super) frame: String,
    /// Rate, Hz; `None` if not set in the world file.
    pub(super) rate: Option<f64>,
    /// Parent of its frames; `None` if the world file sets the frames: then they are in the robot's description.
    parent: Option<Parent>,
}

#[derive(Clone)]
pub(super) enum SensorKind {
    Laser(LaserFigures),
    /// With the position of the colour camera in the frame of the depth camera, m.
    Camera(CameraFigures, [f64; 3]),
}

#[derive(Clone)]
struct Parent {
    frame: String,
    /// A robot on wheels; `None` for the world itself.
    robot: Option<String>,
}

/// All sensors with topics: those with one in the world file, of each robot on wheels the first laser without one, and
/// all other cameras.
pub(super) fn find(live: &Live) -> Result<Vec<Sensor>, WorldNodeError> {
    let sensors = live.with(|state| found(&mut state.pace));
    for (at, sensor) in sensors.iter().enumerate() {
        if sensors.iter().take(at).any(|other| other.topic == sensor.topic) {
            return Err(WorldNodeError::Sensors { topic: sensor.topic.clone() });
        }
    }
    Ok(sensors)
}

fn found(pace: &mut Pace) -> Vec<Sensor> {
    let mut sensors = Vec::new();
    for (at, world) in pace.worlds().worlds().iter().enumerate() {
        let mut with_scans: Vec<&str> = Vec::new();
        for name in world.lasers() {
            let Ok(figures) = world.laser_figures(name) else { continue };
            let robot = robot(world, name);
            if !is_named(world, name) {
                match robot {
                    Some(robot) if !with_scans.contains(&robot) => with_scans.push(robot),
                    _ => continue,
                }
            }
            sensors.push(sensor(at, world, name, SensorKind::Laser(figures), ["scan", "laser"]));
        }
        for name in world.cameras() {
            let (Ok(figures), Ok(offset)) = (world.camera_figures(name), world.color_offset(name)) else {
                continue;
            };
            let own = naming::token(name);
            sensors.push(sensor(at, world, name, SensorKind::Camera(figures, offset), [&own, &own]));
        }
    }
    sensors
}

/// The robot on wheels that carries it.
fn robot<'a>(world: &'a World, sensor: &str) -> Option<&'a str> {
    let carrier = world.carrier(sensor).filter(|carrier| carrier.kind() == ObjectKind::Wheeled);
    carrier.map(|robot| robot.name())
}

/// Whether the world file sets its topic and frame.
fn is_named(world: &World, sensor: &str) -> bool {
    world.publication(sensor).is_some_and(|publication| publication.names.is_some())
}

/// `defaults` are the default suffixes of topic and frame.
fn sensor(at: usize, world: &World, name: &str, kind: SensorKind, defaults: [&str; 2]) -> Sensor {
    let publication = world.publication(name).cloned().unwrap_or_default();
    let robot = robot(world, name);
    let ([topic, frame], parent) = match publication.names {
        Some(names) => (names, None),
        None => {
            let begin = robot.map(|robot| prefix(at, world, robot));
            let named = |end: &str| match &begin {
                Some(begin) => format!("{begin}/{end}"),
                None => prefix(at, world, end),
            };
            let frame = match &begin {
                Some(begin) => format!("{begin}/base_footprint"),
                None => world_frame(at, world),
            };
            (defaults.map(named), Some(Parent { frame, robot: robot.map(str::to_owned) }))
        }
    };
    let (world, name) = (world.name().to_owned(), name.to_owned());
    Sensor { world, name, kind, topic, frame, rate: publication.rate, parent }
}

impl Sensor {
    /// The frames of the depth and the colour pictures.
    pub(super) fn optical_frames(&self) -> [String; 2] {
        ["depth", "rgb"].map(|kind| format!("{}_{kind}_optical_frame", self.frame))
    }

    /// Its frames, if they are not in the robot's description.
    pub(super) fn transforms(&self, pace: &mut Pace, stamp: &Time) -> Vec<TransformStamped> {
        self.parent.as_ref().and_then(|parent| self.from(parent, pace, stamp).ok()).unwrap_or_default()
    }

    fn from(
        &self,
        parent: &Parent,
        pace: &mut Pace,
        stamp: &Time,
    ) -> Result<Vec<TransformStamped>, WorldError> {
        let (world, worlds) = (Some(self.world.as_str()), pace.worlds());
        let pose = worlds.pose(world, &self.name)?;
        let mount = match &parent.robot {
            Some(robot) => worlds.pose(world, robot)?.inverse() * pose,
            None => pose,
        };
        let transform =
            |frame: String, pose: &Isometry3<f64>| poses::transform(stamp, &parent.frame, frame, pose);
        Ok(match self.kind {
            SensorKind::Laser(_) => vec![transform(self.frame.clone(), &mount)],
            SensorKind::Camera(_, [x, y, z]) => {
                let offset = Isometry3::from_parts(Translation3::new(x, y, z), UnitQuaternion::identity());
                let [depth, color] = self.optical_frames();
                vec![
                    transform(depth, &(mount * optical_frame())),
                    transform(color, &(mount * offset * optical_frame())),
                ]
            }
        })
    }
}

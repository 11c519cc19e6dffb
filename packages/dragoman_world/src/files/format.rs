//! The world file: its fields, with all numbers checked during parsing, so that errors have a line.

use serde::{Deserialize, Deserializer};

use crate::limits::{MAX_ANGLE, MAX_CORNERS, MAX_SIZE, MIN_SIZE};
use crate::robots::arm::JointKind;

/// Default colour.
pub(crate) const GREY: [f64; 4] = [0.7, 0.7, 0.7, 1.0];

/// An error in an element, before its name and line are known.
pub(super) type Reason = String;

fn ranged<'de, D: Deserializer<'de>>(from: D, least: f64, most: f64) -> Result<f64, D::Error> {
    let value = f64::deserialize(from)?;
    // Written such that NaN fails.
    if value >= least && value <= most {
        return Ok(value);
    }
    Err(serde::de::Error::custom(format!("{value} is out of range {least} to {most}")))
}

macro_rules! number {
    ($(#[$about:meta])* $name:ident, $least:expr, $most:expr) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, Default, PartialEq)]
        pub(crate) struct $name(pub(crate) f64);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                ranged(from, $least, $most).map(Self)
            }
        }
    };
}

number!(/** A coordinate, m. */ Coordinate, -MAX_SIZE, MAX_SIZE);
number!(/** An angle, rad. */ Angle, -MAX_ANGLE, MAX_ANGLE);
number!(/** A direction about z, rad. */ HalfTurn, -std::f64::consts::PI, std::f64::consts::PI);
number!(/** A length that is not zero, m. */ Size, MIN_SIZE, MAX_SIZE);
number!(/** A share, or a standard deviation relative to something. */ Share, 0.0, 1.0);
number!(/** A standard deviation, m. */ Deviation, 0.0, 100.0);
number!(/** A standard deviation, rad. */ AngleDeviation, 0.0, std::f64::consts::PI);
number!(/** A speed, m/s or rad/s. */ Speed, 0.0, 100.0);
number!(/** How often, Hz. */ Rate, 0.01, 1000.0);
number!(/** From one edge of a picture to the other, rad. */ ViewAngle, 0.01, 3.0);
number!(/** From the axis of a cone to its surface, rad. */ HalfAngle, 0.0, 1.5);
number!(/** A mass, kg. */ Mass, 0.0, 1e4);
number!(/** A factor of a mesh's coordinates. */ Scale, -1e3, 1e3);

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) worlds: Vec<WorldEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorldEntry {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) seed: u64,
    #[serde(default)]
    pub(crate) bodies: Vec<BodyEntry>,
    #[serde(default)]
    pub(crate) arms: Vec<ArmEntry>,
    #[serde(default)]
    pub(crate) wheeled_robots: Vec<WheeledEntry>,
    #[serde(default)]
    pub(crate) lasers: Vec<LaserEntry>,
    #[serde(default)]
    pub(crate) ultrasonics: Vec<UltrasonicEntry>,
    #[serde(default)]
    pub(crate) cameras: Vec<CameraEntry>,
    #[serde(default)]
    pub(crate) landmarks: Vec<LandmarkEntry>,
    /// Several landmarks may have the same id, as in worlds of Apolo.
    #[serde(default)]
    pub(crate) repeated_landmark_ids: bool,
    #[serde(default)]
    pub(crate) chargers: Vec<ChargerEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BodyEntry {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) xyz: [Coordinate; 3],
    #[serde(default)]
    pub(crate) rpy: [Angle; 3],
    #[serde(default)]
    pub(crate) shapes: Vec<ShapeEntry>,
    /// File name; all joints are at position zero.
    pub(crate) urdf: Option<String>,
    /// Grippers can hold it.
    #[serde(default)]
    pub(crate) graspable: bool,
    /// A docking station of a Kobuki: its front is the body's origin, x points out of it. Without shapes it has a housing.
    #[serde(default)]
    pub(crate) docking_station: bool,
    /// Mass, kg; loads an arm that holds it.
    #[serde(default)]
    pub(crate) mass: Mass,
}

/// Exactly one of the five kinds of shapes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShapeEntry {
    #[serde(rename = "box")]
    pub(crate) cuboid: Option<[Size; 3]>,
    pub(crate) cylinder: Option<CylinderEntry>,
    pub(crate) sphere: Option<SphereEntry>,
    pub(crate) mesh: Option<MeshEntry>,
    pub(crate) extrusion: Option<ExtrusionEntry>,
    #[serde(default)]
    pub(crate) xyz: [Coordinate; 3],
    #[serde(default)]
    pub(crate) rpy: [Angle; 3],
    pub(crate) color: Option<[Share; 4]>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CylinderEntry {
    pub(crate) radius: Size,
    pub(crate) length: Size,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SphereEntry {
    pub(crate) radius: Size,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MeshEntry {
    /// Either a file or triangles.
    pub(crate) file: Option<String>,
    #[serde(default)]
    pub(crate) vertices: Vec<[Coordinate; 3]>,
    /// Indices of `vertices`, from 0, counter-clockwise seen from outside.
    #[serde(default)]
    pub(crate) triangles: Vec<[u32; 3]>,
    #[serde(default = "unscaled")]
    pub(crate) scale: [Scale; 3],
    #[serde(default)]
    pub(crate) convex: bool,
}

fn unscaled() -> [Scale; 3] {
    [Scale(1.0); 3]
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExtrusionEntry {
    #[serde(deserialize_with = "corners")]
    pub(crate) polygon: Vec<[Coordinate; 2]>,
    pub(crate) height: Size,
}

fn corners<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<[Coordinate; 2]>, D::Error> {
    let corners = Vec::deserialize(from)?;
    if corners.len() < 3 || corners.len() > MAX_CORNERS {
        let count = corners.len();
        return Err(serde::de::Error::custom(format!("{count} corners; a polygon has 3 to {MAX_CORNERS}")));
    }
    Ok(corners)
}

/// Either `urdf` or `joints`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArmEntry {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) xyz: [Coordinate; 3],
    #[serde(default)]
    pub(crate) rpy: [Angle; 3],
    #[serde(default)]
    pub(crate) home: Vec<Angle>,
    /// A robot on wheels on which it is mounted; then `xyz` and `rpy` are in that robot's frame.
    pub(crate) on: Option<String>,
    pub(crate) urdf: Option<String>,
    /// The root link. It keeps its pose in the description: `xyz` and `rpy` place the root of the description.
    pub(crate) root_link: Option<String>,
    pub(crate) tip_link: Option<String>,
    pub(crate) convention: Option<Convention>,
    #[serde(default)]
    pub(crate) joints: Vec<JointEntry>,
    #[serde(default)]
    pub(crate) tool: ToolEntry,
    #[serde(default)]
    pub(crate) base: Vec<ShapeEntry>,
}

/// Position of the frame of link i, and thus the order of the four steps of a row.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Convention {
    /// `Rz(theta) Tz(d) Tx(a) Rx(alpha)`: at the link's far end.
    Standard,
    /// `Rx(alpha) Tx(a) Rz(theta) Tz(d)`, Craig (1989): at the joint that moves it.
    Craig,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct JointEntry {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: JointKind,
    #[serde(default)]
    pub(crate) a: Coordinate,
    #[serde(default)]
    pub(crate) alpha: Angle,
    #[serde(default)]
    pub(crate) d: Coordinate,
    #[serde(default)]
    pub(crate) theta: Angle,
    pub(crate) lower: Angle,
    pub(crate) upper: Angle,
    /// Shapes of the link that this joint moves, in the frame of this row.
    #[serde(default)]
    pub(crate) link: Vec<ShapeEntry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolEntry {
    #[serde(default)]
    pub(crate) xyz: [Coordinate; 3],
    #[serde(default)]
    pub(crate) rpy: [Angle; 3],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WheeledEntry {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) xyz: [Coordinate; 3],
    #[serde(default)]
    pub(crate) yaw: Angle,
    /// In the robot's frame: on the ground in the centre of the supports, x forward, z up.
    #[serde(default)]
    pub(crate) body: Vec<ShapeEntry>,
    /// File name; its root is the robot's frame. Links moved by joints, such as wheels, are shown but touch nothing.
    pub(crate) urdf: Option<String>,
    /// Omitted links; their children are omitted, too.
    #[serde(default)]
    pub(crate) without: Vec<String>,
    /// Positions where the wheels touch the ground, x and y.
    pub(crate) supports: Vec<[Coordinate; 2]>,
    pub(crate) wheel_radius: Size,
    #[serde(default)]
    pub(crate) wheel_width: Option<Size>,
    #[serde(default = "two")]
    pub(crate) max_speed: Speed,
    #[serde(default = "one")]
    pub(crate) max_turn_rate: Speed,
    #[serde(default)]
    pub(crate) odometry_noise: OdometryNoise,
    /// Four Mecanum wheels, or two steered drives; by default two driven wheels.
    pub(crate) mecanum: Option<MecanumEntry>,
    pub(crate) steered: Option<SteeredEntry>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MecanumEntry {
    /// Distances between the wheels, ahead and sideways.
    pub(crate) length: Size,
    pub(crate) width: Size,
    #[serde(default = "two")]
    pub(crate) max_wheel_speed: Speed,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SteeredEntry {
    pub(crate) positions: [[Coordinate; 2]; 2],
    #[serde(default = "two")]
    pub(crate) max_wheel_speed: Speed,
    /// Of steering, rad/s.
    #[serde(default = "three")]
    pub(crate) max_rate: Speed,
}

fn two() -> Speed {
    Speed(2.0)
}

fn three() -> Speed {
    Speed(3.0)
}

fn one() -> Speed {
    Speed(1.0)
}

/// Relative standard deviations of the increments.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OdometryNoise {
    #[serde(default)]
    pub(crate) distance: Share,
    #[serde(default)]
    pub(crate) heading: Share,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LaserEntry {
    pub(crate) name: String,
    pub(crate) on: Option<String>,
    #[serde(default)]
    pub(crate) xyz: [Coordinate; 3],
    #[serde(default)]
    pub(crate) rpy: [Angle; 3],
    /// Either a model or parameters.
    pub(crate) model: Option<LaserModel>,
    pub(crate) scan: Option<ScanEntry>,
    #[serde(default)]
    pub(crate) noise: Deviation,
    #[serde(default)]
    pub(crate) landmark_noise: LandmarkNoise,
    #[serde(default)]
    pub(crate) sees_carrier: bool,
    /// Names and rate of publishing; not used by the core.
    pub(crate) topic: Option<String>,
    pub(crate) frame: Option<String>,
    pub(crate) rate: Option<Rate>,
}

/// Standard deviations of the landmarks that a laser sees.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LandmarkNoise {
    #[serde(default)]
    pub(crate) distance: Deviation,
    #[serde(default)]
    pub(crate) angle: AngleDeviation,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScanEntry {
    /// 2 to [`MAX_BEAMS`].
    pub(crate) beams: u16,
    pub(crate) first_angle: HalfTurn,
    pub(crate) last_angle: HalfTurn,
    pub(crate) min_range: Size,
    pub(crate) max_range: Size,
}

/// Maximum number of beams of a laser.
pub(crate) const MAX_BEAMS: u16 = 10_000;

/// Known lasers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum LaserModel {
    /// SICK LMS100.
    Lms100,
    /// Hokuyo URG-04LX.
    Hokuyo,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct UltrasonicEntry {
    pub(crate) name: String,
    pub(crate) on: Option<String>,
    #[serde(default)]
    pub(crate) xyz: [Coordinate; 3],
    #[serde(default)]
    pub(crate) rpy: [Angle; 3],
    /// Without: [`crate::UltrasonicFigures::default`].
    pub(crate) half_angle: Option<HalfAngle>,
    pub(crate) min_range: Option<Size>,
    pub(crate) max_range: Option<Size>,
    #[serde(default)]
    pub(crate) noise: Deviation,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct CameraEntry {
    pub(crate) name: String,
    pub(crate) on: Option<String>,
    #[serde(default)]
    pub(crate) xyz: [Coordinate; 3],
    #[serde(default)]
    pub(crate) rpy: [Angle; 3],
    /// Either a kind or parameters.
    pub(crate) kind: Option<CameraKind>,
    pub(crate) image: Option<ImageEntry>,
    /// Position of the colour camera in the frame of the depth camera.
    pub(crate) color_offset: Option<[Coordinate; 3]>,
    /// Standard deviation at a depth of 1 m.
    #[serde(default)]
    pub(crate) depth_noise: Deviation,
    #[serde(default = "yes")]
    pub(crate) sees_carrier: bool,
    pub(crate) topic: Option<String>,
    pub(crate) frame: Option<String>,
    pub(crate) rate: Option<Rate>,
}

fn yes() -> bool {
    true
}

/// Known cameras.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum CameraKind {
    /// Microsoft Kinect.
    Kinect,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ImageEntry {
    /// 1 to [`MAX_PIXELS`], like the height.
    pub(crate) width: u16,
    pub(crate) height: u16,
    pub(crate) horizontal_angle: ViewAngle,
    pub(crate) vertical_angle: ViewAngle,
    pub(crate) min_range: Size,
    pub(crate) max_range: Size,
}

/// Maximum width and height of an image, pixels.
pub(crate) const MAX_PIXELS: u16 = 2048;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LandmarkEntry {
    pub(crate) name: String,
    pub(crate) id: u16,
    #[serde(default)]
    pub(crate) xyz: [Coordinate; 3],
}

/// A charging station on the floor: a robot on wheels at this pose is charged.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChargerEntry {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) xy: [Coordinate; 2],
    #[serde(default)]
    pub(crate) yaw: Angle,
}

pub(super) fn numbers<const N: usize>(values: [Coordinate; N]) -> [f64; N] {
    values.map(|value| value.0)
}

pub(super) fn angles(values: [Angle; 3]) -> [f64; 3] {
    values.map(|value| value.0)
}

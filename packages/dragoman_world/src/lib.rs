//! The simulated world: bodies, arms, robots on wheels, range sensors, landmarks. No I/O, no clock, and outside of `node` no ROS type.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Worlds`]: what Apolo's functions ask for, one method each (seed 000), by name |
//! | `state.rs` | [`World`]: objects and their parts, names, poses |
//! | `contact.rs`, `driving.rs`, `sensing.rs` | what touches what; how robots drive; what sensors measure |
//! | `handling.rs`, `grasp.rs` | arms and what they hold: as Apolo has it; with servos and a gripper |
//! | `wheeled.rs`, `arm.rs`, `sensor.rs` | what the robots and sensors do, without a world |
//! | `camera.rs`, `camera/` | cameras: what they see, and pictures of it |
//! | `scene.rs` | all solids, with a tree of boxes about them |
//! | `geometry.rs`, `polygon.rs`, `mesh.rs` | shapes; the only file that converts to parry3d is `geometry.rs` |
//! | `file.rs`, `build.rs`, `urdf.rs` | worlds from YAML, shapes and arms from URDF |
//! | [`turtlebot`] | what moves a TurtleBot 2 with WidowX by its simulated base and servos |
//! | [`console`] | the simulator's console |
//! | `node` (feature of that name) | the world and the simulator in ROS; the only file, with its parts, that knows ROS |
//!
//! SI units and radians. Rotations are `Rz(yaw) Ry(pitch) Rx(roll)`. Names compare without regard to case and blanks. Where
//! the world is `None` or empty, the first that has the object is meant. A request that is refused has changed nothing.

mod arm;
mod build;
mod camera;
pub mod console;
mod contact;
mod driving;
mod error;
mod file;
mod geometry;
mod grasp;
mod handling;
mod mesh;
#[cfg(feature = "node")]
pub mod node;
mod noise;
mod polygon;
mod scene;
mod sensing;
mod sensor;
mod state;
#[cfg(test)]
mod tests;
pub mod turtlebot;
mod urdf;
mod wheeled;

pub use arm::ArmJoint;
#[cfg(feature = "node")]
pub(crate) use camera::optical_frame;
pub use camera::{CameraFigures, ColorImage, DepthImage, View};
pub(crate) use contact::Feeler;
pub(crate) use driving::heading;
pub use error::{LoadError, WorldError};
pub use file::JointKind;
pub use geometry::{Geometry, pose};
pub use mesh::Mesh;
pub use sensor::{Landmark, LaserFigures, Publication, Sighting, ULTRASONIC_CONE, ULTRASONIC_RANGE};
pub use state::{Object, ObjectKind, Part, RobotDescription, Shape, World};
pub use turtlebot::Turtlebot;
pub(crate) use wheeled::Step;

use nalgebra::Isometry3;
use std::time::Duration;

/// The scenes that come with Dragoman, by name; first the default lab.
pub const SCENES: [(&str, &str); 3] = [
    ("lab", LAB),
    ("laboratory", include_str!("../../../launch/config/worlds/laboratory.yaml")),
    ("corridor", include_str!("../../../launch/config/worlds/corridor.yaml")),
];
const LAB: &str = include_str!("../../../launch/config/worlds/lab.yaml");
/// The descriptions that the scenes name.
const DESCRIPTIONS: [(&str, &str); 5] = [
    ("neobotix.urdf", include_str!("../../../urdf/neobotix.urdf")),
    ("pioneer3at.urdf", include_str!("../../../urdf/pioneer3at.urdf")),
    ("puma560.urdf", include_str!("../../../urdf/puma560.urdf")),
    ("ranger_mk1.urdf", include_str!("../../../urdf/ranger_mk1.urdf")),
    ("turtlebot2_widowx.urdf", include_str!("../../../urdf/turtlebot2_widowx.urdf")),
];

/// Finds a file that a world file names: a description or a mesh. The error says why there is none.
pub type Files<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

fn description(name: &str) -> Result<Vec<u8>, String> {
    let found = DESCRIPTIONS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "not part of the scenes".to_owned())
}

/// One or more worlds, in order.
pub struct Worlds {
    worlds: Vec<World>,
}

impl Worlds {
    /// Reads a world file. `files` finds what it names.
    ///
    /// # Errors
    /// [`LoadError`], with the line and what is wrong there.
    pub fn from_yaml(text: &str, files: Files<'_>) -> Result<Self, LoadError> {
        build::worlds(text, files).map(|worlds| Self { worlds })
    }

    /// The default lab, `launch/config/worlds/lab.yaml`.
    ///
    /// # Errors
    /// None with the file as it is; a test loads it.
    pub fn load_default() -> Result<Self, LoadError> {
        Self::from_yaml(LAB, &description)
    }

    /// One of the [`SCENES`]; none of another name.
    ///
    /// # Errors
    /// As of [`Worlds::load_default`].
    pub fn scene(name: &str) -> Option<Result<Self, LoadError>> {
        let (_, text) = SCENES.iter().find(|(scene, _)| *scene == name)?;
        Some(Self::from_yaml(text, &description))
    }

    /// Begins all noise anew, as with this seed in the file.
    pub fn reseed(&mut self, seed: u64) {
        self.worlds.iter_mut().for_each(|world| world.reseed(seed));
    }

    /// All worlds, in order.
    pub fn worlds(&self) -> &[World] {
        &self.worlds
    }

    /// The world of this name; the first for none.
    ///
    /// # Errors
    /// [`WorldError::UnknownWorld`].
    pub fn world(&self, name: Option<&str>) -> Result<&World, WorldError> {
        let wanted = name.map(state::key).filter(|wanted| !wanted.is_empty());
        let mut worlds = self.worlds.iter();
        let found =
            worlds.find(|world| wanted.as_ref().is_none_or(|wanted| state::key(world.name()) == *wanted));
        found.ok_or_else(|| WorldError::UnknownWorld { name: name.unwrap_or_default().to_owned() })
    }

    /// The world that a request about `object` means, and its place in the order.
    pub(crate) fn find(&mut self, world: Option<&str>, object: &str) -> Result<(usize, &World), WorldError> {
        let name = self.holder(world, object)?.name.clone();
        let at = self.worlds.iter().position(|world| world.name == name).unwrap_or_default();
        Ok((at, self.holder(world, object)?))
    }

    /// The world at this place in the order.
    pub(crate) fn at_mut(&mut self, at: usize) -> Option<&mut World> {
        self.worlds.get_mut(at)
    }

    /// The world that a request about `object` means.
    fn holder(&mut self, world: Option<&str>, object: &str) -> Result<&mut World, WorldError> {
        let unknown = || WorldError::UnknownName { name: object.to_owned() };
        let wanted = world.map(state::key).filter(|wanted| !wanted.is_empty());
        let Some(wanted) = wanted else {
            return self.worlds.iter_mut().find(|world| world.has(object)).ok_or_else(unknown);
        };
        let named = self.worlds.iter_mut().find(|world| state::key(world.name()) == wanted);
        let named =
            named.ok_or_else(|| WorldError::UnknownWorld { name: world.unwrap_or_default().to_owned() })?;
        if named.has(object) { Ok(named) } else { Err(unknown()) }
    }

    /// `apoloPlace`: puts an object, a robot, a landmark or a sensor that is on no robot at a pose, whatever is there. `xyz`
    /// in m, `rpy` in rad. An object that was linked to a tool is taken off it.
    ///
    /// # Errors
    /// Unknown names, values that are not finite or too great, a sensor that is part of a robot.
    pub fn place(
        &mut self,
        world: Option<&str>,
        object: &str,
        xyz: [f64; 3],
        rpy: [f64; 3],
    ) -> Result<(), WorldError> {
        self.holder(world, object)?.place(object, xyz, rpy)
    }

    /// `apoloPlaceXYZ`: [`Worlds::place`] without a rotation.
    ///
    /// # Errors
    /// Those of [`Worlds::place`].
    pub fn place_xyz(&mut self, world: Option<&str>, object: &str, xyz: [f64; 3]) -> Result<(), WorldError> {
        self.place(world, object, xyz, [0.0; 3])
    }

    /// `apoloGetLocation`: x, y, z, m, roll, pitch, yaw, rad, of anything that has a name.
    ///
    /// # Errors
    /// Unknown names.
    pub fn location(&mut self, world: Option<&str>, object: &str) -> Result<[f64; 6], WorldError> {
        let pose = self.pose(world, object)?;
        let (roll, pitch, yaw) = pose.rotation.euler_angles();
        let [x, y, z] = pose.translation.vector.into();
        Ok([x, y, z, roll, pitch, yaw])
    }

    /// The same as a pose.
    ///
    /// # Errors
    /// Unknown names.
    pub fn pose(&mut self, world: Option<&str>, object: &str) -> Result<Isometry3<f64>, WorldError> {
        self.holder(world, object)?.pose(object)
    }

    /// `apoloPlaceMRobot`: lets a robot on wheels fall onto the ground from the height z at x, y, m, heading `yaw`, rad. False,
    /// and the robot stays, where a wheel has no ground under it, the wheels do not stand in one plane, the plane is too
    /// steep, or the robot's body collides.
    ///
    /// # Errors
    /// Unknown names, another kind of object, values that are not finite or too great.
    pub fn place_m_robot(
        &mut self,
        world: Option<&str>,
        robot: &str,
        xyz: [f64; 3],
        yaw: f64,
    ) -> Result<bool, WorldError> {
        self.holder(world, robot)?.place_m_robot(robot, xyz, yaw)
    }

    /// `apoloGetLocationMRobot`: x, y, z, m, heading, rad.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn location_m_robot(&mut self, world: Option<&str>, robot: &str) -> Result<[f64; 4], WorldError> {
        self.holder(world, robot)?.location_m_robot(robot)
    }

    /// `apoloMoveMRobot`: drives at the speed, m/s, and turn rate, rad/s, for this time, s, in one go: the step is
    /// `(v t cos(w t), v t sin(w t))` in the robot's frame, the heading changes by `w t`. Speeds are clamped to the robot's
    /// limits, 2 m/s and 1 rad/s unless its file says otherwise. False, and the robot stays, on a collision or where
    /// there is no floor.
    ///
    /// # Errors
    /// Unknown names, another kind of object, values that are not finite or too great, a negative time.
    pub fn move_m_robot(
        &mut self,
        world: Option<&str>,
        robot: &str,
        speeds: [f64; 2],
        time: f64,
    ) -> Result<bool, WorldError> {
        self.holder(world, robot)?.move_m_robot(robot, speeds, time)
    }

    /// `apoloSetRobotJoints`: sets the first joints of an arm, rad or m, whether it collides or not.
    ///
    /// # Errors
    /// Unknown names, another kind of object, too many values, values beyond the joint's limits.
    pub fn set_robot_joints(
        &mut self,
        world: Option<&str>,
        robot: &str,
        values: &[f64],
    ) -> Result<(), WorldError> {
        self.holder(world, robot)?.set_robot_joints(robot, values)
    }

    /// `apoloCheckRobotJoints`: sets them and says whether the arm, or what its tool holds, collides with its surroundings
    /// or itself. Links that no joint moves do not count, they are bolted to what they stand on; nor do neighbours, and
    /// links that overlap in the home position.
    ///
    /// # Errors
    /// Those of [`Worlds::set_robot_joints`].
    pub fn check_robot_joints(
        &mut self,
        world: Option<&str>,
        robot: &str,
        values: &[f64],
    ) -> Result<bool, WorldError> {
        self.holder(world, robot)?.check_robot_joints(robot, values)
    }

    /// The joints of an arm, base first.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn robot_joints(&mut self, world: Option<&str>, robot: &str) -> Result<&[ArmJoint], WorldError> {
        self.holder(world, robot)?.robot_joints(robot)
    }

    /// Pose of an arm's tool frame in the world.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn tool_pose(&mut self, world: Option<&str>, robot: &str) -> Result<Isometry3<f64>, WorldError> {
        self.holder(world, robot)?.tool_pose(robot)
    }

    /// `apoloLinkToRobotTCP`: from now on the object moves with the arm's tool, from where it is. An arm holds one object:
    /// another takes its place, an empty name only lets go. What is let go, or placed anew, stays where it is.
    ///
    /// # Errors
    /// Unknown names; an object that is a robot.
    pub fn link_to_robot_tcp(
        &mut self,
        world: Option<&str>,
        robot: &str,
        object: &str,
    ) -> Result<(), WorldError> {
        self.holder(world, robot)?.link_to_robot_tcp(robot, object)
    }

    /// `apoloUpdate`: counts up [`World::updates`], of all worlds for none.
    ///
    /// # Errors
    /// [`WorldError::UnknownWorld`].
    pub fn update(&mut self, world: Option<&str>) -> Result<(), WorldError> {
        let wanted = world.map(state::key).filter(|wanted| !wanted.is_empty());
        let mut any = false;
        for world in &mut self.worlds {
            if wanted.as_ref().is_none_or(|wanted| state::key(world.name()) == *wanted) {
                world.update();
                any = true;
            }
        }
        if any {
            Ok(())
        } else {
            Err(WorldError::UnknownWorld { name: world.unwrap_or_default().to_owned() })
        }
    }

    /// `apoloGetOdometry`: x, y, m, heading, rad, as the wheels' encoders count them.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn odometry(&mut self, world: Option<&str>, robot: &str) -> Result<[f64; 3], WorldError> {
        self.holder(world, robot)?.odometry(robot)
    }

    /// The way ahead, m, and the turn, rad, that the wheels' encoders have counted since the start, whatever the odometry was
    /// set to.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    #[cfg(feature = "node")]
    pub(crate) fn travelled(&mut self, world: Option<&str>, robot: &str) -> Result<[f64; 2], WorldError> {
        self.holder(world, robot)?.travelled(robot)
    }

    /// `apoloResetOdometry`: sets x, y, m, and heading, rad, of the odometry.
    ///
    /// # Errors
    /// Unknown names, another kind of object, values that are not finite or too great.
    pub fn reset_odometry(
        &mut self,
        world: Option<&str>,
        robot: &str,
        odometry: [f64; 3],
    ) -> Result<(), WorldError> {
        self.holder(world, robot)?.reset_odometry(robot, odometry)
    }

    /// `apoloGetLaserData`: the ranges of one scan, m, first beam first; the greatest range where nothing is hit.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn laser_data(&mut self, world: Option<&str>, laser: &str) -> Result<Vec<f64>, WorldError> {
        let mut ranges = Vec::new();
        self.holder(world, laser)?.laser_data(laser, &mut ranges)?;
        Ok(ranges)
    }

    /// Beams and ranges of a laser.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn laser_figures(&mut self, world: Option<&str>, laser: &str) -> Result<LaserFigures, WorldError> {
        self.holder(world, laser)?.laser_figures(laser)
    }

    /// `apoloGetLaserLandMarks`: the landmarks within the laser's angles and range that nothing hides from it.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn laser_landmarks(&mut self, world: Option<&str>, laser: &str) -> Result<Vec<Sighting>, WorldError> {
        self.holder(world, laser)?.laser_landmarks(laser)
    }

    /// What a camera sees now: poses copied, surfaces shared. Its pictures need no world, so that no lock has to be held.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn view(&mut self, world: Option<&str>, camera: &str) -> Result<View, WorldError> {
        let mut view = View::default();
        self.look(world, camera, &mut view)?;
        Ok(view)
    }

    /// As [`Worlds::view`], in the memory that `view` has already.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn look(&mut self, world: Option<&str>, camera: &str, view: &mut View) -> Result<(), WorldError> {
        self.holder(world, camera)?.look(camera, view)
    }

    /// `apoloGetUltrasonicSensor`: distance to what is nearest in the cone, m.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn ultrasonic(&mut self, world: Option<&str>, sensor: &str) -> Result<f64, WorldError> {
        self.holder(world, sensor)?.ultrasonic(sensor)
    }

    /// `apoloGetAllultrasonicSensors`: those of one robot, in the order of the file, m.
    ///
    /// # Errors
    /// Unknown names, a sensor or a landmark instead of an object.
    pub fn all_ultrasonics(&mut self, world: Option<&str>, robot: &str) -> Result<Vec<f64>, WorldError> {
        self.holder(world, robot)?.all_ultrasonics(robot)
    }

    /// What a robot on wheels does while time goes by: m/s and rad/s, clamped as in [`Worlds::move_m_robot`].
    ///
    /// # Errors
    /// Unknown names, another kind of object, values that are not finite or too great.
    pub fn set_twist(&mut self, world: Option<&str>, robot: &str, twist: [f64; 2]) -> Result<(), WorldError> {
        self.holder(world, robot)?.set_twist(robot, twist)
    }

    /// Lets time go by in all worlds. Robots with a twist drive, in steps of 10 ms at most; one that is blocked tries again with
    /// every step.
    pub fn advance(&mut self, time: Duration) {
        self.worlds.iter_mut().for_each(|world| world.advance(time));
    }

    /// Least distance between two objects of one world, m; 0 where they touch.
    ///
    /// # Errors
    /// Unknown names, sensors and landmarks.
    pub fn distance(&mut self, world: Option<&str>, a: &str, b: &str) -> Result<f64, WorldError> {
        self.holder(world, a)?.distance(a, b)
    }
}

//! [`Worlds`]: one method for each of Apolo's functions (Apolo port manual), by name.

use std::time::Duration;

use dragoman_geometry::Twist;
use nalgebra::Isometry3;

use crate::error::{LoadError, WorldError};
use crate::files::{self, Files};
use crate::robots::arm::ArmJoint;
use crate::sensors::camera::View;
use crate::sensors::range::{LaserFigures, Sighting};
use crate::world::{World, key};
#[cfg(feature = "node")]
use crate::{robots::wheeled::Step, sensors::range::Echo};

/// The scenes included in Dragoman, by name; the default lab is the first.
pub const SCENES: [(&str, &str); 3] = [
    ("lab", LAB),
    ("laboratory", include_str!("../../../launch/config/worlds/laboratory.yaml")),
    ("corridor", include_str!("../../../launch/config/worlds/corridor.yaml")),
];
const LAB: &str = include_str!("../../../launch/config/worlds/lab.yaml");
/// The descriptions used by the scenes.
const DESCRIPTIONS: [(&str, &str); 6] = [
    ("neobotix.urdf", include_str!("../../../urdf/neobotix.urdf")),
    ("pioneer3at.urdf", include_str!("../../../urdf/pioneer3at.urdf")),
    ("puma560.urdf", include_str!("../../../urdf/puma560.urdf")),
    ("ranger_mk1.urdf", include_str!("../../../urdf/ranger_mk1.urdf")),
    ("romaa.urdf", include_str!("../../../urdf/romaa.urdf")),
    ("turtlebot2_widowx.urdf", include_str!("../../../urdf/turtlebot2_widowx.urdf")),
];

fn description(name: &str) -> Result<Vec<u8>, String> {
    let found = DESCRIPTIONS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| text.as_bytes().to_vec()).ok_or_else(|| "not part of the scenes".to_owned())
}

/// One or more worlds, in order.
pub struct Worlds {
    worlds: Vec<World>,
}

impl Worlds {
    /// Parses a world file. `files` finds the files that it uses.
    ///
    /// # Errors
    /// [`LoadError`], with line and cause.
    pub fn from_yaml(text: &str, files: Files<'_>) -> Result<Self, LoadError> {
        files::build::worlds(text, files).map(|worlds| Self { worlds })
    }

    /// The default lab, `launch/config/worlds/lab.yaml`.
    ///
    /// # Errors
    /// None with the included file; a test loads it.
    pub fn load_default() -> Result<Self, LoadError> {
        Self::from_yaml(LAB, &description)
    }

    /// One of the [`SCENES`]; `None` for another name.
    ///
    /// # Errors
    /// As of [`Worlds::load_default`].
    pub fn scene(name: &str) -> Option<Result<Self, LoadError>> {
        let (_, text) = SCENES.iter().find(|(scene, _)| *scene == name)?;
        Some(Self::from_yaml(text, &description))
    }

    /// Whether Apolo's functions measure as the original Apolo, the default, or better:
    ///
    /// - [`Worlds::odometry`]: as the original it does not know that the robot was placed, its next motion adds the
    ///   jump, and increments are along the robot's axes at the last reset. Otherwise it follows the wheels: placing
    ///   changes nothing, increments are along the heading of the odometry.
    /// - [`Worlds::laser_landmarks`]: as the original a landmark is seen if the first surface in its direction is at
    ///   least 1 cm behind it. Otherwise it is seen if nothing stands between.
    /// - [`Worlds::ultrasonic`], [`Worlds::all_ultrasonics`]: as the original with rays 5 degrees apart, and without an
    ///   echo of what is nearer than the minimum range. Otherwise the whole cone, and the minimum range for such things.
    pub fn set_as_original(&mut self, as_original: bool) {
        self.worlds.iter_mut().for_each(|world| world.as_original = as_original);
    }

    /// Restarts all noise with this seed.
    pub fn reseed(&mut self, seed: u64) {
        self.worlds.iter_mut().for_each(|world| world.reseed(seed));
    }

    /// All worlds, in order.
    pub fn worlds(&self) -> &[World] {
        &self.worlds
    }

    /// The world with this name; without a name the first.
    ///
    /// # Errors
    /// [`WorldError::UnknownWorld`].
    pub fn world(&self, name: Option<&str>) -> Result<&World, WorldError> {
        let wanted = name.map(key).filter(|wanted| !wanted.is_empty());
        let mut worlds = self.worlds.iter();
        let found = worlds.find(|world| wanted.as_ref().is_none_or(|wanted| key(world.name()) == *wanted));
        found.ok_or_else(|| WorldError::UnknownWorld { name: name.unwrap_or_default().to_owned() })
    }

    /// The world of a request about `object`, and its index.
    pub(crate) fn find(&mut self, world: Option<&str>, object: &str) -> Result<(usize, &World), WorldError> {
        let name = self.holder(world, object)?.name.clone();
        let at = self.worlds.iter().position(|world| world.name == name).unwrap_or_default();
        Ok((at, self.holder(world, object)?))
    }

    /// The world with this index.
    pub(crate) fn at_mut(&mut self, at: usize) -> Option<&mut World> {
        self.worlds.get_mut(at)
    }

    /// The world of a request about `object`.
    pub(crate) fn holder(&mut self, world: Option<&str>, object: &str) -> Result<&mut World, WorldError> {
        let unknown = || WorldError::UnknownName { name: object.to_owned() };
        let wanted = world.map(key).filter(|wanted| !wanted.is_empty());
        let Some(wanted) = wanted else {
            return self.worlds.iter_mut().find(|world| world.has(object)).ok_or_else(unknown);
        };
        let named = self.worlds.iter_mut().find(|world| key(world.name()) == wanted);
        let named =
            named.ok_or_else(|| WorldError::UnknownWorld { name: world.unwrap_or_default().to_owned() })?;
        if named.has(object) { Ok(named) } else { Err(unknown()) }
    }

    /// `apoloPlace`: puts an object, a robot, a landmark or a sensor that is on no robot at a pose, without a collision
    /// check. `xyz` in m, `rpy` in rad. An object that was linked to a tool is released.
    ///
    /// # Errors
    /// Unknown names, values that are not finite or too large, a sensor that is part of a robot.
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

    /// `apoloGetLocation`: x, y, z, m, roll, pitch, yaw, rad, of any named object.
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

    /// `apoloPlaceMRobot`: lets a robot on wheels fall onto the ground from the height z at x, y, m, heading `yaw`,
    /// rad. Returns false without moving the robot if a wheel has no ground under it, the wheels are not in one plane,
    /// the plane is too steep, or the robot's body collides.
    ///
    /// # Errors
    /// Unknown names, another kind of object, values that are not finite or too large.
    pub fn place_m_robot(
        &mut self,
        world: Option<&str>,
        robot: &str,
        xyz: [f64; 3],
        yaw: f64,
    ) -> Result<bool, WorldError> {
        self.holder(world, robot)?.place_m_robot(robot, xyz, yaw)
    }

    /// `apoloGetLocationMRobot`: x, y, z, m, heading, rad. As in the original, also of things without wheels.
    ///
    /// # Errors
    /// Unknown names.
    pub fn location_m_robot(&mut self, world: Option<&str>, robot: &str) -> Result<[f64; 4], WorldError> {
        self.holder(world, robot)?.location_m_robot(robot)
    }

    /// `apoloMoveMRobot`: drives at the speed, m/s, and turn rate, rad/s, for this time, s, in one step. The step is
    /// `(v t cos(w t), v t sin(w t))` in the robot's frame; the heading changes by `w t`. Speeds are clamped to the
    /// robot's limits, by default 2 m/s and 1 rad/s. A negative time drives back. Returns false without moving the
    /// robot on a collision or without a floor.
    ///
    /// # Errors
    /// Unknown names, another kind of object, values that are not finite or too large.
    pub fn move_m_robot(
        &mut self,
        world: Option<&str>,
        robot: &str,
        speeds: [f64; 2],
        time: f64,
    ) -> Result<bool, WorldError> {
        self.holder(world, robot)?.move_m_robot(robot, speeds, time)
    }

    /// `apoloSetRobotJoints`: sets the first joints of an arm, rad or m, without a collision check.
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

    /// `apoloCheckRobotJoints`: sets them and returns whether the arm, or its held object, collides with its
    /// environment or itself. Links fixed to the base do not count, because they are bolted to the ground; nor do
    /// neighbours, and links that overlap in the home position.
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

    /// `apoloLinkToRobotTCP`: from now on the object moves with the arm's tool, from its current pose. An arm holds one
    /// object: a new one replaces it, an empty name only releases it. An object that is released or placed stays at its
    /// pose.
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

    /// `apoloUpdate`: increments [`World::updates`]; without a name, of all worlds.
    ///
    /// # Errors
    /// [`WorldError::UnknownWorld`].
    pub fn update(&mut self, world: Option<&str>) -> Result<(), WorldError> {
        let wanted = world.map(key).filter(|wanted| !wanted.is_empty());
        let mut any = false;
        for world in &mut self.worlds {
            if wanted.as_ref().is_none_or(|wanted| key(world.name()) == *wanted) {
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

    /// `apoloGetOdometry`: x, y, m, heading, rad; see [`Worlds::set_as_original`].
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn odometry(&mut self, world: Option<&str>, robot: &str) -> Result<[f64; 3], WorldError> {
        self.holder(world, robot)?.odometry(robot)
    }

    /// The odometry of the robot's topics: as [`Worlds::odometry`], never as the original.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    #[cfg(feature = "node")]
    pub(crate) fn wheel_odometry(
        &mut self,
        world: Option<&str>,
        robot: &str,
    ) -> Result<[f64; 3], WorldError> {
        self.holder(world, robot)?.wheel_odometry(robot)
    }

    /// The distance, m, and the turn, rad, that the wheels' encoders have counted since the start, independent of the
    /// set odometry.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    #[cfg(feature = "node")]
    pub(crate) fn travelled(&mut self, world: Option<&str>, robot: &str) -> Result<Step, WorldError> {
        self.holder(world, robot)?.travelled(robot)
    }

    /// `apoloResetOdometry`: sets x, y, m, and heading, rad, of the odometry. As in the original, increments are along
    /// the axes that the robot has now, whatever heading is set.
    ///
    /// # Errors
    /// Unknown names, another kind of object, values that are not finite or too large.
    pub fn reset_odometry(
        &mut self,
        world: Option<&str>,
        robot: &str,
        odometry: [f64; 3],
    ) -> Result<(), WorldError> {
        self.holder(world, robot)?.reset_odometry(robot, odometry)
    }

    /// `apoloGetLaserData`: the ranges of one scan, m, first beam first; the maximum range if nothing is hit.
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

    /// `apoloGetLaserLandMarks`: the visible landmarks within the laser's angles and range, with the laser's noise; see
    /// [`Worlds::set_as_original`].
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn laser_landmarks(&mut self, world: Option<&str>, laser: &str) -> Result<Vec<Sighting>, WorldError> {
        self.holder(world, laser)?.laser_landmarks(laser)
    }

    /// A camera's current view: copied poses, shared surfaces. Its images need no access to the world, so no lock has
    /// to be held.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn view(&mut self, world: Option<&str>, camera: &str) -> Result<View, WorldError> {
        let mut view = View::default();
        self.look(world, camera, &mut view)?;
        Ok(view)
    }

    /// As [`Worlds::view`], reusing the memory of `view`.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn look(&mut self, world: Option<&str>, camera: &str, view: &mut View) -> Result<(), WorldError> {
        self.holder(world, camera)?.look(camera, view)
    }

    /// `apoloGetUltrasonicSensor`: distance to the nearest object in the cone, m; surfaces that the sound hits at less
    /// than 24 degrees give no echo. See [`Worlds::set_as_original`].
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn ultrasonic(&mut self, world: Option<&str>, sensor: &str) -> Result<f64, WorldError> {
        self.holder(world, sensor)?.ultrasonic(sensor)
    }

    /// `apoloGetAllultrasonicSensors`: ranges of one robot's sensors, in the order of the file, m.
    ///
    /// # Errors
    /// Unknown names, a sensor or a landmark instead of an object.
    pub fn all_ultrasonics(&mut self, world: Option<&str>, robot: &str) -> Result<Vec<f64>, WorldError> {
        self.holder(world, robot)?.all_ultrasonics(robot)
    }

    /// The echoes of one robot's sensors for its topics: as [`Worlds::all_ultrasonics`], never as the original.
    ///
    /// # Errors
    /// Unknown names, a sensor or a landmark instead of an object.
    #[cfg(feature = "node")]
    pub(crate) fn echoes(&mut self, world: Option<&str>, robot: &str) -> Result<Vec<Echo>, WorldError> {
        self.holder(world, robot)?.echoes(robot)
    }

    /// Sets the velocity of a robot on wheels: m/s and rad/s, clamped as in [`Worlds::move_m_robot`].
    ///
    /// # Errors
    /// Unknown names, another kind of object, values that are not finite or too large.
    pub fn set_twist(&mut self, world: Option<&str>, robot: &str, twist: Twist) -> Result<(), WorldError> {
        self.holder(world, robot)?.set_twist(robot, twist)
    }

    /// Switches the motors of a robot on wheels; without them it takes no velocities, and `move_m_robot` is refused.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn set_motor_power(&mut self, world: Option<&str>, robot: &str, on: bool) -> Result<(), WorldError> {
        self.holder(world, robot)?.set_motor_power(robot, on)
    }

    /// Whether the motors of a robot on wheels are on.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn has_motor_power(&mut self, world: Option<&str>, robot: &str) -> Result<bool, WorldError> {
        self.holder(world, robot)?.has_motor_power(robot)
    }

    /// The corners of the box around the body of a robot on wheels, in its own frame, m: the lowest and the highest
    /// coordinates.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn outline(&mut self, world: Option<&str>, robot: &str) -> Result<[[f64; 3]; 2], WorldError> {
        self.holder(world, robot)?.outline(robot)
    }

    /// Advances the time of all worlds. Robots with a velocity drive, in steps of at most 10 ms; a blocked one tries
    /// again in every step.
    pub fn advance(&mut self, time: Duration) {
        self.worlds.iter_mut().for_each(|world| world.advance(time));
    }

    /// Minimum distance between two objects of one world, m; 0 if they touch.
    ///
    /// # Errors
    /// Unknown names, sensors and landmarks.
    pub fn distance(&mut self, world: Option<&str>, a: &str, b: &str) -> Result<f64, WorldError> {
        self.holder(world, a)?.distance(a, b)
    }
}

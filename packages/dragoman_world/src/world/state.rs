//! One world: its objects and their poses.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use nalgebra::Isometry3;

use crate::error::WorldError;
use crate::geometry::scene::Scene;
use crate::geometry::{Geometry, pose, to_parry};
use crate::limits::{MAX_ANGLE, MAX_SIZE};
use crate::noise::Noise;
use crate::robots::arm::Arm;
use crate::robots::wheeled::Wheeled;
use crate::sensors::camera::{Camera, Surface};
use crate::sensors::range::{Landmark, Laser, Mount, Publication, Ultrasonic};

/// A shape of a part.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Shape {
    pub geometry: Geometry,
    /// Pose in the part's frame.
    pub pose: Isometry3<f64>,
    /// Red, green, blue, opacity, 0 to 1.
    pub color: [f64; 4],
}

/// A rigid part: a body, or a link of an arm.
pub struct Part {
    /// `object`, or `object/link` if an object has several parts.
    pub name: String,
    /// Its shapes; constant.
    pub shapes: Vec<Shape>,
    pub(crate) pose: Isometry3<f64>,
    pub(crate) revision: u64,
    pub(crate) colliders: Range<usize>,
}

impl Part {
    /// Its frame in the world.
    pub fn pose(&self) -> &Isometry3<f64> {
        &self.pose
    }

    /// [`World::revision`] of its last motion.
    pub fn revision(&self) -> u64 {
        self.revision
    }
}

/// How an object moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A body that stays where it was placed.
    Body,
    /// An articulated arm.
    Arm,
    /// A robot on wheels.
    Wheeled,
}

/// A body or a robot.
pub struct Object {
    pub(crate) name: String,
    pub(crate) pose: Isometry3<f64>,
    pub(crate) parts: Range<usize>,
    pub(crate) role: Role,
    pub(crate) description: Option<RobotDescription>,
}

/// The complete URDF of a robot.
#[derive(Debug, Clone, PartialEq)]
pub struct RobotDescription {
    /// The text.
    pub urdf: String,
    /// Of a robot on wheels: all links except the first, which has the robot's frame, and their poses in that frame
    /// with all joints at zero. The links of an arm are separate parts.
    pub links: Vec<(String, Isometry3<f64>)>,
}

pub(crate) enum Role {
    Body(Body),
    Arm(Arm),
    Wheeled(Wheeled),
}

/// State of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Body {
    /// The object that carries it, and its pose there: for an arm in the tool's frame, for a robot on wheels in the
    /// robot's frame.
    pub(crate) held: Option<(usize, Isometry3<f64>)>,
    /// Grippers can hold it.
    pub(crate) graspable: bool,
    /// Docking station of a Kobuki.
    pub(crate) is_dock: bool,
    /// Mass, kg.
    pub(crate) mass: f64,
}

impl Object {
    /// Its name as in the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its frame in the world; for an arm the base.
    pub fn pose(&self) -> &Isometry3<f64> {
        &self.pose
    }

    /// How it moves.
    pub fn kind(&self) -> ObjectKind {
        match self.role {
            Role::Body(_) => ObjectKind::Body,
            Role::Arm(_) => ObjectKind::Arm,
            Role::Wheeled(_) => ObjectKind::Wheeled,
        }
    }

    /// The object that carries it, and its pose in that object's frame; for an arm, the tool's frame.
    fn carried(&self) -> Option<(usize, Isometry3<f64>)> {
        match &self.role {
            Role::Body(body) => body.held,
            Role::Arm(arm) => arm.on,
            Role::Wheeled(_) => None,
        }
    }

    /// Index in [`World::objects`] of the robot on which it is mounted; `None` for objects other than arms.
    pub fn mounted_on(&self) -> Option<usize> {
        match &self.role {
            Role::Arm(arm) => arm.on.map(|(carrier, _)| carrier),
            _ => None,
        }
    }

    /// Index in [`World::objects`] of the object that carries it.
    pub fn carrier(&self) -> Option<usize> {
        self.carried().map(|(carrier, _)| carrier)
    }

    /// Its description; `None` for bodies, and if a part of the file is omitted.
    pub fn description(&self) -> Option<&RobotDescription> {
        self.description.as_ref()
    }

    /// The range of its parts in [`World::parts`].
    pub fn parts(&self) -> Range<usize> {
        self.parts.clone()
    }
}

/// The item with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Object(usize),
    Laser(usize),
    Ultrasonic(usize),
    Camera(usize),
    Landmark(usize),
}

/// A world. Requests by name go through [`crate::Worlds`].
pub struct World {
    pub(crate) name: String,
    pub(crate) objects: Vec<Object>,
    pub(crate) parts: Vec<Part>,
    pub(crate) scene: Scene,
    pub(crate) lasers: Vec<Laser>,
    pub(crate) ultrasonics: Vec<Ultrasonic>,
    pub(crate) cameras: Vec<Camera>,
    /// Surfaces of each part's shapes, if there are cameras.
    pub(crate) surfaces: Vec<Vec<Arc<Surface>>>,
    pub(crate) landmarks: Vec<Landmark>,
    pub(crate) chargers: Vec<Charger>,
    pub(crate) names: BTreeMap<String, Named>,
    pub(crate) revision: u64,
    pub(crate) updates: u64,
    /// As the original Apolo; see [`crate::Worlds::set_as_original`].
    pub(crate) as_original: bool,
    pub(crate) time: Duration,
    pub(crate) notes: Vec<String>,
}

/// A charging station.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Charger {
    pub name: String,
    /// Pose of a docked robot on wheels, on the floor: x, y, m, and heading, rad.
    pub pose: [f64; 3],
}

/// Normalized name for comparisons.
pub(crate) fn key(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_lowercase).collect()
}

pub(super) fn check(field: &'static str, values: &[f64], most: f64) -> Result<(), WorldError> {
    // Written such that NaN is refused.
    match values.iter().find(|value| !(**value >= -most && **value <= most)) {
        Some(&value) => Err(WorldError::OutOfRange { field, value, least: -most, most }),
        None => Ok(()),
    }
}

impl World {
    /// Notes about omitted or changed parts of its descriptions, with file and line.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Its name as in the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bodies and robots, in the order of the file: bodies, arms, robots on wheels.
    pub fn objects(&self) -> &[Object] {
        &self.objects
    }

    /// The parts of all objects.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// All charging stations.
    pub fn chargers(&self) -> &[Charger] {
        &self.chargers
    }

    /// The landmarks that lasers recognize, in the order of the file.
    pub fn landmarks(&self) -> &[Landmark] {
        &self.landmarks
    }

    /// Names of the lasers.
    pub fn lasers(&self) -> impl Iterator<Item = &str> {
        self.lasers.iter().map(|laser| laser.name.as_str())
    }

    /// Names of the ultrasonic sensors.
    pub fn ultrasonics(&self) -> impl Iterator<Item = &str> {
        self.ultrasonics.iter().map(|sensor| sensor.name.as_str())
    }

    /// The object that carries the sensor with this name; `None` for a sensor fixed in the world, or no sensor.
    pub fn carrier(&self, sensor: &str) -> Option<&Object> {
        self.objects.get(self.mount(sensor)?.object?)
    }

    /// Publishing of a laser's or a camera's measurements; `None` for other names.
    pub fn publication(&self, sensor: &str) -> Option<&Publication> {
        match self.named(sensor).ok()? {
            Named::Laser(at) => self.lasers.get(at).map(|laser| &laser.publication),
            Named::Camera(at) => self.cameras.get(at).map(|camera| &camera.publication),
            _ => None,
        }
    }

    /// Counter of motions: a publisher with this number has published the current state.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Number of requested updates of the view.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// The world's time.
    pub fn time(&self) -> Duration {
        self.time
    }

    pub(crate) fn reseed(&mut self, seed: u64) {
        for object in &mut self.objects {
            if let Role::Wheeled(wheeled) = &mut object.role {
                wheeled.noise = Noise::new(seed, &object.name);
            }
        }
        for laser in &mut self.lasers {
            laser.noise = Noise::new(seed, &laser.name);
        }
        for sensor in &mut self.ultrasonics {
            sensor.noise = Noise::new(seed, &sensor.name);
        }
        for camera in &mut self.cameras {
            camera.noise = Noise::new(seed, &camera.name);
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains_key(&key(name))
    }

    /// Gives a name to an item.
    ///
    /// # Errors
    /// The reason why it cannot have this name.
    pub(crate) fn take_name(&mut self, name: &str, named: Named) -> Result<(), String> {
        // The legacy protocol has one byte for a name's length including a final NUL.
        if key(name).is_empty() || name.len() > 254 || name.contains('\0') {
            return Err("a name has 1 to 254 bytes, is not blank, and contains no NUL".to_owned());
        }
        match self.names.insert(key(name), named) {
            None => Ok(()),
            Some(_) => Err("the name is used twice in this world".to_owned()),
        }
    }

    pub(crate) fn named(&self, name: &str) -> Result<Named, WorldError> {
        self.names.get(&key(name)).copied().ok_or_else(|| WorldError::UnknownName { name: name.to_owned() })
    }

    pub(crate) fn index_of(&self, name: &str) -> Result<usize, WorldError> {
        match self.named(name)? {
            Named::Object(at) => Ok(at),
            _ => Err(wrong_kind(name, "a body or robot")),
        }
    }

    pub(crate) fn arm(&self, name: &str) -> Result<(usize, &Arm), WorldError> {
        if let Named::Object(at) = self.named(name)?
            && let Some(Role::Arm(arm)) = self.objects.get(at).map(|object| &object.role)
        {
            return Ok((at, arm));
        }
        Err(wrong_kind(name, "an articulated robot"))
    }

    pub(crate) fn wheeled(&mut self, name: &str) -> Result<(usize, &mut Wheeled), WorldError> {
        if let Named::Object(at) = self.named(name)?
            && let Some(Role::Wheeled(wheeled)) = self.objects.get_mut(at).map(|object| &mut object.role)
        {
            return Ok((at, wheeled));
        }
        Err(wrong_kind(name, "a robot on wheels"))
    }

    pub(super) fn mount(&self, sensor: &str) -> Option<&Mount> {
        match self.named(sensor).ok()? {
            Named::Laser(at) => self.lasers.get(at).map(|laser| &laser.mount),
            Named::Ultrasonic(at) => self.ultrasonics.get(at).map(|sensor| &sensor.mount),
            Named::Camera(at) => self.cameras.get(at).map(|camera| &camera.mount),
            _ => None,
        }
    }

    /// Pose of any named item.
    ///
    /// # Errors
    /// [`WorldError::UnknownName`].
    pub fn pose(&self, name: &str) -> Result<Isometry3<f64>, WorldError> {
        let found = match self.named(name)? {
            Named::Object(at) => self.objects.get(at).map(|object| object.pose),
            Named::Landmark(at) => self.landmarks.get(at).map(|mark| pose(mark.position, [0.0; 3])),
            Named::Laser(_) | Named::Ultrasonic(_) | Named::Camera(_) => {
                self.mount(name).map(|mount| self.mounted(mount))
            }
        };
        found.ok_or_else(|| WorldError::UnknownName { name: name.to_owned() })
    }

    pub(crate) fn mounted(&self, mount: &Mount) -> Isometry3<f64> {
        let carrier = mount.object.and_then(|object| self.objects.get(object));
        carrier.map_or(mount.offset, |object| object.pose * mount.offset)
    }

    pub(crate) fn place(&mut self, name: &str, xyz: [f64; 3], rpy: [f64; 3]) -> Result<(), WorldError> {
        check("position", &xyz, MAX_SIZE)?;
        check("orientation", &rpy, MAX_ANGLE)?;
        let named = self.named(name)?;
        if self.is_part_of_a_robot(name) {
            return Err(wrong_kind(name, "a separate object: it is part of a robot"));
        }
        let target = pose(xyz, rpy);
        self.revision += 1;
        match named {
            Named::Object(at) => {
                if let Some(body) = self.body_mut(at) {
                    body.held = None;
                }
                self.move_object(at, target);
            }
            Named::Landmark(at) => {
                if let Some(mark) = self.landmarks.get_mut(at) {
                    mark.position = xyz;
                }
            }
            Named::Laser(at) => {
                if let Some(laser) = self.lasers.get_mut(at) {
                    laser.mount.offset = target;
                }
            }
            Named::Ultrasonic(at) => {
                if let Some(sensor) = self.ultrasonics.get_mut(at) {
                    sensor.mount.offset = target;
                }
            }
            Named::Camera(at) => {
                if let Some(camera) = self.cameras.get_mut(at) {
                    camera.mount.offset = target;
                }
            }
        }
        Ok(())
    }

    fn is_part_of_a_robot(&self, name: &str) -> bool {
        let mounted = self.mount(name).is_some_and(|mount| mount.object.is_some());
        mounted || self.index_of(name).ok().and_then(|at| self.arm_at(at)).is_some_and(|arm| arm.on.is_some())
    }

    /// Moves an object with all its parts, the arm mounted on it, and the objects it carries.
    pub(crate) fn move_object(&mut self, at: usize, target: Isometry3<f64>) {
        let Some(object) = self.objects.get_mut(at) else { return };
        object.pose = target;
        let parts = object.parts.clone();
        let (links, carries_at) = match &object.role {
            Role::Arm(arm) => {
                let links = arm.link_poses(&target);
                let tool = links.get(arm.tool.0).map_or(target, |link| link * arm.tool.1);
                (links, tool)
            }
            Role::Body(_) | Role::Wheeled(_) => (vec![target; parts.len()], target),
        };
        for (part, pose) in self.parts.get_mut(parts).unwrap_or_default().iter_mut().zip(links) {
            part.pose = pose;
            part.revision = self.revision;
            self.scene.move_part(part.colliders.clone(), &to_parry(&pose));
        }
        let on_it = self.objects.iter().enumerate().filter_map(|(on_it, object)| {
            let (by, offset) = object.carried()?;
            (by == at).then(|| (on_it, carries_at * offset))
        });
        // Bodies carry nothing and arms are on robots only: the recursion has a depth of two.
        for (on_it, pose) in on_it.collect::<Vec<_>>() {
            self.move_object(on_it, pose);
        }
    }

    /// The object, the arm mounted on it, and the objects they carry: everything that moves with it.
    pub(crate) fn group(&self, at: usize) -> Vec<usize> {
        let mut group = vec![at];
        let mut done = 0;
        while let Some(&by) = group.get(done) {
            let carried = |(_, object): &(usize, &Object)| object.carried().is_some_and(|(it, _)| it == by);
            group.extend(self.objects.iter().enumerate().filter(carried).map(|(at, _)| at));
            done += 1;
        }
        group
    }

    pub(crate) fn arm_at(&self, at: usize) -> Option<&Arm> {
        match self.objects.get(at).map(|object| &object.role) {
            Some(Role::Arm(arm)) => Some(arm),
            _ => None,
        }
    }

    pub(super) fn body_mut(&mut self, at: usize) -> Option<&mut Body> {
        match self.objects.get_mut(at).map(|object| &mut object.role) {
            Some(Role::Body(body)) => Some(body),
            _ => None,
        }
    }

    pub(crate) fn update(&mut self) {
        self.updates += 1;
    }
}

pub(crate) fn wrong_kind(name: &str, expected: &'static str) -> WorldError {
    WorldError::WrongKind { name: name.to_owned(), expected }
}

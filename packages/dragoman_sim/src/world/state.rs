//! One world: what is in it, where it is, and what it does.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use nalgebra::Isometry3;

use super::arm::Arm;
use super::camera::{Camera, Surface};
use super::file::{LARGEST, LARGEST_ANGLE};
use super::geometry::{Vector, pose, to_parry, vector};
use super::noise::Noise;
use super::scene::{Collider, Scene};
use super::sensor::{Laser, Mount, Publication, Ultrasonic};
use super::wheeled::{Step, Wheeled, wrap};
use super::{ArmJoint, Geometry, Landmark, LaserFigures, Sighting, WorldError};

/// Longest step of [`World::advance`], s.
const LONGEST_STEP: f64 = 0.01;
/// Longest time of one motion, s.
const LONGEST_TIME: f64 = 3600.0;
/// A landmark on a wall is seen although the wall begins there, m.
const LANDMARK_DEPTH: f64 = 0.01;

/// A shape of a part.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// What it is.
    pub geometry: Geometry,
    /// Pose in the part's frame.
    pub pose: Isometry3<f64>,
    /// Red, green, blue, opacity, 0 to 1.
    pub color: [f64; 4],
}

/// What moves as one: a body, or a link of an arm.
pub struct Part {
    /// `object`, or `object/link` where an object has several.
    pub name: String,
    /// What it looks like; does not change.
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

    /// [`World::revision`] when it was moved last.
    pub fn revision(&self) -> u64 {
        self.revision
    }
}

/// What an object is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectKind {
    /// A body that is where it was put.
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
}

pub(crate) enum Role {
    /// `held` by an arm, at a pose in its tool's frame.
    Body {
        held: Option<(usize, Isometry3<f64>)>,
    },
    Arm(Arm),
    Wheeled(Wheeled),
}

impl Object {
    /// Its name as the file has it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its frame in the world; of an arm the base.
    pub fn pose(&self) -> &Isometry3<f64> {
        &self.pose
    }

    /// What it is.
    pub fn kind(&self) -> ObjectKind {
        match self.role {
            Role::Body { .. } => ObjectKind::Body,
            Role::Arm(_) => ObjectKind::Arm,
            Role::Wheeled(_) => ObjectKind::Wheeled,
        }
    }

    /// Where its parts are among [`World::parts`].
    pub fn parts(&self) -> Range<usize> {
        self.parts.clone()
    }
}

/// What a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    Object(usize),
    Laser(usize),
    Ultrasonic(usize),
    Camera(usize),
    Landmark(usize),
}

/// A world. Requests by name go through [`super::Worlds`].
pub struct World {
    pub(crate) name: String,
    pub(crate) objects: Vec<Object>,
    pub(crate) parts: Vec<Part>,
    pub(crate) scene: Scene,
    pub(crate) lasers: Vec<Laser>,
    pub(crate) ultrasonics: Vec<Ultrasonic>,
    pub(crate) cameras: Vec<Camera>,
    /// Of each part its shapes', where there are cameras.
    pub(crate) surfaces: Vec<Vec<Arc<Surface>>>,
    pub(crate) landmarks: Vec<Landmark>,
    pub(crate) names: HashMap<String, Named>,
    pub(crate) revision: u64,
    pub(crate) updates: u64,
    pub(crate) time: Duration,
}

/// A name as it is compared.
pub(crate) fn key(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_lowercase).collect()
}

fn check(field: &'static str, values: &[f64], most: f64) -> Result<(), WorldError> {
    check_between(field, values, -most, most)
}

fn check_between(field: &'static str, values: &[f64], least: f64, most: f64) -> Result<(), WorldError> {
    // Written so that NaN is refused.
    match values.iter().find(|value| !(**value >= least && **value <= most)) {
        Some(&value) => Err(WorldError::OutOfRange { field, value, least, most }),
        None => Ok(()),
    }
}

impl World {
    /// Its name as the file has it.
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

    /// All landmarks.
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

    /// The object that carries the sensor of this name; none for one that stands in the world, or no sensor.
    pub fn carrier(&self, sensor: &str) -> Option<&Object> {
        self.objects.get(self.mount(sensor)?.object?)
    }

    /// How the measurements of a laser or a camera are published; none for other names.
    pub fn publication(&self, sensor: &str) -> Option<&Publication> {
        match self.named(sensor).ok()? {
            Named::Laser(at) => self.lasers.get(at).map(|laser| &laser.publication),
            Named::Camera(at) => self.cameras.get(at).map(|camera| &camera.publication),
            _ => None,
        }
    }

    /// Counts what has been moved: a publisher that has seen this number has seen everything.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// How often an update of the view was asked for.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// Time that has gone by.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// Pairs of objects that touch, of which at least one is a robot; links that no joint moves do not count. Each pair once,
    /// also an arm that touches itself.
    pub fn collisions(&self) -> Vec<(&str, &str)> {
        let mut pairs = Vec::new();
        for (at, object) in self.objects.iter().enumerate() {
            let touched = match &object.role {
                Role::Body { .. } => continue,
                Role::Wheeled(_) => self.wheeled_touches(at, &object.pose),
                Role::Arm(arm) => self.arm_touches(at, arm),
            };
            if let Some(other) = touched.and_then(|other| self.objects.get(other)) {
                pairs.push((object.name.as_str(), other.name.as_str()));
            }
        }
        pairs
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

    pub(crate) fn named(&self, name: &str) -> Result<Named, WorldError> {
        self.names.get(&key(name)).copied().ok_or_else(|| WorldError::UnknownName { name: name.to_owned() })
    }

    fn object(&self, name: &str) -> Result<usize, WorldError> {
        match self.named(name)? {
            Named::Object(at) => Ok(at),
            _ => Err(wrong_kind(name, "body or robot")),
        }
    }

    fn arm(&self, name: &str) -> Result<(usize, &Arm), WorldError> {
        if let Named::Object(at) = self.named(name)?
            && let Some(Role::Arm(arm)) = self.objects.get(at).map(|object| &object.role)
        {
            return Ok((at, arm));
        }
        Err(wrong_kind(name, "articulated robot"))
    }

    fn wheeled(&mut self, name: &str) -> Result<(usize, &mut Wheeled), WorldError> {
        if let Named::Object(at) = self.named(name)?
            && let Some(Role::Wheeled(wheeled)) = self.objects.get_mut(at).map(|object| &mut object.role)
        {
            return Ok((at, wheeled));
        }
        Err(wrong_kind(name, "robot on wheels"))
    }

    fn mount(&self, sensor: &str) -> Option<&Mount> {
        match self.named(sensor).ok()? {
            Named::Laser(at) => self.lasers.get(at).map(|laser| &laser.mount),
            Named::Ultrasonic(at) => self.ultrasonics.get(at).map(|sensor| &sensor.mount),
            Named::Camera(at) => self.cameras.get(at).map(|camera| &camera.mount),
            _ => None,
        }
    }

    /// Pose of anything that has a name.
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
        check("position", &xyz, LARGEST)?;
        check("orientation", &rpy, LARGEST_ANGLE)?;
        let named = self.named(name)?;
        if self.mount(name).is_some_and(|mount| mount.object.is_some()) {
            return Err(wrong_kind(name, "object of its own: it is part of a robot"));
        }
        let target = pose(xyz, rpy);
        self.revision += 1;
        match named {
            Named::Object(at) => {
                if let Some(Role::Body { held }) = self.objects.get_mut(at).map(|object| &mut object.role) {
                    *held = None;
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

    /// Moves an object with all its parts, and what its tool holds.
    pub(crate) fn move_object(&mut self, at: usize, target: Isometry3<f64>) {
        let Some(object) = self.objects.get_mut(at) else { return };
        object.pose = target;
        let parts = object.parts.clone();
        let links = match &object.role {
            Role::Arm(arm) => arm.link_poses(&target),
            Role::Body { .. } | Role::Wheeled(_) => vec![target; parts.len()],
        };
        let tool = match &object.role {
            Role::Arm(arm) => links.get(arm.tool.0).map(|link| link * arm.tool.1),
            _ => None,
        };
        for (part, pose) in self.parts.get_mut(parts).unwrap_or_default().iter_mut().zip(links) {
            part.pose = pose;
            part.revision = self.revision;
            self.scene.move_part(part.colliders.clone(), &to_parry(&pose));
        }
        if let Some(tool) = tool {
            let held = |object: &Object| match object.role {
                Role::Body { held: Some((arm, offset)) } if arm == at => Some(tool * offset),
                _ => None,
            };
            let carried = self.objects.iter().enumerate().find_map(|(at, object)| Some((at, held(object)?)));
            // A body holds nothing: this goes one deep.
            if let Some((held, pose)) = carried {
                self.move_object(held, pose);
            }
        }
    }

    fn held_by(&self, arm: usize) -> Option<usize> {
        self.objects
            .iter()
            .position(|object| matches!(object.role, Role::Body { held: Some((by, _)) } if by == arm))
    }

    pub(crate) fn place_m_robot(&mut self, name: &str, xyz: [f64; 3], yaw: f64) -> Result<bool, WorldError> {
        check("position", &xyz, LARGEST)?;
        check("heading", &[yaw], LARGEST_ANGLE)?;
        let (at, _) = self.wheeled(name)?;
        Ok(self.drop_at(at, xyz, yaw, 2.0 * LARGEST))
    }

    /// Lets the robot fall at most so far; it stays where that is not possible.
    fn drop_at(&mut self, at: usize, xyz: [f64; 3], yaw: f64, deepest: f64) -> bool {
        let Some(Role::Wheeled(wheeled)) = self.objects.get(at).map(|object| &object.role) else {
            return false;
        };
        let longest = wheeled.wheel_radius + deepest;
        let own = |collider: &Collider| collider.object == at;
        let ground = |[x, y, z]: [f64; 3]| {
            self.scene
                .ray(Vector::new(x, y, z), -Vector::Z, longest, own)
                .filter(|way| *way > 0.0)
                .map(|way| z - way)
        };
        let Some(target) = wheeled.drop(xyz, yaw, ground) else { return false };
        if self.wheeled_touches(at, &target).is_some() {
            return false;
        }
        self.revision += 1;
        self.move_object(at, target);
        true
    }

    /// An object that the robot's body touches at this pose.
    fn wheeled_touches(&self, at: usize, pose: &Isometry3<f64>) -> Option<usize> {
        let parts = self.objects.get(at)?.parts.clone();
        let own = |collider: &Collider| collider.object == at;
        let pose = to_parry(pose);
        let mut parts = self.parts.get(parts)?.iter();
        parts
            .find_map(|part| self.scene.touching(part.colliders.clone(), &pose, own))
            .map(|other| other.object)
    }

    pub(crate) fn location_m_robot(&mut self, name: &str) -> Result<[f64; 4], WorldError> {
        let (at, _) = self.wheeled(name)?;
        let pose = self.objects.get(at).map(|object| object.pose).unwrap_or_default();
        let [x, y, z] = pose.translation.vector.into();
        Ok([x, y, z, heading(&pose)])
    }

    pub(crate) fn move_m_robot(
        &mut self,
        name: &str,
        speeds: [f64; 2],
        time: f64,
    ) -> Result<bool, WorldError> {
        check("speed", &speeds, f64::MAX)?;
        check_between("time", &[time], 0.0, LONGEST_TIME)?;
        let (at, wheeled) = self.wheeled(name)?;
        let step = wheeled.step(speeds, time);
        Ok(self.drive(at, step))
    }

    /// The ground may be a wheel's radius higher or lower at the end. The turn comes first, and then the way ahead: that is
    /// `(v t cos(w t), v t sin(w t))` in the robot's frame.
    fn drive(&mut self, at: usize, step: Step) -> bool {
        let Some(object) = self.objects.get(at) else { return false };
        let Role::Wheeled(wheeled) = &object.role else { return false };
        let radius = wheeled.wheel_radius;
        let heading = heading(&object.pose) + step.turn;
        let [x, y, z] = object.pose.translation.vector.into();
        let target = [x + step.distance * heading.cos(), y + step.distance * heading.sin(), z];
        if target.iter().any(|value| value.abs() > LARGEST)
            || !self.drop_at(at, target, wrap(heading), radius)
        {
            return false;
        }
        if let Some(Role::Wheeled(wheeled)) = self.objects.get_mut(at).map(|object| &mut object.role) {
            wheeled.count(step);
        }
        true
    }

    pub(crate) fn set_twist(&mut self, name: &str, twist: [f64; 2]) -> Result<(), WorldError> {
        check("speed", &twist, f64::MAX)?;
        self.wheeled(name)?.1.twist = twist;
        Ok(())
    }

    pub(crate) fn advance(&mut self, time: Duration) {
        self.time = self.time.saturating_add(time);
        let seconds = time.as_secs_f64().min(LONGEST_TIME);
        let steps = (seconds / LONGEST_STEP).ceil();
        if steps == 0.0 {
            return;
        }
        for _ in 0..steps as u64 {
            for at in 0..self.objects.len() {
                if let Some(Role::Wheeled(wheeled)) = self.objects.get(at).map(|object| &object.role)
                    && wheeled.twist != [0.0; 2]
                {
                    let step = wheeled.step(wheeled.twist, seconds / steps);
                    self.drive(at, step);
                }
            }
        }
    }

    pub(crate) fn odometry(&mut self, name: &str) -> Result<[f64; 3], WorldError> {
        Ok(self.wheeled(name)?.1.odometry)
    }

    pub(crate) fn reset_odometry(&mut self, name: &str, odometry: [f64; 3]) -> Result<(), WorldError> {
        check("odometry", &odometry, LARGEST)?;
        self.wheeled(name)?.1.odometry = odometry;
        Ok(())
    }

    pub(crate) fn robot_joints(&self, name: &str) -> Result<&[ArmJoint], WorldError> {
        Ok(&self.arm(name)?.1.joints)
    }

    pub(crate) fn tool_pose(&self, name: &str) -> Result<Isometry3<f64>, WorldError> {
        let (at, arm) = self.arm(name)?;
        let link = self.objects.get(at).and_then(|object| self.parts.get(object.parts.start + arm.tool.0));
        Ok(link.map(|part| part.pose).unwrap_or_default() * arm.tool.1)
    }

    pub(crate) fn set_robot_joints(&mut self, name: &str, values: &[f64]) -> Result<(), WorldError> {
        let (at, _) = self.arm(name)?;
        let Some(object) = self.objects.get_mut(at) else { return Ok(()) };
        if let Role::Arm(arm) = &mut object.role {
            arm.set(&object.name, values)?;
        }
        let base = object.pose;
        self.revision += 1;
        self.move_object(at, base);
        Ok(())
    }

    pub(crate) fn check_robot_joints(&mut self, name: &str, values: &[f64]) -> Result<bool, WorldError> {
        self.set_robot_joints(name, values)?;
        let (at, arm) = self.arm(name)?;
        Ok(self.arm_touches(at, arm).is_some())
    }

    /// An object that the arm, or what it holds, touches.
    fn arm_touches(&self, at: usize, arm: &Arm) -> Option<usize> {
        let held = self.held_by(at);
        let parts = self.objects.get(at)?.parts.clone();
        let first = parts.start;
        let links = self.parts.get(parts)?.iter().enumerate();
        for (link, part) in links.filter(|(link, _)| !arm.stands_still(*link)) {
            let passed_by = |other: &Collider| {
                if other.object != at {
                    return Some(other.object) == held;
                }
                let other = other.part - first;
                // Pairs of links that move are looked at once.
                arm.may_touch(link, other) || (other > link && !arm.stands_still(other))
            };
            if let Some(other) = self.scene.touching(part.colliders.clone(), &to_parry(&part.pose), passed_by)
            {
                return Some(other.object);
            }
        }
        let held_object = self.objects.get(held?)?;
        // The hand touches what it holds.
        let allowed = |other: &Collider| {
            Some(other.object) == held
                || (other.object == at && arm.may_touch(arm.tool.0, other.part - first))
        };
        let mut parts = self.parts.get(held_object.parts.clone())?.iter();
        let touched = parts
            .find_map(|part| self.scene.touching(part.colliders.clone(), &to_parry(&part.pose), allowed));
        touched.map(|other| other.object)
    }

    /// Pairs of links that touch as the arm stands now.
    pub(crate) fn touching_links(&self, at: usize) -> Vec<(usize, usize)> {
        let Some(object) = self.objects.get(at) else { return Vec::new() };
        let parts = self.parts.get(object.parts.clone()).unwrap_or_default();
        let solids = |link: usize| {
            parts.get(link).map(|part| self.scene.colliders(part.colliders.clone())).unwrap_or_default()
        };
        let touch = |a: usize, b: usize| {
            solids(a).iter().any(|a| solids(b).iter().any(|b| a.solid.touches(&a.pose, &b.solid, &b.pose)))
        };
        let pairs = (0..parts.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
        pairs.filter(|&(a, b)| touch(a, b)).collect()
    }

    pub(crate) fn link_to_robot_tcp(&mut self, robot: &str, object: &str) -> Result<(), WorldError> {
        let (arm, _) = self.arm(robot)?;
        let wanted = if key(object).is_empty() { None } else { Some(self.object(object)?) };
        let tool = self.tool_pose(robot)?;
        if let Some(Object { role: Role::Arm(_) | Role::Wheeled(_), .. }) =
            wanted.and_then(|at| self.objects.get(at))
        {
            return Err(wrong_kind(object, "object that a tool can hold"));
        }
        for (at, object) in self.objects.iter_mut().enumerate() {
            if let Role::Body { held } = &mut object.role {
                if Some(at) == wanted {
                    *held = Some((arm, tool.inverse() * object.pose));
                } else if held.is_some_and(|(by, _)| by == arm) {
                    *held = None;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn update(&mut self) {
        self.updates += 1;
    }

    fn laser_index(&self, name: &str) -> Result<usize, WorldError> {
        match self.named(name)? {
            Named::Laser(at) => Ok(at),
            _ => Err(wrong_kind(name, "laser")),
        }
    }

    /// One scan of a laser into `ranges`, as [`super::Worlds::laser_data`].
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn laser_data(&mut self, name: &str, ranges: &mut Vec<f64>) -> Result<(), WorldError> {
        let at = self.laser_index(name)?;
        let pose = to_parry(&self.pose(name)?);
        if let Some(laser) = self.lasers.get_mut(at) {
            let carrier = laser.mount.object;
            // What it sits in, its own housing say, does not blind it.
            let sees_carrier = laser.sees_carrier;
            let unseen = |collider: &Collider| {
                Some(collider.object) == carrier && (!sees_carrier || collider.contains(pose.translation))
            };
            laser.scan(&self.scene, &pose, unseen, ranges);
        }
        Ok(())
    }

    /// Beams and ranges of a laser.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn laser_figures(&self, name: &str) -> Result<LaserFigures, WorldError> {
        let laser = self.lasers.get(self.laser_index(name)?);
        laser.map(|laser| laser.figures).ok_or_else(|| WorldError::UnknownName { name: name.to_owned() })
    }

    pub(crate) fn laser_landmarks(&self, name: &str) -> Result<Vec<Sighting>, WorldError> {
        let figures = self.laser_figures(name)?;
        let carrier = self.mount(name).and_then(|mount| mount.object);
        let laser = to_parry(&self.pose(name)?);
        let last_angle = figures.first_angle + (figures.beams - 1) as f64 * figures.angle_step;
        let sight = |mark: &Landmark| {
            let position = vector(mark.position);
            let seen = laser.inverse_transform_point(position);
            let (angle, distance) = (seen.y.atan2(seen.x), seen.x.hypot(seen.y));
            let in_reach = (figures.first_angle..=last_angle).contains(&angle)
                && (figures.min_range..=figures.max_range).contains(&distance);
            let way = position - laser.translation;
            let length = way.length();
            let ignore = |collider: &Collider| Some(collider.object) == carrier;
            let hidden = length > LANDMARK_DEPTH
                && self.scene.ray(laser.translation, way / length, length - LANDMARK_DEPTH, ignore).is_some();
            (in_reach && !hidden).then_some(Sighting { id: mark.id, angle, distance })
        };
        Ok(self.landmarks.iter().filter_map(sight).collect())
    }

    pub(crate) fn ultrasonic(&mut self, name: &str) -> Result<f64, WorldError> {
        match self.named(name)? {
            Named::Ultrasonic(at) => Ok(self.measure(at)),
            _ => Err(wrong_kind(name, "ultrasonic sensor")),
        }
    }

    pub(crate) fn all_ultrasonics(&mut self, robot: &str) -> Result<Vec<f64>, WorldError> {
        let carrier = self.object(robot)?;
        let on_it =
            |at: &usize| self.ultrasonics.get(*at).is_some_and(|sensor| sensor.mount.object == Some(carrier));
        let sensors: Vec<usize> = (0..self.ultrasonics.len()).filter(on_it).collect();
        Ok(sensors.into_iter().map(|at| self.measure(at)).collect())
    }

    fn measure(&mut self, at: usize) -> f64 {
        let Some(mount) = self.ultrasonics.get(at).map(|sensor| sensor.mount.clone()) else {
            return f64::NAN;
        };
        let pose = to_parry(&self.mounted(&mount));
        let sensor = self.ultrasonics.get_mut(at);
        sensor.map_or(f64::NAN, |sensor| {
            sensor.measure(&self.scene, &pose, |collider| Some(collider.object) == mount.object)
        })
    }

    pub(crate) fn distance(&self, a: &str, b: &str) -> Result<f64, WorldError> {
        let solids = |name: &str| {
            let parts =
                self.objects.get(self.object(name)?).map(|object| object.parts.clone()).unwrap_or_default();
            let parts = self.parts.get(parts).unwrap_or_default().iter();
            Ok(parts.flat_map(|part| self.scene.colliders(part.colliders.clone())).collect::<Vec<_>>())
        };
        let (ours, theirs) = (solids(a)?, solids(b)?);
        let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
        let distances = pairs.map(|(a, b)| a.solid.distance(&a.pose, &b.solid, &b.pose));
        Ok(distances.fold(f64::INFINITY, f64::min))
    }
}

pub(crate) fn wrong_kind(name: &str, expected: &'static str) -> WorldError {
    WorldError::WrongKind { name: name.to_owned(), expected }
}

/// Direction of the x axis seen from above, rad.
fn heading(pose: &Isometry3<f64>) -> f64 {
    let ahead = pose.rotation * nalgebra::Vector3::x();
    ahead.y.atan2(ahead.x)
}

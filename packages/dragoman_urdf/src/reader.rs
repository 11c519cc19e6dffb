//! Elements as `urdf-rs`'s types. The reader of `urdf-rs` requires every field of its types, also those that are not used.

use std::collections::{BTreeMap, BTreeSet};

use nalgebra::{Quaternion, UnitQuaternion, Vector3};
use urdf_rs::{
    Axis, Calibration, Collision, Color, Dynamics, Geometry, Inertia, Inertial, Joint, JointLimit, JointType,
    Link, LinkName, Mass, Material, Mimic, Pose, Robot, SafetyController, Texture, Vec3, Vec4, Visual,
};

use crate::structure::{self, Lines};
use crate::values::{Fault, Read, fault, number, numbers, required, required_number};
use crate::xml::{self, Element};
use crate::{About, Description, Note, UrdfError};

/// Elements for other programs; they are skipped without a note.
const EXTENSIONS: &[&str] = &["gazebo", "transmission", "ros2_control", "sensor", "model_state"];

/// Maximum number of notes of one description. The first note about each joint, inertia and collision shape is kept
/// even beyond it.
const MAX_NOTES: usize = 1000;

/// Reads a text.
pub(crate) fn read(text: &str) -> Result<Description, UrdfError> {
    let top = xml::parse(text).map_err(|xml::XmlError { line, reason }| UrdfError { line, reason })?;
    let robot = match top.children.as_slice() {
        [robot] if robot.name == "robot" => robot,
        [] => {
            return Err(UrdfError {
                line: 1,
                reason: "there is no element: a description is a <robot>".to_owned(),
            });
        }
        [other] => {
            let reason = format!("<{}> is no robot description: it has to be a <robot>", other.name);
            return Err(UrdfError { line: other.line, reason });
        }
        [_, second, ..] => {
            let reason = format!("<{}> follows the end of the document", second.name);
            return Err(UrdfError { line: second.line, reason });
        }
    };
    let mut reader = Reader { has_quaternions: version(robot) >= (1, 1), ..Reader::default() };
    reader.look_at_names(robot, &mut BTreeSet::new());
    let (mut robot, lines) = reader.robot(robot)?;
    let root = structure::check(&robot, &lines)?;
    reader.check_mimics(&mut robot, &lines);
    Ok(Description { robot, root, notes: reader.finish() })
}

/// The version of URDF; 1.0 if none is given.
fn version(robot: &Element) -> (u32, u32) {
    let parse = |version: &str| {
        let (major, minor) = version.trim().split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    };
    robot.attribute("version").and_then(parse).unwrap_or((1, 0))
}

#[derive(Default)]
struct Reader {
    has_quaternions: bool,
    notes: Vec<Note>,
    /// The parts that have a note.
    noted: BTreeSet<About>,
    /// Notes that are not kept.
    further: usize,
    /// Unknown elements, by the element around them and the name: the first one's line, and how many.
    unknown: BTreeMap<(String, String), (usize, usize)>,
    /// Prefixes that are not declared: the first element's line and name.
    undeclared: BTreeMap<String, (usize, String)>,
}

impl Reader {
    fn note(&mut self, line: usize, about: About, text: String) {
        self.note_with(line, about, text, String::new());
    }

    fn note_with(&mut self, line: usize, about: About, text: String, done: String) {
        let is_needed = about != About::Nothing && self.noted.insert(about.clone());
        if is_needed || self.notes.len() < MAX_NOTES {
            self.notes.push(Note { line, about, text, done });
        } else {
            self.further += 1;
        }
    }

    fn finish(mut self) -> Vec<Note> {
        for ((parent, name), (line, count)) in std::mem::take(&mut self.unknown) {
            let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
            self.note(line, About::Nothing, format!("<{name}> in <{parent}>{times} means nothing here"));
        }
        for (prefix, (line, name)) in std::mem::take(&mut self.undeclared) {
            let text = if prefix == "xacro" {
                format!("<{name}> is left out: this is xacro, from which `xacro FILE` makes a description")
            } else {
                format!("<{name}>: the prefix {prefix} is not declared")
            };
            self.note(line, About::Nothing, text);
        }
        self.notes.sort_by_key(|note| note.line);
        if let (1.., Some(last)) = (self.further, self.notes.last()) {
            let text = format!("{} more of these", self.further);
            self.notes.push(Note { line: last.line, about: About::Nothing, text, done: String::new() });
        }
        self.notes
    }

    /// Adds notes about prefixes that are not declared, and about malformed attributes.
    fn look_at_names<'e>(&mut self, element: &'e Element, declared: &mut BTreeSet<&'e str>) {
        let own: Vec<&str> =
            element.attributes.iter().filter_map(|(name, _)| name.strip_prefix("xmlns:")).collect();
        let new: Vec<&str> = own.into_iter().filter(|prefix| declared.insert(prefix)).collect();
        let names = element.attributes.iter().map(|(name, _)| name).chain([&element.name]);
        for prefix in names.filter_map(|name| Some(name.split_once(':')?.0)) {
            if !declared.contains(prefix) && !matches!(prefix, "xml" | "xmlns") {
                let first = || (element.line, element.name.clone());
                self.undeclared.entry(prefix.to_owned()).or_insert_with(first);
            }
        }
        if let Some(reason) = &element.malformed {
            let text = format!("an attribute of <{}> is left out: {reason}", element.name);
            self.note(element.line, About::Nothing, text);
        }
        for child in &element.children {
            self.look_at_names(child, declared);
        }
        for prefix in new {
            declared.remove(prefix);
        }
    }

    /// Records the children with other names than these as unknown.
    fn known(&mut self, element: &Element, names: &[&str]) {
        for child in element.children.iter().filter(|child| !names.contains(&child.name.as_str())) {
            let key = (element.name.clone(), child.name.clone());
            self.unknown.entry(key).or_insert((child.line, 0)).1 += 1;
        }
    }

    /// The first child with this name, as in other readers; there is a note about further ones. `owner` names the
    /// element for the note.
    fn only<'e>(&mut self, element: &'e Element, name: &str, owner: &str) -> Option<&'e Element> {
        let mut found = element.children.iter().filter(|child| child.name == name);
        let first = found.next();
        for other in found {
            self.note(other.line, About::Nothing, format!("{owner}: a second <{name}> is left out"));
        }
        first
    }

    fn robot(&mut self, robot: &Element) -> Result<(Robot, Lines), UrdfError> {
        let mut lines = Lines::default();
        let name = robot.attribute("name").unwrap_or_default().to_owned();
        let mut found = Robot { name, links: Vec::new(), joints: Vec::new(), materials: Vec::new() };
        for element in &robot.children {
            match element.name.as_str() {
                "link" => {
                    found.links.push(self.link(element).map_err(UrdfError::from)?);
                    lines.links.push(element.line);
                }
                "joint" => {
                    found.joints.push(self.joint(element).map_err(UrdfError::from)?);
                    lines.joints.push(element.line);
                }
                "material" => {
                    let owner = format!("material {}", element.attribute("name").unwrap_or_default());
                    found.materials.push(self.material(element, &owner));
                }
                name if EXTENSIONS.contains(&name) || name.starts_with("xacro:") => {}
                _ => {
                    let key = (robot.name.clone(), element.name.clone());
                    self.unknown.entry(key).or_insert((element.line, 0)).1 += 1;
                }
            }
        }
        Ok((found, lines))
    }

    /// A joint that mimics a joint that does not exist, or itself, moves by itself.
    fn check_mimics(&mut self, robot: &mut Robot, lines: &Lines) {
        let sources: BTreeMap<String, Option<String>> = robot
            .joints
            .iter()
            .filter(|joint| moves(&joint.joint_type))
            .map(|joint| (joint.name.clone(), joint.mimic.as_ref().map(|mimic| mimic.joint.clone())))
            .collect();
        for (joint, line) in robot.joints.iter_mut().zip(&lines.joints) {
            let Some(mimic) = &joint.mimic else { continue };
            let mut followed = Some(&mimic.joint);
            for _ in 0..sources.len() {
                followed = followed.and_then(|name| sources.get(name)?.as_ref());
            }
            let reason = if !sources.contains_key(&mimic.joint) {
                format!("there is no moving joint {} to mimic", mimic.joint)
            } else if followed.is_some() {
                "it mimics itself, by way of others or not".to_owned()
            } else {
                continue;
            };
            self.note(*line, About::Joint(joint.name.clone()), format!("joint {}: {reason}", joint.name));
            joint.mimic = None;
        }
    }

    fn link(&mut self, element: &Element) -> Read<Link> {
        let name = required(element, "name")?.to_owned();
        let owner = format!("link {name}");
        self.known(element, &["inertial", "visual", "collision"]);
        let inertia = About::Inertia(name.clone());
        let inertial = self.only(element, "inertial", &owner).map(|found| self.inertial(found, &owner));
        let inertial = inertial.and_then(|read| self.or_left_out(read, inertia, &owner, "inertial"));
        let mut link =
            Link { name, inertial: inertial.unwrap_or_default(), visual: Vec::new(), collision: Vec::new() };
        for child in &element.children {
            match child.name.as_str() {
                "visual" => {
                    let read = self.visual(child, &owner);
                    link.visual.extend(self.or_left_out(read, About::Nothing, &owner, "visual"));
                }
                "collision" => {
                    let about = About::Collision(link.name.clone());
                    let read = self.collision(child, &owner);
                    link.collision.extend(self.or_left_out(read, about, &owner, "collision"));
                }
                _ => {}
            }
        }
        Ok(link)
    }

    fn or_left_out<T>(&mut self, read: Read<T>, about: About, owner: &str, name: &str) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(Fault { line, text }) => {
                let done = format!("the <{name}> is left out");
                self.note_with(line, about, format!("{owner}: {text}"), done);
                None
            }
        }
    }

    fn pose(&mut self, element: &Element, owner: &str) -> Read<Pose> {
        let Some(origin) = self.only(element, "origin", owner) else { return Ok(Pose::default()) };
        let xyz = numbers(origin, "xyz")?.unwrap_or_default();
        let rpy = match numbers::<4>(origin, "quat_xyzw") {
            // Before version 1.1 of URDF it meant nothing.
            quaternion if self.has_quaternions && origin.attribute("quat_xyzw").is_some() => {
                if origin.attribute("rpy").is_some() {
                    return fault(origin, "<origin> has both rpy and quat_xyzw");
                }
                let [x, y, z, w] = quaternion?.unwrap_or_default();
                let Some(rotation) = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 1e-9) else {
                    return fault(origin, "quat_xyzw of <origin> has no length");
                };
                rotation.euler_angles().into()
            }
            _ => numbers(origin, "rpy")?.unwrap_or_default(),
        };
        Ok(Pose { xyz: Vec3(xyz), rpy: Vec3(rpy) })
    }

    fn inertial(&mut self, element: &Element, owner: &str) -> Read<Inertial> {
        let origin = self.pose(element, owner)?;
        let Some(mass) = element.child("mass") else { return fault(element, "<mass> is missing") };
        let value = required_number(mass, "value")?;
        if !(value >= 0.0 && value.is_finite()) {
            return fault(mass, format!("a mass of {value} kg"));
        }
        let Some(inertia) = element.child("inertia") else { return fault(element, "<inertia> is missing") };
        let [ixx, ixy, ixz, iyy, iyz, izz] = ["ixx", "ixy", "ixz", "iyy", "iyz", "izz"];
        let of = |name| required_number(inertia, name);
        let inertia = Inertia {
            ixx: of(ixx)?,
            ixy: of(ixy)?,
            ixz: of(ixz)?,
            iyy: of(iyy)?,
            iyz: of(iyz)?,
            izz: of(izz)?,
        };
        Ok(Inertial { origin, mass: Mass { value }, inertia })
    }

    fn visual(&mut self, element: &Element, owner: &str) -> Read<Visual> {
        let origin = self.pose(element, owner)?;
        let geometry = geometry(element)?;
        let material = self.only(element, "material", owner);
        let material = material.map(|found| self.material(found, owner));
        Ok(Visual { name: element.attribute("name").map(str::to_owned), origin, geometry, material })
    }

    fn collision(&mut self, element: &Element, owner: &str) -> Read<Collision> {
        let origin = self.pose(element, owner)?;
        Ok(Collision {
            name: element.attribute("name").map(str::to_owned),
            origin,
            geometry: geometry(element)?,
        })
    }

    fn material(&mut self, element: &Element, owner: &str) -> Material {
        let name = element.attribute("name").unwrap_or_default().to_owned();
        if name.is_empty() {
            self.note(element.line, About::Nothing, format!("{owner}: a <material> without a name"));
        }
        let color = element.child("color").map(|color| match numbers(color, "rgba")? {
            Some(rgba) => Ok(Color { rgba: Vec4(rgba) }),
            None => fault(color, "<color> has no rgba"),
        });
        let color = color.and_then(|read| self.or_left_out(read, About::Nothing, owner, "color"));
        let texture = element
            .child("texture")
            .map(|texture| Ok(Texture { filename: required(texture, "filename")?.to_owned() }));
        let texture = texture.and_then(|read| self.or_left_out(read, About::Nothing, owner, "texture"));
        Material { name, color, texture }
    }

    fn joint(&mut self, element: &Element) -> Read<Joint> {
        let name = required(element, "name")?.to_owned();
        let owner = format!("joint {name}");
        let about = About::Joint(name.clone());
        let named = |fault: Fault| Fault { text: format!("{owner}: {}", fault.text), ..fault };
        let link = |role: &str| match element.child(role) {
            Some(found) => Ok(LinkName { link: required(found, "link").map_err(named)?.to_owned() }),
            None => fault(element, format!("joint {name} has no <{role}>")),
        };
        let (parent, child) = (link("parent")?, link("child")?);
        self.known(
            element,
            &[
                "origin",
                "parent",
                "child",
                "axis",
                "limit",
                "calibration",
                "dynamics",
                "mimic",
                "safety_controller",
            ],
        );
        for role in ["parent", "child"] {
            self.only(element, role, &owner);
        }
        let joint_type = joint_type(element);
        let joint_type = self.or(joint_type, &about, &owner, "it is taken as fixed", JointType::Fixed);
        let origin = self.pose(element, &owner);
        let origin = self.or(origin, &about, &owner, "the child is at its parent", Pose::default());
        let is_moving = moves(&joint_type);
        let mut joint = Joint {
            name,
            joint_type,
            origin,
            parent,
            child,
            axis: Axis::default(),
            limit: JointLimit::default(),
            calibration: None,
            dynamics: None,
            mimic: None,
            safety_controller: None,
        };
        if is_moving {
            self.motion(element, &mut joint, &about, &owner);
        }
        Ok(joint)
    }

    /// What a fixed joint does not have.
    fn motion(&mut self, element: &Element, joint: &mut Joint, about: &About, owner: &str) {
        if let Some(found) = self.only(element, "axis", owner) {
            joint.axis = self.or(axis(found), about, owner, "it is taken along x", Axis::default());
        }
        let has_limits = matches!(joint.joint_type, JointType::Revolute | JointType::Prismatic);
        match self.only(element, "limit", owner) {
            Some(found) => {
                joint.limit =
                    self.or(limit(found, has_limits), about, owner, "it has none", JointLimit::default());
            }
            None if has_limits => {
                let text = format!("{owner}: <limit> is missing, which a joint of this type needs");
                self.note(element.line, about.clone(), text);
            }
            None => {}
        }
        if let Some(found) = self.only(element, "mimic", owner) {
            joint.mimic = self.or(mimic(found).map(Some), about, owner, "it moves by itself", None);
        }
        // What the arm's motion does without.
        let nothing = About::Nothing;
        if let Some(found) = self.only(element, "dynamics", owner) {
            let about = About::Inertia(joint.child.link.clone());
            joint.dynamics = self.or_left_out(dynamics(found), about, owner, "dynamics");
        }
        if let Some(found) = self.only(element, "calibration", owner) {
            joint.calibration = self.or_left_out(calibration(found), nothing.clone(), owner, "calibration");
        }
        if let Some(found) = self.only(element, "safety_controller", owner) {
            joint.safety_controller = self.or_left_out(safety(found), nothing, owner, "safety_controller");
        }
    }

    /// The value; or the substitute, with a note.
    fn or<T>(&mut self, read: Read<T>, about: &About, owner: &str, done: &str, substitute: T) -> T {
        read.unwrap_or_else(|Fault { line, text }| {
            self.note_with(line, about.clone(), format!("{owner}: {text}"), done.to_owned());
            substitute
        })
    }
}

impl From<Fault> for UrdfError {
    fn from(fault: Fault) -> Self {
        Self { line: fault.line, reason: fault.text }
    }
}

fn geometry(element: &Element) -> Read<Geometry> {
    let Some(geometry) = element.child("geometry") else { return fault(element, "<geometry> is missing") };
    let Some(shape) = geometry.children.first() else { return fault(geometry, "<geometry> is empty") };
    let size = |name| required_number(shape, name);
    match shape.name.as_str() {
        "box" => match numbers(shape, "size")? {
            Some(size) => Ok(Geometry::Box { size: Vec3(size) }),
            None => fault(shape, "<box> has no size"),
        },
        "cylinder" => Ok(Geometry::Cylinder { radius: size("radius")?, length: size("length")? }),
        "capsule" => Ok(Geometry::Capsule { radius: size("radius")?, length: size("length")? }),
        "sphere" => Ok(Geometry::Sphere { radius: size("radius")? }),
        "mesh" => {
            let filename = required(shape, "filename")?.to_owned();
            Ok(Geometry::Mesh { filename, scale: numbers(shape, "scale")?.map(Vec3) })
        }
        other => fault(shape, format!("<{other}> is no shape")),
    }
}

fn joint_type(element: &Element) -> Read<JointType> {
    Ok(match required(element, "type")? {
        "revolute" => JointType::Revolute,
        "continuous" => JointType::Continuous,
        "prismatic" => JointType::Prismatic,
        "fixed" => JointType::Fixed,
        "floating" => JointType::Floating,
        "planar" => JointType::Planar,
        "spherical" => JointType::Spherical,
        other => return fault(element, format!("there is no type {other}")),
    })
}

/// Whether a joint of this type has one degree of freedom. Others are as if fixed, but for an arm through them.
fn moves(joint_type: &JointType) -> bool {
    matches!(joint_type, JointType::Revolute | JointType::Continuous | JointType::Prismatic)
}

fn axis(element: &Element) -> Read<Axis> {
    let Some(xyz) = numbers(element, "xyz")? else { return fault(element, "<axis> has no xyz") };
    let length = Vector3::from(xyz).norm();
    // One that overflows gives no direction either.
    if !(length > 1e-9 && length.is_finite()) {
        return fault(element, format!("axis {} {} {} has no direction", xyz[0], xyz[1], xyz[2]));
    }
    Ok(Axis { xyz: Vec3(xyz) })
}

fn limit(element: &Element, has_limits: bool) -> Read<JointLimit> {
    let or_zero = |name| Ok(number(element, name)?.unwrap_or_default());
    let found = JointLimit {
        lower: or_zero("lower")?,
        upper: or_zero("upper")?,
        effort: or_zero("effort")?,
        velocity: or_zero("velocity")?,
    };
    if !has_limits {
        return Ok(JointLimit { lower: 0.0, upper: 0.0, ..found });
    }
    if found.lower > found.upper {
        return fault(element, format!("limits {} to {} enclose no range", found.lower, found.upper));
    }
    Ok(found)
}

fn mimic(element: &Element) -> Read<Mimic> {
    let of = |name| match number(element, name)? {
        Some(value) if value.is_infinite() => fault(element, format!("{name} of <mimic> is {value}")),
        value => Ok(value),
    };
    let joint = required(element, "joint")?.to_owned();
    Ok(Mimic { joint, multiplier: of("multiplier")?, offset: of("offset")? })
}

fn dynamics(element: &Element) -> Read<Dynamics> {
    let or_zero = |name| Ok(number(element, name)?.unwrap_or_default());
    Ok(Dynamics { damping: or_zero("damping")?, friction: or_zero("friction")? })
}

fn calibration(element: &Element) -> Read<Calibration> {
    Ok(Calibration { rising: number(element, "rising")?, falling: number(element, "falling")? })
}

fn safety(element: &Element) -> Read<SafetyController> {
    let or_zero = |name| Ok(number(element, name)?.unwrap_or_default());
    Ok(SafetyController {
        soft_lower_limit: or_zero("soft_lower_limit")?,
        soft_upper_limit: or_zero("soft_upper_limit")?,
        k_position: or_zero("k_position")?,
        k_velocity: required_number(element, "k_velocity")?,
    })
}

//! Links, joints and shapes of a URDF, as a tree. The solver's model in `dragoman_kinematics` is one chain without
//! shapes.

use std::sync::Arc;

use dragoman_urdf::About;
use nalgebra::{Isometry3, Point3, Unit, Vector3};
use urdf_rs::{JointType, Material, Pose};

use super::Files;
use super::format::GREY;
use crate::geometry::{Geometry, Mesh, pose};
use crate::limits::{MAX_ANGLE, MAX_SIZE};
use crate::robots::arm::{Arm, ArmJoint, ArmLink, JointKind, LinkMotion};
use crate::world::Shape;

/// The shapes of a link for display, and those for collisions.
type LinkShapes = (Vec<Shape>, Vec<Shape>);

/// A robot as a tree of links, parents first.
pub(super) struct Description {
    pub(super) joints: Vec<ArmJoint>,
    pub(super) links: Vec<ArmLink>,
    pub(super) tool: (usize, Isometry3<f64>),
    pub(super) shapes: Vec<LinkShapes>,
    /// Frame of the first link in that of the file's first link, with all joints at zero.
    pub(super) origin: Isometry3<f64>,
    /// The file's text, if no part is omitted; `None` for an arm from a table.
    pub(super) text: Option<String>,
    /// Notes about omitted or changed parts.
    pub(super) notes: Vec<String>,
}

/// Selection of a part of a file.
#[derive(Default)]
pub(super) struct Selection<'a> {
    /// The root link; `None`: the first.
    pub(super) root: Option<&'a str>,
    /// Omitted links; their children are omitted, too.
    pub(super) without: &'a [String],
    /// The link of the tool; `None`: the last.
    pub(super) tip: Option<&'a str>,
}

/// Parses the description `file`. Joints are in the order of the tree.
pub(super) fn read(file: &str, selection: &Selection<'_>, files: Files<'_>) -> Result<Description, String> {
    let bytes = files(file).map_err(|reason| format!("{file}: {reason}"))?;
    let (text, note) = dragoman_urdf::decode(&bytes);
    let described = dragoman_urdf::Description::parse(&text).map_err(|error| format!("{file}: {error}"))?;
    let mut found = tree(&described, files)
        .and_then(|tree| selected(tree, selection))
        .and_then(|found| if selection.tip.is_some() { without_faults(&described, found) } else { Ok(found) })
        .map_err(|reason| format!("{file}: {reason}"))?;
    let of_text = note.iter().chain(&described.notes).map(ToString::to_string);
    found.notes = of_text.chain(found.notes).map(|note| format!("{file}: {note}")).collect();
    found.text = (found.links.len() == described.robot.links.len()).then_some(text);
    Ok(found)
}

/// The joints that move a named tool must be without faults: otherwise the arm would move differently from the real
/// one.
fn without_faults(described: &dragoman_urdf::Description, found: Description) -> Result<Description, String> {
    let mut at = Some(found.tool.0);
    while let Some(link) = at.and_then(|at| found.links.get(at)) {
        at = link.parent;
        let joint = described.robot.joints.iter().find(|joint| at.is_some() && joint.child.link == link.name);
        let fault = joint.and_then(|joint| described.fault(&About::Joint(joint.name.clone())));
        if let Some(note) = fault {
            return Err(note.fault().to_string());
        }
    }
    Ok(found)
}

fn tree(described: &dragoman_urdf::Description, files: Files<'_>) -> Result<Description, String> {
    let robot = &described.robot;
    let of_link = |name: &str| robot.links.iter().find(|link| link.name == name);
    let Some(root) = of_link(&described.root) else { return Err("there are no links".to_owned()) };
    // Materials defined in a link are valid in the other links, too.
    let own = robot.links.iter().flat_map(|link| &link.visual).filter_map(|visual| visual.material.as_ref());
    let materials: Vec<&Material> =
        robot.materials.iter().chain(own).filter(|known| known.color.is_some()).collect();
    let mut notes = Vec::new();
    let mut found = Description {
        joints: Vec::new(),
        links: vec![link(root, None, Isometry3::identity(), &mut notes)],
        tool: (0, Isometry3::identity()),
        shapes: vec![shapes(root, &materials, files, &mut notes)],
        origin: Isometry3::identity(),
        text: None,
        notes: Vec::new(),
    };
    let mut mimics = Vec::new();
    let mut done = 0;
    while let Some(parent) = found.links.get(done).map(|link| link.name.clone()) {
        for joint in robot.joints.iter().filter(|joint| joint.parent.link == parent) {
            let Some(child) = of_link(&joint.child.link) else { continue };
            let before = placed(&joint.origin).map_err(|reason| format!("joint {}: {reason}", joint.name))?;
            let mut link = link(child, Some(done), before, &mut notes);
            if let Some((moved, axis)) = movable(joint, &mut notes) {
                match &joint.mimic {
                    Some(mimic) => mimics.push((found.links.len(), joint, mimic, moved.kind, axis)),
                    None => {
                        link.motion = Some(LinkMotion::of(found.joints.len(), moved.kind, axis));
                        found.joints.push(moved);
                    }
                }
            }
            found.links.push(link);
            found.shapes.push(shapes(child, &materials, files, &mut notes));
        }
        done += 1;
    }
    for (link, joint, mimic, kind, axis) in mimics {
        let (factor, offset) = (mimic.multiplier.unwrap_or(1.0), mimic.offset.unwrap_or(0.0));
        let source = found.joints.iter().position(|source| source.name == mimic.joint);
        // Written such that NaN fails.
        if !(factor.abs() <= MAX_ANGLE && offset.abs() <= MAX_ANGLE) {
            return Err(format!("joint {}: mimic by {factor} and {offset}", joint.name));
        }
        // One that follows a joint that does not move stands still, too.
        let Some(source) = source else {
            notes.push(format!(
                "joint {}: the joint {} does not move, nor does this one",
                joint.name, mimic.joint
            ));
            continue;
        };
        if let Some(link) = found.links.get_mut(link) {
            link.motion = Some(LinkMotion { joint: source, kind, axis, factor, offset, mimics: true });
        }
    }
    found.notes = notes;
    Ok(found)
}

/// The selected links and the joints that move them.
fn selected(tree: Description, selection: &Selection<'_>) -> Result<Description, String> {
    let named = |name: &str| {
        let found = tree.links.iter().position(|link| link.name == name);
        found.ok_or_else(|| format!("there is no link {name}"))
    };
    let root = selection.root.map_or(Ok(0), named)?;
    let without = selection.without.iter().map(|name| named(name)).collect::<Result<Vec<_>, _>>()?;
    let zero = Arm::new(tree.joints.clone(), tree.links.clone(), tree.tool);
    let origin = zero.link_poses(&Isometry3::identity()).get(root).copied().unwrap_or_default();
    // The new index of every link.
    let mut numbers: Vec<Option<usize>> = vec![None; tree.links.len()];
    let mut joint_numbers: Vec<Option<usize>> = vec![None; tree.joints.len()];
    let mut found = Description {
        joints: Vec::new(),
        links: Vec::new(),
        tool: tree.tool,
        shapes: Vec::new(),
        origin,
        text: None,
        notes: tree.notes,
    };
    for (at, (mut link, shapes)) in tree.links.into_iter().zip(tree.shapes).enumerate() {
        link.parent = link.parent.and_then(|parent| numbers.get(parent).copied().flatten());
        if at == root {
            (link.parent, link.motion, link.before) = (None, None, Isometry3::identity());
        } else if link.parent.is_none() || without.contains(&at) {
            continue;
        }
        if let Some(number) = numbers.get_mut(at) {
            *number = Some(found.links.len());
        }
        found.links.push(link);
        found.shapes.push(shapes);
    }
    for motion in found.links.iter().filter_map(|link| link.motion.filter(|motion| !motion.mimics)) {
        let (old, new) = (joint_numbers.get_mut(motion.joint), tree.joints.get(motion.joint));
        if let (Some(number), Some(joint)) = (old, new) {
            *number = Some(found.joints.len());
            found.joints.push(joint.clone());
        }
    }
    for link in &mut found.links {
        if let Some(motion) = &mut link.motion {
            let number = joint_numbers.get(motion.joint).copied().flatten();
            motion.joint =
                number.ok_or_else(|| format!("link {}: it follows a joint that is left out", link.name))?;
        }
    }
    let tip = match selection.tip {
        Some(tip) => found.links.iter().position(|link| link.name == tip),
        None => found.links.len().checked_sub(1),
    };
    found.tool.0 = tip.ok_or("there is no link with the name tip_link")?;
    Ok(found)
}

fn link(
    link: &urdf_rs::Link,
    parent: Option<usize>,
    before: Isometry3<f64>,
    notes: &mut Vec<String>,
) -> ArmLink {
    let mut mass = link.inertial.mass.value;
    let centre = placed(&link.inertial.origin);
    if mass > MAX_SIZE || centre.is_err() {
        notes.push(format!(
            "link {}: mass {mass:e} kg, or its place, is too large: it has no mass",
            link.name
        ));
        mass = 0.0;
    }
    let centre_of_mass = Point3::from(centre.unwrap_or_default().translation.vector);
    let after = Isometry3::identity();
    ArmLink { name: link.name.clone(), parent, before, motion: None, after, mass, centre_of_mass }
}

/// A moving joint, and its axis.
type Moved = (ArmJoint, Unit<Vector3<f64>>);

fn movable(joint: &urdf_rs::Joint, notes: &mut Vec<String>) -> Option<Moved> {
    let name = &joint.name;
    if matches!(joint.joint_type, JointType::Fixed) {
        return None;
    }
    let mut fixed = |reason: &str| {
        notes.push(format!("joint {name}: {reason}; it is fixed here"));
        None
    };
    let Some(kind) = joint_kind(&joint.joint_type) else {
        return fixed("only revolute, continuous and prismatic joints move");
    };
    let (lower, upper) = match joint.joint_type {
        JointType::Continuous => (-MAX_ANGLE, MAX_ANGLE),
        // Larger ones mean that there are none.
        _ => (joint.limit.lower.max(-MAX_ANGLE), joint.limit.upper.min(MAX_ANGLE)),
    };
    if lower >= upper {
        return fixed(&format!("limits {lower} to {upper}"));
    }
    let axis = Unit::new_normalize(Vector3::from(*joint.axis.xyz));
    Some((ArmJoint { name: name.clone(), kind, lower, upper, position: 0.0 }, axis))
}

fn shapes(
    link: &urdf_rs::Link,
    materials: &[&Material],
    files: Files<'_>,
    notes: &mut Vec<String>,
) -> LinkShapes {
    let color = |visual: &urdf_rs::Visual| {
        let color = visual.material.as_ref().and_then(|own| {
            let named = || materials.iter().find(|known| known.name == own.name)?.color.as_ref();
            own.color.as_ref().or_else(named)
        });
        color.map_or(GREY, |color| *color.rgba)
    };
    let mut left_out = |reason| notes.push(format!("link {}: {reason}: the shape is left out", link.name));
    let mut kept = |found: Result<Shape, String>| found.map_err(&mut left_out).ok();
    let look = link.visual.iter().map(|visual| shape(&visual.geometry, &visual.origin, color(visual), files));
    let look = look.filter_map(&mut kept).collect();
    let solids = link.collision.iter().map(|solid| shape(&solid.geometry, &solid.origin, GREY, files));
    (look, solids.filter_map(&mut kept).collect())
}

fn shape(
    geometry: &urdf_rs::Geometry,
    origin: &Pose,
    color: [f64; 4],
    files: Files<'_>,
) -> Result<Shape, String> {
    let sizes = |sizes: &[f64]| {
        // Written such that NaN fails.
        match sizes.iter().find(|size| !(**size >= 1e-6 && **size <= MAX_SIZE)) {
            Some(size) => Err(format!("size {size} m")),
            None => Ok(()),
        }
    };
    let geometry = match geometry {
        urdf_rs::Geometry::Box { size } => {
            sizes(&**size)?;
            Geometry::Box { size: **size }
        }
        urdf_rs::Geometry::Cylinder { radius, length } => {
            sizes(&[*radius, *length])?;
            Geometry::Cylinder { radius: *radius, length: *length }
        }
        urdf_rs::Geometry::Sphere { radius } => {
            sizes(&[*radius])?;
            Geometry::Sphere { radius: *radius }
        }
        urdf_rs::Geometry::Mesh { filename, scale } => {
            let bytes = files(filename).map_err(|reason| format!("{filename}: {reason}"))?;
            let scale = scale.map_or([1.0; 3], |scale| *scale);
            Geometry::Mesh { mesh: Arc::new(Mesh::parse(filename, &bytes, scale)?), convex: false }
        }
        urdf_rs::Geometry::Capsule { .. } => return Err("a capsule".to_owned()),
    };
    Ok(Shape { geometry, pose: placed(origin)?, color })
}

fn placed(origin: &Pose) -> Result<Isometry3<f64>, String> {
    let (xyz, rpy) = (*origin.xyz, *origin.rpy);
    let fits = |values: [f64; 3], most: f64| values.iter().all(|value| value.abs() <= most);
    if fits(xyz, MAX_SIZE) && fits(rpy, MAX_ANGLE) {
        return Ok(pose(xyz, rpy));
    }
    Err(format!("origin {xyz:?}, {rpy:?}"))
}

fn joint_kind(kind: &urdf_rs::JointType) -> Option<JointKind> {
    match kind {
        urdf_rs::JointType::Revolute | urdf_rs::JointType::Continuous => Some(JointKind::Revolute),
        urdf_rs::JointType::Prismatic => Some(JointKind::Prismatic),
        _ => None,
    }
}

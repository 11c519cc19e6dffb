//! Links, joints and shapes of a URDF, as a tree. The solver's model in `dragoman_kinematics` is one chain without
//! shapes.

use std::sync::Arc;

use nalgebra::{Isometry3, Point3, Unit, Vector3};
use urdf_rs::{JointType, Material, Pose};

use super::arm::{Arm, ArmJoint, ArmLink, LinkMotion};
use super::build::GREY;
use super::file::{JointKind, LARGEST, LARGEST_ANGLE};
use super::geometry::pose;
use super::state::Shape;
use super::{Files, Geometry, Mesh};

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
    let text = std::str::from_utf8(&bytes).map_err(|_| format!("{file} is not UTF-8 text"))?;
    let robot = urdf_rs::read_from_string(text).map_err(|error| format!("{file}: {error}"))?;
    let mut found = tree(&robot, files)
        .and_then(|tree| selected(tree, selection))
        .map_err(|reason| format!("{file}: {reason}"))?;
    found.text = (found.links.len() == robot.links.len()).then(|| text.to_owned());
    Ok(found)
}

fn tree(robot: &urdf_rs::Robot, files: Files<'_>) -> Result<Description, String> {
    let is_child = |link: &str| robot.joints.iter().any(|joint| joint.child.link == link);
    let mut roots = robot.links.iter().filter(|link| !is_child(&link.name));
    let (Some(root), None) = (roots.next(), roots.next()) else {
        return Err("the links are not a tree with one root".to_owned());
    };
    // Materials defined in a link are valid in the other links, too.
    let own = robot.links.iter().flat_map(|link| &link.visual).filter_map(|visual| visual.material.as_ref());
    let materials: Vec<&Material> =
        robot.materials.iter().chain(own).filter(|known| known.color.is_some()).collect();
    let mut found = Description {
        joints: Vec::new(),
        links: vec![link(root, None, Isometry3::identity())?],
        tool: (0, Isometry3::identity()),
        shapes: vec![shapes(root, &materials, files)?],
        origin: Isometry3::identity(),
        text: None,
    };
    let mut mimics = Vec::new();
    let mut done = 0;
    while let Some(parent) = found.links.get(done).map(|link| link.name.clone()) {
        for joint in robot.joints.iter().filter(|joint| joint.parent.link == parent) {
            let child = robot.links.iter().find(|link| link.name == joint.child.link);
            let child =
                child.ok_or_else(|| format!("joint {}: there is no {}", joint.name, joint.child.link))?;
            if found.links.iter().any(|known| known.name == child.name) {
                return Err(format!("link {} occurs twice, or has two parents", child.name));
            }
            let mut link = link(child, Some(done), placed(&joint.origin, &joint.name)?)?;
            if let Some((moved, axis)) = movable(joint)? {
                match &joint.mimic {
                    Some(mimic) => mimics.push((found.links.len(), joint, mimic, moved.kind, axis)),
                    None => {
                        link.motion = Some(LinkMotion::of(found.joints.len(), moved.kind, axis));
                        found.joints.push(moved);
                    }
                }
            }
            found.links.push(link);
            found.shapes.push(shapes(child, &materials, files)?);
        }
        done += 1;
    }
    if found.links.len() != robot.links.len() {
        return Err("the links are not a tree".to_owned());
    }
    for (link, joint, mimic, kind, axis) in mimics {
        let (factor, offset) = (mimic.multiplier.unwrap_or(1.0), mimic.offset.unwrap_or(0.0));
        let source = found.joints.iter().position(|source| source.name == mimic.joint);
        // Written such that NaN fails.
        if !(factor.abs() <= LARGEST_ANGLE && offset.abs() <= LARGEST_ANGLE) {
            return Err(format!("joint {}: mimic by {factor} and {offset}", joint.name));
        }
        let Some(source) = source else {
            return Err(format!("joint {}: there is no joint {} to mimic", joint.name, mimic.joint));
        };
        if let Some(link) = found.links.get_mut(link) {
            link.motion = Some(LinkMotion { joint: source, kind, axis, factor, offset, mimics: true });
        }
    }
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

fn link(link: &urdf_rs::Link, parent: Option<usize>, before: Isometry3<f64>) -> Result<ArmLink, String> {
    let mass = link.inertial.mass.value;
    // Written such that NaN fails.
    if !(0.0..=LARGEST).contains(&mass) {
        return Err(format!("link {}: mass {mass} kg", link.name));
    }
    let centre = placed(&link.inertial.origin, &link.name)?.translation.vector;
    let centre_of_mass = Point3::from(centre);
    let after = Isometry3::identity();
    Ok(ArmLink { name: link.name.clone(), parent, before, motion: None, after, mass, centre_of_mass })
}

/// A moving joint, and its axis.
type Moved = (ArmJoint, Unit<Vector3<f64>>);

fn movable(joint: &urdf_rs::Joint) -> Result<Option<Moved>, String> {
    let name = &joint.name;
    if matches!(joint.joint_type, JointType::Fixed) {
        return Ok(None);
    }
    let Some(kind) = JointKind::of(&joint.joint_type) else {
        return Err(format!("joint {name}: only fixed, revolute, continuous and prismatic joints"));
    };
    let (lower, upper) = match joint.joint_type {
        JointType::Continuous => (-LARGEST_ANGLE, LARGEST_ANGLE),
        _ => (joint.limit.lower, joint.limit.upper),
    };
    // Written such that NaN fails.
    if !(lower < upper && lower >= -LARGEST_ANGLE && upper <= LARGEST_ANGLE) {
        return Err(format!("joint {name}: limits {lower} to {upper}"));
    }
    let [x, y, z] = *joint.axis.xyz;
    let axis = Unit::try_new(Vector3::new(x, y, z), 1e-9).filter(|axis| (axis.norm() - 1.0).abs() < 1e-9);
    let axis = axis.ok_or_else(|| format!("joint {name}: its axis has no direction"))?;
    Ok(Some((ArmJoint { name: name.clone(), kind, lower, upper, position: 0.0 }, axis)))
}

fn shapes(link: &urdf_rs::Link, materials: &[&Material], files: Files<'_>) -> Result<LinkShapes, String> {
    let color = |visual: &urdf_rs::Visual| {
        let color = visual.material.as_ref().and_then(|own| {
            let named = || materials.iter().find(|known| known.name == own.name)?.color.as_ref();
            own.color.as_ref().or_else(named)
        });
        color.map_or(GREY, |color| *color.rgba)
    };
    let look =
        link.visual.iter().map(|visual| shape(&visual.geometry, &visual.origin, color(visual), link, files));
    let solids = link.collision.iter().map(|solid| shape(&solid.geometry, &solid.origin, GREY, link, files));
    Ok((look.collect::<Result<_, _>>()?, solids.collect::<Result<_, _>>()?))
}

fn shape(
    geometry: &urdf_rs::Geometry,
    origin: &Pose,
    color: [f64; 4],
    link: &urdf_rs::Link,
    files: Files<'_>,
) -> Result<Shape, String> {
    let sizes = |sizes: &[f64]| {
        // Written such that NaN fails.
        match sizes.iter().find(|size| !(**size >= 1e-6 && **size <= LARGEST)) {
            Some(size) => Err(format!("link {}: size {size} m", link.name)),
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
        urdf_rs::Geometry::Capsule { .. } => return Err(format!("link {}: a capsule", link.name)),
    };
    Ok(Shape { geometry, pose: placed(origin, &link.name)?, color })
}

fn placed(origin: &Pose, element: &str) -> Result<Isometry3<f64>, String> {
    let (xyz, rpy) = (*origin.xyz, *origin.rpy);
    let fits = |values: [f64; 3], most: f64| values.iter().all(|value| value.abs() <= most);
    if fits(xyz, LARGEST) && fits(rpy, LARGEST_ANGLE) {
        return Ok(pose(xyz, rpy));
    }
    Err(format!("{element}: origin {xyz:?}, {rpy:?}"))
}

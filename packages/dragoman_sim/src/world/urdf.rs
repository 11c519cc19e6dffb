//! Links, joints and shapes of a URDF, as a tree. The solver's model in `dragoman_kinematics` is one chain without shapes.

use std::sync::Arc;

use nalgebra::{Isometry3, Unit, Vector3};
use urdf_rs::{JointType, Pose};

use super::arm::{ArmJoint, ArmLink};
use super::file::{JointKind, LARGEST, LARGEST_ANGLE};
use super::geometry::pose;
use super::state::Shape;
use super::{Files, Geometry, Mesh};

/// What a link looks like, and what stands for it in collisions.
type LinkShapes = (Vec<Shape>, Vec<Shape>);

/// A robot as a tree of links, parents first.
pub(super) struct Description {
    pub(super) joints: Vec<ArmJoint>,
    pub(super) links: Vec<ArmLink>,
    pub(super) tool: (usize, Isometry3<f64>),
    pub(super) shapes: Vec<LinkShapes>,
}

/// Reads the description `file`. Joints are in the order of the tree; the tool is the link `tip`, or the last one.
pub(super) fn read(file: &str, tip: Option<&str>, files: Files<'_>) -> Result<Description, String> {
    let bytes = files(file).map_err(|reason| format!("{file}: {reason}"))?;
    let text = std::str::from_utf8(&bytes).map_err(|_| format!("{file} is no text"))?;
    let robot = urdf_rs::read_from_string(text).map_err(|error| format!("{file}: {error}"))?;
    tree(&robot, tip, files).map_err(|reason| format!("{file}: {reason}"))
}

fn tree(robot: &urdf_rs::Robot, tip: Option<&str>, files: Files<'_>) -> Result<Description, String> {
    let is_child = |link: &str| robot.joints.iter().any(|joint| joint.child.link == link);
    let mut roots = robot.links.iter().filter(|link| !is_child(&link.name));
    let (Some(root), None) = (roots.next(), roots.next()) else {
        return Err("the links form no tree with one root".to_owned());
    };
    let mut found = Description {
        joints: Vec::new(),
        links: vec![link(root, None, Isometry3::identity(), None)],
        tool: (0, Isometry3::identity()),
        shapes: vec![shapes(root, files)?],
    };
    let mut done = 0;
    while let Some(parent) = found.links.get(done).map(|link| link.name.clone()) {
        for joint in robot.joints.iter().filter(|joint| joint.parent.link == parent) {
            let child = robot.links.iter().find(|link| link.name == joint.child.link);
            let child =
                child.ok_or_else(|| format!("joint {}: there is no {}", joint.name, joint.child.link))?;
            if found.links.iter().any(|known| known.name == child.name) {
                return Err(format!("link {} is there twice, or has two parents", child.name));
            }
            let before = placed(&joint.origin, &joint.name)?;
            let moved_by = match movable(joint)? {
                Some(moved) => {
                    found.joints.push(moved);
                    Some(found.joints.len() - 1)
                }
                None => None,
            };
            found.links.push(link(child, Some(done), before, moved_by));
            found.shapes.push(shapes(child, files)?);
        }
        done += 1;
    }
    if found.links.len() != robot.links.len() {
        return Err("the links form no tree".to_owned());
    }
    let tip = match tip {
        Some(tip) => found.links.iter().position(|link| link.name == tip),
        None => found.links.len().checked_sub(1),
    };
    found.tool.0 = tip.ok_or("there is no link of tip_link's name")?;
    Ok(found)
}

fn link(
    link: &urdf_rs::Link,
    parent: Option<usize>,
    before: Isometry3<f64>,
    joint: Option<usize>,
) -> ArmLink {
    ArmLink { name: link.name.clone(), parent, before, joint, after: Isometry3::identity() }
}

fn movable(joint: &urdf_rs::Joint) -> Result<Option<ArmJoint>, String> {
    let name = &joint.name;
    if matches!(joint.joint_type, JointType::Fixed) {
        return Ok(None);
    }
    let Some(kind) = JointKind::of(&joint.joint_type).filter(|_| joint.mimic.is_none()) else {
        return Err(format!(
            "joint {name}: only fixed, revolute, continuous and prismatic joints, without mimic"
        ));
    };
    let (lower, upper) = match joint.joint_type {
        JointType::Continuous => (-LARGEST_ANGLE, LARGEST_ANGLE),
        _ => (joint.limit.lower, joint.limit.upper),
    };
    // Written so that NaN fails.
    if !(lower < upper && lower >= -LARGEST_ANGLE && upper <= LARGEST_ANGLE) {
        return Err(format!("joint {name}: limits {lower} to {upper}"));
    }
    let [x, y, z] = *joint.axis.xyz;
    let axis = Unit::try_new(Vector3::new(x, y, z), 1e-9).filter(|axis| (axis.norm() - 1.0).abs() < 1e-9);
    let axis = axis.ok_or_else(|| format!("joint {name}: its axis has no direction"))?;
    Ok(Some(ArmJoint { name: name.clone(), kind, lower, upper, position: 0.0, axis }))
}

fn shapes(link: &urdf_rs::Link, files: Files<'_>) -> Result<LinkShapes, String> {
    let color = |visual: &urdf_rs::Visual| {
        let color = visual.material.as_ref().and_then(|material| material.color.as_ref());
        color.map_or([0.7, 0.7, 0.7, 1.0], |color| *color.rgba)
    };
    let look =
        link.visual.iter().map(|visual| shape(&visual.geometry, &visual.origin, color(visual), link, files));
    let solids = link
        .collision
        .iter()
        .map(|solid| shape(&solid.geometry, &solid.origin, [0.7, 0.7, 0.7, 1.0], link, files));
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
        // Written so that NaN fails.
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

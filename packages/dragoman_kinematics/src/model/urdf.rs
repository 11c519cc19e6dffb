//! URDF: `dragoman_urdf` reads the text, `k` builds the tree, this file folds the fixed joints. What the chain needs must be
//! without faults.

use super::settings::Origin;
use super::{Joint, JointKind, Link, MAX_POSITION, Model, ModelError, Placement};
use dragoman_urdf::{About, Description};
use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use std::collections::{BTreeMap, BTreeSet};
use urdf_rs::{JointType, Pose, Vec3};

pub(super) fn parse(xml: &str, base: Option<&str>, tip: Option<&str>) -> Result<Model, ModelError> {
    let description = read(xml)?;
    let robot = &description.robot;
    let base = known_link(robot, base.unwrap_or(&description.root), "the base link")?;
    let tip = match tip {
        Some(tip) => known_link(robot, tip, "the tip link")?,
        None => only_moving_leaf(robot)?,
    };
    let chain = path(robot, base, tip)?;
    let mut parts = Vec::new();
    // Product of the fixed joints since the last movable joint.
    let mut pending = Isometry3::identity();
    for joint in &chain {
        check(&description, &About::Joint(joint.name.clone()))?;
        pending *= origin_of(joint);
        if let Some(kind) = kind_of(joint)? {
            if let Some(mimic) = &joint.mimic {
                let (joint, source_joint) = (joint.name.clone(), mimic.joint.clone());
                return Err(ModelError::Mimic { joint, source_joint });
            }
            let axis = axis_of(joint);
            parts.push((joint_of(joint, kind), Placement { origin: pending, axis }));
            pending = Isometry3::identity();
        }
    }
    let links = links_moved_by(&chain, robot, base);
    Model::assemble(robot.name.clone(), base.to_owned(), tip.to_owned(), parts, pending, links)
}

/// The text with other origins of these joints.
pub(super) fn with_origins(xml: &str, origins: &BTreeMap<String, Origin>) -> Result<String, ModelError> {
    let robot = read(xml)?.robot;
    for name in origins.keys() {
        if !robot.joints.iter().any(|joint| joint.name == *name) {
            let referrer = "calibration.origins".to_owned();
            return Err(ModelError::Missing { name: name.clone(), referrer });
        }
    }
    let pose = |origin: &Origin| Pose { xyz: Vec3(origin.xyz), rpy: Vec3(origin.rpy) };
    let poses = origins.iter().map(|(name, origin)| (name.clone(), pose(origin))).collect();
    dragoman_urdf::with_origins(xml, &poses).map_err(|error| ModelError::Urdf { reason: error.to_string() })
}

/// The origins that the joints from `base` to `tip` need, so that the chain has the geometry of `corrected`. Fixed joints
/// before a movable one keep theirs; the last fixed one takes the tool's.
pub(super) fn origins_of(
    xml: &str,
    base: &str,
    tip: &str,
    corrected: &Model,
) -> Result<BTreeMap<String, Origin>, ModelError> {
    let robot = read(xml)?.robot;
    let chain =
        path(&robot, known_link(&robot, base, "the base link")?, known_link(&robot, tip, "the tip link")?)?;
    let mut placements = corrected.placements().iter();
    let mut pending = Isometry3::identity();
    let mut before_last = Isometry3::identity();
    let mut origins = BTreeMap::new();
    let rounded = |name: &str, pose: Isometry3<f64>| {
        let (roll, pitch, yaw) = pose.rotation.euler_angles();
        // A nanometre; shorter to read.
        let digits = |value: f64| (value * 1e9).round() / 1e9 + 0.0;
        let at = pose.translation.vector;
        let origin = Origin { xyz: [at.x, at.y, at.z].map(digits), rpy: [roll, pitch, yaw].map(digits) };
        (name.to_owned(), origin)
    };
    for joint in &chain {
        before_last = pending;
        pending *= origin_of(joint);
        if kind_of(joint)?.is_some()
            && let Some(placement) = placements.next()
        {
            origins.extend([rounded(&joint.name, before_last.inverse() * placement.origin)]);
            pending = Isometry3::identity();
        }
    }
    match chain.last() {
        Some(last) if kind_of(last)?.is_none() => {
            origins.extend([rounded(&last.name, before_last.inverse() * corrected.tool())]);
        }
        _ if corrected.tool().translation.vector.norm() < 1e-9 => {}
        _ => return Err(ModelError::NoToolJoint { tip: tip.to_owned() }),
    }
    Ok(origins)
}

/// The links that descend from `base` by joints of `chain` and fixed joints only, each after its parent.
fn links_moved_by(chain: &[&urdf_rs::Joint], robot: &urdf_rs::Robot, base: &str) -> Vec<Link> {
    let mut links = vec![Link { name: base.to_owned(), joints_below: 0, offset: Isometry3::identity() }];
    let mut done = 0;
    while let Some(parent) = links.get(done).cloned() {
        done += 1;
        for joint in robot.joints.iter().filter(|joint| joint.parent.link == parent.name) {
            let name = joint.child.link.clone();
            if matches!(joint.joint_type, JointType::Fixed) {
                let offset = parent.offset * origin_of(joint);
                links.push(Link { name, offset, ..parent });
            } else if chain.iter().any(|moving| moving.name == joint.name) {
                let joints_below = parent.joints_below + 1;
                links.push(Link { name, joints_below, offset: Isometry3::identity() });
            }
        }
    }
    links
}

/// Reads a description that `k` accepts.
pub(crate) fn read(xml: &str) -> Result<Description, ModelError> {
    Description::parse(xml).map_err(|error| ModelError::Urdf { reason: error.to_string() })
}

/// The first note about this, as an error.
pub(crate) fn check(description: &Description, about: &About) -> Result<(), ModelError> {
    match description.fault(about) {
        Some(note) => Err(ModelError::Urdf { reason: note.fault().to_string() }),
        None => Ok(()),
    }
}

fn known_link<'a>(robot: &'a urdf_rs::Robot, name: &str, referrer: &str) -> Result<&'a str, ModelError> {
    let link = robot.links.iter().find(|link| link.name == name);
    link.map(|link| link.name.as_str())
        .ok_or_else(|| ModelError::Missing { name: name.to_owned(), referrer: referrer.to_owned() })
}

/// The only leaf that a joint moves; fixed parts and frames, such as the body of the root, do not count.
fn only_moving_leaf(robot: &urdf_rs::Robot) -> Result<&str, ModelError> {
    let parents: BTreeSet<&str> = robot.joints.iter().map(|joint| joint.parent.link.as_str()).collect();
    let mut leaves = robot
        .links
        .iter()
        .map(|link| link.name.as_str())
        .filter(|name| !parents.contains(name) && is_moved(robot, name));
    match (leaves.next(), leaves.next()) {
        (Some(leaf), None) => Ok(leaf),
        (None, _) => Err(ModelError::NoJoints),
        (Some(first), Some(second)) => {
            let candidates = [first, second].into_iter().chain(leaves).map(str::to_owned).collect();
            Err(ModelError::AmbiguousTip { candidates })
        }
    }
}

/// Whether a joint moves the link relative to the root.
fn is_moved(robot: &urdf_rs::Robot, link: &str) -> bool {
    let carrier = |link: &str| robot.joints.iter().find(|joint| joint.child.link == link);
    std::iter::successors(carrier(link), |joint| carrier(&joint.parent.link))
        .any(|joint| !matches!(joint.joint_type, JointType::Fixed))
}

/// The joints from `base` to `tip`, read off the tree that `k` built.
fn path<'a>(robot: &'a urdf_rs::Robot, base: &str, tip: &str) -> Result<Vec<&'a urdf_rs::Joint>, ModelError> {
    let tree = k::Chain::<f64>::from(robot);
    let ends = tree.find_link(base).zip(tree.find_link(tip));
    let nodes = ends.map(|(base, tip)| k::Chain::from_end_to_root(tip, base));
    let mut nodes = nodes.iter().flat_map(k::Chain::iter);
    // Without the base in between, the chain begins at the root.
    if nodes.next() != tree.find_link(base) {
        return Err(ModelError::NotConnected { base: base.to_owned(), tip: tip.to_owned() });
    }
    let declared = |node: &k::Node<f64>| robot.joints.iter().find(|joint| joint.name == node.joint().name);
    Ok(nodes.filter_map(declared).collect())
}

/// Whether a joint turns or slides; `None` if it is fixed.
fn kind_of(joint: &urdf_rs::Joint) -> Result<Option<JointKind>, ModelError> {
    match joint.joint_type {
        JointType::Revolute | JointType::Continuous => Ok(Some(JointKind::Revolute)),
        JointType::Prismatic => Ok(Some(JointKind::Prismatic)),
        JointType::Fixed => Ok(None),
        ref other => {
            let kind = format!("{other:?}").to_lowercase();
            Err(ModelError::JointType { joint: joint.name.clone(), kind })
        }
    }
}

fn joint_of(joint: &urdf_rs::Joint, kind: JointKind) -> Joint {
    let limit = &joint.limit;
    // Limits that no joint reaches mean that there are none.
    let is_unlimited = limit.lower <= -MAX_POSITION && limit.upper >= MAX_POSITION;
    let (lower, upper) = match joint.joint_type {
        JointType::Continuous => (f64::NEG_INFINITY, f64::INFINITY),
        _ if is_unlimited => (f64::NEG_INFINITY, f64::INFINITY),
        _ => (limit.lower.max(-MAX_POSITION), limit.upper.min(MAX_POSITION)),
    };
    // The element is required and has no value for "none", so exporters write zero.
    let velocity = if limit.velocity == 0.0 { f64::INFINITY } else { limit.velocity };
    Joint { name: joint.name.clone(), kind, lower, upper, velocity, acceleration: f64::INFINITY }
}

pub(crate) fn origin_of(joint: &urdf_rs::Joint) -> Isometry3<f64> {
    let [x, y, z] = *joint.origin.xyz;
    let [roll, pitch, yaw] = *joint.origin.rpy;
    Isometry3::from_parts(Translation3::new(x, y, z), UnitQuaternion::from_euler_angles(roll, pitch, yaw))
}

/// The reader makes sure that it has a direction.
fn axis_of(joint: &urdf_rs::Joint) -> Unit<Vector3<f64>> {
    Unit::new_normalize(Vector3::from(*joint.axis.xyz))
}

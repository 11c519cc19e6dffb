//! The links of a description as a tree with any branches.

use std::collections::HashMap;

use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};
use urdf_rs::JointType;

use super::merge::Merged;
use crate::ModelError;
use crate::model::urdf::{axis_of, check_tree, origin_of};

/// All links of a robot, with the joints between them. Metres and radians.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    name: String,
    root: String,
    /// Ordered: each after its parent.
    joints: Vec<TreeJoint>,
}

/// Pose of a link in the frame of its parent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Transform<'a> {
    /// Name of the parent link.
    pub parent: &'a str,
    /// Name of the child link.
    pub child: &'a str,
    /// Pose of the child, in the frame of the parent.
    pub pose: Isometry3<f64>,
}

#[derive(Debug, Clone, PartialEq)]
struct TreeJoint {
    name: String,
    parent: String,
    child: String,
    origin: Isometry3<f64>,
    motion: Motion,
}

#[derive(Debug, Clone, PartialEq)]
enum Motion {
    Fixed,
    Turns { axis: Unit<Vector3<f64>>, follows: Follows },
    Slides { axis: Unit<Vector3<f64>>, follows: Follows },
}

/// The motion of a joint: `multiplier * position + offset` of an independent joint, itself or another one.
#[derive(Debug, Clone, PartialEq)]
struct Follows {
    joint: String,
    multiplier: f64,
    offset: f64,
}

impl Follows {
    fn position(&self, of: f64) -> f64 {
        self.multiplier * of + self.offset
    }
}

impl Tree {
    /// Reads a description in URDF.
    ///
    /// # Errors
    /// The text is not URDF; the links do not form a tree; joints with several degrees of freedom; numbers that are not
    /// finite; joints that mimic each other in a circle, or a fixed one.
    pub fn from_urdf(xml: &str) -> Result<Self, ModelError> {
        let robot =
            urdf_rs::read_from_string(xml).map_err(|error| ModelError::Urdf { reason: error.to_string() })?;
        let root = check_tree(&robot)?;
        let mut joints: Vec<TreeJoint> = Vec::with_capacity(robot.joints.len());
        let mut reached = vec![root.as_str()];
        let mut next = 0;
        while let Some(&link) = reached.get(next) {
            next += 1;
            for joint in robot.joints.iter().filter(|joint| joint.parent.link == link) {
                joints.push(tree_joint(&robot, joint)?);
                reached.push(&joint.child.link);
            }
        }
        Ok(Self { name: robot.name.clone(), root, joints })
    }

    /// The robot's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The root link.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// Names of the independent joints, whose positions are inputs.
    pub fn joint_names(&self) -> impl Iterator<Item = &str> {
        let own = |joint: &&TreeJoint| joint.follows().is_some_and(|follows| follows.joint == joint.name);
        self.joints.iter().filter(own).map(|joint| joint.name.as_str())
    }

    /// The transforms of fixed joints.
    pub fn fixed(&self) -> impl Iterator<Item = Transform<'_>> {
        self.joints.iter().filter(|joint| joint.motion == Motion::Fixed).map(|joint| joint.at(0.0))
    }

    /// The transforms of moving joints, as far as `position` knows their positions (rad or m).
    pub fn moving(&self, position: impl Fn(&str) -> Option<f64>) -> Vec<Transform<'_>> {
        let moved = |joint: &'_ TreeJoint| {
            let follows = joint.follows()?;
            Some(follows.position(position(&follows.joint)?))
        };
        self.joints.iter().filter_map(|joint| Some(joint.at(moved(joint)?))).collect()
    }

    /// Poses of all links in the root frame, of each after its parent; without those behind a joint whose position is
    /// unknown.
    pub fn poses(&self, position: impl Fn(&str) -> Option<f64>) -> Vec<(&str, Isometry3<f64>)> {
        let mut poses = vec![(self.root.as_str(), Isometry3::identity())];
        let mut at: HashMap<&str, Isometry3<f64>> = poses.iter().copied().collect();
        for joint in &self.joints {
            let moved = match joint.follows() {
                None => Some(0.0),
                Some(follows) => position(&follows.joint).map(|of| follows.position(of)),
            };
            if let (Some(parent), Some(moved)) = (at.get(joint.parent.as_str()), moved) {
                let pose = parent * joint.at(moved).pose;
                at.insert(&joint.child, pose);
                poses.push((&joint.child, pose));
            }
        }
        poses
    }

    /// Adds the joints that mimic those of `state`, unless it already contains them.
    pub fn complete(&self, state: &mut Merged) {
        for joint in &self.joints {
            let Some(follows) = joint.follows().filter(|follows| follows.joint != joint.name) else {
                continue;
            };
            let index_of = |name: &String| state.names.iter().position(|known| known == name);
            let Some(source) = index_of(&follows.joint).filter(|_| index_of(&joint.name).is_none()) else {
                continue;
            };
            let [position, velocity] =
                [&state.positions, &state.velocities].map(|values| values.get(source).copied());
            let Some(position) = position else { continue };
            state.names.push(joint.name.clone());
            state.positions.push(follows.position(position));
            if let Some(velocity) = velocity {
                state.velocities.push(follows.multiplier * velocity);
            }
            if !state.efforts.is_empty() {
                state.efforts.push(f64::NAN);
            }
        }
    }
}

impl TreeJoint {
    fn follows(&self) -> Option<&Follows> {
        match &self.motion {
            Motion::Fixed => None,
            Motion::Turns { follows, .. } | Motion::Slides { follows, .. } => Some(follows),
        }
    }

    fn at(&self, position: f64) -> Transform<'_> {
        let pose = match &self.motion {
            Motion::Fixed => self.origin,
            Motion::Turns { axis, .. } => self.origin * UnitQuaternion::from_axis_angle(axis, position),
            Motion::Slides { axis, .. } => self.origin * Translation3::from(axis.into_inner() * position),
        };
        Transform { parent: &self.parent, child: &self.child, pose }
    }
}

fn tree_joint(robot: &urdf_rs::Robot, joint: &urdf_rs::Joint) -> Result<TreeJoint, ModelError> {
    let motion = match joint.joint_type {
        JointType::Fixed => Motion::Fixed,
        JointType::Revolute | JointType::Continuous => {
            Motion::Turns { axis: axis_of(joint)?, follows: followed(robot, joint)? }
        }
        JointType::Prismatic => Motion::Slides { axis: axis_of(joint)?, follows: followed(robot, joint)? },
        ref other => {
            let kind = format!("{other:?}").to_lowercase();
            return Err(ModelError::JointType { joint: joint.name.clone(), kind });
        }
    };
    Ok(TreeJoint {
        name: joint.name.clone(),
        parent: joint.parent.link.clone(),
        child: joint.child.link.clone(),
        origin: origin_of(joint)?,
        motion,
    })
}

/// The independent joint at the end of a chain of mimic joints.
fn followed(robot: &urdf_rs::Robot, joint: &urdf_rs::Joint) -> Result<Follows, ModelError> {
    let mut follows = Follows { joint: joint.name.clone(), multiplier: 1.0, offset: 0.0 };
    let mut current = joint;
    for _ in &robot.joints {
        let Some(mimic) = &current.mimic else { return Ok(follows) };
        let (multiplier, offset) = (mimic.multiplier.unwrap_or(1.0), mimic.offset.unwrap_or(0.0));
        for (field, value) in [("multiplier", multiplier), ("offset", offset)] {
            if !value.is_finite() {
                return Err(ModelError::NotFinite { element: current.name.clone(), field, value });
            }
        }
        follows.offset += follows.multiplier * offset;
        follows.multiplier *= multiplier;
        let moves = |other: &&urdf_rs::Joint| {
            other.name == mimic.joint && !matches!(other.joint_type, JointType::Fixed)
        };
        current = robot.joints.iter().find(moves).ok_or_else(|| ModelError::Missing {
            name: mimic.joint.clone(),
            referrer: current.name.clone(),
        })?;
        follows.joint.clone_from(&current.name);
    }
    Err(ModelError::MimicCircle { joint: joint.name.clone() })
}

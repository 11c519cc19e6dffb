//! The links of a description as a tree with any branches, which `k` carries.

use dragoman_urdf::{Description, Note};
use nalgebra::Isometry3;

use super::merge::Merged;
use crate::ModelError;
use crate::model::urdf::read;

/// All links of a robot, with the joints between them. Metres and radians.
#[derive(Debug, Clone)]
pub struct Tree {
    /// Each joint after that of its parent link.
    chain: k::Chain<f64>,
    /// The motions of its moving joints, in their order.
    motions: Vec<Motion>,
    notes: Vec<Note>,
}

/// Pose of a link in the frame of its parent.
#[derive(Debug, Clone, PartialEq)]
pub struct Transform {
    /// Name of the parent link.
    pub parent: String,
    /// Name of the child link.
    pub child: String,
    /// Pose of the child, in the frame of the parent.
    pub pose: Isometry3<f64>,
}

/// The motion of a joint: `multiplier * position + offset` of an independent joint, itself or another one.
///
/// `k` follows mimic joints too, but only one step, and not beyond their limits, where a measured position may be.
#[derive(Debug, Clone, PartialEq)]
struct Motion {
    joint: String,
    follows: String,
    multiplier: f64,
    offset: f64,
}

impl Motion {
    fn position(&self, of: f64) -> f64 {
        self.multiplier * of + self.offset
    }
}

impl Tree {
    /// Reads a description in URDF.
    ///
    /// # Errors
    /// The text is not URDF; the links do not form a tree. Joints with faults, or several degrees of freedom, are taken as
    /// `dragoman_urdf` has them.
    pub fn from_urdf(xml: &str) -> Result<Self, ModelError> {
        let Description { robot, notes, .. } = read(xml)?;
        let chain = k::Chain::from(&robot);
        let motions = chain.iter_joints().map(|joint| motion(&robot, &joint.name)).collect();
        Ok(Self { chain, motions, notes })
    }

    /// What was left out of the description, or taken otherwise.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Names of the independent joints, whose positions are inputs.
    pub fn joint_names(&self) -> impl Iterator<Item = &str> {
        self.motions
            .iter()
            .filter(|motion| motion.follows == motion.joint)
            .map(|motion| motion.joint.as_str())
    }

    /// The transforms of fixed joints.
    pub fn fixed(&self) -> impl Iterator<Item = Transform> {
        self.chain.iter().filter(|node| !node.joint().is_movable()).filter_map(transform)
    }

    /// The transforms of moving joints, as far as `position` knows their positions (rad or m).
    pub fn moving(&mut self, position: impl Fn(&str) -> Option<f64>) -> Vec<Transform> {
        let moving = self.chain.iter().filter(|node| node.joint().is_movable()).zip(&self.motions);
        let moved = moving.filter_map(|(node, motion)| {
            node.set_joint_position_unchecked(motion.position(position(&motion.follows)?));
            transform(node)
        });
        moved.collect()
    }

    /// Adds the joints that mimic those of `state`, unless it already contains them.
    pub fn complete(&self, state: &mut Merged) {
        for motion in self.motions.iter().filter(|motion| motion.follows != motion.joint) {
            let index_of = |name: &String| state.names.iter().position(|known| known == name);
            let Some(source) = index_of(&motion.follows).filter(|_| index_of(&motion.joint).is_none()) else {
                continue;
            };
            let [position, velocity] =
                [&state.positions, &state.velocities].map(|values| values.get(source).copied());
            let Some(position) = position else { continue };
            state.names.push(motion.joint.clone());
            state.positions.push(motion.position(position));
            if let Some(velocity) = velocity {
                state.velocities.push(motion.multiplier * velocity);
            }
            if !state.efforts.is_empty() {
                state.efforts.push(f64::NAN);
            }
        }
    }
}

/// The transform of a joint at its present position; `None` for the root, which has no parent.
fn transform(node: &k::Node<f64>) -> Option<Transform> {
    let name = |node: &k::Node<f64>| node.link().as_ref().map(|link| link.name.clone());
    let (parent, child) = (name(&node.parent()?)?, name(node)?);
    Some(Transform { parent, child, pose: node.joint().local_transform() })
}

/// The motion of a joint, by the independent joint at the end of its chain of mimic joints, which has no circles.
fn motion(robot: &urdf_rs::Robot, joint: &str) -> Motion {
    let mut motion =
        Motion { joint: joint.to_owned(), follows: joint.to_owned(), multiplier: 1.0, offset: 0.0 };
    let mimic_of = |name: &str| robot.joints.iter().find(|joint| joint.name == name)?.mimic.as_ref();
    while let Some(mimic) = mimic_of(&motion.follows) {
        motion.offset += motion.multiplier * mimic.offset.unwrap_or(0.0);
        motion.multiplier *= mimic.multiplier.unwrap_or(1.0);
        motion.follows.clone_from(&mimic.joint);
    }
    motion
}

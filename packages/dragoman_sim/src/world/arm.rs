//! Articulated arms: a tree of links and joints, where they are, and which of them may touch.

use nalgebra::{Isometry3, Translation3, Unit, UnitQuaternion, Vector3};

use super::WorldError;
use super::file::JointKind;

/// A joint of an arm. Angles in rad, lengths in m.
#[derive(Debug, Clone, PartialEq)]
pub struct ArmJoint {
    /// Its name.
    pub name: String,
    /// Turning or sliding.
    pub kind: JointKind,
    /// Lower limit.
    pub lower: f64,
    /// Upper limit.
    pub upper: f64,
    /// Where it is.
    pub position: f64,
    pub(crate) axis: Unit<Vector3<f64>>,
}

impl ArmJoint {
    fn motion(&self) -> Isometry3<f64> {
        match self.kind {
            JointKind::Revolute => {
                let turn = UnitQuaternion::from_axis_angle(&self.axis, self.position);
                Isometry3::from_parts(Translation3::identity(), turn)
            }
            JointKind::Prismatic => {
                let shift = Translation3::from(self.axis.into_inner() * self.position);
                Isometry3::from_parts(shift, UnitQuaternion::identity())
            }
        }
    }
}

/// A link: its frame is `before`, the joint's motion, `after`, from its parent's, which comes before it in the list.
#[derive(Debug, Clone)]
pub(crate) struct ArmLink {
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    pub(crate) before: Isometry3<f64>,
    pub(crate) joint: Option<usize>,
    pub(crate) after: Isometry3<f64>,
}

/// An arm.
#[derive(Debug, Clone)]
pub(crate) struct Arm {
    pub(crate) joints: Vec<ArmJoint>,
    pub(crate) links: Vec<ArmLink>,
    /// The link that carries the tool, and the tool's frame in that link's.
    pub(crate) tool: (usize, Isometry3<f64>),
    /// For every link, whether no joint moves it.
    still: Vec<bool>,
    /// Pairs of links, the lower first, that may touch.
    may_touch: Vec<(usize, usize)>,
}

impl Arm {
    /// An arm of these joints and links; neighbours may touch.
    pub(crate) fn new(joints: Vec<ArmJoint>, links: Vec<ArmLink>, tool: (usize, Isometry3<f64>)) -> Self {
        let mut still: Vec<bool> = Vec::with_capacity(links.len());
        for link in &links {
            let parent_still = link.parent.and_then(|parent| still.get(parent)).copied().unwrap_or(true);
            still.push(parent_still && link.joint.is_none());
        }
        let neighbours = links.iter().enumerate().filter_map(|(at, link)| Some((link.parent?, at)));
        let may_touch = neighbours.collect();
        Self { joints, links, tool, still, may_touch }
    }

    /// Frames of the links, for the base at `base`.
    pub(crate) fn link_poses(&self, base: &Isometry3<f64>) -> Vec<Isometry3<f64>> {
        let mut poses: Vec<Isometry3<f64>> = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let parent = link.parent.and_then(|parent| poses.get(parent)).unwrap_or(base);
            let motion = link.joint.and_then(|joint| self.joints.get(joint)).map(ArmJoint::motion);
            poses.push(parent * link.before * motion.unwrap_or_default() * link.after);
        }
        poses
    }

    /// Whether no joint moves the link.
    pub(crate) fn stands_still(&self, link: usize) -> bool {
        self.still.get(link).copied().unwrap_or(true)
    }

    /// Sets the first joints; none where one value is refused.
    pub(crate) fn set(&mut self, robot: &str, values: &[f64]) -> Result<(), WorldError> {
        if values.len() > self.joints.len() {
            let (joints, got) = (self.joints.len(), values.len());
            return Err(WorldError::TooManyJoints { robot: robot.to_owned(), joints, got });
        }
        for (joint, &value) in self.joints.iter().zip(values) {
            // Written so that NaN is refused.
            if !(value >= joint.lower && value <= joint.upper) {
                let (lower, upper) = (joint.lower, joint.upper);
                let (robot, joint) = (robot.to_owned(), joint.name.clone());
                return Err(WorldError::JointLimit { robot, joint, value, lower, upper });
            }
        }
        for (joint, &value) in self.joints.iter_mut().zip(values) {
            joint.position = value;
        }
        Ok(())
    }

    /// Lets these pairs touch as well, the lower link first.
    pub(crate) fn let_touch(&mut self, pairs: Vec<(usize, usize)>) {
        self.may_touch.extend(pairs);
        self.may_touch.sort_unstable();
        self.may_touch.dedup();
    }

    /// Whether links may touch: neighbours, and those that overlap as they are built.
    pub(crate) fn may_touch(&self, a: usize, b: usize) -> bool {
        a == b || self.may_touch.contains(&(a.min(b), a.max(b)))
    }
}

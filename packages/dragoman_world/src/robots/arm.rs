//! Articulated arms: a tree of links and joints, their poses, self-collisions, and gravity loads.

use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};
use serde::Deserialize;

use crate::error::WorldError;

/// Standard gravity, m/s^2.
const STANDARD_GRAVITY: f64 = 9.806_65;

/// Kind of a joint's motion along its axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// Rotates; positions in rad.
    Revolute,
    /// Slides; positions in m.
    Prismatic,
}

/// A joint of an arm. Angles in rad, lengths in m.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct ArmJoint {
    pub name: String,
    /// Turning or sliding.
    pub kind: JointKind,
    /// Lower limit.
    pub lower: f64,
    /// Upper limit.
    pub upper: f64,
    /// Current position.
    pub position: f64,
}

/// Motion of a link by a joint: about or along `axis`, by the joint's position times `factor` plus `offset`, rad or m.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkMotion {
    pub(crate) joint: usize,
    pub(crate) kind: JointKind,
    pub(crate) axis: Unit<Vector3<f64>>,
    pub(crate) factor: f64,
    pub(crate) offset: f64,
    /// The link mimics the joint of another link.
    pub(crate) mimics: bool,
}

impl LinkMotion {
    /// Motion of the joint's own link.
    pub(crate) fn of(joint: usize, kind: JointKind, axis: Unit<Vector3<f64>>) -> Self {
        Self { joint, kind, axis, factor: 1.0, offset: 0.0, mimics: false }
    }

    fn at(&self, position: f64) -> Isometry3<f64> {
        let way = position * self.factor + self.offset;
        match self.kind {
            JointKind::Revolute => {
                let turn = UnitQuaternion::from_axis_angle(&self.axis, way);
                Isometry3::from_parts(Translation3::identity(), turn)
            }
            JointKind::Prismatic => {
                let shift = Translation3::from(self.axis.into_inner() * way);
                Isometry3::from_parts(shift, UnitQuaternion::identity())
            }
        }
    }
}

/// A link: its frame relative to its parent's is `before`, the joint's motion, `after`. The parent precedes it in the
/// list.
#[derive(Debug, Clone)]
pub(crate) struct ArmLink {
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    pub(crate) before: Isometry3<f64>,
    pub(crate) motion: Option<LinkMotion>,
    pub(crate) after: Isometry3<f64>,
    /// Mass, kg.
    pub(crate) mass: f64,
    /// Centre of mass in the link's frame, m.
    pub(crate) centre_of_mass: Point3<f64>,
}

/// Two fingers driven by one joint that slide towards each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gripper {
    pub(crate) joint: usize,
    /// Their links.
    pub(crate) fingers: [usize; 2],
    /// Travel of a finger per unit of the joint's position, m; negative if greater positions close.
    pub(crate) rate: f64,
    /// Position of the joint at which the fingers hold a body.
    pub(crate) holds_at: Option<f64>,
}

#[derive(Debug, Clone)]
pub(crate) struct Arm {
    pub(crate) joints: Vec<ArmJoint>,
    pub(crate) links: Vec<ArmLink>,
    /// The link with the tool, and the tool's frame in the link's frame.
    pub(crate) tool: (usize, Isometry3<f64>),
    /// The object on which it is mounted, and its base in that object's frame.
    pub(crate) on: Option<(usize, Isometry3<f64>)>,
    pub(crate) gripper: Option<Gripper>,
    /// For every link, whether it is fixed to the base.
    still: Vec<bool>,
    /// For every link, whether it moves with the tool, except the gripper.
    hand: Vec<bool>,
    /// Pairs of links that may touch, the lower index first.
    may_touch: Vec<(usize, usize)>,
    /// Links that touch the carrier in the arm's design.
    may_touch_carrier: Vec<usize>,
}

impl Arm {
    /// An arm with these joints and links; neighbours may touch, and so may the fingers of a gripper.
    pub(crate) fn new(joints: Vec<ArmJoint>, links: Vec<ArmLink>, tool: (usize, Isometry3<f64>)) -> Self {
        let gripper = gripper(&links);
        let mut still: Vec<bool> = Vec::with_capacity(links.len());
        // The last joint before each link, without the gripper's joint.
        let mut last: Vec<Option<usize>> = Vec::with_capacity(links.len());
        for link in &links {
            let of_parent = link.parent.and_then(|parent| Some((*still.get(parent)?, *last.get(parent)?)));
            let (parent_still, parent_last) = of_parent.unwrap_or((true, None));
            let joint = link.motion.map(|motion| motion.joint);
            still.push(parent_still && joint.is_none());
            last.push(joint.filter(|joint| gripper.is_none_or(|it| it.joint != *joint)).or(parent_last));
        }
        let with_tool = last.get(tool.0).copied().flatten();
        let hand = last.iter().map(|last| last.is_some() && *last == with_tool).collect();
        let fingers = gripper.map(|Gripper { fingers: [a, b], .. }| (a.min(b), a.max(b)));
        let may_touch = neighbours(&links).into_iter().chain(fingers).collect();
        Self { joints, links, tool, on: None, gripper, still, hand, may_touch, may_touch_carrier: Vec::new() }
    }

    /// Frames of the links with the base at `base`.
    pub(crate) fn link_poses(&self, base: &Isometry3<f64>) -> Vec<Isometry3<f64>> {
        let mut poses: Vec<Isometry3<f64>> = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let parent = link.parent.and_then(|parent| poses.get(parent)).unwrap_or(base);
            let motion = link.motion.and_then(|it| Some(it.at(self.joints.get(it.joint)?.position)));
            poses.push(parent * link.before * motion.unwrap_or_default() * link.after);
        }
        poses
    }

    /// Load of gravity on the joints, N m or N, with these frames of the links; positive if it pushes towards greater
    /// positions. `load` is the held object: its mass, kg, and its centre.
    pub(crate) fn gravity_load(
        &self,
        poses: &[Isometry3<f64>],
        load: Option<(f64, Point3<f64>)>,
    ) -> Vec<f64> {
        let weighs = |(link, pose): (&ArmLink, &Isometry3<f64>)| (link.mass, pose * link.centre_of_mass);
        let mut masses: Vec<(usize, (f64, Point3<f64>))> =
            self.links.iter().zip(poses).map(weighs).enumerate().collect();
        masses.extend(load.map(|load| (self.tool.0, load)));
        let mut loads = vec![0.0; self.joints.len()];
        for (at, (link, pose)) in self.links.iter().zip(poses).enumerate() {
            let Some(motion) = link.motion.filter(|motion| !motion.mimics) else { continue };
            // The joint is at the link's frame before `after`.
            let joint = pose * link.after.inverse();
            let axis = joint.rotation * motion.axis;
            let origin = Point3::from(joint.translation.vector);
            let carried = masses.iter().filter(|(other, _)| self.carries(at, *other));
            let load: f64 = carried
                .map(|(_, (mass, centre))| {
                    let weight = Vector3::new(0.0, 0.0, -STANDARD_GRAVITY * mass);
                    match motion.kind {
                        JointKind::Revolute => axis.dot(&(centre - origin).cross(&weight)),
                        JointKind::Prismatic => axis.dot(&weight),
                    }
                })
                .sum();
            if let Some(of_joint) = loads.get_mut(motion.joint) {
                *of_joint = load;
            }
        }
        loads
    }

    /// Whether `link` is `other` or one of its ancestors.
    fn carries(&self, link: usize, other: usize) -> bool {
        let up = |at: &usize| self.links.get(*at).and_then(|link| link.parent);
        std::iter::successors(Some(other), up).any(|at| at == link)
    }

    /// Whether the link moves with the tool, apart from the gripper's motion.
    pub(crate) fn is_hand(&self, link: usize) -> bool {
        self.hand.get(link).copied().unwrap_or(false)
    }

    /// Permits these links to touch the carrier.
    pub(crate) fn let_touch_carrier(&mut self, links: Vec<usize>) {
        self.may_touch_carrier = links;
    }

    /// Whether the link may touch the carrier.
    pub(crate) fn may_touch_carrier(&self, link: usize) -> bool {
        self.may_touch_carrier.contains(&link)
    }

    /// Whether the link is fixed to the base.
    pub(crate) fn stands_still(&self, link: usize) -> bool {
        self.still.get(link).copied().unwrap_or(true)
    }

    /// Sets the first joints; none of them if a value is refused.
    pub(crate) fn set(&mut self, robot: &str, values: &[f64]) -> Result<(), WorldError> {
        if values.len() > self.joints.len() {
            let (joints, got) = (self.joints.len(), values.len());
            return Err(WorldError::TooManyJoints { robot: robot.to_owned(), joints, got });
        }
        for (joint, &value) in self.joints.iter().zip(values) {
            // Written such that NaN is refused.
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

    /// Permits these pairs to touch as well, the lower index first.
    pub(crate) fn let_touch(&mut self, pairs: Vec<(usize, usize)>) {
        self.may_touch.extend(pairs);
        self.may_touch.sort_unstable();
        self.may_touch.dedup();
    }

    /// Whether two links may touch: neighbours, and links that overlap in the arm's design.
    pub(crate) fn may_touch(&self, a: usize, b: usize) -> bool {
        a == b || self.may_touch.contains(&(a.min(b), a.max(b)))
    }
}

/// Pairs of links, the lower index first, with at most one moving joint between them: links without a joint between
/// them are one body.
fn neighbours(links: &[ArmLink]) -> Vec<(usize, usize)> {
    // The first link of the body that each link belongs to.
    let mut bodies: Vec<usize> = Vec::with_capacity(links.len());
    for (at, link) in links.iter().enumerate() {
        let carrier = link.parent.filter(|_| link.motion.is_none()).and_then(|parent| bodies.get(parent));
        bodies.push(carrier.copied().unwrap_or(at));
    }
    let body = |link: usize| bodies.get(link).copied();
    let carrier = |link: usize| body(links.get(body(link)?)?.parent?);
    let touch = |a, b| body(a) == body(b) || carrier(a) == body(b) || carrier(b) == body(a);
    let pairs = (0..links.len()).flat_map(|b| (0..b).map(move |a| (a, b)));
    pairs.filter(|(a, b)| touch(*a, *b)).collect()
}

/// The first two links that slide and are driven by the same joint.
fn gripper(links: &[ArmLink]) -> Option<Gripper> {
    let slides = |link: &ArmLink| link.motion.filter(|it| it.mimics && it.kind == JointKind::Prismatic);
    let mut fingers = links.iter().enumerate().filter_map(|(at, link)| Some((at, slides(link)?)));
    let (left, first) = fingers.next()?;
    let (right, second) = fingers.next()?;
    let is_pair = first.joint == second.joint && first.factor == second.factor && first.factor != 0.0;
    let (joint, rate) = (first.joint, first.factor);
    is_pair.then_some(Gripper { joint, fingers: [left, right], rate, holds_at: None })
}

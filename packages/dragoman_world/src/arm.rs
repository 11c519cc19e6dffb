//! Articulated arms: a tree of links and joints, where they are, which of them may touch, what gravity does to them.

use nalgebra::{Isometry3, Point3, Translation3, Unit, UnitQuaternion, Vector3};

use super::WorldError;
use super::file::JointKind;

/// m/s^2.
const STANDARD_GRAVITY: f64 = 9.806_65;

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
}

/// How a joint moves a link: about or along `axis`, by the joint's position times `factor` and `offset` added, rad or m.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkMotion {
    pub(crate) joint: usize,
    pub(crate) kind: JointKind,
    pub(crate) axis: Unit<Vector3<f64>>,
    pub(crate) factor: f64,
    pub(crate) offset: f64,
    /// The link follows the joint of another.
    pub(crate) mimics: bool,
}

impl LinkMotion {
    /// That of the joint's own link.
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

/// A link: its frame is `before`, the joint's motion, `after`, from its parent's, which comes before it in the list.
#[derive(Debug, Clone)]
pub(crate) struct ArmLink {
    pub(crate) name: String,
    pub(crate) parent: Option<usize>,
    pub(crate) before: Isometry3<f64>,
    pub(crate) motion: Option<LinkMotion>,
    pub(crate) after: Isometry3<f64>,
    /// kg.
    pub(crate) mass: f64,
    /// In the link's frame, m.
    pub(crate) centre_of_mass: Point3<f64>,
}

/// Two fingers that follow one joint and slide against each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Gripper {
    pub(crate) joint: usize,
    /// Their links.
    pub(crate) fingers: [usize; 2],
    /// Way of a finger per unit of the joint's position, m; negative where greater positions close.
    pub(crate) rate: f64,
    /// Position of the joint at which they hold a body.
    pub(crate) holds_at: Option<f64>,
}

/// An arm.
#[derive(Debug, Clone)]
pub(crate) struct Arm {
    pub(crate) joints: Vec<ArmJoint>,
    pub(crate) links: Vec<ArmLink>,
    /// The link that carries the tool, and the tool's frame in that link's.
    pub(crate) tool: (usize, Isometry3<f64>),
    /// The object that it is mounted on, and its base in that object's frame.
    pub(crate) on: Option<(usize, Isometry3<f64>)>,
    pub(crate) gripper: Option<Gripper>,
    /// For every link, whether no joint moves it.
    still: Vec<bool>,
    /// For every link, whether it moves with the tool, but for the gripper.
    hand: Vec<bool>,
    /// Pairs of links, the lower first, that may touch.
    may_touch: Vec<(usize, usize)>,
    /// Links that touch what the arm is mounted on, as it is built.
    may_touch_carrier: Vec<usize>,
}

impl Arm {
    /// An arm of these joints and links; neighbours may touch, and so may the fingers of a gripper.
    pub(crate) fn new(joints: Vec<ArmJoint>, links: Vec<ArmLink>, tool: (usize, Isometry3<f64>)) -> Self {
        let gripper = gripper(&links);
        let mut still: Vec<bool> = Vec::with_capacity(links.len());
        // The last joint on the way to each link that is not the gripper's.
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

    /// Frames of the links, for the base at `base`.
    pub(crate) fn link_poses(&self, base: &Isometry3<f64>) -> Vec<Isometry3<f64>> {
        let mut poses: Vec<Isometry3<f64>> = Vec::with_capacity(self.links.len());
        for link in &self.links {
            let parent = link.parent.and_then(|parent| poses.get(parent)).unwrap_or(base);
            let motion = link.motion.and_then(|it| Some(it.at(self.joints.get(it.joint)?.position)));
            poses.push(parent * link.before * motion.unwrap_or_default() * link.after);
        }
        poses
    }

    /// What gravity puts on the joints, N m or N, with the links at these frames; positive where it pushes towards greater
    /// positions. `load` is what the tool holds: its mass, kg, and its centre.
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
            // The joint is where the link's frame is before `after`.
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

    /// Whether `link` is the other, or on its way to the base.
    fn carries(&self, link: usize, other: usize) -> bool {
        let up = |at: &usize| self.links.get(*at).and_then(|link| link.parent);
        std::iter::successors(Some(other), up).any(|at| at == link)
    }

    /// Whether the link moves with the tool, but for the gripper's motion.
    pub(crate) fn is_hand(&self, link: usize) -> bool {
        self.hand.get(link).copied().unwrap_or(false)
    }

    /// Lets these links touch what the arm is mounted on.
    pub(crate) fn let_touch_carrier(&mut self, links: Vec<usize>) {
        self.may_touch_carrier = links;
    }

    /// Whether the link may touch what the arm is mounted on.
    pub(crate) fn may_touch_carrier(&self, link: usize) -> bool {
        self.may_touch_carrier.contains(&link)
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

/// Pairs of links, the lower first, with one moving joint between them or none: links that nothing moves against each other
/// are one body.
fn neighbours(links: &[ArmLink]) -> Vec<(usize, usize)> {
    // The first link of the body that each belongs to.
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

/// The first two links that slide as one joint of another link does.
fn gripper(links: &[ArmLink]) -> Option<Gripper> {
    let slides = |link: &ArmLink| link.motion.filter(|it| it.mimics && it.kind == JointKind::Prismatic);
    let mut fingers = links.iter().enumerate().filter_map(|(at, link)| Some((at, slides(link)?)));
    let (left, first) = fingers.next()?;
    let (right, second) = fingers.next()?;
    let is_pair = first.joint == second.joint && first.factor == second.factor && first.factor != 0.0;
    let (joint, rate) = (first.joint, first.factor);
    is_pair.then_some(Gripper { joint, fingers: [left, right], rate, holds_at: None })
}

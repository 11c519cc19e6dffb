//! Robot models: the geometry and limits of one serial chain, independent of the document format.
//!
//! Order of reading: this file, then `dh.rs` and `urdf.rs` (the two parsers), `settings.rs` (settings beyond the URDF)
//! and `error.rs`.

mod dh;
mod error;
mod numbers;
mod settings;
pub(crate) mod urdf;

pub use error::ModelError;
pub use settings::{Calibration, Origin, RobotSettings};

use nalgebra::{Isometry3, Unit, Vector3};
use std::collections::BTreeSet;

/// Maximum number of movable joints a model may have; the solvers are compiled for every size up to this.
pub const MAX_JOINTS: usize = 12;

/// Kind of a joint's motion along its axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JointKind {
    /// Turns about its axis; positions are radians.
    Revolute,
    /// Slides along its axis; positions are metres.
    Prismatic,
}

/// One movable joint. Angles in radians, lengths in metres, rates per second.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Unique name.
    pub name: String,
    /// Turning or sliding.
    pub kind: JointKind,
    /// Lower limit, rad or m; minus infinity without limit.
    pub lower: f64,
    /// Upper limit, rad or m; infinity without limit.
    pub upper: f64,
    /// Maximum speed, rad/s or m/s; infinity if not given.
    pub velocity: f64,
    /// Maximum acceleration, rad/s^2 or m/s^2; infinity if not given.
    pub acceleration: f64,
}

/// A link whose frame moves with the chain: one between base and tip, or one that fixed joints attach to such a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// Unique name.
    pub name: String,
    /// Number of joints of the chain, from the base, that move the link; 0 for a fixed one.
    pub joints_below: usize,
    /// Pose of the link's frame in the frame that moves with the last of these joints; in the base frame for 0.
    pub offset: Isometry3<f64>,
}

/// A joint with its geometry: `origin` is the fixed transform from the previous joint's moving frame to this joint's
/// frame at position zero, `axis` the unit axis in that frame.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placement {
    pub(crate) origin: Isometry3<f64>,
    pub(crate) axis: Unit<Vector3<f64>>,
}

/// Geometry and limits of a serial chain from a base frame to a tool frame.
///
/// A value of this type is valid: at least one and at most [`MAX_JOINTS`] joints, all numbers finite where they
/// must be, limits in order, names unique.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    name: String,
    base: String,
    tip: String,
    joints: Vec<Joint>,
    placements: Vec<Placement>,
    tool: Isometry3<f64>,
    links: Vec<Link>,
}

impl Model {
    /// Reads Denavit-Hartenberg parameters in the convention of Craig, *Introduction to Robotics* (1989):
    /// row `i` is `Rx(alpha) Tx(a) Rz(theta) Tz(d)`, where the joint position adds to `theta` or `d`.
    ///
    /// ```
    /// let text = "
    /// name: pendulum
    /// joints:
    ///   - {name: swing, type: revolute, a: 0, alpha: 0, d: 0.1, theta: 0, lower: -1, upper: 1, velocity: 2, acceleration: 5}
    /// tool: {a: 0.3, alpha: 0, d: 0, theta: 0}
    /// ";
    /// let model = dragoman_kinematics::Model::from_dh_yaml(text).unwrap();
    /// assert_eq!(model.joints().len(), 1);
    /// ```
    ///
    /// `lower` and `upper` may be left out together (no limits), `velocity`, `acceleration` and `tool` each.
    ///
    /// # Errors
    /// Any [`ModelError`] that a table can cause; nothing panics.
    pub fn from_dh_yaml(text: &str) -> Result<Self, ModelError> {
        dh::parse(text)
    }

    /// Reads the chain from link `base` (default: the root) to link `tip` (default: the only leaf that a joint moves)
    /// of a URDF. Fixed joints are folded into their neighbours. URDF has no acceleration limits: see
    /// [`Model::with_accelerations`]. A `velocity` of zero counts as not given.
    ///
    /// # Errors
    /// Any [`ModelError`]; joints with `mimic` between base and tip are refused.
    pub fn from_urdf(xml: &str, base: Option<&str>, tip: Option<&str>) -> Result<Self, ModelError> {
        urdf::parse(xml, base, tip)
    }

    /// Checks the parts and assembles a model.
    fn assemble(
        name: String,
        base: String,
        tip: String,
        parts: Vec<(Joint, Placement)>,
        tool: Isometry3<f64>,
        links: Vec<Link>,
    ) -> Result<Self, ModelError> {
        if parts.is_empty() {
            return Err(ModelError::NoJoints);
        }
        if parts.len() > MAX_JOINTS {
            return Err(ModelError::TooManyJoints { count: parts.len(), most: MAX_JOINTS });
        }
        let mut names = BTreeSet::new();
        for (joint, placement) in &parts {
            check_joint(joint)?;
            check_isometry(&joint.name, &placement.origin)?;
            if !names.insert(joint.name.as_str()) {
                return Err(ModelError::DuplicateName { name: joint.name.clone() });
            }
        }
        check_isometry("tool", &tool)?;
        let (joints, placements) = parts.into_iter().unzip();
        Ok(Self { name, base, tip, joints, placements, tool, links })
    }

    /// Name of the robot.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Name of the link whose frame is the reference of poses.
    pub fn base_link(&self) -> &str {
        &self.base
    }

    /// Name of the link that carries the tool frame.
    pub fn tip_link(&self) -> &str {
        &self.tip
    }

    /// The links whose frames the joints between base and tip determine: those between them, and those that fixed
    /// joints attach to one of them. A table has `base`, `link_1` ... with one number per joint, and `tool`.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The movable joints from base to tip.
    pub fn joints(&self) -> &[Joint] {
        &self.joints
    }

    /// The fixed transform to each joint's frame, at position zero, from the frame that moves with the joint before it;
    /// of the first joint from the base frame.
    pub fn origins(&self) -> impl Iterator<Item = &Isometry3<f64>> {
        self.placements.iter().map(|placement| &placement.origin)
    }

    /// The axis of each joint, in its frame.
    pub fn axes(&self) -> impl Iterator<Item = &Unit<Vector3<f64>>> {
        self.placements.iter().map(|placement| &placement.axis)
    }

    /// Pose of the tool frame in the frame that moves with the last joint.
    pub fn tool(&self) -> &Isometry3<f64> {
        &self.tool
    }

    /// The same robot with another tool frame, given in the frame that moves with the last joint.
    ///
    /// # Errors
    /// [`ModelError::NotFinite`].
    pub fn with_tool(mut self, tool: Isometry3<f64>) -> Result<Self, ModelError> {
        check_isometry("tool", &tool)?;
        self.tool = tool;
        if let Some(tip) = self.links.iter_mut().find(|link| link.name == self.tip) {
            tip.offset = tool;
        }
        Ok(self)
    }

    /// The same robot with acceleration limits, one per joint, rad/s^2 or m/s^2.
    ///
    /// # Errors
    /// [`ModelError::WrongLength`] or [`ModelError::Rate`].
    pub fn with_accelerations(mut self, accelerations: &[f64]) -> Result<Self, ModelError> {
        if accelerations.len() != self.joints.len() {
            return Err(ModelError::WrongLength {
                field: "acceleration",
                expected: self.joints.len(),
                got: accelerations.len(),
            });
        }
        for (joint, &acceleration) in self.joints.iter_mut().zip(accelerations) {
            joint.acceleration = acceleration;
            check_joint(joint)?;
        }
        Ok(self)
    }

    /// The same robot with other position limits, `[lower, upper]` per joint, rad or m; both infinite without limit.
    ///
    /// # Errors
    /// [`ModelError::WrongLength`] or [`ModelError::Limits`].
    pub fn with_limits(mut self, limits: &[[f64; 2]]) -> Result<Self, ModelError> {
        if limits.len() != self.joints.len() {
            let (expected, got) = (self.joints.len(), limits.len());
            return Err(ModelError::WrongLength { field: "limits", expected, got });
        }
        for (joint, &[lower, upper]) in self.joints.iter_mut().zip(limits) {
            (joint.lower, joint.upper) = (lower, upper);
            check_joint(joint)?;
        }
        Ok(self)
    }

    /// The same robot with other fixed transforms: one per joint, from the frame that moves with the joint before it, or
    /// from the base, to the joint's frame at position zero; then the tool's in the frame that moves with the last joint.
    ///
    /// # Errors
    /// [`ModelError::WrongLength`] or [`ModelError::NotFinite`].
    pub fn with_origins(mut self, mut origins: Vec<Isometry3<f64>>) -> Result<Self, ModelError> {
        let (expected, got) = (self.joints.len() + 1, origins.len());
        let Some(tool) = origins.pop().filter(|_| got == expected) else {
            return Err(ModelError::WrongLength { field: "origins", expected, got });
        };
        for ((joint, placement), origin) in self.joints.iter().zip(&mut self.placements).zip(origins) {
            check_isometry(&joint.name, &origin)?;
            placement.origin = origin;
        }
        self.with_tool(tool)
    }

    pub(crate) fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// The chain from the frame that moves with the first joint to the tool.
    pub(crate) fn without_first(&self) -> Option<Self> {
        let parts = self.joints.iter().cloned().zip(self.placements.iter().cloned()).skip(1).collect();
        self.part(parts, self.tool)
    }

    /// The chain from the frame of the last joint, before its motion, back to the base: joints in reverse order, with
    /// the same positions.
    pub(crate) fn reversed_without_last(&self) -> Option<Self> {
        let (first, _) = self.placements.split_first()?;
        let mut origin = Isometry3::identity();
        let mut parts = Vec::new();
        for (joint, placement) in self.joints.iter().zip(&self.placements).rev().skip(1) {
            parts.push((joint.clone(), Placement { origin, axis: -placement.axis }));
            origin = placement.origin.inverse();
        }
        self.part(parts, first.origin.inverse())
    }

    fn part(&self, parts: Vec<(Joint, Placement)>, tool: Isometry3<f64>) -> Option<Self> {
        Self::assemble(self.name.clone(), self.base.clone(), self.tip.clone(), parts, tool, Vec::new()).ok()
    }
}

/// Maximum angle: beyond it the trigonometry of the solvers is not accurate. No joint turns 15,000 times.
const MAX_POSITION: f64 = 1e5;

fn check_joint(joint: &Joint) -> Result<(), ModelError> {
    let Joint { name, lower, upper, .. } = joint;
    // Written so that NaN fails; an infinite lower limit needs to be minus infinity, and likewise above.
    let ordered = lower < upper
        && *lower < MAX_POSITION
        && *upper > -MAX_POSITION
        && lower.is_finite() == upper.is_finite();
    let in_range = !lower.is_finite() || (lower.abs() <= MAX_POSITION && upper.abs() <= MAX_POSITION);
    if !ordered || !in_range {
        return Err(ModelError::Limits { joint: name.clone(), lower: *lower, upper: *upper });
    }
    for (field, value) in [("velocity", joint.velocity), ("acceleration", joint.acceleration)] {
        // NaN must fail as well.
        if value.is_nan() || value <= 0.0 {
            return Err(ModelError::Rate { joint: name.clone(), field, value });
        }
    }
    Ok(())
}

fn check_isometry(element: &str, pose: &Isometry3<f64>) -> Result<(), ModelError> {
    check_finite(element, "translation", pose.translation.vector.as_slice())?;
    check_finite(element, "rotation", pose.rotation.coords.as_slice())
}

fn check_finite(element: &str, field: &'static str, values: &[f64]) -> Result<(), ModelError> {
    match values.iter().find(|value| !value.is_finite()) {
        Some(&value) => Err(ModelError::NotFinite { element: element.to_owned(), field, value }),
        None => Ok(()),
    }
}

//! The collision shapes of an arm's links.

use std::collections::BTreeSet;

use dragoman_urdf::About;
use nalgebra::Isometry3;

use super::PlanningError;
use super::shape::{Shape, ShapeError, Solid, origin};
use crate::model::urdf;
use crate::{JointKind, Robot};

/// Random configurations by which pairs of links are found that always touch.
const SAMPLES: usize = 500;
/// Pairs that touch in this fraction of them are not checked: their shapes overlap by design.
const ALWAYS: f64 = 0.95;
/// Range of a joint without limits from zero, rad or m.
pub(super) const UNLIMITED: f64 = std::f64::consts::PI;

/// Collision shapes of the links that a robot's chain moves, or that are fixed to its base.
#[derive(Clone)]
pub struct ArmBodies {
    pub(super) parts: Vec<Part>,
    /// Pairs of parts that must not touch each other.
    pub(super) pairs: Vec<(usize, usize)>,
    /// How far a point of the arm can move, at most, when one joint moves by 1 rad or 1 m.
    pub(super) leverage: Vec<f64>,
    /// The same for a point of each part, and the joints that move it.
    pub(super) part_leverage: Vec<Vec<f64>>,
    pub(super) clearance: f64,
}

/// A shape of a link.
#[derive(Clone)]
pub(super) struct Part {
    pub(super) link: String,
    /// Number of joints that move it.
    pub(super) joints_below: usize,
    /// Its pose in the frame that moves with the last of them.
    pub(super) offset: Isometry3<f64>,
    /// Larger by the clearance: checked against other links.
    pub(super) solid: Solid,
    /// Larger by one and a half times the clearance: checked against the scene.
    pub(super) outer: Solid,
}

impl ArmBodies {
    /// Reads the collision shapes of a description, whose chain is that of `robot`. Checked motions keep `clearance`, m.
    ///
    /// Links of other branches, for example fingers that move by joints of their own, are not read.
    ///
    /// # Errors
    /// The text is not URDF; a shape that is not usable, such as a mesh.
    pub fn from_urdf(xml: &str, robot: &Robot, clearance: f64) -> Result<Self, PlanningError> {
        let description = urdf::read(xml)?;
        let mut parts = Vec::new();
        for link in robot.model().links() {
            urdf::check(&description, &About::Collision(link.name.clone()))?;
            let named = description.robot.links.iter().find(|known| known.name == link.name);
            for collision in named.iter().flat_map(|known| &known.collision) {
                let wrong = |reason| PlanningError::Shape { body: link.name.clone(), reason };
                let shape = Shape::from_urdf(&collision.geometry).map_err(wrong)?;
                parts.push(Part {
                    link: link.name.clone(),
                    joints_below: link.joints_below,
                    offset: link.offset * origin(&collision.origin).ok_or(wrong(ShapeError::Size))?,
                    solid: Solid::new(&shape, clearance).map_err(wrong)?,
                    outer: Solid::new(&shape, 1.5 * clearance).map_err(wrong)?,
                });
            }
        }
        let part_leverage: Vec<Vec<f64>> = parts.iter().map(|part| leverage(robot, part)).collect();
        let greatest = |joint: usize| {
            part_leverage.iter().filter_map(|levers| levers.get(joint)).copied().fold(0.0, f64::max)
        };
        let leverage = (0..robot.joint_count()).map(greatest).collect();
        let mut bodies = Self { pairs: Vec::new(), leverage, part_leverage, clearance, parts };
        bodies.pairs = bodies.checked_pairs(robot);
        Ok(bodies)
    }

    /// The distance that checked motions keep from the scene, and links from each other, m.
    pub fn clearance(&self) -> f64 {
        self.clearance
    }

    /// The pairs of links that are checked against each other.
    pub fn checked_links(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut known = BTreeSet::new();
        let names =
            self.pairs.iter().map(|(a, b)| (self.parts[*a].link.as_str(), self.parts[*b].link.as_str()));
        names.filter(move |pair| known.insert(*pair))
    }

    /// Poses of all parts; `frames` as [`Robot::link_frames`] gives them.
    pub(super) fn place(&self, frames: &[Isometry3<f64>], poses: &mut Vec<Isometry3<f64>>) {
        poses.clear();
        poses.extend(self.parts.iter().map(|part| match part.joints_below {
            0 => part.offset,
            joint => frames[joint - 1] * part.offset,
        }));
    }

    /// All pairs but neighbours, and those that always touch.
    fn checked_pairs(&self, robot: &Robot) -> Vec<(usize, usize)> {
        // Parts that the same joints move are one body for this purpose.
        let group = |part: usize| self.parts[part].joints_below;
        let all = (0..self.parts.len()).flat_map(|a| (a + 1..self.parts.len()).map(move |b| (a, b)));
        let apart: Vec<(usize, usize)> = all.filter(|(a, b)| group(*a).abs_diff(group(*b)) > 1).collect();
        let mut touched = vec![0_usize; apart.len()];
        let mut random = oorandom::Rand64::new(1);
        let (mut frames, mut poses) = (Vec::new(), Vec::new());
        for _ in 0..SAMPLES {
            let q: Vec<f64> = robot
                .joints()
                .iter()
                .map(|joint| {
                    let (lower, upper) = (joint.lower.max(-UNLIMITED), joint.upper.min(UNLIMITED));
                    lower + (upper - lower) * random.rand_float()
                })
                .collect();
            robot.link_frames(&q, &mut frames);
            self.place(&frames, &mut poses);
            for (count, (a, b)) in touched.iter_mut().zip(&apart) {
                let [one, other] = [a, b].map(|part| (&self.parts[*part].solid, &poses[*part]));
                *count += usize::from(one.0.touches(one.1, other.0, other.1));
            }
        }
        let limit = (ALWAYS * SAMPLES as f64) as usize;
        apart.into_iter().zip(touched).filter(|(_, count)| *count < limit).map(|(pair, _)| pair).collect()
    }
}

/// For each joint that moves a part the maximum distance of a point of the part from the joint's frame, m; 1 where the
/// joint slides.
fn leverage(robot: &Robot, part: &Part) -> Vec<f64> {
    let placements = robot.model().placements();
    // From the frame that moves with the last joint backwards to the first.
    let mut reach = (part.offset * part.solid.centre).coords.norm() + part.solid.radius;
    let mut levers = vec![0.0; part.joints_below];
    for (index, joint) in robot.joints().iter().enumerate().take(part.joints_below).rev() {
        levers[index] = match joint.kind {
            JointKind::Revolute => reach,
            JointKind::Prismatic => 1.0,
        };
        if joint.kind == JointKind::Prismatic {
            let slide = |limit: f64| if limit.is_finite() { limit.abs() } else { UNLIMITED };
            reach += slide(joint.lower).max(slide(joint.upper));
        }
        reach += placements[index].origin.translation.vector.norm();
    }
    levers
}

//! Whether configurations and motions are free of collisions.

use std::fmt;

use nalgebra::Isometry3;

use super::bodies::ArmBodies;
use super::scene::Scene;
use crate::Robot;

/// How far the arm has moved, at most, where its links may still touch as they did at the start, m.
const NEIGHBOURHOOD: f64 = 0.8;

/// Two bodies that touch, or come nearer than is allowed: 1.5 clearances for a link and a body, 2 for two links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collision {
    /// A link of the arm.
    pub link: String,
    /// Another link, or a body of the scene.
    pub other: String,
}

impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is too near to {}", self.link, self.other)
    }
}

/// Checks an arm in a scene.
pub struct Checker<'a> {
    pub(super) robot: &'a Robot,
    pub(super) bodies: &'a ArmBodies,
    scene: &'a Scene,
    frames: Vec<Isometry3<f64>>,
    poses: Vec<Isometry3<f64>>,
    between: Vec<f64>,
    left: Option<Rest>,
    /// Configurations that were checked.
    pub checks: u64,
}

impl<'a> Checker<'a> {
    /// A checker; `bodies` are those of `robot`.
    pub fn new(robot: &'a Robot, bodies: &'a ArmBodies, scene: &'a Scene) -> Self {
        Self {
            robot,
            bodies,
            scene,
            frames: Vec::new(),
            poses: Vec::new(),
            between: vec![0.0; robot.joint_count()],
            left: None,
            checks: 0,
        }
    }

    /// From now on links may touch each other as they do at `start`, in its neighbourhood: arms rest folded, and the shapes
    /// of a description are larger than the arm.
    pub fn leave(&mut self, start: &[f64]) {
        self.robot.link_frames(start, &mut self.frames);
        self.bodies.place(&self.frames, &mut self.poses);
        let touching =
            self.bodies.pairs.iter().copied().filter(|pair| self.touch_each_other(*pair)).collect();
        self.left = Some(Rest { position: start.to_vec(), touching });
    }

    fn touch_each_other(&self, (part, other): (usize, usize)) -> bool {
        let (one, two) = (&self.bodies.parts[part].solid, &self.bodies.parts[other].solid);
        one.touches(&self.poses[part], two, &self.poses[other])
    }

    /// The first collision at these joint positions, rad or m.
    ///
    /// What is fixed to the base is not checked against the scene: the arm stands on something.
    pub fn collision(&mut self, q: &[f64]) -> Option<Collision> {
        let (part, other) = self.touch(q)?;
        let link = |part: usize| self.bodies.parts[part].link.clone();
        let other = match other {
            Other::Part(other) => link(other),
            Other::Body(body) => self.scene.bodies[body].name.clone(),
        };
        Some(Collision { link: link(part), other })
    }

    fn touch(&mut self, q: &[f64]) -> Option<(usize, Other)> {
        self.checks += 1;
        self.robot.link_frames(q, &mut self.frames);
        self.bodies.place(&self.frames, &mut self.poses);
        let parts = self.bodies.parts.iter().zip(&self.poses).enumerate();
        // The tool is where obstacles are.
        for (index, (part, pose)) in parts.rev().filter(|(_, (part, _))| part.joints_below > 0) {
            let mut bodies = self.scene.bodies.iter();
            if let Some(body) = bodies.position(|body| part.outer.touches(pose, &body.solid, &body.pose)) {
                return Some((index, Other::Body(body)));
            }
        }
        let rest = self.left.as_ref().filter(|rest| !rest.touching.is_empty());
        let rest = rest.filter(|rest| self.displacement(&rest.position, q) < NEIGHBOURHOOD);
        let tolerated = rest.map_or(&[][..], |rest| &rest.touching);
        let pairs = self.bodies.pairs.iter();
        let (part, other) =
            pairs.copied().find(|pair| !tolerated.contains(pair) && self.touch_each_other(*pair))?;
        Some((part, Other::Part(other)))
    }

    /// An upper bound of the distance that any point of the arm moves from one configuration to the other, m.
    pub fn displacement(&self, from: &[f64], to: &[f64]) -> f64 {
        self.bodies
            .leverage
            .iter()
            .zip(from.iter().zip(to))
            .map(|(lever, (a, b))| lever * (a - b).abs())
            .sum()
    }

    /// Whether the straight motion in joint space is free; both ends are known to be.
    ///
    /// The middle is checked first, then the middles of the halves: what is in the way is found early.
    pub fn is_free(&mut self, from: &[f64], to: &[f64]) -> bool {
        let displacement = self.displacement(from, to);
        self.is_way_free(displacement, |share, between| {
            for ((value, a), b) in between.iter_mut().zip(from).zip(to) {
                *value = a + (b - a) * share;
            }
        })
    }

    /// Whether a motion is free between its ends: `at` writes the configuration at a share of the way, from 0 to 1. Between
    /// two shares no point of the arm moves farther than `displacement` times their difference, m. The ends are known to
    /// be free.
    ///
    /// The samples are at most one clearance apart, so that every configuration is within half of it of a sample. There
    /// links are one and a half clearances away from the scene and two from each other, which leaves one of each.
    pub(super) fn is_way_free(&mut self, displacement: f64, at: impl Fn(f64, &mut [f64])) -> bool {
        let steps = (displacement / self.bodies.clearance).ceil();
        // Nobody waits for the check of a motion through millions of configurations.
        if steps.is_nan() || steps > 1e6 {
            return false;
        }
        let steps = (steps as usize).next_power_of_two();
        let mut stride = steps;
        while stride > 1 {
            for step in (stride / 2..steps).step_by(stride) {
                let share = step as f64 / steps as f64;
                let mut between = std::mem::take(&mut self.between);
                at(share, &mut between);
                let is_free = self.touch(&between).is_none();
                self.between = between;
                if !is_free {
                    return false;
                }
            }
            stride /= 2;
        }
        true
    }
}

/// Where the arm stands, and the pairs of parts that touch there.
struct Rest {
    position: Vec<f64>,
    touching: Vec<(usize, usize)>,
}

enum Other {
    Part(usize),
    Body(usize),
}

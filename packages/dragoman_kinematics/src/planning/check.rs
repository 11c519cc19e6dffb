//! Whether configurations and motions are free of collisions.

use std::collections::VecDeque;
use std::fmt;

use nalgebra::Isometry3;

use super::bodies::ArmBodies;
use super::scene::Scene;
use super::shape::Placed;
use crate::Robot;

/// How far the arm has moved, at most, where its links may still touch as they did at the start, m.
const NEIGHBOURHOOD: f64 = 0.8;

/// Gaps between two samples that are shorter than this share of a way are rounding errors.
const NO_GAP: f64 = 1e-9;

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
    placed: Vec<Placed>,
    between: Vec<f64>,
    gaps: VecDeque<[f64; 2]>,
    speeds: Speeds,
    left: Option<Rest>,
    /// The pair that was nearest at the last check; it is likely to be the nearest again.
    nearest: Option<(usize, Other)>,
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
            placed: Vec::new(),
            between: vec![0.0; robot.joint_count()],
            gaps: VecDeque::new(),
            speeds: Speeds::default(),
            left: None,
            nearest: None,
            checks: 0,
        }
    }

    /// From now on links may touch each other as they do at `start`, in its neighbourhood: arms rest folded, and the shapes
    /// of a description are larger than the arm.
    pub fn leave(&mut self, start: &[f64]) {
        self.place(start);
        let pairs = self.bodies.pairs.iter().copied();
        let touching = pairs.filter(|(part, other)| self.separation(*part, Other::Part(*other), 0.0) <= 0.0);
        self.left = Some(Rest { position: start.to_vec(), touching: touching.collect() });
    }

    /// The first collision at these joint positions, rad or m.
    ///
    /// What is fixed to the base is not checked against the scene: the arm stands on something.
    pub fn collision(&mut self, q: &[f64]) -> Option<Collision> {
        // The answer does not depend on earlier ones.
        self.nearest = None;
        let (part, other) = self.reach(q, 0.0).err()?;
        let link = |part: usize| self.bodies.parts[part].link.clone();
        let other = match other {
            Other::Part(other) => link(other),
            Other::Body(body) => self.scene.bodies[body].name.clone(),
        };
        Some(Collision { link: link(part), other })
    }

    fn place(&mut self, q: &[f64]) {
        self.robot.link_frames(q, &mut self.frames);
        self.bodies.place(&self.frames, &mut self.poses);
        self.placed.clear();
        let parts = self.bodies.parts.iter().zip(&self.poses);
        self.placed.extend(parts.map(|(part, pose)| part.solid.place(pose)));
    }

    /// Distance of a placed part from another one or from a body, minus the distance that they must keep; as
    /// [`super::shape::Solid::separation`].
    fn separation(&self, part: usize, other: Other, enough: f64) -> f64 {
        let (one, at) = (&self.bodies.parts[part], &self.placed[part]);
        match other {
            Other::Part(other) => {
                one.solid.separation(at, &self.bodies.parts[other].solid, &self.placed[other], enough)
            }
            Other::Body(body) => {
                let body = &self.scene.bodies[body];
                one.outer.separation(at, &body.solid, &body.at, enough)
            }
        }
    }

    /// The part of the motion of [`Checker::speeds`] that is free of collisions from a configuration on, in either
    /// direction, as a share of it up to `wanted`; or the pair that touches there.
    fn reach(&mut self, q: &[f64], wanted: f64) -> Result<f64, (usize, Other)> {
        self.checks += 1;
        self.place(q);
        let mut share = wanted;
        let mut nearest = self.nearest;
        let rest = self.left.as_ref().filter(|rest| !rest.touching.is_empty());
        let rest = rest.filter(|rest| self.displacement(&rest.position, q) < NEIGHBOURHOOD);
        let tolerated = rest.map_or(&[][..], |rest| &rest.touching);
        if !tolerated.is_empty() {
            // Contacts that are tolerated here are not tolerated farther on.
            share = share.min(self.speeds.least);
        }
        // Clearances beyond the one that has to be left: half of one from the scene, one from each other.
        let clearance = self.bodies.clearance;
        let mut check = |part: usize, other: Other| {
            let (speed, spare) = match other {
                Other::Part(other) => (self.speeds.of_pair(self.bodies, part, other), clearance),
                Other::Body(_) => (self.speeds.of_part(part), 0.5 * clearance),
            };
            let enough = (speed * share - spare).max(0.0);
            let apart = self.separation(part, other, enough);
            if apart < enough || apart <= 0.0 {
                nearest = Some((part, other));
            }
            if apart <= 0.0 {
                return Err((part, other));
            }
            if apart < enough {
                share = (apart + spare) / speed;
            }
            Ok(())
        };
        let is_tolerated = |part: usize, other: Other| match other {
            Other::Part(other) => tolerated.contains(&(part, other)),
            Other::Body(_) => false,
        };
        let mut all = || {
            if let Some((part, other)) = self.nearest.filter(|(part, other)| !is_tolerated(*part, *other)) {
                check(part, other)?;
            }
            // The tool is where obstacles are.
            for (index, _) in
                self.bodies.parts.iter().enumerate().rev().filter(|(_, part)| part.joints_below > 0)
            {
                for body in 0..self.scene.bodies.len() {
                    check(index, Other::Body(body))?;
                }
            }
            for (part, other) in self.bodies.pairs.iter().copied() {
                if !is_tolerated(part, Other::Part(other)) {
                    check(part, Other::Part(other))?;
                }
            }
            Ok(())
        };
        let found = all();
        self.nearest = nearest;
        found.map(|()| share)
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
    pub fn is_free(&mut self, from: &[f64], to: &[f64]) -> bool {
        self.is_straight_free(from, to, true)
    }

    /// Whether the straight motion in joint space and its end are free; its begin is known to be.
    pub fn reaches(&mut self, from: &[f64], to: &[f64]) -> bool {
        self.is_straight_free(from, to, false)
    }

    fn is_straight_free(&mut self, from: &[f64], to: &[f64], is_end_free: bool) -> bool {
        let rates: Vec<f64> = from.iter().zip(to).map(|(a, b)| (a - b).abs()).collect();
        self.is_way_free(&rates, is_end_free, |share, between| {
            for ((value, a), b) in between.iter_mut().zip(from).zip(to) {
                *value = a + (b - a) * share;
            }
        })
    }

    /// Whether a motion is free: `at` writes the configuration at a share of the way, from 0 to 1. Between two shares no
    /// joint moves farther than its rate times their difference, rad or m. The begin is known to be free, and the end if
    /// `is_end_free`.
    ///
    /// A sample shows that a part of the way round it is free: links are at least one and a half clearances away from
    /// the scene there, and two from each other, so that half a clearance of motion leaves one of each, and as much more
    /// as they are farther away. Samples are taken until these parts cover the way: the middle first, then the middles of
    /// what is left, so that what is in the way is found early.
    pub(super) fn is_way_free(
        &mut self,
        rates: &[f64],
        is_end_free: bool,
        at: impl Fn(f64, &mut [f64]),
    ) -> bool {
        self.speeds.set(self.bodies, rates);
        let least = self.speeds.least;
        // The check would need millions of configurations: it would take too long.
        if least.is_nan() || least < 1e-6 {
            return false;
        }
        let (mut between, mut gaps) = (std::mem::take(&mut self.between), std::mem::take(&mut self.gaps));
        gaps.clear();
        let mut sample = |share: f64, wanted: f64| {
            at(share, &mut between);
            self.reach(&between, wanted).ok()
        };
        let end = if is_end_free { Some(least) } else { sample(1.0, 1.0) };
        gaps.extend(end.map(|end| [least, 1.0 - end]));
        let mut is_free = end.is_some();
        while let Some([from, to]) = gaps.pop_front() {
            if to - from < NO_GAP {
                continue;
            }
            // Even samples that show the least cover the gap without overlap.
            let cells = ((to - from) / (2.0 * least) - NO_GAP).ceil().max(1.0);
            let share = from + ((cells / 2.0).floor() + 0.5) * (to - from) / cells;
            let Some(reach) = sample(share, (share - from).max(to - share)) else {
                is_free = false;
                break;
            };
            gaps.extend([[from, share - reach], [share + reach, to]]);
        }
        (self.between, self.gaps) = (between, gaps);
        is_free
    }
}

/// How fast parts move, at most, in a motion, m per unit of its share.
#[derive(Default)]
struct Speeds {
    rates: Vec<f64>,
    parts: Vec<f64>,
    /// The share of the motion within which no part moves by more than half a clearance.
    least: f64,
}

impl Speeds {
    fn set(&mut self, bodies: &ArmBodies, rates: &[f64]) {
        self.rates.clear();
        self.rates.extend_from_slice(rates);
        self.parts.clear();
        let levers = bodies.part_leverage.iter();
        self.parts.extend(
            levers.map(|levers| levers.iter().zip(rates).map(|(lever, rate)| lever * rate).sum::<f64>()),
        );
        let greatest: f64 = bodies.leverage.iter().zip(rates).map(|(lever, rate)| lever * rate).sum();
        self.least = 0.5 * bodies.clearance / greatest;
    }

    fn of_part(&self, part: usize) -> f64 {
        self.parts.get(part).copied().unwrap_or(0.0)
    }

    /// How fast one part moves as seen from the other: by the joints between them.
    fn of_pair(&self, bodies: &ArmBodies, part: usize, other: usize) -> f64 {
        let count = |part: usize| bodies.parts[part].joints_below;
        let (inner, outer) = if count(part) < count(other) { (part, other) } else { (other, part) };
        let levers = bodies.part_leverage[outer].iter().zip(&self.rates).skip(count(inner));
        levers.map(|(lever, rate)| lever * rate).sum()
    }
}

/// Where the arm stands, and the pairs of parts that touch there.
struct Rest {
    position: Vec<f64>,
    touching: Vec<(usize, usize)>,
}

#[derive(Clone, Copy)]
enum Other {
    Part(usize),
    Body(usize),
}

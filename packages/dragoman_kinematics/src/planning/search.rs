//! RRT-Connect in joint space, and shortcuts of the paths that it finds.
//!
//! Source: Kuffner and LaValle, "RRT-Connect: an efficient approach to single-query path planning", ICRA 2000; Geraerts
//! and Overmars, "Creating high-quality paths for motion planning", 2007 (shortcuts).

use super::PlanningError;
use super::check::Checker;
use crate::Robot;

/// How to search.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanOptions {
    /// Random configurations that are tried.
    pub max_iterations: u32,
    /// Attempts to make the path shorter.
    pub shortcuts: u32,
    /// Maximum length of an edge of the search: the root of the sum of squares of all joints' motions, rad or m.
    pub step: f64,
    /// Seed of the random configurations.
    pub seed: u64,
}

impl Default for PlanOptions {
    fn default() -> Self {
        Self { max_iterations: 100_000, shortcuts: 100, step: 1.5, seed: 1 }
    }
}

/// A path.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// Configurations, rad or m, with straight motions between them; the first is the start.
    pub path: Vec<Vec<f64>>,
    /// The goal that it leads to, by its place in the list.
    pub goal: usize,
    /// Random configurations that were tried.
    pub iterations: u32,
    /// Configurations that were checked for collisions.
    pub checks: u64,
}

/// How far outside of its limits a joint may be at the start, rad or m: an arm at a limit is measured a little beyond it.
pub const START_TOLERANCE: f64 = 0.01;

/// Finds a path from `start` to one of `goals`, joint positions in rad or m, without collision; the checker leaves the
/// start ([`Checker::leave`]).
///
/// The path begins at `start` as it is given. Joints that are outside of their limits there come back on the way.
///
/// # Errors
/// The start or a goal is not a configuration of the arm, or the arm collides there; no path was found.
pub fn plan(
    checker: &mut Checker<'_>,
    start: &[f64],
    goals: &[Vec<f64>],
    options: &PlanOptions,
) -> Result<Planned, PlanningError> {
    plan_while(checker, start, goals, options, || true)
}

/// As [`plan`], while `goes_on` is true; it is asked before every iteration and shortcut.
///
/// # Errors
/// As [`plan`], and [`PlanningError::Ended`]. When only shortcuts are missing, there is a path.
pub fn plan_while(
    checker: &mut Checker<'_>,
    start: &[f64],
    goals: &[Vec<f64>],
    options: &PlanOptions,
    goes_on: impl Fn() -> bool,
) -> Result<Planned, PlanningError> {
    check_configuration(checker.robot, "start", start, START_TOLERANCE)?;
    for goal in goals {
        check_configuration(checker.robot, "goal", goal, 0.0)?;
    }
    let before = checker.checks;
    checker.leave(start);
    if let Some(collision) = checker.collision(start) {
        return Err(PlanningError::StartCollides(collision));
    }
    let mut first_collision = None;
    let mut free: Vec<usize> = Vec::new();
    for (index, goal) in goals.iter().enumerate() {
        match checker.collision(goal) {
            Some(collision) => first_collision = first_collision.or(Some(collision)),
            None => free.push(index),
        }
    }
    if free.is_empty() {
        return Err(first_collision.map_or(PlanningError::NoGoal, PlanningError::GoalCollides));
    }
    free.sort_by(|a, b| {
        checker.displacement(start, &goals[*a]).total_cmp(&checker.displacement(start, &goals[*b]))
    });

    let mut iterations = 0;
    let straight = free.iter().find(|goal| checker.is_free(start, &goals[**goal])).copied();
    let (path, goal) = match straight {
        Some(goal) => (vec![start.to_vec(), goals[goal].clone()], goal),
        None => {
            let mut search = Search::new(checker, start, goals, &free, options);
            let found = search.run(options.max_iterations, &goes_on);
            iterations = search.iterations;
            let (mut path, goal) = found.ok_or(if iterations < options.max_iterations {
                PlanningError::Ended { iterations }
            } else {
                PlanningError::NotFound { iterations }
            })?;
            shorten(checker, &mut path, options, &goes_on);
            (path, goal)
        }
    };
    Ok(Planned { path, goal, iterations, checks: checker.checks - before })
}

pub(super) fn check_configuration(
    robot: &Robot,
    what: &'static str,
    q: &[f64],
    tolerance: f64,
) -> Result<(), PlanningError> {
    let needed = robot.joint_count();
    if q.len() != needed {
        return Err(PlanningError::WrongLength { what, needed, found: q.len() });
    }
    for (joint, value) in robot.joints().iter().zip(q) {
        if !value.is_finite() || *value < joint.lower - tolerance || *value > joint.upper + tolerance {
            let (joint, lower, upper) = (joint.name.clone(), joint.lower, joint.upper);
            return Err(PlanningError::Limit { what, joint, value: *value, lower, upper });
        }
    }
    Ok(())
}

/// Number of blocked extensions in a row after which the larger tree is extended once.
const BLOCKED: u32 = 8;

/// Configurations that can be reached from the roots.
#[derive(Default)]
struct Tree {
    /// All configurations in one list.
    positions: Vec<f64>,
    parents: Vec<usize>,
}

impl Tree {
    fn add(&mut self, q: &[f64], parent: usize) -> usize {
        self.positions.extend_from_slice(q);
        self.parents.push(parent);
        self.parents.len() - 1
    }

    fn node(&self, index: usize, width: usize) -> &[f64] {
        &self.positions[index * width..(index + 1) * width]
    }

    /// The nodes from this one to its root.
    fn way(&self, mut index: usize, width: usize) -> Vec<Vec<f64>> {
        let mut way = vec![self.node(index, width).to_vec()];
        while self.parents[index] != index {
            index = self.parents[index];
            way.push(self.node(index, width).to_vec());
        }
        way
    }
}

/// How far a tree could be grown.
enum Grown {
    Arrived(usize),
    Advanced(usize),
    Blocked,
}

struct Search<'a, 'b> {
    checker: &'b mut Checker<'a>,
    trees: [Tree; 2],
    /// The goals that are roots of the second tree.
    roots: &'b [usize],
    /// Of each joint: where samples begin, and how far they reach.
    ranges: Vec<(f64, f64)>,
    step: f64,
    random: oorandom::Rand64,
    iterations: u32,
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(
        checker: &'b mut Checker<'a>,
        start: &[f64],
        goals: &[Vec<f64>],
        roots: &'b [usize],
        options: &PlanOptions,
    ) -> Self {
        let mut trees = [Tree::default(), Tree::default()];
        trees[0].add(start, 0);
        for (index, root) in roots.iter().enumerate() {
            trees[1].add(&goals[*root], index);
        }
        let range = |(index, joint): (usize, &crate::Joint)| {
            // Half a turn more than needed, where a joint has no limits.
            let known = || roots.iter().map(|root| goals[*root][index]).chain([start[index]]);
            let more = super::bodies::UNLIMITED;
            let lower =
                if joint.lower.is_finite() { joint.lower } else { known().fold(f64::MAX, f64::min) - more };
            let upper =
                if joint.upper.is_finite() { joint.upper } else { known().fold(f64::MIN, f64::max) + more };
            (lower, upper - lower)
        };
        let ranges = checker.robot.joints().iter().enumerate().map(range).collect();
        let random = oorandom::Rand64::new(options.seed.into());
        Self { checker, trees, roots, ranges, step: options.step, random, iterations: 0 }
    }

    /// The path and its goal.
    fn run(&mut self, max_iterations: u32, goes_on: impl Fn() -> bool) -> Option<(Vec<Vec<f64>>, usize)> {
        let width = self.ranges.len();
        let mut sample = vec![0.0; width];
        let (mut grown, mut blocked) = (0, 0);
        while self.iterations < max_iterations && goes_on() {
            self.iterations += 1;
            for (value, (lower, range)) in sample.iter_mut().zip(&self.ranges) {
                *value = lower + range * self.random.rand_float();
            }
            let reached = match self.extend(grown, &sample) {
                Grown::Blocked => None,
                Grown::Arrived(node) | Grown::Advanced(node) => Some(node),
            };
            if let Some(reached) = reached {
                let target = self.trees[grown].node(reached, width).to_vec();
                if let Some(other) = self.connect(1 - grown, &target) {
                    let (from_start, from_goal) =
                        if grown == 0 { (reached, other) } else { (other, reached) };
                    let mut path = self.trees[0].way(from_start, width);
                    path.reverse();
                    // Both ways end where the trees met.
                    path.extend(self.trees[1].way(from_goal, width).into_iter().skip(1));
                    let goal = self.root_of(from_goal);
                    return Some((path, goal));
                }
            }
            // The smaller tree is extended; but it may be enclosed by obstacles.
            blocked = if reached.is_some() { 0 } else { blocked + 1 };
            let [from_start, from_goal] = [0, 1].map(|tree: usize| self.trees[tree].parents.len());
            let smaller = usize::from(from_goal < from_start);
            grown = if blocked % BLOCKED == BLOCKED - 1 { 1 - smaller } else { smaller };
        }
        None
    }

    fn root_of(&self, mut node: usize) -> usize {
        while self.trees[1].parents[node] != node {
            node = self.trees[1].parents[node];
        }
        self.roots[node]
    }

    /// Grows a tree by one step towards a configuration.
    fn extend(&mut self, tree: usize, target: &[f64]) -> Grown {
        let nearest = self.nearest(tree, target);
        self.advance(tree, nearest, target)
    }

    /// Grows a tree until it arrives or is blocked.
    fn connect(&mut self, tree: usize, target: &[f64]) -> Option<usize> {
        let mut node = self.nearest(tree, target);
        loop {
            match self.advance(tree, node, target) {
                Grown::Arrived(node) => return Some(node),
                Grown::Advanced(further) => node = further,
                Grown::Blocked => return None,
            }
        }
    }

    fn advance(&mut self, tree: usize, node: usize, target: &[f64]) -> Grown {
        let width = self.ranges.len();
        let from = self.trees[tree].node(node, width).to_vec();
        let distance = squared_distance(&from, target).sqrt();
        let arrives = distance <= self.step;
        let share = if arrives { 1.0 } else { self.step / distance };
        let to: Vec<f64> = if arrives {
            target.to_vec()
        } else {
            from.iter().zip(target).map(|(a, b)| a + (b - a) * share).collect()
        };
        if !self.checker.reaches(&from, &to) {
            return Grown::Blocked;
        }
        let new = self.trees[tree].add(&to, node);
        if arrives { Grown::Arrived(new) } else { Grown::Advanced(new) }
    }

    fn nearest(&self, tree: usize, target: &[f64]) -> usize {
        let nodes = self.trees[tree].positions.chunks_exact(self.ranges.len());
        let far = nodes.map(|node| squared_distance(node, target)).enumerate();
        far.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(index, _)| index)
    }
}

/// Square of a distance in joint space.
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
}

/// Replaces parts of a path by straight motions.
fn shorten(
    checker: &mut Checker<'_>,
    path: &mut Vec<Vec<f64>>,
    options: &PlanOptions,
    goes_on: impl Fn() -> bool,
) {
    let mut random = oorandom::Rand64::new(u128::from(options.seed) + 1);
    for _ in 0..options.shortcuts {
        if path.len() < 3 || !goes_on() {
            return;
        }
        let lengths: Vec<f64> =
            path.windows(2).map(|pair| checker.displacement(&pair[0], &pair[1])).collect();
        let total: f64 = lengths.iter().sum();
        let mut places = [random.rand_float() * total, random.rand_float() * total];
        places.sort_by(f64::total_cmp);
        let [(from_edge, from), (to_edge, to)] = places.map(|place| point(path, &lengths, place));
        // Both points are on edges, between their samples.
        let is_free =
            from_edge != to_edge && checker.collision(&from).is_none() && checker.reaches(&from, &to);
        if !is_free {
            continue;
        }
        path.splice(from_edge + 1..=to_edge, [from, to]);
    }
    path.dedup();
}

/// The point of a path at this length, and its edge.
fn point(path: &[Vec<f64>], lengths: &[f64], mut place: f64) -> (usize, Vec<f64>) {
    let last = lengths.len() - 1;
    let mut edge = 0;
    while edge < last && place > lengths[edge] {
        place -= lengths[edge];
        edge += 1;
    }
    let share = if lengths[edge] > 0.0 { (place / lengths[edge]).min(1.0) } else { 0.0 };
    let between = path[edge].iter().zip(&path[edge + 1]).map(|(a, b)| a + (b - a) * share);
    (edge, between.collect())
}

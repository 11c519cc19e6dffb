//! The steps to a target.

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_geometry::{Point, Pose, Twist, heading, position, wrap_angle};
use dragoman_neobotix::map::Map;

use super::{MotionEvent, STANDING, Situation};
use crate::motion::chain::{after, progress};
use crate::motion::curve::Curve;
use crate::motion::follow::{self, Follower};
use crate::planning::{PlanError, Scene, Step};
use crate::settings::Settings;

/// Maximum number of corrections of the pose at the goal.
const CORRECTIONS: u32 = 5;
/// Distance to the target below which the platform does not drive, m.
const THERE: f64 = 0.005;

#[derive(Debug, Clone)]
pub(super) enum Active {
    Turn(f64),
    Drive(Follower),
    /// Omnidirectional drives correct the pose at the goal without turning.
    Shift,
}

/// A target in progress.
#[derive(Debug, Clone)]
pub(super) struct Task {
    pub(super) goal: Pose,
    /// The requested path, and the progress along it, m.
    path: Option<(Vec<Point>, f64)>,
    pub(super) steps: VecDeque<Step>,
    pub(super) active: Option<Active>,
    /// Whether there is a plan; if not, the platform waits for the path to become free.
    planned: bool,
    /// Plan again when the platform stands.
    pub(super) replan: bool,
    pub(super) blocked: Option<Duration>,
    looked: Duration,
    corrections: u32,
}

impl Task {
    /// A task without steps.
    pub(super) fn new(goal: Pose, path: Option<Vec<Point>>, now: Duration) -> Self {
        Self {
            goal,
            path: path.map(|path| (path, 0.0)),
            steps: VecDeque::new(),
            active: None,
            planned: false,
            replan: true,
            blocked: None,
            looked: now,
            corrections: 0,
        }
    }

    /// The plan is no longer valid: the map, the pose or the settings have changed. The platform brakes where it is.
    pub(super) fn plan_again(&mut self) {
        self.active = None;
        self.steps.clear();
        self.planned = false;
        self.replan = true;
    }

    /// Detects obstacles, and decides when to plan another path.
    pub(super) fn watch(&mut self, situation: &Situation<'_>) -> Option<MotionEvent> {
        let planning = &situation.settings.planning;
        let waiting = !self.planned;
        let event = match (situation.blocked, self.blocked) {
            (true, None) => {
                self.blocked = Some(situation.now);
                Some(MotionEvent::Blocked)
            }
            (false, Some(_)) if !waiting && !self.replan && !situation.stands() => {
                self.blocked = None;
                Some(MotionEvent::Resumed)
            }
            _ => None,
        };
        if !planning.enabled || situation.now.saturating_sub(self.looked) < planning.interval {
            return event;
        }
        self.looked = situation.now;
        let waited = self.blocked.map(|since| situation.now.saturating_sub(since));
        self.replan |= match &self.path {
            _ if waiting => waited.is_none_or(|waited| waited >= planning.interval),
            Some(_) => waited.is_some_and(|waited| waited >= planning.obstacle_wait),
            None => waited.is_some() || !self.rest_is_free(situation),
        };
        event
    }

    /// Whether the remaining path is free.
    fn rest_is_free(&self, situation: &Situation<'_>) -> bool {
        let scene = situation.scene(&[situation.pose, self.goal].map(position), true);
        let driving = match &self.active {
            Some(Active::Drive(follower)) => {
                follower.rest().iter().all(|sample| scene.stands(follower.curve().pose(sample)))
            }
            _ => true,
        };
        driving
            && self.steps.iter().all(|step| match step {
                Step::Drive(curve) => curve.samples().iter().all(|sample| scene.stands(curve.pose(sample))),
                Step::Turn(_) => true,
            })
    }

    /// Plans the steps from the current pose. Error: the planning error, and whether planning would also fail without
    /// obstacles.
    pub(super) fn try_plan(&mut self, situation: &Situation<'_>) -> Result<(), (PlanError, bool)> {
        self.plan(situation).map_err(|error| (error, self.steps(situation, false).is_err()))
    }

    fn plan(&mut self, situation: &Situation<'_>) -> Result<(), PlanError> {
        self.plan_again();
        self.steps = self.steps(situation, true)?.into();
        self.planned = true;
        self.replan = false;
        self.corrections = 0;
        Ok(())
    }

    fn steps(&mut self, situation: &Situation<'_>, with_obstacles: bool) -> Result<Vec<Step>, PlanError> {
        let (start, settings) = (situation.pose, situation.settings);
        let mut include = vec![position(start), position(self.goal)];
        include.extend(self.path.iter().flat_map(|(path, _)| path.iter().copied()));
        let scene = situation.scene(&include, with_obstacles);
        if !settings.planning.enabled {
            let steps = self.direct(&scene, start, settings);
            return if scene.is_permitted(start, &steps) {
                Ok(steps)
            } else {
                Err(reason(situation.map, settings, start, self.goal))
            };
        }
        let Some((path, along)) = &mut self.path else {
            return scene.plan(start, self.goal);
        };
        let progress = progress(path, position(start), *along);
        let rest = if self.blocked.is_some() && with_obstacles {
            *along = progress;
            scene.beyond_obstacle(path, progress)
        } else if *along > 0.0 {
            Some(after(path, progress))
        } else {
            Some(path.clone())
        };
        // The path is free, but the platform makes no progress: use any path.
        let Some(rest) = rest else {
            return scene.plan(start, self.goal);
        };
        let begin = rest[0];
        let looks = rest.get(1).map_or(self.goal.heading, |&next| heading(begin, next));
        let entry = Pose::new(begin.x, begin.y, looks);
        let near = (begin - position(start)).norm() < THERE;
        let mut steps = if near { Vec::new() } else { scene.plan(start, entry)? };
        steps.extend(scene.drive(if near { start } else { entry }, &rest, false));
        steps.push(Step::Turn(self.goal.heading));
        if scene.is_permitted(start, &steps) { Ok(steps) } else { Err(PlanError::NoPath) }
    }

    /// Without planning: straight or curved to the goal or along the path.
    fn direct(&self, scene: &Scene<'_>, start: Pose, settings: &Settings) -> Vec<Step> {
        let interpolation = &settings.interpolation;
        let mut points = vec![position(start)];
        match &self.path {
            Some((path, along)) if *along > 0.0 => {
                points.extend(after(path, progress(path, position(start), *along)))
            }
            Some((path, _)) => points.extend(path),
            None => points.push(position(self.goal)),
        }
        points.dedup_by(|a, b| (*a - *b).norm() < THERE);
        let turn = Step::Turn(self.goal.heading);
        let [_, next, ..] = points[..] else {
            return vec![turn];
        };
        if interpolation.start_turn && (interpolation.end_turn || points.len() > 2) {
            return scene.drive(start, &points, false).into_iter().chain([turn]).collect();
        }
        // A curve to the first point, in the direction of the path: it starts in the platform's direction, or after a
        // turn.
        let straight = heading(points[0], next);
        let begins = if interpolation.start_turn { straight } else { start.heading };
        let ends = match points.get(2) {
            Some(&after) => heading(next, after),
            None if interpolation.end_turn => straight,
            None => self.goal.heading,
        };
        let begin = Pose::new(start.x, start.y, begins);
        let end = Pose::new(next.x, next.y, ends);
        let mut steps = if interpolation.start_turn { vec![Step::Turn(begins)] } else { Vec::new() };
        steps.push(Step::Drive(Curve::bezier(begin, end)));
        steps.extend(scene.drive(end, &points[1..], false));
        steps.push(turn);
        steps
    }

    /// Executes the next part. Error: the task has ended.
    pub(super) fn go_on(&mut self, situation: &Situation<'_>) -> Result<(Twist, Option<Pose>), MotionEvent> {
        let (pose, settings) = (situation.pose, situation.settings);
        if self.active.is_none() {
            self.active = match self.steps.pop_front() {
                Some(Step::Turn(heading)) => Some(Active::Turn(heading)),
                Some(Step::Drive(curve)) => Some(Active::Drive(Follower::new(curve, settings))),
                None if !self.planned || !situation.stands() => return Ok((Twist::ZERO, None)),
                None => {
                    self.finish(situation)?;
                    return Ok((Twist::ZERO, Some(self.goal)));
                }
            };
        }
        let (twist, reference, done) = match self.active.as_mut() {
            None => (Twist::ZERO, None, true),
            Some(Active::Turn(heading)) => {
                let reference = Some(Pose { heading: wrap_angle(*heading), ..pose });
                if situation.velocity.speed() >= STANDING {
                    return Ok((Twist::ZERO, reference));
                }
                let rate = follow::turn(pose.heading, *heading, settings);
                let done = rate.is_none() && situation.stands();
                (Twist::new(0.0, rate.unwrap_or_default()), reference, done)
            }
            Some(Active::Shift) => {
                let twist = follow::shift(pose, self.goal, settings);
                (twist.unwrap_or_default(), Some(self.goal), twist.is_none() && situation.stands())
            }
            Some(Active::Drive(follower)) => {
                let tracking = follower.step(pose, situation.velocity.linear, settings);
                // Far beside the path, or its end was passed unnoticed.
                self.replan |= tracking.offset.abs() > settings.motion.path_tolerance;
                let reference = Some(follower.curve().pose(&tracking.reference));
                (tracking.twist, reference, tracking.arrived && situation.stands())
            }
        };
        if done {
            self.active = None;
        }
        if let Some((path, along)) = &mut self.path {
            *along = progress(path, position(pose), *along);
        }
        Ok((twist, reference))
    }

    /// Checks the final pose, and corrects it if necessary.
    fn finish(&mut self, situation: &Situation<'_>) -> Result<(), MotionEvent> {
        let (pose, motion) = (situation.pose, &situation.settings.motion);
        let away = (position(self.goal) - position(pose)).norm();
        let wrong = wrap_angle(self.goal.heading - pose.heading).abs();
        if !motion.stabilization || (away <= motion.position_tolerance && wrong <= motion.heading_tolerance) {
            return Err(MotionEvent::Arrived);
        }
        if self.corrections >= CORRECTIONS {
            return Err(MotionEvent::Missed);
        }
        self.corrections += 1;
        if situation.settings.drives().is_omnidirectional() {
            self.active = Some(Active::Shift);
            return Ok(());
        }
        let mut steps = Vec::new();
        if away > motion.position_tolerance {
            let towards = heading(position(pose), position(self.goal));
            // Backwards if that is the shorter turn.
            let reverse = wrap_angle(towards - pose.heading).abs() > std::f64::consts::FRAC_PI_2;
            let mut curve = Curve::straight(position(pose), position(self.goal));
            curve.reverse = reverse;
            steps.push(Step::Turn(if reverse {
                wrap_angle(towards + std::f64::consts::PI)
            } else {
                towards
            }));
            steps.push(Step::Drive(curve));
        }
        steps.push(Step::Turn(self.goal.heading));
        let scene = situation.scene(&[pose, self.goal].map(position), false);
        if !scene.is_permitted(pose, &steps) {
            return Err(MotionEvent::Missed);
        }
        self.steps = steps.into();
        Ok(())
    }

    /// Brakes along the path.
    pub(super) fn brake(&mut self, situation: &Situation<'_>) -> Twist {
        let Some(Active::Drive(follower)) = &mut self.active else {
            return Twist::ZERO;
        };
        let speed = situation.velocity.linear;
        let twist = follower.step(situation.pose, speed, situation.settings).twist;
        Twist::new(0.0, if speed.abs() < STANDING { 0.0 } else { twist.angular })
    }
}

/// The reason why the map permits no path.
fn reason(map: &Map, settings: &Settings, start: Pose, goal: Pose) -> PlanError {
    if map.forbids(&settings.footprint.at(start)) {
        PlanError::CollisionStart
    } else if map.forbids(&settings.footprint.at(goal)) {
        PlanError::CollisionTarget
    } else {
        PlanError::NoPath
    }
}

//! The motion mode automatic (PlatformCtrl guide, 4.3): a goal or a path becomes a sequence of turns and curves; if an
//! obstacle is in the way, the platform waits or plans another path.

mod task;

use std::sync::Arc;
use std::time::Duration;

use dragoman_geometry::{Point, Pose, Twist, position};
use dragoman_neobotix::codes::PlannerState;
use dragoman_neobotix::map::Map;

use super::obstacles::Obstacles;
use crate::planning::{Ground, PlanError, Scene, Step};
use crate::settings::Settings;
use task::{Active, Task};

/// Below this speed the platform counts as standing, m/s and rad/s.
const STANDING: f64 = 0.01;

/// Target of a motion.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A pose in the map.
    Pose(Pose),
    /// A path through these points of the map, in straight lines; at the end the platform turns to the direction of the
    /// last pose.
    Path(Vec<Pose>),
}

impl From<PlanError> for PlannerState {
    fn from(error: PlanError) -> Self {
        match error {
            PlanError::CollisionStart => Self::CollisionStart,
            PlanError::CollisionTarget => Self::CollisionTarget,
            PlanError::NoPath => Self::NoPath,
        }
    }
}

impl Target {
    /// All poses of the target; the last one is the goal.
    pub fn poses(&self) -> &[Pose] {
        match self {
            Self::Pose(pose) => std::slice::from_ref(pose),
            Self::Path(poses) => poses,
        }
    }
}

/// A motion and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Motion {
    /// Number of the motion, from 1; unique for each target.
    pub number: u64,
    /// `None`: in progress, or no motion yet.
    pub end: Option<MotionEnd>,
    /// Number of times another path was planned.
    pub replans: u32,
}

/// Result of a motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum MotionEnd {
    /// Reached the goal.
    #[error("the goal is reached")]
    Arrived,
    /// Near the goal, but outside of the tolerance.
    #[error("the goal is missed by more than its tolerance")]
    Missed,
    /// Planning failed.
    #[error(transparent)]
    Failed(PlanError),
    /// The external navigator failed.
    #[error("the navigator has failed")]
    NotNavigated,
    /// The motion was stopped.
    #[error("the motion was stopped")]
    GivenUp,
}

/// Report of an external navigator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Navigation {
    /// The target was accepted, the platform drives.
    Accepted,
    /// The goal is reached.
    Arrived,
    /// The goal cannot be reached.
    Failed,
}

/// What happened to the motion to a goal since the last cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MotionEvent {
    /// The goal is reached.
    Arrived,
    /// Near the goal, but outside of the tolerance.
    Missed,
    /// Planning failed, with or without obstacles; the motion has ended.
    Failed(PlanError),
    /// The external navigator failed.
    NotNavigated,
    /// An obstacle is in the way; the platform waits.
    Blocked,
    /// The platform moves again.
    Resumed,
    /// Another path was planned.
    Replanned,
}

/// Inputs of a motion.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Situation<'a> {
    /// Time since the start.
    pub now: Duration,
    /// Pose in the map.
    pub pose: Pose,
    /// Last commanded velocity.
    pub velocity: Twist,
    /// Whether an obstacle prevented motion.
    pub blocked: bool,
    pub map: &'a Arc<Map>,
    /// Free space of the map.
    pub ground: &'a Arc<Ground>,
    /// Sensed obstacles.
    pub obstacles: &'a Obstacles,
    /// Settings of the motion.
    pub settings: &'a Settings,
}

impl Situation<'_> {
    fn scene(&self, include: &[Point], with_obstacles: bool) -> Scene<'_> {
        let obstacles = if with_obstacles { self.obstacles.remembered().collect() } else { Vec::new() };
        Scene::new(self.map, self.ground, obstacles, include, self.settings)
    }

    fn stands(&self) -> bool {
        self.velocity.speed() < STANDING && self.velocity.angular.abs() < STANDING
    }
}

/// A planning job. It owns all its data, so that another thread can run it while the platform moves.
#[derive(Debug)]
pub struct PlanJob {
    number: u64,
    task: Task,
    now: Duration,
    pose: Pose,
    velocity: Twist,
    blocked: bool,
    map: Arc<Map>,
    ground: Arc<Ground>,
    obstacles: Obstacles,
    settings: Settings,
}

/// Result of a [`PlanJob`].
#[derive(Debug)]
pub struct Planned {
    number: u64,
    task: Task,
    outcome: Outcome,
}

/// The planning error, and whether planning would also fail without obstacles.
type Outcome = Result<(), (PlanError, bool)>;

impl PlanJob {
    fn new(number: u64, task: Task, situation: &Situation<'_>) -> Self {
        let Situation { now, pose, velocity, blocked, map, ground, obstacles, settings } = *situation;
        let (map, ground) = (Arc::clone(map), Arc::clone(ground));
        let (obstacles, settings) = (obstacles.clone(), settings.clone());
        Self { number, task, now, pose, velocity, blocked, map, ground, obstacles, settings }
    }

    /// Plans a path. In a large map this takes longer than a cycle.
    pub fn solve(self) -> Planned {
        let Self { number, mut task, now, pose, velocity, blocked, map, ground, obstacles, settings } = self;
        let (map, ground, obstacles, settings) = (&map, &ground, &obstacles, &settings);
        let outcome =
            task.try_plan(&Situation { now, pose, velocity, blocked, map, ground, obstacles, settings });
        Planned { number, task, outcome }
    }
}

/// Executes the motion to a target.
#[derive(Debug, Default)]
pub struct Automatic {
    task: Option<Task>,
    /// Whether the caller of [`Automatic::poll_plan`] makes the plans.
    plans_beside: bool,
    /// The next planning job to hand out.
    job: Option<PlanJob>,
    /// The number of the plan in progress.
    awaited: Option<u64>,
    jobs: u64,
    /// The task of the external navigator.
    delegated: Option<Target>,
    motion: Motion,
    planner: PlannerState,
    reference: Option<Pose>,
}

impl Automatic {
    /// Starts a motion to a target, which replaces the last one. The platform may be moving; it stops before it turns.
    /// With an external navigator, the target is only monitored.
    ///
    /// # Errors
    /// Planning fails even without obstacles: the map prohibits it. The last target is cancelled.
    pub fn begin(&mut self, target: Target, situation: &Situation<'_>) -> Result<(), PlanError> {
        self.cancel();
        let Some(&goal) = target.poses().last() else {
            return Ok(());
        };
        self.motion = Motion { number: self.motion.number + 1, ..Motion::default() };
        let begun = if situation.settings.is_delegated {
            self.delegate(target, situation)
        } else {
            let path = match target {
                Target::Pose(_) => None,
                Target::Path(frames) => Some(frames.into_iter().map(position).collect()),
            };
            self.drive(Task::new(goal, path, situation.now), situation)
        };
        if let Err(error) = begun {
            self.fail(error);
        }
        begun
    }

    /// A target without a path: the last one is cancelled, and the platform stops.
    pub fn refuse(&mut self, error: PlanError) {
        self.cancel();
        self.motion = Motion { number: self.motion.number + 1, ..Motion::default() };
        self.fail(error);
    }

    fn fail(&mut self, error: PlanError) {
        self.motion.end = Some(MotionEnd::Failed(error));
        self.planner = error.into();
    }

    fn delegate(&mut self, target: Target, situation: &Situation<'_>) -> Result<(), PlanError> {
        let body = situation.settings.footprint;
        if target.poses().iter().any(|&pose| situation.map.forbids(&body.at(pose))) {
            return Err(PlanError::CollisionTarget);
        }
        self.planner = PlannerState::Planning;
        self.delegated = Some(target);
        Ok(())
    }

    fn drive(&mut self, mut task: Task, situation: &Situation<'_>) -> Result<(), PlanError> {
        self.planner = PlannerState::Planning;
        if self.plans_beside {
            // The path is planned later; errors that need no planning are returned at once.
            if situation.map.forbids(&situation.settings.footprint.at(task.goal)) {
                return Err(PlanError::CollisionTarget);
            }
        } else if situation.stands() {
            self.planner = match task.try_plan(situation) {
                Ok(()) => PlannerState::PathFound,
                Err((error, true)) => return Err(error),
                Err((error, false)) => error.into(),
            };
        }
        self.task = Some(task);
        Ok(())
    }

    /// The map, the pose or the settings have changed: a motion to a target goes on, on a path that is planned again when
    /// the platform stands. A navigator plans by itself. The motion ends if the map prohibits its goal now.
    pub fn plan_again(&mut self, situation: &Situation<'_>) -> Option<MotionEvent> {
        let goal = self.goal()?;
        if situation.map.forbids(&situation.settings.footprint.at(goal)) {
            return Some(self.give_up(PlanError::CollisionTarget));
        }
        if let Some(task) = &mut self.task {
            task.plan_again();
            self.planner = PlannerState::Planning;
            // A plan in progress is one of before.
            (self.job, self.awaited) = (None, None);
        }
        None
    }

    /// Ends the motion with this error.
    fn give_up(&mut self, error: PlanError) -> MotionEvent {
        self.cancel();
        self.fail(error);
        MotionEvent::Failed(error)
    }

    /// Cancels the target.
    pub fn cancel(&mut self) {
        if self.is_busy() {
            self.motion.end = Some(MotionEnd::GivenUp);
        }
        self.task = None;
        self.delegated = None;
        self.reference = None;
        (self.job, self.awaited) = (None, None);
        self.planner = PlannerState::Standby;
    }

    /// From now on the caller of [`Automatic::poll_plan`] makes the plans. A target that cannot be reached is then
    /// cancelled later instead of refused.
    pub fn plan_beside(&mut self) {
        self.plans_beside = true;
    }

    /// The next plan to make; pass its result to [`Automatic::handle_planned`].
    pub fn poll_plan(&mut self) -> Option<PlanJob> {
        self.job.take()
    }

    /// Takes a finished plan; ignored if it is outdated.
    pub fn handle_planned(&mut self, planned: Planned) -> Option<MotionEvent> {
        if self.awaited != Some(planned.number) {
            return None;
        }
        self.awaited = None;
        self.task = Some(planned.task);
        self.settle(planned.outcome)
    }

    fn settle(&mut self, outcome: Outcome) -> Option<MotionEvent> {
        let task = self.task.as_mut()?;
        match outcome {
            Ok(()) => {
                self.planner = PlannerState::PathFound;
                let replanned = task.blocked.take().map(|_| MotionEvent::Replanned);
                self.motion.replans += u32::from(replanned.is_some());
                replanned
            }
            // Obstacles may disappear; prohibitions of the map are permanent.
            Err((error, hopeless)) => {
                self.planner = error.into();
                task.replan = false;
                if !hopeless {
                    return None;
                }
                Some(self.give_up(error))
            }
        }
    }

    /// The task of the external navigator.
    pub fn delegated(&self) -> Option<&Target> {
        self.delegated.as_ref()
    }

    /// Takes a report of the external navigator.
    pub fn navigated(&mut self, news: Navigation) -> Option<MotionEvent> {
        self.delegated.as_ref()?;
        let (planner, end, event) = match news {
            Navigation::Accepted => {
                self.planner = PlannerState::PathFound;
                return None;
            }
            Navigation::Arrived => (PlannerState::Standby, MotionEnd::Arrived, MotionEvent::Arrived),
            Navigation::Failed => (PlannerState::NoPath, MotionEnd::NotNavigated, MotionEvent::NotNavigated),
        };
        self.delegated = None;
        self.planner = planner;
        self.motion.end = Some(end);
        Some(event)
    }

    /// The last motion.
    pub fn motion(&self) -> Motion {
        self.motion
    }

    /// Whether there is a target.
    pub fn is_busy(&self) -> bool {
        self.task.is_some() || self.delegated.is_some()
    }

    /// Pose in the map where the motion ends; `None` without a target.
    pub fn goal(&self) -> Option<Pose> {
        let delegated = || self.delegated.as_ref()?.poses().last().copied();
        self.task.as_ref().map(|task| task.goal).or_else(delegated)
    }

    /// The current reference pose.
    pub fn reference(&self) -> Option<Pose> {
        self.reference
    }

    /// State of the planner.
    pub fn planner(&self) -> PlannerState {
        self.planner
    }

    /// The remaining path, in the map, m.
    pub fn path(&self) -> impl Iterator<Item = Point> + '_ {
        let task = self.task.iter();
        task.flat_map(|task| {
            let active = match &task.active {
                Some(Active::Drive(follower)) => follower.rest(),
                _ => &[],
            };
            let later = task
                .steps
                .iter()
                .filter_map(|step| if let Step::Drive(curve) = step { Some(curve.samples()) } else { None });
            std::iter::once(active).chain(later).flatten().map(|sample| sample.point)
        })
    }

    /// The wanted velocity. The caller limits it for safety.
    pub fn cycle(&mut self, situation: &Situation<'_>) -> (Twist, Option<MotionEvent>) {
        let Some(task) = &mut self.task else {
            return (Twist::ZERO, None);
        };
        let event = task.watch(situation);
        if task.replan {
            self.planner = PlannerState::Planning;
            if !situation.stands() {
                return (task.brake(situation), event);
            }
            if self.plans_beside {
                if self.awaited.is_none() {
                    self.jobs += 1;
                    self.awaited = Some(self.jobs);
                    self.job = Some(PlanJob::new(self.jobs, task.clone(), situation));
                }
                return (Twist::ZERO, event);
            }
            let outcome = task.try_plan(situation);
            return match self.settle(outcome) {
                Some(failed @ MotionEvent::Failed(_)) => (Twist::ZERO, Some(failed)),
                settled => (Twist::ZERO, event.or(settled)),
            };
        }
        match task.go_on(situation) {
            Ok((twist, reference)) => {
                self.reference = reference.or(self.reference);
                (twist, event)
            }
            Err(end) => {
                self.task = None;
                self.planner = PlannerState::Standby;
                self.motion.end =
                    Some(if end == MotionEvent::Arrived { MotionEnd::Arrived } else { MotionEnd::Missed });
                (Twist::ZERO, Some(end))
            }
        }
    }

    /// Brakes along the path; the motion can be continued.
    pub fn brake(&mut self, situation: &Situation<'_>) -> Twist {
        self.task.as_mut().map_or(Twist::ZERO, |task| task.brake(situation))
    }
}

//! The motion mode automatic (seed 002, section 4.3): a goal or a path becomes turns and curves, which are done one after the other; where
//! something is in the way, the platform waits or looks for another way.

mod task;

use std::sync::Arc;
use std::time::Duration;

use dragoman_geometry::{Point, Pose, Twist, position};
use dragoman_neobotix::map::Map;

use super::obstacles::Obstacles;
use crate::planning::{Ground, PlanError, Scene, Step};
use crate::settings::Settings;
use task::{Active, Task};

/// Slower than this the platform stands, m/s and rad/s.
const STANDING: f64 = 0.01;

/// Where to go.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// To a pose in the map.
    Pose(Pose),
    /// Along these places of the map, straight from one to the next; at the end into the last one's direction.
    Path(Vec<Pose>),
}

/// State of the planner, with the numbers of `CMD_GET_STATUS`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum PlannerState {
    /// There is nothing to plan.
    #[default]
    Standby = 0,
    /// A plan is wanted, and waits for the platform to stand.
    Planning = 1,
    /// There is no way.
    NoPath = 2,
    /// There is one.
    PathFound = 3,
    /// The platform cannot leave where it stands.
    CollisionStart = 4,
    /// There is no room at the goal.
    CollisionTarget = 5,
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
    /// All poses of it, the last one is the goal.
    pub fn poses(&self) -> &[Pose] {
        match self {
            Self::Pose(pose) => std::slice::from_ref(pose),
            Self::Path(poses) => poses,
        }
    }
}

/// Which motion, and what has come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Motion {
    /// Each target has one of its own, from 1.
    pub number: u64,
    /// None: it is under way, or there was none yet.
    pub end: Option<MotionEnd>,
    /// How often another way was looked for.
    pub replans: u32,
}

/// How a motion has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum MotionEnd {
    /// At its goal.
    #[error("the goal is reached")]
    Arrived,
    /// Near its goal, but not as near as it should.
    #[error("the goal is missed by more than its tolerance")]
    Missed,
    /// There is no way.
    #[error(transparent)]
    Failed(PlanError),
    /// Another navigator has not done it.
    #[error("the navigator has failed")]
    NotNavigated,
    /// It was stopped.
    #[error("the motion was stopped")]
    GivenUp,
}

/// What another navigator tells of a motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Navigation {
    /// It has taken the target, and drives.
    Accepted,
    /// The goal is reached.
    Arrived,
    /// It will not be.
    Failed,
}

/// What has come of a motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MotionEvent {
    /// The goal is reached.
    Arrived,
    /// The platform is where it should be but not as exactly as it should.
    Missed,
    /// There is no way, with or without obstacles; the motion has ended.
    Failed(PlanError),
    /// Another navigator has not reached the goal.
    NotNavigated,
    /// An obstacle is in the way; the platform waits.
    Blocked,
    /// It goes on.
    Resumed,
    /// Another way was found.
    Replanned,
}

/// What a motion depends on.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Since the start.
    pub now: Duration,
    /// Where the platform is in the map.
    pub pose: Pose,
    /// What it was told last.
    pub velocity: Twist,
    /// Whether an obstacle kept it from moving.
    pub blocked: bool,
    /// What there is.
    pub map: &'a Arc<Map>,
    /// What the map leaves free.
    pub ground: &'a Arc<Ground>,
    /// What is in the way.
    pub obstacles: &'a Obstacles,
    /// How to move.
    pub settings: &'a Settings,
}

impl Situation<'_> {
    fn scene(&self, include: &[Point], with_obstacles: bool) -> Scene<'_> {
        let obstacles = if with_obstacles { self.obstacles.remembered().collect() } else { Vec::new() };
        Scene::new(self.map, self.ground, obstacles, include, self.settings)
    }

    fn stands(&self) -> bool {
        self.velocity.linear.abs() < STANDING && self.velocity.angular.abs() < STANDING
    }
}

/// A plan that is to be made. It owns all that it needs, so that it can be made in another thread while the platform goes on.
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

/// What has come of a [`PlanJob`].
#[derive(Debug)]
pub struct Planned {
    number: u64,
    task: Task,
    outcome: Outcome,
}

/// Why there is no plan, and whether there would be none without obstacles either.
type Outcome = Result<(), (PlanError, bool)>;

impl PlanJob {
    fn new(number: u64, task: Task, situation: &Situation<'_>) -> Self {
        let Situation { now, pose, velocity, blocked, map, ground, obstacles, settings } = *situation;
        let (map, ground) = (Arc::clone(map), Arc::clone(ground));
        let (obstacles, settings) = (obstacles.clone(), settings.clone());
        Self { number, task, now, pose, velocity, blocked, map, ground, obstacles, settings }
    }

    /// Looks for a way. In a large map that takes longer than a cycle.
    pub fn solve(self) -> Planned {
        let Self { number, mut task, now, pose, velocity, blocked, map, ground, obstacles, settings } = self;
        let (map, ground, obstacles, settings) = (&map, &ground, &obstacles, &settings);
        let outcome =
            task.try_plan(&Situation { now, pose, velocity, blocked, map, ground, obstacles, settings });
        Planned { number, task, outcome }
    }
}

/// Does what is to be done for a target.
#[derive(Debug, Default)]
pub struct Automatic {
    task: Option<Task>,
    /// Whether plans are made by whoever polls [`Automatic::poll_plan`].
    plans_beside: bool,
    /// A plan that is still to be handed out.
    job: Option<PlanJob>,
    /// The number of the plan that is being made.
    awaited: Option<u64>,
    jobs: u64,
    /// What another navigator is to do.
    delegated: Option<Target>,
    motion: Motion,
    planner: PlannerState,
    reference: Option<Pose>,
}

impl Automatic {
    /// Begins with a target in place of the last. The platform may move; it stops before it turns. Where another navigator drives, the target is
    /// for it, and only looked at.
    ///
    /// # Errors
    /// There is no way, even without obstacles: the map forbids it. The last target is given up.
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
            self.motion.end = Some(MotionEnd::Failed(error));
            self.planner = error.into();
        }
        begun
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
            // The way is looked for later; what can be said at once is said at once.
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

    /// Gives up the target.
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

    /// From now on plans are made by whoever polls [`Automatic::poll_plan`]. A target without a way is then given up later, not refused.
    pub fn plan_beside(&mut self) {
        self.plans_beside = true;
    }

    /// A plan to be made; its result is for [`Automatic::planned`].
    pub fn poll_plan(&mut self) -> Option<PlanJob> {
        self.job.take()
    }

    /// Takes a plan that was made; nothing, if it is not wanted any more.
    pub fn planned(&mut self, planned: Planned) -> Option<MotionEvent> {
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
            // Obstacles go away; what the map forbids it will forbid later, too.
            Err((error, hopeless)) => {
                self.planner = error.into();
                task.replan = false;
                if !hopeless {
                    return None;
                }
                self.cancel();
                self.planner = error.into();
                self.motion.end = Some(MotionEnd::Failed(error));
                Some(MotionEvent::Failed(error))
            }
        }
    }

    /// What another navigator is to do.
    pub fn delegated(&self) -> Option<&Target> {
        self.delegated.as_ref()
    }

    /// Takes what that navigator tells of it.
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

    /// Where the platform is to go.
    pub fn goal(&self) -> Option<Pose> {
        let delegated = || self.delegated.as_ref()?.poses().last().copied();
        self.task.as_ref().map(|task| task.goal).or_else(delegated)
    }

    /// Where it should be now.
    pub fn reference(&self) -> Option<Pose> {
        self.reference
    }

    /// State of the planner.
    pub fn planner(&self) -> PlannerState {
        self.planner
    }

    /// What is left of the way, point by point, in the map.
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

    /// What the platform shall do now. What it may do of it is the safety field's to say.
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

    /// Brakes along the way; nothing is forgotten.
    pub fn brake(&mut self, situation: &Situation<'_>) -> Twist {
        self.task.as_mut().map_or(Twist::ZERO, |task| task.brake(situation))
    }
}

//! What is told of a platform.

use dragoman_geometry::{Point, Pose, Segment, Twist};
use dragoman_neobotix::map::{Map, Roadmap};

use super::{Emergency, MotionMode, Operation, Platform, Refusal};
use crate::localization::Uncertainty;
use crate::motion::automatic::{Motion, MotionEvent, Navigation, PlanJob, Planned, PlannerState, Target};
use crate::program::{Deed, Program};
use crate::replay::Player;
use crate::settings::Settings;

/// What has happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The platform is in another state.
    Operation(Operation),
    /// The emergency stop is in another state.
    Emergency(Emergency),
    /// The platform has another motion mode.
    Mode(MotionMode),
    /// Something has come of a motion.
    Motion(MotionEvent),
    /// The program wants this to be done. Outputs are set already.
    Program(Deed),
    /// All tasks of the program have ended.
    ProgramEnded,
    /// The program wanted a motion that there is not.
    ProgramRefused(Refusal),
    /// The recorded motion was driven to its end; the platform is ready.
    ReplayEnded,
    /// The platform is not where the recorded motion leads; it was given up.
    ReplayAstray,
    /// Velocity commands have stopped coming; the platform brakes.
    WatchdogExpired,
    /// The base has fallen silent; the platform has to be initialized anew.
    BaseSilent,
    /// The laser has not measured for too long, or never since the platform was connected; the platform does not move by itself.
    LaserSilent,
    /// It measures.
    LaserFound,
    /// The laser sees what the map does not explain; the platform drives to no goal until it has found itself.
    LocalizationLost,
    /// It has.
    LocalizationFound,
}

/// All that `CMD_GET_STATUS` tells of the controller itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Status {
    /// Whether the base was found.
    pub connected: bool,
    /// State of operation.
    pub operation: Operation,
    /// State of the emergency stop.
    pub emergency: Emergency,
    /// Motion mode.
    pub mode: MotionMode,
    /// Where the platform should be, in the map.
    pub commanded_pose: Pose,
    /// Where it is, in the map.
    pub pose: Pose,
    /// How well that is known.
    pub uncertainty: Uncertainty,
    /// Whether nobody knows where it is.
    pub localization_lost: bool,
    /// Whether it makes a map.
    pub is_mapping: bool,
    /// What it is told.
    pub velocity: Twist,
    /// Where it is to go.
    pub goal: Option<Pose>,
    /// Whether it has reached its last goal.
    pub target_reached: bool,
    /// State of the planner.
    pub planner: PlannerState,
    /// Whether an obstacle, or that it is blind, keeps it from moving.
    pub collision: bool,
    /// Whether it is connected and its laser does not measure: it does not move by itself. Always false without a laser.
    pub blind: bool,
}

impl Platform {
    /// The map in force.
    pub fn map(&self) -> &Map {
        &self.map
    }

    /// The roadmap in force.
    pub fn roadmap(&self) -> &Roadmap {
        &self.roadmap
    }

    /// The program in force.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What is left of the way, point by point, in the map, m.
    pub fn path(&self) -> impl Iterator<Item = Point> + '_ {
        self.automatic.path()
    }

    /// The last motion to a target, and what has come of it.
    pub fn motion(&self) -> Motion {
        self.automatic.motion()
    }

    /// What another navigator is to do now, if there is one ([`Settings::is_delegated`]), and the number of the motion. It stops when this is
    /// something else, or nothing.
    pub fn delegated(&self) -> Option<(u64, &Target)> {
        let may = self.operation == Operation::Moving && self.emergency == Emergency::Inactive && !self.blind;
        let target = self.automatic.delegated().filter(|_| may && !self.brakes.contains(&true))?;
        Some((self.automatic.motion().number, target))
    }

    /// Takes what that navigator tells of a motion; nothing, if there is another by now.
    pub fn navigated(&mut self, number: u64, news: Navigation) {
        if self.automatic.motion().number == number
            && let Some(event) = self.automatic.navigated(news)
        {
            self.moved(event);
        }
    }

    /// From now on plans are made by whoever polls [`Platform::poll_plan`], in another thread: in a large map they take longer than a cycle. A goal
    /// without a way is then given up later, not refused.
    pub fn plan_beside(&mut self) {
        self.automatic.plan_beside();
    }

    /// A plan to be made; its result is for [`Platform::planned`].
    pub fn poll_plan(&mut self) -> Option<PlanJob> {
        self.automatic.poll_plan()
    }

    /// Takes a plan that was made; nothing, if it is not wanted any more.
    pub fn planned(&mut self, planned: Planned) {
        if let Some(event) = self.automatic.planned(planned) {
            self.moved(event);
        }
    }

    /// Gives up a motion; nothing, if there is another by now. The platform brakes.
    pub fn give_up(&mut self, number: u64) {
        if self.automatic.motion().number == number && self.automatic.is_busy() {
            self.give_up_goal();
        }
    }

    /// Obstacles that are not in the map, in the map, m.
    pub fn obstacles(&self) -> impl Iterator<Item = Point> + '_ {
        self.obstacles.remembered()
    }

    /// The lines of the last scan, in the platform's frame, m.
    pub fn scanned_lines(&self) -> impl Iterator<Item = Segment> + '_ {
        self.scanned.iter().map(|line| line.segment)
    }

    /// The lines that mapping has found, in the map, m.
    pub fn mapped_lines(&self) -> impl Iterator<Item = Segment> + '_ {
        self.mapper.lines(&self.settings.mapping)
    }

    /// Where the platform may be in the map, the most likely first.
    pub fn candidates(&self) -> impl Iterator<Item = Pose> + '_ {
        self.localizer.candidates()
    }

    /// All that is known.
    pub fn status(&self) -> Status {
        Status {
            connected: self.connected,
            operation: self.operation,
            emergency: self.emergency,
            mode: self.mode,
            commanded_pose: self.reference().unwrap_or(self.pose),
            pose: self.pose,
            uncertainty: self.localizer.uncertainty(),
            localization_lost: self.localizer.is_lost(),
            is_mapping: self.is_mapping,
            velocity: self.ramp.velocity(),
            goal: self.automatic.goal(),
            target_reached: self.target_reached,
            planner: self.automatic.planner(),
            collision: self.blocked,
            blind: self.blind,
        }
    }

    fn reference(&self) -> Option<Pose> {
        self.player.as_ref().map_or_else(|| self.automatic.reference(), Player::reference)
    }
}

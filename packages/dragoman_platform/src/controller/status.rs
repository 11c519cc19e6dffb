//! Status and events of a platform.

use std::sync::Arc;

use dragoman_geometry::{Point, Pose, Segment, Twist};
use dragoman_neobotix::map::{Map, Roadmap};

use super::{Docking, Emergency, MotionMode, Operation, PlannerState, Platform, Refusal};
use crate::localization::Uncertainty;
use crate::motion::automatic::{Motion, MotionEvent, Navigation, PlanJob, Planned, Target};
use crate::motion::safety;
use crate::program::interpreter::Interpreter;
use crate::program::{Effect, Program};
use crate::replay::Player;
use crate::settings::Settings;
use crate::tracking::MovingObject;

/// Events of a platform.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The operation state has changed.
    Operation(Operation),
    /// The emergency state has changed.
    Emergency(Emergency),
    /// The motion mode has changed.
    Mode(MotionMode),
    /// An event of a motion.
    Motion(MotionEvent),
    /// An effect of the program to be carried out. Digital outputs are already set.
    Program(Effect),
    /// All tasks of the program have ended.
    ProgramEnded,
    /// A motion of the program was refused.
    ProgramRefused(Refusal),
    /// The replay has reached its end; the platform is ready.
    ReplayEnded,
    /// The platform is too far from the recorded motion; the replay was cancelled.
    ReplayAstray,
    /// The velocity command has expired; the platform brakes.
    WatchdogExpired,
    /// Connection to the base lost; the platform has to be initialized again.
    BaseSilent,
    /// The laser has not measured for too long, or never since connecting; the platform does not move by itself.
    LaserSilent,
    /// The laser measures again.
    LaserFound,
    /// The scans contradict the map; the platform drives to no goal until it is localized again.
    LocalizationLost,
    /// The platform is localized again.
    LocalizationFound,
}

/// The part of `CMD_GET_STATUS` that concerns the controller itself.
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
    /// Reference pose, in the map.
    pub commanded_pose: Pose,
    /// Estimated pose, in the map.
    pub pose: Pose,
    /// Uncertainty of the estimated pose.
    pub uncertainty: Uncertainty,
    /// Whether localization is lost.
    pub localization_lost: bool,
    /// Whether mapping is active.
    pub is_mapping: bool,
    /// Commanded velocity.
    pub velocity: Twist,
    /// Current goal.
    pub goal: Option<Pose>,
    /// Whether the last goal was reached.
    pub target_reached: bool,
    /// The motion to a charging station.
    pub docking: Docking,
    /// State of the planner.
    pub planner: PlannerState,
    /// Whether an obstacle, or a silent laser, prevents motion.
    pub collision: bool,
    /// Whether it is connected and its laser does not measure: it does not move by itself. Always false without a
    /// laser.
    pub blind: bool,
}

impl Platform {
    /// The map in force.
    pub fn map(&self) -> &Arc<Map> {
        &self.area.map
    }

    /// The roadmap in force.
    pub fn roadmap(&self) -> &Roadmap {
        &self.area.roadmap
    }

    /// Interpreter of the running program; `None` if none runs.
    pub fn running_program(&self) -> Option<&Interpreter> {
        self.programs.interpreter.as_ref()
    }

    /// Number of the last start of a program, from 1; 0: none was started. Whether that run has come to its end.
    pub fn program_run(&self) -> (u32, bool) {
        let (started, completed) = self.programs.runs;
        (started, started > 0 && started == completed)
    }

    /// The program in force.
    pub fn program(&self) -> &Program {
        &self.programs.program
    }

    /// The settings in force.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Digital outputs of the IO board and the relay board, one bit per channel.
    pub fn digital_outputs(&self) -> [u16; 2] {
        self.switches.digital_outputs
    }

    /// The enabled ultrasonic sensors, one bit each.
    pub fn ultrasonics(&self) -> u16 {
        self.switches.ultrasonics
    }

    /// The remaining path, in the map, m.
    pub fn path(&self) -> impl Iterator<Item = Point> + '_ {
        self.drive.automatic.path()
    }

    /// The last motion to a target, and its result.
    pub fn motion(&self) -> Motion {
        self.drive.automatic.motion()
    }

    /// The task of the external navigator, if there is one ([`Settings::is_delegated`]), and the number of the motion.
    /// The navigator has to stop when the number changes or this becomes `None`.
    pub fn delegated(&self) -> Option<(u64, &Target)> {
        let may = self.operation == Operation::Moving
            && self.emergency.state() == Emergency::Inactive
            && !self.perception.blind;
        let target =
            self.drive.automatic.delegated().filter(|_| may && !self.switches.brakes.contains(&true))?;
        Some((self.drive.automatic.motion().number, target))
    }

    /// Takes a report of the navigator on a motion; ignored if another motion has started.
    pub fn navigated(&mut self, number: u64, news: Navigation) {
        if self.drive.automatic.motion().number == number
            && let Some(event) = self.drive.automatic.navigated(news)
        {
            self.moved(event);
        }
    }

    /// From now on the caller of [`Platform::poll_plan`] makes the plans, beside the cycle: in a large map planning
    /// takes longer than a cycle. A goal that cannot be reached is then cancelled later instead of refused.
    pub fn plan_beside(&mut self) {
        self.drive.automatic.plan_beside();
    }

    /// The next plan to make; pass its result to [`Platform::handle_planned`].
    pub fn poll_plan(&mut self) -> Option<PlanJob> {
        self.drive.automatic.poll_plan()
    }

    /// Takes a finished plan; ignored if it is outdated.
    pub fn handle_planned(&mut self, planned: Planned) {
        if let Some(event) = self.drive.automatic.handle_planned(planned) {
            self.moved(event);
        }
    }

    /// Cancels a motion; ignored if another motion has started. The platform brakes.
    pub fn give_up(&mut self, number: u64) {
        if self.drive.automatic.motion().number == number && self.drive.automatic.is_busy() {
            self.drive.automatic.cancel();
            self.programs.handle_motion_failed();
        }
    }

    /// Obstacles that are not in the map, in the map, m.
    pub fn obstacles(&self) -> impl Iterator<Item = Point> + '_ {
        self.perception.obstacles.remembered()
    }

    /// Moving objects, if [`Settings::tracking`].
    pub fn moving_objects(&self) -> impl Iterator<Item = MovingObject> + '_ {
        self.perception.tracker.moving()
    }

    /// The maximum speeds at which the platform would stop in time, by the laser and by the ultrasonic sensors, each
    /// ahead and back, m/s.
    pub fn safe_speeds(&self) -> [f64; 4] {
        let most = self.settings.limits.linear.velocity;
        let safe = |points: &[Point], speed: f64| {
            safety::allow(Twist::new(speed, 0.0), points, &self.settings).twist.linear.abs()
        };
        let (laser, ultrasonic) = self.perception.obstacles.by_sensor();
        [safe(laser, most), safe(laser, -most), safe(ultrasonic, most), safe(ultrasonic, -most)]
    }

    /// Corners of the last scan: where two of its lines meet, in the platform's frame, m.
    pub fn corners(&self) -> impl Iterator<Item = Point> + '_ {
        /// Maximum distance of the corner from the ends of the lines, m.
        const NEAR: f64 = 0.3;
        /// Minimum angle between the lines, rad.
        const BENT: f64 = 0.5;
        self.position.scanned.windows(2).filter_map(|pair| {
            let [a, b] = pair else { return None };
            let (a, b) = (a.segment, b.segment);
            let (along, across) = (a.b - a.a, b.b - b.a);
            let bend = along.perp(&across);
            if bend.abs() < BENT.sin() * along.norm() * across.norm() {
                return None;
            }
            let corner = a.a + along * ((b.a - a.a).perp(&across) / bend);
            ((corner - a.b).norm() <= NEAR && (corner - b.a).norm() <= NEAR).then_some(corner)
        })
    }

    /// The lines of the last scan, in the platform's frame, m.
    pub fn scanned_lines(&self) -> impl Iterator<Item = Segment> + '_ {
        self.position.scanned.iter().map(|line| line.segment)
    }

    /// The lines that mapping has found, in the map, m.
    pub fn mapped_lines(&self) -> impl Iterator<Item = Segment> + '_ {
        self.position.mapper.lines(&self.settings.mapping)
    }

    /// Possible poses in the map, the most likely first.
    pub fn candidates(&self) -> impl Iterator<Item = Pose> + '_ {
        self.position.localizer.candidates()
    }

    /// The current status.
    pub fn status(&self) -> Status {
        Status {
            connected: self.connected,
            operation: self.operation,
            emergency: self.emergency.state(),
            mode: self.mode,
            commanded_pose: self.reference().unwrap_or(self.position.pose),
            pose: self.position.pose,
            uncertainty: self.position.localizer.uncertainty(),
            localization_lost: self.position.localizer.is_lost(),
            is_mapping: self.position.is_mapping,
            velocity: self.drive.ramp.velocity(),
            goal: self.drive.automatic.goal(),
            target_reached: self.drive.target_reached,
            docking: self.drive.docking(self.now),
            planner: self.drive.automatic.planner(),
            collision: self.drive.blocked,
            blind: self.perception.blind,
        }
    }

    fn reference(&self) -> Option<Pose> {
        self.drive.player.as_ref().map_or_else(|| self.drive.automatic.reference(), Player::reference)
    }
}

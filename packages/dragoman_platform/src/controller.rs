//! The platform controller: commands and states, and what the platform does in each cycle (PlatformCtrl guide, 4.2 and
//! 4.3).
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Platform`]: a cycle, from measurements to velocities |
//! | `command.rs` | [`Command`]s, states, and reasons for refusals |
//! | `states.rs` | the execution of each command |
//! | `programs.rs` | the motion mode program |
//! | `status.rs` | the outputs: [`Status`], [`Event`]s |
//!
//! ```text
//! not initialized --Connect--> --Initialize--> Ready --Start, Continue--> Moving --Break--> Broken --Continue--> Moving
//!                     \--Stop--------------^    ^---------Stop---------------'-----------------'
//! ```
//!
//! `Stop` initializes a platform that is only connected, and `Continue` starts one that is ready: clients in the field
//! open a session with `Connect`, `Stop`, `SetMode`, `Continue`.

mod command;
mod programs;
mod states;
mod status;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use dragoman_geometry::limits::Ramp;
use dragoman_geometry::{Point, Pose, Twist};

use crate::localization::{Lines, Localizer};
use crate::mapping::Mapper;
use crate::mapping::extract::{Line, extract};
use crate::motion::automatic::{Automatic, MotionEvent, Situation};
use crate::motion::obstacles::{self, Obstacles, Scan, Sight};
use crate::motion::safety;
use crate::planning::Ground;
use crate::program::Program;
use crate::program::interpreter::{Conditions, Interpreter};
use crate::replay::{Player, Replayed};
use crate::settings::{Settings, SettingsError};
use crate::tracking::Tracker;

pub use command::{Command, Refusal};
use dragoman_geometry::{compose, is_finite, relative, transform};
pub use dragoman_neobotix::codes::{Board, Emergency, MotionMode, Motor, Operation, PlannerState};
use dragoman_neobotix::map::{Map, Roadmap};
pub use programs::Docking;
pub use states::PreparedMap;
pub use status::{Event, Status};

/// Maximum number of waiting events; the oldest are dropped first.
const MAX_EVENTS: usize = 256;
/// Maximum length of a cycle; longer ones count as this.
const MAX_STEP: Duration = Duration::from_millis(100);

/// Measurements.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// Time since the start; must not go back.
    pub now: Duration,
    /// Pose by the wheels' odometry, in the odometry frame.
    pub odometry: Pose,
    /// The laser's last scan, if there is one since the last cycle.
    pub scan: Option<Scan<'a>>,
    /// Ranges of the ultrasonic sensors by their numbers, m; NaN if absent.
    pub ultrasonics: &'a [f64],
    /// Whether the connection to the base is alive.
    pub base_alive: bool,
    /// Whether an emergency stop is pressed.
    pub emergency_stop: bool,
    /// Velocity commanded by the hardware's joystick, if it is active.
    pub joystick: Option<Twist>,
    /// Pose in the map from an external localization, if there is one; it replaces the odometry and our own
    /// localization.
    pub localized: Option<Pose>,
    /// Conditions for programs that the controller does not know itself; time, motion, obstacles and localization are
    /// ignored.
    pub conditions: Conditions<'a>,
}

impl Input<'_> {
    /// A connected base at `odometry`, without other measurements.
    pub fn at(now: Duration, odometry: Pose) -> Self {
        Self {
            now,
            odometry,
            scan: None,
            ultrasonics: &[],
            base_alive: true,
            emergency_stop: false,
            joystick: None,
            localized: None,
            conditions: Conditions::default(),
        }
    }
}

/// Commands for the platform's hardware.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Output {
    /// Velocity within the limits of speed and acceleration.
    pub twist: Twist,
    /// Whether the brakes of the right and the left drive are applied.
    pub brakes: [bool; 2],
    /// Digital outputs of the IO board and the relay board, one bit per channel.
    pub digital_outputs: [u16; 2],
    /// The enabled ultrasonic sensors, one bit each.
    pub ultrasonics: u16,
}

/// A platform: takes commands and measurements, returns velocities and events.
#[derive(Debug)]
pub struct Platform {
    settings: Settings,
    now: Duration,
    connected: bool,
    base_alive: bool,
    operation: Operation,
    emergency: Emergency,
    /// When the emergency stop was released.
    released: Duration,
    mode: MotionMode,
    brakes: [bool; 2],
    digital_outputs: [u16; 2],
    ultrasonics: u16,
    /// The last velocity command, and its time.
    velocity: Option<(Twist, Duration)>,
    ramp: Ramp,
    /// The last pose by odometry; `None` before the first cycle.
    odometry: Option<Pose>,
    localizer: Localizer,
    pose: Pose,
    is_mapping: bool,
    mapper: Mapper,
    /// Lines of the last scan, in the platform's frame.
    scanned: Vec<Line>,
    map: Arc<Map>,
    /// Of the map.
    lines: Arc<Lines>,
    /// Of the map.
    ground: Arc<Ground>,
    roadmap: Roadmap,
    obstacles: Obstacles,
    tracker: Tracker,
    automatic: Automatic,
    blocked: bool,
    /// Whether the laser was silent in the last cycle.
    blind: bool,
    target_reached: bool,
    program: Program,
    /// The running program.
    interpreter: Option<Interpreter>,
    /// Number of the last start of a program, from 1, and of the last one that has run to its end.
    program_runs: (u32, u32),
    /// Number of the last motion to a charging station, and when it arrived.
    docking: Option<(u64, Option<Duration>)>,
    /// The running replay.
    player: Option<Player>,
    events: VecDeque<Event>,
}

impl Platform {
    /// Not initialized, at the map's origin, with an empty map.
    ///
    /// # Errors
    /// A setting is invalid.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        let map = Map::default();
        Ok(Self {
            now: Duration::ZERO,
            connected: false,
            base_alive: true,
            operation: Operation::NotInitialized,
            emergency: Emergency::Inactive,
            released: Duration::ZERO,
            mode: MotionMode::None,
            brakes: [true; 2],
            digital_outputs: [0; 2],
            ultrasonics: 0,
            velocity: None,
            ramp: Ramp::new(settings.limits)?,
            odometry: None,
            localizer: Localizer::new(Pose::ORIGIN),
            pose: Pose::ORIGIN,
            is_mapping: false,
            mapper: Mapper::default(),
            scanned: Vec::new(),
            ground: Arc::new(Ground::new(&map, &settings)),
            lines: Arc::default(),
            map: Arc::new(map),
            roadmap: Roadmap::default(),
            obstacles: Obstacles::default(),
            tracker: Tracker::default(),
            automatic: Automatic::default(),
            blocked: false,
            blind: false,
            target_reached: false,
            program: Program::default(),
            interpreter: None,
            program_runs: (0, 0),
            docking: None,
            player: None,
            events: VecDeque::new(),
            settings,
        })
    }

    /// The base has sent nothing yet: until an input says otherwise, it counts as silent, and cannot be connected to.
    pub fn await_base(&mut self) {
        self.base_alive = false;
    }

    /// One cycle, every 20 to 50 ms. Measurements that are not finite are ignored.
    pub fn cycle(&mut self, input: &Input<'_>) -> Output {
        let step = input.now.saturating_sub(self.now).min(MAX_STEP);
        self.now = self.now.max(input.now);
        self.watch_base(input);
        self.watch_emergency(input.emergency_stop);
        let scan = input.scan.filter(|scan| is_finite(&scan.origin) && scan.points.iter().all(is_finite));
        let input = &Input { scan, ..*input };
        self.localize(input);
        let ultrasonics = self.active_ultrasonics(input.ultrasonics);
        let (lines, settings) = (self.ground.lines(), &self.settings);
        let sight = Sight {
            now: self.now,
            pose: self.pose,
            odometry: self.odometry.unwrap_or_default(),
            scan: input.scan,
            ultrasonics: &ultrasonics,
            // Without a known pose, scan points cannot be compared with the map.
            known: !self.localizer.is_searching(),
        };
        self.obstacles.update(&sight, lines, settings);
        self.track(input.scan);
        self.watch_laser();
        let wanted = if self.may_move() { self.wanted(input, step) } else { Twist::ZERO };
        let twist = self.permitted(self.settings.drivable(wanted));
        let stopped =
            self.brakes.contains(&true) || self.emergency != Emergency::Inactive || !self.base_alive;
        let twist = if stopped {
            self.ramp.stop();
            Twist::ZERO
        } else {
            self.ramp.step_along(twist, step)
        };
        Output {
            twist,
            brakes: self.brakes,
            digital_outputs: self.digital_outputs,
            ultrasonics: self.ultrasonics,
        }
    }

    /// Events, oldest first.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    fn event(&mut self, event: Event) {
        if self.events.len() == MAX_EVENTS {
            self.events.pop_front();
        }
        self.events.push_back(event);
    }

    /// A base that stops sending has to be initialized again.
    fn watch_base(&mut self, input: &Input<'_>) {
        if self.base_alive && !input.base_alive && self.operation != Operation::NotInitialized {
            self.event(Event::BaseSilent);
            self.forget_motion();
            self.brakes = [true; 2];
            self.enter(Operation::NotInitialized);
        }
        self.base_alive = input.base_alive;
    }

    /// Follows moving objects, while the pose is known.
    fn track(&mut self, scan: Option<Scan<'_>>) {
        if !self.settings.tracking || self.localizer.is_searching() {
            return self.tracker.clear();
        }
        let Some(scan) = scan else { return };
        let in_map = scan.points.iter().map(|&point| transform(self.pose, point));
        let strange: Vec<Point> =
            in_map.filter(|&point| self.ground.lines().distance(point) >= obstacles::EXPLAINED).collect();
        self.tracker.update(self.now, &strange);
    }

    /// The laser is monitored while the platform is connected.
    fn watch_laser(&mut self) {
        let blind = self.connected && self.obstacles.is_blind(self.now, &self.settings);
        if blind != self.blind {
            self.blind = blind;
            self.event(if blind { Event::LaserSilent } else { Event::LaserFound });
        }
    }

    fn watch_emergency(&mut self, pressed: bool) {
        let state = match (pressed, self.emergency) {
            (true, _) => Emergency::Active,
            (false, Emergency::Active) => {
                self.released = self.now;
                Emergency::Reset
            }
            (false, Emergency::Reset)
                if self.now.saturating_sub(self.released) >= self.settings.emergency_reset_time =>
            {
                Emergency::Inactive
            }
            (false, state) => state,
        };
        if state == self.emergency {
            return;
        }
        self.emergency = state;
        self.event(Event::Emergency(state));
        if self.operation == Operation::NotInitialized {
            return;
        }
        match state {
            Emergency::Active => {
                self.forget_motion();
                self.brakes = [true; 2];
                self.enter(Operation::Broken);
            }
            Emergency::Inactive => {
                self.brakes = [false; 2];
                self.enter(Operation::Ready);
            }
            Emergency::Reset => {}
        }
    }

    fn localize(&mut self, input: &Input<'_>) {
        let settings = &self.settings.localization;
        let was_lost = self.localizer.is_lost();
        if input.odometry.is_finite()
            && let Some(before) = self.odometry.replace(input.odometry)
        {
            self.localizer.predict(relative(before, input.odometry), settings);
        }
        match (input.localized.filter(Pose::is_finite), input.scan) {
            (Some(pose), _) => self.localizer.set(pose, [0.0; 3]),
            (None, Some(scan)) if self.is_mapping => self.localizer.follow(scan, settings),
            (None, Some(scan)) => self.localizer.correct(scan, self.ground.lines(), settings),
            (None, None) => {}
        }
        self.pose = self.localizer.pose();
        if let Some(scan) = input.scan {
            let settings = &self.settings.mapping;
            self.scanned = extract(scan, settings);
            if self.is_mapping && self.mapper.add(self.pose, &self.scanned, settings) {
                self.localizer.map_from(self.mapper.lines(settings));
            }
        }
        let lost = self.localizer.is_lost();
        if lost != was_lost {
            self.event(if lost { Event::LocalizationLost } else { Event::LocalizationFound });
        }
    }

    fn active_ultrasonics(&self, ranges: &[f64]) -> Vec<f64> {
        let active = |index: usize| index < 16 && self.ultrasonics & (1 << index) != 0;
        ranges
            .iter()
            .enumerate()
            .map(|(index, &range)| if active(index) { range } else { f64::NAN })
            .collect()
    }

    fn may_move(&self) -> bool {
        matches!(self.operation, Operation::Moving | Operation::Broken)
            && self.emergency == Emergency::Inactive
    }

    /// The velocity wanted by the motion mode.
    fn wanted(&mut self, input: &Input<'_>, step: Duration) -> Twist {
        if let Some((_, received)) = self.velocity
            && self.now.saturating_sub(received) >= self.settings.watchdog
        {
            self.velocity = None;
            self.event(Event::WatchdogExpired);
        }
        let moving = self.operation == Operation::Moving;
        // The platform moves by itself only if it is localized and its laser measures.
        let oriented = !self.localizer.is_searching() && !self.blind;
        let finite =
            |twist: Option<Twist>| twist.filter(|twist| moving && twist.is_finite()).unwrap_or(Twist::ZERO);
        match self.mode {
            MotionMode::None => Twist::ZERO,
            MotionMode::JoystickHardware => finite(input.joystick),
            MotionMode::Replay if moving && oriented => self.replay(step),
            MotionMode::Replay => Twist::ZERO,
            MotionMode::JoystickSoftware | MotionMode::Velocity => {
                finite(self.velocity.map(|(twist, _)| twist))
            }
            MotionMode::Automatic => self.automatic(moving && oriented),
            MotionMode::Program => {
                if moving {
                    self.run_program(&input.conditions);
                }
                self.automatic(moving && oriented)
            }
        }
    }

    /// The velocity of the replay; at its end the platform is ready.
    fn replay(&mut self, step: Duration) -> Twist {
        let Some(player) = &mut self.player else {
            return Twist::ZERO;
        };
        // While the platform waits for an obstacle, the recording is paused.
        let step = if self.blocked { Duration::ZERO } else { step };
        match player.cycle(self.pose, self.ramp.velocity(), step, &self.settings) {
            Replayed::Moving(twist) => return twist,
            Replayed::Ended => self.event(Event::ReplayEnded),
            Replayed::Astray => self.event(Event::ReplayAstray),
        }
        self.forget_motion();
        self.enter(Operation::Ready);
        Twist::ZERO
    }

    fn automatic(&mut self, moving: bool) -> Twist {
        let mut automatic = std::mem::take(&mut self.automatic);
        let situation = self.situation();
        let (twist, event) =
            if moving { automatic.cycle(&situation) } else { (automatic.brake(&situation), None) };
        self.automatic = automatic;
        if let Some(event) = event {
            self.moved(event);
        }
        twist
    }

    /// Handles an event of a motion.
    fn moved(&mut self, event: MotionEvent) {
        self.target_reached |= event == MotionEvent::Arrived;
        if let Some((_, arrived)) = self.docking.as_mut().filter(|_| event == MotionEvent::Arrived) {
            *arrived = Some(self.now);
        }
        let failed =
            matches!(event, MotionEvent::Failed(_) | MotionEvent::Missed | MotionEvent::NotNavigated);
        if let Some(interpreter) = self.interpreter.as_mut().filter(|_| failed) {
            interpreter.handle_motion_failed();
        }
        self.event(Event::Motion(event));
    }

    fn situation(&self) -> Situation<'_> {
        Situation {
            now: self.now,
            pose: self.pose,
            velocity: self.ramp.velocity(),
            blocked: self.blocked,
            map: &self.map,
            ground: &self.ground,
            obstacles: &self.obstacles,
            settings: &self.settings,
        }
    }

    /// Limits the wanted velocity: no collision, and in automatic modes no entry into prohibited areas.
    fn permitted(&mut self, wanted: Twist) -> Twist {
        let allowance = safety::allow(wanted, self.obstacles.seen(), &self.settings);
        self.blocked = allowance.blocked;
        let automatic = matches!(self.mode, MotionMode::Automatic | MotionMode::Program | MotionMode::Replay);
        // To drive a blind platform manually, switch the collision check off. It still does not move by itself.
        if self.blind && (automatic || self.settings.collision.enabled) {
            self.blocked = wanted != Twist::ZERO || self.automatic.is_busy() || self.player.is_some();
            return Twist::ZERO;
        }
        if automatic && allowance.twist != Twist::ZERO && self.enters_prohibited(allowance.twist) {
            self.blocked = true;
            return Twist::ZERO;
        }
        allowance.twist
    }

    /// Whether the platform would enter a prohibited area before it stops, considering the uncertainty of its pose.
    fn enters_prohibited(&self, twist: Twist) -> bool {
        let body = self.settings.footprint;
        let there = compose(self.pose, safety::pose_standing(twist, &self.settings));
        self.map.forbids(&body.at(there)) && !self.map.forbids(&body.at(self.pose))
    }

    fn enter(&mut self, operation: Operation) {
        if self.operation != operation {
            self.operation = operation;
            self.event(Event::Operation(operation));
        }
    }

    /// Forgets the commanded velocity, and stands at once: the motors are off.
    pub fn stand(&mut self) {
        self.velocity = None;
        self.ramp.stop();
    }

    fn forget_motion(&mut self) {
        self.velocity = None;
        self.automatic.cancel();
        self.interpreter = None;
        self.player = None;
        self.blocked = false;
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod lab;

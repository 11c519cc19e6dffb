//! The platform controller: commands and states, and what the platform does in each cycle (PlatformCtrl guide, 4.2 and
//! 4.3).
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Platform`]: a cycle, from measurements to velocities |
//! | `command.rs` | [`Command`]s, states, and reasons for refusals |
//! | `states.rs` | the execution of each command |
//! | `drive.rs` | what moves the platform: a commanded velocity, a motion to a target, a replay |
//! | `programs.rs` | the motion mode program |
//! | `position.rs`, `area.rs` | pose, localization, mapping; map and roadmap |
//! | `perception.rs` | obstacles, moving objects, a silent laser |
//! | `emergency.rs`, `switches.rs` | the emergency stop; brakes, outputs, ultrasonic sensors |
//! | `status.rs` | the outputs: [`Status`], [`Event`]s |
//!
//! ```text
//! not initialized --Connect--> --Initialize--> Ready --Start, Continue--> Moving --Break--> Broken --Continue--> Moving
//!                     \--Stop--------------^    ^---------Stop---------------'-----------------'
//! ```
//!
//! `Stop` initializes a platform that is only connected, and `Continue` starts one that is ready: clients in the field
//! open a session with `Connect`, `Stop`, `SetMode`, `Continue`.

mod area;
mod command;
mod drive;
mod emergency;
mod perception;
mod position;
mod programs;
mod states;
mod status;
mod switches;

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_geometry::limits::Ramp;
use dragoman_geometry::{Pose, Twist, compose, is_finite};

use crate::motion::automatic::{MotionEvent, Situation};
use crate::motion::obstacles::{Scan, Sight};
use crate::motion::safety;
use crate::program::interpreter::Conditions;
use crate::replay::Replayed;
use crate::settings::{Settings, SettingsError};

use area::Area;
pub use area::PreparedMap;
pub use command::{Command, Refusal};
pub use dragoman_neobotix::codes::{Board, Emergency, MotionMode, Motor, Operation, PlannerState};
use drive::Drive;
use emergency::EmergencyStop;
use perception::Perception;
use position::Position;
pub use programs::Docking;
use programs::Programs;
pub use status::{Event, Status};
use switches::Switches;

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
    /// Whether the base is connected.
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
    mode: MotionMode,
    emergency: EmergencyStop,
    switches: Switches,
    position: Position,
    area: Area,
    perception: Perception,
    drive: Drive,
    programs: Programs,
    events: VecDeque<Event>,
}

impl Platform {
    /// Not initialized, at the map's origin, with an empty map.
    ///
    /// # Errors
    /// A setting is invalid.
    pub fn new(settings: Settings) -> Result<Self, SettingsError> {
        settings.check()?;
        Ok(Self {
            now: Duration::ZERO,
            connected: false,
            base_alive: true,
            operation: Operation::NotInitialized,
            mode: MotionMode::None,
            emergency: EmergencyStop::default(),
            switches: Switches::default(),
            position: Position::default(),
            area: Area::new(&settings),
            perception: Perception::default(),
            drive: Drive::new(Ramp::new(settings.limits)?),
            programs: Programs::default(),
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
        let localized = self.position.update(input, self.area.ground.lines(), &self.settings);
        localized.into_iter().for_each(|event| self.event(event));
        let ultrasonics = self.switches.enabled(input.ultrasonics);
        let (lines, settings) = (self.area.ground.lines(), &self.settings);
        let sight = Sight {
            now: self.now,
            pose: self.position.pose,
            odometry: self.position.odometry.unwrap_or_default(),
            scan: input.scan,
            ultrasonics: &ultrasonics,
            // Without a known pose, scan points cannot be compared with the map.
            known: !self.position.localizer.is_searching(),
        };
        self.perception.obstacles.update(&sight, lines, settings);
        if !self.settings.tracking || self.position.localizer.is_searching() {
            self.perception.tracker.clear();
        } else if let Some(scan) = input.scan {
            self.perception.track(self.now, scan, self.position.pose, lines);
        }
        let laser = self.perception.watch_laser(self.now, self.connected, &self.settings);
        laser.into_iter().for_each(|event| self.event(event));
        let wanted = if self.may_move() { self.wanted(input, step) } else { Twist::ZERO };
        let twist = self.permitted(self.settings.drivable(wanted));
        let stopped = self.switches.brakes.contains(&true)
            || self.emergency.state() != Emergency::Inactive
            || !self.base_alive;
        let twist = if stopped {
            self.drive.ramp.stop();
            Twist::ZERO
        } else {
            self.drive.ramp.step_along(twist, step)
        };
        Output {
            twist,
            brakes: self.switches.brakes,
            digital_outputs: self.switches.digital_outputs,
            ultrasonics: self.switches.ultrasonics,
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
            self.clear_motion();
            self.switches.brakes = [true; 2];
            self.enter(Operation::NotInitialized);
        }
        self.base_alive = input.base_alive;
    }

    fn watch_emergency(&mut self, pressed: bool) {
        let reset_time = self.settings.emergency_reset_time;
        let Some(state) = self.emergency.update(pressed, self.now, reset_time) else { return };
        self.event(Event::Emergency(state));
        if self.operation == Operation::NotInitialized {
            return;
        }
        match state {
            Emergency::Active => {
                self.clear_motion();
                self.switches.brakes = [true; 2];
                self.enter(Operation::Broken);
            }
            Emergency::Inactive => {
                self.switches.brakes = [false; 2];
                self.enter(Operation::Ready);
            }
            Emergency::Reset => {}
        }
    }

    fn may_move(&self) -> bool {
        matches!(self.operation, Operation::Moving | Operation::Broken)
            && self.emergency.state() == Emergency::Inactive
    }

    /// The velocity wanted by the motion mode.
    fn wanted(&mut self, input: &Input<'_>, step: Duration) -> Twist {
        if let Some((_, received)) = self.drive.velocity
            && self.now.saturating_sub(received) >= self.settings.watchdog
        {
            self.drive.velocity = None;
            self.event(Event::WatchdogExpired);
        }
        let moving = self.operation == Operation::Moving;
        // The platform moves by itself only if it is localized and its laser measures.
        let oriented = !self.position.localizer.is_searching() && !self.perception.blind;
        let finite =
            |twist: Option<Twist>| twist.filter(|twist| moving && twist.is_finite()).unwrap_or(Twist::ZERO);
        match self.mode {
            MotionMode::None => Twist::ZERO,
            MotionMode::JoystickHardware => finite(input.joystick),
            MotionMode::Replay if moving && oriented => self.replay(step),
            MotionMode::Replay => Twist::ZERO,
            MotionMode::JoystickSoftware | MotionMode::Velocity => {
                finite(self.drive.velocity.map(|(twist, _)| twist))
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
        let Some(player) = &mut self.drive.player else {
            return Twist::ZERO;
        };
        // While the platform waits for an obstacle, the recording is paused.
        let step = if self.drive.blocked { Duration::ZERO } else { step };
        match player.cycle(self.position.pose, self.drive.ramp.velocity(), step, &self.settings) {
            Replayed::Moving(twist) => return twist,
            Replayed::Ended => self.event(Event::ReplayEnded),
            Replayed::Astray => self.event(Event::ReplayAstray),
        }
        self.clear_motion();
        self.enter(Operation::Ready);
        Twist::ZERO
    }

    fn automatic(&mut self, moving: bool) -> Twist {
        let mut automatic = std::mem::take(&mut self.drive.automatic);
        let situation = self.situation();
        let (twist, event) =
            if moving { automatic.cycle(&situation) } else { (automatic.brake(&situation), None) };
        self.drive.automatic = automatic;
        if let Some(event) = event {
            self.moved(event);
        }
        twist
    }

    /// Handles an event of a motion.
    fn moved(&mut self, event: MotionEvent) {
        self.drive.note(event, self.now);
        if matches!(event, MotionEvent::Failed(_) | MotionEvent::Missed | MotionEvent::NotNavigated) {
            self.programs.handle_motion_failed();
        }
        self.event(Event::Motion(event));
    }

    fn situation(&self) -> Situation<'_> {
        Situation {
            now: self.now,
            pose: self.position.pose,
            velocity: self.drive.ramp.velocity(),
            blocked: self.drive.blocked,
            map: &self.area.map,
            ground: &self.area.ground,
            obstacles: &self.perception.obstacles,
            settings: &self.settings,
        }
    }

    /// Limits the wanted velocity: no collision, and in automatic modes no entry into prohibited areas.
    fn permitted(&mut self, wanted: Twist) -> Twist {
        let allowance = safety::allow(wanted, self.perception.obstacles.seen(), &self.settings);
        self.drive.blocked = allowance.blocked;
        let automatic = matches!(self.mode, MotionMode::Automatic | MotionMode::Program | MotionMode::Replay);
        // To drive a blind platform manually, switch the collision check off. It still does not move by itself.
        if self.perception.blind && (automatic || self.settings.collision.enabled) {
            self.drive.blocked =
                wanted != Twist::ZERO || self.drive.automatic.is_busy() || self.drive.player.is_some();
            return Twist::ZERO;
        }
        if automatic && allowance.twist != Twist::ZERO && self.enters_prohibited(allowance.twist) {
            self.drive.blocked = true;
            return Twist::ZERO;
        }
        allowance.twist
    }

    /// Whether the platform would enter a prohibited area before it stops, considering the uncertainty of its pose.
    fn enters_prohibited(&self, twist: Twist) -> bool {
        let body = self.settings.footprint;
        let there = compose(self.position.pose, safety::pose_standing(twist, &self.settings));
        self.area.map.forbids(&body.at(there)) && !self.area.map.forbids(&body.at(self.position.pose))
    }

    fn enter(&mut self, operation: Operation) {
        if self.operation != operation {
            self.operation = operation;
            self.event(Event::Operation(operation));
        }
    }

    /// Clears the commanded velocity, and stops at once: the motors are off.
    pub fn stand(&mut self) {
        self.drive.velocity = None;
        self.drive.ramp.stop();
    }

    fn clear_motion(&mut self) {
        self.drive.clear();
        self.programs.interpreter = None;
    }
}

#[cfg(test)]
mod tests;

#[cfg(test)]
mod lab;

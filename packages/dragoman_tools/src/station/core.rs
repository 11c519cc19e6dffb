//! The station without terminal, sockets and ROS: what it knows of the arm, what keys and messages do.
//!
//! Inputs are `handle_*`; after each the owner drains [`Station::poll_action`]. [`Station::handle_tick`] is called
//! every [`TICK`].

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use dragoman_bridge::arm31::wire::Command;
use dragoman_bridge::arm31::{CommandMode, ToolPose, rotation};
use dragoman_kinematics::nalgebra::{Quaternion, UnitQuaternion};

use super::command::{self, Line, Order, Typed};
use super::joystick::Mapping;

/// Period of [`Station::handle_tick`], and of twists: an arm without them stops after 0.5 s.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// Age at which a measurement is not shown any more; twice the period of the slowest source for the second.
pub(super) const STALE: Duration = Duration::from_secs(1);
const STATUS_STALE: Duration = Duration::from_secs(3);
/// Time after an accepted start in which the arm must report a motion; otherwise it was too short to be seen.
const BEGIN_TIME: Duration = Duration::from_secs(1);
/// Time without messages of the joystick after which it counts as released.
const JOYSTICK_TIME: Duration = Duration::from_millis(500);
/// Time after which a key that has been repeated counts as released: slow terminals repeat ten times a second.
const REPEAT_TIME: Duration = Duration::from_millis(400);
/// Zero twists after the last one, in case one is lost.
const ZEROS: u32 = 3;
/// Steps by which the desired pose may be ahead of the arm: the rest of a held key is ignored, so that the arm comes to
/// rest soon after it is released.
const MAX_STEPS_AHEAD: f64 = 5.0;
const SCALES: (f64, f64) = (1.0 / 16.0, 64.0);
/// Events that are kept.
const EVENTS: usize = 200;

/// A step of one key press at scale 1: m, rad, and rad of a joint.
pub(super) const STEP: (f64, f64, f64) = (0.001, 0.002, 0.005);
/// Speed of the tool at scale 1: m/s and rad/s.
pub(super) const SPEED: (f64, f64) = (0.0025, 0.005);

/// A page of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Page {
    /// Goals of the tool.
    Cartesian,
    /// Goals of the joints.
    Joint,
    /// Velocity of the tool while a key is held.
    Twist,
}

impl Page {
    pub(super) const ALL: [Self; 3] = [Self::Cartesian, Self::Joint, Self::Twist];

    /// The mode in which the arm takes commands of the page.
    fn mode(self) -> CommandMode {
        match self {
            Self::Joint => CommandMode::Joint,
            Self::Cartesian | Self::Twist => CommandMode::Cartesian,
        }
    }
}

/// How grave an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Level {
    Info,
    Warning,
    Error,
}

/// A line of the list of events.
#[derive(Debug, Clone)]
pub(super) struct Event {
    pub(super) time: Duration,
    pub(super) level: Level,
    pub(super) text: String,
    /// How often it came in a row.
    pub(super) count: u32,
}

/// What comes from the arm.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Update {
    /// Measured positions, base of the chain first, rad or m.
    Joints(Vec<f64>),
    /// Measured pose of the tool in the arm's base frame.
    Pose(ToolPose),
    /// Whether the drives are on, and their temperatures in °C, `None` where there is none.
    Drives {
        enabled: bool,
        temperature: Vec<Option<f64>>,
    },
    Motion {
        mode: CommandMode,
        moving: bool,
    },
    /// An answer to an order, or why it was refused.
    Answer {
        id: u64,
        answer: Result<(), String>,
    },
    Event(Level, String),
}

/// What the owner has to do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Action {
    /// Send an order; its answer comes as [`Update::Answer`].
    Order { id: u64, order: Order },
    /// Publish a twist of the tool, m/s and rad/s, base frame.
    Twist([f64; 6]),
}

/// A value and when it came.
#[derive(Debug, Clone)]
struct Measured<T>(Option<(T, Duration)>);

impl<T> Measured<T> {
    fn get(&self, now: Duration, stale: Duration) -> Option<&T> {
        self.0.as_ref().filter(|(_, at)| now.saturating_sub(*at) < stale).map(|(value, _)| value)
    }
}

/// Where the keys of a page lead.
#[derive(Debug, Clone, PartialEq)]
enum Target {
    Pose(ToolPose),
    Joints(Vec<f64>),
}

/// Who waits for the answer to an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The goal of a key press, then the start of the motion to it.
    Goal,
    Begin,
    Line,
    Mode,
    Stop,
}

/// A motion that this station began.
#[derive(Debug, Clone, Copy)]
struct Started {
    at: Duration,
    /// The arm has reported that it moves.
    seen: bool,
}

/// A held key of the twist page.
#[derive(Debug, Clone, Copy)]
struct Held {
    axis: usize,
    sign: f64,
}

/// How the station is set up.
#[derive(Debug, Clone)]
pub(super) struct Setup {
    /// What it is connected to, for the title.
    pub(super) title: String,
    /// Whether the link takes twists.
    pub(super) has_twist: bool,
    /// Whether the terminal reports that a key is released.
    pub(super) reports_release: bool,
    /// Time after which a key that is pressed once counts as released.
    pub(super) hold: Duration,
    pub(super) joystick: Mapping,
}

/// The state of the station.
pub(super) struct Station {
    setup: Setup,
    now: Duration,
    page: Page,
    scale: f64,
    joint: usize,
    line: Line,
    /// First line of the help that is shown.
    help: Option<usize>,
    events: VecDeque<Event>,
    pose: Measured<ToolPose>,
    joints: Measured<Vec<f64>>,
    drives: Measured<(bool, Vec<Option<f64>>)>,
    motion: Measured<(CommandMode, bool)>,
    /// Number of joints; of the protocol's messages until it is known.
    joint_count: usize,
    target: Option<Target>,
    /// The target has changed since it was sent.
    changed: bool,
    started: Option<Started>,
    pending: BTreeMap<u64, (Order, Origin)>,
    next_id: u64,
    /// A start that was sent before a stop: it may arrive after it.
    overtaken: Option<u64>,
    held: Vec<Held>,
    held_until: Duration,
    joystick: Option<([f64; 6], Duration)>,
    /// Last state of the joystick's dead-man button; `None` without a joystick.
    dead_man: Option<bool>,
    zeros: u32,
    leaves: bool,
    actions: VecDeque<Action>,
}

impl Station {
    pub(super) fn new(setup: Setup) -> Self {
        Self {
            setup,
            now: Duration::ZERO,
            page: Page::Cartesian,
            scale: 4.0,
            joint: 0,
            line: Line::default(),
            help: None,
            events: VecDeque::new(),
            pose: Measured(None),
            joints: Measured(None),
            drives: Measured(None),
            motion: Measured(None),
            joint_count: dragoman_bridge::arm31::wire::JOINT_COUNT,
            target: None,
            changed: false,
            started: None,
            pending: BTreeMap::new(),
            next_id: 0,
            overtaken: None,
            held: Vec::new(),
            held_until: Duration::ZERO,
            joystick: None,
            dead_man: None,
            zeros: ZEROS,
            leaves: false,
            actions: VecDeque::new(),
        }
    }

    /// What to do, oldest first.
    pub(super) fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Whether the user wants to leave.
    pub(super) fn leaves(&self) -> bool {
        self.leaves
    }

    /// Handles a key of the terminal.
    pub(super) fn handle_key(&mut self, now: Duration, key: KeyEvent) {
        self.now = now;
        if key.kind == KeyEventKind::Release {
            if let Some((axis, sign)) = axis(key.code) {
                self.held.retain(|held| held.axis != axis || held.sign != sign);
                self.twist();
            }
            return;
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        // In a raw terminal these keys send no signal.
        if control && matches!(key.code, KeyCode::Char('c' | 'd' | 'z' | '\\')) {
            self.leaves = true;
        } else if self.line.is_open() {
            self.press_in_line(key);
        } else if let Some(first) = self.help {
            let last = command::help(self.joint_count).len() - 1;
            self.help = match key.code {
                KeyCode::Down => Some((first + 1).min(last)),
                KeyCode::Up => Some(first.saturating_sub(1)),
                KeyCode::PageDown => Some((first + 8).min(last)),
                KeyCode::PageUp => Some(first.saturating_sub(8)),
                _ => None,
            };
        } else if !control {
            self.press(key);
        }
        self.advance();
    }

    /// Handles what comes from the arm.
    pub(super) fn handle_update(&mut self, now: Duration, update: Update) {
        self.now = now;
        match update {
            Update::Joints(joints) => {
                self.joint_count = joints.len();
                self.joint = self.joint.min(joints.len().saturating_sub(1));
                self.joints = Measured(Some((joints, now)));
            }
            Update::Pose(pose) => self.pose = Measured(Some((pose, now))),
            Update::Drives { enabled, temperature } => {
                self.drives = Measured(Some(((enabled, temperature), now)));
            }
            Update::Motion { mode, moving } => {
                self.motion = Measured(Some(((mode, moving), now)));
                if let Some(started) = &mut self.started {
                    started.seen |= moving;
                }
            }
            Update::Answer { id, answer } => self.answered(id, answer),
            Update::Event(level, text) => self.note(level, text),
        }
        self.advance();
    }

    /// Handles a message of a joystick.
    pub(super) fn handle_joystick(&mut self, now: Duration, axes: &[f64], buttons: &[bool]) {
        self.now = now;
        let deflection = self.setup.joystick.deflection(axes, buttons);
        self.dead_man = Some(deflection.is_some());
        self.joystick = deflection.map(|deflection| (deflection, now));
        if deflection.is_none() {
            self.twist();
        }
    }

    /// The joystick is gone.
    pub(super) fn handle_joystick_lost(&mut self, now: Duration, reason: String) {
        self.now = now;
        (self.dead_man, self.joystick) = (None, None);
        self.note(Level::Error, reason);
        self.twist();
    }

    /// Repeats or ends the twist; detects the ends of motions.
    pub(super) fn handle_tick(&mut self, now: Duration) {
        self.now = now;
        self.twist();
        self.advance();
    }

    /// Stops what this station moves: when the user leaves and when the terminal is gone. `true`: a stop was sent whose
    /// answer is worth waiting for.
    pub(super) fn handle_end(&mut self, now: Duration) -> bool {
        self.now = now;
        if self.zeros < ZEROS {
            self.release();
            self.actions.push_back(Action::Twist([0.0; 6]));
        }
        let moves = self.started.is_some() || self.is_pending(Origin::Begin);
        if moves {
            self.stop();
        }
        moves
    }

    /// Whether an answer to a stop is awaited.
    pub(super) fn is_stopping(&self) -> bool {
        self.is_pending(Origin::Stop) || self.overtaken.is_some()
    }

    fn is_pending(&self, origin: Origin) -> bool {
        self.pending.values().any(|(_, other)| *other == origin)
    }

    fn press_in_line(&mut self, key: KeyEvent) {
        let (pose, joints) = (self.pose().copied(), self.joints().cloned());
        let page_mode = f64::from(u8::from(self.page.mode()));
        let present = move |command, number| {
            let values = match command {
                Command::SetCommandMode => vec![page_mode],
                Command::SetGoalPose => pose.map(|pose| flat(&pose))?,
                Command::SetTimedGoalPose | Command::SetViaPoint => pose.map(|pose| {
                    [pose.position, rotation::rpy_from_quaternion(pose.quaternion_xyzw)].concat()
                })?,
                _ => joints.clone()?,
            };
            values.get(number).copied()
        };
        let Some(text) = self.line.press(key, self.joint_count, present) else { return };
        match command::parse(&text, self.joint_count) {
            Ok(Typed::Quit) => self.leaves = true,
            Ok(Typed::Help(None)) => self.help = Some(0),
            Ok(Typed::Help(Some(command))) => {
                self.note(Level::Info, command::usage(command, self.joint_count));
            }
            Ok(Typed::Scale(scale)) if (SCALES.0..=SCALES.1).contains(&scale) => self.scale = scale,
            Ok(Typed::Scale(_)) => {
                self.note(Level::Error, format!("the scale is {} to {}", SCALES.0, SCALES.1));
            }
            Ok(Typed::Order(order)) => self.typed(order),
            Err(reason) => self.note(Level::Error, reason),
        }
    }

    /// A command of the command line.
    fn typed(&mut self, order: Order) {
        let measured = match order.command {
            Command::Stop => return self.stop(),
            Command::Pose => self.pose().map(flat),
            Command::JointPositions => self.joints().cloned(),
            Command::Temperatures => self.temperatures().map(|all| {
                let absent = f64::from(dragoman_bridge::arm31::wire::ABSENT_TEMPERATURE);
                all.iter().map(|temperature| temperature.unwrap_or(absent)).collect()
            }),
            _ => {
                // Whatever the answer: it may move, and what was meant for another mode or goal is void.
                if order.command.role() == dragoman_bridge::arm31::wire::Role::Start {
                    self.started = Some(Started { at: self.now, seen: false });
                }
                self.reset_target();
                self.send(order, Origin::Line);
                return;
            }
        };
        match measured {
            Some(values) => {
                let values: Vec<String> = values.iter().map(|value| format!("{value:.4}")).collect();
                self.note(Level::Info, format!("{}: {}", order.command, values.join(" ")));
            }
            None => self.note(Level::Error, format!("{}: nothing is measured", order.command)),
        }
    }

    fn press(&mut self, key: KeyEvent) {
        match key.code {
            KeyCode::Char('q') => self.leaves = true,
            KeyCode::Char('?') | KeyCode::F(1) => self.help = Some(0),
            KeyCode::Char(':') | KeyCode::Enter => {
                self.release();
                self.line.open();
            }
            KeyCode::Tab => self.turn(1),
            KeyCode::BackTab => self.turn(Page::ALL.len() - 1),
            KeyCode::Char(' ') => self.stop(),
            KeyCode::Char('+' | '=') => self.scale = (self.scale * 2.0).min(SCALES.1),
            KeyCode::Char('-') => self.scale = (self.scale / 2.0).max(SCALES.0),
            KeyCode::Char('m') => {
                self.reset_target();
                let mode = f64::from(u8::from(self.page.mode()));
                self.send(Order::new(Command::SetCommandMode, vec![mode]), Origin::Mode);
            }
            code => match self.page {
                Page::Cartesian => {
                    if let Some((axis, sign)) = axis(code) {
                        self.step_pose(axis, sign);
                    }
                }
                Page::Joint => self.press_joint(code),
                Page::Twist => {
                    if let Some((axis, sign)) = axis(code) {
                        self.hold(axis, sign);
                    }
                }
            },
        }
    }

    fn turn(&mut self, by: usize) {
        self.release();
        self.reset_target();
        let here = Page::ALL.iter().position(|page| *page == self.page).unwrap_or_default();
        self.page = Page::ALL.into_iter().cycle().nth(here + by).unwrap_or(Page::Cartesian);
    }

    /// Why the arm cannot be moved from this page now.
    pub(super) fn obstacle(&self) -> Option<String> {
        let Some((mode, _)) = self.motion() else {
            return Some("the arm does not report its state".to_owned());
        };
        let measured = match self.page {
            Page::Joint => self.joints().is_some(),
            Page::Cartesian | Page::Twist => self.pose().is_some(),
        };
        if !measured {
            return Some("the arm reports no measurements".to_owned());
        }
        if self.enabled() == Some(false) {
            return Some("the drives are off; the command ON switches them on".to_owned());
        }
        (mode != self.page.mode()).then(|| {
            let needed = mode_name(self.page.mode());
            format!("the arm is in mode {}; m switches to mode {needed}", mode_name(mode))
        })
    }

    fn is_ready(&mut self) -> bool {
        let obstacle = self.obstacle();
        if let Some(obstacle) = &obstacle {
            self.note(Level::Warning, obstacle.clone());
        }
        obstacle.is_none()
    }

    fn step_pose(&mut self, axis: usize, sign: f64) {
        if !self.is_ready() {
            return;
        }
        let Some(pose) = self.pose().copied() else { return };
        let mut target = match &self.target {
            Some(Target::Pose(target)) => *target,
            _ => pose,
        };
        let (length, angle) = (STEP.0 * self.scale, STEP.1 * self.scale);
        if let Some(coordinate) = target.position.get_mut(axis) {
            *coordinate += sign * length;
        } else {
            let mut turn = [0.0; 3];
            if let Some(turn) = turn.get_mut(axis - 3) {
                *turn = sign * angle;
            }
            let turned = unit(rotation::quaternion_from_rpy(turn)) * unit(target.quaternion_xyzw);
            target.quaternion_xyzw = turned.coords.into();
        }
        let offset =
            target.position.iter().zip(pose.position).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
        let turned = rotation::angle_between(target.quaternion_xyzw, pose.quaternion_xyzw);
        // A little more than the steps themselves: the arm never stands exactly where it should.
        if offset < (MAX_STEPS_AHEAD + 0.5) * length && turned < (MAX_STEPS_AHEAD + 0.5) * angle {
            self.set_target(Target::Pose(target));
        }
    }

    fn press_joint(&mut self, code: KeyCode) {
        let last = self.joint_count.saturating_sub(1);
        match code {
            KeyCode::Up => self.joint = self.joint.saturating_sub(1),
            KeyCode::Down => self.joint = (self.joint + 1).min(last),
            KeyCode::Char(digit @ '1'..='9') => {
                self.joint = (digit as usize - '1' as usize).min(last);
            }
            KeyCode::Left => self.step_joint(-1.0),
            KeyCode::Right => self.step_joint(1.0),
            _ => {}
        }
    }

    fn step_joint(&mut self, sign: f64) {
        if !self.is_ready() {
            return;
        }
        let Some(measured) = self.joints().cloned() else { return };
        let mut target = match &self.target {
            Some(Target::Joints(target)) if target.len() == measured.len() => target.clone(),
            _ => measured.clone(),
        };
        let step = STEP.2 * self.scale;
        if let (Some(target), Some(measured)) = (target.get_mut(self.joint), measured.get(self.joint)) {
            *target += sign * step;
            if (*target - measured).abs() >= (MAX_STEPS_AHEAD + 0.5) * step {
                return;
            }
        }
        self.set_target(Target::Joints(target));
    }

    fn set_target(&mut self, target: Target) {
        self.target = Some(target);
        self.changed = true;
    }

    fn reset_target(&mut self) {
        (self.target, self.changed) = (None, false);
    }

    /// Releases all keys and the joystick.
    fn release(&mut self) {
        self.held.clear();
        self.joystick = None;
        self.twist();
    }

    fn hold(&mut self, axis: usize, sign: f64) {
        if !self.setup.has_twist {
            self.note(Level::Warning, "the 31-byte protocol has no twists; use the other pages".to_owned());
            return;
        }
        if !self.is_ready() {
            return;
        }
        let is_repeated = self.held.iter().any(|held| held.axis == axis && held.sign == sign);
        // Without reports of releases only the last key is known to be held.
        if self.setup.reports_release {
            self.held.retain(|held| held.axis != axis);
        } else {
            self.held.clear();
        }
        self.held.push(Held { axis, sign });
        let hold = if is_repeated { self.setup.hold.min(REPEAT_TIME) } else { self.setup.hold };
        self.held_until = self.now + hold;
        self.twist();
    }

    /// The twist that keys and joystick ask for, in parts of the speed; `None`: nothing is held.
    fn deflection(&self) -> Option<[f64; 6]> {
        if self.page != Page::Twist || self.obstacle().is_some() || !self.setup.has_twist {
            return None;
        }
        let mut sum = [0.0; 6];
        let joystick = self.joystick.filter(|(_, at)| self.now.saturating_sub(*at) < JOYSTICK_TIME);
        if self.held.is_empty() && joystick.is_none() {
            return None;
        }
        if let Some((deflection, _)) = joystick {
            sum = deflection;
        }
        for held in &self.held {
            if let Some(sum) = sum.get_mut(held.axis) {
                *sum = (*sum + held.sign).clamp(-1.0, 1.0);
            }
        }
        Some(sum)
    }

    /// The twist that is commanded now, m/s and rad/s.
    pub(super) fn commanded(&self) -> [f64; 6] {
        let mut twist = self.deflection().unwrap_or_default();
        for (axis, value) in twist.iter_mut().enumerate() {
            *value *= self.scale * if axis < 3 { SPEED.0 } else { SPEED.1 };
        }
        twist
    }

    /// Publishes the twist while something is held, and a few zeros afterwards.
    fn twist(&mut self) {
        if self.now >= self.held_until {
            self.held.clear();
        }
        if self.deflection().is_some() {
            self.zeros = 0;
        } else if self.zeros < ZEROS {
            self.zeros += 1;
        } else {
            return;
        }
        self.actions.push_back(Action::Twist(self.commanded()));
    }

    /// Stops any motion. The desired pose follows the measured one again.
    fn stop(&mut self) {
        self.release();
        self.reset_target();
        let begin = self
            .pending
            .iter()
            .find(|(_, (order, _))| order.command.role() == dragoman_bridge::arm31::wire::Role::Start);
        self.overtaken = begin.map(|(id, _)| *id).or(self.overtaken);
        // An open goal must not be followed by its start.
        self.pending.values_mut().filter(|(_, origin)| *origin == Origin::Goal).for_each(|(_, origin)| {
            *origin = Origin::Mode;
        });
        self.send(Order::new(Command::Stop, Vec::new()), Origin::Stop);
    }

    fn send(&mut self, order: Order, origin: Origin) {
        let id = self.next_id;
        self.next_id += 1;
        self.pending.insert(id, (order.clone(), origin));
        self.actions.push_back(Action::Order { id, order });
    }

    fn answered(&mut self, id: u64, answer: Result<(), String>) {
        let Some((order, origin)) = self.pending.remove(&id) else { return };
        let overtaken = self.overtaken == Some(id);
        if overtaken {
            self.overtaken = None;
        }
        match answer {
            Ok(()) => match origin {
                Origin::Goal => {
                    let begin = match order.command {
                        Command::SetJointGoal => Command::BeginJointMotion,
                        _ => Command::BeginMotion,
                    };
                    self.started = Some(Started { at: self.now, seen: false });
                    self.send(Order::new(begin, Vec::new()), Origin::Begin);
                }
                // It may have arrived after the stop.
                _ if overtaken => self.send(Order::new(Command::Stop, Vec::new()), Origin::Stop),
                Origin::Begin => self.refresh_start(),
                Origin::Line => {
                    self.refresh_start();
                    self.note(Level::Info, format!("{} accepted", order.command));
                }
                Origin::Stop => self.note(Level::Info, "stopped".to_owned()),
                Origin::Mode => {}
            },
            Err(reason) => {
                if order.command.role() == dragoman_bridge::arm31::wire::Role::Start && !overtaken {
                    self.started = None;
                }
                if matches!(origin, Origin::Goal | Origin::Begin) {
                    self.reset_target();
                }
                self.note(Level::Error, format!("{}: {reason}", order.command));
            }
        }
    }

    /// The time of a start counts from its answer.
    fn refresh_start(&mut self) {
        if let Some(started) = &mut self.started {
            started.at = self.now;
        }
    }

    /// Sends the next goal when the arm is free for it.
    fn advance(&mut self) {
        let moving = self.motion().is_some_and(|(_, moving)| moving);
        let begins = self.pending.values().any(|(order, origin)| {
            *origin == Origin::Goal || order.command.role() == dragoman_bridge::arm31::wire::Role::Start
        });
        if let Some(started) = self.started {
            // Only a message that came late enough says that the motion has ended. If none comes, as on a busy machine, it
            // counts as running: who leaves stops it.
            let ended = self.motion.0.is_some_and(|((_, moving), at)| {
                !moving && (started.seen || at.saturating_sub(started.at) > BEGIN_TIME)
            });
            if ended && !begins {
                self.started = None;
            }
        }
        if !self.changed || begins || moving || self.started.is_some() || self.is_stopping() {
            return;
        }
        self.changed = false;
        let order = match &self.target {
            Some(Target::Pose(pose)) => Order::new(Command::SetGoalPose, flat(pose)),
            Some(Target::Joints(joints)) => Order::new(Command::SetJointGoal, joints.clone()),
            None => return,
        };
        self.send(order, Origin::Goal);
    }

    fn note(&mut self, level: Level, text: String) {
        match self.events.back_mut() {
            Some(last) if last.text == text && last.level == level => {
                last.count += 1;
                last.time = self.now;
            }
            _ => self.events.push_back(Event { time: self.now, level, text, count: 1 }),
        }
        if self.events.len() > EVENTS {
            self.events.pop_front();
        }
    }
}

/// What is shown.
impl Station {
    pub(super) fn setup(&self) -> &Setup {
        &self.setup
    }

    pub(super) fn now(&self) -> Duration {
        self.now
    }

    pub(super) fn page(&self) -> Page {
        self.page
    }

    pub(super) fn scale(&self) -> f64 {
        self.scale
    }

    /// The joint that the keys move, from 0.
    pub(super) fn joint(&self) -> usize {
        self.joint
    }

    pub(super) fn joint_count(&self) -> usize {
        self.joint_count
    }

    pub(super) fn line(&self) -> &Line {
        &self.line
    }

    pub(super) fn help(&self) -> Option<usize> {
        self.help
    }

    /// Oldest first.
    pub(super) fn events(&self) -> &VecDeque<Event> {
        &self.events
    }

    pub(super) fn pose(&self) -> Option<&ToolPose> {
        self.pose.get(self.now, STALE)
    }

    pub(super) fn joints(&self) -> Option<&Vec<f64>> {
        self.joints.get(self.now, STALE)
    }

    pub(super) fn temperatures(&self) -> Option<&Vec<Option<f64>>> {
        self.drives.get(self.now, STATUS_STALE).map(|(_, temperature)| temperature)
    }

    /// Whether the drives are on.
    pub(super) fn enabled(&self) -> Option<bool> {
        self.drives.get(self.now, STATUS_STALE).map(|(enabled, _)| *enabled)
    }

    /// Mode, and whether the arm moves.
    pub(super) fn motion(&self) -> Option<(CommandMode, bool)> {
        self.motion.get(self.now, STATUS_STALE).copied()
    }

    /// Where the keys lead; the measured pose if they have not moved it.
    pub(super) fn desired_pose(&self) -> Option<&ToolPose> {
        match &self.target {
            Some(Target::Pose(pose)) => Some(pose),
            _ => self.pose(),
        }
    }

    /// As [`Self::desired_pose`], for the joints.
    pub(super) fn desired_joints(&self) -> Option<&Vec<f64>> {
        match &self.target {
            Some(Target::Joints(joints)) => Some(joints),
            _ => self.joints(),
        }
    }

    /// Whether the joystick's dead-man button is pressed; `None` without a joystick.
    pub(super) fn dead_man(&self) -> Option<bool> {
        self.dead_man
    }
}

/// The tool's axis of a key and its direction: x, y, z, and turns about them.
fn axis(code: KeyCode) -> Option<(usize, f64)> {
    Some(match code {
        KeyCode::Up => (0, 1.0),
        KeyCode::Down => (0, -1.0),
        KeyCode::Left => (1, 1.0),
        KeyCode::Right => (1, -1.0),
        KeyCode::PageUp => (2, 1.0),
        KeyCode::PageDown => (2, -1.0),
        KeyCode::Char('u') => (3, 1.0),
        KeyCode::Char('j') => (3, -1.0),
        KeyCode::Char('i') => (4, 1.0),
        KeyCode::Char('k') => (4, -1.0),
        KeyCode::Char('o') => (5, 1.0),
        KeyCode::Char('l') => (5, -1.0),
        _ => return None,
    })
}

pub(super) fn mode_name(mode: CommandMode) -> &'static str {
    match mode {
        CommandMode::Off => "off",
        CommandMode::Joint => "joint",
        CommandMode::Cartesian => "Cartesian",
    }
}

/// Position and quaternion in a row, as in `GL`.
pub(super) fn flat(pose: &ToolPose) -> Vec<f64> {
    pose.position.into_iter().chain(pose.quaternion_xyzw).collect()
}

fn unit([x, y, z, w]: [f64; 4]) -> UnitQuaternion<f64> {
    UnitQuaternion::from_quaternion(Quaternion::new(w, x, y, z))
}

//! The station without terminal, sockets and ROS: the state of the arm, and the effect of keys and messages.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | the state, and its inputs |
//! | `keys.rs` | what keys do |
//! | `twist.rs` | velocity of the tool while keys or the joystick are held |
//! | `orders.rs` | orders to the arm, their answers, and the motions that this station began |
//! | `shown.rs` | what is shown |
//!
//! Inputs are `handle_*`; after each the owner drains [`Station::poll_action`]. [`Station::handle_tick`] is called
//! every [`TICK`].

mod keys;
mod orders;
mod shown;
mod twist;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use dragoman_bridge::arm31::{CommandMode, ToolPose};

use super::command::{self, Line, Order};
use super::joystick::Mapping;
use keys::axis;
use orders::{Origin, Started};
use twist::{Held, ZEROS};

/// Period of [`Station::handle_tick`], and of twists: an arm without them stops after 0.5 s.
pub(super) const TICK: Duration = Duration::from_millis(50);
/// Age at which a measurement is not shown any more; twice the period of the slowest source for the second.
pub(super) const STALE: Duration = Duration::from_secs(1);
const STATUS_STALE: Duration = Duration::from_secs(3);
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

/// Severity of an event.
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
    /// Number of consecutive occurrences.
    pub(super) count: u32,
}

/// Data from the arm.
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
    /// An answer to an order, or the reason of its refusal.
    Answer {
        id: u64,
        answer: Result<(), String>,
    },
    Event(Level, String),
}

/// An action for the owner.
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

    /// Actions for the owner, oldest first.
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

    /// Handles data from the arm.
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

    /// Repeats or ends the twist; detects the ends of motions.
    pub(super) fn handle_tick(&mut self, now: Duration) {
        self.now = now;
        self.twist();
        self.advance();
    }

    /// Reason why the arm cannot be moved from this page now.
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

    fn set_target(&mut self, target: Target) {
        self.target = Some(target);
        self.changed = true;
    }

    fn reset_target(&mut self) {
        (self.target, self.changed) = (None, false);
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

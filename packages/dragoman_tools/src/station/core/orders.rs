//! Orders to the arm, their answers, and the motions that this station began.

use std::time::Duration;

use dragoman_bridge::arm31::wire::{Command, Role};

use super::super::command::Order;
use super::twist::ZEROS;
use super::{Action, Level, Station, Target, flat};

/// Time after an accepted start in which the arm must report a motion; otherwise it was too short to be seen.
const BEGIN_TIME: Duration = Duration::from_secs(1);

/// The origin of an order, which gets its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// The goal of a key press, then the start of the motion to it.
    Goal,
    Begin,
    Line,
    Mode,
    Stop,
}

/// A motion that this station began.
#[derive(Debug, Clone, Copy)]
pub(super) struct Started {
    pub(super) at: Duration,
    /// The arm has reported that it moves.
    pub(super) seen: bool,
}

impl Station {
    /// Stops what this station moves: when the user leaves and when the terminal is gone. `true`: a stop was sent whose
    /// answer is worth waiting for.
    pub(in crate::station) fn handle_end(&mut self, now: Duration) -> bool {
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
    pub(in crate::station) fn is_stopping(&self) -> bool {
        self.is_pending(Origin::Stop) || self.overtaken.is_some()
    }

    pub(super) fn is_pending(&self, origin: Origin) -> bool {
        self.pending.values().any(|(_, other)| *other == origin)
    }

    /// Stops any motion. The desired pose follows the measured one again.
    pub(super) fn stop(&mut self) {
        self.release();
        self.reset_target();
        let begin = self.pending.iter().find(|(_, (order, _))| order.command.role() == Role::Start);
        self.overtaken = begin.map(|(id, _)| *id).or(self.overtaken);
        // An open goal must not be followed by its start.
        self.pending.values_mut().filter(|(_, origin)| *origin == Origin::Goal).for_each(|(_, origin)| {
            *origin = Origin::Mode;
        });
        self.send(Order::new(Command::Stop, Vec::new()), Origin::Stop);
    }

    pub(super) fn send(&mut self, order: Order, origin: Origin) {
        let id = self.next_id;
        self.next_id += 1;
        self.pending.insert(id, (order.clone(), origin));
        self.actions.push_back(Action::Order { id, order });
    }

    pub(super) fn answered(&mut self, id: u64, answer: Result<(), String>) {
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
                if order.command.role() == Role::Start && !overtaken {
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
    pub(super) fn refresh_start(&mut self) {
        if let Some(started) = &mut self.started {
            started.at = self.now;
        }
    }

    /// Sends the next goal when the arm is free for it.
    pub(super) fn advance(&mut self) {
        let moving = self.motion().is_some_and(|(_, moving)| moving);
        let begins = self
            .pending
            .values()
            .any(|(order, origin)| *origin == Origin::Goal || order.command.role() == Role::Start);
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
}

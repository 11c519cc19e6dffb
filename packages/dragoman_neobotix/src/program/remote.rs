//! The remote mode (PlatformCtrl guide, 4.5): another computer executes the program with the same [`Interpreter`], and
//! sends the platform commands. Takes what the platform reports, returns commands; without I/O.
//!
//! The platform is in the motion mode automatic, and started. Differences from the local mode:
//!
//! - A motion's result is the platform's report. A report that the target is reached counts once the status has said
//!   otherwise since the command, or after [`SETTLE_TIME`], because the first status may be older than the motion.
//! - A motion has failed when the planner reports it, or when the planner is idle again before the target is reached.
//! - A stop of a program is a stop and a start of the platform, because the protocol has no other.
//! - Maps and roadmaps are files of this computer, and scans are saved there.
//! - The protocol has numbers of the sensors, and the battery's voltage but not its charge. [`Equipment`] has the
//!   directions of the sensors and the source of the charge.
//! - Some conditions are not in the protocol: [`unsupported`].

use std::time::Duration;

use dragoman_geometry::{Pose, direction, heading, position};

use super::interpreter::{Action, Conditions, Interpreter, MotionNumber};
pub use super::motion_watch::SETTLE_TIME;
use super::motion_watch::{MotionState, MotionWatch};
use super::{Awaited, Condition, Date, Effect, Instruction, Movement, Program, ProgramError, TrackedObject};
use crate::codes::{Board, Emergency, MotionMode, Operation};
use crate::wire::{
    Cluster, Command, DebugData, FileName, Frame, HeadPosition, MoveToStation, PanTiltPosition,
    SetDigitalOutput, SetParameter, SpeakText, Status,
};

/// Seed of random waits, also of the local mode. A program that runs twice has the same waits.
pub const SEED: u64 = 1;
/// Distance from an object that the platform drives to, m.
pub const FOLLOWING_DISTANCE: f64 = 0.5;
/// Minimum speed at which a radar sensor detects an object, m/s.
pub const RADAR_SPEED: f64 = 0.1;

/// Properties of a platform that the protocol does not transmit.
#[derive(Debug, Clone, PartialEq)]
pub struct Equipment {
    /// Distance from the platform's center to its front, m.
    pub front: f64,
    /// Directions of the infrared and radar sensors 1 to 4; a program has these or the numbers.
    pub sensor_directions: [String; 4],
    /// Source of the battery's charge.
    pub charge: ChargeSource,
}

/// Source of the battery's charge.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum ChargeSource {
    /// The charge is unknown.
    #[default]
    Unknown,
    /// The voltage in the status: these are the voltages of the empty and of the full battery, V. The charge is linear
    /// between them.
    Voltage([f64; 2]),
    /// [`Observation::battery_charge`].
    Observed,
}

impl Default for Equipment {
    /// The directions are those of our platform.
    fn default() -> Self {
        let sensor_directions = ["front", "left", "rear", "right"].map(str::to_owned);
        Self { front: 0.45, sensor_directions, charge: ChargeSource::Unknown }
    }
}

impl Equipment {
    /// The battery's charge, 0 to 1, if it is known. Its voltage is in mV, as of our platform; the guide has no unit.
    fn charge(&self, observation: &Observation<'_>) -> Option<f64> {
        let [empty, full] = match self.charge {
            ChargeSource::Unknown => return None,
            ChargeSource::Observed => return observation.battery_charge.filter(|charge| charge.is_finite()),
            ChargeSource::Voltage(voltages) => voltages,
        };
        let volts = f64::from(observation.status.io_board.battery_voltage) / 1000.0;
        let charge = (volts - empty) / (full - empty);
        charge.is_finite().then(|| charge.clamp(0.0, 1.0))
    }

    /// Numbers and directions of the sensors that detect an object.
    fn directions(&self, seen: [bool; 4]) -> Vec<String> {
        let sensors = (1..=4_u8).zip(&self.sensor_directions).zip(seen).filter(|(_, seen)| *seen);
        sensors.flat_map(|((number, direction), _)| [number.to_string(), direction.clone()]).collect()
    }

    fn has_sensor(&self, direction: &str) -> bool {
        matches!(direction, "1" | "2" | "3" | "4")
            || self.sensor_directions.iter().any(|one| one == direction)
    }
}

/// Inputs since the last cycle.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// Time since the start.
    pub now: Duration,
    /// The current date and time.
    pub date: Date,
    /// The platform's status, queried after the last cycle's commands.
    pub status: &'a Status,
    /// Its debug data; needed if [`Remote::needs_debug_data`].
    pub debug: Option<&'a DebugData>,
    /// Those of [`Remote::parameters`] whose value is true.
    pub true_parameters: &'a [String],
    /// User events since the last cycle.
    pub user_events: &'a [String],
    /// The charge of the battery, 0 to 1, for [`ChargeSource::Observed`]; `None`: unknown.
    pub battery_charge: Option<f64>,
}

/// Outputs of a cycle, to be carried out in order.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Order {
    /// Send a command.
    Send(Command),
    /// Send a command that starts a motion; if it is refused, call [`Remote::handle_motion_refused`].
    Move {
        /// Number of the motion.
        number: MotionNumber,
        command: Command,
    },
    /// A motion cannot be commanded, for this reason.
    MotionFailed(String),
    /// Send the map and the roadmap of these files.
    Load {
        /// Name of the map's file.
        map: Option<String>,
        /// Name of the roadmap's file.
        roadmap: Option<String>,
    },
    /// Show a message.
    Log {
        /// Kind of the message.
        kind: String,
        message: String,
    },
    /// Save the scan of the status.
    SaveScan {
        /// Name of the file without its extension, as written.
        file_name: String,
    },
}

/// The reason why the program cannot continue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Interrupted {
    /// The emergency stop was pressed.
    #[error("emergency stop: {0}")]
    Emergency(String),
    /// Another program has stopped the platform, or changed its mode.
    #[error("the platform is {operation} in {mode}: it was stopped by others")]
    Stopped { operation: String, mode: String },
}

/// A program that runs on this computer and moves a platform over the protocol.
#[derive(Debug)]
pub struct Remote {
    interpreter: Interpreter,
    parameters: Vec<String>,
    needs_debug_data: bool,
    equipment: Equipment,
    /// The motion that was commanded last.
    motion: Option<(MotionNumber, MotionWatch)>,
}

/// Instructions that the protocol does not support: name of the task, index of the instruction, reason.
pub fn unsupported(program: &Program, equipment: &Equipment) -> Vec<(String, usize, &'static str)> {
    let sensor =
        |direction: &Option<String>| direction.as_deref().is_none_or(|name| equipment.has_sensor(name));
    let reason = |instruction: &Instruction| {
        match instruction {
        Instruction::Move(Movement::After { object: TrackedObject::ChargingStation, .. }) => {
            Some("the protocol does not tell where charging stations are; use a station of the roadmap")
        }
        Instruction::Wait { events, .. } => events.iter().find_map(|event| match event {
            Awaited::BatteryCharge(_) if equipment.charge == ChargeSource::Unknown => {
                Some("the protocol has the battery's voltage, but not its charge: give that of the empty and full one")
            }
            Awaited::Infrared(direction) | Awaited::Radar(direction) if !sensor(direction) => {
                Some("no sensor has this direction: use one of the equipment, or 1 to 4")
            }
            _ => None,
        }),
        _ => None,
    }
    };
    let tasks = program.tasks.iter();
    let found = tasks.flat_map(|task| {
        let steps = task.instructions.iter().enumerate();
        steps.filter_map(|(at, instruction)| Some((task.name.clone(), at, reason(instruction)?)))
    });
    found.collect()
}

impl Remote {
    /// A program at its beginning. Check [`unsupported`] before.
    ///
    /// # Errors
    /// The program is invalid.
    pub fn new(program: Program, equipment: Equipment) -> Result<Self, ProgramError> {
        let instructions = || program.tasks.iter().flat_map(|task| &task.instructions);
        let mut parameters: Vec<String> = instructions()
            .filter_map(|instruction| match instruction {
                Instruction::Goto { condition: Condition::Parameter(key), .. } => Some(key.clone()),
                _ => None,
            })
            .collect();
        parameters.sort();
        parameters.dedup();
        let needs_debug_data = instructions().any(|instruction| match instruction {
            Instruction::Move(Movement::After { .. }) => true,
            Instruction::Wait { events, .. } => events
                .iter()
                .any(|event| matches!(event, Awaited::MovingObject | Awaited::Person | Awaited::Ball)),
            _ => false,
        });
        let interpreter = Interpreter::new(program, SEED)?;
        Ok(Self { interpreter, parameters, needs_debug_data, equipment, motion: None })
    }

    /// The parameters whose values the program needs.
    pub fn parameters(&self) -> &[String] {
        &self.parameters
    }

    /// Whether the program needs the debug data.
    pub fn needs_debug_data(&self) -> bool {
        self.needs_debug_data
    }

    /// The running program.
    pub fn interpreter(&self) -> &Interpreter {
        &self.interpreter
    }

    /// Whether all tasks and the last motion have ended.
    pub fn has_ended(&self) -> bool {
        self.interpreter.has_ended() && self.motion.is_none()
    }

    /// The command of this [`Order::Move`] was refused.
    pub fn handle_motion_refused(&mut self, number: MotionNumber) {
        self.motion.take_if(|(commanded, _)| *commanded == number);
        self.interpreter.handle_motion_refused(number);
    }

    /// Runs one cycle; at most `steps` steps begin ([`Interpreter::step`]), by default any number. A paused platform
    /// also pauses the program.
    ///
    /// # Errors
    /// The platform was stopped. The program cannot be continued.
    pub fn cycle(
        &mut self,
        observation: &Observation<'_>,
        steps: Option<usize>,
    ) -> Result<Vec<Order>, Interrupted> {
        let &Observation { now, date, status, debug, true_parameters, user_events, .. } = observation;
        if status.emergency_state.known() != Some(Emergency::Inactive) {
            return Err(Interrupted::Emergency(format!("{:?}", status.emergency_state)));
        }
        let (operation, mode) = (status.operation_state.known(), status.motion_mode.known());
        if mode != Some(MotionMode::Automatic)
            || !matches!(operation, Some(Operation::Moving | Operation::Broken))
        {
            let (operation, mode) =
                (format!("{:?}", status.operation_state), format!("{:?}", status.motion_mode));
            return Err(Interrupted::Stopped { operation, mode });
        }
        if operation == Some(Operation::Broken) {
            return Ok(Vec::new());
        }
        let mut orders = Vec::new();
        let mut target_reached = status.is_target_reached.known() == Some(true);
        if let Some((_, watch)) = &mut self.motion {
            let report = watch.handle_status(now, status);
            target_reached = report == MotionState::Reached;
            if report != MotionState::UnderWay {
                self.motion = None;
            }
            if report == MotionState::Failed {
                self.interpreter.handle_motion_failed();
                orders.push(Order::MotionFailed(format!("the planner reports {:?}", status.planner_state)));
            }
        }
        let clusters =
            |choose: fn(&DebugData) -> &Vec<Cluster>| debug.map(choose).map_or(&[][..], Vec::as_slice);
        let kinds = [
            (TrackedObject::MovingObject, clusters(|debug| &debug.moving_clusters)),
            (TrackedObject::Person, clusters(|debug| &debug.person_clusters)),
            (TrackedObject::Ball, clusters(|debug| &debug.ball_clusters)),
        ];
        let tracked_objects: Vec<(TrackedObject, Pose)> = kinds
            .iter()
            .filter_map(|(kind, found)| Some((*kind, self.pose_before_nearest(status, found)?)))
            .collect();
        let is_seen = |wanted| kinds.iter().any(|(kind, found)| *kind == wanted && !found.is_empty());
        let infrared = self
            .equipment
            .directions(status.surveillance.infrared.map(|sensor| sensor.known() == Some(true)));
        let radar = self.equipment.directions(
            status.radar_board.velocity_mm_per_s.map(|speed| f64::from(speed).abs() >= RADAR_SPEED * 1000.0),
        );
        let conditions = Conditions {
            now,
            date,
            is_moving: self.motion.is_some(),
            target_reached,
            collision: status.is_colliding.known() == Some(true),
            localization_lost: status.is_localization_lost.known() == Some(true),
            moving_object: is_seen(TrackedObject::MovingObject),
            person: is_seen(TrackedObject::Person),
            ball: is_seen(TrackedObject::Ball),
            infrared: &infrared,
            radar: &radar,
            user_events,
            battery_charge: self.equipment.charge(observation),
            is_loading: false,
            true_parameters,
            tracked_objects: &tracked_objects,
        };
        let actions = match steps {
            None => self.interpreter.cycle(&conditions),
            Some(steps) => self.interpreter.step(&conditions, steps),
        };
        for action in actions {
            match action {
                Action::Move { number, movement } => {
                    self.move_platform(number, &movement, observation, &tracked_objects, &mut orders);
                }
                Action::Do(effect) => carry_out(effect, &mut orders),
            }
        }
        Ok(orders)
    }

    fn move_platform(
        &mut self,
        number: MotionNumber,
        movement: &Movement,
        observation: &Observation<'_>,
        tracked: &[(TrackedObject, Pose)],
        orders: &mut Vec<Order>,
    ) {
        let command = match movement {
            Movement::Stop => {
                self.stop_platform(orders);
                return;
            }
            Movement::Station(name) => {
                Ok(Command::MoveToStation(MoveToStation { station: name.as_str().into() }))
            }
            Movement::Pose(pose) => Ok(Command::MoveAbs(frame(*pose))),
            Movement::After { object, .. } => {
                let place = tracked.iter().find(|(other, _)| other == object);
                place
                    .map(|(_, pose)| Command::MoveAbs(frame(*pose)))
                    .ok_or_else(|| format!("the position of the {object:?} is unknown"))
            }
        };
        match command {
            Ok(command) => {
                self.motion = Some((number, MotionWatch::new(observation.status)));
                orders.push(Order::Move { number, command });
            }
            Err(reason) => {
                // As in the local mode, a refused motion ends the one before it.
                if self.motion.is_some() {
                    self.stop_platform(orders);
                }
                self.interpreter.handle_motion_refused(number);
                orders.push(Order::MotionFailed(reason));
            }
        }
    }

    /// Ends the motion by a stop and a start of the platform, as the protocol has no other command for it.
    fn stop_platform(&mut self, orders: &mut Vec<Order>) {
        self.motion = None;
        orders.extend([Order::Send(Command::Stop), Order::Send(Command::Start)]);
    }

    /// The pose in front of the nearest object, facing it; as the platform's own.
    fn pose_before_nearest(&self, status: &Status, found: &[Cluster]) -> Option<Pose> {
        let metres = |mm: i32| f64::from(mm) / 1000.0;
        let here = position(Pose::new(metres(status.estimated.x_mm), metres(status.estimated.y_mm), 0.0));
        let places = found.iter().map(|one| position(Pose::new(metres(one.x_mm), metres(one.y_mm), 0.0)));
        let nearest = places.min_by(|a, b| (a - here).norm().total_cmp(&(b - here).norm()))?;
        let towards = heading(here, nearest);
        let free = self.equipment.front + FOLLOWING_DISTANCE;
        let place = if (nearest - here).norm() <= free { here } else { nearest - direction(towards) * free };
        Some(Pose::new(place.x, place.y, towards))
    }
}

#[allow(clippy::cast_possible_truncation, reason = "saturates; coordinates are checked in the document")]
fn frame(pose: Pose) -> Frame {
    let milli = |value: f64| (value * 1000.0).round() as i32;
    Frame { x_mm: milli(pose.x), y_mm: milli(pose.y), angle_mdeg: milli(pose.heading.to_degrees()) }
}

fn carry_out(effect: Effect, orders: &mut Vec<Order>) {
    let send = |command| vec![Order::Send(command)];
    orders.extend(match effect {
        Effect::Load { map, roadmap } => vec![Order::Load { map, roadmap }],
        Effect::Log { kind, message } => vec![Order::Log { kind, message }],
        Effect::SetParameter { key, value } => {
            send(Command::SetPltfParam(SetParameter { key: key.into(), value: value.into() }))
        }
        Effect::SetOutputs(outputs) => (0..)
            .zip(outputs)
            .filter_map(|(channel, output)| {
                let output = SetDigitalOutput { board: Board::Io, channel, is_high: output? };
                Some(Order::Send(Command::SetDigout(output)))
            })
            .collect(),
        Effect::Speak(text) => send(Command::SpeakText(SpeakText { text: text.into() })),
        Effect::Play(name) => send(Command::PlaySound(FileName { file_name: name.into() })),
        #[allow(clippy::cast_possible_truncation, reason = "checked in the document")]
        Effect::TurnHead(angle) => {
            send(Command::SetPosHeadDrive(HeadPosition { angle_deg: angle.to_degrees().round() as i32 }))
        }
        Effect::MoveCamera(position) => {
            send(Command::SetPosPanTiltCamera(PanTiltPosition { position: position.into() }))
        }
        Effect::Grab { file_name, scan, image, .. } => {
            let image = image
                .then(|| Order::Send(Command::GrabImage(FileName { file_name: file_name.as_str().into() })));
            let scan = scan.then_some(Order::SaveScan { file_name });
            image.into_iter().chain(scan).collect()
        }
    });
}

#[cfg(test)]
#[path = "remote_tests.rs"]
mod tests;

//! Programs: tasks that run side by side, each a list of instructions with labels to go on at and things to wait for (seed 002, section 6.5).
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Program`], [`Task`], [`Instruction`]: what there is to do; whether it can be done |
//! | [`interpreter`] | doing it |
//! | `document.rs` | programs from their documents |
//!
//! Where the guide is silent:
//!
//! - All tasks run from the start, but those that a `moveto` names for its errors; these run when there is one.
//! - The greater number is the more urgent priority. More urgent tasks go first in each cycle, and a less urgent one waits with its motion until
//!   theirs has ended; of equal ones the later motion takes the place of the earlier.
//! - A wait for several things ends with the first. One for nothing ends with its timeout; without one it ends at once.
//! - A task that goes round without waiting goes on in the next cycle after [`interpreter::MAX_STEPS`] instructions.

mod document;
pub mod interpreter;

use std::collections::HashSet;
use std::time::Duration;

use dragoman_geometry::Pose;

/// Instructions of a program, at most.
pub const MAX_INSTRUCTIONS: usize = 100_000;
/// Tasks of a program, at most.
pub const MAX_TASKS: usize = 256;

/// Tasks that run side by side.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// Their names are unique.
    pub tasks: Vec<Task>,
}

/// Instructions that are carried out one after the other.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Task {
    /// By which `moveto` knows it.
    pub name: String,
    /// The greater, the more urgent.
    pub priority: i64,
    /// In their order.
    pub instructions: Vec<Instruction>,
}

/// When a `goto` is carried out.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Always, or never.
    Constant(bool),
    /// If the parameter of this name is true.
    Parameter(String),
}

/// What a platform can be told to go after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quarry {
    /// `trackedperson`.
    Person,
    /// `trackedball`.
    Ball,
    /// `trackedmovingobject`.
    MovingObject,
    /// `chargingstation`.
    ChargingStation,
}

/// An instruction of a task.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Instruction {
    /// A place to go on at.
    Label(String),
    /// Goes on at a label.
    Goto {
        /// Which one.
        label: String,
        /// Or the next instruction.
        condition: Condition,
    },
    /// Moves, and does not wait.
    Move(Movement),
    /// Something that others do: what it is comes out of the interpreter as it is.
    Do(Deed),
    /// Waits.
    Wait {
        /// For the first of these.
        events: Vec<Awaited>,
        /// For so long; `None`: as long as it takes.
        timeout: Option<Duration>,
        /// Where to go on when the time is over; `None`: behind.
        timeout_label: Option<String>,
    },
}

/// A motion of a program.
#[derive(Debug, Clone, PartialEq)]
pub enum Movement {
    /// Ends the motion.
    Stop,
    /// To a pose of the map.
    Pose(Pose),
    /// To a station of the roadmap.
    Station(String),
    /// After something.
    After {
        /// What.
        quarry: Quarry,
        /// The task that runs when that fails.
        on_error: Option<String>,
    },
}

/// What a program does beside moving.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Deed {
    /// Loads a map and a roadmap by their file names, as they came.
    Load {
        /// Of the map.
        map: Option<String>,
        /// Of the roadmap.
        roadmap: Option<String>,
    },
    /// Tells something.
    Log {
        /// Of this kind.
        kind: String,
        /// What.
        message: String,
    },
    /// Sets a parameter.
    SetParameter {
        /// Its name.
        key: String,
        /// As it came.
        value: String,
    },
    /// Sets digital outputs of the IO board: D1 first; `None` stays as it is.
    SetOutputs([Option<bool>; 12]),
    /// Speaks.
    Speak(String),
    /// Plays a sound file, by its name as it came.
    Play(String),
    /// Turns the head into this direction, rad.
    TurnHead(f64),
    /// Keeps a scan or an image.
    Grab {
        /// Name of the file without its ending, as it came.
        file_name: String,
        /// Whether to keep a scan.
        scan: bool,
        /// Whether to keep an image.
        image: bool,
        /// Whether the platform observes by itself from now on; `None`: as before.
        observe: Option<bool>,
    },
    /// Moves the camera, in its own words.
    MoveCamera(String),
}

/// A date and time; what is `None` may be anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Date {
    /// With all its digits.
    pub year: Option<u32>,
    /// 1 to 12.
    pub month: Option<u32>,
    /// 1 to 31.
    pub day: Option<u32>,
    /// 0 to 23.
    pub hour: Option<u32>,
    /// 0 to 59.
    pub minute: Option<u32>,
    /// 0 to 59.
    pub second: Option<u32>,
}

impl Date {
    /// Whether `now` is at it or past it: the greatest part that both have and that differs decides.
    pub fn is_reached(&self, now: &Self) -> bool {
        let parts = |date: &Self| [date.year, date.month, date.day, date.hour, date.minute, date.second];
        let pairs = parts(self).into_iter().zip(parts(now));
        let mut both = pairs.filter_map(|(wanted, now)| Some((wanted?, now?)));
        both.find(|(wanted, now)| wanted != now).is_none_or(|(wanted, now)| now > wanted)
    }
}

/// What a task can wait for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Awaited {
    /// Something is in the way.
    Collision,
    /// Something that moves is seen.
    MovingObject,
    /// A person is seen.
    Person,
    /// A ball is seen.
    Ball,
    /// The platform does not know where it is.
    LocalizationLost,
    /// The goal of the last motion is reached.
    Target,
    /// An infrared sensor sees something; in this direction, or any.
    Infrared(Option<String>),
    /// A radar sensor sees something; in this direction, or any.
    Radar(Option<String>),
    /// A date and time.
    Date(Date),
    /// So much time is over.
    Delay(Duration),
    /// Somebody has told the event of this name.
    UserEvent(String),
    /// Some time is over, between these two by chance.
    Random(Duration, Duration),
    /// The battery has this charge, or more; 0 to 1.
    BatteryCharge(f64),
}

/// Why a program cannot be run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// More than [`MAX_TASKS`] or [`MAX_INSTRUCTIONS`].
    #[error("the program is too long")]
    TooLong,
    /// Two tasks of one name.
    #[error("there are two tasks called {0:?}")]
    TwoTasks(String),
    /// Two labels of one name in a task.
    #[error("task {task:?} has two labels {label:?}")]
    TwoLabels {
        /// Which task.
        task: String,
        /// Which label.
        label: String,
    },
    /// A label that there is not.
    #[error("task {task:?} goes on at {label:?}, which it has not")]
    UnknownLabel {
        /// Which task.
        task: String,
        /// Which label.
        label: String,
    },
    /// A task that there is not.
    #[error("task {task:?} names a task {named:?}, which there is not")]
    UnknownTask {
        /// Which task.
        task: String,
        /// Whom it names.
        named: String,
    },
    /// A number that is NaN or infinite.
    #[error("instruction {index} of task {task:?} has a number that is not finite")]
    NotFinite {
        /// Which task.
        task: String,
        /// Which instruction, from 0.
        index: usize,
    },
}

impl Program {
    /// Checks that every label and task that is named is there, once, and that all numbers can be counted with.
    ///
    /// # Errors
    /// The first thing that is wrong.
    pub fn check(&self) -> Result<(), ProgramError> {
        let length: usize = self.tasks.iter().map(|task| task.instructions.len()).sum();
        if self.tasks.len() > MAX_TASKS || length > MAX_INSTRUCTIONS {
            return Err(ProgramError::TooLong);
        }
        let mut names = HashSet::new();
        if let Some(task) = self.tasks.iter().find(|task| !names.insert(task.name.as_str())) {
            return Err(ProgramError::TwoTasks(task.name.clone()));
        }
        for task in &self.tasks {
            task.check()?;
            let unknown = task.error_tasks().find(|named| !names.contains(named));
            if let Some(named) = unknown {
                return Err(ProgramError::UnknownTask { task: task.name.clone(), named: named.to_owned() });
            }
        }
        Ok(())
    }
}

impl Task {
    fn check(&self) -> Result<(), ProgramError> {
        let task = || self.name.clone();
        let mut labels = HashSet::new();
        for instruction in &self.instructions {
            if let Instruction::Label(label) = instruction
                && !labels.insert(label.as_str())
            {
                return Err(ProgramError::TwoLabels { task: task(), label: label.clone() });
            }
        }
        for (index, instruction) in self.instructions.iter().enumerate() {
            let label = match instruction {
                Instruction::Goto { label, .. } => Some(label),
                Instruction::Wait { timeout_label, .. } => timeout_label.as_ref(),
                _ => None,
            };
            if let Some(label) = label.filter(|label| !labels.contains(label.as_str())) {
                return Err(ProgramError::UnknownLabel { task: task(), label: label.clone() });
            }
            let finite = match instruction {
                Instruction::Move(Movement::Pose(pose)) => pose.is_finite(),
                Instruction::Do(Deed::TurnHead(angle)) => angle.is_finite(),
                Instruction::Wait { events, .. } => events.iter().all(|event| match event {
                    Awaited::BatteryCharge(limit) => limit.is_finite(),
                    _ => true,
                }),
                _ => true,
            };
            if !finite {
                return Err(ProgramError::NotFinite { task: task(), index });
            }
        }
        Ok(())
    }

    /// The tasks that run when something of this one fails.
    fn error_tasks(&self) -> impl Iterator<Item = &str> {
        self.instructions.iter().filter_map(|instruction| match instruction {
            Instruction::Move(Movement::After { on_error, .. }) => on_error.as_deref(),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;

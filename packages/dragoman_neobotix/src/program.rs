//! Programs: parallel tasks, each a list of instructions with labels to jump to and conditions to wait for
//! (PlatformCtrl guide, 6.5).
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Program`], [`Task`], [`Instruction`], and their validation |
//! | [`interpreter`] | execution |
//! | [`remote`] | execution on another computer, over the protocol |
//! | `motion_watch.rs` | the state of a motion that was commanded over the protocol |
//! | `document.rs` | programs from their documents |
//!
//! Choices where the guide is silent:
//!
//! - All tasks run from the start, except error tasks named by a `moveto`, which start at an error.
//! - A greater number is a higher priority. Tasks with higher priority run first in each cycle, and their motions delay
//!   those of lower priority; a later motion replaces an earlier one of the same priority.
//! - A user event is lost for tasks that do not wait for it when it is raised, and ends one wait of each that does.
//! - A wait for several events ends with the first. One without events ends with its timeout, or at once without a timeout.
//! - A task that loops without waiting continues in the next cycle after [`interpreter::MAX_STEPS`] instructions.

mod document;
pub mod interpreter;
mod motion_watch;
pub mod remote;
#[cfg(test)]
mod same_programs;

use std::collections::BTreeSet;
use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_text::excerpt;

/// Maximum number of instructions of a program.
pub const MAX_INSTRUCTIONS: usize = 100_000;
/// Maximum number of tasks of a program.
pub const MAX_TASKS: usize = 256;

/// Parallel tasks.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Program {
    /// Their names are unique.
    pub tasks: Vec<Task>,
}

/// A sequence of instructions.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Task {
    /// Name for `moveto`.
    pub name: String,
    /// Priority; a greater number is more urgent.
    pub priority: i64,
    /// Instructions in order.
    pub instructions: Vec<Instruction>,
    /// The step of the document from which each instruction is, from 0. Empty: each is a step of its own.
    pub steps: Vec<usize>,
}

/// Condition of a `goto`.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// Always, or never.
    Constant(bool),
    /// True if the parameter with this name is true.
    Parameter(String),
}

/// Objects that a platform can follow or drive to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrackedObject {
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
#[allow(missing_docs, reason = "the names of some variants say it")]
pub enum Instruction {
    /// A label for `goto`.
    Label(String),
    /// Jumps to a label.
    Goto {
        /// Name of the label.
        label: String,
        /// If false, execution continues with the next instruction.
        condition: Condition,
    },
    /// Starts a motion without waiting.
    Move(Movement),
    /// An effect besides motion; the interpreter returns it unchanged.
    Do(Effect),
    Wait {
        /// Ends the wait with the first of these.
        events: Vec<Awaited>,
        /// Time limit; `None`: none.
        timeout: Option<Duration>,
        /// Label to jump to at the time limit; `None`: the next instruction.
        timeout_label: Option<String>,
    },
}

/// A motion of a program.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Movement {
    /// Ends the motion.
    Stop,
    /// Moves to a pose in the map.
    Pose(Pose),
    /// Moves to a station of the roadmap.
    Station(String),
    /// Moves to an object.
    After {
        object: TrackedObject,
        /// The task that runs when the motion fails.
        on_error: Option<String>,
    },
}

/// An effect of a program besides motion.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some variants say it")]
pub enum Effect {
    /// Loads a map and a roadmap by their file names, unchanged. The task continues when they are loaded.
    Load {
        /// File name of the map.
        map: Option<String>,
        /// File name of the roadmap.
        roadmap: Option<String>,
    },
    /// Logs a message.
    Log {
        /// Kind of the message.
        kind: String,
        /// Text of the message.
        message: String,
    },
    SetParameter {
        /// Name of the parameter.
        key: String,
        /// Value as written.
        value: String,
    },
    /// Sets digital outputs of the IO board, D1 first; `None`: unchanged.
    SetOutputs([Option<bool>; 12]),
    /// Speaks a text.
    Speak(String),
    /// Plays a sound file, by its name as written.
    Play(String),
    /// Turns the head to this direction, rad.
    TurnHead(f64),
    /// Saves a scan or an image.
    Grab {
        /// Name of the file without its extension, as written.
        file_name: String,
        /// Whether to save a scan.
        scan: bool,
        /// Whether to save an image.
        image: bool,
        /// Whether the platform observes by itself; `None`: unchanged.
        observe: Option<bool>,
    },
    /// Moves the camera, in its own syntax.
    MoveCamera(String),
}

/// A date and time; parts that are `None` match anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Date {
    /// Year with century.
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
    /// Whether `now` is at or after it: the most significant part that both have and that differs decides.
    pub fn is_reached(&self, now: &Self) -> bool {
        let parts = |date: &Self| [date.year, date.month, date.day, date.hour, date.minute, date.second];
        let pairs = parts(self).into_iter().zip(parts(now));
        let mut both = pairs.filter_map(|(wanted, now)| Some((wanted?, now?)));
        both.find(|(wanted, now)| wanted != now).is_none_or(|(wanted, now)| now > wanted)
    }
}

/// Events for which a task can wait.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Awaited {
    /// An obstacle prevents motion.
    Collision,
    /// A moving object is seen.
    MovingObject,
    /// A person is seen.
    Person,
    /// A ball is seen.
    Ball,
    /// Localization is lost.
    LocalizationLost,
    /// The goal of the last motion is reached.
    Target,
    /// An infrared sensor sees something, in this direction or any.
    Infrared(Option<String>),
    /// A radar sensor sees something, in this direction or any.
    Radar(Option<String>),
    /// A date and time.
    Date(Date),
    /// This time has passed.
    Delay(Duration),
    /// The user event with this name was received.
    UserEvent(String),
    /// A random time between these two has passed.
    Random(Duration, Duration),
    /// The battery charge is at least this, 0 to 1.
    BatteryCharge(f64),
}

/// Error in a program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// More than [`MAX_TASKS`] or [`MAX_INSTRUCTIONS`].
    #[error(
        "the program has {tasks} tasks and {instructions} instructions; \
         the maximum is {MAX_TASKS} and {MAX_INSTRUCTIONS}"
    )]
    TooLong {
        /// Number of its tasks.
        tasks: usize,
        /// Number of their instructions.
        instructions: usize,
    },
    /// Two tasks have the same name.
    #[error("there are two tasks called {:?}", excerpt(.0))]
    TwoTasks(String),
    /// Two labels of a task have the same name.
    #[error("task {:?} has two labels {:?}", excerpt(.task), excerpt(.label))]
    TwoLabels {
        /// Name of the task.
        task: String,
        /// Name of the label.
        label: String,
    },
    /// A label does not exist.
    #[error("task {:?} jumps to the unknown label {:?}", excerpt(.task), excerpt(.label))]
    UnknownLabel {
        /// Name of the task.
        task: String,
        /// Name of the label.
        label: String,
    },
    /// A task does not exist.
    #[error("task {:?} refers to the unknown task {:?}", excerpt(.task), excerpt(.named))]
    UnknownTask {
        /// Name of the task.
        task: String,
        /// Name of the missing task.
        named: String,
    },
    /// A number is NaN or infinite.
    #[error("instruction {index} of task {:?} has a number that is not finite", excerpt(.task))]
    NotFinite {
        /// Name of the task.
        task: String,
        /// Index of the instruction, from 0.
        index: usize,
    },
}

impl Program {
    /// Checks that all labels and tasks exist and are unique, and that all numbers are finite.
    ///
    /// # Errors
    /// The first error.
    pub fn check(&self) -> Result<(), ProgramError> {
        let length: usize = self.tasks.iter().map(|task| task.instructions.len()).sum();
        if self.tasks.len() > MAX_TASKS || length > MAX_INSTRUCTIONS {
            return Err(ProgramError::TooLong { tasks: self.tasks.len(), instructions: length });
        }
        let mut names = BTreeSet::new();
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
        let mut labels = BTreeSet::new();
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
                Instruction::Do(Effect::TurnHead(angle)) => angle.is_finite(),
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

    /// The tasks that run when a motion of this one fails.
    fn error_tasks(&self) -> impl Iterator<Item = &str> {
        self.instructions.iter().filter_map(|instruction| match instruction {
            Instruction::Move(Movement::After { on_error, .. }) => on_error.as_deref(),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests;

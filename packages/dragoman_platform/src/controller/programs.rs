//! The motion mode program: tasks that drive the platform.

use std::time::Duration;

use dragoman_geometry::position;

use super::{Event, MotionMode, Operation, Platform, Refusal};
use crate::motion::automatic::{MotionEnd, Target};
use crate::program::interpreter::{Action, Conditions, Interpreter};
use crate::program::remote::SEED;
use crate::program::{Effect, Movement, Program, TrackedObject};

/// Time that a charging station has to notice the platform.
const DOCKING_TIME: Duration = Duration::from_secs(3);

/// The last motion to a charging station.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Docking {
    /// Another motion, or none.
    #[default]
    None,
    /// Under way, or only just there.
    UnderWay,
    /// It did not come there.
    Failed,
    /// There for some seconds: the platform should be docked.
    Arrived,
}

impl Platform {
    /// The state of the last motion, if it was one to a charging station.
    pub(super) fn docking(&self) -> Docking {
        let motion = self.automatic.motion();
        match self.docking {
            Some((number, arrived)) if number == motion.number => match (motion.end, arrived) {
                (Some(MotionEnd::Arrived), Some(when)) if self.now.saturating_sub(when) >= DOCKING_TIME => {
                    Docking::Arrived
                }
                (None | Some(MotionEnd::Arrived), _) => Docking::UnderWay,
                (Some(MotionEnd::GivenUp), _) => Docking::None,
                (Some(_), _) => Docking::Failed,
            },
            _ => Docking::None,
        }
    }

    /// Sets the program; refused while one is running.
    pub(super) fn set_program(&mut self, program: Program) -> Result<(), Refusal> {
        if self.interpreter.is_some() {
            return Err(Refusal::WrongState(self.operation));
        }
        program.check()?;
        self.program = program;
        Ok(())
    }

    /// In the mode program: starts or continues the program.
    pub(super) fn start_program(&mut self) -> Result<(), Refusal> {
        if self.mode == MotionMode::Program
            && self.interpreter.is_none()
            && self.operation == Operation::Ready
        {
            self.interpreter = Some(Interpreter::new(self.program.clone(), SEED)?);
            self.program_runs.0 = self.program_runs.0.wrapping_add(1).max(1);
        }
        Ok(())
    }

    /// Runs one cycle of the program.
    pub(super) fn run_program(&mut self, outside: &Conditions<'_>) {
        let Some(mut interpreter) = self.interpreter.take() else {
            return;
        };
        let conditions = Conditions {
            now: self.now,
            is_moving: self.automatic.is_busy(),
            target_reached: self.target_reached,
            collision: self.blocked,
            localization_lost: self.localizer.is_lost(),
            ..*outside
        };
        for action in interpreter.cycle(&conditions) {
            match action {
                Action::Move { number, movement } => {
                    if let Err(refusal) = self.program_motion(movement, &conditions) {
                        interpreter.handle_motion_refused(number);
                        self.event(Event::ProgramRefused(refusal));
                    }
                }
                Action::Do(effect) => {
                    if let Effect::SetOutputs(outputs) = &effect {
                        for (bit, output) in outputs.iter().enumerate() {
                            let mask = 1 << bit;
                            match output {
                                Some(true) => self.digital_outputs[0] |= mask,
                                Some(false) => self.digital_outputs[0] &= !mask,
                                None => {}
                            }
                        }
                    }
                    self.event(Event::Program(effect));
                }
            }
        }
        if interpreter.has_ended() && !self.automatic.is_busy() {
            self.program_runs.1 = self.program_runs.0;
            self.event(Event::ProgramEnded);
        } else {
            self.interpreter = Some(interpreter);
        }
    }

    fn program_motion(&mut self, movement: Movement, conditions: &Conditions<'_>) -> Result<(), Refusal> {
        let is_docking = matches!(movement, Movement::After { object: TrackedObject::ChargingStation, .. });
        let begun = self.begin_movement(movement, conditions);
        if is_docking {
            self.docking = Some((self.automatic.motion().number, None));
        }
        begun
    }

    fn begin_movement(&mut self, movement: Movement, conditions: &Conditions<'_>) -> Result<(), Refusal> {
        let target = match movement {
            Movement::Stop => {
                self.automatic.cancel();
                return Ok(());
            }
            Movement::Pose(pose) => Target::Pose(pose),
            Movement::Station(name) => {
                let route = self.roadmap.route(position(self.pose), &name);
                Target::Path(route.map_err(|error| self.without_way(error.into()))?)
            }
            Movement::After { object, .. } => {
                let seen = conditions.tracked_objects.iter().find(|(other, _)| *other == object);
                let refused = || self.without_way(Refusal::NoTrackedObject(object));
                Target::Pose(seen.map(|(_, pose)| *pose).ok_or_else(refused)?)
            }
        };
        self.begin(target)
    }
}

//! The motion mode program: tasks that drive the platform.

use dragoman_geometry::position;

use super::{Event, MotionMode, Operation, Platform, Refusal};
use crate::motion::automatic::Target;
use crate::program::interpreter::{Action, Conditions, Interpreter};
use crate::program::{Deed, Movement, Program};

/// Of random waits. A program that is run twice waits the same times.
const SEED: u64 = 1;

impl Platform {
    /// Sets the program; not while one is at work.
    pub(super) fn set_program(&mut self, program: Program) -> Result<(), Refusal> {
        if self.interpreter.is_some() {
            return Err(Refusal::WrongState(self.operation));
        }
        program.check()?;
        self.program = program;
        Ok(())
    }

    /// In the mode program: the program begins, or goes on.
    pub(super) fn start_program(&mut self) -> Result<(), Refusal> {
        if self.mode == MotionMode::Program
            && self.interpreter.is_none()
            && self.operation == Operation::Ready
        {
            self.interpreter = Some(Interpreter::new(self.program.clone(), SEED)?);
        }
        Ok(())
    }

    /// Lets the program go on.
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
                Action::Move(movement) => {
                    if let Err(refusal) = self.program_motion(movement, &conditions) {
                        interpreter.motion_failed();
                        self.event(Event::ProgramRefused(refusal));
                    }
                }
                Action::Do(deed) => {
                    if let Deed::SetOutputs(outputs) = &deed {
                        for (bit, output) in outputs.iter().enumerate() {
                            let mask = 1 << bit;
                            match output {
                                Some(true) => self.digital_outputs[0] |= mask,
                                Some(false) => self.digital_outputs[0] &= !mask,
                                None => {}
                            }
                        }
                    }
                    self.event(Event::Program(deed));
                }
            }
        }
        if interpreter.has_ended() && !self.automatic.is_busy() {
            self.event(Event::ProgramEnded);
        } else {
            self.interpreter = Some(interpreter);
        }
    }

    fn program_motion(&mut self, movement: Movement, conditions: &Conditions<'_>) -> Result<(), Refusal> {
        let target = match movement {
            Movement::Stop => {
                self.automatic.cancel();
                return Ok(());
            }
            Movement::Pose(pose) => Target::Pose(pose),
            Movement::Station(name) => Target::Path(self.roadmap.route(position(self.pose), &name)?),
            Movement::After { quarry, .. } => {
                let seen = conditions.quarries.iter().find(|(other, _)| *other == quarry);
                Target::Pose(seen.ok_or(Refusal::NothingToGoAfter(quarry))?.1)
            }
        };
        self.begin(target)
    }
}

//! The motion mode program: tasks that drive the platform.

use dragoman_geometry::position;

use super::{Event, MotionMode, Operation, Platform, Refusal};
use crate::motion::automatic::Target;
use crate::program::interpreter::{Action, Conditions, Interpreter};
use crate::program::remote::SEED;
use crate::program::{Effect, Movement, Program, TrackedObject};

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

/// The program, and its run.
#[derive(Debug, Default)]
pub(super) struct Programs {
    pub(super) program: Program,
    /// The running program.
    pub(super) interpreter: Option<Interpreter>,
    /// Number of the last start of a program, from 1, and of the last one that has run to its end.
    pub(super) runs: (u32, u32),
}

impl Programs {
    /// The motion of the running program has failed.
    pub(super) fn handle_motion_failed(&mut self) {
        if let Some(interpreter) = &mut self.interpreter {
            interpreter.handle_motion_failed();
        }
    }
}

impl Platform {
    /// Sets the program; refused while one is running.
    pub(super) fn set_program(&mut self, program: Program) -> Result<(), Refusal> {
        if self.programs.interpreter.is_some() {
            return Err(Refusal::WrongState(self.operation));
        }
        program.check()?;
        self.programs.program = program;
        Ok(())
    }

    /// In the mode program: starts or continues the program.
    pub(super) fn start_program(&mut self) -> Result<(), Refusal> {
        if self.mode == MotionMode::Program
            && self.programs.interpreter.is_none()
            && self.operation == Operation::Ready
        {
            self.programs.interpreter = Some(Interpreter::new(self.programs.program.clone(), SEED)?);
            self.programs.runs.0 = self.programs.runs.0.wrapping_add(1).max(1);
        }
        Ok(())
    }

    /// Runs one cycle of the program.
    pub(super) fn run_program(&mut self, outside: &Conditions<'_>) {
        let Some(mut interpreter) = self.programs.interpreter.take() else {
            return;
        };
        let conditions = Conditions {
            now: self.now,
            is_moving: self.drive.automatic.is_busy(),
            target_reached: self.drive.target_reached,
            collision: self.drive.blocked,
            localization_lost: self.position.localizer.is_lost(),
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
                                Some(true) => self.switches.digital_outputs[0] |= mask,
                                Some(false) => self.switches.digital_outputs[0] &= !mask,
                                None => {}
                            }
                        }
                    }
                    self.event(Event::Program(effect));
                }
            }
        }
        if interpreter.has_ended() && !self.drive.automatic.is_busy() {
            self.programs.runs.1 = self.programs.runs.0;
            self.event(Event::ProgramEnded);
        } else {
            self.programs.interpreter = Some(interpreter);
        }
    }

    fn program_motion(&mut self, movement: Movement, conditions: &Conditions<'_>) -> Result<(), Refusal> {
        let is_docking = matches!(movement, Movement::After { object: TrackedObject::ChargingStation, .. });
        let begun = self.begin_movement(movement, conditions);
        if is_docking {
            self.drive.note_docking();
        }
        begun
    }

    fn begin_movement(&mut self, movement: Movement, conditions: &Conditions<'_>) -> Result<(), Refusal> {
        let target = match movement {
            Movement::Stop => {
                self.drive.automatic.cancel();
                return Ok(());
            }
            Movement::Pose(pose) => Target::Pose(pose),
            Movement::Station(name) => {
                let route = self.area.roadmap.route(position(self.position.pose), &name);
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

//! Start, pause, stop, reset, speed and time step of the simulation (TurtleBot thesis, A.5): the worlds, and the time of
//! simulated robots with their drivers.

use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::pace::Pace;
use super::{Live, NodeState, WorldNodeError};
use crate::{WorldError, Worlds};

/// Speeds of the simulation, relative to real time.
const FACTORS: RangeInclusive<f64> = 0.01..=100.0;
/// Time steps, s, besides zero.
const TIME_STEPS: RangeInclusive<f64> = 0.001..=0.5;
/// Step of robots with drivers while a request advances a paused simulation, s.
const REQUESTED_STEP: f64 = 0.02;

/// Loads the worlds as they are at the start.
pub(super) type Loader = Box<dyn Fn() -> Result<Worlds, WorldNodeError> + Send>;

/// State of the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunState {
    /// Its time passes.
    Running,
    /// Its time stands still.
    Paused,
    /// As before the start: everything is at its first place, and the time is zero.
    Stopped,
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Stopped => "stopped",
        })
    }
}

/// Reason for a refused request.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// The worlds have no speed of their own.
    #[error("the worlds' time runs as fast as possible (parameter as_fast_as_possible)")]
    AsFastAsPossible,
    /// A speed out of range.
    #[error("a speed of {0} is not within {low} to {high}", low = FACTORS.start(), high = FACTORS.end())]
    Speed(f64),
    /// A time step out of range.
    #[error("a time step of {0} s is neither 0 nor within {low} to {high} s", low = TIME_STEPS.start(), high = TIME_STEPS.end())]
    TimeStep(f64),
    /// The worlds cannot be loaded again: a file has changed.
    #[error("{0}")]
    Load(String),
}

pub(super) struct Control {
    loader: Loader,
    run_state: RunState,
    /// The speed while it runs.
    factor: f64,
}

impl Control {
    pub(super) fn new(pace: &Pace, loader: Loader) -> Self {
        // Zero: the worlds' time advances by requests.
        let factor = pace.factor().filter(|factor| *factor > 0.0);
        let is_still = pace.factor() == Some(0.0);
        let run_state = if is_still { RunState::Paused } else { RunState::Running };
        Self { loader, run_state, factor: factor.unwrap_or(1.0) }
    }
}

impl Live {
    /// State of the simulation.
    pub fn run_state(&self) -> RunState {
        self.with(|state| state.control.run_state)
    }

    /// Lets the time pass.
    ///
    /// # Errors
    /// The worlds' time runs as fast as possible.
    pub fn start(&self) -> Result<(), ControlError> {
        self.change(RunState::Running)
    }

    /// Lets the time stand still, for the worlds and for simulated robots with their drivers.
    ///
    /// # Errors
    /// The worlds' time runs as fast as possible.
    pub fn pause(&self) -> Result<(), ControlError> {
        self.change(RunState::Paused)
    }

    /// Ends the simulation: everything is as before the start, and waits for it.
    ///
    /// # Errors
    /// The worlds' time runs as fast as possible; they cannot be loaded.
    pub fn stop(&self) -> Result<(), ControlError> {
        self.change(RunState::Stopped)?;
        self.reset()
    }

    /// Begins again: everything is as at the start, the time is zero. A simulation that runs continues from there.
    ///
    /// # Errors
    /// The worlds cannot be loaded.
    pub fn reset(&self) -> Result<(), ControlError> {
        self.with(|state| {
            let worlds = (state.control.loader)().map_err(|error| ControlError::Load(error.to_string()))?;
            state.pace.replace(worlds);
            for driven in &mut state.driven {
                if let Err(error) = driven.begin_again(state.pace.worlds()) {
                    return Err(ControlError::Load(error.to_string()));
                }
            }
            Ok(())
        })
    }

    /// Sets the speed relative to real time, now or for the next start.
    ///
    /// # Errors
    /// Out of range; the worlds' time runs as fast as possible.
    pub fn set_speed(&self, factor: f64) -> Result<(), ControlError> {
        if !FACTORS.contains(&factor) {
            return Err(ControlError::Speed(factor));
        }
        let run_state = self.with(|state| {
            state.control.factor = factor;
            state.control.run_state
        });
        self.change(run_state)
    }

    /// Sets the time step, s: the worlds' time advances in multiples of it, and robots with drivers exchange their
    /// states with the worlds as often. Zero: as fine as requests and publishers need.
    ///
    /// # Errors
    /// Out of range.
    pub fn set_time_step(&self, time_step: f64) -> Result<(), ControlError> {
        if time_step != 0.0 && !TIME_STEPS.contains(&time_step) {
            return Err(ControlError::TimeStep(time_step));
        }
        self.with(|state| state.pace.set_time_step(Duration::from_secs_f64(time_step)));
        Ok(())
    }

    fn change(&self, run_state: RunState) -> Result<(), ControlError> {
        self.with(|state| {
            if state.pace.factor().is_none() {
                return Err(ControlError::AsFastAsPossible);
            }
            let factor = if run_state == RunState::Running { state.control.factor } else { 0.0 };
            state.control.run_state = run_state;
            state.pace.set_factor(factor);
            self.timeline.set_factor(factor);
            Ok(())
        })
    }

    /// Advances the worlds by this time, s, and robots with drivers if their time stands still as well. Returns the
    /// worlds' time.
    ///
    /// # Errors
    /// The time is out of range.
    pub(super) fn advance(&self, time: f64) -> Result<Duration, (String, Duration)> {
        self.with(|state| {
            let advanced = if self.timeline.factor() == 0.0 && !state.driven.is_empty() {
                self.advance_all(state, time)
            } else {
                state.pace.step(time)
            };
            let now = state.pace.time();
            advanced.map(|()| now).map_err(|error| (state.refuse(&error), now))
        })
    }

    fn advance_all(&self, state: &mut NodeState, time: f64) -> Result<(), WorldError> {
        let mut rest = time;
        loop {
            // The first step also checks the whole.
            let step = if rest > REQUESTED_STEP && Pace::can_step(rest) { REQUESTED_STEP } else { rest };
            state.pace.step(step)?;
            self.timeline.skip(Duration::from_secs_f64(step));
            state.exchange_now();
            rest -= step;
            if rest <= 0.0 {
                return Ok(());
            }
        }
    }
}

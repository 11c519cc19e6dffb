//! The emergency stop, and the time of its reset.

use std::time::Duration;

use super::{Emergency, Refusal};

#[derive(Debug)]
pub(super) struct EmergencyStop {
    state: Emergency,
    /// When it was released.
    released: Duration,
}

impl Default for EmergencyStop {
    fn default() -> Self {
        Self { state: Emergency::Inactive, released: Duration::ZERO }
    }
}

impl EmergencyStop {
    pub(super) fn state(&self) -> Emergency {
        self.state
    }

    /// Whether the platform may move.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        match self.state {
            Emergency::Inactive => Ok(()),
            state => Err(Refusal::Emergency(state)),
        }
    }

    /// The new state, if it has changed.
    pub(super) fn update(&mut self, pressed: bool, now: Duration, reset_time: Duration) -> Option<Emergency> {
        let state = match (pressed, self.state) {
            (true, _) => Emergency::Active,
            (false, Emergency::Active) => {
                self.released = now;
                Emergency::Reset
            }
            (false, Emergency::Reset) if now.saturating_sub(self.released) >= reset_time => {
                Emergency::Inactive
            }
            (false, state) => state,
        };
        (std::mem::replace(&mut self.state, state) != state).then_some(state)
    }
}

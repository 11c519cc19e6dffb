//! Motion of a base that is not a Kobuki; its other data is only logged.

use dragoman_io::serial::Line;

use super::motion::MotionTopics;
use crate::differential::driver::{Driver, Event};

/// The topics of such a base.
pub(super) struct DifferentialTopics {
    motion: MotionTopics,
    /// Number of published measurements.
    published: u64,
}

impl DifferentialTopics {
    pub(super) fn new(motion: MotionTopics) -> Self {
        Self { motion, published: 0 }
    }

    /// Publishes new data; returns whether there was a measurement.
    pub(super) fn update(&mut self, line: &Line<Driver>) -> bool {
        let (state, events) = line.look(|driver| {
            let events: Vec<Event> = std::iter::from_fn(|| driver.poll_event()).collect();
            let state = driver.state();
            self.motion.show_motors(state.motor_power);
            (state, events)
        });
        for event in events {
            match event {
                Event::Robot { online } => super::motion::log_robot(online),
                Event::MotorPower { on } => super::motion::log_motors(on),
                Event::CommandExpired => super::motion::log_expired(),
            }
        }
        let measured = state.line.measurements != self.published;
        self.published = state.line.measurements;
        if measured && let Err(error) = self.motion.publish(&self.motion.stamp(), &(&state).into()) {
            tracing::warn!(%error, "publishing failed");
        }
        measured
    }
}

//! What moves the platform: a commanded velocity, a motion to a target, or a replay.

use std::time::Duration;

use dragoman_geometry::Twist;
use dragoman_geometry::limits::Ramp;

use super::Docking;
use crate::motion::automatic::{Automatic, MotionEnd, MotionEvent};
use crate::planning::PlanError;
use crate::replay::Player;

/// Time that a charging station has to notice the platform.
const DOCKING_TIME: Duration = Duration::from_secs(3);

#[derive(Debug)]
pub(super) struct Drive {
    /// The last velocity command, and its time.
    pub(super) velocity: Option<(Twist, Duration)>,
    pub(super) ramp: Ramp,
    pub(super) automatic: Automatic,
    /// The running replay.
    pub(super) player: Option<Player>,
    pub(super) blocked: bool,
    pub(super) target_reached: bool,
    /// Number of the last motion to a charging station, and when it arrived.
    docking: Option<(u64, Option<Duration>)>,
}

impl Drive {
    pub(super) fn new(ramp: Ramp) -> Self {
        Self {
            velocity: None,
            ramp,
            automatic: Automatic::default(),
            player: None,
            blocked: false,
            target_reached: false,
            docking: None,
        }
    }

    /// Ends every motion; the ramp brakes.
    pub(super) fn clear(&mut self) {
        self.velocity = None;
        self.automatic.cancel();
        self.player = None;
        self.blocked = false;
    }

    /// There is no way to a target: the motion to the last one ends.
    pub(super) fn refuse(&mut self) {
        self.target_reached = false;
        self.automatic.refuse(PlanError::NoPath);
    }

    /// Notes an event of a motion.
    pub(super) fn note(&mut self, event: MotionEvent, now: Duration) {
        if event == MotionEvent::Arrived {
            self.target_reached = true;
            if let Some((_, arrived)) = &mut self.docking {
                *arrived = Some(now);
            }
        }
    }

    /// The current motion goes to a charging station.
    pub(super) fn note_docking(&mut self) {
        self.docking = Some((self.automatic.motion().number, None));
    }

    /// The state of the last motion, if it was one to a charging station.
    pub(super) fn docking(&self, now: Duration) -> Docking {
        let motion = self.automatic.motion();
        match self.docking {
            Some((number, arrived)) if number == motion.number => match (motion.end, arrived) {
                (Some(MotionEnd::Arrived), Some(when)) if now.saturating_sub(when) >= DOCKING_TIME => {
                    Docking::Arrived
                }
                (None | Some(MotionEnd::Arrived), _) => Docking::UnderWay,
                (Some(MotionEnd::GivenUp), _) => Docking::None,
                (Some(_), _) => Docking::Failed,
            },
            _ => Docking::None,
        }
    }
}

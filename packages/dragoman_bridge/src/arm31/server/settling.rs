//! Answers to a recalibration that wait until the measurements show the declared positions, so that the next query
//! returns them.

use std::time::Duration;

/// Number of new messages of a topic after which its measurements are later than the call: the first message may have
/// been sent before.
const NEW_MESSAGES: u8 = 2;
/// Time limit, for an arm that measures rarely.
const LIMIT: Duration = Duration::from_millis(200);

/// The measurements since a call was carried out.
#[derive(Debug)]
pub(super) struct Settling {
    joints: u8,
    /// Poses since the joint positions were later than the call: they follow from them.
    poses: u8,
    deadline: Duration,
}

impl Settling {
    /// A call was carried out.
    pub(super) fn new(now: Duration) -> Self {
        Self { joints: 0, poses: 0, deadline: now.saturating_add(LIMIT) }
    }

    /// Joint positions have arrived.
    pub(super) fn handle_joints(&mut self) {
        self.joints = self.joints.saturating_add(1);
    }

    /// A pose has arrived.
    pub(super) fn handle_pose(&mut self) {
        if self.joints >= NEW_MESSAGES {
            self.poses = self.poses.saturating_add(1);
        }
    }

    /// Whether the answer may be sent.
    pub(super) fn is_settled(&self, now: Duration) -> bool {
        self.poses >= NEW_MESSAGES || now >= self.deadline
    }

    /// When it may be sent at the latest.
    pub(super) fn deadline(&self) -> Duration {
        self.deadline
    }
}

//! Records the traffic on the line and its meaning, for debugging.

use std::collections::VecDeque;

use dragoman_geometry::Twist;

use super::super::wire::{BaseControl, frame};

/// Maximum number of queued records; beyond that the oldest are dropped.
const MAX_RECORDS: usize = 256;

/// Selection of the traffic to record. Default: nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Recorded {
    /// Frames to the base.
    pub sent: bool,
    /// Valid frames from the base.
    pub received: bool,
    /// Commanded velocities.
    pub velocities: bool,
}

/// Traffic of the base, in the order in which it was sent or received.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Record {
    /// A frame to the base, from header to checksum.
    Sent(Vec<u8>),
    /// A frame from the base, from header to checksum.
    Received(Vec<u8>),
    /// A commanded velocity.
    Velocity {
        /// The command as sent.
        control: BaseControl,
        /// The desired velocity, within the limits.
        twist: Twist,
    },
}

#[derive(Debug, Default)]
pub(super) struct Recorder {
    recorded: Recorded,
    records: VecDeque<Record>,
}

impl Recorder {
    pub(super) fn set(&mut self, recorded: Recorded) {
        self.recorded = recorded;
    }

    pub(super) fn take(&mut self) -> Option<Record> {
        self.records.pop_front()
    }

    /// One frame.
    pub(super) fn sent(&mut self, bytes: &[u8]) {
        if self.recorded.sent {
            self.add(Record::Sent(bytes.to_vec()));
        }
    }

    /// The payload of one frame.
    pub(super) fn received(&mut self, payload: &[u8]) {
        let mut bytes = Vec::new();
        if self.recorded.received && frame::encode(&mut bytes, |out| out.extend_from_slice(payload)).is_ok() {
            self.add(Record::Received(bytes));
        }
    }

    pub(super) fn velocity(&mut self, control: BaseControl, twist: Twist) {
        if self.recorded.velocities {
            self.add(Record::Velocity { control, twist });
        }
    }

    fn add(&mut self, record: Record) {
        if self.records.len() >= MAX_RECORDS {
            self.records.pop_front();
        }
        self.records.push_back(record);
    }
}

//! Frames waiting to be sent.

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_io::can::Frame;

/// Initial capacity, so that no cycle allocates.
const ROOM: usize = 512;

/// Frames in sending order.
#[derive(Debug)]
pub(super) struct Outbox {
    waiting: VecDeque<(Duration, Frame)>,
    sent: u64,
}

impl Outbox {
    /// An empty outbox.
    pub(super) fn new() -> Self {
        Self { waiting: VecDeque::with_capacity(ROOM), sent: 0 }
    }

    /// Appends a frame.
    pub(super) fn push(&mut self, now: Duration, frame: Frame) {
        self.waiting.push_back((now, frame));
    }

    /// The first frame.
    pub(super) fn first(&self) -> Option<&Frame> {
        self.waiting.front().map(|(_, frame)| frame)
    }

    /// Removes the first frame, which was sent.
    pub(super) fn take_first(&mut self) -> Option<Frame> {
        let (_, frame) = self.waiting.pop_front()?;
        self.sent += 1;
        Some(frame)
    }

    /// Age of the first frame.
    pub(super) fn waited(&self, now: Duration) -> Duration {
        self.waiting.front().map_or(Duration::ZERO, |(since, _)| now.saturating_sub(*since))
    }

    /// Drops all frames.
    pub(super) fn clear(&mut self) {
        self.waiting.clear();
    }

    /// Frames sent so far.
    pub(super) fn sent(&self) -> u64 {
        self.sent
    }
}

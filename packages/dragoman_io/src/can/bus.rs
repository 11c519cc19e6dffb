//! The interface to a CAN bus.

use std::pin::Pin;
use std::time::Duration;

use super::frame::Frame;

/// Faults of a bus or its controller, and recoveries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BusFault {
    /// The error counter is high (96 or more).
    #[error("the CAN controller's error counter is high")]
    Warning,
    /// The controller is error-passive (128 errors or more): its frames may be lost.
    #[error("the CAN controller is error-passive")]
    Passive,
    /// The controller has gone bus-off (256 errors).
    #[error("the CAN controller is off the bus")]
    BusOff,
    /// The controller is active again, without errors.
    #[error("the CAN controller is error-active")]
    Active,
    /// The interface is down or missing.
    #[error("the CAN interface is down")]
    Down,
    /// The interface is up.
    #[error("the CAN interface is up")]
    Up,
    /// Frames arrived faster than they were read, and some were lost; detected if the interface counts them.
    #[error("received CAN frames were lost")]
    Overrun,
    /// No node on the bus acknowledges our frames.
    #[error("no other node acknowledges CAN frames")]
    NoAcknowledge,
    /// Bits on the wire were disturbed.
    #[error("a CAN frame was disturbed")]
    Disturbed,
}

/// Input from a bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A frame of another node.
    Frame(Frame),
    /// The bus or its controller changed state.
    Fault(BusFault),
}

/// Error sending a frame.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The queue to the controller is full (`ENOBUFS`): send it again later.
    #[error("the queue to the CAN bus is full")]
    Full,
    /// The interface is down or missing.
    #[error("the CAN interface is down")]
    Down,
    /// The system refused for another reason.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A connection to a CAN bus: sends frames, and receives those of all others but not its own.
pub trait Bus: Send {
    /// Hands a frame to the controller; never blocks.
    ///
    /// # Errors
    /// The frame was not accepted.
    fn send(&mut self, frame: &Frame) -> Result<(), SendError>;

    /// The oldest pending input; never blocks.
    fn receive(&mut self) -> Option<Received>;

    /// Returns when an input is pending, or after `timeout`: blocks the thread.
    fn wait(&mut self, timeout: Duration);

    /// As [`wait`](Self::wait), for a task with a thread of its own. Buses within the process do not block: on virtual
    /// time there is no such thread.
    fn pause(&mut self, timeout: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move { self.wait(timeout) })
    }
}

//! The port to a CAN bus.

use std::time::Duration;

use super::frame::Frame;

/// What can be wrong with a bus or its controller, and when it is well again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BusFault {
    /// The controller counts many errors (96 or more).
    #[error("the CAN controller counts many errors")]
    Warning,
    /// The controller is error-passive (128 errors or more): its frames may be lost.
    #[error("the CAN controller is error-passive")]
    Passive,
    /// The controller has switched itself off the bus (256 errors).
    #[error("the CAN controller is off the bus")]
    BusOff,
    /// The controller takes part again, without errors.
    #[error("the CAN controller is error-active")]
    Active,
    /// The interface is down, or gone.
    #[error("the CAN interface is down")]
    Down,
    /// The interface is up.
    #[error("the CAN interface is up")]
    Up,
    /// Frames arrived faster than they were read; so many were lost, where the interface counts them.
    #[error("received CAN frames were lost")]
    Overrun,
    /// Nobody on the bus acknowledges our frames.
    #[error("no other node acknowledges CAN frames")]
    NoAcknowledge,
    /// Bits on the wire were disturbed.
    #[error("a CAN frame was disturbed")]
    Disturbed,
}

/// What comes from a bus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Received {
    /// A frame that somebody else sent.
    Frame(Frame),
    /// The bus or its controller changed state.
    Fault(BusFault),
}

/// Why a frame was not taken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// The queue to the controller is full (`ENOBUFS`): send it again later.
    #[error("the queue to the CAN bus is full")]
    Full,
    /// The interface is down, or gone.
    #[error("the CAN interface is down")]
    Down,
    /// The system refused for another reason.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// A place on a CAN bus: sends frames, and receives those of all others but not its own.
pub trait Bus: Send {
    /// Hands a frame to the controller; never blocks.
    ///
    /// # Errors
    /// The frame was not taken.
    fn send(&mut self, frame: &Frame) -> Result<(), SendError>;

    /// What arrived first of that which has not been taken; never blocks.
    fn receive(&mut self) -> Option<Received>;

    /// Returns when something can be received, or when `timeout` has passed.
    fn wait(&mut self, timeout: Duration);
}

//! A machine from the description of its protocol, which a user writes: `docs/own-protocol.md`.
//!
//! # Map, in reading order
//!
//! 1. [`term`]: values that a description computes.
//! 2. [`outgoing`]: messages to the machine, ready to be filled in.
//! 3. [`plan`]: the section `bridge` of a description, with all names found.
//! 4. [`conversation`]: what is sent when, and which answer belongs to which question.
//! 5. With feature `node`: `mapping` (messages of ROS from those of the machine and back), `standard` (odometry, laser scans
//!    and the like by one word, a file each), [`interface`] (all topics and services), [`link`] (serial line, TCP, UDP,
//!    CAN), `services`, [`node`].
//! 6. [`simulated`]: the section `serve`, the machine's side of the same description.

mod constants;
pub mod conversation;
#[cfg(feature = "node")]
pub mod interface;
#[cfg(feature = "node")]
pub mod link;
#[cfg(feature = "node")]
mod mapping;
#[cfg(feature = "node")]
pub mod node;
#[cfg(feature = "node")]
mod outbox;
pub mod outgoing;
pub mod plan;
#[cfg(feature = "node")]
pub mod services;
pub mod simulated;
#[cfg(feature = "node")]
mod standard;
pub mod term;

pub use conversation::{Conversation, Event, Heard, Refusal, Statistics, Ticket};
#[cfg(feature = "node")]
pub use interface::Interface;
#[cfg(feature = "node")]
pub use link::Place;
#[cfg(feature = "node")]
pub use node::MachineNode;
pub use outgoing::{Outgoing, OutgoingFrame, Prepared};
pub use plan::Plan;

#[cfg(test)]
mod tests;

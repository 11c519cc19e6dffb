//! ROS 2 for Dragoman's nodes: r2r where ROS is installed, the same API in pure Rust where it is not.
//!
//! A node imports everything from here and is written against r2r 0.9's API. With feature `r2r` that is r2r itself, with a
//! [`Node`] that can be told its quality of service from outside; without, it is [`embedded`](crate::Context), which speaks RTPS on the wire. What neither has is built once above both:
//!
//! | module | what |
//! | --- | --- |
//! | [`parameters`] | declared parameters with ranges, their services and events |
//! | [`logging`] | the log on the terminal and on `/rosout` |
//! | [`diagnostics`] | `/diagnostics` |
//! | [`health`] | whether the middleware still works |
//! | [`lifecycle`] | nodes that take and give back their hardware on request |
//! | [`naming`] | names of other systems as parts of ROS names |
//! | [`raw`] | messages of any type as they travel |
//! | [`reasons`] | answers with a reason, which Humble's messages have no place for |
//! | [`shared`] | publishers that several tasks use |
//! | [`startup`] | a context for programs with options of their own |
//! | [`tasks`] | a node with its timers, subscriptions and services as one future |
//! | [`velocity`] | velocity commands with and without a header |
//!
//! Read `embedded/mod.rs` next.

#[cfg(not(feature = "r2r"))]
mod embedded;
#[cfg(not(feature = "r2r"))]
pub use embedded::*;
#[cfg(feature = "r2r")]
mod rcl;
#[cfg(feature = "r2r")]
pub use r2r::*;
#[cfg(feature = "r2r")]
pub use rcl::{
    ActionClient, ActionServerGoal, ActionServerGoalRequest, Client, Context, IsAvailablePollable, Node,
    Publisher, ServiceRequest, Timer, WrappedServiceTypeSupport, WrappedTypesupport,
};

/// As r2r's, which has no second parameter.
#[cfg(feature = "r2r")]
pub type Result<T, E = Error> = std::result::Result<T, E>;

pub mod diagnostics;
pub mod health;
pub mod lifecycle;
pub mod logging;
mod names;
pub mod naming;
pub mod parameters;
mod qos_overrides;
pub mod raw;
// The types that r2r has without a ROS are too few.
#[cfg(not(feature = "r2r-doc-only"))]
pub mod reasons;
mod remapping;
pub mod shared;
pub mod startup;
pub mod tasks;
pub mod velocity;

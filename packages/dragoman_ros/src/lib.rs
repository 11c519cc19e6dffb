//! ROS 2 for Dragoman's nodes: r2r where ROS is installed, the same API in pure Rust where it is not.
//!
//! A node imports everything from here and is written against r2r 0.9's API. With feature `r2r` that is r2r itself,
//! with a [`Node`] that supports quality of service overrides; without, it is [`embedded`](crate::Context), an RTPS
//! implementation. Features missing in both are implemented once on top of both:
//!
//! | module | content |
//! | --- | --- |
//! | `claims` | ownership of namespaces |
//! | [`command_line`] | the part of a command line that belongs to ROS |
//! | [`process`] | a program from its options to its exit code: log, signals, supervision |
//! | [`supervision`] | the owner of all running parts of a process |
//! | [`parameters`](mod@parameters) | parameters as fields of a struct, with ranges; their services and events |
//! | [`logging`] | the log on the terminal and on `/rosout` |
//! | [`diagnostics`] | `/diagnostics` |
//! | `distribution` | the distribution of ROS 2 whose message formats are used |
//! | [`fields`] | fields of messages that not every distribution has |
//! | [`files`] | files whose names come from outside |
//! | `given` | parameters of a command line and its files, and whether the program has them |
//! | [`health`] | health of the middleware |
//! | [`introspection`] | the nodes, topics and services of the graph |
//! | [`lifecycle`] | nodes that acquire and release their hardware on request |
//! | `names` | rules of names of topics and services |
//! | [`naming`] | names of other systems as parts of ROS names, names in namespaces |
//! | `qos_overrides` | quality of service overrides, as in rclcpp |
//! | `rcl` | extends r2r, with feature `r2r` |
//! | [`output`] | standard output, whose reader may go away |
//! | [`poses`] | positions, rotations and transforms as messages, and back |
//! | [`raw`] | serialized messages of any type |
//! | `remapping` | remapping rules of the command line |
//! | [`response`] | responses that say whether a request succeeded |
//! | `service_calls` | a record of service calls |
//! | [`shared`] | publishers shared by several tasks, and whether they have subscribers |
//! | [`signals`] | SIGINT, SIGTERM and SIGHUP, and the end of standard output |
//! | [`startup`] | a context for programs with their own options |
//! | [`tasks`] | a node with its timers, subscriptions and services as one future |
//! | [`times`] | the time of a node's clock, times and durations of messages |
//! | [`velocity`] | velocity commands with and without a header |
//!
//! Read `embedded/mod.rs` next.
//!
//! ```
//! use dragoman_ros::{parameters::ParameterSet, std_msgs};
//!
//! dragoman_ros::parameters! {
//!     /// The parameters of a lamp.
//!     pub struct LampParameters {
//!         /// Rate of the state, Hz.
//!         rate: f64 = 10.0, in 0.1..=100.0;
//!     }
//! }
//! assert_eq!(LampParameters::default().declarations()[0].description, "Rate of the state, Hz.");
//! assert!(!std_msgs::msg::Bool::default().data);
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

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

pub use distribution::Distribution;
#[cfg(not(feature = "r2r-doc-only"))]
pub use response::Response;

/// As r2r's, which has no second parameter.
#[cfg(feature = "r2r")]
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(not(feature = "r2r-doc-only"))]
mod claims;
pub mod command_line;
pub mod diagnostics;
mod distribution;
// Without a sourced ROS, r2r has too few types.
#[cfg(not(feature = "r2r-doc-only"))]
pub mod fields;
pub mod files;
mod given;
pub mod health;
pub mod introspection;
pub mod lifecycle;
pub mod logging;
mod names;
pub mod naming;
pub mod output;
pub mod parameters;
#[cfg(not(feature = "r2r-doc-only"))]
pub mod poses;
#[cfg(not(feature = "r2r-doc-only"))]
pub mod process;
mod qos_overrides;
pub mod raw;
mod remapping;
#[cfg(not(feature = "r2r-doc-only"))]
pub mod response;
mod service_calls;
pub mod shared;
pub mod signals;
pub mod startup;
pub mod supervision;
pub mod tasks;
pub mod times;
pub mod velocity;

//! One world: its objects, and what they do and measure.
//!
//! | file | holds |
//! | --- | --- |
//! | `grasp.rs`, `handling.rs` | arms and held objects: with servos and a gripper; as in Apolo |
//! | `driving.rs` | motion of robots on wheels |
//! | `sensing.rs`, `cameras.rs` | measurements of range sensors; views of cameras |
//! | `contact.rs` | contacts |
//! | `dock.rs` | docking stations: infrared signals, contacts of the charger |
//! | `state.rs` | [`World`]: objects and their parts, names, poses |

mod cameras;
mod contact;
pub(crate) mod dock;
mod driving;
mod grasp;
mod handling;
mod sensing;
mod state;

pub(crate) use contact::Feeler;
pub(crate) use driving::heading;
pub(crate) use state::{Body, Named, Role, key};
pub use state::{Charger, Object, ObjectKind, Part, RobotDescription, Shape, World};

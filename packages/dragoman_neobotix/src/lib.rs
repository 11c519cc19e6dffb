//! Code shared by a platform controller and a client of Neobotix PlatformCtrl (PlatformCtrl guide), without I/O, clock
//! and ROS.
//!
//! | file | holds |
//! | --- | --- |
//! | [`wire`] | the messages on TCP ports 10000 and 10002 |
//! | [`codes`] | states, modes and kinds with the protocol's numbers |
//! | [`parameters`] | the parameters by their keys, and `.ini` files |
//! | [`documents`] | maps, roadmaps and programs as XML |
//! | [`program`] | programs as a platform runs them, and their interpreter |
//! | [`map`] | lines, prohibited areas, work area; stations and the paths between them |
//! | `import` | conversion of documents to maps and roadmaps |
//! | [`file_name`] | file names that a client may use |
//! | `grid` (feature `ros`) | maps as occupancy grids |
//! | `messages` (feature `ros`) | maps, paths and poses as ROS messages |
//!
//! ```
//! use dragoman_neobotix::wire::{Command, Decoder, Framing, Message};
//!
//! let mut decoder = Decoder::<Command>::default();
//! decoder.push(&Command::InitPltf.encode(Framing::Header)?);
//! let received = decoder.next()?.unwrap();
//! assert_eq!(received.message, Ok(Command::InitPltf));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]

pub mod codes;
pub mod documents;
pub mod file_name;
#[cfg(feature = "ros")]
mod grid;
mod import;
pub mod map;
#[cfg(feature = "ros")]
pub mod messages;
pub mod parameters;
pub mod program;
#[cfg(test)]
mod random;
pub mod wire;

//! The protocol of Neobotix' PlatformCtrl, TCP ports 10000 and 10002 (seed 002).
//!
//! # Map, in reading order
//!
//! 1. [`wire`]: the messages. [`wire::CommandKind`] is the table of the commands; [`wire::Command`] is what a client
//!    sends, [`wire::Reply`] what a platform answers.
//! 2. [`documents`]: the maps, roadmaps and programs that some of them carry.
//! 3. [`parameters`]: the table of the parameters, and `.ini` files.
//! 4. [`status`]: states and modes with the guide's numbers.
//! 5. [`file_name`]: which names of files may come from outside.
//!
//! No I/O, no clock, no ROS type. Nothing here knows what a platform does with a command.

pub mod documents;
pub mod file_name;
pub mod parameters;
pub mod status;
pub mod wire;

//! Elmo SimplIQ drives (for example the Whistle): their binary interpreter, as data tables.
//!
//! | file | holds |
//! | --- | --- |
//! | [`interpreter`] | requests and answers of the binary interpreter (RPDO2 and TPDO2) |
//! | [`commands`] | the commands that the driver uses, and the interpreter's error codes |
//! | [`status`] | the bits of the status register |
//! | [`emergencies`] | manufacturer-specific part of EMCY messages |
//! | [`objects`] | objects written at start-up |

pub mod commands;
pub mod emergencies;
pub mod interpreter;
pub mod objects;
pub mod status;

use std::time::Duration;

pub use commands::Command;
pub use interpreter::{Argument, DriveAnswer, DriveRequest};
pub use status::Status;

/// The period of a drive's position loop: the unit of `MP[4]` (Ranger thesis, `elmoarm2.h`).
pub const POSITION_LOOP: Duration = Duration::from_micros(360);

/// Unanswered requests that a drive holds; more are lost (Ranger thesis, 3.2.2).
pub const MAX_UNANSWERED: usize = 2;

/// Rows of the tables `QP` and `QT`.
pub const QUEUE_ROWS: u16 = 1024;

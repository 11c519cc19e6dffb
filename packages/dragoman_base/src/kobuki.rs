//! The Kobuki base (TurtleBot thesis, 2.1 and 3.6.1).
//!
//! | file | holds |
//! | --- | --- |
//! | [`wire`] | the bytes on the serial line |
//! | [`driver`] | the driver without I/O: commands, feedback, events |

pub mod driver;
pub mod wire;

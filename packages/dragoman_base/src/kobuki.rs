//! The Kobuki base (seed 003).
//!
//! | file | holds |
//! | --- | --- |
//! | [`wire`] | the bytes on the serial line, without state of the base |
//! | [`driver`] | the driver without I/O: commands, feedback, events |

pub mod driver;
pub mod wire;

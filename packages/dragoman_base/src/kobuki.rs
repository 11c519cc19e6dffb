//! The Kobuki base (seed 003).
//!
//! | file | holds |
//! | --- | --- |
//! | [`wire`] | the bytes on the serial line, without state of the base |

pub mod wire;

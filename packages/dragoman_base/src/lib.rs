//! A mobile base: its wire protocol, its odometry, and what moves it.
//!
//! | file | holds |
//! | --- | --- |
//! | [`kobuki`] | the Kobuki base: frames and sub-payloads on the serial line |
//! | [`link`] | a driver and its byte stream: reading, writing, opening again |
//! | [`serial`] | serial ports |

pub mod kobuki;
#[cfg(feature = "node")]
pub mod link;
#[cfg(feature = "node")]
pub mod serial;

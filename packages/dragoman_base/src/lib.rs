//! A mobile base: its wire protocol, its odometry, and what moves it.
//!
//! | file | holds |
//! | --- | --- |
//! | [`kobuki`] | the Kobuki base: frames and sub-payloads on the serial line |

pub mod kobuki;

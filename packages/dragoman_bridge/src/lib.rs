//! Legacy wire protocols, each with a server side (old clients drive ROS robots) and a client side
//! (an old controller appears in ROS as an ordinary robot).
//!
//! # Map
//!
//! | module | protocol | transport |
//! | --- | --- | --- |
//! | [`apolo`] | the Apolo simulator (seed 000) | TCP 12000 |
//! | [`arm31`] | 31-byte arm protocol of the Ranger manipulator (seed 001, appendix A) | UDP 5031 |
//! | [`neobotix`] | Neobotix' PlatformCtrl (seed 002) | TCP 10000, 10002 |
//!
//! Every protocol is read from the wire inwards: `wire` (layout, no state), then `server` and `client`
//! (state, but no socket, clock, thread or ROS type). Sockets and ROS live in the outermost file only.

pub mod apolo;
pub mod arm31;
pub mod neobotix;
#[cfg(feature = "node")]
mod tcp;

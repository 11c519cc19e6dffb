//! The simulated devices of the lab. Each stands behind the port that the real device stands behind.
//!
//! | file | simulates |
//! | --- | --- |
//! | [`joints`] | an arm's joints that follow position commands at limited rates |

pub mod joints;

pub use joints::RateLimitedJoints;

//! Dynamixel servos on a serial line, such as a WidowX has (seed 003).
//!
//! | file | holds |
//! | --- | --- |
//! | [`wire`] | protocol 1.0: packets, instructions, status, control table |
//! | [`widowx`] | the joints of a WidowX |

pub mod widowx;
pub mod wire;

//! Dynamixel servos on a serial line, such as a WidowX has (seed 003).
//!
//! | file | holds |
//! | --- | --- |
//! | [`wire`] | protocol 1.0: packets, instructions, status, control table |
//! | [`driver`] | the servos of a chain: positions in a cycle, goals, modes, supervision |
//! | [`widowx`] | the joints of a WidowX |

pub mod driver;
pub mod widowx;
pub mod wire;

//! Dynamixel servos on a serial line, as in a WidowX (TurtleBot thesis, 3.6.2).
//!
//! | file | holds |
//! | --- | --- |
//! | [`wire`] | protocol 1.0: packets, instructions, status, control table |
//! | [`driver`] | the servos of a chain: positions in a cycle, goals, modes, supervision |
//! | [`widowx`] | the joints of a WidowX |

pub mod driver;
pub mod widowx;
pub mod wire;

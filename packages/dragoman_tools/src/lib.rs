//! The tools of the command `dragoman`.
//!
//! | file | holds |
//! | --- | --- |
//! | [`can`] | `dragoman can`: what is on a CAN bus |
//! | [`device`] | `dragoman device`: simulated devices for other programs |
//! | [`latency`] | `dragoman latency`: how soon a program receives what a robot publishes |
//! | [`record`] | `dragoman record`: what the graph publishes, in an MCAP file |
//! | [`relay`] | `dragoman relay`: programs and several robots in namespaces of their own |
//! | [`signals`] | SIGINT, SIGTERM and SIGHUP |
//! | [`teleop`] | `dragoman teleop`: a base driven from the keyboard |

pub mod can;
pub mod device;
pub mod latency;
pub mod record;
pub mod relay;
pub mod signals;
pub mod teleop;

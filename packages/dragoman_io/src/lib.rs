//! Ports to devices, real and simulated.
//!
//! | file | holds |
//! | --- | --- |
//! | [`can`] | a CAN bus: frames, [`can::Bus`], SocketCAN, a bus within the process, candump files |
//! | [`serial`] | a serial line: ports, [`serial::SerialDriver`], [`serial::Line`] |

pub mod can;
pub mod serial;

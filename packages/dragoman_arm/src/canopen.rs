//! CANopen (CiA 301) as the driver and the simulated drives need it, without I/O.
//!
//! The codecs of SDO, NMT and EMCY come from the crate `canopen-rs`. Its SDO *client* accepts a late answer about one
//! object as the answer about another; [`sdo`] compares the objects.
//!
//! | file | holds |
//! | --- | --- |
//! | [`service`] | which service and node an identifier belongs to (the predefined connection set) |
//! | [`sdo`] | one transfer of an object, expedited or segmented, with its deadline; the abort codes' meanings |
//! | [`emergency`] | EMCY messages and what their codes mean |

pub mod emergency;
pub mod sdo;
pub mod service;

pub use canopen_rs::{Address, DataType, NmtCommand, NmtState, NodeId, Value};
pub use emergency::Emergency;
pub use sdo::{Transfer, TransferError};
pub use service::Service;

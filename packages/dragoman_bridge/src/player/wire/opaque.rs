//! `opaque`: bytes whose meaning a driver and its clients agree on.

use super::table::interface;
use super::xdr::Bytes;

interface! {
    /// Bytes whose meaning a driver and its clients agree on.
    51 "opaque"
    data {
        STATE 1: Bytes, "data of the driver";
    }
    commands {
        COMMAND 1: Bytes, "a command to the driver";
    }
    requests {
        REQUEST 1: Bytes => Bytes, "a request to the driver";
    }
}

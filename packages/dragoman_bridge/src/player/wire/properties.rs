//! Requests that devices of every interface have.

use super::table::interface;
use super::xdr::structures;

interface! {
    /// Requests that devices of every interface have. It is no interface: on the wire stands that of the device.
    0 "every interface"
    requests {
        SET_BOOL 247: Bool => (), "change a property that is true or false";
        GET_BOOL 248: Bool => Bool, "a property that is true or false; the question has its name";
        SET_TEXT 249: Text => (), "change a text";
        GET_TEXT 250: Text => Text, "a text; the question has its name";
        SET_DOUBLE 251: Double => (), "change a number";
        GET_DOUBLE 252: Double => Double, "a number; the question has its name";
        SET_INT 253: Int => (), "change an integer";
        GET_INT 254: Int => Int, "an integer; the question has its name";
        CAPABILITY 255: Capability => (), "whether a device handles a message: acknowledged or refused";
    }
}

structures! {
    /// A property that is true or false.
    pub struct Bool {
        pub name: String,
        pub value: bool,
    }

    /// An integer.
    pub struct Int {
        pub name: String,
        pub value: i32,
    }

    /// A number.
    pub struct Double {
        pub name: String,
        pub value: f64,
    }

    /// A property whose value is a string.
    pub struct Text {
        pub name: String,
        pub value: String,
    }

    /// A message that a device may handle.
    pub struct Capability {
        /// Code of its kind.
        pub kind: u32,
        pub subtype: u32,
    }
}

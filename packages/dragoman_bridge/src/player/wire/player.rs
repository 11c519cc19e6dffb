//! `player`: the server itself.

use super::message::Address;
use super::table::interface;
use super::xdr::structures;

interface! {
    /// The server itself. It needs no subscription; its index is 0.
    1 "player"
    requests {
        DEVICES 1: () => Vec<Address>, "the server's devices";
        DRIVER 2: Driver => Driver, "the name of a device's driver";
        SUBSCRIBE 3: Subscription => Subscription, "open or close a device";
        READ 4: () => (), "the data since the last request, when the mode is pull";
        MODE 5: u8 => (), "1: push, data is sent when there is some; 2: pull, on request";
        AUTHENTICATE 7: super::Bytes => (), "the key of a server that asks for one";
        NAME_SERVICE 8: NameService => NameService, "the port of the robot with this name";
        REPLACE_RULE 10: ReplaceRule => (), "what happens to data that waits when newer data comes";
    }
}

/// Subtype of the synch message that ends the data of a pull.
pub const SYNCH: u8 = 1;
/// Subtype of the synch message when data was dropped; its body is the number of dropped messages.
pub const SYNCH_OVERFLOW: u8 = 2;
/// Access: open a device.
pub const OPEN: u8 = 1;
/// Access: close a device.
pub const CLOSE: u8 = 2;
/// Access in an answer: it was not granted.
pub const DENIED: u8 = 3;
/// Mode: data is sent when there is some.
pub const PUSH: u8 = 1;
/// Mode: data is sent on request.
pub const PULL: u8 = 2;

structures! {
    /// A device's driver.
    pub struct Driver {
        pub address: Address,
        /// The driver's name; empty in a question.
        pub name: String,
    }

    /// Access to a device.
    pub struct Subscription {
        pub address: Address,
        /// [`OPEN`], [`CLOSE`] or [`DENIED`].
        pub access: u8,
        /// The driver's name; empty in a question.
        pub driver: String,
    }

    /// The port of a robot.
    pub struct NameService {
        /// The robot's name.
        pub name: String,
        pub port: u16,
    }

    /// What happens to waiting messages when a newer one comes. -1 stands for every value.
    pub struct ReplaceRule {
        /// Code of the interface.
        pub interface: i32,
        /// The device's number.
        pub index: i32,
        /// Code of the kind.
        pub kind: i32,
        /// The message's number.
        pub subtype: i32,
        /// 0: both are sent, if there is room; 1: the newer one replaces the other; 2: no such message is sent.
        pub replace: i32,
    }
}

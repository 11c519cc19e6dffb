//! `power`: a battery or another source of energy.

use super::table::interface;
use super::xdr::{codes, structures};

interface! {
    /// A battery or another source of energy.
    2 "power"
    data {
        STATE 1: State, "voltage, charge and power";
    }
    requests {
        SET_CHARGING_POLICY 1: Policy => (), "whether it may be charged, and may charge others";
    }
}

/// Bit of [`State::valid`]: the voltage is measured.
pub const VOLTS: u32 = 1;
/// Bit of [`State::valid`]: the power is measured.
pub const WATTS: u32 = 2;
/// Bit of [`State::valid`]: the energy is measured.
pub const JOULES: u32 = 4;
/// Bit of [`State::valid`]: the charge is measured.
pub const PERCENT: u32 = 8;
/// Bit of [`State::valid`]: it is known whether it is being charged.
pub const CHARGING: u32 = 16;

codes! {
    /// The direction in which energy flows.
    pub enum Charging: i32 {
        /// It is not connected to another source.
        Idle = 0,
        /// It is being charged.
        Receiving = 1,
        /// It charges another one.
        Providing = -1,
    }
}

structures! {
    /// What is measured. `valid` tells which of the fields mean something.
    pub struct State {
        /// Bits: [`VOLTS`], [`WATTS`], [`JOULES`], [`PERCENT`], [`CHARGING`].
        pub valid: u32,
        /// Voltage, V.
        pub volts: f32,
        /// Charge, percent of a full one.
        pub percent: f32,
        /// Stored energy, J.
        pub joules: f32,
        /// Power, W: negative when energy is consumed.
        pub watts: f32,
        /// Direction in which energy flows.
        pub charging: Charging,
    }

    /// Whether energy may flow in and out.
    pub struct Policy {
        /// It may be charged.
        pub input: bool,
        /// It may charge others.
        pub output: bool,
    }
}

//! `ir`: infrared range sensors. [`ranger`](super::ranger) replaces it.

use super::common::Pose3d;
use super::table::interface;
use super::xdr::structures;

interface! {
    /// Infrared range sensors, each with one range.
    22 "ir"
    data {
        RANGES 1: Ranges, "voltage and range of each sensor";
    }
    requests {
        GET_GEOMETRY 1: () => Geometry, "poses";
        POWER 2: bool => (), "sensors on or off";
    }
}

structures! {
    /// Voltage and range of each sensor.
    pub struct Ranges {
        /// Voltages, V.
        pub voltages: Vec<f32>,
        /// Ranges, m.
        pub ranges: Vec<f32>,
    }

    /// Where the sensors are.
    pub struct Geometry {
        /// Poses in the robot's frame.
        pub poses: Vec<Pose3d>,
    }
}

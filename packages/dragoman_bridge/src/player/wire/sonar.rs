//! `sonar`: ultrasonic sensors. [`ranger`](super::ranger) replaces it.

use super::common::Pose3d;
use super::table::interface;
use super::xdr::structures;

interface! {
    /// Ultrasonic sensors, each with one range.
    5 "sonar"
    data {
        RANGES 1: Ranges, "one range per sensor";
        GEOMETRY_CHANGED 2: Geometry, "poses, from drivers that can change them";
    }
    requests {
        GET_GEOMETRY 1: () => Geometry, "poses";
        POWER 2: bool => (), "sensors on or off";
    }
}

structures! {
    /// One range per sensor.
    pub struct Ranges {
        /// Ranges, m.
        pub ranges: Vec<f32>,
    }

    /// Where the sensors are.
    pub struct Geometry {
        /// Poses in the robot's frame.
        pub poses: Vec<Pose3d>,
    }
}

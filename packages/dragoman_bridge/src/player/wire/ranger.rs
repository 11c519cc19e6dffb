//! `ranger`: range sensors: a laser, sonars, infrared sensors.
//!
//! If the geometry has one element, or none, all ranges start there, at angles from `min_angle` counterclockwise. If it
//! has several, each has one range, in the same order.

use super::common::{Pose3d, Size3d};
use super::table::interface;
use super::xdr::structures;

interface! {
    /// Range sensors: a laser, sonars, infrared sensors.
    62 "ranger"
    data {
        RANGES 1: Ranges, "ranges";
        STAMPED_RANGES 2: StampedRanges, "ranges, and how they were measured";
        INTENSITIES 3: Intensities, "intensities";
        STAMPED_INTENSITIES 4: StampedIntensities, "intensities, and how they were measured";
        GEOMETRY_CHANGED 5: Geometry, "poses and sizes, from drivers that can change them";
    }
    requests {
        GET_GEOMETRY 1: () => Geometry, "poses and sizes";
        POWER 2: bool => (), "sensors on or off";
        SEND_INTENSITIES 3: bool => (), "whether intensities are sent";
        SET_CONFIG 4: Config => Config, "change the configuration; the answer is the one in effect";
        GET_CONFIG 5: () => Config, "the configuration";
    }
}

structures! {
    /// How a device measures. Values that a device does not have are 0.
    pub struct Config {
        /// First angle, rad.
        pub min_angle: f64,
        /// Last angle, rad.
        pub max_angle: f64,
        /// Angle between two ranges, rad.
        pub angular_resolution: f64,
        /// Minimum range, m.
        pub min_range: f64,
        /// Maximum range, m.
        pub max_range: f64,
        /// Resolution of the ranges, m.
        pub range_resolution: f64,
        /// Scans per second, Hz.
        pub frequency: f64,
    }

    /// Poses and sizes.
    pub struct Geometry {
        /// Pose of the device in the robot's frame.
        pub pose: Pose3d,
        /// Size of the device, m.
        pub size: Size3d,
        /// Pose of each element in the device's frame.
        pub element_poses: Vec<Pose3d>,
        /// Size of each element, m.
        pub element_sizes: Vec<Size3d>,
    }

    /// One distance per element, in their order.
    pub struct Ranges {
        /// Ranges, m.
        pub ranges: Vec<f64>,
    }

    /// Ranges, and how they were measured.
    pub struct StampedRanges {
        pub ranges: Ranges,
        /// Whether `geometry` means something.
        pub has_geometry: bool,
        /// Geometry at the time.
        pub geometry: Geometry,
        /// Whether `config` means something.
        pub has_config: bool,
        /// Configuration at the time.
        pub config: Config,
    }

    /// One reflected intensity per element, in their order.
    pub struct Intensities {
        /// Intensities, in the device's unit.
        pub intensities: Vec<f64>,
    }

    /// Intensities, and how they were measured.
    pub struct StampedIntensities {
        pub intensities: Intensities,
        /// Whether `geometry` means something.
        pub has_geometry: bool,
        /// Geometry at the time.
        pub geometry: Geometry,
        /// Whether `config` means something.
        pub has_config: bool,
        /// Configuration at the time.
        pub config: Config,
    }
}

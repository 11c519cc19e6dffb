//! `laser`: a laser range finder that scans a plane. [`ranger`](super::ranger) replaces it.
//!
//! Angles are in the laser's frame, counterclockwise from straight ahead.

pub use super::common::Geometry;
use super::common::Pose2d;
use super::table::interface;
use super::xdr::{Bytes, codes, structures};

interface! {
    /// A laser range finder that scans a plane.
    6 "laser"
    data {
        SCAN 1: Scan, "a scan at equal angles";
        POSED_SCAN 2: PosedScan, "a scan, and where it was taken";
        ANGLED_SCAN 3: AngledScan, "a scan with an angle for each range";
    }
    requests {
        GET_GEOMETRY 1: () => Geometry, "pose and size";
        SET_CONFIG 2: Config => Config, "change the configuration; the answer is the one in effect";
        GET_CONFIG 3: () => Config, "the configuration";
        POWER 4: bool => (), "laser on or off";
        GET_ID 5: () => u32, "serial number";
        SET_FILTER 6: Filter => (), "filter of the device";
    }
}

codes! {
    /// A filter of the device.
    pub enum FilterKind: u8 {
        /// Median; no parameters.
        Median = 1,
        /// Edges; no parameters.
        Edge = 2,
        /// Ranges; minimum and maximum, mm.
        Range = 3,
        /// Mean; number of scans.
        Mean = 4,
    }
}

/// Maximum number of parameters of a filter.
pub const MAX_FILTER_PARAMETERS: usize = 8;

structures! {
    /// A scan at equal angles.
    pub struct Scan {
        /// Angle of the first range, rad.
        pub min_angle: f32,
        /// Angle of the last range, rad.
        pub max_angle: f32,
        /// Angle between two ranges, rad.
        pub resolution: f32,
        /// Maximum range, m.
        pub max_range: f32,
        /// Ranges, m.
        pub ranges: Vec<f32>,
        /// Intensities, in the device's unit.
        pub intensities: Bytes,
        /// Number of the scan; it increases.
        pub id: u32,
    }

    /// A scan, and where it was taken.
    pub struct PosedScan {
        pub scan: Scan,
        /// Pose of the laser in the world.
        pub pose: Pose2d,
    }

    /// A scan with an angle for each range.
    pub struct AngledScan {
        /// Maximum range, m.
        pub max_range: f32,
        /// Ranges, m.
        pub ranges: Vec<f32>,
        /// Angle of each range, rad.
        pub angles: Vec<f32>,
        /// Intensities, in the device's unit.
        pub intensities: Bytes,
        /// Number of the scan; it increases.
        pub id: u32,
    }

    /// How a laser scans.
    pub struct Config {
        /// First angle, rad.
        pub min_angle: f32,
        /// Last angle, rad.
        pub max_angle: f32,
        /// Angle between two ranges, rad.
        pub resolution: f32,
        /// Maximum range, m.
        pub max_range: f32,
        /// Resolution of the ranges, m.
        pub range_resolution: f32,
        /// Whether intensities are sent.
        pub intensity: bool,
        /// Scans per second, Hz.
        pub frequency: f32,
    }

    /// A filter and its parameters.
    pub struct Filter {
        /// Which filter.
        pub kind: FilterKind,
        /// Its parameters, at most [`MAX_FILTER_PARAMETERS`].
        pub parameters: Vec<f32>,
    }
}

//! `localize`: where the robot is on a map.
//!
//! Poses are those of the robot in the map's frame. Covariances are six numbers: xx, yy, yaw-yaw, xy, y-yaw, x-yaw; in
//! m^2, rad^2 and m rad.

use super::common::Pose2d;
use super::table::interface;
use super::xdr::structures;

interface! {
    /// Where the robot is on a map.
    25 "localize"
    data {
        HYPOTHESES 1: Hypotheses, "where the robot may be";
    }
    requests {
        SET_POSE 1: Estimate => (), "start the localization at a pose";
        GET_PARTICLES 2: () => Particles, "particles of the filter";
    }
}

structures! {
    /// A pose where the robot may be.
    pub struct Hypothesis {
        /// The mean, m, m, rad.
        pub mean: Pose2d,
        /// Covariance of x, y and yaw, m^2, m rad, rad^2: xx, yy, yaw-yaw, xy, y-yaw, x-yaw.
        pub covariance: [f64; 6],
        pub weight: f64,
    }

    /// Where the robot may be.
    pub struct Hypotheses {
        /// Number of measurements that are not used yet.
        pub pending: u32,
        /// Time of the last measurement that was used, s since 1970.
        pub time: f64,
        pub hypotheses: Vec<Hypothesis>,
    }

    /// Where the robot is, as a client knows it.
    pub struct Estimate {
        /// The mean, m, m, rad.
        pub mean: Pose2d,
        /// Covariance of x, y and yaw, m^2, m rad, rad^2: xx, yy, yaw-yaw, xy, y-yaw, x-yaw.
        pub covariance: [f64; 6],
    }

    /// A particle of the filter.
    pub struct Particle {
        /// The pose, m, m, rad.
        pub pose: Pose2d,
        pub weight: f64,
    }

    /// Particles of the filter, usually some of them.
    pub struct Particles {
        /// The best pose, m, m, rad.
        pub mean: Pose2d,
        /// Its variance, m^2.
        pub variance: f64,
        pub particles: Vec<Particle>,
    }
}

//! `bumper`: an array of bumpers.

use super::common::Pose3d;
use super::table::interface;
use super::xdr::{Bytes, structures};

interface! {
    /// An array of bumpers.
    14 "bumper"
    data {
        STATE 1: State, "which bumpers are pressed";
        GEOMETRY_CHANGED 2: Geometry, "poses and sizes, from drivers that can change them";
    }
    requests {
        GET_GEOMETRY 1: () => Geometry, "poses and sizes";
    }
}

structures! {
    /// Which bumpers are pressed.
    pub struct State {
        /// One byte per bumper: 0 when it is released; drivers define the other values.
        pub bumpers: Bytes,
    }

    /// A bumper's pose and size.
    pub struct Bumper {
        /// Pose in the robot's frame.
        pub pose: Pose3d,
        /// Length, m.
        pub length: f32,
        /// Radius of its curve, m; 0: straight.
        pub radius: f32,
    }

    /// Poses and sizes of all bumpers.
    pub struct Geometry {
        /// In the order of the states.
        pub bumpers: Vec<Bumper>,
    }
}

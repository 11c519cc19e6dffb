//! `gripper`: a gripper with two fingers.

use super::common::{Pose3d, Size3d};
use super::table::interface;
use super::xdr::{codes, structures};

interface! {
    /// A gripper with two fingers.
    3 "gripper"
    data {
        STATE 1: State, "fingers, light beams, stored objects";
    }
    commands {
        OPEN 1: (), "open the fingers";
        CLOSE 2: (), "close the fingers";
        STOP 3: (), "stop the fingers";
        STORE 4: (), "put the held object into the store";
        RETRIEVE 5: (), "take an object out of the store";
    }
    requests {
        GET_GEOMETRY 1: () => Geometry, "pose and sizes";
    }
}

codes! {
    /// State of the fingers.
    pub enum Fingers: u8 {
        /// Open.
        Open = 1,
        /// Closed.
        Closed = 2,
        /// In motion.
        Moving = 3,
        /// An error occurred.
        Error = 4,
    }
}

structures! {
    /// State of a gripper.
    pub struct State {
        /// State of the fingers.
        pub fingers: Fingers,
        /// Interrupted light beams, usually a bit for each.
        pub beams: u32,
        /// Number of objects in the store.
        pub stored: u8,
    }

    /// Pose and sizes of a gripper.
    pub struct Geometry {
        /// Pose in the robot's frame.
        pub pose: Pose3d,
        /// Outer size, m.
        pub outer_size: Size3d,
        /// Size of the space between the open fingers, m.
        pub inner_size: Size3d,
        /// Number of light beams.
        pub beams: u8,
        /// Maximum number of stored objects; 0: it has no store.
        pub capacity: u8,
    }
}

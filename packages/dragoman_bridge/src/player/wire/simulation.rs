//! `simulation`: a simulated world.

use super::common::{Pose2d, Pose3d};
use super::table::interface;
use super::xdr::{Bytes, structures};

interface! {
    /// A simulated world.
    31 "simulation"
    commands {
        PAUSE 1: (), "pause the simulation, or continue it";
        RESET 2: (), "put everything back to where it was at the start";
        SAVE 3: (), "save the world";
    }
    requests {
        GET_POSE2D 1: NamedPose2d => NamedPose2d, "an object's pose on the plane; the question has its name";
        SET_POSE2D 2: NamedPose2d => (), "put an object to a pose on the plane";
        GET_POSE3D 3: NamedPose3d => NamedPose3d, "an object's pose in space; the question has its name";
        SET_POSE3D 4: NamedPose3d => (), "put an object to a pose in space";
        GET_PROPERTY 5: Property => Property, "a property of an object; the question has both names";
        SET_PROPERTY 6: Property => (), "change a property of an object";
    }
}

structures! {
    /// An object's pose on the plane.
    pub struct NamedPose2d {
        /// The object's name.
        pub name: String,
        /// Its pose in the world, m, m, rad.
        pub pose: Pose2d,
    }

    /// An object's pose in space.
    pub struct NamedPose3d {
        /// The object's name.
        pub name: String,
        /// Its pose in the world.
        pub pose: Pose3d,
        /// Time of the simulation, s; only in answers.
        pub time: f64,
    }

    /// A property of an object.
    pub struct Property {
        /// The object's name.
        pub name: String,
        /// The property's name.
        pub property: String,
        /// Number of its value, if it has several.
        pub index: u32,
        /// The value as it is in the memory of the simulator's machine. A question has as many bytes as its client
        /// expects.
        pub value: Bytes,
    }
}

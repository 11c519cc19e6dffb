//! `limb`: an arm, by the pose of its end effector.
//!
//! Positions and vectors are in the robot's frame. The approach vector points from the end effector to what it grips,
//! the orientation vector from one finger to the other.

use super::common::Point3d;
use super::table::interface;
use super::xdr::{codes, structures};

interface! {
    /// An arm, by the pose of its end effector.
    54 "limb"
    data {
        STATE 1: State, "pose of the end effector";
    }
    commands {
        HOME 1: (), "move to the home position";
        STOP 2: (), "stop now";
        SET_POSE 3: Pose, "move to a pose";
        SET_POSITION 4: Point3d, "move to a position, with any orientation";
        MOVE_ALONG 5: Move, "move along a straight line";
    }
    requests {
        POWER 1: bool => (), "power on or off; the arm may move when it is switched on";
        BRAKES 2: bool => (), "brakes on or off";
        GET_GEOMETRY 3: () => Point3d, "position of the base in the robot's frame";
        SET_SPEED 4: f32 => (), "speed of the end effector from now on, m/s";
    }
}

codes! {
    /// What an arm does.
    pub enum Motion: u8 {
        /// It does not move.
        Idle = 1,
        /// Its brakes are on.
        Braked = 2,
        /// It moves to its target.
        Moving = 3,
        /// The target is out of reach.
        OutOfReach = 4,
        /// A collision would occur on the way to the target.
        Collision = 5,
    }
}

structures! {
    /// Pose of the end effector, and what the arm does.
    pub struct State {
        /// Position, m.
        pub position: Point3d,
        /// Approach vector.
        pub approach: Point3d,
        /// Orientation vector.
        pub orientation: Point3d,
        /// What the arm does.
        pub motion: Motion,
    }

    /// A pose of the end effector.
    pub struct Pose {
        /// Position, m.
        pub position: Point3d,
        /// Approach vector.
        pub approach: Point3d,
        /// Orientation vector.
        pub orientation: Point3d,
    }

    /// A motion along a straight line.
    pub struct Move {
        /// Its direction.
        pub direction: Point3d,
        /// Its length, m.
        pub length: f32,
    }
}

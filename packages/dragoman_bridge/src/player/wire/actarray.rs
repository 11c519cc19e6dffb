//! `actarray`: a chain of joints, such as an arm.
//!
//! Values of linear joints are in m, m/s and m/s^2, those of rotary joints in rad, rad/s and rad/s^2. Joints are
//! numbered from 0.

use super::common::{Orientation3d, Point3d};
use super::table::interface;
use super::xdr::{codes, structures};

interface! {
    /// A chain of joints, such as an arm.
    53 "actarray"
    data {
        STATE 1: State, "position, speed and state of each joint";
    }
    commands {
        POSITION 1: JointPosition, "move a joint to a position";
        MULTI_POSITION 2: Positions, "move all joints to positions";
        SPEED 3: JointSpeed, "move a joint with a speed";
        MULTI_SPEED 4: Speeds, "move all joints with speeds";
        HOME 5: i32, "move a joint to its home position; -1: all joints";
        CURRENT 6: JointCurrent, "move a joint with a current; -1: all joints";
        MULTI_CURRENT 7: Currents, "move all joints with currents";
    }
    requests {
        POWER 1: bool => (), "power of all joints on or off; they may move when it is switched on";
        BRAKES 2: bool => (), "brakes of all joints on or off";
        GET_GEOMETRY 3: () => Geometry, "links, axes and limits";
        SET_SPEED 4: JointSpeed => (), "speed of a joint's motions from now on";
        SET_ACCELERATION 5: JointAcceleration => (), "acceleration of a joint's motions from now on";
    }
}

codes! {
    /// Whether a joint moves, and what keeps it from moving.
    pub enum JointState: u8 {
        /// It does not move.
        Idle = 1,
        /// It moves.
        Moving = 2,
        /// Its brake is on.
        Braked = 4,
        /// It is blocked.
        Stalled = 8,
    }

    /// How a joint moves.
    pub enum JointKind: u8 {
        /// Along its axis.
        Linear = 1,
        /// About its axis.
        Rotary = 2,
    }
}

structures! {
    /// What is measured of a joint.
    pub struct Joint {
        /// Position, m or rad.
        pub position: f32,
        /// Speed, m/s or rad/s.
        pub speed: f32,
        /// Acceleration, m/s^2 or rad/s^2.
        pub acceleration: f32,
        /// Current, A.
        pub current: f32,
        /// State.
        pub state: JointState,
    }

    /// Position, speed and state of each joint.
    pub struct State {
        /// The joints, from the base.
        pub joints: Vec<Joint>,
        /// Whether the power is on.
        pub motors_on: bool,
    }

    /// A joint and the link behind it.
    pub struct JointGeometry {
        /// How it moves.
        pub kind: JointKind,
        /// Length of the link to the next joint, m; of linear joints at position 0.
        pub length: f32,
        /// Direction to the next joint in this joint's frame, at the rest position.
        pub orientation: Orientation3d,
        /// The axis about which or along which it moves.
        pub axis: Point3d,
        /// Least position, m or rad.
        pub min: f32,
        /// Central position, m or rad.
        pub center: f32,
        /// Greatest position, m or rad.
        pub max: f32,
        /// Home position, m or rad.
        pub home: f32,
        /// Set speed, m/s or rad/s.
        pub speed: f32,
        /// Whether it has a brake.
        pub has_brake: bool,
    }

    /// Links, axes and limits.
    pub struct Geometry {
        /// The joints, from the base.
        pub joints: Vec<JointGeometry>,
        /// Position of the base in the robot's frame, m.
        pub base_position: Point3d,
        /// Orientation of the base in the robot's frame, rad.
        pub base_orientation: Orientation3d,
    }

    /// Target of one joint.
    pub struct JointPosition {
        pub joint: i32,
        /// Its position, m or rad.
        pub position: f32,
    }

    /// A position for each joint.
    pub struct Positions {
        /// Positions, m or rad.
        pub positions: Vec<f32>,
    }

    /// Desired speed of one joint.
    pub struct JointSpeed {
        pub joint: i32,
        /// Its speed, m/s or rad/s.
        pub speed: f32,
    }

    /// A speed for each joint.
    pub struct Speeds {
        /// Speeds, m/s or rad/s.
        pub speeds: Vec<f32>,
    }

    /// Desired motor current of one joint.
    pub struct JointCurrent {
        /// The joint; -1: all.
        pub joint: i32,
        /// Its current, A.
        pub current: f32,
    }

    /// A current for each joint.
    pub struct Currents {
        /// Currents, A.
        pub currents: Vec<f32>,
    }

    /// Acceleration for later motions of one joint.
    pub struct JointAcceleration {
        pub joint: i32,
        /// Its acceleration, m/s^2 or rad/s^2.
        pub acceleration: f32,
    }
}

//! The joints of a WidowX: five of the arm and the gripper (TurtleBot thesis, 2.1 and 3.6.2; directions of rotation:
//! the manufacturer's configuration).

use std::f64::consts::{FRAC_PI_2, PI};

use super::wire::Model;

/// A joint of a WidowX.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Joint {
    /// Its name in ROS.
    pub name: &'static str,
    /// Id of its servo.
    pub id: u8,
    /// Model of its servo, derived from the torque in the TurtleBot thesis.
    pub model: Model,
    /// Whether the joint's direction is opposite to the servo's.
    pub is_inverted: bool,
    /// The lowest and the highest position, rad.
    pub limits: [f64; 2],
}

/// 100 degrees/s, the default speed of joints, rad/s.
pub const SPEED: f64 = 100.0 * PI / 180.0;

/// Servo angle of the closed gripper, rad; it is open at 0.
pub const GRIPPER_CLOSED: f64 = 2.5;

/// All joints, base of the arm first, the gripper last. At 0 every servo is at its middle position.
pub const JOINTS: [Joint; 6] = [
    Joint { name: "arm_1_joint", id: 1, model: Model::Mx28, is_inverted: false, limits: [-PI, PI] },
    Joint {
        name: "arm_2_joint",
        id: 2,
        model: Model::Mx64,
        is_inverted: false,
        limits: [-FRAC_PI_2, FRAC_PI_2],
    },
    Joint {
        name: "arm_3_joint",
        id: 3,
        model: Model::Mx28,
        is_inverted: true,
        limits: [-FRAC_PI_2, FRAC_PI_2],
    },
    Joint {
        name: "arm_4_joint",
        id: 4,
        model: Model::Mx28,
        is_inverted: true,
        limits: [-FRAC_PI_2, FRAC_PI_2],
    },
    Joint {
        name: "arm_5_joint",
        id: 5,
        model: Model::Ax12,
        is_inverted: false,
        limits: [-150.0 * PI / 180.0, 150.0 * PI / 180.0],
    },
    Joint {
        name: "gripper_1_joint",
        id: 6,
        model: Model::Ax12,
        is_inverted: true,
        limits: [0.0, GRIPPER_CLOSED],
    },
];

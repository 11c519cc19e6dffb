//! `imu`: an inertial measurement unit.

use super::common::{Orientation3d, Pose3d};
use super::table::interface;
use super::xdr::{codes, structures};

interface! {
    /// An inertial measurement unit.
    60 "imu"
    data {
        STATE 1: Pose3d, "pose";
        CALIBRATED 2: Calibrated, "acceleration, angular velocity, magnetic field";
        QUATERNION 3: Quaternion, "what is measured, and the orientation as a quaternion";
        EULER 4: Euler, "what is measured, and the orientation as angles";
        FULL_STATE 5: FullState, "pose, velocity and acceleration";
    }
    requests {
        SET_DATA_KIND 1: DataKind => (), "choose the data that is sent";
        RESET_ORIENTATION 2: u32 => (), "reset the orientation; the driver defines the number";
        RESET_EULER 3: Pose3d => (), "set the orientation";
    }
}

codes! {
    /// The data that is sent.
    pub enum DataKind: u8 {
        /// [`STATE`].
        State = 1,
        /// [`CALIBRATED`].
        Calibrated = 2,
        /// [`QUATERNION`].
        Quaternion = 3,
        /// [`EULER`].
        Euler = 4,
    }
}

structures! {
    /// A vector of three measured values.
    pub struct Vector {
        /// Along x.
        pub x: f32,
        /// Along y.
        pub y: f32,
        /// Along z.
        pub z: f32,
    }

    /// What is measured, in the device's frame.
    pub struct Calibrated {
        /// Acceleration, m/s^2.
        pub acceleration: Vector,
        /// Angular velocity, rad/s.
        pub angular_velocity: Vector,
        /// Magnetic field, in the device's unit.
        pub magnetic_field: Vector,
    }

    /// What is measured, and the orientation as a quaternion.
    pub struct Quaternion {
        /// What is measured.
        pub calibrated: Calibrated,
        /// The orientation; the real part comes first.
        pub orientation: [f32; 4],
    }

    /// What is measured, and the orientation as angles.
    pub struct Euler {
        /// What is measured.
        pub calibrated: Calibrated,
        /// The orientation, rad.
        pub orientation: Orientation3d,
    }

    /// Pose, velocity and acceleration.
    pub struct FullState {
        /// Pose, m and rad.
        pub pose: Pose3d,
        /// Velocity, m/s and rad/s.
        pub velocity: Pose3d,
        /// Acceleration, m/s^2 and rad/s^2.
        pub acceleration: Pose3d,
    }
}

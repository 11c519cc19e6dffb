//! `position2d`: a base that moves on a plane.

pub use super::common::Geometry;
use super::common::Pose2d;
use super::table::interface;
use super::xdr::structures;

interface! {
    /// A base that moves on a plane.
    4 "position2d"
    data {
        STATE 1: State, "odometry";
        GEOMETRY_CHANGED 2: Geometry, "size, from drivers that can change it";
    }
    commands {
        VELOCITY 1: Velocity, "drive with a velocity until the next command";
        POSITION 2: Position, "drive to a pose of the odometry's frame";
        CAR 3: Steering, "drive with a steering angle";
        VELOCITY_HEADING 4: Steering, "drive in a direction of the odometry's frame";
    }
    requests {
        GET_GEOMETRY 1: () => Geometry, "size, and pose of its origin on the robot";
        MOTOR_POWER 2: bool => (), "motors on or off";
        VELOCITY_MODE 3: u32 => (), "how velocities are controlled; the driver defines the numbers";
        POSITION_MODE 4: u32 => (), "0: controlled by velocity; 1: by position";
        SET_ODOMETRY 5: Pose2d => (), "set the odometry";
        RESET_ODOMETRY 6: () => (), "set the odometry to 0, 0, 0; client libraries send SET_ODOMETRY instead";
        SPEED_PID 7: Pid => (), "gains of the controller of velocities";
        POSITION_PID 8: Pid => (), "gains of the controller of positions";
        SPEED_PROFILE 9: Profile => (), "maximum speed and acceleration of positions";
    }
}

structures! {
    /// Odometry.
    pub struct State {
        /// Pose in the odometry's frame, m, m, rad.
        pub pose: Pose2d,
        /// Velocity in the base's frame, m/s, m/s, rad/s.
        pub velocity: Pose2d,
        /// The motors do not turn although they should.
        pub stalled: bool,
    }

    /// A command to drive with a velocity.
    pub struct Velocity {
        /// Velocity in the base's frame, m/s, m/s, rad/s.
        pub velocity: Pose2d,
        /// Whether the motors are on; most drivers do not look at it.
        pub motors_on: bool,
    }

    /// A command to drive to a pose.
    pub struct Position {
        /// Pose in the odometry's frame, m, m, rad.
        pub pose: Pose2d,
        /// Velocity with which to drive there, m/s, m/s, rad/s.
        pub velocity: Pose2d,
        /// Whether the motors are on; most drivers do not look at it.
        pub motors_on: bool,
    }

    /// A command to drive with an angle.
    pub struct Steering {
        /// Velocity ahead, m/s.
        pub speed: f64,
        /// Angle, rad: of the steered wheels, or of the base in the odometry's frame.
        pub angle: f64,
    }

    /// Gains of a controller.
    pub struct Pid {
        /// Proportional gain.
        pub kp: f32,
        /// Integral gain.
        pub ki: f32,
        /// Derivative gain.
        pub kd: f32,
    }

    /// Limits of a motion to a pose.
    pub struct Profile {
        /// Maximum speed, m/s.
        pub speed: f32,
        /// Maximum acceleration, m/s^2.
        pub acceleration: f32,
    }
}

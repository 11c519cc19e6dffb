//! Replies to CMD_GET_STATUS and CMD_GET_POSITION (PlatformCtrl guide, 6.4).

use super::field::layout;
use super::{Coded, Frame};
use crate::codes::{ApplicationError, Emergency, MotionMode, Operation, PlannerState};

layout! {
    /// Reply to CMD_GET_POSITION. Doubles are unchecked: they may be NaN or infinite.
    #[derive(Copy, Default)]
    pub struct Position {
        /// Estimated, in the world.
        pub x_mm: i32,
        /// Estimated, in the world.
        pub y_mm: i32,
        /// From the x axis.
        pub angle_rad: f64,
        /// Forwards.
        pub translation_mm_per_s: f64,
        /// Counter-clockwise.
        pub rotation_rad_per_s: f64,
    }

    /// Reply to CMD_GET_STATUS, in the order of the wire. By default poses and points are in the world. Latitude and
    /// longitude are unchecked: they may be NaN or infinite.
    #[derive(Default)]
    pub struct Status {
        /// Reference pose.
        pub commanded: Frame,
        /// Estimated pose.
        pub estimated: Frame,
        /// Uncertainty of the estimated pose.
        pub covariance: Covariance,
        /// Scan points of the laser.
        pub scan: Vec<ScanPoint>,
        /// Reflectors observed.
        pub reflectors: Vec<Point>,
        /// Lines observed.
        pub lines: Vec<Line>,
        /// Circles observed.
        pub circles: Vec<Circle>,
        /// Corners observed.
        pub corners: Vec<Point>,
        /// Interpolated path.
        pub path: Vec<Point>,
        /// Buttons of the joystick, true if pressed.
        pub joystick_buttons: Vec<Coded<bool, u8>>,
        /// Currently commanded velocities.
        pub velocity: Velocity,
        /// The relay board.
        pub relay_board: RelayBoard,
        /// The general I/O board.
        pub io_board: IoBoard,
        /// The two drives.
        pub motors: MotorBoards,
        /// Distances of sensors 1 to 16.
        pub ultrasonic_mm: [i32; 16],
        /// Other data of the ultrasonic board.
        pub ultrasonic_board: UltrasonicBoard,
        /// Radar sensors.
        pub radar_board: RadarBoard,
        /// GPS; the guide has no unit.
        pub latitude: f64,
        /// GPS; the guide has no unit.
        pub longitude: f64,
        /// Gyro and acceleration sensors.
        pub gyro: Gyro,
        /// Whether the platform is initialized.
        pub is_initialized: Coded<bool, u8>,
        /// Whether the target is reached.
        pub is_target_reached: Coded<bool, u8>,
        /// Active motion mode.
        pub motion_mode: Coded<MotionMode, u8>,
        /// Operation state.
        pub operation_state: Coded<Operation, u8>,
        /// The emergency stop.
        pub emergency_state: Coded<Emergency>,
        /// Mode of a local application; not used.
        pub application_mode: u8,
        /// State of the planner.
        pub planner_state: Coded<PlannerState>,
        /// Time stamp of this message; the guide has no unit.
        pub time_stamp: i32,
        /// Error of an application.
        pub application_error: Coded<ApplicationError>,
        /// Whether it is docked to the charging station.
        pub is_docked: Coded<bool, u8>,
        /// Whether the localization is lost.
        pub is_localization_lost: Coded<bool, u8>,
        /// Whether there is a collision.
        pub is_colliding: Coded<bool, u8>,
        /// Calculated part of the lookup data; 0: complete, or nothing to do.
        pub lookup_percent: u8,
        /// Alarms, if the platform has them.
        pub surveillance: Surveillance,
        /// Angle of the head.
        pub head_angle_deg: i32,
    }

    /// Uncertainty of the pose.
    #[derive(Copy, Eq, Default)]
    pub struct Covariance {
        /// Deviation along the principal axis.
        pub principal_mm: i32,
        /// Deviation along the minor axis.
        pub minor_mm: i32,
        /// Deviation of the angle.
        pub angle_mdeg: i32,
        /// Direction of the principal axis.
        pub principal_axis_mdeg: i32,
    }

    /// A scan point, in INT16s.
    #[derive(Copy, Eq, Default)]
    pub struct ScanPoint {
        /// Position.
        pub x_mm: i16,
        /// Position.
        pub y_mm: i16,
    }

    /// Position in the map, mm.
    #[derive(Copy, Eq, Default)]
    pub struct Point {
        /// Position.
        pub x_mm: i32,
        /// Position.
        pub y_mm: i32,
    }

    /// An observed line, in the platform's frame. The target comes first.
    #[derive(Copy, Eq, Default)]
    pub struct Line {
        pub target: Point,
        pub source: Point,
    }

    /// An observed circle.
    #[derive(Copy, Eq, Default)]
    pub struct Circle {
        pub center: Point,
        pub radius_mm: i32,
    }

    /// Velocities of the platform.
    #[derive(Copy, Eq, Default)]
    pub struct Velocity {
        /// Forwards.
        pub translation_mm_per_s: i32,
        /// Counter-clockwise, a thousandth of a radian per second.
        pub rotation_mrad_per_s: i32,
    }

    /// The relay board; no units in the guide.
    #[derive(Copy, Eq, Default)]
    pub struct RelayBoard {
        /// Digital inputs.
        pub digital_in: i32,
        /// Status of the board.
        pub status: i32,
        /// Analog inputs 1 to 8.
        pub analog_in: [i32; 8],
        /// Distances of the optical sensors.
        pub optical_distance: [i32; 4],
    }

    /// The general I/O board; no units in the guide.
    #[derive(Copy, Eq, Default)]
    pub struct IoBoard {
        /// Voltage of the battery.
        pub battery_voltage: i32,
        /// Digital inputs.
        pub digital_in: i32,
        /// Digital outputs.
        pub digital_out: i32,
        /// Status and analog inputs.
        pub board: AnalogBoard,
    }

    /// Status and analog inputs of a board.
    #[derive(Copy, Eq, Default)]
    pub struct AnalogBoard {
        /// Status of the board.
        pub status: i32,
        /// Analog inputs 1 to 8.
        pub analog_in: [i32; 8],
    }

    /// Motor control boards; no units in the guide.
    #[derive(Copy, Eq, Default)]
    pub struct MotorBoards {
        /// Status of the right one.
        pub right_status: i32,
        /// Status of the left one.
        pub left_status: i32,
        /// Temperature of the right one.
        pub right_temperature: i32,
        /// Temperature of the left one.
        pub left_temperature: i32,
    }

    /// Analog inputs and status of the ultrasonic board.
    #[derive(Copy, Eq, Default)]
    pub struct UltrasonicBoard {
        /// Analog inputs 1 to 8.
        pub analog_in: [i32; 8],
        /// Status of the board.
        pub status: i32,
    }

    /// Radar sensors.
    #[derive(Copy, Eq, Default)]
    pub struct RadarBoard {
        /// Velocities of sensors 1 to 4.
        pub velocity_mm_per_s: [i32; 4],
        /// Status of the board.
        pub status: i32,
    }

    /// Gyro board.
    #[derive(Copy, Eq, Default)]
    pub struct Gyro {
        /// Accelerations 1 to 3, times 10000; the guide has no unit.
        pub acceleration_e4: [i32; 3],
        /// Angle, a ten-thousandth of a radian.
        pub angle_rad_e4: i32,
        /// Temperature; the guide has no unit.
        pub temperature: i32,
        /// Status of the board.
        pub status: i32,
    }

    /// Intruder sensors and alarms of a surveillance platform.
    #[derive(Copy, Eq, Default)]
    pub struct Surveillance {
        /// Infrared sensors 1 to 4, true if active.
        pub infrared: [Coded<bool, u8>; 4],
        /// Whether the siren is enabled.
        pub siren: Coded<bool, u8>,
        /// Whether the flash light is enabled.
        pub flash_light: Coded<bool, u8>,
    }
}

impl Position {
    /// Whether no number is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        [self.angle_rad, self.translation_mm_per_s, self.rotation_rad_per_s]
            .iter()
            .all(|value| value.is_finite())
    }
}

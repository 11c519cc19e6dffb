//! The state of the base.

use std::time::Duration;

use dragoman_geometry::limits::Limits;
use dragoman_geometry::{Pose, Twist};

use super::{Battery, Identity};
use crate::commander::Standstill;
use crate::kobuki::wire::{
    CliffReadings, CoreSensors, DockIr, Feedback, GeneralPurposeInput, Inertia, Outputs, RawGyro, Statistics,
    WheelCurrents,
};
use crate::odometry::Wheel;

/// The last sensor data, as on the line; each `None` before its first reception.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sensors {
    /// Bumpers, wheel drops, cliffs, encoders, buttons, battery.
    pub core: Option<CoreSensors>,
    /// Signals of the docking station.
    pub dock_ir: Option<DockIr>,
    /// Heading and its rate; `angle()` and `rate()` are in rad and rad/s.
    pub inertia: Option<Inertia>,
    /// Readings of the cliff sensors.
    pub cliffs: Option<CliffReadings>,
    /// Currents of the wheels' motors.
    pub currents: Option<WheelCurrents>,
    /// Readings of the gyro; `rates()` are in rad/s, in the base's axes.
    pub gyro: Option<RawGyro>,
    /// Digital and analog inputs; `volts()` of the latter.
    pub input: Option<GeneralPurposeInput>,
}

impl Sensors {
    pub(super) fn take(&mut self, feedback: &Feedback) {
        match feedback {
            Feedback::Core(core) => self.core = Some(*core),
            Feedback::DockIr(dock_ir) => self.dock_ir = Some(*dock_ir),
            Feedback::Inertia(inertia) => self.inertia = Some(*inertia),
            Feedback::Cliffs(cliffs) => self.cliffs = Some(*cliffs),
            Feedback::Currents(currents) => self.currents = Some(*currents),
            Feedback::RawGyro(gyro) => self.gyro = Some(*gyro),
            Feedback::Input(input) => self.input = Some(*input),
            _ => {}
        }
    }

    /// Currents of the left and the right motor, A.
    pub fn amperes(&self) -> Option<[f64; 2]> {
        let WheelCurrents { left_centiamperes, right_centiamperes } = self.currents?;
        Some([left_centiamperes, right_centiamperes].map(|hundredths| f64::from(hundredths) / 100.0))
    }
}

/// The state of the base.
#[derive(Debug, Clone, PartialEq)]
pub struct KobukiState {
    /// Whether there is a connection.
    pub connected: bool,
    /// Whether feedback arrives.
    pub alive: bool,
    /// Why the base is commanded to stand still; `None`: it is commanded to move.
    pub standstill: Option<Standstill>,
    /// Whether the motors are on.
    pub motor_power: bool,
    /// Time of the last feedback on this connection, on the caller's clock.
    pub last_received: Option<Duration>,
    /// Pose relative to the start of its odometry.
    pub pose: Pose,
    /// Covariance of the pose: x, y, z and rotations about them, row by row.
    pub pose_covariance: [f64; 36],
    /// Velocity in its own frame.
    pub twist: Twist,
    /// The left and the right wheel.
    pub wheels: [Wheel; 2],
    /// The gyro's heading, relative to its first reading or the last reset of the odometry, rad, -pi to pi.
    pub heading: f64,
    /// The last sensor data.
    pub sensors: Sensors,
    /// The battery; `None` before the first feedback.
    pub battery: Option<Battery>,
    /// Versions, unique id and gains, as far as received on this connection.
    pub identity: Identity,
    /// Desired state of LEDs, digital outputs and external power.
    pub outputs: Outputs,
    /// Limits in force.
    pub limits: Limits,
    /// Frames of feedback so far.
    pub feedback_frames: u64,
    /// Sub-payloads that were unknown, cut off or of wrong length.
    pub malformed_sub_payloads: u64,
    /// Counters of the line.
    pub line: Statistics,
    /// How often our clock has gone back, or the base's has jumped.
    pub clock_jumps: u64,
    /// How often an encoder has jumped by more than a wheel can roll.
    pub encoder_jumps: u64,
}

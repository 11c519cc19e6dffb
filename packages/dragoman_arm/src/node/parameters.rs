//! The node's parameters, and the group of drives that they configure.

use std::time::Duration;

use dragoman_ros::parameters;

use crate::driver::{AxisConfig, ConfigError, ControlMode, DriveKind, GroupConfig};

parameters! {
    /// The parameters of the node.
    pub struct ArmParameters {
        /// Rate at which joint_states is published, Hz.
        rate: f64 = 100.0, in 1.0..=1000.0;
        /// CAN interface, for example can0; empty: simulated drives in this process.
        can: String;
        /// Velocity of simulated drives, encoder counts/s, one setting for all as in the Ranger thesis, 4.5.4: behind
        /// faster set-points they fall back; 0: they keep up. 59336 is 0.9 rad/s in joints 3 to 6.
        simulated_velocity_limit: f64, in 0.0..=1e9;
        /// Switch the drives on as soon as all respond; simulated drives always do.
        enable_at_start: bool;
        /// Protocol of the drives: SimplIQ's interpreter, or CiA 402.
        drive_kind: String = "whistle", in &["whistle", "cia402"];
        /// Kind of the set-points sent to the drives in every cycle. With computed_torque and adaptive the commands are
        /// positions, and a controller in the node follows them with currents; adaptive also learns the payload.
        control_mode: String = "position", in &["position", "velocity", "torque", "computed_torque", "adaptive"];
        /// Bandwidth of computed_torque and adaptive, rad/s; at most 0.2 divided by the period of the set-points.
        control_bandwidth: f64 = 15.0, in 0.1..=1000.0;
        /// Whether simulated drives carry the arm: masses, gravity and friction of its description couple the joints.
        /// For drive_kind whistle.
        simulated_dynamics: bool;
        /// What the arm carries with simulated_dynamics, unknown to the controller: mass, kg, and x, y, z of its centre
        /// in the tool frame, m.
        simulated_payload: Vec<f64> = [0.0; 4];
        /// CAN node of each joint's drive; 0: no drive, the joint reports its commanded position.
        node_ids: Vec<i64>, in 0..=127;
        /// Encoder counts per rad (or m) of each joint; negative where the drive counts the other way.
        counts_per_unit: Vec<f64>;
        /// Position of each joint at 0 counts, rad or m.
        home: Vec<f64>;
        /// Maximum velocity of each joint, rad/s or m/s.
        max_velocity: Vec<f64>;
        /// Maximum commanded current of each motor, A.
        max_current: Vec<f64>;
        /// Torque of each joint per current of its motor, N m/A or N/A, for controllers and simulated_dynamics. Positive
        /// current moves the joint in the direction in which the drive counts.
        torque_per_ampere: Vec<f64>;
        /// Inertia of each motor's rotor as seen by the joint, kg m^2 or kg, for controllers and simulated_dynamics.
        rotor_inertia: Vec<f64>;
        /// Deceleration of each joint when it is stopped, rad/s^2 or m/s^2.
        max_deceleration: Vec<f64>;
        /// Period of the set-points, in position loops of a SimplIQ drive (360 us).
        sample_ratio: u16, in 1..=694;
        /// Time by which set-points are sent ahead of the drives' motion, s.
        lead: Duration, in 0.001..=10.0;
        /// Period of our heartbeat, s.
        heartbeat: Duration, in 0.001..=10.0;
        /// Time without our heartbeat after which the drives stop, s.
        heartbeat_loss: Duration, in 0.001..=10.0;
        /// Time without reports of a drive after which all drives are stopped, s.
        feedback_loss: Duration, in 0.001..=10.0;
        /// Default path tolerance of a trajectory, rad or m; 0: no limit.
        path_tolerance: Option<f64> = Some(0.2), in 0.0..=10.0;
        /// Default goal tolerance of a trajectory, rad or m; 0: no limit.
        goal_tolerance: Option<f64> = Some(0.02), in 0.0..=10.0;
        /// Default goal time tolerance: allowed delay of reaching the goal, s; 0: no limit.
        goal_time: f64 = 2.0, in 0.0..=3600.0;
    }
}

impl ArmParameters {
    /// The defaults for these drives.
    pub fn new(drives: &GroupConfig) -> Self {
        let all = |of: fn(&AxisConfig) -> f64| drives.axes.iter().map(of).collect();
        let first = drives.axes.iter().find(|axis| axis.kind != DriveKind::Suppressed);
        let is_cia402 = first.is_some_and(|axis| axis.kind == DriveKind::Cia402);
        Self {
            drive_kind: if is_cia402 { "cia402" } else { "whistle" }.to_owned(),
            node_ids: drives.axes.iter().map(|axis| node_parameter(axis).into()).collect(),
            counts_per_unit: all(|axis| axis.counts_per_unit),
            home: all(|axis| axis.home),
            max_velocity: all(|axis| axis.max_velocity),
            max_current: all(|axis| axis.max_current),
            torque_per_ampere: all(|axis| axis.torque_per_ampere),
            rotor_inertia: all(|axis| axis.rotor_inertia),
            max_deceleration: all(|axis| axis.max_deceleration),
            sample_ratio: drives.sample_ratio,
            lead: drives.lead,
            heartbeat: drives.heartbeat,
            heartbeat_loss: drives.heartbeat_loss,
            feedback_loss: drives.feedback_loss,
            ..Self::default()
        }
    }

    /// The group of `joints` drives that the parameters configure.
    ///
    /// # Errors
    /// Lists of different lengths; invalid values.
    pub fn group(&self, joints: usize) -> Result<GroupConfig, DriveParameterError> {
        for (name, given) in [
            ("node_ids", self.node_ids.len()),
            ("counts_per_unit", self.counts_per_unit.len()),
            ("home", self.home.len()),
            ("max_velocity", self.max_velocity.len()),
            ("max_current", self.max_current.len()),
            ("max_deceleration", self.max_deceleration.len()),
            ("torque_per_ampere", self.torque_per_ampere.len()),
            ("rotor_inertia", self.rotor_inertia.len()),
        ] {
            if given != joints {
                return Err(DriveParameterError::Length { name, given, joints });
            }
        }
        let with_drive = if self.drive_kind == "cia402" { DriveKind::Cia402 } else { DriveKind::Whistle };
        let drives = self.node_ids.iter().zip(&self.counts_per_unit).zip(&self.home);
        let limits = self.max_velocity.iter().zip(&self.max_current).zip(&self.max_deceleration);
        let motors = self.torque_per_ampere.iter().zip(&self.rotor_inertia);
        let axes = drives.zip(limits).zip(motors).map(
            |((((node, counts), home), ((max_velocity, max_current), max_deceleration)), (torque, rotor))| {
                AxisConfig {
                    kind: if *node == 0 { DriveKind::Suppressed } else { with_drive },
                    // The range of the parameter has been checked.
                    node: u8::try_from(*node).unwrap_or(0),
                    counts_per_unit: *counts,
                    home: *home,
                    max_velocity: *max_velocity,
                    max_current: *max_current,
                    max_deceleration: *max_deceleration,
                    torque_per_ampere: *torque,
                    rotor_inertia: *rotor,
                }
            },
        );
        let config = GroupConfig {
            axes: axes.collect(),
            mode: match self.control_mode.as_str() {
                "velocity" => ControlMode::Velocity,
                "torque" => ControlMode::Torque,
                "computed_torque" | "adaptive" => ControlMode::Host,
                _ => ControlMode::Position,
            },
            sample_ratio: self.sample_ratio,
            lead: self.lead,
            heartbeat: self.heartbeat,
            heartbeat_loss: self.heartbeat_loss,
            feedback_loss: self.feedback_loss,
            ..GroupConfig::default()
        };
        config.check()?;
        Ok(config)
    }
}

/// A joint with node 0 is suppressed.
fn node_parameter(axis: &AxisConfig) -> u8 {
    if axis.kind == DriveKind::Suppressed { 0 } else { axis.node }
}

/// Why parameters of the drives do not describe an arm.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DriveParameterError {
    /// The length of a list is not the number of joints.
    #[error("parameter '{name}' has {given} values; the arm has {joints} joints")]
    Length {
        /// The parameter.
        name: &'static str,
        /// Number of its values.
        given: usize,
        /// Expected number.
        joints: usize,
    },
    /// The values are invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

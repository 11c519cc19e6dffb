//! The node's parameters, and the group of drives that they configure.

use std::time::Duration;

use dragoman_ros::parameters::{Declaration, Parameters, Range};

use crate::driver::{AxisConfig, ConfigError, ControlMode, DriveKind, GroupConfig};

/// The parameters of the node; the drives' defaults come from `drives`.
pub fn declarations(drives: &GroupConfig) -> Vec<Declaration> {
    let all = |of: fn(&AxisConfig) -> f64| -> Vec<f64> { drives.axes.iter().map(of).collect() };
    let nodes: Vec<i64> = drives.axes.iter().map(|axis| node_parameter(axis).into()).collect();
    let kind = drives
        .axes
        .iter()
        .find(|axis| axis.kind != DriveKind::Suppressed)
        .map_or("whistle", |axis| if axis.kind == DriveKind::Cia402 { "cia402" } else { "whistle" });
    let time = Range::Double { from: 0.001, to: 10.0 };
    let declared = vec![
        Declaration::new("rate", 100.0, "Rate at which joint_states is published, Hz.")
            .within(Range::Double { from: 1.0, to: 1000.0 }),
        Declaration::new(
            "can",
            "",
            "CAN interface, for example can0; empty: simulated drives in this process.",
        ),
        Declaration::new(
            "simulated_velocity_limit",
            0.0,
            "Velocity of simulated drives, encoder counts/s, one setting for all as in the Ranger thesis, 4.5.4: behind \
             faster set-points they fall back; 0: they keep up. 59336 is 0.9 rad/s in joints 3 to 6.",
        )
        .within(Range::Double { from: 0.0, to: 1e9 }),
        Declaration::new(
            "enable_at_start",
            false,
            "Switch the drives on as soon as all respond; simulated drives always do.",
        ),
        Declaration::new("drive_kind", kind, "Protocol of the drives: SimplIQ's interpreter, or CiA 402.")
            .within(Range::OneOf(&["whistle", "cia402"])),
        Declaration::new(
            "control_mode",
            "position",
            "Kind of the set-points sent to the drives in every cycle. With computed_torque and adaptive the commands are \
             positions, and a controller in the node follows them with currents; adaptive also learns the payload.",
        )
        .within(Range::OneOf(&["position", "velocity", "torque", "computed_torque", "adaptive"])),
        Declaration::new(
            "control_bandwidth",
            15.0,
            "Bandwidth of computed_torque and adaptive, rad/s; at most 0.2 divided by the period of the set-points.",
        )
        .within(Range::Double { from: 0.1, to: 1000.0 }),
        Declaration::new(
            "simulated_dynamics",
            false,
            "Whether simulated drives carry the arm: masses, gravity and friction of its description couple the joints. \
             For drive_kind whistle.",
        ),
        Declaration::new(
            "simulated_payload",
            vec![0.0; 4],
            "What the arm carries with simulated_dynamics, unknown to the controller: mass, kg, and x, y, z of its centre \
             in the tool frame, m.",
        ),
        Declaration::new(
            "node_ids",
            nodes,
            "CAN node of each joint's drive; 0: no drive, the joint reports its commanded position.",
        )
        .within(Range::Integer { from: 0, to: 127 }),
        Declaration::new(
            "counts_per_unit",
            all(|axis| axis.counts_per_unit),
            "Encoder counts per rad (or m) of each joint; negative where the drive counts the other way.",
        ),
        Declaration::new("home", all(|axis| axis.home), "Position of each joint at 0 counts, rad or m."),
        Declaration::new(
            "max_velocity",
            all(|axis| axis.max_velocity),
            "Maximum velocity of each joint, rad/s or m/s.",
        ),
        Declaration::new(
            "max_current",
            all(|axis| axis.max_current),
            "Maximum commanded current of each motor, A.",
        ),
        Declaration::new(
            "torque_per_ampere",
            all(|axis| axis.torque_per_ampere),
            "Torque of each joint per current of its motor, N m/A or N/A, for controllers and simulated_dynamics. Positive \
             current moves the joint in the direction in which the drive counts.",
        ),
        Declaration::new(
            "rotor_inertia",
            all(|axis| axis.rotor_inertia),
            "Inertia of each motor's rotor as seen by the joint, kg m^2 or kg, for controllers and simulated_dynamics.",
        ),
        Declaration::new(
            "max_deceleration",
            all(|axis| axis.max_deceleration),
            "Deceleration of each joint when it is stopped, rad/s^2 or m/s^2.",
        ),
        Declaration::new(
            "sample_ratio",
            i64::from(drives.sample_ratio),
            "Period of the set-points, in position loops of a SimplIQ drive (360 us).",
        )
        .within(Range::Integer { from: 1, to: 694 }),
        Declaration::new(
            "lead",
            drives.lead.as_secs_f64(),
            "Time by which set-points are sent ahead of the drives' motion, s.",
        )
        .within(time.clone()),
        Declaration::new("heartbeat", drives.heartbeat.as_secs_f64(), "Period of our heartbeat, s.")
            .within(time.clone()),
        Declaration::new(
            "heartbeat_loss",
            drives.heartbeat_loss.as_secs_f64(),
            "Time without our heartbeat after which the drives stop, s.",
        )
        .within(time.clone()),
        Declaration::new(
            "feedback_loss",
            drives.feedback_loss.as_secs_f64(),
            "Time without reports of a drive after which all drives are stopped, s.",
        )
        .within(time),
        Declaration::new(
            "path_tolerance",
            0.2,
            "Default path tolerance of a trajectory, rad or m; 0: no limit.",
        )
        .within(Range::Double { from: 0.0, to: 10.0 }),
        Declaration::new(
            "goal_tolerance",
            0.02,
            "Default goal tolerance of a trajectory, rad or m; 0: no limit.",
        )
        .within(Range::Double { from: 0.0, to: 10.0 }),
        Declaration::new(
            "goal_time",
            2.0,
            "Default goal time tolerance: allowed delay of reaching the goal, s; 0: no limit.",
        )
        .within(Range::Double { from: 0.0, to: 3600.0 }),
    ];
    declared.into_iter().map(Declaration::read_only).collect()
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

/// The group of `joints` drives that the parameters configure.
///
/// # Errors
/// Lists of different lengths; invalid values.
pub fn group(parameters: &Parameters, joints: usize) -> Result<GroupConfig, DriveParameterError> {
    let nodes: Vec<i64> = parameters.value("node_ids");
    check_length("node_ids", nodes.len(), joints)?;
    let list = |name: &'static str| {
        let values: Vec<f64> = parameters.value(name);
        check_length(name, values.len(), joints).map(|()| values)
    };
    let counts = list("counts_per_unit")?;
    let home = list("home")?;
    let max_velocity = list("max_velocity")?;
    let max_current = list("max_current")?;
    let max_deceleration = list("max_deceleration")?;
    let torque_per_ampere = list("torque_per_ampere")?;
    let rotor_inertia = list("rotor_inertia")?;
    let with_drive = match parameters.value::<String>("drive_kind").as_str() {
        "cia402" => DriveKind::Cia402,
        _ => DriveKind::Whistle,
    };
    let limits = max_velocity.iter().zip(&max_current).zip(&max_deceleration);
    let limits = limits.zip(torque_per_ampere.iter().zip(&rotor_inertia));
    let axes = nodes.iter().zip(&counts).zip(&home).zip(limits).map(
        |(((node, counts), home), (((max_velocity, max_current), max_deceleration), (torque, rotor)))| {
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
    let seconds = |name: &str| Duration::from_secs_f64(parameters.value(name));
    let config = GroupConfig {
        axes: axes.collect(),
        mode: match parameters.value::<String>("control_mode").as_str() {
            "velocity" => ControlMode::Velocity,
            "torque" => ControlMode::Torque,
            "computed_torque" | "adaptive" => ControlMode::Host,
            _ => ControlMode::Position,
        },
        sample_ratio: u16::try_from(parameters.value::<i64>("sample_ratio")).unwrap_or(u16::MAX),
        lead: seconds("lead"),
        heartbeat: seconds("heartbeat"),
        heartbeat_loss: seconds("heartbeat_loss"),
        feedback_loss: seconds("feedback_loss"),
        ..GroupConfig::default()
    };
    config.check()?;
    Ok(config)
}

fn check_length(name: &'static str, given: usize, joints: usize) -> Result<(), DriveParameterError> {
    if given == joints { Ok(()) } else { Err(DriveParameterError::Length { name, given, joints }) }
}

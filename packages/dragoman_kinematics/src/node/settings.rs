//! The node's parameters: the motion configuration as ROS parameters (lists of numbers, dots between levels).

use dragoman_ros::parameters::{Declaration, Parameters, Range};

use nalgebra::{Unit, Vector3};

use crate::FreeRotation;
use crate::motion::{AxisBox, MotionConfig, Workspace};

/// Large enough for every robot, small enough to detect a wrong unit.
const POSITIVE: Range = Range::Double { from: 1e-6, to: 1e3 };

/// Parameters are finite: this position, rad or m, means no limit.
const NO_LIMIT: f64 = 1e5;

const POSITIONS: Range = Range::Double { from: -NO_LIMIT, to: NO_LIMIT };

const CYCLES: Range = Range::Integer { from: 0, to: 1000 };

/// The parameters of the node; `config` holds the defaults, which are those of the robot.
pub fn declarations(config: &MotionConfig) -> Vec<Declaration> {
    let cartesian = &config.cartesian;
    let joint = &config.joint;
    let via = &config.via_points;
    let positive = |name, default: Vec<f64>, text| Declaration::new(name, default, text).within(POSITIVE);
    let scalar = |name, default: f64, text| Declaration::new(name, default, text).within(POSITIVE);
    vec![
        positive(
            "cartesian.max_velocity",
            cartesian.max_velocity.to_vec(),
            "Greatest speed of Cartesian motions along x, y, z (m/s) and about x, y, z (rad/s).",
        ),
        positive(
            "cartesian.max_acceleration",
            cartesian.max_acceleration.to_vec(),
            "Greatest acceleration of Cartesian motions, m/s^2 (3) and rad/s^2 (3).",
        ),
        positive(
            "cartesian.stop_acceleration",
            cartesian.stop_acceleration.to_vec(),
            "Deceleration of a stop, m/s^2 (3) and rad/s^2 (3).",
        ),
        scalar(
            "clearance",
            0.01,
            "Distance that planned motions keep from all bodies, and the arm's links from each other, m; their start and goal \
             one and a half times of it, links from each other twice.",
        )
        .read_only(),
        Declaration::new(
            "planning_time",
            10.0,
            "Longest search for a motion round obstacles, s.",
        )
        .within(Range::Double { from: 0.01, to: 600.0 }),
        Declaration::new(
            "avoid_world",
            true,
            "Whether motions are planned round the bodies of the simulated world, which come on world_scene.",
        ),
        Declaration::new(
            "cartesian.limit_shapes",
            cartesian.limit_shapes,
            "Whether circles and sinusoids keep within cartesian.max_velocity and max_acceleration; if not, they have \
             the requested period, as in the Ranger thesis.",
        ),
        Declaration::new(
            "joint.lower",
            limited(&joint.lower),
            "Least position of each joint, rad or m, within its description's limits.",
        )
        .within(POSITIONS),
        Declaration::new(
            "joint.upper",
            limited(&joint.upper),
            "Greatest position of each joint, rad or m, within its description's limits.",
        )
        .within(POSITIONS),
        positive(
            "joint.max_velocity",
            joint.max_velocity.clone(),
            "Greatest speed of planned joint motions, rad/s or m/s, one per joint.",
        ),
        positive(
            "joint.max_acceleration",
            joint.max_acceleration.clone(),
            "Greatest acceleration of planned joint motions, rad/s^2 or m/s^2, one per joint.",
        ),
        positive(
            "joint.stop_acceleration",
            joint.stop_acceleration.clone(),
            "Deceleration of a stop in joint space, rad/s^2 or m/s^2, one per joint.",
        ),
        positive(
            "joint.max_rate",
            joint.max_rate.clone(),
            "Greatest rate of a joint in twists and joint motions, rad/s or m/s, one per joint.",
        ),
        Declaration::new(
            "joint.limit_paths",
            joint.limit_paths,
            "Whether lines and shapes slow down so that no joint exceeds joint.max_rate; if not, only the drives limit \
             the joints there, as in the Ranger thesis.",
        ),
        Declaration::new(
            "workspace.bounds",
            flat(&config.workspace.bounds),
            "Allowed region of the tool: x min, x max, y min, y max, z min, z max in m, base frame.",
        ),
        Declaration::new(
            "workspace.forbidden",
            config.workspace.forbidden.iter().flat_map(flat).collect::<Vec<_>>(),
            "Boxes that the tool must not enter: six numbers each, as in workspace.bounds.",
        ),
        Declaration::new(
            "free_rotation",
            config.free_rotation.to_string().as_str(),
            "Rotation of the tool that does not count in Cartesian motions and compute_ik: none, all, about or tilt \
             with an axis of the tool frame (about z: the tool may turn about z; tilt z: z may tilt, the tool does not \
             turn about it; about 0 0.6 0.8: any axis). Arms with five joints need one.",
        ),
        Declaration::new(
            "singularity_margin",
            config.singularity_margin,
            "Manipulability that twists do not fall below, m^3: the tool turns aside instead; 0: twists lead into \
             singularities. For arms with at least six joints.",
        )
        .within(Range::Double { from: 0.0, to: 1e3 }),
        Declaration::new(
            "null_space_rate",
            config.null_space_rate,
            "Greatest rate of joints by which arms with more than six turn away from singularities during Cartesian \
             motions, while the tool stays on its path, rad/s or m/s; 0: they do not.",
        )
        .within(Range::Double { from: 0.0, to: 1e3 }),
        scalar(
            "via_points.cartesian",
            via.cartesian,
            "A via point counts as reached within this distance, m + rad.",
        ),
        scalar(
            "via_points.cartesian_coarse",
            via.cartesian_coarse,
            "After via_points.cycles a via point counts as reached within this distance, m + rad.",
        ),
        scalar(
            "via_points.joint",
            via.joint,
            "A joint via point counts as reached within this distance, rad (Euclidean norm).",
        ),
        scalar(
            "via_points.joint_coarse",
            via.joint_coarse,
            "After via_points.cycles a joint via point counts as reached within this distance, rad.",
        ),
        Declaration::new(
            "via_points.cycles",
            i64::from(via.cycles),
            "Cycles to wait at a via point for the fine tolerance.",
        )
        .within(CYCLES),
        scalar(
            "divergence_tolerance",
            config.divergence_tolerance,
            "Error of inverse kinematics, relative to the measured pose, above which the arm holds, m + rad.",
        ),
        scalar(
            "twist_timeout",
            config.twist_timeout,
            "A twist command that is not repeated within this time stops the motion, s.",
        ),
        scalar(
            "measurement_timeout",
            config.measurement_timeout,
            "Time without joint_states after which every motion is dropped, s.",
        ),
        scalar(
            "max_time_step",
            config.max_time_step,
            "Longest accepted cycle, s; a longer one counts as this long.",
        )
        .read_only(),
        Declaration::new(
            "mode_switch_cycles",
            i64::from(config.mode_switch_cycles),
            "Cycles without a command after a switch of the mode.",
        )
        .within(CYCLES)
        .read_only(),
        scalar(
            "stop_following_error",
            config.stop_following_error,
            "Lag of a joint beyond which a stop returns the command to the measured position, rad or m.",
        ),
        Declaration::new("publish_tf", true, super::PUBLISH_TF).read_only(),
    ]
}

/// The motion configuration of the parameters, not yet checked as a whole.
pub(super) fn motion_config(parameters: &Parameters) -> MotionConfig {
    let list = |name: &str| parameters.value::<Vec<f64>>(name);
    let number = |name: &str| parameters.value::<f64>(name);
    let count = |name: &str| u32::try_from(parameters.value::<i64>(name)).unwrap_or_default();
    let mut config = MotionConfig::default();
    config.cartesian.max_velocity = six(&list("cartesian.max_velocity"));
    config.cartesian.max_acceleration = six(&list("cartesian.max_acceleration"));
    config.cartesian.stop_acceleration = six(&list("cartesian.stop_acceleration"));
    config.joint.lower = unlimited(&list("joint.lower"));
    config.joint.upper = unlimited(&list("joint.upper"));
    config.joint.max_velocity = list("joint.max_velocity");
    config.joint.max_acceleration = list("joint.max_acceleration");
    config.joint.stop_acceleration = list("joint.stop_acceleration");
    config.joint.max_rate = list("joint.max_rate");
    config.joint.limit_paths = parameters.value("joint.limit_paths");
    config.cartesian.limit_shapes = parameters.value("cartesian.limit_shapes");
    config.workspace = Workspace {
        bounds: boxed(&six(&list("workspace.bounds"))),
        forbidden: list("workspace.forbidden").chunks(6).map(|chunk| boxed(&six(chunk))).collect(),
    };
    config.free_rotation = free_rotation(&parameters.value::<String>("free_rotation"));
    config.singularity_margin = number("singularity_margin");
    config.null_space_rate = number("null_space_rate");
    config.via_points.cartesian = number("via_points.cartesian");
    config.via_points.cartesian_coarse = number("via_points.cartesian_coarse");
    config.via_points.joint = number("via_points.joint");
    config.via_points.joint_coarse = number("via_points.joint_coarse");
    config.via_points.cycles = count("via_points.cycles");
    config.divergence_tolerance = number("divergence_tolerance");
    config.twist_timeout = number("twist_timeout");
    config.measurement_timeout = number("measurement_timeout");
    config.max_time_step = number("max_time_step");
    config.mode_switch_cycles = count("mode_switch_cycles");
    config.stop_following_error = number("stop_following_error");
    config
}

/// Resets the parameters to those of the configuration in force, as far as they may change.
pub(super) fn restore(parameters: &Parameters, config: &MotionConfig) {
    // These are not part of it.
    let is_other = |declared: &Declaration| ["planning_time", "avoid_world"].contains(&declared.name);
    let values =
        declarations(config).into_iter().filter(|declared| !declared.read_only && !is_other(declared));
    let values = values.map(|declared| (declared.name.to_owned(), declared.default)).collect();
    if let Err(reason) = parameters.set(values) {
        tracing::error!(reason, "the parameters in force could not be restored");
    }
}

/// Reads a free rotation; any other text becomes one that the configuration's check refuses.
fn free_rotation(text: &str) -> FreeRotation {
    let invalid = FreeRotation::About(Unit::new_unchecked(Vector3::zeros()));
    text.parse().unwrap_or(invalid)
}

/// Converts six numbers; a list of another length becomes bounds that the configuration's check refuses.
fn six(values: &[f64]) -> [f64; 6] {
    values.try_into().unwrap_or([f64::NAN; 6])
}

fn limited(positions: &[f64]) -> Vec<f64> {
    positions.iter().map(|position| position.clamp(-NO_LIMIT, NO_LIMIT)).collect()
}

fn unlimited(positions: &[f64]) -> Vec<f64> {
    let open = |position: &f64| if position.abs() < NO_LIMIT { *position } else { position * f64::INFINITY };
    positions.iter().map(open).collect()
}

fn flat(zone: &AxisBox) -> Vec<f64> {
    // Parameters are finite; an unlimited workspace is larger than any arm's reach.
    [zone.x, zone.y, zone.z].into_iter().flatten().map(|value| value.clamp(-1e6, 1e6)).collect()
}

fn boxed([x0, x1, y0, y1, z0, z1]: &[f64; 6]) -> AxisBox {
    AxisBox { x: [*x0, *x1], y: [*y0, *y1], z: [*z0, *z1] }
}

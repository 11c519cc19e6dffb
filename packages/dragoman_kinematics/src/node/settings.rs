//! The node's parameters: the motion configuration as ROS parameters (lists of numbers, dots between levels).

use std::ops::RangeInclusive;
use std::time::Duration;

use dragoman_ros::parameters;
use nalgebra::{Unit, Vector3};

use super::PublishParameters;
use crate::FreeRotation;
use crate::motion::{AxisBox, MotionConfig, Workspace};

/// Large enough for every robot, small enough to detect a wrong unit.
const POSITIVE: RangeInclusive<f64> = 1e-6..=1e3;

/// Parameters are finite: this position, rad or m, means no limit.
const NO_LIMIT: f64 = 1e5;

parameters! {
    /// The parameters of the node.
    pub struct KinematicsParameters {
        ..motion: MotionParameters;
        ..publish: PublishParameters;
        /// Distance that planned motions keep from all bodies, and the arm's links from each other, m; their start and goal
        /// one and a half times of it, links from each other twice.
        clearance: f64 = 0.01, in POSITIVE;
        /// Maximum search for a motion round obstacles, s.
        planning_time: Duration = 10.0, in 0.01..=600.0, settable;
        /// Whether motions are planned round the bodies of the simulated world, which come on world_scene.
        avoid_world: bool = true, settable;
    }
}

parameters! {
    /// The motion configuration.
    pub struct MotionParameters {
        /// Maximum speed of Cartesian motions along x, y, z (m/s) and about x, y, z (rad/s).
        cartesian_max_velocity as "cartesian.max_velocity": Vec<f64>, in POSITIVE, settable;
        /// Maximum acceleration of Cartesian motions, m/s^2 (3) and rad/s^2 (3).
        cartesian_max_acceleration as "cartesian.max_acceleration": Vec<f64>, in POSITIVE, settable;
        /// Deceleration of a stop, m/s^2 (3) and rad/s^2 (3).
        cartesian_stop_acceleration as "cartesian.stop_acceleration": Vec<f64>, in POSITIVE, settable;
        /// Whether circles and sinusoids keep within cartesian.max_velocity and max_acceleration; if not, they have the
        /// requested period, as in the Ranger thesis.
        cartesian_limit_shapes as "cartesian.limit_shapes": bool, settable;
        /// Minimum position of each joint, rad or m, within its description's limits.
        joint_lower as "joint.lower": Vec<f64>, in -NO_LIMIT..=NO_LIMIT, settable;
        /// Maximum position of each joint, rad or m, within its description's limits.
        joint_upper as "joint.upper": Vec<f64>, in -NO_LIMIT..=NO_LIMIT, settable;
        /// Maximum speed of planned joint motions, rad/s or m/s, one per joint.
        joint_max_velocity as "joint.max_velocity": Vec<f64>, in POSITIVE, settable;
        /// Maximum acceleration of planned joint motions, rad/s^2 or m/s^2, one per joint.
        joint_max_acceleration as "joint.max_acceleration": Vec<f64>, in POSITIVE, settable;
        /// Deceleration of a stop in joint space, rad/s^2 or m/s^2, one per joint.
        joint_stop_acceleration as "joint.stop_acceleration": Vec<f64>, in POSITIVE, settable;
        /// Maximum rate of a joint in twists and joint motions, rad/s or m/s, one per joint.
        joint_max_rate as "joint.max_rate": Vec<f64>, in POSITIVE, settable;
        /// Whether lines and shapes slow down so that no joint exceeds joint.max_rate; if not, only the drives limit
        /// the joints there, as in the Ranger thesis.
        joint_limit_paths as "joint.limit_paths": bool, settable;
        /// Allowed region of the tool: x min, x max, y min, y max, z min, z max in m, base frame.
        workspace_bounds as "workspace.bounds": Vec<f64>, settable;
        /// Boxes that the tool must not enter: six numbers each, as in workspace.bounds.
        workspace_forbidden as "workspace.forbidden": Vec<f64>, settable;
        /// Rotation of the tool that does not count in Cartesian motions and compute_ik: none, all, about or tilt with
        /// an axis of the tool frame (about z: the tool may turn about z; tilt z: z may tilt, the tool does not turn
        /// about it; about 0 0.6 0.8: any axis). Arms with five joints need one.
        free_rotation: String, settable;
        /// Manipulability that twists do not fall below, m^3: the tool turns aside instead; 0: twists lead into
        /// singularities. For arms with at least six joints.
        singularity_margin: f64, in 0.0..=1e3, settable;
        /// Maximum rate of joints by which arms with more than six turn away from singularities during Cartesian
        /// motions, while the tool stays on its path, rad/s or m/s; 0: they do not.
        null_space_rate: f64, in 0.0..=1e3, settable;
        /// A via point counts as reached within this distance, m + rad.
        via_points_cartesian as "via_points.cartesian": f64, in POSITIVE, settable;
        /// After via_points.cycles a via point counts as reached within this distance, m + rad.
        via_points_cartesian_coarse as "via_points.cartesian_coarse": f64, in POSITIVE, settable;
        /// A joint via point counts as reached within this distance, rad (Euclidean norm).
        via_points_joint as "via_points.joint": f64, in POSITIVE, settable;
        /// After via_points.cycles a joint via point counts as reached within this distance, rad.
        via_points_joint_coarse as "via_points.joint_coarse": f64, in POSITIVE, settable;
        /// Cycles to wait at a via point for the fine tolerance.
        via_points_cycles as "via_points.cycles": u32, in 0..=1000, settable;
        /// Error of inverse kinematics, relative to the measured pose, above which the arm holds, m + rad.
        divergence_tolerance: f64, in POSITIVE, settable;
        /// A twist command that is not repeated within this time stops the motion, s.
        twist_timeout: f64, in POSITIVE, settable;
        /// Time without joint_states after which every motion is dropped, s.
        measurement_timeout: f64, in POSITIVE, settable;
        /// Maximum length of a accepted cycle, s; a longer one counts as this long.
        max_time_step: f64, in POSITIVE;
        /// Cycles without a command after a switch of the mode.
        mode_switch_cycles: u32, in 0..=1000;
        /// Lag of a joint beyond which a stop returns the command to the measured position, rad or m.
        stop_following_error: f64, in POSITIVE, settable;
    }
}

impl MotionParameters {
    /// The parameters of a configuration, for example that of the robot.
    pub fn new(config: &MotionConfig) -> Self {
        let MotionConfig { cartesian, joint, via_points: via, .. } = config;
        Self {
            cartesian_max_velocity: cartesian.max_velocity.to_vec(),
            cartesian_max_acceleration: cartesian.max_acceleration.to_vec(),
            cartesian_stop_acceleration: cartesian.stop_acceleration.to_vec(),
            cartesian_limit_shapes: cartesian.limit_shapes,
            joint_lower: limited(&joint.lower),
            joint_upper: limited(&joint.upper),
            joint_max_velocity: joint.max_velocity.clone(),
            joint_max_acceleration: joint.max_acceleration.clone(),
            joint_stop_acceleration: joint.stop_acceleration.clone(),
            joint_max_rate: joint.max_rate.clone(),
            joint_limit_paths: joint.limit_paths,
            workspace_bounds: flat(&config.workspace.bounds),
            workspace_forbidden: config.workspace.forbidden.iter().flat_map(flat).collect(),
            free_rotation: config.free_rotation.to_string(),
            singularity_margin: config.singularity_margin,
            null_space_rate: config.null_space_rate,
            via_points_cartesian: via.cartesian,
            via_points_cartesian_coarse: via.cartesian_coarse,
            via_points_joint: via.joint,
            via_points_joint_coarse: via.joint_coarse,
            via_points_cycles: via.cycles,
            divergence_tolerance: config.divergence_tolerance,
            twist_timeout: config.twist_timeout,
            measurement_timeout: config.measurement_timeout,
            max_time_step: config.max_time_step,
            mode_switch_cycles: config.mode_switch_cycles,
            stop_following_error: config.stop_following_error,
        }
    }

    /// The motion configuration, not yet checked as a whole.
    pub(super) fn config(&self) -> MotionConfig {
        let mut config = MotionConfig::default();
        config.cartesian.max_velocity = six(&self.cartesian_max_velocity);
        config.cartesian.max_acceleration = six(&self.cartesian_max_acceleration);
        config.cartesian.stop_acceleration = six(&self.cartesian_stop_acceleration);
        config.cartesian.limit_shapes = self.cartesian_limit_shapes;
        config.joint.lower = unlimited(&self.joint_lower);
        config.joint.upper = unlimited(&self.joint_upper);
        config.joint.max_velocity.clone_from(&self.joint_max_velocity);
        config.joint.max_acceleration.clone_from(&self.joint_max_acceleration);
        config.joint.stop_acceleration.clone_from(&self.joint_stop_acceleration);
        config.joint.max_rate.clone_from(&self.joint_max_rate);
        config.joint.limit_paths = self.joint_limit_paths;
        config.workspace = Workspace {
            bounds: boxed(&six(&self.workspace_bounds)),
            forbidden: self.workspace_forbidden.chunks(6).map(|chunk| boxed(&six(chunk))).collect(),
        };
        config.free_rotation = free_rotation(&self.free_rotation);
        config.singularity_margin = self.singularity_margin;
        config.null_space_rate = self.null_space_rate;
        config.via_points.cartesian = self.via_points_cartesian;
        config.via_points.cartesian_coarse = self.via_points_cartesian_coarse;
        config.via_points.joint = self.via_points_joint;
        config.via_points.joint_coarse = self.via_points_joint_coarse;
        config.via_points.cycles = self.via_points_cycles;
        config.divergence_tolerance = self.divergence_tolerance;
        config.twist_timeout = self.twist_timeout;
        config.measurement_timeout = self.measurement_timeout;
        config.max_time_step = self.max_time_step;
        config.mode_switch_cycles = self.mode_switch_cycles;
        config.stop_following_error = self.stop_following_error;
        config
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

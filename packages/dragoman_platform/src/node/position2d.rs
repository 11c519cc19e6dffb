//! The services of Player's position2d, as every base has them (RoMAA page): geometry, motor power, odometry.
//!
//! The platform's controller works with the odometry of its base, which never jumps. Set odometry only moves the origin
//! of what the platform publishes.

use dragoman_geometry::{Pose, compose, relative, wrap_angle};
use dragoman_ros::dragoman_msgs::srv::{GetGeometry, SetOdometry};
use dragoman_ros::shared::Switch;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::tasks::NodeTasks;

use super::services::{serve_order, serve_question};
use super::state::{NodeState, Refused, Shared};
use crate::controller::{Command, MotionMode};

/// The motors and the odometry of the base, as the platform shows them.
pub(super) struct Base {
    /// Whether the motors are on (`set_motor_power`).
    pub(super) has_motor_power: bool,
    /// Whether the published odometry is the platform's own, not that of the base.
    pub(super) has_own_odometry: bool,
    /// Origin of the base's odometry in the published one.
    pub(super) odometry_origin: Pose,
}

impl Default for Base {
    fn default() -> Self {
        Self { has_motor_power: true, has_own_odometry: false, odometry_origin: Pose::ORIGIN }
    }
}

/// Commands that move the platform: refused while its motors are off.
fn moves(command: &Command) -> bool {
    matches!(
        command,
        Command::Start
            | Command::Continue
            | Command::Move(_)
            | Command::MoveWheels { .. }
            | Command::MoveAbsolute(_)
            | Command::MoveRelative(_)
            | Command::MovePath(_)
            | Command::MoveToStation(_)
    )
}

impl NodeState {
    /// Passes a command to the controller, unless it moves the platform while the motors are off.
    pub(super) fn order(&mut self, command: Command) -> Result<(), Refused> {
        if !self.base.has_motor_power && moves(&command) {
            return Err(Refused("the motors are off (set_motor_power)".to_owned()));
        }
        Ok(self.platform.command(command)?)
    }

    fn set_motor_power(&mut self, on: bool) -> Result<(), Refused> {
        self.base.has_motor_power = on;
        if on {
            return Ok(());
        }
        // After a velocity the platform waits for the next command; autonomous motions end.
        self.platform.stand();
        let drives_itself = matches!(
            self.platform.status().mode,
            MotionMode::Automatic | MotionMode::Program | MotionMode::Replay
        );
        if drives_itself { Ok(self.platform.command(Command::Stop)?) } else { Ok(()) }
    }

    pub(super) fn published_odometry(&self) -> Pose {
        compose(self.base.odometry_origin, self.inputs.pose)
    }

    /// Declares the present pose in the published odometry to be this one.
    fn set_odometry(&mut self, pose: Pose) -> Result<(), Refused> {
        if !pose.is_finite() {
            return Err(Refused("the pose is not finite".to_owned()));
        }
        if !self.base.has_own_odometry {
            return Err(Refused("the odometry is the base's own: set it there".to_owned()));
        }
        let pose = Pose { heading: wrap_angle(pose.heading), ..pose };
        // The pose of the base's origin in the new odometry.
        self.base.odometry_origin = compose(pose, relative(self.inputs.pose, Pose::ORIGIN));
        Ok(())
    }
}

pub(super) fn serve(tasks: &mut NodeTasks, shared: &Shared) -> dragoman_ros::Result<()> {
    serve_question::<GetGeometry::Service>(tasks, shared, "get_geometry", |state, _| {
        let footprint = state.platform.settings().footprint;
        let mut response = GetGeometry::Response::default();
        // The platform's parameters have no height.
        (response.size.x, response.size.y) = (footprint.front + footprint.rear, 2.0 * footprint.side);
        response.pose.x = (footprint.front - footprint.rear) / 2.0;
        Ok(response)
    })?;
    let motors = Switch::new(tasks.node(), "motors_on")?;
    motors.show(shared.with(|state| state.base.has_motor_power));
    serve_order::<SetBool::Service>(tasks, shared, "set_motor_power", move |state, request| {
        let outcome = state.set_motor_power(request.data);
        motors.show(state.base.has_motor_power);
        outcome
    })?;
    serve_order::<Trigger::Service>(tasks, shared, "reset_odometry", |state, _| {
        state.set_odometry(Pose::ORIGIN)
    })?;
    serve_order::<SetOdometry::Service>(tasks, shared, "set_odometry", |state, request| {
        state.set_odometry(Pose::new(request.pose.x, request.pose.y, request.pose.theta))
    })
}

//! The arm's services: one per command of the 31-byte protocol (Ranger thesis, appendix A), and the shapes.

use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::poses::Placement;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Client, QosProfile, Result, dragoman_msgs::srv, geometry_msgs, std_srvs::srv::Trigger};
use parking_lot::Mutex;

use super::Mover;
use crate::motion::{Axis, CommandMode, Pipeline, RawPose, Rejected};

/// Stops that wait for the drives at the same time.
const STOPS: usize = 16;
/// Time limit for the answer of the drives.
const HALT_LIMIT: Duration = Duration::from_millis(200);

type Shared = Arc<Mutex<Mover>>;

pub(super) fn serve(tasks: &mut NodeTasks, mover: &Shared) -> Result<()> {
    trigger(tasks, mover, "begin_motion", Pipeline::begin_motion)?;
    trigger(tasks, mover, "begin_joint_motion", Pipeline::begin_joint_motion)?;
    trigger(tasks, mover, "execute_via_points", Pipeline::execute_via_points)?;
    trigger(tasks, mover, "execute_joint_via_points", Pipeline::execute_joint_via_points)?;
    trigger(tasks, mover, "end_shape", Pipeline::end_shape)?;
    trigger(tasks, mover, "clear_via_points", |pipeline| {
        pipeline.clear_via_points();
        Ok(())
    })?;
    trigger(tasks, mover, "clear_joint_via_points", |pipeline| {
        pipeline.clear_joint_via_points();
        Ok(())
    })?;
    trigger(tasks, mover, "reset_joint_motion", |pipeline| {
        pipeline.reset_joint_motion();
        Ok(())
    })?;
    serve_stop(tasks, mover)?;
    serve_goals(tasks, mover)?;
    serve_shapes(tasks, mover)
}

/// `stop` ends what the pipeline does; in mode off, in which the drives follow the topics of joints and trajectories,
/// it also stops the drives.
fn serve_stop(tasks: &mut NodeTasks, mover: &Shared) -> Result<()> {
    let halt = tasks.node().create_client::<Trigger::Service>("halt", QosProfile::services_default())?;
    let (halt, mover) = (Arc::new(halt), Arc::clone(mover));
    tasks.serve_together::<Trigger::Service, _>("stop", STOPS, move |_request| {
        let (success, message) = perform(&mover, "stop", |pipeline| {
            pipeline.stop();
            Ok(())
        });
        let is_free = mover.lock().pipeline.mode() == CommandMode::Off;
        // Drives of another driver have no such service, and do not report.
        let has_drives = mover.lock().drives.is_some();
        let halt = Arc::clone(&halt);
        async move {
            if is_free && has_drives {
                return halted(&halt).await;
            }
            Trigger::Response { success, message }
        }
    })
}

async fn halted(halt: &Client<Trigger::Service>) -> Trigger::Response {
    let answer = async { halt.request(&Trigger::Request::default())?.await };
    let reason = match dragoman_time::timeout(HALT_LIMIT, answer).await {
        Ok(Ok(answer)) => return answer,
        Ok(Err(error)) => error.to_string(),
        Err(_) => "they do not answer".to_owned(),
    };
    tracing::warn!(reason, "halting the drives failed");
    Trigger::Response { success: false, message: format!("the drives are not halted: {reason}") }
}

fn trigger(
    tasks: &mut NodeTasks,
    mover: &Shared,
    name: &'static str,
    act: impl Fn(&mut Pipeline) -> Result<(), Rejected> + Send + 'static,
) -> Result<()> {
    let mover = Arc::clone(mover);
    tasks.serve::<Trigger::Service>(name, move |_request| {
        let (success, message) = perform(&mover, name, &act);
        Trigger::Response { success, message }
    })
}

/// Carries out a command; a refusal is returned to the caller, logged and reported in the diagnostics.
fn perform(
    mover: &Shared,
    name: &str,
    act: impl FnOnce(&mut Pipeline) -> Result<(), Rejected>,
) -> (bool, String) {
    let mut mover = mover.lock();
    match act(&mut mover.pipeline) {
        Ok(()) => {
            tracing::debug!(command = name, "command accepted");
            (true, String::new())
        }
        Err(rejected) => {
            tracing::info!(command = name, reason = %rejected, "command refused");
            mover.trouble = Some(format!("{name}: {rejected}"));
            (false, rejected.to_string())
        }
    }
}

fn serve_goals(tasks: &mut NodeTasks, mover: &Shared) -> Result<()> {
    let shared = Arc::clone(mover);
    tasks.serve::<srv::SetCommandMode::Service>("set_command_mode", move |request| {
        let Some(mode) = CommandMode::from_number(request.mode.into()) else {
            let message = format!("{} is not a command mode: 0 is off, 1 joint, 2 Cartesian", request.mode);
            let mode = shared.lock().pipeline.mode().number();
            return srv::SetCommandMode::Response { success: false, message, mode };
        };
        let (success, message) = perform(&shared, "set_command_mode", |pipeline| {
            pipeline.set_command_mode(mode);
            Ok(())
        });
        srv::SetCommandMode::Response { success, message, mode: mode.number() }
    })?;
    let shared = Arc::clone(mover);
    tasks.serve::<srv::SetGoalPose::Service>("set_goal_pose", move |request| {
        let pose = raw_pose(&request.pose);
        let (success, message) =
            perform(&shared, "set_goal_pose", |pipeline| pipeline.set_goal_pose(&pose, request.min_duration));
        srv::SetGoalPose::Response { success, message }
    })?;
    let shared = Arc::clone(mover);
    tasks.serve::<srv::SetViaPoint::Service>("set_via_point", move |request| {
        let pose = raw_pose(&request.pose);
        let (success, message) = perform(&shared, "set_via_point", |pipeline| {
            pipeline.set_via_point(request.index.into(), &pose, request.min_duration)
        });
        srv::SetViaPoint::Response { success, message }
    })?;
    let shared = Arc::clone(mover);
    tasks.serve::<srv::SetJointGoal::Service>("set_joint_goal", move |request| {
        let (success, message) = perform(&shared, "set_joint_goal", |pipeline| {
            pipeline.set_joint_goal(&request.position, request.min_duration)
        });
        srv::SetJointGoal::Response { success, message }
    })?;
    let shared = Arc::clone(mover);
    tasks.serve::<srv::SetJointViaPoint::Service>("set_joint_via_point", move |request| {
        let (success, message) = perform(&shared, "set_joint_via_point", |pipeline| {
            pipeline.set_joint_via_point(request.index.into(), &request.position, request.min_duration)
        });
        srv::SetJointViaPoint::Response { success, message }
    })
}

fn serve_shapes(tasks: &mut NodeTasks, mover: &Shared) -> Result<()> {
    let shared = Arc::clone(mover);
    tasks.serve::<srv::BeginCircle::Service>("begin_circle", move |request| {
        let (Some(start), Some(second)) = (axis(request.start_axis), axis(request.second_axis)) else {
            return srv::BeginCircle::Response { success: false, message: NO_AXIS.to_owned() };
        };
        let (success, message) = perform(&shared, "begin_circle", |pipeline| {
            pipeline.begin_circle(request.radius, request.period, [start, second])
        });
        srv::BeginCircle::Response { success, message }
    })?;
    let shared = Arc::clone(mover);
    tasks.serve::<srv::BeginSinusoid::Service>("begin_sinusoid", move |request| {
        let Some(axis) = axis(request.axis) else {
            return srv::BeginSinusoid::Response { success: false, message: NO_AXIS.to_owned() };
        };
        let (success, message) = perform(&shared, "begin_sinusoid", |pipeline| {
            pipeline.begin_sinusoid(request.amplitude, request.period, axis)
        });
        srv::BeginSinusoid::Response { success, message }
    })
}

const NO_AXIS: &str = "an axis must be 0 (x), 1 (y) or 2 (z)";

fn axis(number: u8) -> Option<Axis> {
    [Axis::X, Axis::Y, Axis::Z].get(usize::from(number)).copied()
}

pub(super) fn raw_pose(pose: &geometry_msgs::msg::Pose) -> RawPose {
    let (position, quaternion) = pose.parts();
    RawPose { position, quaternion }
}

//! States, modes, motions, hardware, parameters: a service for each command (PlatformCtrl guide, 6.3).

use dragoman_geometry::{Point, Pose, Twist};
use dragoman_neobotix::codes::Code;
use dragoman_neobotix::parameters::{
    Declaration, ParameterError, Parameters, Value, declaration, declarations,
};
use dragoman_neobotix::wire::CommandKind::{self, *};
use dragoman_ros::dragoman_msgs::msg::PlatformParameter;
use dragoman_ros::dragoman_msgs::srv::{
    PlatformGetParameter, PlatformGetParameters, PlatformGetPosition, PlatformGetStatus, PlatformMouseMove,
    PlatformMovePath, PlatformMoveToPose, PlatformMoveToStation, PlatformMoveVelocity, PlatformMoveWheels,
    PlatformSetBrake, PlatformSetDigitalOutput, PlatformSetMode, PlatformSetParameter, PlatformSetPose,
    PlatformStartUltrasonic,
};
use dragoman_ros::geometry_msgs::msg::Pose2D;
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Response, WrappedServiceTypeSupport};
use dragoman_text::excerpt;

use super::PlatformParameters;
use super::state::{NodeState, Refused, Shared};
use super::{parameters, status};
use crate::controller::{Board, Command, Motor, Refusal};

/// Serves a command without data in its response.
pub(super) fn serve_order<S>(
    tasks: &mut NodeTasks,
    shared: &Shared,
    service: impl AsRef<str>,
    mut act: impl FnMut(&mut NodeState, S::Request) -> Result<(), Refused> + Send + 'static,
) -> dragoman_ros::Result<()>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send,
    S::Response: Response,
{
    let shared = shared.clone();
    tasks.serve::<S>(service.as_ref(), move |request| {
        S::Response::from_result(shared.ask(|state| act(state, request)))
    })
}

/// Serves a command with data in its response.
pub(super) fn serve_question<S>(
    tasks: &mut NodeTasks,
    shared: &Shared,
    service: impl AsRef<str>,
    mut answer: impl FnMut(&mut NodeState, S::Request) -> Result<S::Response, Refused> + Send + 'static,
) -> dragoman_ros::Result<()>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send,
    S::Response: Response,
{
    let shared = shared.clone();
    tasks.serve::<S>(service.as_ref(), move |request| match shared.ask(|state| answer(state, request)) {
        Ok(response) => response.succeeded(),
        Err(refused) => S::Response::refused(refused),
    })
}

/// Commands without arguments.
const ORDERS: [(CommandKind, Command); 11] = [
    (ConnectToPltf, Command::Connect),
    (ShutdownPltf, Command::Shutdown),
    (InitPltf, Command::Initialize),
    (StopUltrasonic, Command::StopUltrasonic),
    (Start, Command::Start),
    (Break, Command::Break),
    (Continue, Command::Continue),
    (Stop, Command::Stop),
    (MappingStart, Command::StartMapping),
    (MappingReset, Command::ResetMapping),
    // Only the platform is shut down, not the node.
    (Exit, Command::Shutdown),
];

/// Commands without effect, as on the original.
const WITHOUT_EFFECT: [CommandKind; 2] = [SetLogEnabled, SetPostProcessFilename];
/// Commands that are free for debugging: user events of these names for the running program, so that a client of the
/// protocol can raise some. Without a program they have no effect.
const EVENTS: [CommandKind; 4] = [Debug1, Debug2, Debug3, Debug4];

pub(super) fn serve(tasks: &mut NodeTasks, shared: &Shared) -> dragoman_ros::Result<()> {
    for (service, command) in ORDERS {
        serve_order::<Trigger::Service>(tasks, shared, service, move |state, _| {
            state.order(command.clone())
        })?;
    }
    for service in WITHOUT_EFFECT {
        serve_order::<Trigger::Service>(tasks, shared, service, |_, _| Ok(()))?;
    }
    for event in EVENTS {
        serve_order::<Trigger::Service>(tasks, shared, event, move |state, _| {
            // Not refused, because clients may use them for other purposes.
            let _ = state.raise_user_event(event.service().to_owned());
            Ok(())
        })?;
    }
    serve_hardware(tasks, shared)?;
    serve_motions(tasks, shared)?;
    serve_parameters(tasks, shared)?;
    serve_question::<PlatformGetStatus::Service>(tasks, shared, GetStatus, |state, _| {
        let frame = &state.parameters.read().map_frame;
        Ok(PlatformGetStatus::Response { status: status::message(state, frame), ..Default::default() })
    })?;
    serve_question::<PlatformGetPosition::Service>(tasks, shared, GetPosition, |state, _| {
        let status = state.platform.status();
        let mut response =
            PlatformGetPosition::Response { pose: status::pose2d(status.pose), ..Default::default() };
        let measured = state.inputs.odometry.as_ref().filter(|_| state.base_alive());
        if let Some((_, odometry)) = measured {
            response.twist = odometry.twist.twist.clone();
        }
        Ok(response)
    })
}

fn serve_hardware(tasks: &mut NodeTasks, shared: &Shared) -> dragoman_ros::Result<()> {
    serve_order::<PlatformSetBrake::Service>(tasks, shared, SetBrake, |state, request| {
        let other = request.motor;
        let motor = Motor::from_code(other.into())
            .ok_or_else(|| Refused(format!("there is no motor {other}; use 1: right, 2: left")))?;
        Ok(state.platform.command(Command::SetBrake { motor, applied: !request.disabled })?)
    })?;
    serve_order::<PlatformSetDigitalOutput::Service>(tasks, shared, SetDigout, |state, request| {
        let other = request.board;
        let board = Board::from_code(other.into())
            .ok_or_else(|| Refused(format!("there is no board {other}; use 0: IO, 1: relays")))?;
        let (channel, high) = (request.channel, request.high);
        Ok(state.platform.command(Command::SetDigitalOutput { board, channel, high })?)
    })?;
    serve_order::<PlatformStartUltrasonic::Service>(tasks, shared, StartUltrasonic, |state, request| {
        let channels = u16::try_from(request.channel).map_err(|_| {
            Refused(format!("{} is not a set of 16 channels; use 0 to 65535", request.channel))
        })?;
        Ok(state.platform.command(Command::StartUltrasonic { channels })?)
    })
}

fn serve_motions(tasks: &mut NodeTasks, shared: &Shared) -> dragoman_ros::Result<()> {
    serve_order::<PlatformSetMode::Service>(tasks, shared, SetMode, |state, request| {
        state.order(Command::set_mode(request.mode.into())?)
    })?;
    serve_order::<PlatformMoveToPose::Service>(tasks, shared, MoveAbs, |state, request| {
        state.order(Command::MoveAbsolute(pose(&request.pose)))
    })?;
    serve_order::<PlatformMoveToPose::Service>(tasks, shared, MoveRel, |state, request| {
        state.order(Command::MoveRelative(pose(&request.pose)))
    })?;
    serve_order::<PlatformMovePath::Service>(tasks, shared, MovePath, |state, request| {
        state.order(Command::MovePath(request.poses.iter().map(pose).collect()))
    })?;
    serve_order::<PlatformMoveToStation::Service>(tasks, shared, MoveToStation, |state, request| {
        state.order(Command::MoveToStation(request.station))
    })?;
    serve_order::<PlatformMoveVelocity::Service>(tasks, shared, MoveVel, |state, request| {
        let PlatformMoveVelocity::Request { translation, rotation, lateral } = request;
        // As a topic of any base in ROS, `cmd_vel` may have components that the drives do not have.
        let is_sideways = lateral.is_finite() && lateral != 0.0;
        if is_sideways && !state.platform.settings().drives().is_omnidirectional() {
            return Err(Refusal::Sideways.into());
        }
        state.order(Command::Move(Twist::planar(translation, lateral, rotation)))
    })?;
    serve_order::<PlatformMoveWheels::Service>(tasks, shared, MoveVelWheel, |state, request| {
        state.order(Command::MoveWheels { right: request.right, left: request.left })
    })?;
    serve_order::<PlatformSetPose::Service>(tasks, shared, SetFrmPltf, |state, request| {
        state.order(Command::SetPose(pose(&request.pose)))
    })?;
    serve_order::<PlatformMouseMove::Service>(tasks, shared, MouseMove, |state, request| {
        let place = request.present.then(|| Point::new(request.x, request.y));
        state.order(Command::PlaceObstacle(place))
    })
}

fn serve_parameters(tasks: &mut NodeTasks, shared: &Shared) -> dragoman_ros::Result<()> {
    serve_order::<PlatformSetParameter::Service>(tasks, shared, SetPltfParam, |state, request| {
        set_parameter(state, &request.key, &request.value)
    })?;
    serve_question::<PlatformGetParameter::Service>(tasks, shared, GetPltfParam, |state, request| {
        let known =
            declaration(&request.key).map(|declared| parameter(declared, &state.parameters.read().guide.0));
        let kept = || state.kept.get(&request.key).map(parameters::kept_parameter);
        let unknown = || ParameterError::Unknown { key: request.key.clone() };
        let parameter = known.or_else(kept).ok_or_else(unknown)?;
        Ok(PlatformGetParameter::Response { parameter, ..Default::default() })
    })?;
    serve_question::<PlatformGetParameters::Service>(tasks, shared, GetPltfParamVec, |state, _| {
        let values = state.parameters.read();
        let known = declarations().iter().map(|declared| parameter(declared, &values.guide.0));
        let all = known.chain(state.kept.values().map(parameters::kept_parameter)).collect();
        Ok(PlatformGetParameters::Response { parameters: all, ..Default::default() })
    })
}

/// Sets a parameter of the guide, in the controller and in ROS.
pub(super) fn set_parameter(state: &mut NodeState, key: &str, value: &str) -> Result<(), Refused> {
    if state.kept.contains_key(key) {
        let key = excerpt(key);
        return Err(Refused(format!(
            "parameter '{key}' is kept from a file: it has no effect, and cannot be set"
        )));
    }
    let mut values = PlatformParameters::clone(&state.parameters.read());
    let value = values.guide.0.set(key, value)?;
    // The controller first: it may refuse a value that ROS accepts.
    state.set_settings(values.settings())?;
    let key = declaration(key).map_or(key, |declared| declared.key);
    state.parameters.set(vec![(key.to_owned(), parameters::ros_value(value))]).map_err(Refused)
}

fn parameter(declared: &Declaration, parameters: &Parameters) -> PlatformParameter {
    PlatformParameter {
        key: declared.key.to_owned(),
        value: parameters.value(declared.key).unwrap_or(Value::Integer(0)).to_string(),
        type_: declared.kind().code().into(),
        category: declared.category.code().into(),
        minimum: declared.minimum,
        maximum: declared.maximum,
    }
}

fn pose(message: &Pose2D) -> Pose {
    Pose::new(message.x, message.y, message.theta)
}

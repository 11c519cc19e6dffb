//! Requests to the world's services as [`Request`]s: what the client side offers to ROS.

use dragoman_ros::dragoman_msgs::msg::LandMark;
use dragoman_ros::dragoman_msgs::srv;
use dragoman_ros::{Node, QosProfile, Result, ServiceRequest, WrappedServiceTypeSupport, geometry_msgs};
use futures::stream::{BoxStream, SelectAll, StreamExt};

use crate::apolo::Outcome;
use crate::apolo::wire::{Command, Request};

/// A request of a ROS client, and how to answer it.
pub(super) struct Asked {
    /// The call.
    pub(super) request: Request,
    /// Answers with the outcome.
    pub(super) respond: Box<dyn FnOnce(Outcome) + Send>,
}

/// The fields at the beginning of all answers.
struct Head {
    success: bool,
    message: String,
    found: bool,
}

/// A service without a protocol command of its own.
const PLACE_XYZ: &str = "place_xyz";

/// Offers a service: converts the fields of a request to a call, and the outcome to the fields of the answer after its
/// head.
macro_rules! offer {
    ($all:ident, $node:ident, $name:expr, $service:ident, |$request:ident| $call:expr, |$outcome:ident| { $($field:ident: $value:expr),* }) => {
        $all.push(service::<srv::$service::Service>(
            $node,
            $name,
            |$request| $call,
            |head, $outcome| {
                let Head { success, message, found } = head;
                srv::$service::Response { success, message, found, $($field: $value),* }
            },
        )?)
    };
}

/// Offers all services of a world in the namespace of `node`.
pub(super) fn offer(node: &mut Node) -> Result<SelectAll<BoxStream<'static, Asked>>> {
    let mut all = SelectAll::new();
    let name = Command::service;
    offer!(all, node, name(Command::CheckRobotJoints), CheckRobotJoints,
        |r| Request::CheckRobotJoints { world: r.world, robot: r.robot, values: r.values },
        |outcome| { collision: verdict(&outcome) });
    offer!(all, node, name(Command::GetAllultrasonicSensors), GetAllultrasonicSensors,
        |r| Request::GetAllultrasonicSensors { world: r.world, robot: r.robot },
        |outcome| { ranges: values(outcome) });
    offer!(all, node, name(Command::GetLaserData), GetLaserData,
        |r| Request::GetLaserData { world: r.world, laser: r.laser },
        |outcome| { ranges: values(outcome) });
    offer!(all, node, name(Command::GetLaserLandMarks), GetLaserLandMarks,
        |r| Request::GetLaserLandMarks { world: r.world, laser: r.laser },
        |outcome| { land_marks: land_marks(outcome) });
    offer!(all, node, name(Command::GetLocation), GetLocation,
        |r| Request::GetLocation { world: r.world, object: r.object },
        |outcome| { position: point(first(&outcome)), rpy: rpy(&outcome) });
    offer!(all, node, name(Command::GetLocationMRobot), GetLocationMRobot,
        |r| Request::GetLocationMRobot { world: r.world, robot: r.robot },
        |outcome| { position: point(first(&outcome)), yaw: first::<4>(&outcome)[3] });
    offer!(all, node, name(Command::GetOdometry), GetOdometry,
        |r| Request::GetOdometry { world: r.world, robot: r.robot },
        |outcome| { x: first::<3>(&outcome)[0], y: first::<3>(&outcome)[1], yaw: first::<3>(&outcome)[2] });
    offer!(all, node, name(Command::GetUltrasonicSensor), GetUltrasonicSensor,
        |r| Request::GetUltrasonicSensor { world: r.world, sensor: r.sensor },
        |outcome| { range: first::<1>(&outcome)[0] });
    offer!(
        all,
        node,
        name(Command::LinkToRobotTcp),
        LinkToRobotTcp,
        |r| Request::LinkToRobotTcp { world: r.world, robot: r.robot, object: r.object },
        |_outcome| {}
    );
    offer!(all, node, name(Command::MoveMRobot), MoveMRobot,
        |r| Request::MoveMRobot {
            world: r.world,
            robot: r.robot,
            speed: r.speed,
            rotation_speed: r.rotation_speed,
            duration: r.duration,
        },
        |outcome| { moved: verdict(&outcome) });
    offer!(
        all,
        node,
        name(Command::Place),
        Place,
        |r| Request::Place {
            world: r.world,
            object: r.object,
            position: array(&r.position),
            rpy: [r.rpy.x, r.rpy.y, r.rpy.z],
        },
        |_outcome| {}
    );
    offer!(
        all,
        node,
        PLACE_XYZ,
        PlaceXyz,
        |r| Request::Place { world: r.world, object: r.object, position: array(&r.position), rpy: [0.0; 3] },
        |_outcome| {}
    );
    offer!(all, node, name(Command::PlaceMRobot), PlaceMRobot,
        |r| Request::PlaceMRobot { world: r.world, robot: r.robot, position: array(&r.position), yaw: r.yaw },
        |outcome| { placed: verdict(&outcome) });
    offer!(
        all,
        node,
        name(Command::ResetOdometry),
        ResetOdometry,
        |r| Request::ResetOdometry { world: r.world, robot: r.robot, x: r.x, y: r.y, yaw: r.yaw },
        |_outcome| {}
    );
    offer!(
        all,
        node,
        name(Command::SetRobotJoints),
        SetRobotJoints,
        |r| Request::SetRobotJoints { world: r.world, robot: r.robot, values: r.values },
        |_outcome| {}
    );
    offer!(
        all,
        node,
        name(Command::Update),
        UpdateWorld,
        |r| Request::Update { world: r.world },
        |_outcome| {}
    );
    Ok(all)
}

fn service<S>(
    node: &mut Node,
    name: &'static str,
    call: fn(S::Request) -> Request,
    response: fn(Head, Outcome) -> S::Response,
) -> Result<BoxStream<'static, Asked>>
where
    S: WrappedServiceTypeSupport + 'static,
    ServiceRequest<S>: Send,
{
    let requests = node.create_service::<S>(name, QosProfile::services_default())?;
    Ok(requests
        .map(move |request| Asked {
            request: call(request.message.clone()),
            respond: Box::new(move |outcome| {
                if let Err(error) = request.respond(response(head(&outcome), outcome)) {
                    tracing::warn!(%error, service = name, "sending a response failed");
                }
            }),
        })
        .boxed())
}

fn head(outcome: &Outcome) -> Head {
    match outcome {
        Outcome::Refused(refusal) => {
            Head { success: false, message: refusal.to_string(), found: refusal.is_of_known_name() }
        }
        _ => Head { success: true, message: String::new(), found: true },
    }
}

fn verdict(outcome: &Outcome) -> bool {
    *outcome == Outcome::Verdict(true)
}

fn values(outcome: Outcome) -> Vec<f64> {
    if let Outcome::Values(values) = outcome { values } else { Vec::new() }
}

/// The first values of the outcome; zeros if it has none.
fn first<const COUNT: usize>(outcome: &Outcome) -> [f64; COUNT] {
    match outcome {
        Outcome::Values(values) => values.first_chunk().copied().unwrap_or([0.0; COUNT]),
        _ => [0.0; COUNT],
    }
}

fn rpy(outcome: &Outcome) -> geometry_msgs::msg::Vector3 {
    let [_, _, _, x, y, z] = first(outcome);
    geometry_msgs::msg::Vector3 { x, y, z }
}

fn land_marks(outcome: Outcome) -> Vec<LandMark> {
    match outcome {
        Outcome::LandMarks(marks) => marks
            .into_iter()
            .map(|mark| LandMark { id: mark.id, angle: mark.angle, distance: mark.distance })
            .collect(),
        _ => Vec::new(),
    }
}

pub(super) fn point([x, y, z]: [f64; 3]) -> geometry_msgs::msg::Point {
    geometry_msgs::msg::Point { x, y, z }
}

fn array(point: &geometry_msgs::msg::Point) -> [f64; 3] {
    [point.x, point.y, point.z]
}

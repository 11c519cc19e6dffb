//! [`Request`]s as requests to the world's services.

use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::dragoman_msgs::srv;
use dragoman_ros::{Client, Node, QosProfile, Result, WrappedServiceTypeSupport, geometry_msgs};
use futures::future::{BoxFuture, FutureExt};
use tokio::sync::Semaphore;

use super::services::point;
use crate::apolo::wire::{Command, LandMark, Request};
use crate::apolo::{Connection, Outcome, Refusal, ServerConfig};
use crate::tcp::server::Services;

/// Maximum number of open requests to one service. A service queues ten (its quality of service) and then drops the
/// oldest; this limit leaves some room for other ROS nodes.
const MAX_OPEN: usize = 8;

/// One service, and how many more requests may be sent now.
struct Endpoint<S: WrappedServiceTypeSupport> {
    client: Client<S>,
    free: Semaphore,
}

impl<S: WrappedServiceTypeSupport + 'static> Endpoint<S> {
    fn new(node: &mut Node, command: Command) -> Result<Self> {
        let client = node.create_client(command.service(), QosProfile::services_default())?;
        Ok(Self { client, free: Semaphore::new(MAX_OPEN) })
    }

    async fn ask(&self, request: S::Request) -> std::result::Result<S::Response, Refusal> {
        let rejected = |error: &dyn std::fmt::Display| Refusal::Rejected(error.to_string());
        let _permit = self.free.acquire().await.map_err(|error| rejected(&error))?;
        let answer = self.client.request(&request).map_err(|error| rejected(&error))?;
        answer.await.map_err(|error| rejected(&error))
    }
}

/// Clients of all services of a world.
pub(super) struct WorldClients {
    timeout: Duration,
    config: ServerConfig,
    check_robot_joints: Endpoint<srv::CheckRobotJoints::Service>,
    get_allultrasonic_sensors: Endpoint<srv::GetAllultrasonicSensors::Service>,
    get_laser_data: Endpoint<srv::GetLaserData::Service>,
    get_laser_land_marks: Endpoint<srv::GetLaserLandMarks::Service>,
    get_location: Endpoint<srv::GetLocation::Service>,
    get_location_m_robot: Endpoint<srv::GetLocationMRobot::Service>,
    get_odometry: Endpoint<srv::GetOdometry::Service>,
    get_ultrasonic_sensor: Endpoint<srv::GetUltrasonicSensor::Service>,
    link_to_robot_tcp: Endpoint<srv::LinkToRobotTcp::Service>,
    move_m_robot: Endpoint<srv::MoveMRobot::Service>,
    place: Endpoint<srv::Place::Service>,
    place_m_robot: Endpoint<srv::PlaceMRobot::Service>,
    reset_odometry: Endpoint<srv::ResetOdometry::Service>,
    set_robot_joints: Endpoint<srv::SetRobotJoints::Service>,
    update: Endpoint<srv::UpdateWorld::Service>,
}

/// Calls a service; the expression is the outcome of a successful response.
macro_rules! ask {
    ($endpoint:expr, $request:expr, $response:ident => $outcome:expr) => {
        match $endpoint.ask($request).await {
            Ok($response) if $response.success => $outcome,
            Ok(refused) if !refused.found => Outcome::Refused(Refusal::UnknownName(refused.message)),
            Ok(refused) => Outcome::Refused(Refusal::Rejected(refused.message)),
            Err(refusal) => Outcome::Refused(refusal),
        }
    };
}

impl WorldClients {
    /// Creates the clients in the namespace of `node`.
    pub(super) fn new(node: &mut Node, timeout: Duration, config: ServerConfig) -> Result<Self> {
        Ok(Self {
            timeout,
            config,
            check_robot_joints: Endpoint::new(node, Command::CheckRobotJoints)?,
            get_allultrasonic_sensors: Endpoint::new(node, Command::GetAllultrasonicSensors)?,
            get_laser_data: Endpoint::new(node, Command::GetLaserData)?,
            get_laser_land_marks: Endpoint::new(node, Command::GetLaserLandMarks)?,
            get_location: Endpoint::new(node, Command::GetLocation)?,
            get_location_m_robot: Endpoint::new(node, Command::GetLocationMRobot)?,
            get_odometry: Endpoint::new(node, Command::GetOdometry)?,
            get_ultrasonic_sensor: Endpoint::new(node, Command::GetUltrasonicSensor)?,
            link_to_robot_tcp: Endpoint::new(node, Command::LinkToRobotTcp)?,
            move_m_robot: Endpoint::new(node, Command::MoveMRobot)?,
            place: Endpoint::new(node, Command::Place)?,
            place_m_robot: Endpoint::new(node, Command::PlaceMRobot)?,
            reset_odometry: Endpoint::new(node, Command::ResetOdometry)?,
            set_robot_joints: Endpoint::new(node, Command::SetRobotJoints)?,
            update: Endpoint::new(node, Command::Update)?,
        })
    }

    async fn ask(&self, request: Request) -> Outcome {
        match request {
            Request::CheckRobotJoints { world, robot, values } => {
                let request = srv::CheckRobotJoints::Request { world, robot, values };
                ask!(self.check_robot_joints, request, response => Outcome::Verdict(response.collision))
            }
            Request::GetAllultrasonicSensors { world, robot } => {
                let request = srv::GetAllultrasonicSensors::Request { world, robot };
                ask!(self.get_allultrasonic_sensors, request, response => Outcome::Values(response.ranges))
            }
            Request::GetLaserData { world, laser } => {
                let request = srv::GetLaserData::Request { world, laser };
                ask!(self.get_laser_data, request, response => Outcome::Values(response.ranges))
            }
            Request::GetLaserLandMarks { world, laser } => {
                let request = srv::GetLaserLandMarks::Request { world, laser };
                ask!(self.get_laser_land_marks, request, response => {
                    let marks = response.land_marks.into_iter();
                    Outcome::LandMarks(
                        marks.map(|m| LandMark { id: m.id, angle: m.angle, distance: m.distance }).collect(),
                    )
                })
            }
            Request::GetLocation { world, object } => {
                let request = srv::GetLocation::Request { world, object };
                ask!(self.get_location, request, response => {
                    let (p, rpy) = (response.position, response.rpy);
                    Outcome::Values(vec![p.x, p.y, p.z, rpy.x, rpy.y, rpy.z])
                })
            }
            Request::GetLocationMRobot { world, robot } => {
                let request = srv::GetLocationMRobot::Request { world, robot };
                ask!(self.get_location_m_robot, request, response => {
                    let p = response.position;
                    Outcome::Values(vec![p.x, p.y, p.z, response.yaw])
                })
            }
            Request::GetOdometry { world, robot } => {
                let request = srv::GetOdometry::Request { world, robot };
                ask!(self.get_odometry, request, response => {
                    Outcome::Values(vec![response.x, response.y, response.yaw])
                })
            }
            Request::GetUltrasonicSensor { world, sensor } => {
                let request = srv::GetUltrasonicSensor::Request { world, sensor };
                ask!(self.get_ultrasonic_sensor, request, response => Outcome::Values(vec![response.range]))
            }
            Request::LinkToRobotTcp { world, robot, object } => {
                let request = srv::LinkToRobotTcp::Request { world, robot, object };
                ask!(self.link_to_robot_tcp, request, _response => Outcome::Done)
            }
            Request::MoveMRobot { world, robot, speed, rotation_speed, duration } => {
                let request = srv::MoveMRobot::Request { world, robot, speed, rotation_speed, duration };
                ask!(self.move_m_robot, request, response => Outcome::Verdict(response.moved))
            }
            Request::Place { world, object, position, rpy: [x, y, z] } => {
                let rpy = geometry_msgs::msg::Vector3 { x, y, z };
                let request = srv::Place::Request { world, object, position: point(position), rpy };
                ask!(self.place, request, _response => Outcome::Done)
            }
            Request::PlaceMRobot { world, robot, position, yaw } => {
                let request = srv::PlaceMRobot::Request { world, robot, position: point(position), yaw };
                ask!(self.place_m_robot, request, response => Outcome::Verdict(response.placed))
            }
            Request::ResetOdometry { world, robot, x, y, yaw } => {
                let request = srv::ResetOdometry::Request { world, robot, x, y, yaw };
                ask!(self.reset_odometry, request, _response => Outcome::Done)
            }
            Request::SetRobotJoints { world, robot, values } => {
                let request = srv::SetRobotJoints::Request { world, robot, values };
                ask!(self.set_robot_joints, request, _response => Outcome::Done)
            }
            Request::Update { world } => {
                ask!(self.update, srv::UpdateWorld::Request { world }, _response => Outcome::Done)
            }
        }
    }
}

impl Services for WorldClients {
    type Session = Connection;
    type Kind = ();

    const PROTOCOL: &'static str = "Apolo's protocol";
    const READ_LEN: usize = 4096;
    // The service keeps the request in its queue until it answers, so its slot stays occupied until then.
    const AWAITS_CALLS_OF_LOST_CLIENTS: bool = true;

    fn session(&self) -> Connection {
        Connection::new(self.config.clone())
    }

    fn timeout(&self) -> Duration {
        self.timeout
    }

    fn kind(_request: &Request) {}

    fn call(self: &Arc<Self>, request: Request) -> BoxFuture<'static, Outcome> {
        let world = Arc::clone(self);
        async move { world.ask(request).await }.boxed()
    }

    fn timed_out(&self, _request: ()) -> Outcome {
        let reason = format!("the world's service did not answer within {:?}", self.timeout);
        Outcome::Refused(Refusal::Rejected(reason))
    }
}

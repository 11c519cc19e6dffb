//! `simulation` from the services of a world.

use dragoman_ros::{dragoman_msgs, geometry_msgs, std_srvs};
use serde::Deserialize;

use super::driver::{Answer, Driver, Feed, Opened, Service, Setup, below, done, refused};
use crate::BridgeError;
use crate::player::wire::common::{Orientation3d, Point3d, Pose2d, Pose3d};
use crate::player::wire::simulation::{
    GET_POSE2D, GET_POSE3D, NamedPose2d, NamedPose3d, PAUSE, RESET, SET_POSE2D, SET_POSE3D,
};
use crate::player::wire::{Device, Xdr};

/// The ROS names of a simulated world.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    /// Namespace of `get_location` and `place`.
    world: String,
    /// Namespace of `start`, `pause` and `reset`; without it, the commands are refused.
    #[serde(default)]
    control: Option<String>,
}

struct World {
    location: Service<dragoman_msgs::srv::GetLocation::Service>,
    place: Service<dragoman_msgs::srv::Place::Service>,
    control: Option<Control>,
}

struct Control {
    start: Service<std_srvs::srv::Trigger::Service>,
    pause: Service<std_srvs::srv::Trigger::Service>,
    reset: Service<std_srvs::srv::Trigger::Service>,
    is_paused: bool,
}

pub(super) fn open(names: &Names, device: Device, setup: &Setup, _feed: Feed) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let control = match &names.control {
        Some(namespace) => Some(Control {
            start: Service::new(&mut tasks, &below(namespace, "start"))?,
            pause: Service::new(&mut tasks, &below(namespace, "pause"))?,
            reset: Service::new(&mut tasks, &below(namespace, "reset"))?,
            is_paused: false,
        }),
        None => None,
    };
    let location = Service::new(&mut tasks, &below(&names.world, "get_location"))?;
    let place = Service::new(&mut tasks, &below(&names.world, "place"))?;
    // Without a subscription or a timer it would end at once.
    tasks.spawn(std::future::pending());
    Ok(Opened::new(World { location, place, control }, tasks)?)
}

impl World {
    fn ask(&self, object: String, answer: impl FnOnce(String, Pose3d) -> Vec<u8> + Send + 'static) -> Answer {
        let request =
            dragoman_msgs::srv::GetLocation::Request { world: String::new(), object: object.clone() };
        self.location.ask(request, move |response| {
            if !response.success {
                return Err(response.message);
            }
            let (p, rpy) = (response.position, response.rpy);
            let position = Point3d { x: p.x, y: p.y, z: p.z };
            let orientation = Orientation3d { roll: rpy.x, pitch: rpy.y, yaw: rpy.z };
            Ok(answer(object, Pose3d { position, orientation }))
        })
    }

    /// Puts an object to a pose.
    fn put(&self, object: String, pose: &Pose3d) -> Answer {
        let Pose3d { position, orientation } = pose;
        let request = dragoman_msgs::srv::Place::Request {
            world: String::new(),
            object,
            position: geometry_msgs::msg::Point { x: position.x, y: position.y, z: position.z },
            rpy: geometry_msgs::msg::Vector3 {
                x: orientation.roll,
                y: orientation.pitch,
                z: orientation.yaw,
            },
        };
        self.place.ask(request, |response| done(response.success, response.message))
    }
}

impl Driver for World {
    fn handle_command(&mut self, subtype: u8, _body: &[u8]) -> Result<(), String> {
        let control = self.control.as_mut().ok_or("the table names no control of this simulation")?;
        let answer = match subtype {
            subtype if subtype == PAUSE.subtype => {
                control.is_paused = !control.is_paused;
                if control.is_paused { control.pause.trigger() } else { control.start.trigger() }
            }
            subtype if subtype == RESET.subtype => control.reset.trigger(),
            _ => return Err("a world in ROS is not saved".to_owned()),
        };
        tokio::spawn(async move {
            if let Err(reason) = answer.await {
                tracing::warn!(reason, "a command to the simulation failed");
            }
        });
        Ok(())
    }

    fn handle_request(&mut self, subtype: u8, body: &[u8]) -> Answer {
        match self.request(subtype, body) {
            Ok(answer) => answer,
            Err(reason) => refused(reason),
        }
    }
}

impl World {
    fn request(&self, subtype: u8, body: &[u8]) -> Result<Answer, String> {
        let wrong = |error: crate::player::wire::XdrError| error.to_string();
        Ok(match subtype {
            subtype if subtype == GET_POSE2D.subtype => {
                let NamedPose2d { name, .. } = GET_POSE2D.question(body).map_err(wrong)?;
                self.ask(name, |name, pose| {
                    let Pose3d { position: Point3d { x, y, .. }, orientation: Orientation3d { yaw, .. } } =
                        pose;
                    NamedPose2d { name, pose: Pose2d { x, y, yaw } }.to_bytes()
                })
            }
            subtype if subtype == GET_POSE3D.subtype => {
                let NamedPose3d { name, .. } = GET_POSE3D.question(body).map_err(wrong)?;
                let time = super::now().as_secs_f64() * 1e6;
                self.ask(name, move |name, pose| NamedPose3d { name, pose, time }.to_bytes())
            }
            subtype if subtype == SET_POSE2D.subtype => {
                let NamedPose2d { name, pose: Pose2d { x, y, yaw } } =
                    SET_POSE2D.question(body).map_err(wrong)?;
                let position = Point3d { x, y, z: 0.0 };
                let orientation = Orientation3d { yaw, ..Orientation3d::default() };
                self.put(name, &Pose3d { position, orientation })
            }
            subtype if subtype == SET_POSE3D.subtype => {
                let NamedPose3d { name, pose, .. } = SET_POSE3D.question(body).map_err(wrong)?;
                self.put(name, &pose)
            }
            _ => return Err("objects of this world have no properties".to_owned()),
        })
    }
}

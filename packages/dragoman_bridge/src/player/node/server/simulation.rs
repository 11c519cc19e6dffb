//! `simulation` from the services of a world.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, dragoman_msgs, geometry_msgs, std_msgs, std_srvs};
use serde::Deserialize;
use tokio::sync::mpsc;

use super::driver::{Answer, Driver, Feed, Opened, Service, Setup, below, carried_out, done};
use crate::BridgeError;
use crate::player::wire::common::{Orientation3d, Point3d, Pose2d, Pose3d};
use crate::player::wire::simulation::{
    GET_POSE2D, GET_POSE3D, GET_PROPERTY, NamedPose2d, NamedPose3d, PAUSE, RESET, SAVE, SET_POSE2D,
    SET_POSE3D, SET_PROPERTY,
};
use crate::player::wire::{Device, Kind, Xdr};

/// Most commands that wait.
const MAX_ORDERS: usize = 16;

/// The ROS names of a simulated world.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    /// Namespace of `get_location` and `place`.
    world: String,
    /// Namespace of `start`, `pause`, `reset` and `state`; without it, the commands are refused.
    #[serde(default)]
    control: Option<String>,
    /// Objects of the world, each with further names; they compare without regard to case and blanks.
    #[serde(default)]
    names: BTreeMap<String, Vec<String>>,
}

impl Names {
    /// Further names by their [`key`].
    fn further(&self) -> BTreeMap<String, String> {
        let names = |(object, names): (&String, &Vec<String>)| {
            names.iter().map(|name| (key(name), object.clone())).collect::<Vec<_>>()
        };
        self.names.iter().flat_map(names).collect()
    }
}

/// A name as the world compares names.
fn key(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_lowercase).collect()
}

struct World {
    /// Further names of objects, by their [`key`].
    names: BTreeMap<String, String>,
    location: Service<dragoman_msgs::srv::GetLocation::Service>,
    place: Service<dragoman_msgs::srv::Place::Service>,
    /// To [`Control`]; `None` without one.
    orders: Option<mpsc::Sender<Order>>,
}

/// A command to the simulation.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// Pause, or go on.
    Pause,
    Reset,
}

/// Carries out one command after the other.
struct Control {
    start: Service<std_srvs::srv::Trigger::Service>,
    pause: Service<std_srvs::srv::Trigger::Service>,
    reset: Service<std_srvs::srv::Trigger::Service>,
    is_running: Arc<AtomicBool>,
}

pub(super) fn open(names: &Names, device: Device, setup: &Setup, _feed: Feed) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let orders = match &names.control {
        Some(namespace) => Some(Control::start(&mut tasks, namespace)?),
        None => None,
    };
    let location = Service::new(&mut tasks, &below(&names.world, "get_location"))?;
    let place = Service::new(&mut tasks, &below(&names.world, "place"))?;
    // Without a subscription or a timer it would end at once.
    tasks.spawn(std::future::pending());
    Ok(Opened::new(World { names: names.further(), location, place, orders }, tasks)?)
}

impl Control {
    fn start(tasks: &mut NodeTasks, namespace: &str) -> dragoman_ros::Result<mpsc::Sender<Order>> {
        let is_running = Arc::new(AtomicBool::new(true));
        let known = Arc::clone(&is_running);
        let latched = QosProfile::default().keep_last(1).transient_local();
        tasks.subscribe(&below(namespace, "state"), latched, move |state: std_msgs::msg::String| {
            known.store(state.data == "running", Ordering::Relaxed);
        })?;
        let control = Self {
            start: Service::new(tasks, &below(namespace, "start"))?,
            pause: Service::new(tasks, &below(namespace, "pause"))?,
            reset: Service::new(tasks, &below(namespace, "reset"))?,
            is_running,
        };
        let (sender, orders) = mpsc::channel(MAX_ORDERS);
        tasks.spawn(control.obey(orders));
        Ok(sender)
    }

    async fn obey(self, mut orders: mpsc::Receiver<Order>) {
        while let Some(order) = orders.recv().await {
            let is_running = self.is_running.load(Ordering::Relaxed);
            let (answer, runs) = match order {
                Order::Pause if is_running => (self.pause.trigger(), false),
                Order::Pause => (self.start.trigger(), true),
                Order::Reset => (self.reset.trigger(), is_running),
            };
            if carried_out(answer).await {
                // Known before the simulation says so.
                self.is_running.store(runs, Ordering::Relaxed);
            }
        }
    }
}

impl World {
    /// The world's name of an object.
    fn object(&self, name: &str) -> String {
        self.names.get(&key(name)).map_or_else(|| name.to_owned(), Clone::clone)
    }

    /// Asks for an object's pose; the answer has the name that the client gave.
    fn ask(&self, name: String, answer: impl FnOnce(String, Pose3d) -> Vec<u8> + Send + 'static) -> Answer {
        let object = self.object(&name);
        let request = dragoman_msgs::srv::GetLocation::Request { world: String::new(), object };
        self.location.ask(request, move |response| {
            if !response.success {
                return Err(response.message);
            }
            let (p, rpy) = (response.position, response.rpy);
            let position = Point3d { x: p.x, y: p.y, z: p.z };
            let orientation = Orientation3d { roll: rpy.x, pitch: rpy.y, yaw: rpy.z };
            Ok(answer(name, Pose3d { position, orientation }))
        })
    }

    /// Puts an object to a pose.
    fn put(&self, name: &str, pose: &Pose3d) -> Answer {
        let Pose3d { position, orientation } = pose;
        let request = dragoman_msgs::srv::Place::Request {
            world: String::new(),
            object: self.object(name),
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
        let orders = self.orders.as_ref().ok_or("the table names no control of this simulation")?;
        let order = match subtype {
            subtype if subtype == PAUSE.subtype => Order::Pause,
            subtype if subtype == RESET.subtype => Order::Reset,
            _ => return Err("a world in ROS is not saved".to_owned()),
        };
        orders.try_send(order).map_err(|_full| "too many commands at once".to_owned())?;
        Ok(())
    }

    fn handle_request(&mut self, subtype: u8, body: &[u8]) -> Result<Answer, String> {
        Ok(match subtype {
            subtype if subtype == GET_POSE2D.subtype => {
                let NamedPose2d { name, .. } = GET_POSE2D.question(body)?;
                self.ask(name, |name, pose| {
                    let Pose3d { position: Point3d { x, y, .. }, orientation: Orientation3d { yaw, .. } } =
                        pose;
                    NamedPose2d { name, pose: Pose2d { x, y, yaw } }.to_bytes()
                })
            }
            subtype if subtype == GET_POSE3D.subtype => {
                let NamedPose3d { name, .. } = GET_POSE3D.question(body)?;
                let time = super::now().as_secs_f64() * 1e6;
                self.ask(name, move |name, pose| NamedPose3d { name, pose, time }.to_bytes())
            }
            subtype if subtype == SET_POSE2D.subtype => {
                let NamedPose2d { name, pose: Pose2d { x, y, yaw } } = SET_POSE2D.question(body)?;
                let position = Point3d { x, y, z: 0.0 };
                let orientation = Orientation3d { yaw, ..Orientation3d::default() };
                self.put(&name, &Pose3d { position, orientation })
            }
            subtype if subtype == SET_POSE3D.subtype => {
                let NamedPose3d { name, pose, .. } = SET_POSE3D.question(body)?;
                self.put(&name, &pose)
            }
            _ => return Err("objects of this world have no properties".to_owned()),
        })
    }

    fn lacks(&self) -> Vec<(Kind, u8)> {
        let properties = [GET_PROPERTY.subtype, SET_PROPERTY.subtype].map(|subtype| (Kind::Request, subtype));
        let control = [PAUSE.subtype, RESET.subtype].map(|subtype| (Kind::Command, subtype));
        let control = control.into_iter().filter(|_| self.orders.is_none());
        control.chain([(Kind::Command, SAVE.subtype)]).chain(properties).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_names_compare_as_those_of_the_world() {
        let names: Names =
            serde_norway::from_str("{ world: apolo, names: { turtlebot2_widowx: [TurtleBot 2] } }").unwrap();
        let further = names.further();
        for name in ["TurtleBot 2", "turtlebot2", "TURTLEBOT2"] {
            assert_eq!(further.get(&key(name)).map(String::as_str), Some("turtlebot2_widowx"), "{name}");
        }
    }
}

//! `simulation` from the services of a world.

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{QosProfile, dragoman_msgs, geometry_msgs, std_msgs, std_srvs};
use dragoman_time::watch;
use serde::Deserialize;
use tokio::sync::mpsc;

use super::driver::{
    Driver, Feed, Opened, OutcomeFuture, Service, Setup, execute_command, other_interface, qualified_name,
    service_outcome,
};
use crate::BridgeError;
use crate::player::wire::common::{Orientation3d, Point3d, Pose2d, Pose3d};
use crate::player::wire::simulation::{
    Command, GET_PROPERTY, NamedPose2d, NamedPose3d, PAUSE, RESET, Request, SAVE, SET_PROPERTY,
};
use crate::player::wire::{self, Device, MessageKind, Xdr};

/// Maximum number of commands that wait.
const MAX_ORDERS: usize = 16;
/// Maximum delay of `state` after an answer of the simulation.
const STATE_LIMIT: Duration = Duration::from_secs(2);

/// Entry of a simulation in the device table.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SimulationConfig {
    /// Namespace of `get_location` and `place`.
    world: String,
    /// Namespace of `start`, `pause`, `reset` and `state`; without it, the commands are refused.
    #[serde(default)]
    control: Option<String>,
    /// Objects of the world, each with alternative names. Case and blanks are ignored in comparisons.
    #[serde(default)]
    names: BTreeMap<String, Vec<String>>,
}

impl SimulationConfig {
    /// Objects by the [`key`] of their alternative names.
    fn aliases(&self) -> BTreeMap<String, String> {
        let names = |(object, names): (&String, &Vec<String>)| {
            names.iter().map(|name| (key(name), object.clone())).collect::<Vec<_>>()
        };
        self.names.iter().flat_map(names).collect()
    }
}

/// A name without case and blanks, as the world compares names.
fn key(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_whitespace()).flat_map(char::to_lowercase).collect()
}

struct World {
    /// Objects by the [`key`] of their alternative names.
    aliases: BTreeMap<String, String>,
    location: Service<dragoman_msgs::srv::GetLocation::Service>,
    place: Service<dragoman_msgs::srv::Place::Service>,
    /// Commands for [`Control`]; `None` if the entry has no `control`.
    orders: Option<mpsc::Sender<Order>>,
}

/// A command to the simulation.
#[derive(Debug, Clone, Copy)]
enum Order {
    /// Pauses a running simulation, or continues a paused one.
    Pause,
    Reset,
}

/// A service of the simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trigger {
    Start,
    Pause,
    Reset,
}

/// The services that control a simulation.
struct Control {
    start: Service<std_srvs::srv::Trigger::Service>,
    pause: Service<std_srvs::srv::Trigger::Service>,
    reset: Service<std_srvs::srv::Trigger::Service>,
}

pub(super) fn open(
    config: &SimulationConfig,
    device: Device,
    setup: &Setup,
    _feed: Feed,
) -> Result<Opened, BridgeError> {
    let mut tasks = setup.node(device)?;
    let orders =
        config.control.as_ref().map(|namespace| Control::start(&mut tasks, namespace)).transpose()?;
    let location = Service::new(&mut tasks, &qualified_name(&config.world, "get_location"))?;
    let place = Service::new(&mut tasks, &qualified_name(&config.world, "place"))?;
    // The node would end at once without a subscription, a timer or a task.
    tasks.spawn(std::future::pending());
    Ok(Opened::new(World { aliases: config.aliases(), location, place, orders }, tasks)?)
}

impl Control {
    fn start(tasks: &mut NodeTasks, namespace: &str) -> dragoman_ros::Result<mpsc::Sender<Order>> {
        let (known, is_running) = watch::channel(None);
        let latched = QosProfile::default().keep_last(1).transient_local();
        tasks.subscribe(
            &qualified_name(namespace, "state"),
            latched,
            move |state: std_msgs::msg::String| {
                known.send_replace(Some(state.data == "running"));
            },
        )?;
        let control = Self {
            start: Service::new(tasks, &qualified_name(namespace, "start"))?,
            pause: Service::new(tasks, &qualified_name(namespace, "pause"))?,
            reset: Service::new(tasks, &qualified_name(namespace, "reset"))?,
        };
        let (sender, orders) = mpsc::channel(MAX_ORDERS);
        tasks.spawn(carry_out_commands(orders, is_running, move |request| control.ask(request)));
        Ok(sender)
    }

    fn ask(&self, request: Trigger) -> impl Future<Output = bool> + Send + use<> {
        execute_command(match request {
            Trigger::Start => self.start.trigger(),
            Trigger::Pause => self.pause.trigger(),
            Trigger::Reset => self.reset.trigger(),
        })
    }
}

/// Carries out the commands in order. Each command waits until `is_running` shows the effect of the previous one. An
/// answer arrives before the new state, and an old state would give the next command the wrong meaning. `ask` returns
/// whether the simulation has carried out a request.
async fn carry_out_commands<F: Future<Output = bool> + Send>(
    mut orders: mpsc::Receiver<Order>,
    mut is_running: watch::Receiver<Option<bool>>,
    ask: impl Fn(Trigger) -> F + Send,
) {
    // The state of a simulation that publishes none.
    let mut assumed = true;
    while let Some(order) = orders.recv().await {
        // The first command may arrive before the first state.
        wait_for_state(&mut is_running, |state| state.is_some()).await;
        let was_running = is_running.borrow().unwrap_or(assumed);
        let (request, runs) = match order {
            Order::Pause if was_running => (Trigger::Pause, false),
            Order::Pause => (Trigger::Start, true),
            Order::Reset => (Trigger::Reset, was_running),
        };
        if !ask(request).await {
            continue;
        }
        assumed = runs;
        if !wait_for_state(&mut is_running, |state| *state == Some(runs)).await {
            tracing::warn!(?request, "simulation state change timed out");
        }
    }
}

/// Waits until the simulation has the wanted state; `false` after [`STATE_LIMIT`].
async fn wait_for_state(
    is_running: &mut watch::Receiver<Option<bool>>,
    is_wanted: impl FnMut(&Option<bool>) -> bool,
) -> bool {
    dragoman_time::timeout(STATE_LIMIT, is_running.wait_for(is_wanted)).await.is_ok_and(|state| state.is_ok())
}

impl World {
    /// The world's name of an object.
    fn object(&self, name: &str) -> String {
        self.aliases.get(&key(name)).map_or_else(|| name.to_owned(), Clone::clone)
    }

    /// Asks for an object's pose; the answer has the name that the client gave.
    fn ask(
        &self,
        name: String,
        answer: impl FnOnce(String, Pose3d) -> Vec<u8> + Send + 'static,
    ) -> OutcomeFuture {
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

    /// Places an object at a pose.
    fn put(&self, name: &str, pose: &Pose3d) -> OutcomeFuture {
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
        self.place.ask(request, |response| service_outcome(response.success, response.message))
    }
}

impl Driver for World {
    fn handle_command(&mut self, command: wire::Command) -> Result<(), String> {
        let wire::Command::Simulation(command) = command else { return other_interface() };
        let orders = self.orders.as_ref().ok_or("the table names no control of this simulation")?;
        let order = match command {
            Command::Pause => Order::Pause,
            Command::Reset => Order::Reset,
            Command::Save => return Err("a world in ROS is not saved".to_owned()),
        };
        orders.try_send(order).map_err(|_full| "too many commands at once".to_owned())?;
        Ok(())
    }

    fn handle_request(&mut self, request: wire::Request) -> Result<OutcomeFuture, String> {
        let wire::Request::Simulation(request) = request else { return other_interface() };
        Ok(match request {
            Request::GetPose2d(NamedPose2d { name, .. }) => self.ask(name, |name, pose| {
                let (position, yaw) = (pose.position, pose.orientation.yaw);
                NamedPose2d { name, pose: Pose2d { x: position.x, y: position.y, yaw } }.to_bytes()
            }),
            Request::GetPose3d(NamedPose3d { name, .. }) => {
                let time = dragoman_time::wall_time().as_secs_f64();
                self.ask(name, move |name, pose| NamedPose3d { name, pose, time }.to_bytes())
            }
            Request::SetPose2d(NamedPose2d { name, pose }) => self.put(&name, &pose.into()),
            Request::SetPose3d(NamedPose3d { name, pose, .. }) => self.put(&name, &pose),
            Request::GetProperty(_) | Request::SetProperty(_) => {
                return Err("objects of this world have no properties".to_owned());
            }
        })
    }

    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        let mut unsupported = vec![SAVE.id(), GET_PROPERTY.id(), SET_PROPERTY.id()];
        if self.orders.is_none() {
            unsupported.extend([PAUSE.id(), RESET.id()]);
        }
        unsupported
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::*;

    /// Delay of the state after the answer.
    const LATE: Duration = Duration::from_millis(50);

    #[tokio::test]
    async fn each_pause_means_the_opposite_of_the_state_that_the_last_one_left() {
        let (known, is_running) = watch::channel(None);
        let known = Arc::new(known);
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (sender, orders) = mpsc::channel(MAX_ORDERS);
        for order in [Order::Pause, Order::Pause, Order::Reset, Order::Pause, Order::Reset, Order::Pause] {
            sender.try_send(order).unwrap();
        }
        drop(sender);
        let asked = Arc::clone(&requests);
        let first = Arc::clone(&known);
        tokio::spawn(async move {
            tokio::time::sleep(LATE).await;
            first.send_replace(Some(true));
        });
        carry_out_commands(orders, is_running, |request| {
            asked.lock().push(request);
            let known = Arc::clone(&known);
            tokio::spawn(async move {
                tokio::time::sleep(LATE).await;
                if request != Trigger::Reset {
                    known.send_replace(Some(request == Trigger::Start));
                }
            });
            std::future::ready(true)
        })
        .await;
        let expected =
            [Trigger::Pause, Trigger::Start, Trigger::Reset, Trigger::Pause, Trigger::Reset, Trigger::Start];
        assert_eq!(*requests.lock(), expected);
    }

    /// The requests for two pauses, all with this answer, while the state stays as it is.
    async fn two_pauses(state: Option<bool>, is_carried_out: bool) -> Vec<Trigger> {
        let (_known, is_running) = watch::channel(state);
        let (sender, orders) = mpsc::channel(MAX_ORDERS);
        sender.try_send(Order::Pause).unwrap();
        sender.try_send(Order::Pause).unwrap();
        drop(sender);
        let requests = Mutex::new(Vec::new());
        let ask = |request| {
            requests.lock().push(request);
            std::future::ready(is_carried_out)
        };
        carry_out_commands(orders, is_running, ask).await;
        requests.into_inner()
    }

    #[tokio::test]
    async fn without_a_state_pauses_alternate() {
        assert_eq!(two_pauses(None, true).await, [Trigger::Pause, Trigger::Start]);
    }

    #[tokio::test]
    async fn a_refused_pause_is_asked_for_again() {
        assert_eq!(two_pauses(Some(true), false).await, [Trigger::Pause, Trigger::Pause]);
    }

    #[test]
    fn aliases_are_compared_without_case_and_blanks() {
        let config: SimulationConfig =
            serde_norway::from_str("{ world: apolo, names: { turtlebot2_widowx: [TurtleBot 2] } }").unwrap();
        let aliases = config.aliases();
        for name in ["TurtleBot 2", "turtlebot2", "TURTLEBOT2"] {
            assert_eq!(aliases.get(&key(name)).map(String::as_str), Some("turtlebot2_widowx"), "{name}");
        }
    }
}

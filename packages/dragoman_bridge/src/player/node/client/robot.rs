//! The devices of a server in ROS: node `player_devices`.

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, Response, Result as RosResult, WrappedServiceTypeSupport};
use futures::channel::mpsc;
use futures::stream::StreamExt;

use super::ClientParameters;
use super::line::{Line, Order};
use super::names::{self, Names};
use super::scene::Scene;
use super::{arm, base, limb, log, navigation, ranges, small, vectormap, world};
use crate::BridgeError;
use crate::clock;
use crate::player::client::map::GridMap;
use crate::player::client::{DeviceInfo, State};
use crate::player::wire;
use crate::player::wire::{
    Data, Device, Interface, actarray, bumper, camera, gripper, imu, ir, laser, localize, map, planner,
    position2d, power, ranger, simulation, sonar,
};

/// The topics of a device.
pub(super) trait Outlet: Send {
    /// Publishes data, which was measured at `stamp`.
    fn show(&mut self, _scene: &mut Scene, _stamp: &Time, _data: Data) -> Result<(), String> {
        Ok(())
    }

    /// Publishes a map.
    fn show_map(&mut self, _scene: &mut Scene, _map: &GridMap) {}

    /// Whether the device's data has to be received: pictures that nobody looks at are not.
    fn is_wanted(&self) -> bool {
        true
    }
}

/// A device without topics.
pub(super) struct Silent;

impl Outlet for Silent {}

/// What a new outlet needs.
pub(super) struct Site<'a> {
    pub(super) tasks: &'a mut NodeTasks,
    pub(super) parameters: &'a ClientParameters,
    pub(super) line: &'a Line,
    pub(super) scene: &'a mut Scene,
    pub(super) info: &'a DeviceInfo,
    pub(super) names: &'a Names,
}

impl Site<'_> {
    /// A publisher of the device.
    pub(super) fn publisher<T: dragoman_ros::WrappedTypesupport + 'static>(
        &mut self,
        name: &str,
    ) -> RosResult<dragoman_ros::Publisher<T>> {
        super::scene::publisher(self.tasks.node(), &self.names.topic(name))
    }

    /// Offers a service of the device. `act` returns the response, or why the request is refused.
    pub(super) fn serve<S, F>(
        &mut self,
        name: &str,
        act: impl Fn(Line, S::Request) -> F + Send + 'static,
    ) -> RosResult<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Response + Send,
        F: Future<Output = Result<S::Response, String>> + Send + 'static,
    {
        let line = self.line.clone();
        self.tasks.serve_later::<S, _>(&self.names.topic(name), move |request| {
            let answer = act(line.clone(), request);
            async move { answer.await.unwrap_or_else(S::Response::refused) }
        })
    }
}

type New = fn(&mut Site<'_>) -> RosResult<Box<dyn Outlet>>;

/// The interfaces with a counterpart in ROS.
const INTERFACES: [(&Interface, New); 19] = [
    (&position2d::INTERFACE, base::new),
    (&power::INTERFACE, small::power),
    (&gripper::INTERFACE, arm::gripper),
    (&sonar::INTERFACE, ranges::sonar),
    (&laser::INTERFACE, ranges::laser),
    (&bumper::INTERFACE, small::bumper),
    (&ir::INTERFACE, ranges::ir),
    (&localize::INTERFACE, navigation::localize),
    (&simulation::INTERFACE, world::simulation),
    (&camera::INTERFACE, small::camera),
    (&map::INTERFACE, navigation::map),
    (&planner::INTERFACE, navigation::planner),
    (&actarray::INTERFACE, arm::actarray),
    (&imu::INTERFACE, small::imu),
    (&wire::limb::INTERFACE, limb::limb),
    (&wire::log::INTERFACE, log::log),
    (&wire::opaque::INTERFACE, small::opaque),
    (&wire::vectormap::INTERFACE, vectormap::vectormap),
    (&ranger::INTERFACE, ranges::ranger),
];

/// Maximum number of orders that wait for the connection's task.
const MAX_ORDERS: usize = 256;
/// Time in which the node of devices that are replaced refuses what is still asked of it. A call of a service that vanishes
/// has no answer.
const FAREWELL: Duration = Duration::from_millis(100);

/// The devices of a server, and their node.
pub(super) struct Robot {
    /// What it was made for.
    devices: Vec<DeviceInfo>,
    outlets: BTreeMap<Device, Box<dyn Outlet>>,
    scene: Scene,
    node: RunningNode,
    orders: mpsc::Receiver<Order>,
}

/// The node of devices that are replaced.
pub(super) struct Leaving {
    node: RunningNode,
    end: Duration,
    /// The devices that are shown when it has gone.
    pub(super) next: Vec<DeviceInfo>,
}

impl Robot {
    /// Creates the node and the topics and services of all open devices.
    pub(super) fn start(
        context: &Context,
        namespace: &str,
        parameters: &ClientParameters,
        devices: &[DeviceInfo],
    ) -> Result<Self, BridgeError> {
        let mut tasks = NodeTasks::new(Node::create(context.clone(), "player_devices", namespace)?);
        let mut scene = Scene::new(tasks.node(), parameters)?;
        let names = names::names(devices);
        let (sender, orders) = mpsc::channel(MAX_ORDERS);
        let mut outlets = BTreeMap::new();
        for info in devices {
            let Some(names) = names.get(&info.device) else { continue };
            let Some((_, new)) =
                INTERFACES.iter().find(|(interface, _)| interface.code == info.device.interface)
            else {
                continue;
            };
            let line = &Line { orders: sender.clone(), device: info.device };
            let site = &mut Site { tasks: &mut tasks, parameters, line, scene: &mut scene, info, names };
            let outlet = new(site)?;
            outlets.insert(info.device, outlet);
        }
        scene.publish_fixed();
        Ok(Self { devices: devices.to_vec(), outlets, scene, node: tasks.start()?, orders })
    }

    /// Whether it shows these devices.
    pub(super) fn has(&self, devices: &[DeviceInfo]) -> bool {
        fn open(devices: &[DeviceInfo]) -> impl Iterator<Item = &DeviceInfo> {
            devices.iter().filter(|info| info.state == State::Open)
        }
        open(&self.devices).eq(open(devices))
    }

    /// Publishes data.
    pub(super) fn show(&mut self, device: Device, timestamp: f64, data: Data) -> Result<(), String> {
        let Some(outlet) = self.outlets.get_mut(&device) else { return Ok(()) };
        let stamp = self.scene.stamp(timestamp);
        let shown = outlet.show(&mut self.scene, &stamp, data);
        self.scene.publish_fixed();
        shown
    }

    /// The devices, and whether their data has to be received.
    pub(super) fn interests(&self) -> impl Iterator<Item = (Device, bool)> {
        self.outlets.iter().map(|(device, outlet)| (*device, outlet.is_wanted()))
    }

    /// Publishes a map.
    pub(super) fn show_map(&mut self, device: Device, map: &GridMap) {
        if let Some(outlet) = self.outlets.get_mut(&device) {
            outlet.show_map(&mut self.scene, map);
        }
    }
}

/// Runs the node of the devices, if there is one, until it has an order for the connection.
pub(super) async fn next_order(robot: &mut Option<Robot>) -> Order {
    if let Some(Robot { node, orders, .. }) = robot {
        tokio::select! {
            biased;
            () = node => {}
            Some(order) = orders.next() => return order,
        }
    }
    std::future::pending().await
}

impl Leaving {
    /// The devices are not shown any more. Their orders are dropped, and with them the calls that wait.
    pub(super) fn new(robot: Robot, next: Vec<DeviceInfo>) -> Self {
        Self { node: robot.node, end: clock::now() + FAREWELL, next }
    }
}

/// Runs the node of devices that are replaced, if there is one, until it has gone.
pub(super) async fn farewell(leaving: &mut Option<Leaving>) -> Vec<DeviceInfo> {
    if let Some(Leaving { node, end, .. }) = leaving {
        tokio::select! {
            biased;
            () = node => {}
            () = clock::until(Some(*end)) => {}
        }
    }
    match leaving.take() {
        Some(leaving) => leaving.next,
        None => std::future::pending().await,
    }
}

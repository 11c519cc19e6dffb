//! The devices of a server in ROS: node `player_devices`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::{Context, Node, Response, Result as RosResult, WrappedServiceTypeSupport};
use futures::channel::mpsc;
use futures::stream::StreamExt;
use parking_lot::Mutex;

use super::ClientParameters;
use super::device_handle::{DeviceHandle, DeviceOrder};
use super::names::{self, DeviceNames};
use super::scene::Scene;
use super::{arm, base, limb, log, navigation, ranges, small, vectormap, world};
use crate::BridgeError;
use crate::clock;
use crate::player::client::map::GridMap;
use crate::player::client::{DeviceInfo, DeviceState};
use crate::player::wire;
use crate::player::wire::{
    Data, Device, Interface, actarray, bumper, camera, gripper, imu, ir, laser, localize, map, planner,
    position2d, power, ranger, simulation, sonar,
};

/// Publishes a device's data on its topics.
pub(super) trait DeviceTopics: Send {
    /// Publishes data, which was measured at `stamp`.
    fn show(&mut self, _scene: &mut Scene, _stamp: &Time, _data: Data) -> Result<(), String> {
        Ok(())
    }

    /// Publishes a map.
    fn show_map(&mut self, _scene: &mut Scene, _map: &GridMap) {}

    /// Whether the device's data is needed. Pictures without subscribers are not.
    fn is_wanted(&self) -> bool {
        true
    }
}

/// A device without published topics.
pub(super) struct NoTopics;

impl DeviceTopics for NoTopics {}

/// Arguments of a function that creates a device's topics and services.
pub(super) struct DeviceSetup<'a> {
    pub(super) tasks: &'a mut NodeTasks,
    pub(super) parameters: &'a ClientParameters,
    pub(super) handle: &'a DeviceHandle,
    pub(super) scene: &'a mut Scene,
    pub(super) info: &'a DeviceInfo,
    pub(super) names: &'a DeviceNames,
}

impl DeviceSetup<'_> {
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
        act: impl Fn(DeviceHandle, S::Request) -> F + Send + 'static,
    ) -> RosResult<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Response + Send,
        F: Future<Output = Result<S::Response, String>> + Send + 'static,
    {
        let handle = self.handle.clone();
        self.tasks.serve_later::<S, _>(&self.names.topic(name), move |request| {
            let answer = act(handle.clone(), request);
            async move { answer.await.unwrap_or_else(S::Response::refused) }
        })
    }
}

type NewTopics = fn(&mut DeviceSetup<'_>) -> RosResult<Box<dyn DeviceTopics>>;

/// The interfaces with a counterpart in ROS.
const INTERFACES: [(&Interface, NewTopics); 19] = [
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

/// Maximum number of waiting orders for the connection's task.
const MAX_ORDERS: usize = 256;
/// How long the node of replaced devices still refuses calls. A call of a service that disappears would never be
/// answered.
const SHUTDOWN_DELAY: Duration = Duration::from_millis(100);

/// The devices of a server, and their node.
pub(super) struct DevicesNode {
    /// The devices at the node's creation.
    devices: Vec<DeviceInfo>,
    topics: BTreeMap<Device, Box<dyn DeviceTopics>>,
    scene: Scene,
    node: RunningNode,
    orders: mpsc::Receiver<DeviceOrder>,
}

/// The node of replaced devices, until it has ended.
pub(super) struct ReplacedNode {
    node: RunningNode,
    end: Duration,
    /// The devices that are offered after it has ended.
    pub(super) next: Vec<DeviceInfo>,
}

impl DevicesNode {
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
        let sender = Arc::new(Mutex::new(sender));
        let mut topics = BTreeMap::new();
        for info in devices {
            let Some(names) = names.get(&info.device) else { continue };
            let Some((_, new)) =
                INTERFACES.iter().find(|(interface, _)| interface.code == info.device.interface)
            else {
                continue;
            };
            let handle = &DeviceHandle { orders: Arc::clone(&sender), device: info.device };
            let setup =
                &mut DeviceSetup { tasks: &mut tasks, parameters, handle, scene: &mut scene, info, names };
            let shown = new(setup)?;
            topics.insert(info.device, shown);
        }
        scene.publish_fixed();
        Ok(Self { devices: devices.to_vec(), topics, scene, node: tasks.start()?, orders })
    }

    /// Whether it has the open ones of these devices.
    pub(super) fn has(&self, devices: &[DeviceInfo]) -> bool {
        fn open(devices: &[DeviceInfo]) -> impl Iterator<Item = &DeviceInfo> {
            devices.iter().filter(|info| info.state == DeviceState::Open)
        }
        open(&self.devices).eq(open(devices))
    }

    /// Publishes data.
    pub(super) fn show(&mut self, device: Device, timestamp: f64, data: Data) -> Result<(), String> {
        let Some(topics) = self.topics.get_mut(&device) else { return Ok(()) };
        let stamp = self.scene.stamp(timestamp);
        let shown = topics.show(&mut self.scene, &stamp, data);
        self.scene.publish_fixed();
        shown
    }

    /// The devices, and whether their data has to be received.
    pub(super) fn interests(&self) -> impl Iterator<Item = (Device, bool)> {
        self.topics.iter().map(|(device, topics)| (*device, topics.is_wanted()))
    }

    /// Publishes a map.
    pub(super) fn show_map(&mut self, device: Device, map: &GridMap) {
        if let Some(topics) = self.topics.get_mut(&device) {
            topics.show_map(&mut self.scene, map);
        }
    }
}

/// Runs the node of the devices, if any, until it has an order for the connection.
pub(super) async fn next_order(devices: &mut Option<DevicesNode>) -> DeviceOrder {
    if let Some(DevicesNode { node, orders, .. }) = devices {
        tokio::select! {
            biased;
            () = node => {}
            Some(order) = orders.next() => return order,
        }
    }
    std::future::pending().await
}

impl ReplacedNode {
    /// The devices are no longer offered. Their waiting orders and calls are dropped.
    pub(super) fn new(devices: DevicesNode, next: Vec<DeviceInfo>) -> Self {
        Self { node: devices.node, end: clock::now() + SHUTDOWN_DELAY, next }
    }
}

/// Runs the node of replaced devices, if any, until it has ended. Returns the devices that follow.
pub(super) async fn finish_replaced(replaced: &mut Option<ReplacedNode>) -> Vec<DeviceInfo> {
    if let Some(ReplacedNode { node, end, .. }) = replaced {
        tokio::select! {
            biased;
            () = node => {}
            () = clock::until(Some(*end)) => {}
        }
    }
    match replaced.take() {
        Some(replaced) => replaced.next,
        None => std::future::pending().await,
    }
}

//! The interface of a device's driver, and functions for all drivers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::times::Seconds;
use dragoman_ros::{
    Client, Context, Node, QosProfile, WrappedServiceTypeSupport, builtin_interfaces, std_srvs,
};
use dragoman_time::watch;
use dragoman_time::{AbortHandle, wall_time};
use futures::future::{BoxFuture, FutureExt, ready};
use serde::Deserialize;

use super::Hub;
use crate::player::server::Outcome;
use crate::player::wire::common::{Geometry, Pose2d, Size3d};
use crate::player::wire::properties::{self, Capability};
use crate::player::wire::{self, Command, Device, MessageKind, OneWayMessage, Request, Xdr};

/// Resolves with the outcome of a request.
pub(super) type OutcomeFuture = BoxFuture<'static, Outcome>;

/// A device that is open. It gets the commands and requests of its interface only.
pub(super) trait Driver: Send {
    /// Carries out a command.
    ///
    /// # Errors
    /// It is refused for this reason.
    fn handle_command(&mut self, _command: Command) -> Result<(), String> {
        other_interface()
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// It is refused for this reason.
    fn handle_request(&mut self, request: Request) -> Result<OutcomeFuture, String>;

    /// Ends the motion or the action that the last command has started.
    fn handle_release(&mut self) {}

    /// How long the device's node continues after the device was closed, so that its last messages are sent.
    fn shutdown_delay(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Commands and requests of the interface that this driver always refuses.
    fn unsupported(&self) -> Vec<(MessageKind, u8)> {
        Vec::new()
    }
}

/// Refuses a message of another interface. The server sends no driver such a message.
pub(super) fn other_interface<T>() -> Result<T, String> {
    Err("a message of another interface".to_owned())
}

/// Carries out a request.
pub(super) fn answer(
    device: Device,
    driver: &mut dyn Driver,
    request: Request,
) -> Result<OutcomeFuture, String> {
    match request {
        Request::EveryInterface(properties::Request::Capability(asked)) => {
            answer_capability(device, driver, &asked)
        }
        Request::EveryInterface(_) => Err("devices in ROS have no properties".to_owned()),
        request => driver.handle_request(request),
    }
}

fn answer_capability(
    device: Device,
    driver: &dyn Driver,
    asked: &Capability,
) -> Result<OutcomeFuture, String> {
    let Capability { kind, subtype } = *asked;
    let asked = u8::try_from(kind).ok().and_then(MessageKind::from_code).zip(u8::try_from(subtype).ok());
    let has = asked.is_some_and(|(kind, subtype)| {
        let mut messages = wire::interface(device.interface).into_iter().flat_map(|known| known.messages);
        let is_known = messages.any(|row| (row.kind, row.subtype) == (kind, subtype));
        let is_capability = (kind, subtype) == properties::CAPABILITY.id();
        is_capability || (is_known && !driver.unsupported().contains(&(kind, subtype)))
    });
    if has { Ok(acknowledged(&())) } else { Err(format!("it handles no message {subtype} of kind {kind}")) }
}

/// Settings that all devices share.
pub(super) struct Setup {
    pub(super) context: Context,
    /// Namespace of the relative names in the table.
    pub(super) namespace: String,
    /// How long a velocity is valid; `None`: until the next one.
    pub(super) command_timeout: Option<Duration>,
    pub(super) service_timeout: Duration,
}

impl Setup {
    /// The node of a device.
    pub(super) fn node(&self, device: Device) -> dragoman_ros::Result<NodeTasks> {
        let interface = wire::interface(device.interface).map_or("device", |known| known.name);
        let name = format!("player_{interface}_{}", device.index);
        Ok(NodeTasks::new(Node::create(self.context.clone(), &name, &self.namespace)?))
    }
}

/// A device and its node, which run until they are dropped.
pub(super) struct Opened {
    pub(super) driver: Box<dyn Driver>,
    node: AbortHandle,
}

impl Opened {
    /// Runs the node.
    pub(super) fn new(driver: impl Driver + 'static, tasks: NodeTasks) -> std::io::Result<Self> {
        let node: RunningNode = tasks.start()?;
        Ok(Self { driver: Box::new(driver), node: dragoman_time::spawn(node).abort_handle() })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.node.abort();
    }
}

/// Sends a device's data to the server.
#[derive(Clone)]
pub(super) struct Feed {
    hub: Arc<Hub>,
    device: Device,
    is_closed: Arc<AtomicBool>,
}

impl Feed {
    pub(super) fn new(hub: Arc<Hub>, device: Device) -> Self {
        Self { hub, device, is_closed: Arc::default() }
    }

    /// Stops sending: the device's node continues for a while, and a new node may already send data of the same device.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Sends data that was measured at this time; a stamp of zero stands for the current time.
    pub(super) fn send<T: Xdr>(
        &self,
        message: &OneWayMessage<T>,
        stamp: &builtin_interfaces::msg::Time,
        data: &T,
    ) {
        if self.is_closed.load(Ordering::Relaxed) {
            return;
        }
        let seconds = stamp.seconds();
        let timestamp = if seconds == 0.0 { wall_time().as_secs_f64() } else { seconds };
        let body = data.to_bytes();
        self.hub.with(|server| server.handle_data(self.device, message.subtype, timestamp, &body));
    }
}

/// A name in a namespace of the table; if that is empty, in the server's namespace.
pub(super) fn qualified_name(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{}/{name}", namespace.trim_end_matches('/')) }
}

/// A request that is refused at once.
pub(super) fn refused(reason: impl Into<String>) -> OutcomeFuture {
    ready(Err(reason.into())).boxed()
}

/// A request that is carried out at once.
pub(super) fn acknowledged(body: &impl Xdr) -> OutcomeFuture {
    ready(Ok(body.to_bytes())).boxed()
}

/// Time limit for a service, or a first message, to appear. Its robot may be absent, and clients open one device after the
/// other.
pub(super) const DISCOVERY: Duration = Duration::from_secs(2);

/// Answers a request from the last received message. Waits if there is none yet.
pub(super) fn answer_when_received<T: Send + Sync + 'static>(
    mut received: watch::Receiver<Option<Arc<T>>>,
    answer: impl FnOnce(&T) -> Outcome + Send + 'static,
) -> OutcomeFuture {
    async move {
        let waited = dragoman_time::timeout(DISCOVERY, received.wait_for(Option::is_some)).await;
        let message = waited.map_err(|_late| "the robot has not sent anything yet".to_owned())?;
        let message = message.ok().and_then(|message| message.clone());
        message.map_or_else(|| Err("the device is closed".to_owned()), |message| answer(&message))
    }
    .boxed()
}

/// Time limit of the services that a command calls. No client waits for their result.
const COMMAND_LIMIT: Duration = Duration::from_secs(5);

/// Carries out a command, which has no answer. Logs a refusal and returns `false`.
pub(super) async fn execute_command(answer: OutcomeFuture) -> bool {
    let reason = match dragoman_time::timeout(COMMAND_LIMIT, answer).await {
        Ok(Ok(_)) => return true,
        Ok(Err(reason)) => reason,
        Err(_late) => "no answer of the robot's services".to_owned(),
    };
    tracing::warn!(reason, "command of a Player client failed");
    false
}

/// Pose of a sensor on the robot, and its size.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Mount {
    /// x and y in m, yaw in rad.
    pub(super) pose: [f64; 3],
    /// Length, width and height, m.
    pub(super) size: [f64; 3],
}

impl Mount {
    pub(super) fn geometry(&self) -> Geometry {
        let ([x, y, yaw], [length, width, height]) = (self.pose, self.size);
        Geometry { pose: Pose2d { x, y, yaw }.into(), size: Size3d { width, length, height } }
    }
}

/// Client of a service that a device calls.
pub(super) struct Service<S: WrappedServiceTypeSupport> {
    client: Arc<Client<S>>,
    name: String,
}

impl<S> Service<S>
where
    S: WrappedServiceTypeSupport + 'static,
    S::Request: Send + Sync,
    S::Response: Send,
{
    pub(super) fn new(tasks: &mut NodeTasks, name: &str) -> dragoman_ros::Result<Self> {
        let client = tasks.node().create_client(name, QosProfile::services_default())?;
        Ok(Self { client: Arc::new(client), name: name.to_owned() })
    }

    /// Waits for the service and calls it. `outcome` converts its response to the body of an acknowledgement.
    pub(super) fn ask(
        &self,
        request: S::Request,
        outcome: impl FnOnce(S::Response) -> Outcome + Send + 'static,
    ) -> OutcomeFuture {
        let (client, name) = (Arc::clone(&self.client), self.name.clone());
        let Ok(available) = Node::is_available(&*client) else {
            return refused(format!("{name} cannot be asked"));
        };
        async move {
            let wrong = |error: dragoman_ros::Error| format!("{name}: {error}");
            let absent = |_late| format!("{name}: no such service");
            dragoman_time::timeout(DISCOVERY, available).await.map_err(absent)?.map_err(wrong)?;
            let answer = client.request(&request).map_err(wrong)?;
            outcome(answer.await.map_err(|error| format!("{name}: {error}"))?)
        }
        .boxed()
    }
}

/// The outcome of a service whose response has `success` and `message`.
pub(super) fn service_outcome(success: bool, message: String) -> Outcome {
    if success { Ok(Vec::new()) } else { Err(message) }
}

impl Service<std_srvs::srv::Trigger::Service> {
    /// Calls the service.
    pub(super) fn trigger(&self) -> OutcomeFuture {
        self.ask(std_srvs::srv::Trigger::Request::default(), |response| {
            service_outcome(response.success, response.message)
        })
    }
}

impl Service<std_srvs::srv::SetBool::Service> {
    /// Calls the service.
    pub(super) fn set(&self, data: bool) -> OutcomeFuture {
        self.ask(std_srvs::srv::SetBool::Request { data }, |response| {
            service_outcome(response.success, response.message)
        })
    }
}

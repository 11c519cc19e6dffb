//! What a device is, and what all of them use.

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
use crate::player::wire::{self, Command, Device, Kind, Note, Request, Xdr};

/// The outcome of a request, later.
pub(super) type Answer = BoxFuture<'static, Outcome>;

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
    fn handle_request(&mut self, request: Request) -> Result<Answer, String>;

    /// Ends what the last command began.
    fn handle_release(&mut self) {}

    /// How long its node lives on after it was closed, so that its last messages go out.
    fn farewell(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// Commands and requests of its interface that it always refuses.
    fn lacks(&self) -> Vec<(Kind, u8)> {
        Vec::new()
    }
}

/// The outcome of a message of another interface, which no driver gets.
pub(super) fn other_interface<T>() -> Result<T, String> {
    Err("a message of another interface".to_owned())
}

/// Carries out a request.
pub(super) fn answer(device: Device, driver: &mut dyn Driver, request: Request) -> Result<Answer, String> {
    match request {
        Request::EveryInterface(properties::Request::Capability(asked)) => {
            answer_capability(device, driver, &asked)
        }
        Request::EveryInterface(_) => Err("devices in ROS have no properties".to_owned()),
        request => driver.handle_request(request),
    }
}

fn answer_capability(device: Device, driver: &dyn Driver, asked: &Capability) -> Result<Answer, String> {
    let Capability { kind, subtype } = *asked;
    let asked = u8::try_from(kind).ok().and_then(Kind::from_code).zip(u8::try_from(subtype).ok());
    let has = asked.is_some_and(|(kind, subtype)| {
        let mut messages = wire::interface(device.interface).into_iter().flat_map(|known| known.messages);
        let is_known = messages.any(|row| (row.kind, row.subtype) == (kind, subtype));
        let is_capability = (kind, subtype) == properties::CAPABILITY.id();
        is_capability || (is_known && !driver.lacks().contains(&(kind, subtype)))
    });
    if has { Ok(acknowledged(&())) } else { Err(format!("it handles no message {subtype} of kind {kind}")) }
}

/// What all devices need.
pub(super) struct Setup {
    pub(super) context: Context,
    /// Of the relative names in the table.
    pub(super) namespace: String,
    /// How long a velocity holds; `None`: until the next one.
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

/// Where a device's data goes.
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

    /// Ends the feed: the device's node lives on for a while, and a new one may feed the same device.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Passes on data that was measured at this time; a stamp of zero is now.
    pub(super) fn send<T: Xdr>(&self, note: &Note<T>, stamp: &builtin_interfaces::msg::Time, data: &T) {
        if self.is_closed.load(Ordering::Relaxed) {
            return;
        }
        let seconds = stamp.seconds();
        let timestamp = if seconds == 0.0 { wall_time().as_secs_f64() } else { seconds };
        let body = data.to_bytes();
        self.hub.with(|server| server.handle_data(self.device, note.subtype, timestamp, &body));
    }
}

/// A name in a namespace of the table; without one, in that of the server.
pub(super) fn below(namespace: &str, name: &str) -> String {
    if namespace.is_empty() { name.to_owned() } else { format!("{}/{name}", namespace.trim_end_matches('/')) }
}

/// A request that is refused at once.
pub(super) fn refused(reason: impl Into<String>) -> Answer {
    ready(Err(reason.into())).boxed()
}

/// A request that is carried out at once.
pub(super) fn acknowledged(body: &impl Xdr) -> Answer {
    ready(Ok(body.to_bytes())).boxed()
}

/// Time limit for a service, or a first message, to appear. Its robot may be absent, and clients open one device after the
/// other.
pub(super) const DISCOVERY: Duration = Duration::from_secs(2);

/// A request that is answered from what has been received; it waits for the first message.
pub(super) fn later<T: Send + Sync + 'static>(
    mut received: watch::Receiver<Option<Arc<T>>>,
    answer: impl FnOnce(&T) -> Outcome + Send + 'static,
) -> Answer {
    async move {
        let waited = dragoman_time::timeout(DISCOVERY, received.wait_for(Option::is_some)).await;
        let message = waited.map_err(|_late| "the robot has not sent anything yet".to_owned())?;
        let message = message.ok().and_then(|message| message.clone());
        message.map_or_else(|| Err("the device is closed".to_owned()), |message| answer(&message))
    }
    .boxed()
}

/// Time limit of the services that a command needs. Nobody waits for them.
const COMMAND_LIMIT: Duration = Duration::from_secs(5);

/// Carries out a command, which has no answer; `false`, with a line in the log: it was refused.
pub(super) async fn carried_out(answer: Answer) -> bool {
    let reason = match dragoman_time::timeout(COMMAND_LIMIT, answer).await {
        Ok(Ok(_)) => return true,
        Ok(Err(reason)) => reason,
        Err(_late) => "no answer of the robot's services".to_owned(),
    };
    tracing::warn!(reason, "command of a Player client failed");
    false
}

/// Where a sensor is on the robot, and its size.
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

/// A service that a device asks.
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

    /// Waits for the service, and asks it; `outcome` makes an acknowledgement's body of its response.
    pub(super) fn ask(
        &self,
        request: S::Request,
        outcome: impl FnOnce(S::Response) -> Outcome + Send + 'static,
    ) -> Answer {
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

/// The outcome of a service that says whether it succeeded.
pub(super) fn done(success: bool, message: String) -> Outcome {
    if success { Ok(Vec::new()) } else { Err(message) }
}

impl Service<std_srvs::srv::Trigger::Service> {
    /// Asks it.
    pub(super) fn trigger(&self) -> Answer {
        self.ask(std_srvs::srv::Trigger::Request::default(), |response| {
            done(response.success, response.message)
        })
    }
}

impl Service<std_srvs::srv::SetBool::Service> {
    /// Asks it.
    pub(super) fn set(&self, data: bool) -> Answer {
        self.ask(std_srvs::srv::SetBool::Request { data }, |response| {
            done(response.success, response.message)
        })
    }
}

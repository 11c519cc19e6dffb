//! Extends r2r's node: quality of service overrides (`qos_overrides`) as in rclcpp, errors in place of panics, and
//! delivery through memory within the process.
//!
//! r2r has parameters, but neither `qos_overrides` nor the full name of a topic after remapping, which rcl does not
//! export. The rules are therefore parsed a second time.
//!
//! | file | holds |
//! | --- | --- |
//! | `context.rs` | handles arguments that rcl refuses |
//! | `endpoints.rs` | publishers, clients, servers, actions |
//! | `local.rs` | delivery through memory |
//! | `spin.rs` | the thread that waits for a node's messages |
//! | `text.rs` | strings that r2r cannot send |
//! | `timer.rs` | timers |

mod context;
mod endpoints;
mod local;
pub(crate) mod spin;
mod text;
mod timer;

pub use context::Context;
pub use endpoints::{
    ActionClient, ActionServerGoal, ActionServerGoalRequest, Client, IsAvailablePollable, Publisher,
    ServiceRequest, WrappedServiceTypeSupport, WrappedTypesupport,
};
pub use timer::Timer;

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{Stream, StreamExt};

use crate::names::{InvalidName, NameKind, NodeName};
use crate::qos_overrides::{self, InvalidOverride, Side};
use crate::remapping::Rules;
use crate::service_calls::RecordedService;
use crate::tasks::warn_unanswered;
use crate::{Error, QosProfile, Result, WrappedActionTypeSupport};
use local::{Merged, Offer, Queues};
use spin::Threads;

/// r2r's node with quality of service overrides for its topics.
pub struct Node {
    inner: r2r::Node,
    name: NodeName,
    rules: Rules,
    threads: Option<Arc<Threads>>,
    /// Whether the node has anything to wait for. If not, r2r returns without waiting.
    is_waiting: bool,
    has_actions: bool,
}

impl Node {
    /// Creates node `name` in `namespace`, which may be empty, unless the command line renames it.
    ///
    /// # Errors
    /// An error of rcl.
    pub fn create(context: Context, name: &str, namespace: &str) -> Result<Self> {
        if [name, namespace].iter().any(|part| part.contains('\0')) {
            return Err(Error::RCL_RET_NODE_INVALID_NAME);
        }
        let inner = r2r::Node::create(context.inner, name, namespace)?;
        let name = NodeName { name: inner.name()?, namespace: inner.namespace()? };
        let rules = Rules::accepted(std::env::args().skip(1));
        Ok(Self { inner, name, rules, threads: Some(context.threads), is_waiting: false, has_actions: false })
    }

    /// Publishes on `topic`; parameters `qos_overrides./topic.publisher...` take precedence over `qos`.
    ///
    /// # Errors
    /// An invalid name or override; an error of rcl.
    pub fn create_publisher<T: WrappedTypesupport + 'static>(
        &mut self,
        topic: &str,
        qos: QosProfile,
    ) -> Result<Publisher<T>> {
        let (name, qos) = self.overridden(topic, Side::Publisher, qos)?;
        let (local, offer) = (Queues::named(&name), Offer::new(&qos));
        Ok(Publisher { inner: self.inner.create_publisher(topic, qos)?, local, offer })
    }

    /// The messages that arrive on `topic`, from now on; parameters `qos_overrides./topic.subscription...` take
    /// precedence over `qos`.
    ///
    /// # Errors
    /// An invalid name or override; an error of rcl.
    pub fn subscribe<T: WrappedTypesupport + 'static>(
        &mut self,
        topic: &str,
        qos: QosProfile,
    ) -> Result<impl Stream<Item = T> + Send + Unpin + use<T>> {
        let (name, qos) = self.overridden(topic, Side::Subscription, qos)?;
        let local = Queues::named(&name).subscribe(&qos);
        self.is_waiting = true;
        Ok(Merged { local, rcl: self.inner.subscribe(topic, qos)? })
    }

    /// The messages of any type that arrive on `topic`, as CDR with its four bytes of encapsulation header.
    ///
    /// # Errors
    /// An invalid name or override; a type whose package is not built into the program; an error of rcl.
    pub fn subscribe_raw(
        &mut self,
        topic: &str,
        topic_type: &str,
        qos: QosProfile,
    ) -> Result<impl Stream<Item = Vec<u8>> + Unpin + use<>> {
        let (_name, qos) = self.overridden(topic, Side::Subscription, qos)?;
        self.is_waiting = true;
        self.inner.subscribe_raw(topic, topic_type, qos)
    }

    /// Offers `service`.
    ///
    /// # Errors
    /// An invalid name; an error of rcl.
    pub fn create_service<T: WrappedServiceTypeSupport + 'static>(
        &mut self,
        service: &str,
        qos: QosProfile,
    ) -> Result<impl Stream<Item = ServiceRequest<T>> + Send + Unpin + use<T>> {
        let name = self.name.resolve_name(service, NameKind::Service, &self.rules)?;
        self.is_waiting = true;
        let requests = self.inner.create_service::<T>(service, qos)?;
        let local = Some(Queues::named(&name).serve());
        let recorded = RecordedService::new(&name, std::any::type_name::<T::Request>());
        let requests = Merged { local, rcl: requests.map(ServiceRequest::from_rcl) };
        Ok(requests.map(move |mut request: ServiceRequest<T>| {
            request.call = Some(recorded.call());
            request
        }))
    }

    /// Offers `service`: answers requests while the returned future is polled, up to `limit` at the same time.
    pub(crate) fn serve<T, F>(
        &mut self,
        service: &str,
        limit: usize,
        mut act: impl FnMut(T::Request) -> F + Send + 'static,
    ) -> Result<BoxFuture<'static, ()>>
    where
        T: WrappedServiceTypeSupport + 'static,
        T::Request: Send,
        T::Response: Send,
        F: Future<Output = T::Response> + Send + 'static,
    {
        let requests = self.create_service::<T>(service, QosProfile::services_default())?;
        let name = service.to_owned();
        Ok(Box::pin(async move {
            let answered = requests.for_each_concurrent(limit, |request| {
                let (answered, name) = (act(request.message.clone()), &name);
                async move {
                    if let Err(error) = request.respond(answered.await) {
                        warn_unanswered(name, &error);
                    }
                }
            });
            answered.await;
        }))
    }

    /// A client of `service`.
    ///
    /// # Errors
    /// An invalid name; an error of rcl.
    pub fn create_client<T: WrappedServiceTypeSupport + 'static>(
        &mut self,
        service: &str,
        qos: QosProfile,
    ) -> Result<Client<T>> {
        let name = self.name.resolve_name(service, NameKind::Service, &self.rules)?;
        self.is_waiting = true;
        Ok(Client { inner: self.inner.create_client(service, qos)?, local: Queues::named(&name) })
    }

    /// Offers `action`.
    ///
    /// # Errors
    /// An invalid name; an error of rcl.
    pub fn create_action_server<T: WrappedActionTypeSupport + 'static>(
        &mut self,
        action: &str,
    ) -> Result<impl Stream<Item = ActionServerGoalRequest<T>> + Send + Unpin + use<T>> {
        (self.is_waiting, self.has_actions) = (true, true);
        Ok(endpoints::goal_requests(self.inner.create_action_server(action)?))
    }

    /// A client of `action`.
    ///
    /// # Errors
    /// An invalid name; an error of rcl.
    pub fn create_action_client<T: WrappedActionTypeSupport + 'static>(
        &mut self,
        action: &str,
    ) -> Result<ActionClient<T>> {
        (self.is_waiting, self.has_actions) = (true, true);
        Ok(ActionClient(self.inner.create_action_client(action)?))
    }

    /// A timer on steady time, independent of `/clock`.
    ///
    /// # Errors
    /// The period is zero.
    pub fn create_wall_timer(&mut self, period: Duration) -> Result<Timer> {
        Timer::wall(period)
    }

    /// A timer on the node's clock.
    ///
    /// # Errors
    /// An error of rcl.
    pub fn create_timer(&mut self, period: Duration) -> Result<Timer> {
        self.is_waiting = true;
        Ok(Timer::ros(self.inner.create_timer(period)?))
    }

    /// Waits until something arrives, at most `timeout`, and delivers it.
    pub fn spin_once(&mut self, timeout: Duration) {
        self.spin(timeout);
    }

    /// As [`Self::spin_once`]; returns whether something has arrived.
    fn spin(&mut self, timeout: Duration) -> bool {
        let start = dragoman_time::now();
        self.inner.spin_once(timeout);
        let rest = timeout.saturating_sub(dragoman_time::since(start));
        if !self.is_waiting {
            std::thread::sleep(rest);
        }
        !rest.is_zero()
    }

    /// The node has something to wait for that it does not see.
    pub(crate) fn waits(&mut self) {
        self.is_waiting = true;
    }

    fn has_actions(&self) -> bool {
        self.has_actions
    }

    /// Resolves when the client's service or action is available.
    ///
    /// # Errors
    /// The client has been dropped.
    pub fn is_available(client: &dyn IsAvailablePollable) -> Result<BoxFuture<'static, Result<()>>> {
        client.available()
    }

    /// The full name of `topic`, and its quality of service.
    fn overridden(&self, topic: &str, side: Side, qos: QosProfile) -> Result<(String, QosProfile)> {
        let topic = self.name.resolve_name(topic, NameKind::Topic, &self.rules)?;
        let given = self.inner.params.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let qos = qos_overrides::overridden(&given, &topic, side, qos)?;
        Ok((topic, qos))
    }
}

impl Deref for Node {
    type Target = r2r::Node;

    fn deref(&self) -> &r2r::Node {
        &self.inner
    }
}

impl DerefMut for Node {
    fn deref_mut(&mut self) -> &mut r2r::Node {
        &mut self.inner
    }
}

impl From<InvalidName> for Error {
    fn from(_: InvalidName) -> Self {
        Self::RCL_RET_TOPIC_NAME_INVALID
    }
}

impl From<InvalidOverride> for Error {
    fn from(InvalidOverride { name, reason }: InvalidOverride) -> Self {
        Self::ParameterValueConv { name, msg: reason }
    }
}

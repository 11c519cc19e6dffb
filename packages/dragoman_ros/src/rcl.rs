//! r2r's node with what rclcpp has besides: quality of service from outside (`qos_overrides`).
//!
//! r2r knows parameters, but neither such ones nor the full name that a topic gets from the command line's rules; rcl keeps that to
//! itself. The rules are therefore read once more.

use std::ops::{Deref, DerefMut};
use std::sync::PoisonError;

use futures::Stream;
use futures::future::{BoxFuture, FutureExt};

use crate::names::{InvalidName, NameKind, NodeName};
use crate::qos_overrides::{self, InvalidOverride, Side};
use crate::remapping::Rules;
use crate::{
    ActionClient, Client, Context, Error, Publisher, QosProfile, Result, WrappedActionTypeSupport,
    WrappedServiceTypeSupport, WrappedTypesupport,
};

/// r2r's node, which it stands for everywhere. Its topics' quality of service is what parameters `qos_overrides...` say.
pub struct Node {
    inner: r2r::Node,
    name: NodeName,
    rules: Rules,
}

impl Node {
    /// Creates node `name` in `namespace`, which may be empty, unless the command line renames it.
    ///
    /// # Errors
    /// rcl's.
    pub fn create(context: Context, name: &str, namespace: &str) -> Result<Self> {
        let inner = r2r::Node::create(context, name, namespace)?;
        let name = NodeName { name: inner.name()?, namespace: inner.namespace()? };
        Ok(Self { inner, name, rules: Rules::accepted(std::env::args().skip(1)) })
    }

    /// Publishes on `topic`; parameters `qos_overrides./topic.publisher...` take precedence over `qos`.
    ///
    /// # Errors
    /// An invalid name or override; rcl's.
    pub fn create_publisher<T: WrappedTypesupport>(
        &mut self,
        topic: &str,
        qos: QosProfile,
    ) -> Result<Publisher<T>> {
        let qos = self.overridden(topic, Side::Publisher, qos)?;
        self.inner.create_publisher(topic, qos)
    }

    /// The messages that arrive on `topic`, from now on; parameters `qos_overrides./topic.subscription...` take precedence
    /// over `qos`.
    ///
    /// # Errors
    /// An invalid name or override; rcl's.
    pub fn subscribe<T: WrappedTypesupport + 'static>(
        &mut self,
        topic: &str,
        qos: QosProfile,
    ) -> Result<impl Stream<Item = T> + Unpin + use<T>> {
        let qos = self.overridden(topic, Side::Subscription, qos)?;
        self.inner.subscribe(topic, qos)
    }

    /// The messages of any type that arrive on `topic`, as CDR with its four bytes of encapsulation header.
    ///
    /// # Errors
    /// An invalid name or override; a type whose package is not built into the program; rcl's.
    pub fn subscribe_raw(
        &mut self,
        topic: &str,
        topic_type: &str,
        qos: QosProfile,
    ) -> Result<impl Stream<Item = Vec<u8>> + Unpin + use<>> {
        let qos = self.overridden(topic, Side::Subscription, qos)?;
        self.inner.subscribe_raw(topic, topic_type, qos)
    }

    /// Resolves when the client's service or action is there.
    ///
    /// # Errors
    /// The client is gone.
    pub fn is_available(client: &dyn IsAvailablePollable) -> Result<BoxFuture<'static, Result<()>>> {
        client.available()
    }

    fn overridden(&self, topic: &str, side: Side, qos: QosProfile) -> Result<QosProfile> {
        let topic = self.name.resolve_name(topic, NameKind::Topic, &self.rules)?;
        let given = self.inner.params.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(qos_overrides::overridden(&given, &topic, side, qos)?)
    }
}

/// A client that can tell whether it has a server. r2r has such a trait too, but for itself alone.
pub trait IsAvailablePollable {
    /// As [`Node::is_available`].
    ///
    /// # Errors
    /// The client is gone.
    fn available(&self) -> Result<BoxFuture<'static, Result<()>>>;
}

impl<T: WrappedServiceTypeSupport + 'static> IsAvailablePollable for Client<T> {
    fn available(&self) -> Result<BoxFuture<'static, Result<()>>> {
        Ok(r2r::Node::is_available(self)?.boxed())
    }
}

impl<T: WrappedActionTypeSupport + 'static> IsAvailablePollable for ActionClient<T> {
    fn available(&self) -> Result<BoxFuture<'static, Result<()>>> {
        Ok(r2r::Node::is_available(self)?.boxed())
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

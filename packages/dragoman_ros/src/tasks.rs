//! A node with its timers, subscriptions, services and actions, run as one future.
//!
//! ```no_run
//! # use dragoman_ros::{Context, Node, QosProfile, std_msgs, std_srvs, tasks::NodeTasks};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut tasks = NodeTasks::new(Node::create(Context::create()?, "lamp", "/lab")?);
//! let state = tasks.node().create_publisher::<std_msgs::msg::Bool>("state", QosProfile::default())?;
//! tasks.serve::<std_srvs::srv::SetBool::Service>("switch", move |request| {
//!     let published = state.publish(&std_msgs::msg::Bool { data: request.data });
//!     std_srvs::srv::SetBool::Response { success: published.is_ok(), ..Default::default() }
//! })?;
//! let running = tasks.start()?; // a future: give it to an executor
//! # Ok(()) }
//! ```

mod action;

pub use action::{Goal, Outcome};

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::future::{BoxFuture, ready};
use futures::stream::{FuturesUnordered, StreamExt};

use crate::parameters::{self, ParameterError, ParameterSet, Parameters};
use crate::{Node, QosProfile, WrappedServiceTypeSupport, WrappedTypesupport};

/// Error starting a node.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NodeError {
    /// A parameter is invalid.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// The middleware refused.
    #[error(transparent)]
    Ros(#[from] crate::Error),
    /// The system has no more threads or sockets.
    #[error(transparent)]
    Thread(#[from] std::io::Error),
}

/// Converts what [`NodeError`] is made of, and itself, to `$error`, which has a variant `Node(NodeError)`.
#[macro_export]
macro_rules! from_node_error {
    ($error:ident) => {
        impl<E> From<E> for $error
        where
            $crate::tasks::NodeError: From<E>,
        {
            fn from(error: E) -> Self {
                Self::Node($crate::tasks::NodeError::from(error))
            }
        }
    };
}

/// A node under construction.
pub struct NodeTasks {
    node: Node,
    tasks: FuturesUnordered<BoxFuture<'static, ()>>,
}

impl NodeTasks {
    /// A node without tasks.
    pub fn new(node: Node) -> Self {
        Self { node, tasks: FuturesUnordered::new() }
    }

    /// The node, for functions without a method here.
    pub fn node(&mut self) -> &mut Node {
        &mut self.node
    }

    /// Runs `task` with the node.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.push(Box::pin(task));
    }

    /// Declares the node's parameters, and offers their services.
    ///
    /// # Errors
    /// As [`parameters::declare`].
    pub fn declare<P: ParameterSet>(&mut self, defaults: P) -> Result<Parameters<P>, ParameterError> {
        let (parameters, server) = parameters::declare(&mut self.node, defaults)?;
        self.spawn(server);
        Ok(parameters)
    }

    /// Calls `handle` with every message on `topic`.
    ///
    /// # Errors
    /// As [`Node::subscribe`].
    pub fn subscribe<T: WrappedTypesupport + Send + 'static>(
        &mut self,
        topic: &str,
        qos: QosProfile,
        mut handle: impl FnMut(T) + Send + 'static,
    ) -> crate::Result<()> {
        let mut messages = self.node.subscribe::<T>(topic, qos)?;
        self.spawn(async move {
            while let Some(message) = messages.next().await {
                handle(message);
            }
        });
        Ok(())
    }

    /// Answers every request of `service` with the result of `answer`.
    ///
    /// # Errors
    /// As [`Node::create_service`].
    pub fn serve<S>(
        &mut self,
        service: &str,
        mut answer: impl FnMut(S::Request) -> S::Response + Send + 'static,
    ) -> crate::Result<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send + 'static,
    {
        self.serve_together::<S, _>(service, 1, move |request| ready(answer(request)))
    }

    /// As [`NodeTasks::serve`], for slow responses: one request after the other.
    ///
    /// # Errors
    /// As [`Node::create_service`].
    pub fn serve_later<S, F>(
        &mut self,
        service: &str,
        answer: impl FnMut(S::Request) -> F + Send + 'static,
    ) -> crate::Result<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send,
        F: Future<Output = S::Response> + Send + 'static,
    {
        self.serve_together::<S, F>(service, 1, answer)
    }

    /// As [`NodeTasks::serve_later`], up to `limit` requests at the same time; more wait.
    ///
    /// # Errors
    /// As [`Node::create_service`].
    pub fn serve_together<S, F>(
        &mut self,
        service: &str,
        limit: usize,
        answer: impl FnMut(S::Request) -> F + Send + 'static,
    ) -> crate::Result<()>
    where
        S: WrappedServiceTypeSupport + 'static,
        S::Request: Send,
        S::Response: Send,
        F: Future<Output = S::Response> + Send + 'static,
    {
        self.tasks.push(self.node.serve::<S, F>(service, limit, answer)?);
        Ok(())
    }

    /// Calls `act` once per `period` of steady time.
    ///
    /// # Errors
    /// As [`Node::create_wall_timer`].
    pub fn every(&mut self, period: Duration, mut act: impl FnMut() + Send + 'static) -> crate::Result<()> {
        let mut timer = self.node.create_wall_timer(period)?;
        self.spawn(async move {
            while timer.tick().await.is_ok() {
                act();
            }
        });
        Ok(())
    }

    /// The node as a future that runs until it is dropped.
    ///
    /// # Errors
    /// The system has no more threads.
    pub fn start(self) -> std::io::Result<RunningNode> {
        // An invalid node has no tasks that could run.
        let name = self.node.fully_qualified_name().unwrap_or_default();
        let span = tracing::error_span!("node", node = name);
        Ok(RunningNode { name, span, tasks: self.tasks, _spinner: Spinner::start(self.node)? })
    }
}

pub(crate) fn warn_unanswered(service: &str, error: &crate::Error) {
    tracing::warn!(%error, service, "sending a response failed");
}

/// A running node. It ends when all its tasks have ended, or when it is dropped.
#[derive(Debug)]
#[must_use = "a node does nothing unless it is polled"]
pub struct RunningNode {
    name: String,
    /// The span that names the node in the log entries of its tasks; at the highest level, so that no filter removes
    /// it.
    span: tracing::Span,
    tasks: FuturesUnordered<BoxFuture<'static, ()>>,
    _spinner: Spinner,
}

impl RunningNode {
    /// Its fully qualified name, after remapping.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Future for RunningNode {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let _named = this.span.enter();
        loop {
            match this.tasks.poll_next_unpin(task) {
                Poll::Ready(Some(())) => {}
                Poll::Ready(None) => return Poll::Ready(()),
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

#[cfg(feature = "r2r")]
use crate::rcl::spin::Spinner;

/// The node itself, which suffices for the embedded implementation: messages arrive in the background.
#[cfg(not(feature = "r2r"))]
struct Spinner {
    _node: Node,
}

#[cfg(not(feature = "r2r"))]
impl Spinner {
    fn start(node: Node) -> std::io::Result<Self> {
        Ok(Self { _node: node })
    }
}

#[cfg(not(feature = "r2r"))]
impl std::fmt::Debug for Spinner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Spinner").finish_non_exhaustive()
    }
}

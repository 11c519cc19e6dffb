//! Publishers, clients, servers and actions of r2r, with checks before r2r and delivery through memory.

use std::sync::Arc;
use std::time::Duration;

use dragoman_time::precise_sleep;
use futures::channel::oneshot;
use futures::future::{BoxFuture, Either, FutureExt, TryFutureExt, select};
use futures::stream::{Stream, StreamExt};
use parking_lot::Mutex;

use super::local::{Offer, Queues};
use super::text::check;
use crate::service_calls::OpenCall;
use crate::{
    ActionClientGoal, ActionServerCancelRequest, Error, GoalStatus, Result, WrappedActionTypeSupport,
};

/// A message type. All of r2r's are `Send` and `Sync`, but its traits do not say so.
pub trait WrappedTypesupport: r2r::WrappedTypesupport + Send {}

impl<T: r2r::WrappedTypesupport + Send> WrappedTypesupport for T {}

/// A service type of such messages.
pub trait WrappedServiceTypeSupport:
    r2r::WrappedServiceTypeSupport<Request: WrappedTypesupport, Response: WrappedTypesupport>
{
}

impl<T> WrappedServiceTypeSupport for T where
    T: r2r::WrappedServiceTypeSupport<Request: WrappedTypesupport, Response: WrappedTypesupport>
{
}

/// Publishes on one topic.
#[derive(Clone)]
pub struct Publisher<T: WrappedTypesupport> {
    pub(super) inner: r2r::Publisher<T>,
    pub(super) local: Arc<Queues<T>>,
    pub(super) offer: Offer,
}

impl<T: WrappedTypesupport + 'static> Publisher<T> {
    /// Publishes `message`.
    ///
    /// # Errors
    /// A string contains NUL; the node is gone; an error of rcl.
    pub fn publish(&self, message: &T) -> Result<()> {
        check(message)?;
        let matched = self.inner.get_inter_process_subscription_count()?;
        if self.local.publish(message, self.offer, matched) {
            return Ok(());
        }
        self.inner.publish(message)
    }

    /// The number of matched subscriptions, including those of this process.
    ///
    /// # Errors
    /// The node is gone.
    pub fn get_inter_process_subscription_count(&self) -> Result<usize> {
        self.inner.get_inter_process_subscription_count()
    }

    /// Resolves when at least one subscription is matched.
    ///
    /// # Errors
    /// The node is gone.
    pub fn wait_for_inter_process_subscribers(&self) -> Result<impl Future<Output = Result<()>> + use<T>> {
        self.inner.wait_for_inter_process_subscribers()
    }
}

impl<T: WrappedTypesupport> std::fmt::Debug for Publisher<T> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Publisher").finish_non_exhaustive()
    }
}

/// A client of one service.
pub struct Client<T: WrappedServiceTypeSupport> {
    pub(super) inner: r2r::Client<T>,
    pub(super) local: Arc<Queues<ServiceRequest<T>>>,
}

impl<T: WrappedServiceTypeSupport + 'static> Client<T> {
    /// Sends a request; the future resolves with the response. There is no timeout: callers add one.
    ///
    /// # Errors
    /// A string contains NUL; the server of this process has a thousand pending requests; an error of rcl.
    pub fn request(
        &self,
        message: &T::Request,
    ) -> Result<impl Future<Output = Result<T::Response>> + Send + Unpin + use<T>> {
        check(message)?;
        let Some(server) = self.local.only() else {
            return Ok(Either::Right(self.inner.request(message)?.boxed()));
        };
        let (answer, receiver) = oneshot::channel();
        let reply = Reply::Local(Arc::new(Mutex::new(Some(answer))));
        let request = ServiceRequest { message: message.clone(), call: None, reply };
        server.push(request).map_err(|_request| Error::RCL_RET_ERROR)?;
        Ok(Either::Left(receiver.map_err(|_canceled| Error::RCL_RET_CLIENT_INVALID)))
    }
}

/// A request waiting for its response.
#[derive(Clone)]
pub struct ServiceRequest<T: WrappedServiceTypeSupport> {
    /// The request message.
    pub message: T::Request,
    /// For the record of calls.
    pub(super) call: Option<OpenCall>,
    reply: Reply<T>,
}

#[derive(Clone)]
enum Reply<T: WrappedServiceTypeSupport> {
    Rcl(r2r::ServiceRequest<T>),
    Local(Arc<Mutex<Option<oneshot::Sender<T::Response>>>>),
}

impl<T: WrappedServiceTypeSupport + 'static> ServiceRequest<T> {
    pub(super) fn from_rcl(mut request: r2r::ServiceRequest<T>) -> Self {
        Self { message: std::mem::take(&mut request.message), call: None, reply: Reply::Rcl(request) }
    }

    /// Sends the response.
    ///
    /// # Errors
    /// A string contains NUL; the node is gone; an error of rcl.
    pub fn respond(self, message: T::Response) -> Result<()> {
        check(&message)?;
        if let Some(call) = &self.call {
            call.answered(&self.message, &message);
        }
        match self.reply {
            Reply::Rcl(request) => request.respond(message),
            Reply::Local(answer) => {
                // The client may be gone.
                if let Some(answer) = answer.lock().take() {
                    let _ = answer.send(message);
                }
                Ok(())
            }
        }
    }
}

/// Sends goals to an action server and receives their feedback and results.
#[derive(Clone)]
pub struct ActionClient<T: WrappedActionTypeSupport>(pub(super) r2r::ActionClient<T>);

impl<T: WrappedActionTypeSupport + 'static> ActionClient<T> {
    /// Sends `goal`. Once it is accepted, the future resolves with a handle to it, a future of its result, and its
    /// feedback.
    ///
    /// # Errors
    /// A string contains NUL; an error of rcl. Both futures': also [`Error::RCL_RET_TIMEOUT`] if the server is lost.
    #[allow(clippy::type_complexity)] // r2r's type.
    pub fn send_goal_request(
        &self,
        goal: T::Goal,
    ) -> Result<
        impl Future<
            Output = Result<(
                ActionClientGoal<T>,
                impl Future<Output = Result<(GoalStatus, T::Result)>> + use<T>,
                impl Stream<Item = T::Feedback> + Unpin + use<T>,
            )>,
        > + use<T>,
    > {
        check(&goal)?;
        let accepted = unless_lost(self.0.send_goal_request(goal)?, self.server_lost());
        let lost = self.server_lost();
        Ok(async move {
            let (goal, result, feedback) = accepted.await?;
            Ok((goal, Box::pin(unless_lost(result, lost)), feedback))
        })
    }

    /// Resolves when no server is available.
    fn server_lost(&self) -> impl Future<Output = ()> + use<T> {
        let client = self.clone();
        async move {
            // Fails only when the node is gone.
            while let Ok(available) = client.available() {
                if let Either::Right(_) = select(available, precise_sleep(REVIEW_PERIOD)).await {
                    return;
                }
                precise_sleep(REVIEW_PERIOD).await;
            }
        }
    }
}

/// Polling interval for a running goal's server, and the time it may be missing: longer than the longest wait of a
/// node's thread.
const REVIEW_PERIOD: Duration = Duration::from_secs(1);

/// The result of `answer`, or an error if the server is lost before it arrives.
async fn unless_lost<R>(
    answer: impl Future<Output = Result<R>>,
    lost: impl Future<Output = ()>,
) -> Result<R> {
    match select(std::pin::pin!(answer), std::pin::pin!(lost)).await {
        Either::Left((answer, _)) => answer,
        Either::Right(_) => Err(Error::RCL_RET_TIMEOUT),
    }
}

/// A goal waiting to be accepted or rejected.
pub struct ActionServerGoalRequest<T: WrappedActionTypeSupport> {
    /// Id of the goal.
    pub uuid: uuid::Uuid,
    /// The goal message.
    pub goal: T::Goal,
    inner: r2r::ActionServerGoalRequest<T>,
}

impl<T: WrappedActionTypeSupport + 'static> ActionServerGoalRequest<T> {
    pub(super) fn new(inner: r2r::ActionServerGoalRequest<T>) -> Self {
        Self { uuid: inner.uuid, goal: inner.goal.clone(), inner }
    }

    /// Accepts the goal. The stream contains requests to cancel it.
    ///
    /// # Errors
    /// An error of rcl.
    pub fn accept(
        self,
    ) -> Result<(ActionServerGoal<T>, impl Stream<Item = ActionServerCancelRequest> + Unpin + use<T>)> {
        let (inner, cancels) = self.inner.accept()?;
        Ok((ActionServerGoal { uuid: self.uuid, goal: self.goal, inner }, cancels))
    }

    /// Refuses the goal.
    ///
    /// # Errors
    /// An error of rcl.
    pub fn reject(self) -> Result<()> {
        self.inner.reject()
    }
}

/// An accepted goal.
#[derive(Clone)]
pub struct ActionServerGoal<T: WrappedActionTypeSupport> {
    /// Id of the goal.
    pub uuid: uuid::Uuid,
    /// The goal message.
    pub goal: T::Goal,
    inner: r2r::ActionServerGoal<T>,
}

impl<T: WrappedActionTypeSupport + 'static> ActionServerGoal<T> {
    /// Whether a request to cancel it was accepted.
    ///
    /// # Errors
    /// The node is gone.
    pub fn is_cancelling(&self) -> Result<bool> {
        self.inner.is_cancelling()
    }

    /// Sends feedback.
    ///
    /// # Errors
    /// A string contains NUL; the node is gone.
    pub fn publish_feedback(&self, feedback: T::Feedback) -> Result<()> {
        check(&feedback)?;
        self.inner.publish_feedback(feedback)
    }

    /// Ends it as canceled.
    ///
    /// # Errors
    /// A string contains NUL; the node is gone; an error of rcl.
    pub fn cancel(&mut self, result: T::Result) -> Result<()> {
        check(&result)?;
        self.inner.cancel(result)
    }

    /// Ends it as aborted.
    ///
    /// # Errors
    /// A string contains NUL; the node is gone; an error of rcl.
    pub fn abort(&mut self, result: T::Result) -> Result<()> {
        check(&result)?;
        self.inner.abort(result)
    }

    /// Ends it as succeeded.
    ///
    /// # Errors
    /// A string contains NUL; the node is gone; an error of rcl.
    pub fn succeed(&mut self, result: T::Result) -> Result<()> {
        check(&result)?;
        self.inner.succeed(result)
    }
}

/// A client that can check for its server. r2r's trait for this is private.
pub trait IsAvailablePollable {
    /// As [`Node::is_available`](super::Node::is_available).
    ///
    /// # Errors
    /// The client is gone.
    fn available(&self) -> Result<BoxFuture<'static, Result<()>>>;
}

impl<T: WrappedServiceTypeSupport + 'static> IsAvailablePollable for Client<T> {
    fn available(&self) -> Result<BoxFuture<'static, Result<()>>> {
        if self.local.only().is_some() {
            return Ok(futures::future::ready(Ok(())).boxed());
        }
        Ok(r2r::Node::is_available(&self.inner)?.boxed())
    }
}

impl<T: WrappedActionTypeSupport + 'static> IsAvailablePollable for ActionClient<T> {
    fn available(&self) -> Result<BoxFuture<'static, Result<()>>> {
        Ok(r2r::Node::is_available(&self.0)?.boxed())
    }
}

/// The goals of an action server of r2r.
pub(super) fn goal_requests<T: WrappedActionTypeSupport + 'static>(
    requests: impl Stream<Item = r2r::ActionServerGoalRequest<T>> + Unpin,
) -> impl Stream<Item = ActionServerGoalRequest<T>> + Unpin {
    requests.map(ActionServerGoalRequest::new)
}

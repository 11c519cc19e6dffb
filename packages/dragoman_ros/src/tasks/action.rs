//! Actions whose goals run as futures of their node.

use futures::channel::oneshot;
use futures::future::{Either, FutureExt, Shared, select};
use futures::stream::{FuturesUnordered, Stream, StreamExt};
use parking_lot::Mutex;

use super::NodeTasks;
use crate::{ActionServerCancelRequest, ActionServerGoal, ActionServerGoalRequest, WrappedActionTypeSupport};

/// A running goal.
pub struct Goal<A: WrappedActionTypeSupport> {
    wanted: A::Goal,
    /// r2r's handle is `Send`, but not `Sync`.
    handle: Mutex<ActionServerGoal<A>>,
    cancellation: Shared<oneshot::Receiver<()>>,
}

/// Result of a goal.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names of some variants say it")]
pub enum Outcome<R> {
    Succeeded(R),
    /// It was cancelled on request, or for another goal.
    Canceled(R),
    /// It failed.
    Aborted(R),
}

impl<A: WrappedActionTypeSupport + 'static> Goal<A> {
    /// The goal message.
    pub fn goal(&self) -> &A::Goal {
        &self.wanted
    }

    /// Sends feedback to the client.
    pub fn publish_feedback(&self, feedback: A::Feedback) {
        let handle = self.handle.lock();
        if let Err(error) = handle.publish_feedback(feedback) {
            tracing::warn!(%error, goal = %handle.uuid, "publishing feedback failed");
        }
    }

    /// Resolves when cancellation is requested; otherwise never.
    pub fn canceled(&self) -> impl Future<Output = ()> + Send + Unpin + use<A> {
        let cancellation = self.cancellation.clone();
        // The sender lives as long as the goal's future.
        Box::pin(async move {
            if cancellation.await.is_err() {
                std::future::pending::<()>().await;
            }
        })
    }

    /// Whether cancellation was requested.
    pub fn is_canceled(&self) -> bool {
        matches!(self.cancellation.clone().now_or_never(), Some(Ok(())))
    }
}

impl NodeTasks {
    /// Offers `action`. `check` checks a goal and may refuse it with a reason, which is logged; `execute` returns the
    /// future that runs an accepted goal to its end. Goals run concurrently; requests to cancel one are accepted and
    /// passed to it.
    ///
    /// # Errors
    /// As [`crate::Node::create_action_server`].
    pub fn serve_action<A, F>(
        &mut self,
        action: &str,
        mut check: impl FnMut(&A::Goal) -> Result<(), String> + Send + 'static,
        mut execute: impl FnMut(Goal<A>) -> F + Send + 'static,
    ) -> crate::Result<()>
    where
        A: WrappedActionTypeSupport + Send + 'static,
        A::Goal: Send + Sync,
        A::Result: Send,
        F: Future<Output = Outcome<A::Result>> + Send + 'static,
    {
        let mut requests = self.node.create_action_server::<A>(action)?.fuse();
        let name = action.to_owned();
        self.spawn(async move {
            let mut running = FuturesUnordered::new();
            loop {
                futures::select_biased! {
                    () = running.select_next_some() => {}
                    request = requests.select_next_some() => {
                        if let Some((goal, cancels)) = decide(request, &name, &mut check) {
                            let (cancel, cancellation) = oneshot::channel();
                            let work = Goal {
                                wanted: goal.goal.clone(),
                                handle: Mutex::new(goal.clone()),
                                cancellation: cancellation.shared(),
                            };
                            running.push(run(goal, execute(work), cancels, cancel));
                        }
                    }
                    complete => return,
                }
            }
        });
        Ok(())
    }
}

fn decide<A, C>(
    request: ActionServerGoalRequest<A>,
    action: &str,
    check: &mut C,
) -> Option<(ActionServerGoal<A>, impl Stream<Item = ActionServerCancelRequest> + Unpin + use<A, C>)>
where
    A: WrappedActionTypeSupport + 'static,
    C: FnMut(&A::Goal) -> Result<(), String>,
{
    let answered = match check(&request.goal) {
        Ok(()) => request.accept().map(Some),
        Err(reason) => {
            tracing::warn!(action, goal = %request.uuid, reason, "goal rejected");
            request.reject().map(|()| None)
        }
    };
    answered.unwrap_or_else(|error| {
        tracing::warn!(%error, action, "answering a goal request failed");
        None
    })
}

async fn run<A: WrappedActionTypeSupport + 'static>(
    mut goal: ActionServerGoal<A>,
    work: impl Future<Output = Outcome<A::Result>>,
    mut cancels: impl Stream<Item = ActionServerCancelRequest> + Unpin,
    cancel: oneshot::Sender<()>,
) {
    let mut cancel = Some(cancel);
    let mut work = std::pin::pin!(work);
    let outcome = loop {
        match select(work.as_mut(), cancels.next()).await {
            Either::Left((outcome, _)) => break outcome,
            Either::Right((Some(request), _)) => {
                request.accept();
                cancel.take().map(|cancel| cancel.send(()));
            }
            Either::Right((None, _)) => break work.await,
        }
    };
    let was_canceled = cancel.is_none();
    let ended = match outcome {
        // In r2r a cancelling goal can only end as canceled.
        Outcome::Succeeded(result) | Outcome::Aborted(result) if was_canceled && cfg!(feature = "r2r") => {
            goal.cancel(result)
        }
        Outcome::Succeeded(result) => goal.succeed(result),
        Outcome::Aborted(result) => goal.abort(result),
        Outcome::Canceled(result) => goal.cancel(result),
    };
    if let Err(error) = ended {
        tracing::warn!(%error, goal = %goal.uuid, "sending a goal result failed");
    }
}

//! Action servers.
//!
//! Goal requests are a stream that the node reads; cancel and result requests are handled in the background, so that a
//! node that is busy with one goal can still be stopped.

use std::collections::{BTreeMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context as TaskContext, Poll, ready};
use std::time::{Duration, Instant};

use dragoman_time::precise_sleep;
use futures::channel::{mpsc, oneshot};
use futures::future::join_all;
use futures::{Stream, StreamExt};
use parking_lot::Mutex;
use uuid::Uuid;

use super::goals::{Goals, MAX_ENDED};
use super::{GoalStatus, QUEUE_LENGTH, from_message, part_name, status_qos, to_message};
use crate::action_msgs::msg::{GoalInfo, GoalStatusArray};
use crate::action_msgs::srv::CancelGoal;
use crate::embedded::WrappedServiceTypeSupport;
use crate::embedded::background::{Spawner, Task};
use crate::embedded::clock::{Clock, lock};
use crate::embedded::error::{Error, Result};
use crate::embedded::node::Node;
use crate::embedded::publisher::Publisher;
use crate::embedded::qos::QosProfile;
use crate::embedded::service::{Server, ServiceRequest};
use crate::times::SharedClock;
use crate::{WrappedActionTypeSupport, builtin_interfaces};

type ResultResponse<T> = <<T as WrappedActionTypeSupport>::GetResult as WrappedServiceTypeSupport>::Response;

/// Time for which an ended goal and its result are kept.
pub(crate) const RESULT_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// Maximum number of result requests waiting for the end of one goal; beyond that the oldest is not answered.
const MAX_WAITING: usize = 64;

/// The goal requests of one action.
pub(crate) struct ActionServer<T: WrappedActionTypeSupport> {
    requests: Server<T::SendGoal>,
    shared: Arc<Shared<T>>,
}

struct Shared<T: WrappedActionTypeSupport> {
    board: Arc<Board>,
    feedback: Publisher<T::FeedbackMessage>,
    records: Mutex<BTreeMap<Uuid, Record<T>>>,
    clock: SharedClock,
    background: Spawner,
    result_timeout: Duration,
    /// Ended goals with the times of their removal, earliest first.
    ended: Mutex<VecDeque<(Instant, Uuid)>>,
    attending: OnceLock<Task>,
}

/// Data of a goal besides its status.
struct Record<T: WrappedActionTypeSupport> {
    cancel_requests: mpsc::Sender<ActionServerCancelRequest>,
    result: Option<ResultResponse<T>>,
    waiting: VecDeque<ServiceRequest<T::GetResult>>,
}

/// The goals with their status topic.
struct Board {
    goals: Mutex<Goals>,
    status: Publisher<GoalStatusArray>,
}

impl Board {
    fn publish(&self, goals: &Goals) {
        if let Err(error) = self.status.publish(&goals.message()) {
            tracing::warn!(%error, "publishing the goal status failed");
        }
    }

    fn advance(&self, id: Uuid, status: GoalStatus) -> Result<()> {
        // Held while publishing, so that no older status is published last.
        let mut goals = self.goals.lock();
        if !goals.advance(id, status) {
            return Err(Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID);
        }
        self.publish(&goals);
        Ok(())
    }
}

impl<T: WrappedActionTypeSupport> ActionServer<T> {
    pub(crate) fn new(node: &mut Node, action: &str, result_timeout: Duration) -> Result<Self> {
        let qos = QosProfile::services_default();
        let requests = node.server(&part_name(action, "send_goal"), &qos)?;
        let cancels = node.server(&part_name(action, "cancel_goal"), &qos)?;
        let results = node.server(&part_name(action, "get_result"), &qos)?;
        let feedback = node.create_publisher(&part_name(action, "feedback"), QosProfile::default())?;
        let status = node.create_publisher(&part_name(action, "status"), status_qos())?;
        let background = node.context().background();
        let shared = Arc::new(Shared {
            board: Arc::new(Board { goals: Mutex::default(), status }),
            feedback,
            records: Mutex::default(),
            clock: node.get_ros_clock(),
            background: background.spawner(),
            result_timeout,
            ended: Mutex::default(),
            attending: OnceLock::new(),
        });
        let attending = attend(Arc::downgrade(&shared), cancels, results);
        let _ = shared.attending.set(background.spawner().spawn_owned(attending));
        Ok(Self { requests, shared })
    }
}

impl<T: WrappedActionTypeSupport> Stream for ActionServer<T> {
    type Item = ActionServerGoalRequest<T>;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let Some(request) = ready!(Pin::new(&mut self.requests).poll_next(task)) else {
                return Poll::Ready(None);
            };
            let (id, goal) = T::destructure_goal_request_msg(request.message.clone());
            let request = ActionServerGoalRequest {
                uuid: from_message(&id),
                goal,
                request,
                server: Arc::clone(&self.shared),
            };
            if self.shared.board.goals.lock().status(request.uuid).is_none() {
                return Poll::Ready(Some(request));
            }
            tracing::warn!(action = T::TYPE_NAME, goal = %request.uuid, "goal rejected: id already in use");
            if let Err(error) = request.reject() {
                tracing::warn!(%error, "rejecting a goal failed");
            }
        }
    }
}

async fn attend<T: WrappedActionTypeSupport>(
    server: Weak<Shared<T>>,
    cancels: Server<CancelGoal::Service>,
    results: Server<T::GetResult>,
) {
    let (mut cancels, mut results) = (cancels.fuse(), results.fuse());
    loop {
        futures::select_biased! {
            request = cancels.select_next_some() => {
                let Some(server) = server.upgrade() else { return };
                server.cancel(request);
            }
            request = results.select_next_some() => {
                let Some(server) = server.upgrade() else { return };
                server.send_result(request);
            }
        }
    }
}

impl<T: WrappedActionTypeSupport> Shared<T> {
    /// Queries every selected goal, and responds when all have decided.
    fn cancel(&self, request: ServiceRequest<CancelGoal::Service>) {
        let meant = self.board.goals.lock().to_cancel(&request.message.goal_info);
        let (goals, mut return_code) = match meant {
            Ok(goals) => (goals, CancelGoal::Response::ERROR_NONE),
            Err(code) => (Vec::new(), code),
        };
        let asked = !goals.is_empty();
        let decisions: Vec<_> = goals
            .into_iter()
            .map(|goal| {
                let decision = self.ask_to_cancel(&goal);
                // A goal that drops the request does not cancel.
                async move { decision.await.unwrap_or(false).then_some(goal) }
            })
            .collect();
        self.background.spawn(async move {
            let goals_canceling: Vec<GoalInfo> = join_all(decisions).await.into_iter().flatten().collect();
            if asked && goals_canceling.is_empty() {
                return_code = CancelGoal::Response::ERROR_REJECTED;
            }
            let return_code = i8::try_from(return_code).unwrap_or_default();
            answer(request, CancelGoal::Response { return_code, goals_canceling });
        });
    }

    fn ask_to_cancel(&self, goal: &GoalInfo) -> oneshot::Receiver<bool> {
        let uuid = from_message(&goal.goal_id);
        let (decision, decided) = oneshot::channel();
        if let Some(record) = self.records.lock().get_mut(&uuid) {
            let request = ActionServerCancelRequest { uuid, board: Arc::clone(&self.board), decision };
            if record.cancel_requests.try_send(request).is_err() {
                tracing::debug!(goal = %uuid, "cancel request dropped: queue full");
            }
        }
        decided
    }

    fn send_result(&self, request: ServiceRequest<T::GetResult>) {
        let uuid = from_message(&T::destructure_result_request_msg(request.message.clone()));
        let mut records = self.records.lock();
        let response = match records.get_mut(&uuid) {
            None => T::make_result_response_msg(GoalStatus::Unknown.to_rcl(), T::Result::default()),
            Some(Record { result: Some(result), .. }) => result.clone(),
            Some(record) => {
                if record.waiting.len() >= MAX_WAITING {
                    record.waiting.pop_front();
                }
                record.waiting.push_back(request);
                return;
            }
        };
        drop(records);
        answer(request, response);
    }

    fn end(self: &Arc<Self>, uuid: Uuid, status: GoalStatus, result: T::Result) -> Result<()> {
        self.board.advance(uuid, status)?;
        let response = T::make_result_response_msg(status.to_rcl(), result);
        let waiting = self.records.lock().get_mut(&uuid).map(|record| {
            record.result = Some(response.clone());
            std::mem::take(&mut record.waiting)
        });
        for request in waiting.into_iter().flatten() {
            answer(request, response.clone());
        }
        let superfluous = self.board.goals.lock().superfluous();
        if let Some(oldest) = superfluous {
            self.forget(oldest);
        }
        self.forget_in_time(uuid);
        Ok(())
    }

    /// Removes expired results. One task serves all results: there may be many a second.
    fn forget_in_time(self: &Arc<Self>, uuid: Uuid) {
        let mut ended = self.ended.lock();
        while ended.len() > 2 * MAX_ENDED {
            // Removed before, because there were too many.
            ended.pop_front();
        }
        ended.push_back((dragoman_time::now() + self.result_timeout, uuid));
        if ended.len() > 1 {
            return;
        }
        let (server, timeout) = (Arc::downgrade(self), self.result_timeout);
        self.background.spawn(async move {
            let mut wait = timeout;
            loop {
                precise_sleep(wait).await;
                let Some(server) = server.upgrade() else { return };
                let mut ended = server.ended.lock();
                let now = dragoman_time::now();
                wait = loop {
                    match ended.front() {
                        None => return,
                        Some((end, _)) if *end > now => break end.duration_since(now),
                        Some((_, uuid)) => server.forget(*uuid),
                    }
                    ended.pop_front();
                };
            }
        });
    }

    fn forget(&self, uuid: Uuid) {
        self.board.goals.lock().forget(uuid);
        self.records.lock().remove(&uuid);
    }
}

fn answer<S: WrappedServiceTypeSupport>(request: ServiceRequest<S>, response: S::Response) {
    if let Err(error) = request.respond(response) {
        tracing::warn!(%error, service = S::TYPE_NAME, "sending a response failed");
    }
}

/// A goal waiting to be accepted or rejected.
pub struct ActionServerGoalRequest<T: WrappedActionTypeSupport> {
    /// The goal's id, chosen by its client.
    pub uuid: Uuid,
    /// The goal message.
    pub goal: T::Goal,
    request: ServiceRequest<T::SendGoal>,
    server: Arc<Shared<T>>,
}

impl<T: WrappedActionTypeSupport> ActionServerGoalRequest<T> {
    /// Accepts the goal, which is executing from now on. Requests to cancel it arrive on the stream.
    ///
    /// # Errors
    /// A goal of the same id was accepted meanwhile; an error of the middleware.
    pub fn accept(
        self,
    ) -> Result<(ActionServerGoal<T>, impl Stream<Item = ActionServerCancelRequest> + Send + Unpin + use<T>)>
    {
        let Self { uuid, goal, request, server } = self;
        let stamp: builtin_interfaces::msg::Time = Clock::to_builtin_time(&lock(&server.clock).get_now()?);
        let (sender, cancel_requests) = mpsc::channel(QUEUE_LENGTH);
        if !server.board.goals.lock().add(uuid, stamp.clone()) {
            request.respond(T::make_goal_response_msg(false, stamp))?;
            return Err(Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID);
        }
        let record = Record { cancel_requests: sender, result: None, waiting: VecDeque::new() };
        server.records.lock().insert(uuid, record);
        let execution = Arc::new(Execution { uuid, server: Arc::clone(&server) });
        request.respond(T::make_goal_response_msg(true, stamp))?;
        server.board.publish(&server.board.goals.lock());
        Ok((ActionServerGoal { uuid, goal, execution }, cancel_requests))
    }

    /// Refuses the goal.
    ///
    /// # Errors
    /// An error of the middleware.
    pub fn reject(self) -> Result<()> {
        self.request.respond(T::make_goal_response_msg(false, builtin_interfaces::msg::Time::default()))
    }
}

/// A request to cancel a goal. Dropping it undecided rejects it.
pub struct ActionServerCancelRequest {
    /// The goal's id.
    pub uuid: Uuid,
    board: Arc<Board>,
    decision: oneshot::Sender<bool>,
}

impl ActionServerCancelRequest {
    /// Accepts: the goal is cancelling from now on, and must be ended soon.
    pub fn accept(self) {
        let is_canceling = self.board.advance(self.uuid, GoalStatus::Canceling).is_ok()
            || self.board.goals.lock().status(self.uuid) == Some(GoalStatus::Canceling);
        let _ = self.decision.send(is_canceling);
    }

    /// Rejects: the goal continues.
    pub fn reject(self) {
        let _ = self.decision.send(false);
    }
}

/// An accepted goal. Clones share it; if the last is dropped before the goal has ended, it is aborted, or canceled if
/// it was cancelling.
pub struct ActionServerGoal<T: WrappedActionTypeSupport> {
    /// The goal's id, chosen by its client.
    pub uuid: Uuid,
    /// The goal message.
    pub goal: T::Goal,
    execution: Arc<Execution<T>>,
}

impl<T: WrappedActionTypeSupport> Clone for ActionServerGoal<T> {
    fn clone(&self) -> Self {
        Self { uuid: self.uuid, goal: self.goal.clone(), execution: Arc::clone(&self.execution) }
    }
}

impl<T: WrappedActionTypeSupport> ActionServerGoal<T> {
    /// Whether a request to cancel the goal was accepted and the goal has not ended.
    ///
    /// # Errors
    /// The goal ended so long ago that it was removed.
    pub fn is_cancelling(&self) -> Result<bool> {
        let status = self.execution.server.board.goals.lock().status(self.uuid);
        Ok(status.ok_or(Error::RCL_RET_ACTION_GOAL_HANDLE_INVALID)? == GoalStatus::Canceling)
    }

    /// Sends feedback to the client.
    ///
    /// # Errors
    /// A fixed array of a wrong length; reliable readers that do not keep up.
    pub fn publish_feedback(&self, msg: T::Feedback) -> Result<()> {
        self.execution.server.feedback.publish(&T::make_feedback_msg(to_message(self.uuid), msg))
    }

    /// Ends the goal as canceled.
    ///
    /// # Errors
    /// It has ended before.
    pub fn cancel(&mut self, msg: T::Result) -> Result<()> {
        self.execution.server.end(self.uuid, GoalStatus::Canceled, msg)
    }

    /// Ends the goal as aborted.
    ///
    /// # Errors
    /// It has ended before.
    pub fn abort(&mut self, msg: T::Result) -> Result<()> {
        self.execution.server.end(self.uuid, GoalStatus::Aborted, msg)
    }

    /// Ends the goal as succeeded.
    ///
    /// # Errors
    /// It has ended before.
    pub fn succeed(&mut self, msg: T::Result) -> Result<()> {
        self.execution.server.end(self.uuid, GoalStatus::Succeeded, msg)
    }
}

/// State shared by all clones of a goal.
struct Execution<T: WrappedActionTypeSupport> {
    uuid: Uuid,
    server: Arc<Shared<T>>,
}

impl<T: WrappedActionTypeSupport> Drop for Execution<T> {
    fn drop(&mut self) {
        let status = self.server.board.goals.lock().status(self.uuid);
        let outcome = match status {
            Some(GoalStatus::Canceling) => GoalStatus::Canceled,
            Some(status) if !status.is_terminal() => GoalStatus::Aborted,
            _ => return,
        };
        tracing::warn!(action = T::TYPE_NAME, goal = %self.uuid, %outcome, "goal dropped");
        let _ = self.server.end(self.uuid, outcome, T::Result::default());
    }
}

#[cfg(test)]
mod tests {
    use futures::executor::block_on;

    use super::*;
    use crate::embedded::{Arguments, Context, Discovery, DiscoveryRange};
    use crate::test_msgs::action::Fibonacci;

    #[test]
    fn results_are_forgotten_after_their_time() {
        let discovery =
            Discovery { domain_id: 100, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        let mut node = Node::create(context, "node", &format!("/run{}", std::process::id())).unwrap();
        let mut server =
            ActionServer::<Fibonacci::Action>::new(&mut node, "fibonacci", Duration::from_millis(50))
                .unwrap();
        let client = node.create_action_client::<Fibonacci::Action>("fibonacci").unwrap();
        let sent = client.send_goal_request(Fibonacci::Goal::default()).unwrap();
        let (mut goal, _cancels) = block_on(server.next()).unwrap().accept().unwrap();
        let (_, result, _) = block_on(sent).unwrap();
        goal.succeed(Fibonacci::Result::default()).unwrap();
        assert_eq!(block_on(result).unwrap().0, GoalStatus::Succeeded);
        while server.shared.board.goals.lock().status(goal.uuid).is_some() {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(goal.is_cancelling().is_err());
        let get: crate::Client<Fibonacci::GetResult::Service> = node
            .create_client(&part_name("fibonacci", "get_result"), QosProfile::services_default())
            .unwrap();
        let ask = Fibonacci::GetResult::Request { goal_id: to_message(goal.uuid) };
        let answer = block_on(get.request(&ask).unwrap()).unwrap();
        assert_eq!(answer.status, GoalStatus::Unknown.to_rcl());
    }
}

//! Action clients.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use dragoman_time::precise_sleep;
use futures::channel::{mpsc, oneshot};
use futures::future::{BoxFuture, Either, select};
use futures::{FutureExt, Stream, StreamExt};
use parking_lot::Mutex;
use uuid::Uuid;

use super::{GoalStatus, QUEUE_LENGTH, from_message, part_name, status_qos, to_message};
use crate::WrappedActionTypeSupport;
use crate::action_msgs::msg::{GoalInfo, GoalStatusArray};
use crate::action_msgs::srv::CancelGoal;
use crate::embedded::background::{Spawner, Task};
use crate::embedded::client::{Client, IsAvailablePollable};
use crate::embedded::dds::Reader;
use crate::embedded::error::{Error, Result};
use crate::embedded::node::Node;
use crate::embedded::qos::QosProfile;
use crate::embedded::subscription::Subscription;

/// A client of one action. Clones share it.
pub struct ActionClient<T: WrappedActionTypeSupport> {
    shared: Arc<Shared<T>>,
}

impl<T: WrappedActionTypeSupport> Clone for ActionClient<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared) }
    }
}

struct Shared<T: WrappedActionTypeSupport> {
    send_goal: Client<T::SendGoal>,
    cancel_goal: Client<CancelGoal::Service>,
    get_result: Client<T::GetResult>,
    /// Readers of feedback and status.
    readers: [Arc<Reader>; 2],
    /// Goals whose results are awaited.
    goals: Mutex<BTreeMap<Uuid, Awaited<T>>>,
    background: Spawner,
    listening: OnceLock<Task>,
}

struct Awaited<T: WrappedActionTypeSupport> {
    status: Arc<Mutex<GoalStatus>>,
    feedback: mpsc::Sender<T::Feedback>,
}

impl<T: WrappedActionTypeSupport> ActionClient<T> {
    pub(crate) fn new(node: &mut Node, action: &str) -> Result<Self> {
        let qos = QosProfile::services_default();
        let feedback: Subscription<T::FeedbackMessage> =
            node.subscription(&part_name(action, "feedback"), &QosProfile::default())?;
        let status = node.subscription(&part_name(action, "status"), &status_qos())?;
        let shared = Arc::new(Shared {
            send_goal: node.create_client(&part_name(action, "send_goal"), qos.clone())?,
            cancel_goal: node.create_client(&part_name(action, "cancel_goal"), qos.clone())?,
            get_result: node.create_client(&part_name(action, "get_result"), qos)?,
            readers: [feedback.reader(), status.reader()],
            goals: Mutex::default(),
            background: node.context().background().spawner(),
            listening: OnceLock::new(),
        });
        let listening = listen(Arc::downgrade(&shared), feedback, status);
        let _ = shared.listening.set(shared.background.spawn_owned(listening));
        Ok(Self { shared })
    }

    /// Sends a goal. When it is accepted, the future resolves with the goal, a future of its status and result, and a
    /// stream of feedback, which ends with the result. Unread feedback is dropped after ten messages.
    ///
    /// # Errors
    /// A fixed array of a wrong length; an error of the middleware. The future's:
    /// [`Error::RCL_RET_ACTION_GOAL_REJECTED`]; [`Error::Timeout`] if the server is lost. The result's: the client is
    /// gone; the server is lost.
    #[allow(clippy::type_complexity)] // It is r2r's.
    pub fn send_goal_request(
        &self,
        goal: T::Goal,
    ) -> Result<
        impl Future<
            Output = Result<(
                ActionClientGoal<T>,
                impl Future<Output = Result<(GoalStatus, T::Result)>> + Send + Unpin + use<T>,
                impl Stream<Item = T::Feedback> + Send + Unpin + use<T>,
            )>,
        > + Send
        + use<T>,
    > {
        let uuid = uuid::Builder::from_random_bytes(dragoman_time::random_bytes("goal")).into_uuid();
        let status = Arc::new(Mutex::new(GoalStatus::Unknown));
        let (sender, feedback) = mpsc::channel(QUEUE_LENGTH);
        // Feedback may arrive before the response to the request.
        let awaited = Awaited { status: Arc::clone(&status), feedback: sender };
        self.shared.goals.lock().insert(uuid, awaited);
        let entry = Entry { client: Arc::downgrade(&self.shared), uuid };
        let accepted = self.shared.send_goal.request(&T::make_goal_request_msg(to_message(uuid), goal))?;
        let shared = Arc::clone(&self.shared);
        let lost = self.shared.send_goal.server_lost();
        Ok(async move {
            let response = unless_lost(accepted, lost).await?;
            let (accepted, _stamp) = T::destructure_goal_response_msg(response);
            if !accepted {
                return Err(Error::RCL_RET_ACTION_GOAL_REJECTED);
            }
            let result = shared.await_result(entry, Arc::clone(&status))?;
            Ok((ActionClientGoal { uuid, shared, status }, result, feedback))
        })
    }
}

impl<T: WrappedActionTypeSupport> Shared<T> {
    #[allow(clippy::type_complexity)]
    fn await_result(
        &self,
        entry: Entry<T>,
        status: Arc<Mutex<GoalStatus>>,
    ) -> Result<impl Future<Output = Result<(GoalStatus, T::Result)>> + Send + Unpin + use<T>> {
        let answer = self.get_result.request(&T::make_result_request_msg(to_message(entry.uuid)))?;
        let lost = self.get_result.server_lost();
        let (sender, receiver) = oneshot::channel();
        // The end is recorded even if the result is not awaited.
        self.background.spawn(async move {
            let ended = unless_lost(answer, lost).await.map(|response| {
                let (code, result) = T::destructure_result_response_msg(response);
                (GoalStatus::from_rcl(code), result)
            });
            drop(entry);
            if let Ok((outcome, _)) = &ended {
                *status.lock() = *outcome;
            }
            let _ = sender.send(ended);
        });
        Ok(receiver.map(|ended| ended.unwrap_or(Err(Error::RCL_RET_ACTION_CLIENT_INVALID))))
    }

    fn take_feedback(&self, message: T::FeedbackMessage) {
        let (id, feedback) = T::destructure_feedback_msg(message);
        if let Some(awaited) = self.goals.lock().get_mut(&from_message(&id)) {
            // The queue is full or closed: that is up to the goal's owner.
            let _ = awaited.feedback.try_send(feedback);
        }
    }

    fn take_status(&self, message: &GoalStatusArray) {
        let goals = self.goals.lock();
        for entry in &message.status_list {
            if let Some(awaited) = goals.get(&from_message(&entry.goal_info.goal_id)) {
                *awaited.status.lock() = GoalStatus::from_rcl(entry.status);
            }
        }
    }
}

/// The response, or an error if the server is lost before it comes: the request has no other timeout.
async fn unless_lost<R>(
    answer: impl Future<Output = Result<R>> + Unpin,
    lost: impl Future<Output = ()>,
) -> Result<R> {
    match select(answer, std::pin::pin!(lost)).await {
        Either::Left((answer, _)) => answer,
        Either::Right(_) => Err(Error::Timeout("the action server is lost".into())),
    }
}

async fn listen<T: WrappedActionTypeSupport>(
    client: Weak<Shared<T>>,
    feedback: Subscription<T::FeedbackMessage>,
    status: Subscription<GoalStatusArray>,
) {
    let (mut feedback, mut status) = (feedback.fuse(), status.fuse());
    loop {
        futures::select_biased! {
            message = feedback.select_next_some() => {
                let Some(client) = client.upgrade() else { return };
                client.take_feedback(message);
            }
            message = status.select_next_some() => {
                let Some(client) = client.upgrade() else { return };
                client.take_status(&message);
            }
        }
    }
}

/// The entry of a goal whose result is awaited; removed when dropped.
struct Entry<T: WrappedActionTypeSupport> {
    client: Weak<Shared<T>>,
    uuid: Uuid,
}

impl<T: WrappedActionTypeSupport> Drop for Entry<T> {
    fn drop(&mut self) {
        if let Some(client) = self.client.upgrade() {
            client.goals.lock().remove(&self.uuid);
        }
    }
}

/// A goal that a server has accepted.
pub struct ActionClientGoal<T: WrappedActionTypeSupport> {
    /// The goal's id.
    pub uuid: Uuid,
    shared: Arc<Shared<T>>,
    status: Arc<Mutex<GoalStatus>>,
}

impl<T: WrappedActionTypeSupport> Clone for ActionClientGoal<T> {
    fn clone(&self) -> Self {
        Self { uuid: self.uuid, shared: Arc::clone(&self.shared), status: Arc::clone(&self.status) }
    }
}

impl<T: WrappedActionTypeSupport> ActionClientGoal<T> {
    /// The last status received from the server.
    ///
    /// # Errors
    /// None in this implementation.
    pub fn get_status(&self) -> Result<GoalStatus> {
        Ok(*self.status.lock())
    }

    /// Requests the server to cancel the goal. The future resolves when it has agreed; the goal ends later, with a
    /// result.
    ///
    /// # Errors
    /// An error of the middleware. The future's: [`Error::GoalCancelRejected`], [`Error::GoalCancelUnknownGoalID`],
    /// [`Error::GoalCancelAlreadyTerminated`].
    pub fn cancel(&self) -> Result<impl Future<Output = Result<()>> + Send + use<T>> {
        use CancelGoal::Response as Answer;
        let goal_info = GoalInfo { goal_id: to_message(self.uuid), ..Default::default() };
        let answer = self.shared.cancel_goal.request(&CancelGoal::Request { goal_info })?;
        Ok(answer.map(|answer| match u32::try_from(answer?.return_code).ok() {
            Some(Answer::ERROR_NONE) => Ok(()),
            Some(Answer::ERROR_UNKNOWN_GOAL_ID) => Err(Error::GoalCancelUnknownGoalID),
            Some(Answer::ERROR_GOAL_TERMINATED) => Err(Error::GoalCancelAlreadyTerminated),
            _ => Err(Error::GoalCancelRejected),
        }))
    }
}

impl<T: WrappedActionTypeSupport> IsAvailablePollable for ActionClient<T> {
    fn available(&self) -> BoxFuture<'static, Result<()>> {
        let Shared { send_goal, cancel_goal, get_result, readers, .. } = &*self.shared;
        let services = [send_goal.available(), cancel_goal.available(), get_result.available()];
        let readers = readers.each_ref().map(Arc::downgrade);
        Box::pin(async move {
            for service in services {
                service.await?;
            }
            for reader in readers {
                while reader.upgrade().ok_or(Error::RCL_RET_ACTION_CLIENT_INVALID)?.matched() == 0 {
                    precise_sleep(Duration::from_millis(20)).await;
                }
            }
            Ok(())
        })
    }
}

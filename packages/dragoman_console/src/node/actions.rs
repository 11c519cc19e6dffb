//! Actions of ROS for clients: three services and a topic of each action (ROS 2's design article "Actions").

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::{QosProfile, raw};
use dragoman_types::json::{from_cdr, to_cdr, to_cdr_at};
use dragoman_types::schema::{Structure, full_name};
use futures::StreamExt;
use futures::future::{AbortHandle, abortable};
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::bounds::bytes_of;
use super::calls::CallTime;
use super::client::Client;
use super::hub::Hub;
use crate::rosbridge::Reply;

/// Time for a goal's result.
const RESULT_TIME: Duration = Duration::from_secs(24 * 3600);
/// Queue depth of feedback.
const DEPTH: usize = 10;
/// The code of `action_msgs/msg/GoalStatus` for goals that were not accepted.
const UNKNOWN: i8 = 0;

/// The goals of clients that have not ended.
#[derive(Default)]
pub(crate) struct Goals {
    goals: Mutex<BTreeMap<GoalKey, Goal>>,
}

/// A client, and its name for a goal as JSON.
type GoalKey = (u64, String);

struct Goal {
    action: String,
    uuid: Uuid,
    /// Ends waiting for the result and for feedback. The goal itself continues, as with every client of an action.
    waiting: AbortHandle,
}

impl Drop for Goal {
    fn drop(&mut self) {
        self.waiting.abort();
    }
}

impl Goals {
    /// Removes the goals of a client.
    pub(crate) fn leave(&self, client: &Client) {
        self.goals.lock().retain(|(owner, _), _| *owner != client.id);
    }
}

/// The types of an action's parts.
struct Parts {
    send: [Arc<Structure>; 2],
    get: [Arc<Structure>; 2],
    feedback: Arc<Structure>,
    result: Arc<Structure>,
}

impl Hub {
    /// Sends a goal for a client, in the background.
    pub(crate) fn begin_goal(
        self: &Arc<Self>,
        client: &Arc<Client>,
        reply: Reply,
        action: String,
        type_name: String,
        goal: Value,
        feedback: bool,
    ) {
        let refuse = |reason: &str| {
            client.with(|session| session.action_result(&reply, &action, UNKNOWN, Err(reason)))
        };
        let key = (client.id, reply.id.clone().unwrap_or_default().to_string());
        let mut goals = self.goals.goals.lock();
        if goals.contains_key(&key) {
            return refuse("a goal of this id has not ended");
        }
        let counted = match client.begin_call(bytes_of(&goal)) {
            Ok(counted) => counted,
            Err(reason) => return refuse(&reason),
        };
        let uuid = super::random_uuid("console goal");
        let (hub, owner, name) = (Arc::clone(self), Arc::clone(client), action.clone());
        let own_key = key.clone();
        let (waiting, handle) = abortable(async move {
            let ended = hub.execute_goal(&owner, &reply, &name, &type_name, uuid, goal, feedback).await;
            let ended = ended.and_then(|ended| owner.room(ended.2.len()).map(|()| ended));
            // This task ends after it, as removing the goal aborts it.
            match &ended {
                Ok((status, structure, data)) => owner.with(|session| {
                    session.action_result(&reply, &name, *status, Ok((structure, data)));
                }),
                Err(reason) => {
                    owner.with(|session| session.action_result(&reply, &name, UNKNOWN, Err(reason)));
                }
            }
            hub.goals.goals.lock().remove(&own_key);
        });
        goals.insert(key, Goal { action, uuid, waiting: handle });
        drop(goals);
        dragoman_time::spawn(async move {
            let _ = waiting.await;
            drop(counted);
        });
    }

    /// Asks to end a goal of a client.
    pub(crate) fn cancel_goal(
        self: &Arc<Self>,
        client: &Arc<Client>,
        id: Option<&Value>,
        action: &str,
    ) -> Result<(), String> {
        let key = (client.id, id.cloned().unwrap_or_default().to_string());
        let uuid = {
            let goals = self.goals.goals.lock();
            let goal = goals.get(&key).filter(|goal| goal.action == action);
            goal.map(|goal| goal.uuid).ok_or("the goal is unknown or has ended")?
        };
        let (hub, client, action, id) =
            (Arc::clone(self), Arc::clone(client), action.to_owned(), id.cloned());
        client.clone().in_background(0, async move {
            let args = json!({ "goal_info": { "goal_id": { "uuid": uuid.as_bytes() } } });
            let service = format!("{action}/_action/cancel_goal");
            if let Err(reason) = hub.call(&service, Some("action_msgs/srv/CancelGoal"), args, None).await {
                client.error(id.as_ref(), &format!("cancel_action_goal {action}: {reason}"));
            }
        })
    }

    /// Sends a goal and waits for its end; returns status and result.
    #[allow(clippy::too_many_arguments)]
    async fn execute_goal(
        self: &Arc<Self>,
        client: &Arc<Client>,
        reply: &Reply,
        action: &str,
        type_name: &str,
        uuid: Uuid,
        goal: Value,
        feedback: bool,
    ) -> Result<(i8, Arc<Structure>, Vec<u8>), String> {
        let type_name = full_name(type_name, "action").map_err(|error| error.to_string())?;
        let parts = self.parts(&type_name)?;
        let goal_id = json!({ "uuid": uuid.as_bytes() });
        let [send, accepted] = &parts.send;
        client.commands.take(action);
        // A large goal is not copied, and not kept while it is carried out.
        let fields = Map::from_iter([("goal_id".to_owned(), goal_id.clone()), ("goal".to_owned(), goal)]);
        let request =
            to_cdr_at(send, &Value::Object(fields), Some(self.now())).map_err(|error| error.to_string())?;
        let _feedback = match feedback {
            true => {
                Some(self.forward_feedback(client, reply, action, &type_name, uuid, &parts.feedback).await?)
            }
            false => None,
        };
        let service = format!("{action}/_action/send_goal");
        let send_type = format!("{type_name}_SendGoal");
        let answer = self
            .call_serialized(&service, &send_type, [send, accepted], request, self.calls.time(None))
            .await?;
        if values(answer)?.get("accepted") != Some(&Value::Bool(true)) {
            return Err("the goal was rejected".to_owned());
        }
        let [get, ended] = &parts.get;
        let request = to_cdr(get, &json!({ "goal_id": goal_id })).map_err(|error| error.to_string())?;
        let service = format!("{action}/_action/get_result");
        let get_type = format!("{type_name}_GetResult");
        let time = CallTime { all: RESULT_TIME, ..self.calls.time(None) };
        let answer = self.call_serialized(&service, &get_type, [get, ended], request, time).await?;
        let answer = values(answer)?;
        let status =
            answer.get("status").and_then(Value::as_i64).and_then(|status| i8::try_from(status).ok());
        let result = answer.get("result").cloned().unwrap_or_default();
        let data = to_cdr(&parts.result, &result).map_err(|error| error.to_string())?;
        Ok((status.unwrap_or(UNKNOWN), parts.result, data))
    }

    fn parts(&self, type_name: &str) -> Result<Parts, String> {
        let part =
            |part: &str| self.types.part(&format!("{type_name}_{part}")).map_err(|error| error.to_string());
        Ok(Parts {
            send: [part("SendGoal_Request")?, part("SendGoal_Response")?],
            get: [part("GetResult_Request")?, part("GetResult_Response")?],
            feedback: part("Feedback")?,
            result: part("Result")?,
        })
    }

    /// Passes feedback of a goal to its client, until the returned value is dropped.
    async fn forward_feedback(
        self: &Arc<Self>,
        client: &Arc<Client>,
        reply: &Reply,
        action: &str,
        type_name: &str,
        uuid: Uuid,
        structure: &Arc<Structure>,
    ) -> Result<Forwarding, String> {
        let (topic, type_name) =
            (format!("{action}/_action/feedback"), format!("{type_name}_FeedbackMessage"));
        let made = self.temporary.make(&self.temporary.topics, move |inside| {
            let qos = QosProfile::default().keep_last(DEPTH);
            raw::subscribe(&mut inside.node, &topic, &type_name, qos).map(StreamExt::boxed)
        });
        let (made, place) = made.await.map_err(|error| error.to_string())?;
        let mut messages = made.map_err(|error| error.to_string())?;
        let (client, reply, structure) = (Arc::clone(client), reply.clone(), Arc::clone(structure));
        let action = action.to_owned();
        let (forwarding, handle) = abortable(async move {
            let _place = place;
            while let Some(message) = messages.next().await {
                if let Some(data) = feedback_of(&message.data, uuid) {
                    client.with(|session| session.action_feedback(&reply, &action, (&structure, &data)));
                }
            }
        });
        dragoman_time::spawn(forwarding);
        Ok(Forwarding(handle))
    }
}

/// Ends a task when it is dropped.
struct Forwarding(AbortHandle);

impl Drop for Forwarding {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// The feedback in a feedback message of this goal. The id has 16 bytes, so that what follows is aligned without it.
fn feedback_of(message: &[u8], uuid: Uuid) -> Option<Vec<u8>> {
    let (header, body) = message.split_first_chunk::<4>()?;
    let (id, feedback) = body.split_first_chunk::<16>()?;
    (id == uuid.as_bytes()).then(|| [header.as_slice(), feedback].concat())
}

fn values((structure, data): super::calls::Response) -> Result<Value, String> {
    let text = from_cdr(&structure, &data).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn feedback_is_that_of_the_goal() {
        let uuid = Uuid::from_bytes([7; 16]);
        let message = [&[0, 1, 0, 0][..], &[7; 16], &[1, 0, 0, 0]].concat();
        assert_eq!(feedback_of(&message, uuid), Some(vec![0, 1, 0, 0, 1, 0, 0, 0]));
        assert_eq!(feedback_of(&message, Uuid::nil()), None);
        assert_eq!(feedback_of(&message[..19], uuid), None);
    }
}

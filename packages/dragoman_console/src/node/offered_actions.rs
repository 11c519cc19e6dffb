//! Actions of clients for ROS: a client executes the goals; their states, results and requests to cancel are kept here.
//! As in rosbridge every goal is accepted.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::{QosProfile, raw};
use dragoman_types::json::{from_cdr, to_cdr, to_cdr_at};
use dragoman_types::schema::{Structure, full_name};
use futures::StreamExt;
use futures::future::{AbortHandle, abortable};
use parking_lot::Mutex;
use serde_json::{Value, json};
use uuid::Uuid;

use super::bounds::{ACTIONS, Share};
use super::client::Client;
use super::hub::Hub;
use super::temporary::Place;

/// Maximum number of goals of an action, and requests that wait for the result of a goal.
const MAX_GOALS: usize = 64;
const MAX_WAITING: usize = 16;
/// Queue depth of feedback.
const DEPTH: usize = 10;

/// Codes of `action_msgs/msg/GoalStatus`.
const EXECUTING: i8 = 2;
const CANCELING: i8 = 3;
const SUCCEEDED: i8 = 4;
const ABORTED: i8 = 6;
/// Codes of `action_msgs/srv/CancelGoal`.
const CANCEL_NONE: i8 = 0;
const CANCEL_UNKNOWN: i8 = 2;
const CANCEL_TERMINATED: i8 = 3;

/// Actions of clients by name.
#[derive(Default)]
pub(crate) struct OfferedActions {
    actions: Mutex<BTreeMap<String, Offered>>,
}

struct Offered {
    client: Arc<Client>,
    types: Types,
    feedback: raw::Publisher,
    status: raw::Publisher,
    goals: BTreeMap<Uuid, Goal>,
    /// Ended goals, oldest first.
    ended: VecDeque<Uuid>,
    receiving: Vec<AbortHandle>,
    /// Its node.
    place: Arc<Place>,
}

/// The structures of the parts.
#[derive(Clone)]
struct Types {
    name: String,
    goal: Arc<Structure>,
    send_response: Arc<Structure>,
    get_response: Arc<Structure>,
    feedback: Arc<Structure>,
    cancel_request: Arc<Structure>,
    cancel_response: Arc<Structure>,
    status: Arc<Structure>,
}

struct Goal {
    status: i8,
    stamp: Value,
    /// The response of `get_result`.
    result: Option<(Vec<u8>, Option<Share>)>,
    waiting: Vec<raw::Request>,
}

/// The services of an action.
#[derive(Clone, Copy)]
enum Part {
    Send,
    Cancel,
    Result,
}

impl OfferedActions {
    /// Ends the actions of a client; returns what is to be destroyed.
    pub(crate) fn leave(&self, client: &Client) {
        let names: Vec<String> = {
            let actions = self.actions.lock();
            actions
                .iter()
                .filter(|(_, own)| own.client.id == client.id)
                .map(|(name, _)| name.clone())
                .collect()
        };
        for name in names {
            self.withdraw(client, &name);
        }
    }

    /// Ends an action of a client; its goals are aborted.
    pub(crate) fn withdraw(&self, client: &Client, action: &str) {
        let removed = {
            let mut actions = self.actions.lock();
            if actions.get(action).is_none_or(|offered| offered.client.id != client.id) {
                return;
            }
            actions.remove(action)
        };
        let Some(mut offered) = removed else { return };
        let open: Vec<Uuid> =
            offered.goals.iter().filter(|(_, goal)| goal.result.is_none()).map(|(uuid, _)| *uuid).collect();
        match offered.response(ABORTED, &json!({}), None) {
            Ok(data) => open.into_iter().for_each(|uuid| offered.end(uuid, ABORTED, data.clone(), None)),
            Err(reason) => tracing::warn!(action, reason, "aborting goals failed"),
        }
        offered.close();
    }

    /// Publishes feedback that a client gives for a goal.
    pub(crate) fn feedback(
        &self,
        client: &Client,
        id: &str,
        action: &str,
        values: &Value,
        now: Duration,
    ) -> Result<(), String> {
        let actions = self.actions.lock();
        let (offered, uuid) = own(&actions, client, id, action)?;
        let data =
            to_cdr_at(&offered.types.feedback, values, Some(now)).map_err(|error| error.to_string())?;
        let (header, body) = data.split_first_chunk::<4>().ok_or("no feedback")?;
        let message = [header.as_slice(), uuid.as_bytes(), body].concat();
        offered.feedback.publish(&message).map_err(|error| error.to_string())
    }

    /// Ends a goal as its client says.
    pub(crate) fn result(
        &self,
        client: &Client,
        id: &str,
        action: &str,
        (status, result, values): (i8, bool, &Value),
        now: Duration,
    ) -> Result<(), String> {
        let mut actions = self.actions.lock();
        let (_, uuid) = own(&actions, client, id, action)?;
        let offered = actions.get_mut(action).ok_or("the action is unknown")?;
        let status = match (result, status) {
            (true, status) => status,
            (false, SUCCEEDED) => ABORTED,
            (false, status) => status,
        };
        // The values of a failed goal may be a text.
        let values = if values.is_object() { values.clone() } else { json!({}) };
        let data = offered.response(status, &values, Some(now))?;
        let kept = offered.keep(data.len());
        let is_kept = kept.is_ok();
        offered.end(uuid, status, data, kept.ok());
        if !is_kept {
            // The clients that waited for it have received it.
            offered.goals.remove(&uuid);
            offered.ended.retain(|ended| *ended != uuid);
        }
        Ok(())
    }
}

/// The open goal of this id of a client.
fn own<'a>(
    actions: &'a BTreeMap<String, Offered>,
    client: &Client,
    id: &str,
    action: &str,
) -> Result<(&'a Offered, Uuid), String> {
    let offered = actions.get(action).filter(|offered| offered.client.id == client.id);
    let offered = offered.ok_or("the client does not offer it")?;
    let uuid = Uuid::try_parse(id).map_err(|_| "the goal is unknown")?;
    let goal = offered.goals.get(&uuid).filter(|goal| goal.result.is_none());
    goal.map(|_| (offered, uuid)).ok_or_else(|| "the goal is unknown or has ended".to_owned())
}

impl Offered {
    /// Ends what it has in ROS.
    fn close(self) {
        self.receiving.iter().for_each(AbortHandle::abort);
        let Self { feedback, status, place, .. } = self;
        place.ros.later(move |inside| {
            raw::destroy_publisher(&mut inside.node, feedback);
            raw::destroy_publisher(&mut inside.node, status);
        });
    }

    /// The response of `get_result`.
    fn response(&self, status: i8, values: &Value, now: Option<Duration>) -> Result<Vec<u8>, String> {
        let response = json!({ "status": status, "result": values });
        to_cdr_at(&self.types.get_response, &response, now).map_err(|error| error.to_string())
    }

    /// Counts a result of this number of bytes. If the client has too many, its oldest results are removed.
    fn keep(&mut self, bytes: usize) -> Result<Share, String> {
        let kept = self.client.keep(bytes);
        if kept.is_ok() {
            return kept;
        }
        let mut removed = 0;
        while removed < bytes && !self.ended.is_empty() {
            removed += self.remove_oldest();
        }
        self.client.keep(bytes)
    }

    /// Removes the goal that ended first; returns the bytes of its result.
    fn remove_oldest(&mut self) -> usize {
        let oldest = self.ended.pop_front().and_then(|oldest| self.goals.remove(&oldest));
        oldest.and_then(|goal| goal.result).map_or(0, |(data, _)| data.len())
    }

    /// Ends a goal; answers those who wait for its result.
    fn end(&mut self, uuid: Uuid, status: i8, data: Vec<u8>, kept: Option<Share>) {
        let Some(goal) = self.goals.get_mut(&uuid) else { return };
        goal.status = status;
        for request in std::mem::take(&mut goal.waiting) {
            if let Err(error) = request.respond(&data) {
                tracing::warn!(%error, "sending a goal result failed");
            }
        }
        goal.result = Some((data, kept));
        self.ended.push_back(uuid);
        self.publish_status();
    }

    fn publish_status(&self) {
        let list = self.goals.iter().map(|(uuid, goal)| {
            json!({ "goal_info": { "goal_id": { "uuid": uuid.as_bytes() }, "stamp": goal.stamp },
                "status": goal.status })
        });
        let message = json!({ "status_list": list.collect::<Value>() });
        let published = to_cdr(&self.types.status, &message)
            .map_err(|error| error.to_string())
            .and_then(|data| self.status.publish(&data).map_err(|error| error.to_string()));
        if let Err(reason) = published {
            tracing::warn!(reason, "publishing the goal status failed");
        }
    }

    /// Takes a goal; returns it serialized, for the client.
    fn take_goal(&mut self, request: raw::Request) -> Result<Option<(Uuid, Vec<u8>)>, String> {
        let parts = request.data.split_first_chunk::<4>();
        let parts = parts.and_then(|(header, body)| Some((header, body.split_first_chunk::<16>()?)));
        let (header, (id, goal)) = parts.ok_or("a goal is too short")?;
        let uuid = Uuid::from_bytes(*id);
        // The id is aligned to eight bytes, so that the goal is without it.
        let goal = [header.as_slice(), goal].concat();
        if self.goals.len() >= MAX_GOALS {
            self.remove_oldest();
        }
        let is_free = self.goals.len() < MAX_GOALS && !self.client.is_busy(goal.len());
        let accepted = is_free && !self.goals.contains_key(&uuid);
        let now = dragoman_time::wall_time();
        let stamp = json!({ "sec": now.as_secs(), "nanosec": now.subsec_nanos() });
        let response = json!({ "accepted": accepted, "stamp": stamp });
        let data = to_cdr(&self.types.send_response, &response).map_err(|error| error.to_string())?;
        if accepted {
            let new = Goal { status: EXECUTING, stamp, result: None, waiting: Vec::new() };
            self.goals.insert(uuid, new);
        }
        request.respond(&data).map_err(|error| error.to_string())?;
        if accepted {
            self.publish_status();
        }
        Ok(accepted.then_some((uuid, goal)))
    }

    /// Takes a request to cancel goals; returns those that the client must end.
    fn take_cancel(&mut self, request: raw::Request) -> Result<Vec<Uuid>, String> {
        let text = from_cdr(&self.types.cancel_request, &request.data).map_err(|error| error.to_string())?;
        let message: Value = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let bytes = message.pointer("/goal_info/goal_id/uuid").and_then(Value::as_str).unwrap_or_default();
        let uuid = {
            use base64::Engine;
            let bytes = base64::engine::general_purpose::STANDARD.decode(bytes).unwrap_or_default();
            Uuid::from_slice(&bytes).unwrap_or_default()
        };
        let time = |stamp: Option<&Value>| {
            let part = |key: &str| {
                stamp.and_then(|stamp| stamp.get(key)).and_then(Value::as_u64).unwrap_or_default()
            };
            (part("sec"), part("nanosec"))
        };
        let until = time(message.pointer("/goal_info/stamp"));
        // No id and no time: all. A time: all accepted until then, and that of the id.
        let is_meant = |id: &Uuid, goal: &Goal| {
            *id == uuid
                || (until != (0, 0) && time(Some(&goal.stamp)) <= until)
                || (uuid.is_nil() && until == (0, 0))
        };
        let meant: Vec<Uuid> =
            self.goals.iter().filter(|(id, goal)| is_meant(id, goal)).map(|(id, _)| *id).collect();
        let open: Vec<Uuid> = meant
            .iter()
            .filter(|id| self.goals.get(*id).is_some_and(|goal| goal.result.is_none()))
            .copied()
            .collect();
        let code = match (open.is_empty(), meant.is_empty(), uuid.is_nil()) {
            (false, _, _) | (true, _, true) => CANCEL_NONE,
            (true, true, false) => CANCEL_UNKNOWN,
            (true, false, false) => CANCEL_TERMINATED,
        };
        let mut canceling = Vec::new();
        for id in &open {
            if let Some(goal) = self.goals.get_mut(id) {
                goal.status = CANCELING;
                canceling.push(json!({ "goal_id": { "uuid": id.as_bytes() }, "stamp": goal.stamp }));
            }
        }
        let response = json!({ "return_code": code, "goals_canceling": canceling });
        let data = to_cdr(&self.types.cancel_response, &response).map_err(|error| error.to_string())?;
        request.respond(&data).map_err(|error| error.to_string())?;
        if !open.is_empty() {
            self.publish_status();
        }
        Ok(open)
    }

    /// Answers a request for a result, now or when the goal ends.
    fn take_result(&mut self, mut request: raw::Request) -> Result<(), String> {
        let id = request.data.get(4..20).and_then(|bytes| Uuid::from_slice(bytes).ok());
        let goal = id.and_then(|id| self.goals.get_mut(&id));
        let data = match goal {
            Some(Goal { result: Some((result, _)), .. }) => result.clone(),
            Some(goal) if goal.waiting.len() < MAX_WAITING => {
                // While it waits only its origin is needed.
                request.data = Vec::new();
                goal.waiting.push(request);
                return Ok(());
            }
            Some(_) => return Err("too many requests for a result".to_owned()),
            // Status 0: unknown.
            None => to_cdr(&self.types.get_response, &json!({})).map_err(|error| error.to_string())?,
        };
        request.respond(&data).map_err(|error| error.to_string())
    }
}

impl Hub {
    /// Offers an action of a client in ROS.
    pub(crate) async fn offer_action(
        self: &Arc<Self>,
        client: &Arc<Client>,
        action: &str,
        type_name: &str,
    ) -> Result<(), String> {
        let types = self.action_types(type_name)?;
        {
            let actions = self.offered_actions.actions.lock();
            match actions.get(action) {
                Some(offered) if offered.client.id == client.id => return Ok(()),
                Some(_) => return Err("another client offers it".to_owned()),
                None => {
                    let own = actions.values().filter(|own| own.client.id == client.id).count();
                    ACTIONS.check(own + 1, actions.len() + 1)?;
                }
            }
        }
        let (name, full) = (action.to_owned(), types.name.clone());
        let made = self.temporary.offer(&client.offers, move |inside| {
            let node = &mut inside.node;
            let topic = |part: &str| format!("{name}/_action/{part}");
            let send = raw::create_service(node, &topic("send_goal"), &format!("{full}_SendGoal"))?.boxed();
            let cancel =
                raw::create_service(node, &topic("cancel_goal"), "action_msgs/srv/CancelGoal")?.boxed();
            let result =
                raw::create_service(node, &topic("get_result"), &format!("{full}_GetResult"))?.boxed();
            let qos = QosProfile::default().keep_last(DEPTH);
            let feedback =
                raw::create_publisher(node, &topic("feedback"), &format!("{full}_FeedbackMessage"), qos)?;
            let qos = QosProfile::default().keep_last(1).transient_local();
            let status =
                raw::create_publisher(node, &topic("status"), "action_msgs/msg/GoalStatusArray", qos)?;
            Ok::<_, dragoman_ros::Error>(([send, cancel, result], feedback, status))
        });
        let (made, place) = made.await.map_err(|error| error.to_string())?;
        let (streams, feedback, status) = made.map_err(|error| error.to_string())?;
        let parts = [Part::Send, Part::Cancel, Part::Result];
        let receiving = parts.into_iter().zip(streams).map(|(part, mut requests)| {
            let (hub, name) = (Arc::downgrade(self), action.to_owned());
            let (receiving, handle) = abortable(async move {
                while let Some(request) = requests.next().await {
                    let Some(hub) = hub.upgrade() else { return };
                    if let Err(reason) = hub.take_action_request(&name, part, request) {
                        tracing::warn!(action = name, reason, "action request failed");
                    }
                }
            });
            dragoman_time::spawn(receiving);
            handle
        });
        let offered = Offered {
            client: Arc::clone(client),
            types,
            feedback,
            status,
            goals: BTreeMap::new(),
            ended: VecDeque::new(),
            receiving: receiving.collect(),
            place,
        };
        let mut actions = self.offered_actions.actions.lock();
        // Meanwhile another one may have offered it.
        if actions.contains_key(action) {
            offered.close();
            return Err("another client offers it".to_owned());
        }
        actions.insert(action.to_owned(), offered);
        Ok(())
    }

    fn action_types(&self, type_name: &str) -> Result<Types, String> {
        let name = full_name(type_name, "action").map_err(|error| error.to_string())?;
        let [goal, _, feedback] = self.types.action(&name).map_err(|error| error.to_string())?;
        let part = |part: &str| self.types.part(&format!("{name}_{part}")).map_err(|error| error.to_string());
        let (send_response, get_response) = (part("SendGoal_Response")?, part("GetResult_Response")?);
        let cancel = self.types.service("action_msgs/srv/CancelGoal").map_err(|error| error.to_string())?;
        let [cancel_request, cancel_response] = cancel;
        let status =
            self.types.message("action_msgs/msg/GoalStatusArray").map_err(|error| error.to_string())?;
        Ok(Types {
            name,
            goal,
            send_response,
            get_response,
            feedback,
            cancel_request,
            cancel_response,
            status,
        })
    }

    fn take_action_request(&self, action: &str, part: Part, request: raw::Request) -> Result<(), String> {
        let mut actions = self.offered_actions.actions.lock();
        let offered = actions.get_mut(action).ok_or("the action has ended")?;
        let client = Arc::clone(&offered.client);
        let types = offered.types.clone();
        match part {
            Part::Send => {
                let taken = offered.take_goal(request)?;
                drop(actions);
                if let Some((uuid, goal)) = taken {
                    let id = uuid.to_string();
                    client.with(|session| session.send_goal(&id, action, &types.name, (&types.goal, &goal)));
                }
            }
            Part::Cancel => {
                let canceled = offered.take_cancel(request)?;
                drop(actions);
                for uuid in canceled {
                    client.with(|session| session.cancel_goal(&uuid.to_string(), action));
                }
            }
            Part::Result => offered.take_result(request)?,
        }
        Ok(())
    }
}

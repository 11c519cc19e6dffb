//! What clients share, and the execution of their orders.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use dragoman_ros::Context;
use dragoman_ros::diagnostics::{Diagnostics, Severity};
use dragoman_ros::introspection::Graph;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::times::SharedClock;
use dragoman_types::schema::Types;
use parking_lot::Mutex;

use super::ConsoleParameters;
use super::actions::Goals;
use super::calls::Calls;
use super::client::{Client, Protocol, Sums};
use super::driving::Driving;
use super::foxglove::Foxglove;
use super::offered_actions::OfferedActions;
use super::ros::{Busy, Ros};
use super::temporary::Temporary;
use super::topics::Topics;
use crate::rosbridge::{Incomplete, Order, Session};

/// The state that clients share.
pub(crate) struct Hub {
    pub(crate) ros: Ros,
    pub(crate) temporary: Temporary,
    pub(crate) types: Types,
    pub(crate) topics: Topics,
    pub(crate) calls: Calls,
    pub(crate) driving: Driving,
    pub(crate) goals: Goals,
    pub(crate) offered_actions: OfferedActions,
    pub(crate) foxglove: Foxglove,
    clock: SharedClock,
    incomplete: Arc<Incomplete>,
    sums: Sums,
    clients: Mutex<BTreeMap<u64, Arc<Client>>>,
    last_id: AtomicU64,
    limits: Limits,
}

struct Limits {
    clients: usize,
    message: usize,
    queue: usize,
    heartbeat: Duration,
}

/// Period of `/diagnostics`.
const REPORT_PERIOD: Duration = Duration::from_secs(1);

impl Hub {
    /// `clock`: that of the stamps which clients leave out.
    pub(crate) fn new(
        ros: Ros,
        context: Context,
        types: Types,
        parameters: &ConsoleParameters,
        clock: SharedClock,
    ) -> Arc<Self> {
        Arc::new(Self {
            temporary: Temporary::new(ros.clone(), context, parameters.replaced_after),
            ros,
            types,
            topics: Topics::default(),
            calls: Calls::new(parameters.service_timeout),
            driving: Driving::default(),
            goals: Goals::default(),
            offered_actions: OfferedActions::default(),
            foxglove: Foxglove::default(),
            clock,
            incomplete: Arc::default(),
            sums: Sums::default(),
            clients: Mutex::default(),
            last_id: AtomicU64::new(0),
            limits: Limits {
                clients: parameters.max_clients,
                message: parameters.max_message_mib << 20,
                queue: parameters.max_queue_mib << 20,
                heartbeat: parameters.heartbeat_timeout,
            },
        })
    }

    /// The session of a new client of rosbridge.
    pub(crate) fn rosbridge_session(&self) -> Protocol {
        Protocol::Rosbridge(Session::new(Arc::clone(&self.incomplete)))
    }

    /// The time in ROS, since 1970.
    pub(crate) fn now(&self) -> Duration {
        dragoman_ros::times::now(&self.clock)
    }

    /// Maximum length of a message of a client, bytes.
    pub(crate) fn most_received(&self) -> usize {
        self.limits.message
    }

    /// Maximum amount of data that waits for a client, bytes.
    pub(crate) fn max_queued(&self) -> usize {
        self.limits.queue
    }

    /// Time without a sign of a client that drives, after which what it drives stops.
    pub(crate) fn heartbeat_timeout(&self) -> Duration {
        self.limits.heartbeat
    }

    /// A new client; `None` if there are too many.
    pub(crate) fn enter(&self, address: SocketAddr, protocol: Protocol) -> Option<Arc<Client>> {
        let mut clients = self.clients.lock();
        if clients.len() >= self.limits.clients {
            return None;
        }
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let client = Client::new(id, address, protocol, self.limits.queue, &self.sums);
        let client = Arc::new(client);
        clients.insert(id, Arc::clone(&client));
        Some(client)
    }

    /// Removes a client with all that it has in ROS. What it drives stops first.
    pub(crate) fn leave(self: &Arc<Self>, client: &Arc<Client>) {
        self.stop_driving(client, "driving client disconnected");
        self.topics.leave(client);
        self.calls.leave(client);
        self.goals.leave(client);
        self.offered_actions.leave(client);
        self.clients.lock().remove(&client.id);
    }

    /// All clients, in the order of their arrival.
    pub(crate) fn all_clients(&self) -> Vec<Arc<Client>> {
        let mut clients: Vec<_> = self.clients.lock().values().cloned().collect();
        clients.sort_by_key(|client| client.id);
        clients
    }

    /// The graph now.
    pub(crate) async fn graph(&self) -> Result<Arc<Graph>, Busy> {
        self.ros.look(|graph, _| Arc::clone(graph)).await
    }

    /// Executes an order. Slow ones continue in the background.
    pub(crate) async fn execute(self: &Arc<Self>, client: &Arc<Client>, order: Order) {
        match order {
            Order::Advertise { id, topic, type_name, latch } => {
                let made = self.topics.advertise(self, client, &topic, &type_name, latch).await;
                report(client, id.as_ref(), "advertise", &topic, made);
            }
            Order::Unadvertise { topic } => {
                self.stop_topic(client, &topic);
                self.topics.unadvertise(client, &topic);
            }
            Order::Publish { id, topic, type_name, message } => {
                let (now, type_name) = (Some(self.now()), type_name.as_deref());
                let published = self.topics.publish(self, client, &topic, type_name, &message, now).await;
                report(client, id.as_ref(), "publish", &topic, published);
            }
            Order::Subscribe { id, topic, type_name } => {
                let made = self.topics.subscribe(self, client, &topic, type_name.as_deref()).await;
                if made.is_err() {
                    client.with(|session| session.end_subscription(&topic));
                }
                report(client, id.as_ref(), "subscribe", &topic, made);
            }
            Order::Unsubscribe { topic } => self.topics.unsubscribe(client, &topic),
            Order::CallService { reply, service, type_name, args, timeout } => {
                self.begin_call(client, reply, service, type_name, args, timeout);
            }
            Order::AdvertiseService { id, service, type_name } => {
                let made = self.offer_service(client, &service, &type_name).await;
                report(client, id.as_ref(), "advertise_service", &service, made);
            }
            Order::UnadvertiseService { service } => self.calls.withdraw(client, &service),
            Order::ServiceResponse { id, service, values, result } => {
                let sent = self.calls.answer(client, &id, &service, &values, result.then(|| self.now()));
                report(client, Some(&id.into()), "service_response", &service, sent);
            }
            Order::SendGoal { reply, action, type_name, goal, feedback } => {
                self.begin_goal(client, reply, action, type_name, goal, feedback);
            }
            Order::CancelGoal { id, action } => {
                let canceled = self.cancel_goal(client, id.as_ref(), &action);
                report(client, id.as_ref(), "cancel_action_goal", &action, canceled);
            }
            Order::AdvertiseAction { id, action, type_name } => {
                let made = self.offer_action(client, &action, &type_name).await;
                report(client, id.as_ref(), "advertise_action", &action, made);
            }
            Order::UnadvertiseAction { action } => self.offered_actions.withdraw(client, &action),
            Order::ActionFeedback { id, action, values } => {
                let sent = self.offered_actions.feedback(client, &id, &action, &values, self.now());
                report(client, Some(&id.into()), "action_feedback", &action, sent);
            }
            Order::ActionResult { id, action, values, status, result } => {
                let ended = (status, result, &values);
                let sent = self.offered_actions.result(client, &id, &action, ended, self.now());
                report(client, Some(&id.into()), "action_result", &action, sent);
            }
        }
    }

    /// Publishes the state of the clients from the node of `tasks`.
    pub(crate) fn publish_diagnostics(
        self: &Arc<Self>,
        tasks: &mut NodeTasks,
    ) -> Result<(), dragoman_ros::Error> {
        let mut diagnostics = Diagnostics::new(tasks.node(), "clients", "")?;
        let hub = Arc::downgrade(self);
        tasks.every(REPORT_PERIOD, move || {
            let Some(hub) = hub.upgrade() else { return };
            let clients = hub.all_clients();
            let addresses: Vec<String> = clients.iter().map(|client| client.address.to_string()).collect();
            let lost: u64 = clients.iter().map(|client| client.lost()).sum();
            let values = [
                ("clients", addresses.join(", ")),
                ("drivers", hub.driving.summary()),
                ("subscribed topics", hub.topics.count().to_string()),
                ("messages lost by slow clients", lost.to_string()),
            ];
            let message = match clients.len() {
                1 => "1 client".to_owned(),
                count => format!("{count} clients"),
            };
            diagnostics.publish(Severity::Ok, &message, &values);
        })
    }
}

/// Reports to a client why its order failed.
pub(crate) fn report(
    client: &Client,
    id: Option<&serde_json::Value>,
    operation: &str,
    name: &str,
    result: Result<(), String>,
) {
    if let Err(reason) = result {
        tracing::debug!(client = %client.address, operation, name, reason, "operation refused");
        client.error(id, &format!("{operation} {name}: {reason}"));
    }
}

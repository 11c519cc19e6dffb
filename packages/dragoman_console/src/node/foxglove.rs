//! Foxglove's protocol: follows the graph for its clients, and executes their orders.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use dragoman_ros::introspection::{Endpoint, Graph};
use dragoman_ros::rcl_interfaces::msg::ParameterEvent;
use dragoman_time::{Work, off_thread};
use dragoman_types::json::{from_cdr, from_whole_cdr, to_cdr};
use futures::future::join_all;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use super::assets;
use super::bounds::bytes_of;
use super::client::{Client, Protocol};
use super::hub::{Hub, report};
use super::rosapi::MAX_NODES;
use crate::bounded;
use crate::foxglove::{Call, Catalogue, Connections, Encoding, Nodes, Offered, Order, Parameter, Session};
use crate::parameter::{foxglove_of_parameter, parameter_of_foxglove};

/// Interval of looking at the graph.
const REVIEW_PERIOD: Duration = Duration::from_secs(1);
/// Maximum number of assets that are read at a time, for all clients: each takes a thread.
const MAX_READERS: usize = 4;

/// What clients of Foxglove's protocol share.
pub(crate) struct Foxglove {
    catalogue: Mutex<Catalogue>,
    /// Places of assets that are read.
    readers: Semaphore,
}

impl Default for Foxglove {
    fn default() -> Self {
        Self { catalogue: Mutex::default(), readers: Semaphore::new(MAX_READERS) }
    }
}

/// Sends clients the changes of the graph, until the hub is gone.
pub(crate) async fn follow(hub: Weak<Hub>) {
    loop {
        dragoman_time::sleep(REVIEW_PERIOD).await;
        let Some(hub) = hub.upgrade() else { return };
        let clients = hub.foxglove_clients();
        if clients.is_empty() {
            continue;
        }
        if let Ok(offered) = hub.look().await {
            for client in clients {
                client.with_foxglove(|session| session.handle_offered(&offered));
            }
        }
    }
}

impl Hub {
    /// A session with the present content of the graph.
    pub(crate) async fn greet_foxglove(&self, id: &str) -> Result<Protocol, String> {
        let distribution = dragoman_time::variable("ROS_DISTRO").unwrap_or_else(|| "jazzy".to_owned());
        let mut session = Session::new(&distribution, id);
        session.handle_offered(&self.look().await?);
        Ok(Protocol::Foxglove(session))
    }

    fn foxglove_clients(&self) -> Vec<Arc<Client>> {
        self.all_clients().into_iter().filter(|client| client.is_foxglove()).collect()
    }

    /// What is offered now.
    async fn look(&self) -> Result<Arc<Offered>, String> {
        let found = self.ros.look(|graph, node| (Arc::clone(graph), node.fully_qualified_name())).await;
        let (graph, own) = found.map_err(|error| error.to_string())?;
        let own = own.map_err(|error| error.to_string())?;
        let topics = topics(&graph, &own);
        let services = pairs(&graph.services).collect();
        let connections = Connections {
            publishers: nodes(&graph.publishers),
            subscribers: nodes(&graph.subscriptions),
            providers: nodes(&graph.services),
        };
        let mut catalogue = self.foxglove.catalogue.lock();
        let offered = Arc::clone(catalogue.update(&self.types, &topics, &services, connections));
        while let Some(error) = catalogue.poll_error() {
            tracing::warn!(%error, "type not supported; not advertised to Foxglove clients");
        }
        Ok(offered)
    }

    /// Executes an order. Slow ones continue in the background.
    pub(crate) async fn execute_foxglove(self: &Arc<Self>, client: &Arc<Client>, order: Order) {
        let (hub, asking) = (Arc::clone(self), Arc::clone(client));
        match order {
            Order::Subscribe { channel } => {
                let (topic, type_name) = (&channel.topic, Some(channel.type_name.as_str()));
                let made = self.topics.subscribe(self, client, topic, type_name).await;
                if made.is_err() {
                    client.with_foxglove(|session| session.end_subscription(channel.id));
                }
                report(client, None, "subscribe", topic, made);
            }
            Order::Unsubscribe { topic } => self.topics.unsubscribe(client, &topic),
            Order::Advertise { channel, topic, type_name } => {
                let made = self.topics.advertise(self, client, &topic, &type_name, false).await;
                if made.is_err() {
                    client.with_foxglove(|session| session.end_channel(channel));
                }
                report(client, None, "advertise", &topic, made);
            }
            Order::Unadvertise { topic } => {
                self.stop_topic(client, &topic);
                self.topics.unadvertise(client, &topic);
            }
            Order::Publish { topic, encoding: Encoding::Cdr, data } => {
                let published = self.topics.publish_serialized(self, client, &topic, &data);
                report(client, None, "publish", &topic, published);
            }
            Order::Publish { topic, encoding: Encoding::Json, data } => {
                let published = match bounded::json(&data) {
                    Ok(message) => self.topics.publish(self, client, &topic, None, &message, None).await,
                    Err(error) => Err(error.to_string()),
                };
                report(client, None, "publish", &topic, published);
            }
            Order::Call { call, data } => {
                let refused = call.clone();
                client.commands.take(&call.service.name);
                let begun = client.in_background(data.len(), async move {
                    let response = hub.call_foxglove(&call, data).await;
                    let response = response.and_then(|data| asking.room(data.len()).map(|()| data));
                    let response = response.as_deref().map_err(String::as_str);
                    asking.with_foxglove(|session| session.call_response(&call, response));
                });
                if let Err(reason) = begun {
                    client.with_foxglove(|session| session.call_response(&refused, Err(&reason)));
                }
            }
            Order::GetParameters { names, id } => {
                let bytes = names.iter().chain(&id).map(String::len).sum();
                let begun = client.in_background(bytes, async move {
                    let values = hub.foxglove_parameters(&names).await;
                    give_values(&asking, "getParameters", &values, id.as_deref());
                });
                report(client, None, "getParameters", "", begun);
            }
            Order::SetParameters { parameters, id } => {
                let bytes = bytes_of_parameters(&parameters) + id.as_ref().map_or(0, String::len);
                let begun = client.in_background(bytes, async move {
                    let mut names = Vec::new();
                    for parameter in parameters {
                        let set = hub.set_foxglove_parameter(&parameter).await;
                        report(&asking, None, "setParameters", &parameter.name, set);
                        names.push(parameter.name);
                    }
                    if let Some(id) = id.filter(|_| !names.is_empty()) {
                        let values = hub.foxglove_parameters(&names).await;
                        give_values(&asking, "setParameters", &values, Some(&id));
                    }
                });
                report(client, None, "setParameters", "", begun);
            }
            Order::FetchAsset { uri, request } => {
                let begun = client.in_background(uri.len(), async move {
                    let most = hub.max_queued();
                    let place = hub.foxglove.readers.acquire().await;
                    let read = off_thread(Work::READ, move |_| assets::asset(&uri, most)).await;
                    drop(place);
                    let asset = read.unwrap_or_else(|error| Err(error.to_string()));
                    let asset = asset.and_then(|asset| asking.room(asset.len()).map(|()| asset));
                    let asset = asset.as_deref().map_err(String::as_str);
                    asking.with_foxglove(|session| session.asset(request, asset));
                });
                if let Err(reason) = begun {
                    client.with_foxglove(|session| session.asset(request, Err(&reason)));
                }
            }
        }
    }

    async fn call_foxglove(&self, call: &Call, data: Vec<u8>) -> Result<Vec<u8>, String> {
        let (name, type_name) = (&call.service.name, &call.service.type_name);
        let [request, response] = self.types.service(type_name).map_err(|error| error.to_string())?;
        let invalid = |error: &dyn std::fmt::Display| format!("invalid request: {error}");
        let data = match call.encoding {
            Encoding::Cdr => {
                from_whole_cdr(&request, &data).map_err(|error| invalid(&error))?;
                data
            }
            Encoding::Json => {
                let values: Value = bounded::json(&data).map_err(|error| invalid(&error))?;
                to_cdr(&request, &values).map_err(|error| invalid(&error))?
            }
        };
        let time = self.calls.time(None);
        let (structure, data) =
            self.call_serialized(name, type_name, [&request, &response], data, time).await?;
        match call.encoding {
            Encoding::Cdr => Ok(data),
            Encoding::Json => {
                from_cdr(&structure, &data).map(String::into_bytes).map_err(|error| error.to_string())
            }
        }
    }

    /// Values of parameters `NODE.PARAMETER`, or of all; those that do not exist are left out.
    async fn foxglove_parameters(&self, names: &[String]) -> Vec<Parameter> {
        let mut wanted: BTreeMap<String, Vec<String>> = BTreeMap::new();
        if names.is_empty() {
            let Ok(graph) = self.graph().await else { return Vec::new() };
            let offering = graph.services.iter().filter_map(|s| s.name.strip_suffix("/list_parameters"));
            wanted.extend(offering.map(|node| (node.to_owned(), Vec::new())));
            if graph.services.is_empty() {
                // r2r does not list services.
                wanted.extend(graph.nodes.iter().map(|node| (node.clone(), Vec::new())));
            }
        }
        for (node, parameter) in names.iter().filter_map(|name| name.split_once('.')) {
            wanted.entry(node.to_owned()).or_default().push(parameter.to_owned());
        }
        let asked = wanted.into_iter().take(MAX_NODES).map(async |(node, mut parameters)| {
            if parameters.is_empty() {
                let names = self.ask(&format!("{node}/list_parameters"), LIST, &json!({})).await.ok()?;
                let names = names.pointer("/result/names")?.as_array()?.clone();
                parameters = names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
            }
            let values = self.parameters_of(&node, &parameters).await.ok()?;
            Some(foxglove_parameters(&node, &parameters, &values))
        });
        join_all(asked).await.into_iter().flatten().flatten().collect()
    }

    /// `ParameterValue`s; of type 0 for those that do not exist.
    async fn parameters_of(&self, node: &str, names: &[String]) -> Result<Vec<Value>, String> {
        let get = async |names: &[String]| {
            let service = format!("{node}/get_parameters");
            let answer = self.ask(&service, GET, &json!({ "names": names })).await?;
            Ok::<_, String>(answer.get("values").and_then(Value::as_array).cloned().unwrap_or_default())
        };
        let values = get(names).await?;
        if values.len() == names.len() {
            return Ok(values);
        }
        // A node gives none if one does not exist.
        let mut values = Vec::new();
        for name in names {
            let value = get(std::slice::from_ref(name)).await?.pop();
            values.push(value.unwrap_or_else(|| json!({ "type": 0 })));
        }
        Ok(values)
    }

    async fn set_foxglove_parameter(&self, parameter: &Parameter) -> Result<(), String> {
        let (node, name) = parameter.name.split_once('.').ok_or("it is not NODE.PARAMETER")?;
        let old = self.parameters_of(node, &[name.to_owned()]).await?.pop().unwrap_or_default();
        let value = parameter_of_foxglove(parameter.value.as_ref(), parameter.kind.as_deref(), &old);
        let value = value.ok_or("the value is no parameter")?;
        let args = json!({ "parameters": [{ "name": name, "value": value }] });
        let answer = self.ask(&format!("{node}/set_parameters"), SET, &args).await?;
        let result = answer.pointer("/results/0").cloned().unwrap_or_default();
        if result.get("successful").and_then(Value::as_bool) == Some(true) {
            return Ok(());
        }
        Err(result.get("reason").and_then(Value::as_str).unwrap_or("it is refused").to_owned())
    }

    /// Takes a message of `/parameter_events`.
    pub(crate) fn take_parameters(&self, event: ParameterEvent) {
        let clients = self.foxglove_clients();
        if clients.is_empty() {
            return;
        }
        let changed = event.new_parameters.into_iter().chain(event.changed_parameters);
        let (names, values): (Vec<String>, Vec<Value>) = changed
            .map(|parameter| {
                let mut value = serde_json::to_value(&parameter.value).unwrap_or_default();
                // The field's name in Rust.
                if let Some(kind) = value.get("type_").cloned()
                    && let Some(value) = value.as_object_mut()
                {
                    value.insert("type".to_owned(), kind);
                }
                (parameter.name, value)
            })
            .unzip();
        let values = foxglove_parameters(&event.node, &names, &values);
        for client in clients {
            client.with_foxglove(|session| session.handle_parameters(&values));
        }
    }
}

const LIST: &str = "rcl_interfaces/srv/ListParameters";
const GET: &str = "rcl_interfaces/srv/GetParameters";
const SET: &str = "rcl_interfaces/srv/SetParameters";

fn foxglove_parameters(node: &str, names: &[String], values: &[Value]) -> Vec<Parameter> {
    let found = names.iter().zip(values).filter_map(|(name, value)| {
        let (value, kind) = foxglove_of_parameter(value)?;
        let name = format!("{node}.{name}");
        Some(Parameter { name, value: Some(value), kind: kind.map(str::to_owned) })
    });
    found.collect()
}

fn pairs(endpoints: &[Endpoint]) -> impl Iterator<Item = (&str, &str)> {
    endpoints.iter().map(|endpoint| (endpoint.name.as_str(), endpoint.type_name.as_str()))
}

/// Topics with their types. What only this console subscribes to, for its clients, does not keep a topic alive.
fn topics<'a>(graph: &'a Graph, own: &str) -> BTreeSet<(&'a str, &'a str)> {
    let others = graph.subscriptions.iter().filter(|endpoint| endpoint.node.as_deref() != Some(own));
    let others = others.map(|endpoint| (endpoint.name.as_str(), endpoint.type_name.as_str()));
    pairs(&graph.publishers).chain(others).collect()
}

fn nodes(endpoints: &[Endpoint]) -> Nodes {
    let mut nodes = Nodes::new();
    for endpoint in endpoints {
        let known = nodes.entry(endpoint.name.clone()).or_default();
        known.extend(endpoint.node.clone());
    }
    nodes
}

/// Gives the values that a client has asked for, unless they are too much.
fn give_values(client: &Client, operation: &str, values: &[Parameter], id: Option<&str>) {
    let room = client.room(bytes_of_parameters(values));
    if room.is_ok() {
        client.with_foxglove(|session| session.parameter_values(values, id));
    }
    report(client, None, operation, "", room);
}

fn bytes_of_parameters(parameters: &[Parameter]) -> usize {
    parameters.iter().map(|one| one.name.len() + one.value.as_ref().map_or(0, bytes_of)).sum()
}

//! rosapi: questions about the graph (RobotWebTools, package `rosapi`). Clients ask them as services; without rcl they
//! are ordinary services of ROS as well.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::introspection::{Endpoint, Graph};
use dragoman_ros::raw;
use dragoman_types::json::{from_cdr, to_cdr};
use dragoman_types::schema::{ElementType, Field, Primitive, Shape, Structure, full_name};
use futures::StreamExt;
use futures::future::join_all;
use serde_json::{Value, json};

use super::calls::{Response, named};
use super::hub::Hub;
use crate::bounded;
use crate::parameter::{parameter_of_value, value_of_parameter};

/// The names below `/rosapi`, with their types in `rosapi_msgs`.
const SERVICES: [(&str, &str); 26] = [
    ("action_feedback_details", "ActionFeedbackDetails"),
    ("action_goal_details", "ActionGoalDetails"),
    ("action_result_details", "ActionResultDetails"),
    ("action_servers", "GetActionServers"),
    ("action_type", "ActionType"),
    ("get_param", "GetParam"),
    ("get_param_names", "GetParamNames"),
    ("get_ros_version", "GetROSVersion"),
    ("get_time", "GetTime"),
    ("has_param", "HasParam"),
    ("message_details", "MessageDetails"),
    ("node_details", "NodeDetails"),
    ("nodes", "Nodes"),
    ("publishers", "Publishers"),
    ("service_node", "ServiceNode"),
    ("service_providers", "ServiceProviders"),
    ("service_request_details", "ServiceRequestDetails"),
    ("service_response_details", "ServiceResponseDetails"),
    ("service_type", "ServiceType"),
    ("services", "Services"),
    ("services_for_type", "ServicesForType"),
    ("set_param", "SetParam"),
    ("subscribers", "Subscribers"),
    ("topic_type", "TopicType"),
    ("topics", "Topics"),
    ("topics_for_type", "TopicsForType"),
];

/// Time for the parameter services of a node.
const PARAMETER_TIME: Duration = Duration::from_secs(2);
/// Maximum number of nodes that are asked for their parameters at once.
pub(super) const MAX_NODES: usize = 200;

impl Hub {
    /// Answers a question; `None` for other services.
    pub(crate) async fn ask_rosapi(&self, service: &str, args: &Value) -> Option<Result<Response, String>> {
        let name = service.strip_prefix("/rosapi/").or_else(|| service.strip_prefix("rosapi/"))?;
        let (_, type_name) = SERVICES.iter().find(|(known, _)| *known == name)?;
        Some(self.answer_rosapi(name, type_name, args).await)
    }

    async fn answer_rosapi(&self, name: &str, type_name: &str, args: &Value) -> Result<Response, String> {
        let types = self.types.service(&format!("rosapi_msgs/srv/{type_name}"));
        let [request, response] = types.map_err(|error| error.to_string())?;
        let args = &named(&request, args.clone())?;
        let values = self.values(name, args).await?;
        let data = to_cdr(&response, &values).map_err(|error| error.to_string())?;
        Ok((response, data))
    }

    async fn values(&self, name: &str, args: &Value) -> Result<Value, String> {
        let text = |key: &str| args.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        match name {
            "get_time" => {
                let now = self.now();
                return Ok(json!({ "time": { "sec": now.as_secs(), "nanosec": now.subsec_nanos() } }));
            }
            "get_ros_version" => {
                let distribution =
                    dragoman_time::variable("ROS_DISTRO").unwrap_or_else(|| "jazzy".to_owned());
                return Ok(json!({ "version": 2, "distro": distribution }));
            }
            "message_details" => return self.details(&full(&text("type"), "msg")?),
            "service_request_details" => {
                return self.details(&format!("{}_Request", full(&text("type"), "srv")?));
            }
            "service_response_details" => {
                return self.details(&format!("{}_Response", full(&text("type"), "srv")?));
            }
            "action_goal_details" => {
                return self.details(&format!("{}_Goal", full(&text("type"), "action")?));
            }
            "action_result_details" => {
                return self.details(&format!("{}_Result", full(&text("type"), "action")?));
            }
            "action_feedback_details" => {
                return self.details(&format!("{}_Feedback", full(&text("type"), "action")?));
            }
            "get_param" => return self.parameter(&text("name"), &text("default_value")).await,
            "has_param" => return self.has_parameter(&text("name")).await,
            "set_param" => return self.set_parameter(&text("name"), &text("value")).await,
            _ => {}
        }
        let graph = self.graph().await.map_err(|error| error.to_string())?;
        if name == "get_param_names" {
            return Ok(json!({ "names": self.parameter_names(&graph).await }));
        }
        Ok(of_graph(&graph, name, &text))
    }

    /// The definition of a type and of all types in it.
    fn details(&self, type_name: &str) -> Result<Value, String> {
        let root = self.types.part(type_name).map_err(|error| error.to_string())?;
        let mut found = vec![root];
        let mut next = 0;
        while let Some(current) = found.get(next).cloned() {
            for field in &current.fields {
                if let ElementType::Structure(inner) = &field.kind
                    && !found.iter().any(|known| known.name == inner.name)
                {
                    found.push(Arc::clone(inner));
                }
            }
            next += 1;
        }
        Ok(json!({ "typedefs": found.iter().map(|structure| type_definition(structure)).collect::<Value>() }))
    }

    /// Calls a service whose response is needed as JSON.
    pub(super) async fn ask(&self, service: &str, type_name: &str, args: &Value) -> Result<Value, String> {
        let (structure, data) =
            self.call(service, Some(type_name), args.clone(), Some(PARAMETER_TIME)).await?;
        let text = from_cdr(&structure, &data).map_err(|error| error.to_string())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    /// As `rcl_interfaces/ParameterValue`.
    async fn parameter_value(&self, name: &str) -> Result<Value, String> {
        let (node, parameter) = parts_of_parameter(name)?;
        let args = json!({ "names": [parameter] });
        let answer =
            self.ask(&format!("{node}/get_parameters"), "rcl_interfaces/srv/GetParameters", &args).await?;
        let value = answer.pointer("/values/0").cloned().unwrap_or_default();
        let is_set = value_of_parameter(&value).is_some();
        is_set.then_some(value).ok_or_else(|| format!("node {node} has no parameter '{parameter}'"))
    }

    async fn parameter(&self, name: &str, default: &str) -> Result<Value, String> {
        Ok(match self.parameter_value(name).await {
            Ok(value) => {
                let value = value_of_parameter(&value).unwrap_or_default();
                json!({ "value": value.to_string(), "successful": true })
            }
            Err(reason) => json!({ "value": default, "successful": false, "reason": reason }),
        })
    }

    async fn has_parameter(&self, name: &str) -> Result<Value, String> {
        Ok(match self.parameter_value(name).await {
            Ok(_) => json!({ "exists": true, "successful": true }),
            Err(reason) => json!({ "exists": false, "successful": true, "reason": reason }),
        })
    }

    async fn set_parameter(&self, name: &str, value: &str) -> Result<Value, String> {
        let (node, parameter) = parts_of_parameter(name)?;
        // As in rosapi, the value is JSON; what is not, is a string.
        let value: Value = bounded::json(value.as_bytes()).unwrap_or_else(|_| value.into());
        let old = self.parameter_value(name).await.unwrap_or_default();
        let value = parameter_of_value(&value, &old).ok_or("the value is no parameter")?;
        let args = json!({ "parameters": [{ "name": parameter, "value": value }] });
        let answer =
            self.ask(&format!("{node}/set_parameters"), "rcl_interfaces/srv/SetParameters", &args).await?;
        let result = answer.pointer("/results/0").cloned().unwrap_or_default();
        let reason = result.get("reason").cloned().unwrap_or_default();
        Ok(json!({
            "successful": result.get("successful").and_then(Value::as_bool).unwrap_or_default(),
            "reason": reason.as_str().unwrap_or_default(),
        }))
    }

    /// `node:parameter` of all nodes that answer.
    async fn parameter_names(&self, graph: &Graph) -> Vec<String> {
        let nodes = graph.services.iter().filter_map(|service| service.name.strip_suffix("/list_parameters"));
        let nodes: BTreeSet<&str> = nodes.collect();
        let asked = nodes.into_iter().take(MAX_NODES).map(async |node| {
            let service = format!("{node}/list_parameters");
            let answer = self.ask(&service, "rcl_interfaces/srv/ListParameters", &json!({})).await.ok()?;
            let names = answer.pointer("/result/names")?.as_array()?.clone();
            Some(
                names
                    .iter()
                    .filter_map(Value::as_str)
                    .map(|name| format!("{node}:{name}"))
                    .collect::<Vec<_>>(),
            )
        });
        join_all(asked).await.into_iter().flatten().flatten().collect()
    }

    /// Offers all questions as services of ROS, where servers of types known at run time exist.
    pub(crate) async fn serve_rosapi(self: &Arc<Self>) {
        if raw::CALLS_ARE_JSON {
            return;
        }
        for (name, type_name) in SERVICES {
            let type_name = format!("rosapi_msgs/srv/{type_name}");
            let Ok([request, _]) = self.types.service(&type_name) else { continue };
            let service = format!("/rosapi/{name}");
            let offered = service.clone();
            let made =
                self.ros.run(move |inside| raw::create_service(&mut inside.node, &offered, &type_name)).await;
            let mut requests = match made {
                Ok(Ok(requests)) => requests,
                Ok(Err(error)) => {
                    tracing::warn!(%error, service, "creating a service failed");
                    continue;
                }
                Err(_ended) => return,
            };
            let hub = Arc::downgrade(self);
            dragoman_time::spawn(async move {
                while let Some(call) = requests.next().await {
                    let Some(hub) = hub.upgrade() else { return };
                    let args = from_cdr(&request, &call.data).unwrap_or_default();
                    let args = serde_json::from_str(&args).unwrap_or_default();
                    let Some(Ok((_, data))) = hub.ask_rosapi(&service, &args).await else { continue };
                    if let Err(error) = call.respond(&data) {
                        tracing::warn!(%error, service, "sending a response failed");
                    }
                }
            });
        }
    }
}

/// Answers that need the graph only.
fn of_graph(graph: &Graph, name: &str, text: &dyn Fn(&str) -> String) -> Value {
    let topics = || {
        let endpoints = graph.publishers.iter().chain(&graph.subscriptions);
        endpoints
            .map(|endpoint| (endpoint.name.as_str(), endpoint.type_name.as_str()))
            .collect::<BTreeSet<_>>()
    };
    let names = |endpoints: &[Endpoint], is_wanted: &dyn Fn(&Endpoint) -> bool| {
        let wanted = endpoints.iter().filter(|endpoint| is_wanted(endpoint));
        wanted.map(|endpoint| endpoint.name.clone()).collect::<BTreeSet<_>>()
    };
    let nodes = |endpoints: &[Endpoint], name: &str| {
        let wanted = endpoints.iter().filter(|endpoint| endpoint.name == name);
        wanted.filter_map(|endpoint| endpoint.node.clone()).collect::<BTreeSet<_>>()
    };
    match name {
        "topics" => {
            let (topics, types): (Vec<_>, Vec<_>) = topics().into_iter().unzip();
            json!({ "topics": topics, "types": types })
        }
        "topics_for_type" => {
            let wanted = full(&text("type"), "msg").unwrap_or_default();
            let found = topics().into_iter().filter(|(_, type_name)| *type_name == wanted);
            json!({ "topics": found.map(|(topic, _)| topic).collect::<Vec<_>>() })
        }
        "topic_type" => {
            json!({ "type": graph.topic_types(&text("topic")).first().copied().unwrap_or_default() })
        }
        "publishers" => json!({ "publishers": nodes(&graph.publishers, &text("topic")) }),
        "subscribers" => json!({ "subscribers": nodes(&graph.subscriptions, &text("topic")) }),
        "services" => json!({ "services": names(&graph.services, &|_| true) }),
        "services_for_type" => {
            let wanted = full(&text("type"), "srv").unwrap_or_default();
            json!({ "services": names(&graph.services, &|service| service.type_name == wanted) })
        }
        "service_type" => {
            let service = text("service");
            let found = graph.services.iter().find(|endpoint| endpoint.name == service);
            json!({ "type": found.map_or("", |endpoint| endpoint.type_name.as_str()) })
        }
        "service_providers" => json!({ "providers": nodes(&graph.services, &text("service")) }),
        "service_node" => {
            json!({ "node": nodes(&graph.services, &text("service")).first().cloned().unwrap_or_default() })
        }
        "nodes" => json!({ "nodes": graph.nodes }),
        "node_details" => {
            let node = text("node");
            let of_node = |endpoint: &Endpoint| endpoint.node.as_deref() == Some(node.as_str());
            json!({
                "subscribing": names(&graph.subscriptions, &of_node),
                "publishing": names(&graph.publishers, &of_node),
                "services": names(&graph.services, &of_node),
            })
        }
        "action_servers" => {
            let status =
                graph.publishers.iter().filter_map(|topic| topic.name.strip_suffix("/_action/status"));
            json!({ "action_servers": status.collect::<BTreeSet<_>>() })
        }
        "action_type" => {
            let service = format!("{}/_action/send_goal", text("action"));
            let found = graph.services.iter().find(|endpoint| endpoint.name == service);
            let type_name = found.and_then(|endpoint| endpoint.type_name.strip_suffix("_SendGoal"));
            json!({ "type": type_name.unwrap_or_default() })
        }
        _ => json!({}),
    }
}

fn full(name: &str, kind: &str) -> Result<String, String> {
    full_name(name, kind).map_err(|error| error.to_string())
}

/// A `rosapi_msgs/TypeDef`.
fn type_definition(structure: &Structure) -> Value {
    let fields = &structure.fields;
    let length = |field: &Field| match field.shape {
        Shape::Single => -1,
        Shape::Array(length) => i32::try_from(length).unwrap_or(i32::MAX),
        Shape::Sequence(_) => 0,
    };
    let example = |field: &Field| match (&field.shape, &field.kind) {
        (Shape::Array(_) | Shape::Sequence(_), _) => "[]",
        (_, ElementType::Structure(_)) => "{}",
        (_, ElementType::Primitive(Primitive::Bool)) => "false",
        (_, ElementType::Primitive(Primitive::String | Primitive::WString)) => "",
        (_, ElementType::Primitive(Primitive::Float32 | Primitive::Float64)) => "0.0",
        _ => "0",
    };
    let constant = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    json!({
        "type": structure.name,
        "fieldnames": fields.iter().map(|field| field.name.as_str()).collect::<Vec<_>>(),
        "fieldtypes": fields.iter().map(|field| field.kind.name()).collect::<Vec<_>>(),
        "fieldarraylen": fields.iter().map(length).collect::<Vec<_>>(),
        "examples": fields.iter().map(example).collect::<Vec<_>>(),
        "constnames": structure.constants.iter().map(|constant| constant.name.as_str()).collect::<Vec<_>>(),
        "constvalues": structure.constants.iter().map(|c| constant(&c.value)).collect::<Vec<_>>(),
    })
}

/// Node and name of `node:parameter`.
fn parts_of_parameter(name: &str) -> Result<(&str, &str), String> {
    name.rsplit_once(':').ok_or_else(|| format!("'{name}' is not NODE:PARAMETER"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        let endpoint = |name: &str, type_name: &str, node: &str| Endpoint {
            name: name.to_owned(),
            type_name: type_name.to_owned(),
            node: Some(node.to_owned()),
        };
        Graph {
            nodes: ["/a".to_owned(), "/b".to_owned()].into(),
            publishers: vec![
                endpoint("/f/_action/status", "action_msgs/msg/GoalStatusArray", "/a"),
                endpoint("/t", "std_msgs/msg/String", "/a"),
            ],
            subscriptions: vec![
                endpoint("/t", "std_msgs/msg/String", "/b"),
                endpoint("/u", "std_msgs/msg/Bool", "/b"),
            ],
            services: vec![
                endpoint("/f/_action/send_goal", "test_msgs/action/Fibonacci_SendGoal", "/a"),
                endpoint("/s", "std_srvs/srv/SetBool", "/a"),
            ],
            clients: Vec::new(),
        }
    }

    #[test]
    fn questions_about_the_graph() {
        let ask = |name: &str, key: &'static str, value: &'static str| {
            of_graph(&graph(), name, &|asked| if asked == key { value.to_owned() } else { String::new() })
        };
        let topics = ask("topics", "", "");
        assert_eq!(topics["topics"], json!(["/f/_action/status", "/t", "/u"]));
        assert_eq!(topics["types"][1], "std_msgs/msg/String");
        assert_eq!(ask("topic_type", "topic", "/u"), json!({ "type": "std_msgs/msg/Bool" }));
        assert_eq!(ask("topic_type", "topic", "/none"), json!({ "type": "" }));
        assert_eq!(ask("topics_for_type", "type", "std_msgs/String"), json!({ "topics": ["/t"] }));
        assert_eq!(ask("publishers", "topic", "/t"), json!({ "publishers": ["/a"] }));
        assert_eq!(ask("subscribers", "topic", "/t"), json!({ "subscribers": ["/b"] }));
        assert_eq!(ask("service_type", "service", "/s"), json!({ "type": "std_srvs/srv/SetBool" }));
        assert_eq!(ask("services_for_type", "type", "std_srvs/SetBool"), json!({ "services": ["/s"] }));
        assert_eq!(ask("action_servers", "", ""), json!({ "action_servers": ["/f"] }));
        assert_eq!(ask("action_type", "action", "/f"), json!({ "type": "test_msgs/action/Fibonacci" }));
        assert_eq!(ask("node_details", "node", "/b")["subscribing"], json!(["/t", "/u"]));
    }
}

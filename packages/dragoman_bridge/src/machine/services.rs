//! Services of types that are known at run time only.
//!
//! r2r has no servers of such types: there only those of [`ON_R2R`] are possible.

use std::sync::Arc;

use dragoman_ros::raw;
use dragoman_ros::std_srvs::srv::{Empty, SetBool, Trigger};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Error, Result};
use dragoman_types::json as messages;
use dragoman_types::schema::{Structure, Types};
use futures::future::{BoxFuture, FutureExt};
use futures::stream::StreamExt;
use serde_json::{Value, json};

use super::interface::Service;

/// The types of actions that are possible.
pub const ACTIONS: [&str; 2] = ["control_msgs/action/GripperCommand", "nav2_msgs/action/NavigateToPose"];
/// The types of services that are possible on r2r.
pub const ON_R2R: [&str; 3] = ["std_srvs/srv/Empty", "std_srvs/srv/SetBool", "std_srvs/srv/Trigger"];

/// Answers every request of a service with the result of `answer`, up to `limit` at the same time.
///
/// # Errors
/// An error of the middleware; on r2r a type that is not one of [`ON_R2R`].
pub(crate) fn serve(
    tasks: &mut NodeTasks,
    types: &Types,
    services: &Arc<Vec<Service>>,
    number: usize,
    limit: usize,
    answer: impl Fn(&Arc<Vec<Service>>, Value) -> BoxFuture<'static, Value> + Send + 'static,
) -> Result<()> {
    let Some(service) = services.get(number) else { return Ok(()) };
    let services = Arc::clone(services);
    let (name, kind) = (service.name.clone(), service.kind.clone());
    let invalid = |error: &dyn std::fmt::Display| Error::SerdeError { err: error.to_string() };
    let [request_type, response_type] = types.service(&kind).map_err(|error| invalid(&error))?;
    if raw::CALLS_ARE_JSON {
        let answer = move |request| answer(&services, request);
        return match kind.as_str() {
            "std_srvs/srv/Empty" => {
                tasks.serve_together::<Empty::Service, _>(&name, limit, move |_request| {
                    answer(json!({})).map(|_response| Empty::Response::default())
                })
            }
            "std_srvs/srv/SetBool" => {
                tasks.serve_together::<SetBool::Service, _>(&name, limit, move |request| {
                    answer(json!({ "data": request.data })).map(|response| {
                        let (success, message) = outcome(&response);
                        SetBool::Response { success, message }
                    })
                })
            }
            "std_srvs/srv/Trigger" => {
                tasks.serve_together::<Trigger::Service, _>(&name, limit, move |_request| {
                    answer(json!({})).map(|response| {
                        let (success, message) = outcome(&response);
                        Trigger::Response { success, message }
                    })
                })
            }
            _ => Err(Error::SerdeError {
                err: format!("{name}: on r2r services have one of the types {}", ON_R2R.join(", ")),
            }),
        };
    }
    let requests = raw::create_service(tasks.node(), &name, &kind)?;
    tasks.spawn(requests.for_each_concurrent(limit, move |request| {
        let value = messages::from_cdr(&request_type, &request.data)
            .map_err(|error| error.to_string())
            .and_then(|text| serde_json::from_str(&text).map_err(|error| error.to_string()));
        let response = match value {
            Ok(value) => answer(&services, value),
            Err(reason) => {
                let refused = services.get(number).map(|service| service.response(Err(reason)));
                futures::future::ready(refused.unwrap_or_default()).boxed()
            }
        };
        let (response_type, name) = (Arc::clone(&response_type), name.clone());
        async move {
            let response = response.await;
            let data = messages::to_cdr(&response_type, &response).or_else(|error| {
                // What the machine has answered does not fit the type.
                tracing::warn!(%error, service = name, "the response does not fit its type");
                messages::to_cdr(&response_type, &failed(&response_type, &error.to_string()))
            });
            let data = data.map_err(|error| error.to_string());
            if let Err(error) =
                data.and_then(|data| request.respond(&data).map_err(|error| error.to_string()))
            {
                tracing::warn!(error, service = name, "sending a response failed");
            }
        }
    }));
    Ok(())
}

/// A response that says why there is no other.
fn failed(response_type: &Structure, reason: &str) -> Value {
    let mut fields = serde_json::Map::new();
    if response_type.fields.iter().any(|field| field.name == "message" && field.kind.name() == "string") {
        fields.insert("message".to_owned(), reason.into());
    }
    Value::Object(fields)
}

/// Whether a request has succeeded, and why not.
fn outcome(response: &Value) -> (bool, String) {
    let is_true = response["success"].as_bool().unwrap_or_default();
    (is_true, response["message"].as_str().unwrap_or_default().to_owned())
}

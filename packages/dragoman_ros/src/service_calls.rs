//! A record of service calls for recorders: every call that a service of this process answers, on `/service_calls`.
//!
//! Requests and answers are there in JSON, because a topic has one type. While the topic has no subscriber, a call costs
//! a look at a flag.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::channel::mpsc;
use serde::Serialize;

use crate::dragoman_msgs::msg::ServiceCall;
use crate::shared::SharedPublisher;
use crate::tasks::NodeTasks;
use crate::{Clock, ClockType, QosProfile};

/// Topic of the calls.
pub const TOPIC: &str = "/service_calls";

/// Calls that wait to be published; more are dropped, because an answer must never wait.
const QUEUE_LENGTH: usize = 1000;

/// Length of a request or an answer beyond which it is left out, bytes of JSON.
const MAX_LENGTH: usize = 64 << 10;

/// Polling interval for subscribers.
const DEMAND_PERIOD: Duration = Duration::from_millis(200);

static HAS_SUBSCRIBERS: AtomicBool = AtomicBool::new(false);
static CALLS: Mutex<Option<mpsc::Sender<ServiceCall>>> = Mutex::new(None);

/// A call that waits for its answer.
#[derive(Clone, Debug)]
pub(crate) struct OpenCall {
    service: Arc<str>,
    type_name: &'static str,
    received: Instant,
}

impl OpenCall {
    /// A request for `service`, a full name, that has just arrived. `request_type` is the type name of requests.
    pub(crate) fn new(service: &Arc<str>, request_type: &'static str) -> Self {
        Self { service: Arc::clone(service), type_name: request_type, received: Instant::now() }
    }

    /// Whether somebody listens.
    pub(crate) fn is_recorded(&self) -> bool {
        HAS_SUBSCRIBERS.load(Ordering::Relaxed)
    }

    /// Records the answer if somebody listens.
    pub(crate) fn answered(&self, request: &impl Serialize, response: &impl Serialize) {
        if self.is_recorded() {
            self.record(json(request), json(response));
        }
    }

    fn record(&self, request: String, response: String) {
        let Some(mut calls) = calls().clone() else { return };
        let now = Clock::create(ClockType::SystemTime).and_then(|mut clock| clock.get_now());
        let call = ServiceCall {
            stamp: Clock::to_builtin_time(&now.unwrap_or_default()),
            service: self.service.to_string(),
            type_: service_type(self.type_name),
            request,
            response,
            seconds: self.received.elapsed().as_secs_f64(),
        };
        if calls.try_send(call).is_err() {
            tracing::debug!(service = &*self.service, "a service call is not recorded: too many at once");
        }
    }
}

/// Publishes the calls of this process from the node of `tasks`.
///
/// # Errors
/// An error of the middleware.
pub fn publish(tasks: &mut NodeTasks) -> crate::Result<()> {
    let qos = QosProfile::default().keep_last(QUEUE_LENGTH);
    let publisher: SharedPublisher<ServiceCall> = tasks.node().create_publisher(TOPIC, qos)?.into();
    let (sender, mut incoming) = mpsc::channel(QUEUE_LENGTH);
    *calls() = Some(sender);
    let watched = publisher.clone();
    tasks.every(DEMAND_PERIOD, move || {
        HAS_SUBSCRIBERS.store(watched.is_listened(), Ordering::Relaxed);
    })?;
    tasks.spawn(async move {
        while let Some(call) = incoming.next().await {
            if let Err(error) = publisher.publish(&call) {
                tracing::warn!(%error, topic = TOPIC, "publishing failed");
            }
        }
    });
    Ok(())
}

fn calls() -> std::sync::MutexGuard<'static, Option<mpsc::Sender<ServiceCall>>> {
    CALLS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// `package/srv/Name` from the request's type: `package/srv/Name_Request`, or its path in Rust.
fn service_type(request_type: &str) -> String {
    if let Some(name) = request_type.strip_suffix("_Request") {
        return name.to_owned();
    }
    let parts: Vec<&str> = request_type.split("::").collect();
    match parts.as_slice() {
        [.., package, kind, name, _request] => format!("{package}/{kind}/{name}"),
        _ => request_type.to_owned(),
    }
}

fn json(message: &impl Serialize) -> String {
    let mut text = Bounded(Vec::new());
    let is_complete = serde_json::to_writer(&mut text, message).is_ok();
    text.finish(is_complete)
}

/// Takes up to [`MAX_LENGTH`] bytes.
struct Bounded(Vec<u8>);

impl Bounded {
    fn finish(self, is_complete: bool) -> String {
        if is_complete { String::from_utf8(self.0).unwrap_or_default() } else { "\"...\"".to_owned() }
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.0.len() + bytes.len() > MAX_LENGTH {
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::std_srvs::srv::SetBool;

    #[test]
    fn types_have_the_names_of_ros() {
        assert_eq!(service_type("std_srvs/srv/SetBool_Request"), "std_srvs/srv/SetBool");
        let path = std::any::type_name::<SetBool::Request>();
        assert_eq!(service_type(path), "std_srvs/srv/SetBool", "{path}");
    }

    #[test]
    fn what_is_too_long_is_left_out() {
        let response = SetBool::Response { success: true, message: "on".into() };
        assert_eq!(json(&response), r#"{"success":true,"message":"on"}"#);
        assert_eq!(json(&vec![1_u8; MAX_LENGTH / 2]), "\"...\"");
        assert_eq!(json(&"x".repeat(MAX_LENGTH - 2)).len(), MAX_LENGTH);
    }
}

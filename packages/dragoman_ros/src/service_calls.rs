//! A record of service calls for recorders: every call that a service of this process answers, on `/service_calls`.
//!
//! Requests and answers are there in JSON, because a topic has one type. While the topic has no subscriber, a call only
//! costs the check of a flag.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use futures::StreamExt;
use futures::channel::mpsc;
use parking_lot::Mutex;
use serde::Serialize;

use crate::dragoman_msgs::msg::ServiceCall;
use crate::shared::SharedPublisher;
use crate::tasks::NodeTasks;
use crate::{Clock, QosProfile};

/// Topic of the calls.
pub(crate) const TOPIC: &str = "/service_calls";

/// Calls that wait to be published; more are dropped, because an answer must never wait.
const QUEUE_LENGTH: usize = 1000;

/// Length of a request or an answer beyond which it is left out, bytes of JSON.
const MAX_LENGTH: usize = 64 << 10;

/// Polling interval for subscribers.
const DEMAND_PERIOD: Duration = Duration::from_millis(200);

/// The calls of this process, or of this lab.
#[derive(Default)]
struct Calls {
    has_subscribers: AtomicBool,
    publisher: Mutex<Option<mpsc::Sender<ServiceCall>>>,
}

impl Calls {}

/// A service whose calls are recorded. Clones share it.
#[derive(Clone)]
pub(crate) struct RecordedService {
    calls: Arc<Calls>,
    name: Arc<str>,
    type_name: &'static str,
}

impl RecordedService {
    /// `name` is a full name, `request_type` the type name of requests.
    pub(crate) fn new(name: &str, request_type: &'static str) -> Self {
        Self { calls: dragoman_time::own(), name: name.into(), type_name: request_type }
    }

    #[cfg(not(feature = "r2r"))]
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    #[cfg(not(feature = "r2r"))]
    pub(crate) fn request_type(&self) -> &'static str {
        self.type_name
    }

    /// A request that has just arrived.
    pub(crate) fn call(&self) -> OpenCall {
        OpenCall { service: self.clone(), received: dragoman_time::now() }
    }
}

/// A call that waits for its answer.
#[derive(Clone)]
pub(crate) struct OpenCall {
    service: RecordedService,
    received: Instant,
}

impl OpenCall {
    /// Whether the topic of the calls has subscribers.
    pub(crate) fn is_recorded(&self) -> bool {
        self.service.calls.has_subscribers.load(Ordering::Relaxed)
    }

    /// Records the answer if the topic of the calls has subscribers.
    pub(crate) fn answered(&self, request: &impl Serialize, response: &impl Serialize) {
        if self.is_recorded() {
            self.record(json(request), json(response));
        }
    }

    fn record(&self, request: String, response: String) {
        let service = &self.service;
        let Some(mut calls) = service.calls.publisher.lock().clone() else { return };
        let call = ServiceCall {
            stamp: Clock::to_builtin_time(&dragoman_time::wall_time()),
            service: service.name.to_string(),
            type_: service_type(service.type_name),
            request,
            response,
            seconds: dragoman_time::since(self.received).as_secs_f64(),
        };
        if calls.try_send(call).is_err() {
            tracing::debug!(service = &*service.name, "service call not recorded: queue full");
        }
    }
}

/// Publishes the calls of this process from the node of `tasks`.
///
/// # Errors
/// An error of the middleware.
pub(crate) fn publish(tasks: &mut NodeTasks) -> crate::Result<()> {
    let qos = QosProfile::default().keep_last(QUEUE_LENGTH);
    let publisher: SharedPublisher<ServiceCall> = tasks.node().create_publisher(TOPIC, qos)?.into();
    let (sender, mut incoming) = mpsc::channel(QUEUE_LENGTH);
    let calls = dragoman_time::own::<Calls>();
    *calls.publisher.lock() = Some(sender);
    let watched = publisher.clone();
    tasks.every(DEMAND_PERIOD, move || {
        calls.has_subscribers.store(watched.is_listened(), Ordering::Relaxed);
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

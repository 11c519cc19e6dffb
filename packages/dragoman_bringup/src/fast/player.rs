//! Clients that carry out a script.

use std::collections::BTreeMap;
use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use dragoman_bridge::arm31::wire::DEFAULT_PORT;
use dragoman_io::net::{TcpStream, UdpSocket};
use dragoman_ros::introspection::Introspection;
use dragoman_ros::raw::{self, Body};
use dragoman_ros::{Node, QosProfile};
use dragoman_types::json;
use dragoman_types::schema::{Builtin, Types};
use serde_json::Value;

use super::context;
use super::script::{Arm31, Bytes, Call, Publish, Script, Seconds, Send, Step};
use super::summary::Summary;

const ANSWER_TIME: Duration = Duration::from_secs(30);
/// Period of repeated messages.
const PERIOD: Duration = Duration::from_millis(100);

/// The clients of a script.
struct Player<'a> {
    node: Node,
    introspection: Introspection,
    types: Types,
    clients: BTreeMap<String, (raw::Client, String)>,
    publishers: BTreeMap<String, (raw::Publisher, String)>,
    arm: UdpSocket,
    connections: BTreeMap<u16, TcpStream>,
    summary: &'a Summary,
}

/// Carries out `script` in this domain; `summary` counts the results.
///
/// # Errors
/// An error of the middleware. A step that fails is a part of the summary.
pub(super) async fn play(domain: u16, script: &Script, summary: &Summary) -> Result<(), Box<dyn Error>> {
    let mut node = Node::create(context(domain)?, "script", "")?;
    let observed = summary.observe(context(domain)?)?;
    dragoman_time::spawn(observed);
    let introspection = Introspection::new(&mut node)?;
    let mut player = Player {
        node,
        introspection,
        types: Types::new(vec![Box::new(Builtin::default())]),
        clients: BTreeMap::new(),
        publishers: BTreeMap::new(),
        arm: UdpSocket::bind(([127, 0, 0, 1], 0).into())?,
        connections: BTreeMap::new(),
        summary,
    };
    loop {
        let begin = dragoman_time::now();
        for (number, step) in script.steps.iter().enumerate() {
            let done = dragoman_time::timeout(step_limit(step), player.carry_out(step)).await;
            let done = done.unwrap_or_else(|_| Err("there is no answer".to_owned()));
            summary.step(number + 1, done);
        }
        if !script.repeat {
            std::future::pending::<()>().await;
        }
        // A round of refused steps may have taken no time.
        if dragoman_time::now() == begin {
            dragoman_time::sleep(PERIOD).await;
        }
    }
}

fn step_limit(step: &Step) -> Duration {
    match step {
        Step::Wait(Seconds(time)) | Step::Publish(Publish { time: Some(Seconds(time)), .. }) => {
            time.saturating_add(ANSWER_TIME)
        }
        _ => ANSWER_TIME,
    }
}

impl Player<'_> {
    async fn carry_out(&mut self, step: &Step) -> Result<(), String> {
        match step {
            Step::Wait(Seconds(time)) => {
                dragoman_time::sleep(*time).await;
                Ok(())
            }
            Step::Arm31(Arm31 { letters, values }) => self.ask_arm(*letters, *values).await,
            Step::Call(call) => self.call(call).await,
            Step::Publish(publish) => self.publish(publish).await,
            Step::Send(Send { port, bytes: Bytes(bytes) }) => self.send(*port, bytes).await,
        }
    }

    /// Sends a datagram of the 31-byte protocol; an answer `ER` is an error.
    async fn ask_arm(&mut self, letters: [u8; 2], values: [f32; 7]) -> Result<(), String> {
        let mut datagram = letters.to_vec();
        datagram.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        datagram.push(0);
        let server: SocketAddr = ([127, 0, 0, 1], DEFAULT_PORT).into();
        self.arm.try_send_to(&datagram, server).map_err(|error| error.to_string())?;
        let mut answer = [0; 64];
        loop {
            let (length, _) = self.arm.recv_from(&mut answer).await.map_err(|error| error.to_string())?;
            let answer = answer.get(..length).unwrap_or_default();
            if answer.starts_with(b"WN") {
                continue;
            }
            if answer.starts_with(b"ER") {
                let text = answer.split(|byte| *byte == 0).next().unwrap_or_default();
                return Err(format!(
                    "{}: {}",
                    String::from_utf8_lossy(&letters),
                    String::from_utf8_lossy(text)
                ));
            }
            return Ok(());
        }
    }

    /// Calls a service; a response with `success: false` is an error.
    async fn call(&mut self, call: &Call) -> Result<(), String> {
        let Call { service, type_name, request } = call;
        if !self.clients.contains_key(service) {
            let type_name = match type_name {
                Some(given) => given.clone(),
                None => self.type_of_service(service)?,
            };
            let client = raw::create_client(&mut self.node, service, &type_name)
                .map_err(|error| format!("{service}: {error}"))?;
            self.clients.insert(service.to_owned(), (client, type_name));
        }
        let Some((client, type_name)) = self.clients.get(service) else { return Ok(()) };
        let [of_request, of_response] =
            self.types.service(type_name).map_err(|error| format!("{service}: {error}"))?;
        let request = json::to_cdr(&of_request, request).map_err(|error| format!("{service}: {error}"))?;
        let failed = |error: dragoman_ros::Error| format!("{service}: {error}");
        client.available().map_err(failed)?.await.map_err(failed)?;
        let response = client.request(Body::Cdr(request)).map_err(failed)?.await.map_err(failed)?;
        let Body::Cdr(response) = response else { return Ok(()) };
        let text = json::from_cdr(&of_response, &response).map_err(|error| format!("{service}: {error}"))?;
        let response: Value = serde_json::from_str(&text).unwrap_or_default();
        if response.get("success") == Some(&Value::Bool(false)) {
            let reason = response.get("message").and_then(Value::as_str).unwrap_or("refused");
            return Err(format!("{service}: {reason}"));
        }
        Ok(())
    }

    fn type_of_service(&mut self, service: &str) -> Result<String, String> {
        let graph = self.introspection.graph(&self.node).map_err(|error| error.to_string())?;
        let found = graph.services.iter().find(|endpoint| endpoint.name == service);
        found
            .map(|found| found.type_name.clone())
            .ok_or_else(|| format!("{service}: there is no such service"))
    }

    async fn publish(&mut self, publish: &Publish) -> Result<(), String> {
        let Publish { topic, type_name, message, time } = publish;
        if !self.publishers.contains_key(topic) {
            let type_name = match type_name {
                Some(given) => given.clone(),
                None => self.type_of_topic(topic)?,
            };
            let qos = QosProfile::default();
            let publisher = raw::create_publisher(&mut self.node, topic, &type_name, qos)
                .map_err(|error| format!("{topic}: {error}"))?;
            self.publishers.insert(topic.to_owned(), (publisher, type_name));
        }
        let Some((publisher, type_name)) = self.publishers.get(topic) else { return Ok(()) };
        let structure = self.types.message(type_name).map_err(|error| format!("{topic}: {error}"))?;
        let data = json::to_cdr(&structure, message).map_err(|error| format!("{topic}: {error}"))?;
        let begin = dragoman_time::now();
        loop {
            publisher.publish(&data).map_err(|error| format!("{topic}: {error}"))?;
            match time {
                Some(Seconds(time)) if dragoman_time::since(begin) < *time => {
                    dragoman_time::sleep(PERIOD).await
                }
                _ => return Ok(()),
            }
        }
    }

    fn type_of_topic(&mut self, topic: &str) -> Result<String, String> {
        let graph = self.introspection.graph(&self.node).map_err(|error| error.to_string())?;
        let types = graph.topic_types(topic);
        types.first().map(|name| (*name).to_owned()).ok_or_else(|| format!("{topic}: there is no such topic"))
    }

    /// Sends bytes on a connection that is kept; what the server answers is dropped.
    async fn send(&mut self, port: u16, bytes: &[u8]) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("port {port}: {error}");
        let stream = match self.connections.remove(&port) {
            Some(stream) => stream,
            None => TcpStream::connect(([127, 0, 0, 1], port).into()).await.map_err(failed)?,
        };
        let mut answer = [0; 4096];
        while matches!(stream.try_read(&mut answer), Ok(1..)) {}
        let mut sent = 0;
        while let Some(rest) = bytes.get(sent..).filter(|rest| !rest.is_empty()) {
            stream.writable().await.map_err(failed)?;
            match stream.try_write(rest) {
                Ok(count) => sent += count,
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(failed(error)),
            }
        }
        self.connections.insert(port, stream);
        self.summary.sent(bytes.len());
        Ok(())
    }
}

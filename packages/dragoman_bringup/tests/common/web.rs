//! A client of the console: HTTP, and WebSockets with JSON.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

use crate::host::{TcpStream, now};

/// Timeout on a loaded machine.
pub const TIME_LIMIT: Duration = Duration::from_secs(120);

/// The header of a client of Foxglove's protocol.
pub const FOXGLOVE: (&str, &str) = ("sec-websocket-protocol", "foxglove.sdk.v1");

/// A client of a WebSocket with JSON, such as rosbridge.
#[derive(Debug)]
pub struct Client {
    pub socket: WebSocket<TcpStream>,
}

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        Self::connect_to(address, "/rosbridge", &[]).unwrap()
    }

    pub fn connect_to(
        address: SocketAddr,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Self, String> {
        use tungstenite::client::IntoClientRequest;
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
        let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
        for (name, value) in headers {
            request.headers_mut().insert(*name, value.parse().unwrap());
        }
        match tungstenite::client(request, stream) {
            Ok((socket, _response)) => Ok(Self { socket }),
            Err(error) => Err(error.to_string()),
        }
    }

    pub fn send(&mut self, frame: &Value) {
        self.socket.send(Message::text(frame.to_string())).unwrap();
    }

    pub fn receive(&mut self) -> Value {
        let start = now();
        loop {
            assert!(now() - start < TIME_LIMIT, "the console sends nothing");
            match self.socket.read().expect("the console answers") {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The next frame with this operation.
    pub fn next(&mut self, operation: &str) -> Value {
        let start = now();
        while now() - start < TIME_LIMIT {
            let frame = self.receive();
            if frame["op"] == operation {
                return frame;
            }
        }
        panic!("no {operation}");
    }

    /// The next message of a topic.
    pub fn message(&mut self, topic: &str) -> Value {
        loop {
            let mut frame = self.next("publish");
            if frame["topic"] == topic {
                return frame["msg"].take();
            }
        }
    }

    pub fn subscribe(&mut self, topic: &str, type_name: &str) {
        self.send(&json!({ "op": "subscribe", "topic": topic, "type": type_name }));
    }

    /// The values of a response, or the reason why there is none.
    pub fn call(&mut self, service: &str, args: &Value) -> Result<Value, String> {
        self.send(&json!({ "op": "call_service", "id": service, "service": service, "args": args }));
        let mut response = self.next("service_response");
        assert_eq!(response["id"], service);
        if response["result"] == true {
            return Ok(response["values"].take());
        }
        Err(response["values"].as_str().unwrap().to_owned())
    }
}

/// A client of Foxglove's protocol that has advertised `/cmd_vel`, and a message that drives forward at 0.1 m/s.
pub fn foxglove_driver(address: SocketAddr) -> (Client, Message) {
    let mut driver = Client::connect_to(address, "/", &[FOXGLOVE]).unwrap();
    driver.next("serverInfo");
    let channel =
        json!({ "id": 1, "topic": "/cmd_vel", "encoding": "json", "schemaName": "geometry_msgs/msg/Twist" });
    driver.send(&json!({ "op": "advertise", "channels": [channel] }));
    let forward = [&[1, 1, 0, 0, 0][..], br#"{ "linear": { "x": 0.1 } }"#].concat();
    (driver, Message::binary(forward))
}

/// Waits for a zero velocity, as it arrives at this client of rosbridge; returns how long.
pub fn until_zero(listener: &mut Client) -> Duration {
    let start = now();
    while listener.message("/cmd_vel")["linear"]["x"] != 0.0 {}
    now() - start
}

/// Status and text of a response.
pub fn get(address: SocketAddr, path: &str, headers: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let status = response.split(' ').nth(1).unwrap().parse().unwrap();
    (status, response)
}

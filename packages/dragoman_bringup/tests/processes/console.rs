//! The console in the lab: rosbridge from roslibpy, roslib and a client of its own, access, and who drives.
//! Real: HTTP and WebSockets on real ports, and programs in Python and JavaScript.

#![cfg(target_os = "linux")]

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};

use dragoman_ros::introspection::Introspection;
use serde_json::json;

use crate::common::beside::Beside;
use crate::common::implementation::embedded_does;
use crate::common::peers::{Peer, Running};
use crate::common::web::{Client, TIME_LIMIT, get, until_zero};
use crate::common::{Lab, domain, program, until};

#[test]
fn a_program_with_roslibpy_uses_the_lab() {
    if !embedded_does("services and actions of the console's clients") {
        return;
    }
    let Some(peer) = Peer::Roslibpy.command() else { return };
    let lab = Lab::start();
    let facts = Running::start(peer, lab.domain, &[&lab.console.to_string()]).facts(4 * TIME_LIMIT);
    for name in ["connected", "node", "service", "moving", "joints", "feedback"] {
        facts.accepted(name);
    }
    assert_eq!(facts.text("topic_type"), "nav_msgs/msg/Odometry");
    assert_eq!(facts.text("parameter"), "64");
    assert_eq!(facts.text("geometry"), "0.354");
    assert_eq!(facts.text("unknown_service"), "service /nothing does not exist");
    assert_eq!(facts.text("picture"), "640 x 480, 921600 bytes");
    assert_eq!(facts.text("own_service"), "{'success': True, 'message': 'switched'}");
    assert_eq!(facts.text("goal"), "['GoalStatus.SUCCEEDED'] []");
}

#[test]
fn a_program_with_roslib_uses_the_lab() {
    if !embedded_does("services and actions of the console's clients") {
        return;
    }
    let Some(peer) = Peer::Roslib.command() else { return };
    let lab = Lab::start();
    let facts = Running::start(peer, lab.domain, &[&lab.console.to_string()]).facts(4 * TIME_LIMIT);
    for name in ["connected", "topics", "node", "moving", "done"] {
        assert_eq!(facts.text(name), "true", "{name}");
    }
    assert_eq!(facts.text("details"), "header child_frame_id pose twist");
    assert_eq!(facts.text("geometry"), "0.354");
    assert_eq!(facts.text("unknown_service"), "service /nothing does not exist");
    for compression in ["none", "png", "cbor"] {
        assert_eq!(facts.text(&format!("scan_{compression}")), "684", "{compression}");
    }
    assert_eq!(facts.text("picture"), "640 x 480, 921600 bytes");
    assert_eq!(facts.text("own_service"), r#"{"success":true,"message":"switched"}"#);
    assert_eq!(facts.text("action"), "1 1 1 1 1 after 1 feedback");
}

fn drive(driver: &mut Client, listener: &mut Client) {
    driver.send(&json!({ "op": "publish", "topic": "/cmd_vel", "type": "geometry_msgs/Twist",
        "msg": { "linear": { "x": 0.1 } } }));
    assert_eq!(listener.message("/cmd_vel")["linear"]["x"], 0.1);
}

/// When it stops: `virtual_time/web.rs`.
#[test]
fn what_a_lost_client_drives_stops() {
    let lab = Lab::start_with(domain(), &["up", "--only", "player,console"], &[]);
    let mut listener = Client::connect(lab.console);
    listener.subscribe("/cmd_vel", "geometry_msgs/Twist");
    // The page is closed.
    let mut driver = Client::connect(lab.console);
    drive(&mut driver, &mut listener);
    drop(driver);
    until_zero(&mut listener);
    // It does not answer: this client reads nothing, and so sends no pongs.
    let mut driver = Client::connect(lab.console);
    drive(&mut driver, &mut listener);
    until_zero(&mut listener);
}

#[test]
fn idle_connections_do_not_lock_other_clients_out() {
    let lab = Lab::start_with(domain(), &["up", "--only", "player,console"], &[]);
    let idle: Vec<TcpStream> = (0..600).map(|_| TcpStream::connect(lab.console).unwrap()).collect();
    assert_eq!(get(lab.console, "/api/lab", "").0, 200);
    let mut client = Client::connect(lab.console);
    assert!(client.call("/rosapi/nodes", &json!({})).is_ok());
    drop(idle);
}

#[test]
fn latched_topics_and_refusals() {
    let lab = Lab::start();
    let mut client = Client::connect(lab.console);
    client.subscribe("/neobotix/map", "nav_msgs/OccupancyGrid");
    assert!(client.message("/neobotix/map")["info"]["width"].as_u64().unwrap() > 0);
    // A later client gets it as well, though the topic is subscribed to already.
    let mut later = Client::connect(lab.console);
    later.send(&json!({ "op": "subscribe", "topic": "/neobotix/map" }));
    assert!(later.message("/neobotix/map")["info"]["width"].as_u64().unwrap() > 0);

    assert_eq!(
        client.call("/rosapi/topic_type", &json!(["/odom"])).unwrap(),
        json!({ "type": "nav_msgs/msg/Odometry" })
    );
    let reason = client.call("/mobile_base/set_motor_power", &json!({ "power": true })).unwrap_err();
    assert!(reason.contains("has no field 'power'"), "{reason}");
    let refused = [
        (
            json!({ "op": "publish", "topic": "/cmd_vel", "type": "geometry_msgs/Twist", "msg": { "linear": 1 } }),
            "linear",
        ),
        (json!({ "op": "publish", "topic": "/t", "type": "none/Such", "msg": {} }), "unknown"),
        (json!({ "op": "advertise", "topic": "/not a name", "type": "std_msgs/String" }), "name"),
        (json!({ "op": "subscribe", "topic": "/not/there" }), "type is unknown"),
        (json!({ "op": "advertise_service", "service": "/s", "type": "../../etc/passwd" }), "name of a type"),
        (json!({ "op": "fly" }), "unknown operation"),
    ];
    for (frame, reason) in refused {
        client.send(&frame);
        let status = client.next("status");
        assert!(status["msg"].as_str().unwrap().contains(reason), "{status}");
    }
    // The client is still served.
    assert!(client.call("/rosapi/nodes", &json!({})).unwrap()["nodes"].as_array().unwrap().len() > 10);
}

#[test]
fn types_of_own_packages_are_known() {
    if !embedded_does("types of own packages") {
        return;
    }
    let prefix = std::env::temp_dir().join(format!("dragoman_console_{}", std::process::id()));
    let folder = prefix.join("share/own_msgs/msg");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(
        folder.join("Lamp.msg"),
        "string color red\ngeometry_msgs/Point[2] corners\nuint8[] data\n",
    )
    .unwrap();
    let variables = [("AMENT_PREFIX_PATH", prefix.to_str().unwrap())];
    let lab = Lab::start_in(&variables, domain(), &["up", "--only", "player,console"], &[]);
    let (mut one, mut two) = (Client::connect(lab.console), Client::connect(lab.console));
    one.subscribe("/lamp", "own_msgs/Lamp");
    assert!(one.call("/rosapi/message_details", &json!({ "type": "own_msgs/Lamp" })).is_ok());
    two.send(
        &json!({ "op": "publish", "topic": "/lamp", "type": "own_msgs/Lamp", "msg": { "data": [1, 2, 3] } }),
    );
    let message = one.message("/lamp");
    assert_eq!((&message["color"], &message["data"]), (&json!("red"), &json!("AQID")));
    assert_eq!(message["corners"].as_array().unwrap().len(), 2);
    std::fs::remove_dir_all(prefix).unwrap();
}

/// That nothing is lost or doubled: `virtual_time/web.rs`. On r2r this returns the memory of what has ended.
#[test]
fn a_node_on_which_most_has_ended_is_replaced() {
    let arguments = ["up", "--only", "player,console"];
    let lab = Lab::start_with(domain(), &arguments, &["-p", "console:replaced_after:=8"]);
    let mut good = Client::connect(lab.console);
    good.subscribe("/diagnostics", "diagnostic_msgs/DiagnosticArray");
    good.message("/diagnostics");
    // r2r does not list all nodes, but others see them.
    let mut beside = Beside::new(lab.domain);
    let mut introspection = Introspection::new(&mut beside.node).unwrap();
    let mut on_node = |number: u32| {
        let name = format!("/console_clients_{number}");
        until(&name, || {
            let all = introspection.graph(&beside.node).unwrap().nodes;
            all.iter().filter(|node| node.starts_with("/console_clients")).eq([&name])
        });
    };
    on_node(1);
    for round in 0..3 {
        let mut other = Client::connect(lab.console);
        (0..20).for_each(|number| other.subscribe(&format!("/silent_{round}_{number}"), "std_msgs/String"));
        // It is answered after these.
        other.call("/rosapi/nodes", &json!({})).unwrap();
        drop(other);
        on_node(round + 2);
        good.message("/diagnostics");
    }
}

#[test]
fn other_addresses_need_the_token() {
    let lab = Lab::start_with(domain(), &["console", "--listen", "0.0.0.0:0"], &[]);
    let line = lab.banner.iter().find_map(|line| line.strip_prefix("console: open http://0.0.0.0:")).unwrap();
    let (port, token) = line.split_once("/?token=").unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], port.parse().unwrap()));
    assert_eq!(get(address, "/api/lab", "").0, 401);
    assert_eq!(get(address, "/api/lab?token=0123456789abcdef", "").0, 401);
    assert_eq!(get(address, "/api/lab", &format!("Authorization: Bearer {token}\r\n")).0, 200);
    let (status, response) = get(address, &format!("/?token={token}"), "");
    assert!(status == 303 && response.contains("HttpOnly; SameSite=Strict"), "{response}");
    let (_, response) = get(address, &format!("//evil.example/?token={token}"), "");
    assert!(response.contains("\r\nlocation: /evil.example/\r\n"), "not to another machine: {response}");
    assert!(Client::connect_to(address, "/rosbridge", &[]).is_err());
    assert!(Client::connect_to(address, &format!("/rosbridge?token={token}"), &[]).is_ok());
    let cookie = format!("dragoman_token={token}");
    assert!(Client::connect_to(address, "/rosbridge", &[("cookie", &cookie)]).is_ok());
    let evil = [("cookie", cookie.as_str()), ("origin", "http://evil.example")];
    assert!(Client::connect_to(address, "/rosbridge", &evil).unwrap_err().contains("403"));
}

#[test]
fn pages_of_other_origins_are_refused() {
    let lab = Lab::start_with(domain(), &["console", "--listen", "127.0.0.1:0"], &[]);
    let line = lab.banner.iter().find_map(|line| line.strip_prefix("console: open http://")).unwrap();
    let address: SocketAddr = line.trim_end_matches('/').parse().unwrap();
    let own = format!("http://{address}");
    assert!(Client::connect_to(address, "/rosbridge", &[("origin", &own)]).is_ok());
    for (name, value) in [("origin", "http://evil.example"), ("host", "evil.example")] {
        assert!(
            Client::connect_to(address, "/rosbridge", &[(name, value)]).unwrap_err().contains("403"),
            "{value}"
        );
    }
    let (status, response) = get(address, "/api/lab", "");
    assert!(status == 200 && response.contains("content-security-policy: default-src 'none'"), "{response}");
    assert_eq!(get(address, "/../../etc/passwd", "").0, 404);
}

#[test]
fn a_port_in_use_is_reported() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = Command::new(program())
        .args(["up", "--only", "console", "--console", &address, "--domain", &domain().to_string()])
        .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let line = errors.lines().find(|line| line.starts_with("dragoman: ")).unwrap_or_default();
    assert!(
        !output.status.success() && line.contains(&address) && line.contains("--console off"),
        "{errors}"
    );
}

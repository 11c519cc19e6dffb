//! Foxglove's protocol in the lab: its own client library, access, and what a lost client drives.
//! Real: WebSockets on real ports, and a program in JavaScript.

#![cfg(target_os = "linux")]

use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::common::implementation::embedded_does;
use crate::common::peers::{Peer, Running};
use crate::common::web::{Client, FOXGLOVE, TIME_LIMIT, foxglove_driver, get, until_zero};
use crate::common::{Lab, domain, program};

#[test]
fn a_program_with_foxgloves_library_uses_the_lab() {
    if !embedded_does("a list of services") {
        return;
    }
    let Some(peer) = Peer::Foxglove.command() else { return };
    let lab = Lab::start();
    let facts = Running::start(peer, lab.domain, &[&lab.foxglove.to_string()]).facts(4 * TIME_LIMIT);
    for name in ["description", "moving", "stopped", "parameters", "set", "followed", "asset", "done"] {
        assert_eq!(facts.text(name), "true", "{name}");
    }
    let capabilities = "clientPublish services parameters parametersSubscribe connectionGraph assets";
    assert_eq!(facts.text("capabilities"), capabilities);
    assert_eq!(facts.text("distribution"), crate::common::peers::distribution());
    assert_eq!(facts.text("scan"), "684");
    assert_eq!(facts.text("picture"), "640 x 480, 921600 bytes");
    assert_eq!((facts.text("geometry"), facts.text("geometry_json")), ("0.354", "0.354"));
    assert!(facts.text("wrong_request").contains("has no field 'power'"), "{facts:?}");
    assert_eq!(facts.text("short_message"), "publish /cmd_vel: unexpected end of input");
    let long = "publish /cmd_vel: 8 bytes follow the message: is it of another type?";
    assert_eq!(facts.text("long_message"), long);
    assert_eq!((facts.text("parameter"), facts.text("double")), ("64 undefined", "float64"));

    assert!(facts.text("read_only").starts_with("setParameters /console.max_clients: "), "{facts:?}");
    assert!(facts.text("no_asset").contains("is not package://PACKAGE/PATH"), "{facts:?}");
    facts.contains("publishers", &["/mobile_base"]);
    assert_eq!(facts.text("providers"), "/mobile_base");
}

/// When it stops: `virtual_time/web.rs`.
#[test]
fn what_a_lost_client_drives_stops() {
    let lab = Lab::start_with(domain(), &["up", "--only", "player,console"], &[]);
    let mut listener = Client::connect(lab.console);
    listener.subscribe("/cmd_vel", "geometry_msgs/Twist");
    let (mut client, forward) = foxglove_driver(lab.foxglove);
    client.socket.send(forward).unwrap();
    assert_eq!(listener.message("/cmd_vel")["linear"]["x"], 0.1);
    drop(client);
    until_zero(&mut listener);
    // This one does not answer pings, because it reads nothing.
    let (mut client, forward) = foxglove_driver(lab.foxglove);
    client.socket.send(forward).unwrap();
    assert_eq!(listener.message("/cmd_vel")["linear"]["x"], 0.1);
    until_zero(&mut listener);
}

#[test]
fn token_and_origin_are_checked_here_as_well() {
    let arguments = ["console", "--listen", "127.0.0.1:0", "--foxglove", "0.0.0.0:0"];
    let lab = Lab::start_with(domain(), &arguments, &[]);
    let line = lab.banner.iter().find_map(|line| line.split_once("connect to ws://0.0.0.0:")).unwrap().1;
    let (port, token) = line.split_once("/?token=").unwrap();
    let address = ([127, 0, 0, 1], port.parse().unwrap()).into();
    // The page asks for the token as well.
    assert_eq!(get(lab.console, "/api/lab", "").0, 401);
    let connect = |path: &str, headers: &[(&'static str, &str)]| {
        Client::connect_to(address, path, headers).map(|mut client| client.next("serverInfo"))
    };
    let with_token = format!("/?token={token}");
    assert!(connect("/", &[FOXGLOVE]).unwrap_err().contains("401"));
    assert!(connect("/?token=0123456789abcdef", &[FOXGLOVE]).unwrap_err().contains("401"));
    for name in ["foxglove.sdk.v1", "foxglove.websocket.v1"] {
        assert!(connect(&with_token, &[(FOXGLOVE.0, name)]).is_ok(), "{name}");
    }
    assert!(connect(&with_token, &[FOXGLOVE, ("origin", "https://app.foxglove.dev")]).is_ok());
    for evil in ["http://evil.example", "file://"] {
        assert!(connect(&with_token, &[FOXGLOVE, ("origin", evil)]).unwrap_err().contains("403"), "{evil}");
    }
    // Another protocol, or none.
    assert!(connect(&with_token, &[(FOXGLOVE.0, "foxglove.sdk.v9")]).unwrap_err().contains("400"));
    assert!(connect(&with_token, &[]).unwrap_err().contains("400"));
    assert_eq!(get(address, &with_token, "").0, 400);
}

#[test]
fn origins_are_chosen() {
    let arguments =
        ["console", "--listen", "127.0.0.1:0", "--foxglove-origins", "http://localhost:9,https://a.example"];
    let lab = Lab::start_with(domain(), &arguments, &[]);
    let connect = |name, value| Client::connect_to(lab.foxglove, "/", &[FOXGLOVE, (name, value)]);
    assert!(connect("origin", "https://a.example").is_ok());
    for (name, value) in [
        ("origin", "https://app.foxglove.dev"),
        ("origin", "file://"),
        ("origin", "null"),
        ("host", "evil.example"),
    ] {
        assert!(connect(name, value).unwrap_err().contains("403"), "{value}");
    }
    // The page accepts only its own origin.
    let page = [("origin", "https://a.example")];
    assert!(Client::connect_to(lab.console, "/rosbridge", &page).unwrap_err().contains("403"));
}

#[test]
fn a_port_in_use_is_reported() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = Command::new(program())
        .args(["up", "--only", "console", "--console", "127.0.0.1:0", "--foxglove", &address])
        .args(["--domain", &domain().to_string()])
        .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let line = errors.lines().find(|line| line.starts_with("dragoman: ")).unwrap_or_default();
    let is_clear = line.contains(&address) && line.contains("--foxglove off");
    assert!(!output.status.success() && is_clear, "{errors}");
}

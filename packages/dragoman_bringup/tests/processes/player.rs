//! Player's server in a process. Real, since its cable is pulled in the system's network.

#![cfg(target_os = "linux")]

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::common::hosts::hosts;
use crate::common::player::{PlayerClient, SERVER, TIME_LIMIT, base, base_without_services, header};
use crate::common::{Lab, domain};
use dragoman_bridge::player::wire::player::DEVICES;
use dragoman_bridge::player::wire::{MessageKind, position2d};

#[test]
fn a_base_is_there_moves_and_stops() {
    let lab = Lab::start_with(domain(), &["up", "--only", "turtlebot,player"], &[]);
    let mut client = PlayerClient::connect(lab.player);
    client.subscribe(base(0));
    client.set_speed(base(0), 0.0, 0.5);
    client.until("the base turns", base(0), |state| state.velocity.yaw > 0.3);
    client.set_speed(base(0), 0.0, 0.0);
    client.until("the base stands", base(0), |state| state.velocity.yaw.abs() < 0.01);
}

/// A client whose cable is pulled sends no end. TCP finds out, while the server reads and while it does not.
#[test]
fn a_client_whose_cable_is_pulled_leaves_no_robot_driving() {
    let Some(mut hosts) = hosts("player", 2, true) else { return };
    let table = base_without_services("cable");
    hosts.start_lab(&["--only", "turtlebot,player", "--player-devices", &table, "--bind", "0.0.0.0"]);
    let server = SocketAddr::from(([10, 77, 0, 1], 6665));
    let end = Instant::now() + TIME_LIMIT;
    while hosts.on(1, || TcpStream::connect(server)).is_err() {
        assert!(Instant::now() < end, "the lab does not listen");
        std::thread::sleep(Duration::from_millis(100));
    }
    let mut watcher = hosts.on(1, || PlayerClient::connect(server));
    watcher.subscribe(base(0));
    let requests = header(base(0), MessageKind::Request, position2d::GET_GEOMETRY.subtype, &[]).repeat(2000);
    for last in [Vec::new(), requests] {
        let mut driver = hosts.on(2, || PlayerClient::connect(server));
        driver.subscribe(base(0));
        driver.set_speed(base(0), 0.0, 0.5);
        watcher.until("the base turns", base(0), |state| state.velocity.yaw > 0.3);
        driver.stream.write_all(&last).unwrap();
        // Its acknowledgements arrive before the cable is pulled.
        std::thread::sleep(Duration::from_millis(300));
        hosts.cable(2, "down");
        let cut = Instant::now();
        watcher.until("the base stands", base(0), |state| state.velocity.yaw.abs() < 0.01);
        println!("the base stood {:?} after the cable was pulled", cut.elapsed());
        hosts.cable(2, "up");
    }
}

#[test]
fn two_hundred_clients_are_served() {
    let lab = Lab::start_with(domain(), &["up", "--only", "turtlebot,player"], &[]);
    let mut clients: Vec<PlayerClient> = (0..200).map(|_| PlayerClient::connect(lab.player)).collect();
    clients.iter_mut().for_each(|client| client.subscribe(base(0)));
    for client in &mut clients {
        client.granted(SERVER, DEVICES.subtype, &());
        assert!(client.state(base(0)).pose.x.is_finite());
    }
}

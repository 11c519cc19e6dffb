//! Hostile packets, RTPS and of the 31-byte protocol, against a running lab: it keeps answering, moves nothing, and discovers
//! others. How quickly, and with how much memory: `benches/figures`.

#![cfg(target_os = "linux")]

#[path = "attacks/packets.rs"]
mod packets;
#[path = "attacks/peer.rs"]
mod peer;
#[path = "../../dragoman_ros/tests/packets/wire.rs"]
mod wire;

mod common;
#[path = "common/host.rs"]
mod host;

use std::net::{Ipv4Addr, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};

use common::beside::Beside;
use common::hosts::hosts;
use common::{ArmReply, Lab, domain, until};
use dragoman_ros::sensor_msgs::msg::JointState;
use peer::{Peer, discovery_port};
use wire::{announcement, made_up};

const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// Attacks a lab: STOP is answered all the time, and a newcomer receives joint states afterwards.
#[track_caller]
fn attacked(attack: fn(&Peer)) {
    let lab = Lab::start_with(domain(), &["up"], &["-p", "arm31:port:=0"]);
    // The limit protects the machine: without a patch a lab takes all memory.
    let limit = ["--pid", &lab.child.id().to_string(), "--as=4000000000"];
    let _ = Command::new("prlimit").args(limit).status();
    let client = lab.client();
    let peer = Peer::new(1, LOCALHOST, LOCALHOST, lab.domain);
    peer.meet();
    std::thread::scope(|scope| {
        let attacker = scope.spawn(|| attack(&peer));
        while !attacker.is_finished() {
            let answer = client.ask("ST", [0.0; 7], 0);
            assert!(matches!(answer, ArmReply::Values([b'T', b'S'], ..)), "{answer:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let mut newcomer = Beside::new(lab.domain);
    let mut states = newcomer.subscribe::<JointState>("/joint_states");
    newcomer.next("joint states for a newcomer", &mut states);
}

/// Patch: "Send only fragments that exist".
#[test]
fn fragment_zero() {
    attacked(packets::fragment_zero);
}

/// Patch: "List at most as many missing samples as an ACKNACK can name".
#[test]
fn heartbeat_of_many() {
    attacked(packets::heartbeat_of_many);
}

/// Patch: "Remember a GAP only as far as an ACKNACK reaches".
#[test]
fn gap_of_many() {
    attacked(packets::gap_of_many);
}

/// Patch: "Assemble the fragments of matched writers only".
#[test]
fn fragment_of_an_unknown_writer() {
    attacked(packets::fragment_of_an_unknown_writer);
}

/// Patches: "Forget lost participants altogether", "Forget what was read of lost participants".
#[test]
fn restarts_of_a_peer() {
    attacked(packets::restarts_of_a_peer);
}

/// Patches: "Limit the participants, endpoints and topics that are kept", "Answer many new participants at once", "Send
/// fewer HEARTBEATs to readers that do not answer".
#[test]
fn false_participants() {
    attacked(packets::false_participants);
}

/// A participant announced with another's address does not make that address a target.
///
/// Patch: "Answer a participant only at an address that is confirmed".
#[test]
fn announcement_of_a_third_address() {
    let Some(mut hosts) = hosts("third", 3, true) else { return };
    hosts.start_lab(&[]);
    let lab = Ipv4Addr::new(10, 77, 0, 1);
    let victim = Ipv4Addr::new(10, 77, 0, 3);
    let receiver = hosts.on(3, || UdpSocket::bind((victim, 7777)).unwrap());
    receiver.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let announced = announcement(made_up(1), (victim, 7777), 1000);
    hosts.on(2, || {
        let sender = UdpSocket::bind("10.77.0.2:0").unwrap();
        sender.send_to(&announced.0, (lab, discovery_port(0))).unwrap();
    });
    let end = Instant::now() + Duration::from_secs(8);
    let mut received = 0;
    let mut bytes = [0; 65536];
    while Instant::now() < end {
        received += receiver.recv(&mut bytes).unwrap_or(0);
    }
    let factor = received as f64 / announced.0.len() as f64;
    assert!(factor < 2.0, "{received} bytes in 8 s for {}", announced.0.len());

    // The same participant at its own address is answered.
    hosts.on(2, || Peer::new(2, Ipv4Addr::new(10, 77, 0, 2), lab, 0).meet());
}

#[test]
fn bad_datagrams_and_floods_move_nothing() {
    let lab = Lab::start();
    let client = lab.client();
    let home = client.position();
    client.ask("CM", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0);
    let flooder = lab.client();
    for size in 0..=2000 {
        flooder.socket.send(&vec![b'G'; size]).unwrap();
    }
    // A hundred thousand in a second.
    for burst in 0..3000 {
        for _ in 0..100 {
            flooder.send("BG", [0.0; 7], 0);
        }
        if burst % 10 == 0 {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    // Datagrams are lost while the buffers are full.
    client.socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    until("an answer", || {
        client.send("PS", [0.0; 7], 0);
        client.receive().is_some()
    });
    assert_eq!(client.position(), home);
}

//! Hostile packets, RTPS and of the 31-byte protocol, against a running lab: it keeps answering, publishing and
//! discovering others, and its memory is released.
//!
//! The tests are about behaviour. Their figures are printed, and held against limits only if `DRAGOMAN_FIGURES` is set: for a
//! release build (`DRAGOMAN_TEST_PROGRAM`) that has the machine for itself, `.ci/run attacks`.

#![cfg(target_os = "linux")]

#[path = "attacks/peer.rs"]
mod peer;
#[path = "../../dragoman_ros/tests/packets/wire.rs"]
mod wire;

mod common;
#[path = "common/host.rs"]
mod host;

use std::net::{Ipv4Addr, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::beside::Beside;
use common::hosts::hosts;
use common::{Lab, domain, processor_time};
use dragoman_ros::sensor_msgs::msg::JointState;
use futures::StreamExt;
use peer::{Peer, discovery_port};
use wire::{
    Message, PUBLICATIONS_READER, PUBLICATIONS_WRITER, SPDP_READER, SPDP_WRITER, SUBSCRIPTIONS_READER,
    SUBSCRIPTIONS_WRITER, announcement, endpoint, guid, made_up,
};

/// Minimum time for which an attack is observed.
const ATTACK: Duration = Duration::from_secs(3);
/// Limit of the 99th percentile of the response time of STOP.
const STOP: Duration = Duration::from_millis(20);
/// Limit of the time between joint states, of which a hundred are sent a second.
const GAP: Duration = Duration::from_millis(30);
/// Minimum share of answered questions while another client sends all that it can.
const ANSWERED: f64 = 0.5;
/// Limit for one exception, which may be caused by the machine.
const HICCUP: Duration = Duration::from_millis(200);
/// Limit of what memory grows by: a quarter of the 40 MiB that a lab may have at rest.
const GROWTH_KIB: u64 = 10 << 10;
const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;

/// The two longest times between joint states until `stop`, the longest first.
fn longest_gaps(domain: u16, stop: &AtomicBool, listening: &AtomicBool) -> [Duration; 2] {
    let mut beside = Beside::new(domain);
    let mut states = beside.subscribe::<JointState>("/ranger/joint_states");
    beside.next("the first joint states", &mut states);
    listening.store(true, Ordering::Relaxed);
    let mut last = Instant::now();
    let mut gaps = [Duration::ZERO; 2];
    while !stop.load(Ordering::Relaxed) {
        let next = async { tokio::time::timeout(Duration::from_secs(1), states.next()).await };
        let arrived = beside.runtime.block_on(next).is_ok();
        let gap = last.elapsed();
        if gap > gaps[0] {
            gaps = [gap, gaps[0]];
        } else if gap > gaps[1] {
            gaps[1] = gap;
        }
        if arrived {
            last = Instant::now();
        }
    }
    gaps
}

/// Fractions of a core.
fn busy_for(lab: &Lab, time: Duration) -> f64 {
    let before = processor_time(lab.child.id());
    std::thread::sleep(time);
    (processor_time(lab.child.id()) - before) / time.as_secs_f64()
}

/// Ends the receiving thread, also when the lab has ended.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Holds a figure against its limit, if figures are held.
#[track_caller]
fn hold(figure: bool, what: impl std::fmt::Display) {
    assert!(figure || std::env::var_os("DRAGOMAN_FIGURES").is_none(), "{what}");
}

/// Starts a lab, attacks it, and observes it.
#[track_caller]
fn attacked(name: &str, attack: impl FnOnce(&Peer) + Send) -> Lab {
    let lab = Lab::start_with(domain(), &["up"], &["-p", "arm31:port:=0"]);
    // Without a patch a lab takes all memory: it may end, but the machine must survive.
    let limit = ["--pid", &lab.child.id().to_string(), "--as=4000000000"];
    let _ = Command::new("prlimit").args(limit).status();
    let client = lab.client();
    let peer = Peer::new(made_up(1), LOCALHOST, LOCALHOST, lab.domain);
    let (stop, listening) = (AtomicBool::new(false), AtomicBool::new(false));
    let mut answers = Vec::new();
    let (before, gaps) = std::thread::scope(|scope| {
        let stopped = StopOnDrop(&stop);
        let listener = scope.spawn(|| longest_gaps(lab.domain, &stop, &listening));
        while !listening.load(Ordering::Relaxed) {
            assert!(!listener.is_finished(), "{name}: joint states");
            std::thread::sleep(Duration::from_millis(20));
        }
        peer.meet();
        std::thread::sleep(Duration::from_secs(1));
        let before = lab.resident_kib();
        let attacker = scope.spawn(|| attack(&peer));
        let start = Instant::now();
        while start.elapsed() < ATTACK || !attacker.is_finished() {
            let asked = Instant::now();
            client.ask("ST", [0.0; 7], 0);
            answers.push(asked.elapsed());
            std::thread::sleep(Duration::from_millis(5));
        }
        drop(stopped);
        attacker.join().unwrap();
        (before, listener.join().unwrap())
    });
    answers.sort();
    let p99 = answers[answers.len() * 99 / 100];

    // It still discovers others.
    let mut newcomer = Beside::new(lab.domain);
    let mut states = newcomer.subscribe::<JointState>("/joint_states");
    newcomer.next("joint states for a newcomer", &mut states);
    drop((states, newcomer));

    // Memory is released.
    let end = Instant::now() + Duration::from_secs(10);
    while lab.resident_kib() > before + GROWTH_KIB && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(200));
    }
    let after = lab.resident_kib();
    println!(
        "{name}: STOP answered within {:.1} ms (p99 of {}), joint states at most {:.0} and {:.0} ms apart, \
         memory {:.1} -> {:.1} MiB",
        p99.as_secs_f64() * 1e3,
        answers.len(),
        gaps[0].as_secs_f64() * 1e3,
        gaps[1].as_secs_f64() * 1e3,
        before as f64 / 1024.0,
        after as f64 / 1024.0,
    );
    hold(p99 < STOP, format_args!("{name}: {p99:?}"));
    hold(gaps[0] < HICCUP && gaps[1] < GAP, format_args!("{name}: {gaps:?}"));
    hold(after <= before + GROWTH_KIB, format_args!("{name}: {before} -> {after} KiB"));
    lab
}

/// Patch: "Send only fragments that exist".
#[test]
fn fragment_zero() {
    attacked("NACK_FRAG 0", |peer| {
        for count in 0..200 {
            for number in 1..5 {
                let message = Message::from(peer.prefix);
                let (reader, writer) = (PUBLICATIONS_READER, PUBLICATIONS_WRITER);
                peer.send(&message.nack_frag(reader, writer, number, 0, 32, &[u32::MAX], count));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    });
}

/// Patch: "List at most as many missing samples as an ACKNACK can name".
#[test]
fn heartbeat_of_many() {
    attacked("HEARTBEAT 1..2^40", |peer| {
        for count in 1..200 {
            let message = Message::from(peer.prefix);
            peer.send(&message.heartbeat(PUBLICATIONS_READER, PUBLICATIONS_WRITER, 1, 1 << 40, count));
            std::thread::sleep(Duration::from_millis(10));
        }
    });
}

/// Patch: "Remember a GAP only as far as an ACKNACK reaches".
#[test]
fn gap_of_many() {
    attacked("GAP 5..2^40", |peer| {
        for _ in 0..200 {
            let message = Message::from(peer.prefix);
            peer.send(&message.gap(PUBLICATIONS_READER, PUBLICATIONS_WRITER, 5, 1 << 40, 0, &[]));
            std::thread::sleep(Duration::from_millis(10));
        }
    });
}

/// Patch: "Assemble the fragments of matched writers only".
#[test]
fn fragment_of_a_stranger() {
    attacked("DATA_FRAG of 4 GB", |peer| {
        for number in 1..200 {
            let message = Message::from(made_up(2));
            let (reader, writer) = (PUBLICATIONS_READER, PUBLICATIONS_WRITER);
            peer.send(&message.data_frag(reader, writer, number, 1, 1, 0xffff, 0xffff_fff0, &[0; 1024]));
            std::thread::sleep(Duration::from_millis(10));
        }
    });
}

/// 500 peers come and go, one after the other, half of them without saying goodbye.
///
/// Patches: "Forget lost participants altogether", "Forget what was read of lost participants".
#[test]
fn restarts_of_a_peer() {
    const ENDPOINTS: u32 = 12;
    attacked("500 restarts", |peer| {
        for batch in 0..25 {
            let restarts = || (1000 + batch * 20..1020 + batch * 20).map(made_up);
            restarts().for_each(|prefix| peer.send(&announcement(prefix, peer.address, 1)));
            std::thread::sleep(Duration::from_millis(250));
            for prefix in restarts() {
                for number in (1..=ENDPOINTS).step_by(4) {
                    let mut message = Message::from(prefix);
                    for number in number..number + 4 {
                        let [.., a, b] = number.to_be_bytes();
                        let topic = format!("rt/topic_{number}");
                        let (writer, reader) = (guid(prefix, [1, a, b, 3]), guid(prefix, [2, a, b, 4]));
                        let about = |guid| endpoint(guid, &topic, "std_msgs::msg::dds_::String_");
                        message = message
                            .data(PUBLICATIONS_READER, PUBLICATIONS_WRITER, number.into(), &about(writer))
                            .data(SUBSCRIPTIONS_READER, SUBSCRIPTIONS_WRITER, number.into(), &about(reader));
                    }
                    peer.send(&message);
                }
            }
            std::thread::sleep(Duration::from_millis(250));
            for prefix in restarts().step_by(2) {
                let key = guid(prefix, [0, 0, 1, 0xc1]);
                peer.send(&Message::from(prefix).dispose(SPDP_READER, SPDP_WRITER, 2, key));
            }
        }
        // The leases of the others expire.
        std::thread::sleep(Duration::from_secs(4));
    });
}

/// Patches: "Limit the participants, endpoints and topics that are kept", "Answer many new participants at once", "Send
/// fewer HEARTBEATs to readers that do not answer".
#[test]
fn false_participants() {
    let lab = attacked("5000 participants", |peer| {
        for number in 0..5000 {
            let address = (LOCALHOST, 20_000 + number as u16);
            peer.send(&announcement(made_up(10_000 + number), address, 86_400));
            if number % 20 == 0 {
                std::thread::sleep(Duration::from_millis(8));
            }
        }
    });
    let share = busy_for(&lab, Duration::from_secs(3));
    println!("5000 participants: at rest {:.0} % of a core", share * 100.0);
    hold(share < 0.3, format_args!("{share} of a core at rest"));
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
    println!("third address: {factor:.1} times the bytes in 8 s");
    assert!(factor < 2.0, "{received} bytes for {}", announced.0.len());

    // The same participant at its own address is answered.
    hosts.on(2, || Peer::new(made_up(2), Ipv4Addr::new(10, 77, 0, 2), lab, 0).meet());
}

#[test]
fn bad_datagrams_and_floods_move_nothing_and_disturb_nobody() {
    let lab = Lab::start();
    let client = lab.client();
    let home = client.position();
    client.ask("CM", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0);
    let stranger = lab.client();
    for size in 0..=2000 {
        stranger.socket.send(&vec![b'G'; size]).unwrap();
    }
    let memory = lab.resident_kib();
    let flooder = lab.client();
    let flood = std::thread::spawn(move || {
        let start = Instant::now();
        let mut sent = 0_u64;
        let mut datagram = [0; 31];
        datagram[..2].copy_from_slice(b"BG");
        while start.elapsed() < Duration::from_secs(3) {
            for _ in 0..100 {
                let _ = flooder.socket.send(&datagram);
                sent += 1;
            }
            // A hundred thousand in a second.
            std::thread::sleep(Duration::from_micros(sent * 10).saturating_sub(start.elapsed()));
        }
        sent as f64 / start.elapsed().as_secs_f64()
    });
    let (mut answered, mut asked) = (0, 0);
    client.socket.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    while !flood.is_finished() {
        asked += 1;
        client.send("PS", [0.0; 7], 0);
        answered += u32::from(client.receive().is_some());
        std::thread::sleep(Duration::from_millis(25));
    }
    println!(
        "flood of {:.0} datagrams/s: {answered} of {asked} questions of another client answered",
        flood.join().unwrap()
    );
    hold(f64::from(answered) > ANSWERED * f64::from(asked), format_args!("{answered} of {asked} answered"));
    client.socket.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
    assert_eq!(client.position(), home);
    let grown = lab.resident_kib().saturating_sub(memory);
    println!("memory grew by {grown} KiB");
    hold(grown < 20_000, format_args!("{grown} KiB more"));
}

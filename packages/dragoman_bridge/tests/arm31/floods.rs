//! Overload: memory stays bounded and other clients are served.

use std::time::Duration;

use dragoman_bridge::arm31::wire::Command;
use dragoman_bridge::arm31::{ArmCall, Outcome, ServerConfig};

use crate::arm31::support::{Random, ServerFixture, client, plain};

#[test]
fn a_flooding_client_is_limited_and_others_are_not() {
    let mut fixture = ServerFixture::new();
    fixture.server.handle_pose(fixture.now, [0.0; 3], [0.0, 0.0, 0.0, 1.0]);
    let (mut loud, mut quiet) = (0, 0);
    // One second: client 1 sends 100 each millisecond, client 2 asks every 25 ms.
    for millisecond in 0..1000 {
        fixture.pass(1);
        for _ in 0..100 {
            fixture.receive(1, &plain(b"PS"));
        }
        if millisecond % 25 == 0 {
            fixture.receive(2, &plain(b"PS"));
        }
        for (number, _) in fixture.sent() {
            if number == 1 { loud += 1 } else { quiet += 1 }
        }
    }
    assert_eq!(quiet, 40);
    assert!((21_900..=22_000).contains(&loud), "burst 2000 and 20000/s, not {loud}");
    assert_eq!(fixture.server.statistics().dropped_over_rate, 100_000 - loud);
}

#[test]
fn a_flooding_client_can_still_stop_the_arm() {
    let mut fixture = ServerFixture::new();
    for _ in 0..5000 {
        fixture.receive(1, &plain(b"zz"));
    }
    fixture.receive(1, &plain(b"ST"));
    assert_eq!(fixture.call().1, ArmCall::Plain(Command::Stop));
}

#[test]
fn a_flood_from_ever_new_addresses_fills_nothing_and_keeps_the_busy_client() {
    let mut fixture = ServerFixture::with(ServerConfig { max_clients: 16, ..ServerConfig::default() });
    fixture.receive(1, &plain(b"ON"));
    let (on, _) = fixture.call();
    for number in 100..20_000 {
        fixture.receive(number, &plain(b"zz"));
        fixture.now += Duration::from_micros(10);
    }
    let statistics = fixture.server.statistics();
    assert_eq!((statistics.clients, statistics.open_calls), (16, 1));
    assert_eq!(fixture.sent().len(), 4096);
    assert_eq!(statistics.dropped_transmits, 19_900 - 4096);
    fixture.result(on, Outcome::Done);
    assert_eq!(fixture.sent(), [(1, plain(b"NO"))]);
}

/// Open calls of evicted clients count against the limit on calls.
#[test]
fn calls_from_ever_new_addresses_are_bounded() {
    let config = ServerConfig { max_clients: 4, max_open_calls: 8, ..ServerConfig::default() };
    let mut fixture = ServerFixture::with(config);
    for number in 0..5000 {
        fixture.receive(number, &plain(if number % 2 == 0 { b"BG" } else { b"ST" }));
        fixture.server.poll_call();
    }
    assert!(fixture.server.statistics().open_calls <= 16);
    fixture.pass(5000);
    fixture.pass(5000);
    fixture.pass(5000);
    assert_eq!(fixture.server.poll_timeout(), None, "everything ends");
}

/// The server does not grow if its owner never polls.
#[test]
fn an_owner_that_does_not_poll_costs_no_memory() {
    let mut fixture = ServerFixture::new();
    for number in 0..10_000 {
        fixture.receive(number % 50, &plain([b"BG", b"jP", b"ST", b"VC"][usize::from(number % 4)]));
        fixture.pass(7);
    }
    let statistics = fixture.server.statistics();
    assert!(statistics.open_calls <= 100 && fixture.sent().len() <= 4096);
    let mut calls = 0;
    while fixture.server.poll_call().is_some() {
        calls += 1;
    }
    assert!(calls <= 100, "{calls}");
}

/// Random bytes, sizes, clients, results and times: no panic, everything ends, nothing is answered twice.
#[test]
fn noise() {
    for seed in 0..20 {
        println!("seed {seed}");
        let mut random = Random(seed);
        let config = ServerConfig { max_clients: 8, max_waiting_per_client: 5, ..ServerConfig::default() };
        let mut fixture = ServerFixture::with(config);
        let mut open = Vec::new();
        for _ in 0..3000 {
            let mut bytes: Vec<u8> = (0..random.below(40)).map(|_| random.next() as u8).collect();
            if random.chance(80) {
                let letters =
                    [b"BG", b"ST", b"jP", b"VE", b"CM", b"GL", b"ON", b"ST"][random.below(8) as usize];
                bytes = plain(letters).to_vec();
            }
            fixture.server.handle_datagram(fixture.now, client(random.below(12) as u16), &bytes);
            while let Some((id, _)) = fixture.server.poll_call() {
                open.push(id);
            }
            if random.chance(60) && !open.is_empty() {
                let id = open.swap_remove(random.below(open.len() as u64) as usize);
                let outcome = if random.chance(70) { Outcome::Done } else { crate::arm31::support::REFUSED };
                fixture.result(id, outcome);
            }
            let jump = if random.chance(1) { 6000 } else { random.below(30) };
            fixture.pass(jump);
        }
        // All waiting requests may have to time out one after the other.
        for _ in 0..20 {
            fixture.pass(5000);
            while fixture.server.poll_call().is_some() {}
        }
        let statistics = fixture.server.statistics();
        assert_eq!((statistics.open_calls, fixture.server.poll_timeout()), (0, None));
        let reacted = statistics.answers
            + statistics.ignored
            + statistics.dropped_over_rate
            + statistics.dropped_queue_full
            + statistics.dropped_transmits;
        assert!(reacted <= statistics.datagrams, "{statistics:?}");
    }
}

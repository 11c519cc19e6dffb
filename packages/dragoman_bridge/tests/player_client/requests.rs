//! Requests, commands, velocities, pulling.

use dragoman_bridge::CallId;
use dragoman_bridge::player::client::Refusal;
use dragoman_bridge::player::wire::common::Pose2d;

use super::*;

fn outcomes(events: &[ClientEvent]) -> Vec<(u64, Result<Vec<u8>, Refusal>)> {
    let of = |event: &ClientEvent| match event {
        ClientEvent::Result { id, outcome } => Some((id.0, outcome.clone())),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

fn power(fixture: &mut ClientFixture, id: u64, on: bool) {
    fixture.client.handle_call(fixture.now, CallId(id), BASE, &position2d::MOTOR_POWER, &on);
}

#[test]
fn requests_of_one_kind_wait_for_each_other_and_others_do_not() {
    let mut server = Server::with_base();
    server.answers.insert((BASE, position2d::MOTOR_POWER.subtype), Vec::new());
    let mut fixture = ClientFixture::new(server);
    fixture.take();
    fixture.server.received.clear();
    power(&mut fixture, 1, true);
    power(&mut fixture, 2, false);
    fixture.client.handle_call(fixture.now, CallId(3), BASE, &position2d::SET_ODOMETRY, &Pose2d::default());
    let (own, missing) = (CallId(4), position2d::INTERFACE.device(7));
    fixture.client.handle_call(fixture.now, own, missing, &position2d::MOTOR_POWER, &true);
    fixture.settle();
    let outcomes = outcomes(&fixture.take());
    let expected =
        [(4, Err(Refusal::NotOpen)), (1, Ok(Vec::new())), (3, Err(Refusal::Refused)), (2, Ok(Vec::new()))];
    assert_eq!(outcomes, expected);
    assert_eq!(fixture.server.subtypes(BASE), [2, 5, 2]);
}

#[test]
fn an_answer_that_comes_too_late_is_not_taken_for_the_next() {
    let mut server = Server::with_base();
    let subtype = position2d::MOTOR_POWER.subtype;
    server.ignores.push((BASE, subtype));
    let mut fixture = ClientFixture::new(server);
    fixture.take();
    power(&mut fixture, 1, true);
    fixture.settle();
    fixture.pass(5000 * MS);
    assert_eq!(outcomes(&fixture.take()), [(1, Err(Refusal::TimedOut))]);
    power(&mut fixture, 2, false);
    fixture.settle();
    assert_eq!(fixture.server.subtypes(BASE).iter().filter(|sent| **sent == subtype).count(), 1);
    // The late answer.
    let late = Header {
        address: Address { device: BASE, ..Address::default() },
        kind: MessageKind::Acknowledge,
        subtype,
        timestamp: 0.0,
        sequence: 0,
    };
    let mut bytes = Vec::new();
    late.write_message(&[], &mut bytes);
    fixture.server.ignores.clear();
    fixture.receive(&bytes);
    // The next one is sent now, and the server refuses it.
    assert_eq!(outcomes(&fixture.take()), [(2, Err(Refusal::Refused))]);
    // An answer without a request.
    fixture.receive(&bytes);
    assert_eq!(fixture.client.statistics().unsolicited, 1);
    assert!(fixture.client.is_connected());
}

#[test]
fn calls_are_bounded_and_end_with_the_connection() {
    let mut server = Server::with_base();
    server.ignores.push((BASE, position2d::MOTOR_POWER.subtype));
    let mut fixture = ClientFixture::with(server, ClientConfig { max_calls: 4, ..ClientConfig::default() });
    fixture.take();
    for id in 0..6 {
        power(&mut fixture, id, true);
    }
    fixture.settle();
    assert_eq!(outcomes(&fixture.take()), [(4, Err(Refusal::Busy)), (5, Err(Refusal::Busy))]);
    fixture.client.handle_disconnected(fixture.now, "gone");
    let mut ended: Vec<u64> = std::iter::from_fn(|| fixture.client.poll_event())
        .filter_map(|event| match event {
            ClientEvent::Result { id, outcome: Err(Refusal::NotConnected) } => Some(id.0),
            _ => None,
        })
        .collect();
    ended.sort_unstable();
    assert_eq!(ended, [0, 1, 2, 3]);
    power(&mut fixture, 9, true);
    let event = fixture.client.poll_event();
    let refused = ClientEvent::Result { id: CallId(9), outcome: Err(Refusal::NotConnected) };
    assert_eq!(event, Some(refused));
}

#[test]
fn a_velocity_expires_once_and_one_that_is_not_finite_is_refused() {
    let mut fixture = ClientFixture::new(Server::with_base());
    fixture.server.received.clear();
    let velocity = |x| Pose2d { x, ..Pose2d::default() };
    for _ in 0..5 {
        fixture.client.handle_velocity(fixture.now, BASE, velocity(0.5)).unwrap();
        fixture.settle();
        fixture.pass(500 * MS);
    }
    let refused = fixture.client.handle_velocity(fixture.now, BASE, velocity(f64::NAN));
    assert_eq!(refused, Err(Refusal::NotFinite));
    fixture.pass(99 * MS);
    assert_eq!(fixture.server.received.len(), 5);
    fixture.pass(MS);
    let sent: Vec<f64> = fixture
        .server
        .received
        .iter()
        .map(|message| position2d::VELOCITY.body(&message.body).unwrap().velocity.x)
        .collect();
    assert_eq!(sent, [0.5, 0.5, 0.5, 0.5, 0.5, 0.0]);
    fixture.pass(3000 * MS);
    assert_eq!(fixture.server.subtypes(BASE).len(), 6);
    // A base that was stopped needs no second stop.
    fixture.client.handle_velocity(fixture.now, BASE, velocity(0.0)).unwrap();
    fixture.settle();
    fixture.pass(3000 * MS);
    assert_eq!(fixture.server.subtypes(BASE).len(), 7);
    fixture.client.handle_disconnected(fixture.now, "gone");
    let refused = fixture.client.handle_velocity(fixture.now, BASE, velocity(0.5));
    assert_eq!(refused, Err(Refusal::NotConnected));
}

#[test]
fn a_server_that_does_not_read_is_left() {
    let config = ClientConfig { max_unsent: 4096, ..ClientConfig::default() };
    let mut fixture = ClientFixture::with(Server::with_base(), config);
    let velocity = Pose2d { x: 0.5, ..Pose2d::default() };
    let mut sent = 0;
    while fixture.client.handle_velocity(fixture.now, BASE, velocity.clone()).is_ok() {
        sent += 1;
        assert!(sent < 1000 && fixture.client.unsent().len() <= 4096 + 100);
    }
    assert!(!fixture.client.is_connected());
    assert!(fixture.client.unsent().is_empty());
}

#[test]
fn a_pulling_client_asks_again_after_the_end_of_the_data() {
    let config = ClientConfig { pull_period: Some(50 * MS), ..ClientConfig::default() };
    let mut fixture = ClientFixture::with(Server::with_base(), config);
    let reads = |fixture: &ClientFixture| {
        fixture.server.subtypes(SERVER).iter().filter(|subtype| **subtype == player::READ.subtype).count()
    };
    assert_eq!(reads(&fixture), 1);
    assert_eq!(fixture.server.subtypes(SERVER)[..2], [player::MODE.subtype, player::REPLACE_RULE.subtype]);
    fixture.pass(1000 * MS);
    assert_eq!(reads(&fixture), 1, "the first has no end yet");
    let synch = |subtype, body: &[u8]| {
        let address = Address { device: SERVER, ..Address::default() };
        let header = Header { address, kind: MessageKind::Synch, subtype, timestamp: f64::MIN, sequence: 77 };
        let mut bytes = Vec::new();
        header.write_message(body, &mut bytes);
        bytes
    };
    fixture.receive(&synch(player::SYNCH, &[]));
    fixture.pass(50 * MS);
    assert_eq!(reads(&fixture), 2);
    // The end of data of which some was dropped is an end as well.
    fixture.receive(&synch(player::SYNCH_OVERFLOW, &1_u32.to_bytes()));
    assert_eq!(fixture.client.statistics().dropped, 1);
    fixture.pass(49 * MS);
    assert_eq!(reads(&fixture), 2);
    fixture.pass(MS);
    assert_eq!(reads(&fixture), 3);
    // A server without data answers, and sends no end.
    fixture.pass(12_000 * MS);
    assert_eq!(reads(&fixture), 5);
    assert!(fixture.client.is_connected());
    assert_eq!(fixture.client.statistics().unsolicited, 0);
}

//! Connecting, losing, connecting again.

use super::*;

fn losses(events: &[ClientEvent]) -> Vec<String> {
    let of = |event: &ClientEvent| match event {
        ClientEvent::Disconnected(reason) => Some(reason.clone()),
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

#[test]
fn pauses_double_until_a_server_lists_its_devices() {
    let mut fixture = ClientFixture::new(Server::with_base());
    fixture.is_there = false;
    fixture.client.handle_disconnected(fixture.now, "gone");
    fixture.pass(10_000 * MS);
    let pauses: Vec<u128> = fixture.attempts.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
    assert_eq!(pauses[..6], [100, 200, 400, 800, 1600, 2000]);
    fixture.is_there = true;
    fixture.pass(2000 * MS);
    assert!(fixture.client.is_connected());
    let attempts = fixture.attempts.len();
    fixture.client.handle_disconnected(fixture.now, "gone");
    fixture.pass(100 * MS);
    assert_eq!(fixture.attempts.len(), attempts + 1);
    assert!(fixture.client.is_connected());
}

#[test]
fn a_stream_that_is_not_players_is_closed() {
    let mut fixture = ClientFixture::new(Server::with_base());
    fixture.take();
    fixture.receive(&[0x55; HEADER_LEN]);
    assert_eq!(losses(&fixture.take()), ["a body of 1431655765 bytes; the maximum is 8388568"]);
    fixture.pass(100 * MS);
    assert!(fixture.client.is_connected());
    fixture.take();
    // A message of unknown kind is skipped.
    let mut unknown = data(BASE, position2d::STATE.subtype, &[1; 8]);
    unknown[16..20].copy_from_slice(&77_u32.to_be_bytes());
    fixture.receive(&unknown);
    assert_eq!((fixture.take(), fixture.client.statistics().undecodable), (Vec::new(), 1));
    let mut long = data(BASE, position2d::STATE.subtype, &[]);
    long[36..40].copy_from_slice(&u32::MAX.to_be_bytes());
    fixture.receive(&long);
    assert_eq!(losses(&fixture.take()).len(), 1);
}

#[test]
fn a_server_without_a_banner_or_with_another_is_left() {
    let mut client = Client::new(Duration::ZERO, ClientConfig::default());
    assert!(client.poll_connect(Duration::ZERO));
    client.handle_connected(Duration::ZERO);
    assert_eq!(client.poll_timeout(), Some(5000 * MS));
    client.handle_timeout(5000 * MS);
    let events: Vec<_> = std::iter::from_fn(|| client.poll_event()).collect();
    assert_eq!(losses(&events), ["the server sent no banner"]);
    assert!(client.poll_connect(6000 * MS));
    client.handle_connected(6000 * MS);
    client.handle_bytes(6000 * MS, &[b'x'; 40]);
    let events: Vec<_> = std::iter::from_fn(|| client.poll_event()).collect();
    assert!(losses(&events)[0].contains("another banner"));
    assert!(!client.is_connected());
}

#[test]
fn the_banner_and_messages_may_come_in_single_bytes() {
    let mut fixture = ClientFixture::new(Server::with_base());
    fixture.client.handle_disconnected(fixture.now, "gone");
    fixture.now += 1000 * MS;
    assert!(fixture.client.poll_connect(fixture.now));
    fixture.client.handle_connected(fixture.now);
    for byte in banner() {
        fixture.client.handle_bytes(fixture.now, &[byte]);
    }
    fixture.settle();
    fixture.take();
    for byte in data(BASE, position2d::STATE.subtype, &position2d::State::default().to_bytes()) {
        fixture.client.handle_bytes(fixture.now, &[byte]);
    }
    fixture.settle();
    assert_eq!(fixture.take().len(), 1);
}

#[test]
fn a_silent_server_is_asked_and_then_left() {
    let mut fixture = ClientFixture::new(Server::with_base());
    fixture.take();
    fixture.pass(60_000 * MS);
    assert!(fixture.client.is_connected(), "it answers");
    assert_eq!(fixture.attempts.len(), 1);
    fixture.server.ignores.push((SERVER, player::DEVICES.subtype));
    fixture.pass(11_000 * MS);
    let losses = losses(&fixture.take());
    assert_eq!(losses[0], "the server does not answer any more");
}

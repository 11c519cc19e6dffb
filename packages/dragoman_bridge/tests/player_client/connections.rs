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
    let mut bench = Bench::new(Server::with_base());
    bench.is_there = false;
    bench.client.handle_disconnected(bench.now, "gone");
    bench.pass(10_000 * MS);
    let pauses: Vec<u128> = bench.attempts.windows(2).map(|pair| (pair[1] - pair[0]).as_millis()).collect();
    assert_eq!(pauses[..6], [100, 200, 400, 800, 1600, 2000]);
    bench.is_there = true;
    bench.pass(2000 * MS);
    assert!(bench.client.is_connected());
    let attempts = bench.attempts.len();
    bench.client.handle_disconnected(bench.now, "gone");
    bench.pass(100 * MS);
    assert_eq!(bench.attempts.len(), attempts + 1);
    assert!(bench.client.is_connected());
}

#[test]
fn a_stream_that_is_not_players_is_closed() {
    let mut bench = Bench::new(Server::with_base());
    bench.take();
    bench.receive(&[0x55; HEADER_LEN]);
    assert_eq!(losses(&bench.take()), ["a body of 1431655765 bytes; the maximum is 8388568"]);
    bench.pass(100 * MS);
    assert!(bench.client.is_connected());
    bench.take();
    // A message of unknown kind is skipped.
    let mut unknown = data(BASE, position2d::STATE.subtype, &[1; 8]);
    unknown[16..20].copy_from_slice(&77_u32.to_be_bytes());
    bench.receive(&unknown);
    assert_eq!((bench.take(), bench.client.statistics().undecodable), (Vec::new(), 1));
    let mut long = data(BASE, position2d::STATE.subtype, &[]);
    long[36..40].copy_from_slice(&u32::MAX.to_be_bytes());
    bench.receive(&long);
    assert_eq!(losses(&bench.take()).len(), 1);
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
    let mut bench = Bench::new(Server::with_base());
    bench.client.handle_disconnected(bench.now, "gone");
    bench.now += 1000 * MS;
    assert!(bench.client.poll_connect(bench.now));
    bench.client.handle_connected(bench.now);
    for byte in banner() {
        bench.client.handle_bytes(bench.now, &[byte]);
    }
    bench.settle();
    bench.take();
    for byte in data(BASE, position2d::STATE.subtype, &position2d::State::default().to_bytes()) {
        bench.client.handle_bytes(bench.now, &[byte]);
    }
    bench.settle();
    assert_eq!(bench.take().len(), 1);
}

#[test]
fn a_silent_server_is_asked_and_then_left() {
    let mut bench = Bench::new(Server::with_base());
    bench.take();
    bench.pass(60_000 * MS);
    assert!(bench.client.is_connected(), "it answers");
    assert_eq!(bench.attempts.len(), 1);
    bench.server.ignores.push((SERVER, player::DEVICES.subtype));
    bench.pass(11_000 * MS);
    let losses = losses(&bench.take());
    assert_eq!(losses[0], "the server does not answer any more");
}

//! The server's core on virtual time: what clients of the original rely on, and what hostile ones may do.

use std::time::Duration;

use dragoman_bridge::player::server::{Call, ClientId, DeviceInfo, Server, ServerConfig};
use dragoman_bridge::player::wire::common::Pose2d;
use dragoman_bridge::player::wire::player::{
    AUTHENTICATE, CLOSE, DENIED, DEVICES, DRIVER, Driver, MODE, NAME_SERVICE, NameService, OPEN, PULL, PUSH,
    READ, REPLACE_RULE, ReplaceRule, SUBSCRIBE, SYNCH, SYNCH_OVERFLOW, Subscription,
};
use dragoman_bridge::player::wire::position2d::{self, GET_GEOMETRY, STATE, State, VELOCITY, Velocity};
use dragoman_bridge::player::wire::{
    Address, BANNER_LEN, Bytes, Decoder, Device, Header, INTERFACES, Interface, Kind, MAX_BODY_LEN, Message,
    Row, Xdr, opaque, player, properties,
};
use proptest::prelude::*;

use super::literals::rewrite;

const BASE: Device = position2d::INTERFACE.device(0);
const MISSING: Device = position2d::INTERFACE.device(7);
const SERVER: Device = player::INTERFACE.device(0);
const NOW: Duration = Duration::from_secs(1_000_000);

struct Bench {
    server: Server,
}

fn bench() -> Bench {
    with(ServerConfig::default())
}

fn with(config: ServerConfig) -> Bench {
    let info = DeviceInfo { device: BASE, driver: "kobuki".to_owned(), robot: "TurtleBot 2".to_owned() };
    Bench { server: Server::new(config, vec![info]) }
}

fn encoded(device: Device, kind: Kind, subtype: u8, body: &[u8]) -> Vec<u8> {
    let address = Address { device, ..Address::default() };
    let mut bytes = Vec::new();
    Header { address, kind, subtype, timestamp: 0.0, sequence: 5 }.write_message(body, &mut bytes);
    bytes
}

impl Bench {
    /// A client that has read the banner.
    fn connect(&mut self) -> ClientId {
        let client = self.server.handle_connected(6665);
        let banner = self.server.poll_transmit(NOW, client).unwrap();
        assert_eq!(banner.len(), BANNER_LEN);
        assert!(banner.starts_with(b"Player v.3.1.1-dev\0"));
        client
    }

    fn send(&mut self, client: ClientId, device: Device, kind: Kind, subtype: u8, body: &impl Xdr) {
        self.server.handle_bytes(NOW, client, &encoded(device, kind, subtype, &body.to_bytes()));
    }

    fn received(&mut self, client: ClientId) -> Vec<Message> {
        let mut decoder = Decoder::default();
        while let Some(bytes) = self.server.poll_transmit(NOW, client) {
            decoder.push(&bytes);
        }
        std::iter::from_fn(|| decoder.next()).map(Result::unwrap).collect()
    }

    /// The only answer to a request.
    fn ask(&mut self, client: ClientId, device: Device, subtype: u8, body: &impl Xdr) -> Message {
        self.send(client, device, Kind::Request, subtype, body);
        let mut answers = self.received(client);
        assert_eq!(answers.len(), 1, "{answers:?}");
        answers.remove(0)
    }

    fn subscribe(&mut self, client: ClientId, device: Device, access: u8) {
        let address = Address { device, ..Address::default() };
        let body = Subscription { address, access, driver: String::new() };
        self.send(client, SERVER, Kind::Request, SUBSCRIBE.subtype, &body);
    }

    /// A client for which the base is open.
    fn subscribed(&mut self) -> ClientId {
        let client = self.connect();
        self.subscribe(client, BASE, OPEN);
        if self.server.poll_call() == Some(Call::Open(BASE)) {
            self.server.handle_opened(NOW, BASE, Ok(()));
        }
        let answers = self.received(client);
        assert_eq!(access(&answers[0]), (Kind::Acknowledge, OPEN));
        client
    }

    fn data(&mut self, x: f64) {
        let pose = Pose2d { x, ..Pose2d::default() };
        let body = State { pose, ..State::default() }.to_bytes();
        self.server.handle_data(BASE, STATE.subtype, x, &body);
    }

    fn velocity(&mut self, client: ClientId, x: f64) {
        let velocity = Pose2d { x, ..Pose2d::default() };
        self.send(client, BASE, Kind::Command, VELOCITY.subtype, &Velocity { velocity, motors_on: true });
    }

    fn calls(&mut self) -> Vec<Call> {
        std::iter::from_fn(|| self.server.poll_call()).collect()
    }
}

fn access(message: &Message) -> (Kind, u8) {
    (message.header.kind, SUBSCRIBE.answer(&message.body).unwrap().access)
}

fn kinds(messages: &[Message]) -> Vec<(Kind, u8)> {
    messages.iter().map(|message| (message.header.kind, message.header.subtype)).collect()
}

fn poses(messages: &[Message]) -> Vec<f64> {
    let data = messages.iter().filter(|message| message.header.kind == Kind::Data);
    data.map(|message| STATE.body(&message.body).unwrap().pose.x).collect()
}

#[test]
fn a_client_finds_the_devices_and_their_drivers() {
    let mut bench = bench();
    let client = bench.connect();
    let list = bench.ask(client, SERVER, DEVICES.subtype, &());
    assert_eq!(list.header.sequence, 5, "the server repeats the number of its own requests");
    let host = u32::from_le_bytes([127, 0, 0, 1]);
    let address = Address { host, robot: 6665, device: BASE };
    assert_eq!(DEVICES.answer(&list.body).unwrap(), [address]);
    let question = Driver { address: Address { device: BASE, ..Address::default() }, name: String::new() };
    let driver = bench.ask(client, SERVER, DRIVER.subtype, &question);
    assert_eq!(DRIVER.answer(&driver.body).unwrap(), Driver { address, name: "kobuki".to_owned() });
    let missing = Driver { address: Address { device: MISSING, ..Address::default() }, name: String::new() };
    assert_eq!(bench.ask(client, SERVER, DRIVER.subtype, &missing).header.kind, Kind::Refuse);
    let port = bench.ask(
        client,
        SERVER,
        NAME_SERVICE.subtype,
        &NameService { name: "TurtleBot 2".to_owned(), port: 0 },
    );
    assert_eq!(NAME_SERVICE.answer(&port.body).unwrap().port, 6665);
}

#[test]
fn a_subscription_is_answered_when_the_device_works() {
    let mut bench = bench();
    let (one, other) = (bench.connect(), bench.connect());
    bench.subscribe(one, BASE, OPEN);
    bench.subscribe(other, BASE, OPEN);
    assert_eq!(bench.calls(), [Call::Open(BASE)]);
    assert_eq!(bench.received(one), []);
    bench.server.handle_opened(NOW, BASE, Err("no such port".to_owned()));
    for client in [one, other] {
        let answers = bench.received(client);
        assert_eq!(access(&answers[0]), (Kind::Acknowledge, DENIED));
        assert_eq!(SUBSCRIBE.answer(&answers[0].body).unwrap().driver, "kobuki");
    }
    // It is tried again.
    bench.subscribe(one, BASE, OPEN);
    assert_eq!(bench.calls(), [Call::Open(BASE)]);
    bench.subscribe(one, MISSING, OPEN);
    assert_eq!(access(&bench.received(one)[0]), (Kind::Refuse, DENIED));
}

#[test]
fn a_device_is_open_as_long_as_somebody_is_subscribed() {
    let mut bench = bench();
    let (one, other) = (bench.subscribed(), bench.subscribed());
    // Two proxies of one program: one of them is deleted.
    bench.subscribe(one, BASE, OPEN);
    bench.subscribe(one, BASE, CLOSE);
    bench.data(1.0);
    assert_eq!(poses(&bench.received(one)), [1.0]);
    bench.subscribe(one, BASE, CLOSE);
    assert_eq!(access(bench.received(one).last().unwrap()), (Kind::Acknowledge, CLOSE));
    bench.data(2.0);
    assert_eq!(bench.received(one), []);
    assert_eq!(poses(&bench.received(other)), [1.0, 2.0]);
    // A third time there is nothing to close.
    bench.subscribe(one, BASE, CLOSE);
    assert_eq!(access(&bench.received(one)[0]), (Kind::Acknowledge, DENIED));
    assert_eq!(bench.calls(), []);
    bench.server.handle_disconnected(other);
    assert_eq!(bench.calls(), [Call::Close(BASE)]);
}

#[test]
fn pulled_data_comes_between_the_answer_and_a_synch_message() {
    let mut bench = bench();
    let client = bench.subscribed();
    assert_eq!(bench.ask(client, SERVER, MODE.subtype, &PULL).header.kind, Kind::Acknowledge);
    bench.data(1.0);
    bench.data(2.0);
    assert_eq!(bench.received(client), [], "nobody has asked");
    bench.send(client, SERVER, Kind::Request, READ.subtype, &());
    let round = [(Kind::Acknowledge, READ.subtype), (Kind::Data, 1), (Kind::Data, 1), (Kind::Synch, SYNCH)];
    assert_eq!(kinds(&bench.received(client)), round);
    // Without data the round waits for the next one.
    bench.send(client, SERVER, Kind::Request, READ.subtype, &());
    assert_eq!(kinds(&bench.received(client)), [(Kind::Acknowledge, READ.subtype)]);
    bench.data(3.0);
    assert_eq!(kinds(&bench.received(client)), [(Kind::Data, 1), (Kind::Synch, SYNCH)]);
    // What waits goes out when the mode becomes push.
    bench.data(4.0);
    bench.send(client, SERVER, Kind::Request, MODE.subtype, &PUSH);
    assert_eq!(kinds(&bench.received(client)), [(Kind::Data, 1), (Kind::Acknowledge, MODE.subtype)]);
}

#[test]
fn an_answer_does_not_overtake_data() {
    let mut bench = bench();
    let client = bench.subscribed();
    bench.ask(client, SERVER, MODE.subtype, &PULL);
    bench.data(1.0);
    bench.send(client, SERVER, Kind::Request, DEVICES.subtype, &());
    let order = [(Kind::Data, 1), (Kind::Acknowledge, DEVICES.subtype)];
    assert_eq!(kinds(&bench.received(client)), order);
}

#[test]
fn the_first_rule_that_fits_decides_about_waiting_data() {
    let rule = |replace: i32| ReplaceRule { interface: 4, index: -1, kind: 1, subtype: -1, replace };
    for (replace, expected) in [(0, vec![1.0, 2.0]), (1, vec![2.0]), (2, vec![])] {
        let mut bench = bench();
        let client = bench.subscribed();
        bench.ask(client, SERVER, MODE.subtype, &PULL);
        bench.ask(client, SERVER, REPLACE_RULE.subtype, &rule(replace));
        // A later rule for the same messages has no effect; the same rule again has.
        let all = ReplaceRule { interface: -1, index: -1, kind: -1, subtype: -1, replace: 1 };
        bench.ask(client, SERVER, REPLACE_RULE.subtype, &all);
        bench.data(1.0);
        bench.data(2.0);
        bench.send(client, SERVER, Kind::Request, READ.subtype, &());
        assert_eq!(poses(&bench.received(client)), expected, "{replace}");
    }
}

#[test]
fn a_client_that_does_not_read_loses_the_newest_data_and_is_told() {
    let mut bench = with(ServerConfig { max_data: 3, ..ServerConfig::default() });
    let (slow, other) = (bench.subscribed(), bench.subscribed());
    bench.ask(slow, SERVER, MODE.subtype, &PULL);
    for x in 1..=5 {
        bench.data(x.into());
        assert_eq!(poses(&bench.received(other)), [f64::from(x)]);
    }
    bench.send(slow, SERVER, Kind::Request, READ.subtype, &());
    let received = bench.received(slow);
    assert_eq!(poses(&received), [1.0, 2.0, 3.0]);
    let last = received.last().unwrap();
    assert_eq!((last.header.kind, last.header.subtype), (Kind::Synch, SYNCH_OVERFLOW));
    assert_eq!(u32::from_bytes(&last.body), Ok(2));
    assert_eq!(bench.server.poll_statistics().dropped, 2);
}

#[test]
fn data_of_many_readers_goes_out_in_bundles() {
    let mut bench = bench();
    let clients: Vec<ClientId> = (0..200).map(|_| bench.subscribed()).collect();
    while bench.server.poll_woken().is_some() {}
    let first = clients[0];
    bench.data(1.0);
    assert_eq!(std::iter::from_fn(|| bench.server.poll_woken()).count(), 200);
    assert_eq!(poses(&bench.received(first)), [1.0], "the first one at once");
    bench.data(2.0);
    bench.data(3.0);
    assert!(!std::iter::from_fn(|| bench.server.poll_woken()).any(|woken| woken == first), "it waits");
    assert_eq!(poses(&bench.received(first)), [0.0; 0]);
    let rest = bench.server.poll_timeout(first).unwrap();
    assert_eq!(rest - NOW, Duration::from_millis(20));
    let mut decoder = Decoder::default();
    decoder.push(&bench.server.poll_transmit(rest, first).unwrap());
    let bundle: Vec<Message> = std::iter::from_fn(|| decoder.next()).map(Result::unwrap).collect();
    assert_eq!(poses(&bundle), [2.0, 3.0]);

    // An answer does not wait, and does not overtake.
    bench.data(4.0);
    bench.subscribe(first, BASE, OPEN);
    assert_eq!(kinds(&bench.received(first)).last(), Some(&(Kind::Acknowledge, SUBSCRIBE.subtype)));
}

#[test]
fn few_readers_get_each_message_at_once_unless_it_is_long() {
    let mut bench = bench();
    let client = bench.subscribed();
    for x in [1.0, 2.0] {
        bench.data(x);
        assert_eq!(poses(&bench.received(client)), [x]);
        assert_eq!(bench.server.poll_timeout(client), None);
    }
    bench.server.handle_data(BASE, STATE.subtype, 0.0, &vec![0; 1_000_000]);
    assert!(bench.server.poll_transmit(NOW, client).unwrap().len() > 1_000_000);
    // 5 ms for a megabyte.
    let rest = bench.server.poll_timeout(client).unwrap() - NOW;
    assert!(rest > Duration::from_millis(5) && rest < Duration::from_millis(6), "{rest:?}");
    // A clock that is set back does not hold it up.
    bench.data(3.0);
    let past = NOW - Duration::from_secs(3600);
    assert!(bench.server.poll_transmit(past, client).is_some());
}

#[test]
fn requests_of_a_client_are_carried_out_in_their_order_and_commands_at_once() {
    let mut bench = bench();
    let client = bench.subscribed();
    for _ in 0..2 {
        bench.send(client, BASE, Kind::Request, GET_GEOMETRY.subtype, &());
    }
    bench.velocity(client, 0.5);
    let calls = bench.calls();
    assert!(matches!(&calls[..], [Call::Request { .. }, Call::Command { .. }]), "{calls:?}");
    assert_eq!(bench.received(client), []);
    bench.server.handle_outcome(NOW, client, Ok(position2d::Geometry::default().to_bytes()));
    let answers = bench.received(client);
    assert_eq!(kinds(&answers), [(Kind::Acknowledge, GET_GEOMETRY.subtype)]);
    assert_eq!(answers[0].header.sequence, 0, "drivers do not repeat the number");
    assert!(matches!(&bench.calls()[..], [Call::Request { .. }]));
    bench.server.handle_outcome(NOW, client, Err("no".to_owned()));
    assert_eq!(kinds(&bench.received(client)), [(Kind::Refuse, GET_GEOMETRY.subtype)]);
}

#[test]
fn what_cannot_be_carried_out_is_refused() {
    let mut bench = bench();
    let client = bench.connect();
    assert_eq!(bench.ask(client, BASE, GET_GEOMETRY.subtype, &()).header.kind, Kind::Refuse, "closed");
    let client = bench.subscribed();
    for (device, subtype) in [(BASE, 99), (MISSING, 1), (SERVER, 99)] {
        assert_eq!(bench.ask(client, device, subtype, &()).header.kind, Kind::Refuse, "{device:?} {subtype}");
    }
    // Poses that are too short and too long.
    let set = position2d::SET_ODOMETRY.subtype;
    assert_eq!(bench.ask(client, BASE, set, &[1.0, 2.0]).header.kind, Kind::Refuse);
    assert_eq!(bench.ask(client, BASE, set, &[1.0, 2.0, 3.0, 4.0]).header.kind, Kind::Refuse);
    // Commands have no answers.
    bench.send(client, BASE, Kind::Command, VELOCITY.subtype, &1.0);
    bench.send(client, BASE, Kind::Data, STATE.subtype, &State::default());
    assert_eq!((bench.received(client), bench.calls()), (vec![], vec![]));
    assert_eq!(bench.server.poll_statistics().refused, 8);
}

#[test]
fn a_robot_does_not_obey_a_client_that_has_gone() {
    let mut bench = bench();
    let (driver, watcher) = (bench.subscribed(), bench.subscribed());
    bench.velocity(driver, 0.5);
    bench.calls();
    bench.server.handle_disconnected(driver);
    assert_eq!(bench.calls(), [Call::Release(BASE)]);
    // A client whose command another one has replaced stops nothing.
    let other = bench.subscribed();
    bench.velocity(watcher, 0.5);
    bench.velocity(other, 0.2);
    bench.calls();
    bench.server.handle_disconnected(watcher);
    assert_eq!(bench.calls(), []);
    bench.server.handle_disconnected(other);
    assert_eq!(bench.calls(), [Call::Close(BASE)]);
}

#[test]
fn a_key_comes_before_everything_else() {
    let keyed = || with(ServerConfig { key: Some("geheim".to_owned()), ..ServerConfig::default() });
    let mut bench = keyed();
    let client = bench.connect();
    assert_eq!(bench.ask(client, SERVER, DEVICES.subtype, &()).header.kind, Kind::Refuse);
    assert!(bench.server.is_closing(client));
    let client = bench.connect();
    let wrong = bench.ask(client, SERVER, AUTHENTICATE.subtype, &Bytes(b"falsch".to_vec()));
    assert_eq!(wrong.header.kind, Kind::Refuse);
    assert!(bench.server.is_closing(client));
    let client = bench.connect();
    let right = bench.ask(client, SERVER, AUTHENTICATE.subtype, &Bytes(b"geheim\0".to_vec()));
    assert_eq!(right.header.kind, Kind::Acknowledge);
    assert_eq!(bench.ask(client, SERVER, DEVICES.subtype, &()).header.kind, Kind::Acknowledge);
}

#[test]
fn commands_that_nobody_takes_slow_their_client_only() {
    let mut bench = bench();
    let (client, other) = (bench.subscribed(), bench.subscribed());
    for _ in 0..10_000 {
        if !bench.server.wants_input(client) {
            break;
        }
        bench.velocity(client, 0.5);
    }
    assert!(!bench.server.wants_input(client));
    assert_eq!(bench.ask(other, SERVER, DEVICES.subtype, &()).header.kind, Kind::Acknowledge);
    assert!(bench.calls().len() <= 64);
    assert!(bench.server.wants_input(client));
}

/// A body of up to 8 MiB is valid, so its owner reads on beyond what otherwise stops it.
#[test]
fn a_long_message_is_read_to_its_end() {
    let mut bench = bench();
    let client = bench.subscribed();
    let long = encoded(BASE, Kind::Request, GET_GEOMETRY.subtype, &vec![0; MAX_BODY_LEN]);
    for part in long.chunks(4096) {
        assert!(bench.server.wants_input(client));
        bench.server.handle_bytes(NOW, client, part);
    }
    // It is answered, though it makes no sense.
    assert_eq!(bench.calls(), []);
    assert_eq!(kinds(&bench.received(client)), [(Kind::Refuse, GET_GEOMETRY.subtype)]);
    assert!(bench.server.wants_input(client));
}

/// Whole messages that wait for their client to read its answers are not read without limit.
#[test]
fn whole_messages_that_wait_stop_their_client() {
    let mut bench = with(ServerConfig { max_buffered: 4096, ..ServerConfig::default() });
    let client = bench.connect();
    let ask = encoded(SERVER, Kind::Request, DEVICES.subtype, &[]);
    let mut sent = 0;
    while bench.server.wants_input(client) {
        bench.server.handle_bytes(NOW, client, &ask);
        sent += 1;
        assert!(sent < 1000);
    }
    // A message that begins behind them changes nothing.
    bench.server.handle_bytes(NOW, client, &ask[..20]);
    assert!(!bench.server.wants_input(client));
    assert_eq!(bench.received(client).len(), sent);
    assert!(bench.server.wants_input(client));
}

#[test]
fn another_protocol_is_recognized_by_an_impossible_size() {
    let mut bench = bench();
    let client = bench.connect();
    bench.server.handle_bytes(
        NOW,
        client,
        b"GET / HTTP/1.1\r\nHost: localhost:6665\r\nUser-Agent: x\r\n\r\n",
    );
    assert!(bench.server.is_closing(client));
    assert!(bench.server.poll_event().unwrap().to_string().contains("does not speak Player's protocol"));
}

/// A step of any client.
#[derive(Debug, Clone)]
enum Step {
    Bytes(Vec<u8>),
    Message { device: Device, kind: Kind, subtype: u8, body: Vec<u8> },
    Data,
    Opened(bool),
    Outcome(bool),
    Disconnect,
    Read,
}

fn step() -> impl Strategy<Value = Step> {
    let device = prop_oneof![4 => Just(BASE), 4 => Just(SERVER), 1 => Just(MISSING)];
    let kind = (1..=6_u8).prop_map(|code| Kind::from_code(code).unwrap());
    let body = prop_oneof![
        Just(Vec::new()),
        proptest::collection::vec(any::<u8>(), 0..64),
        (0..4_u8).prop_map(|access| {
            let address = Address { device: BASE, ..Address::default() };
            Subscription { address, access, driver: String::new() }.to_bytes()
        }),
    ];
    prop_oneof![
        1 => proptest::collection::vec(any::<u8>(), 0..100).prop_map(Step::Bytes),
        8 => (device, kind, 0..12_u8, body)
            .prop_map(|(device, kind, subtype, body)| Step::Message { device, kind, subtype, body }),
        3 => Just(Step::Data),
        2 => any::<bool>().prop_map(Step::Opened),
        2 => any::<bool>().prop_map(Step::Outcome),
        1 => Just(Step::Disconnect),
        3 => Just(Step::Read),
    ]
}

proptest! {
    /// Whatever one client does, another one is answered.
    #[test]
    fn no_client_disturbs_another(steps in proptest::collection::vec(step(), 0..60)) {
        let mut bench = bench();
        let mut client = bench.connect();
        let witness = bench.connect();
        for step in steps {
            match step {
                Step::Bytes(bytes) => bench.server.handle_bytes(NOW, client, &bytes),
                Step::Message { device, kind, subtype, body } => {
                    bench.server.handle_bytes(NOW, client, &encoded(device, kind, subtype, &body));
                }
                Step::Data => bench.data(1.0),
                Step::Opened(works) => {
                    let opened = if works { Ok(()) } else { Err("no".to_owned()) };
                    bench.server.handle_opened(NOW, BASE, opened);
                }
                Step::Outcome(done) => {
                    let outcome = if done { Ok(Vec::new()) } else { Err("no".to_owned()) };
                    bench.server.handle_outcome(NOW, client, outcome);
                }
                Step::Disconnect => {
                    bench.server.handle_disconnected(client);
                    client = bench.connect();
                }
                Step::Read => drop(bench.received(client)),
            }
            bench.calls();
            let answer = bench.ask(witness, SERVER, DEVICES.subtype, &());
            prop_assert_eq!(answer.header.kind, Kind::Acknowledge);
        }
    }
}

/// What clients have sent that is not carried out yet is bounded in all; a slow one with most loses its connection.
#[test]
fn messages_that_never_end_have_a_bound_in_all() {
    let mut bench = bench();
    let send = |bench: &mut Bench, now: Duration, client: ClientId, mebibytes: usize| {
        let whole = encoded(BASE, Kind::Command, VELOCITY.subtype, &vec![0; mebibytes << 20]);
        let begun = &whole[..whole.len() - 1];
        begun.chunks(64 << 10).for_each(|part| bench.server.handle_bytes(now, client, part));
    };
    let clients: Vec<ClientId> = (0..9).map(|_| bench.connect()).collect();
    clients.iter().for_each(|client| send(&mut bench, NOW, *client, 6));
    let smaller = bench.connect();
    send(&mut bench, NOW, smaller, 3);
    let all = || clients.iter().chain([&smaller]);
    assert!(all().all(|client| bench.server.wants_input(*client)), "57 MiB are not too much");
    // A modest client, and one whose long message is on its way, are not concerned, though that has most.
    let modest = bench.subscribed();
    let late = bench.connect();
    send(&mut bench, NOW + Duration::from_secs(2), late, 7);
    send(&mut bench, NOW + Duration::from_secs(2), modest, 2);
    let given_up = clients.iter().filter(|client| bench.server.is_given_up(**client)).count();
    assert_eq!(given_up, 1);
    assert!([late, smaller, modest].iter().all(|client| !bench.server.is_given_up(*client)));
    let event = bench.server.poll_event().unwrap().to_string();
    assert!(
        event.ends_with("bytes of incomplete messages and requests: a client is disconnected"),
        "{event}"
    );
    let held: usize = all().chain([&late, &modest]).map(|client| bench.server.waiting_len(*client)).sum();
    assert!(held <= 64 << 20, "{held}");
}

/// Those who are fast cannot make the server keep any number of messages either.
#[test]
fn long_messages_at_the_same_time_have_a_bound_in_all() {
    const LENGTH: usize = 6 << 20;
    let mut bench = bench();
    let begun = encoded(BASE, Kind::Command, VELOCITY.subtype, &[0; LENGTH]);
    let begun = &begun[..LENGTH];
    let send = |bench: &mut Bench| {
        let client = bench.connect();
        bench.server.handle_bytes(NOW, client, begun);
        client
    };
    let asking = bench.subscribed();
    let mut clients: Vec<ClientId> = (0..10).map(|_| send(&mut bench)).collect();
    // A long request waits for nobody, a short one is carried out.
    for (body, word) in [(vec![0; LENGTH], "messages of all clients wait"), (Vec::new(), "")] {
        bench.server.handle_bytes(NOW, asking, &encoded(BASE, Kind::Request, GET_GEOMETRY.subtype, &body));
        let refused = bench.server.poll_event().map(|event| event.to_string()).unwrap_or_default();
        assert!(refused.contains(word), "{refused}");
        assert_eq!(bench.calls().len(), usize::from(body.is_empty()));
    }
    clients.extend((0..30).map(|_| send(&mut bench)));
    let held: usize = clients.iter().map(|client| bench.server.waiting_len(*client)).sum();
    assert!((120 << 20..=128 << 20).contains(&held), "{held}");
    assert!(!bench.server.is_given_up(asking));
}

/// The open request of a client that was given up still counts, but another client is given up next.
#[test]
fn who_was_given_up_is_not_given_up_again() {
    let device = opaque::INTERFACE.device(0);
    let info = DeviceInfo { device, driver: String::new(), robot: String::new() };
    let mut bench = Bench { server: Server::new(ServerConfig::default(), vec![info]) };
    let asking = bench.connect();
    bench.subscribe(asking, device, OPEN);
    assert_eq!(bench.calls(), [Call::Open(device)]);
    bench.server.handle_opened(NOW, device, Ok(()));
    let body = Bytes(vec![0; 7 << 20]).to_bytes();
    let request = encoded(device, Kind::Request, opaque::REQUEST.subtype, &body);
    bench.server.handle_bytes(NOW, asking, &request);
    let begun = encoded(BASE, Kind::Command, VELOCITY.subtype, &vec![0; 6 << 20]);
    let begun = &begun[..begun.len() - 1];
    bench.server.handle_bytes(NOW, asking, begun);
    let slow: Vec<ClientId> = (0..12).map(|_| bench.connect()).collect();
    let given_up = |bench: &Bench| slow.iter().filter(|client| bench.server.is_given_up(**client)).count();
    for client in &slow[..8] {
        bench.server.handle_bytes(NOW, *client, begun);
    }
    let later = NOW + Duration::from_secs(2);
    for (at, client) in slow[8..].iter().enumerate() {
        bench.server.handle_bytes(later, *client, begun);
        assert!(bench.server.is_given_up(asking));
        // It still holds 7 MiB: each that comes then is one too many.
        assert_eq!(given_up(&bench), at);
    }
    assert_eq!(bench.calls().len(), 1);
}

/// Data for clients that do not read is bounded in all; each has a share of its own. What waits for several counts once.
#[test]
fn data_for_slow_clients_has_a_bound_in_all() {
    const LENGTH: usize = 1 << 20;
    let mut bench = bench();
    let body = vec![0; LENGTH];
    let mut slow = Vec::new();
    for _ in 0..8 {
        // Those before have as much as they may, so each has data of its own.
        slow.push(bench.subscribed());
        (0..40).for_each(|_| bench.server.handle_data(BASE, STATE.subtype, 0.0, &body));
    }
    let waiting = |server: &Server| slow.iter().map(|client| server.waiting_len(*client)).sum::<usize>();
    let all = waiting(&bench.server);
    assert!((128 << 20..140 << 20).contains(&all), "{all}");
    // Who reads gets everything.
    let reader = bench.subscribed();
    for seconds in 1..4 {
        bench.server.handle_data(BASE, STATE.subtype, 0.0, &body);
        let now = NOW + Duration::from_secs(10 * seconds);
        assert!(bench.server.poll_transmit(now, reader).is_some_and(|bytes| bytes.len() > LENGTH));
    }
    assert_eq!(waiting(&bench.server), all);
    slow.iter().for_each(|client| bench.server.handle_disconnected(*client));
    // Many readers of the same data are no crowd.
    let readers: Vec<ClientId> = (0..40).map(|_| bench.subscribed()).collect();
    (0..20).for_each(|_| bench.server.handle_data(BASE, STATE.subtype, 0.0, &body));
    assert!(readers.iter().all(|client| bench.server.waiting_len(*client) > 20 * LENGTH));
}

/// Bytes of the shortest body of a message.
fn shortest(interface: &Interface, row: &Row) -> usize {
    let is_body = |len: &usize| {
        let of = |interface| rewrite(interface, row.kind, row.subtype, &vec![0; *len]).is_ok();
        of(interface) || of(&properties::INTERFACE)
    };
    (0..2000).find(is_body).expect("a body of zeros")
}

/// The drivers of the original compare the length of a body with that of the message, and ignore what is different. Here it
/// is refused, without exception.
#[test]
fn no_message_is_taken_with_a_body_of_another_length() {
    let info = |interface: &Interface| DeviceInfo {
        device: interface.device(0),
        driver: String::new(),
        robot: String::new(),
    };
    let devices = INTERFACES.into_iter().filter(|interface| interface.code != SERVER.interface);
    let mut bench =
        Bench { server: Server::new(ServerConfig::default(), devices.clone().map(info).collect()) };
    let client = bench.connect();
    for interface in devices {
        let device = interface.device(0);
        bench.subscribe(client, device, OPEN);
        bench.server.handle_opened(NOW, device, Ok(()));
    }
    bench.calls();
    bench.received(client);
    let rows = INTERFACES.into_iter().flat_map(|interface| {
        let all = interface.messages.iter().chain(properties::INTERFACE.messages);
        all.map(move |row| (interface, row))
    });
    let mut count = 0;
    for (interface, row) in rows.filter(|(_, row)| row.kind != Kind::Data) {
        let is_server = interface.code == SERVER.interface;
        let len = shortest(interface, row);
        for wrong in [0, len.saturating_sub(1), len + 1, len + 4, len + 8, len + 16, 2 * len] {
            if wrong == len {
                continue;
            }
            let what = format!("{} {}: {wrong} bytes instead of {len}", interface.name, row.name);
            let refused = bench.server.poll_statistics().refused;
            assert_eq!(refused, 0, "{what}");
            let bytes = encoded(interface.device(0), row.kind, row.subtype, &vec![0; wrong]);
            bench.server.handle_bytes(NOW, client, &bytes);
            assert_eq!(bench.calls(), [], "{what}");
            assert_eq!(bench.server.poll_statistics().refused, 1, "{what}");
            let answers = kinds(&bench.received(client));
            let expected = (row.kind == Kind::Request).then_some((Kind::Refuse, row.subtype));
            assert_eq!(answers, Vec::from_iter(expected), "{what}");
            count += 1;
        }
        if is_server {
            continue;
        }
        // Its own length is taken.
        let bytes = encoded(interface.device(0), row.kind, row.subtype, &vec![0; len]);
        bench.server.handle_bytes(NOW, client, &bytes);
        assert_eq!(bench.calls().len(), 1, "{} {}", interface.name, row.name);
        if row.kind == Kind::Request {
            bench.server.handle_outcome(NOW, client, Ok(Vec::new()));
            bench.received(client);
        }
        bench.server.poll_statistics();
    }
    assert!(count > 500, "{count}");
}

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
    Address, BANNER_LEN, Bytes, Decoder, Device, Header, INTERFACES, Interface, MAX_BODY_LEN, Message,
    MessageInfo, MessageKind, Xdr, opaque, player, properties,
};
use proptest::prelude::*;

use super::literals::rewrite;

const BASE: Device = position2d::INTERFACE.device(0);
const MISSING: Device = position2d::INTERFACE.device(7);
const SERVER: Device = player::INTERFACE.device(0);
const NOW: Duration = Duration::from_secs(1_000_000);

struct ServerFixture {
    server: Server,
}

fn fixture() -> ServerFixture {
    with(ServerConfig::default())
}

fn with(config: ServerConfig) -> ServerFixture {
    let info = DeviceInfo { device: BASE, driver: "kobuki".to_owned(), robot: "TurtleBot 2".to_owned() };
    ServerFixture { server: Server::new(config, vec![info]) }
}

fn encoded(device: Device, kind: MessageKind, subtype: u8, body: &[u8]) -> Vec<u8> {
    let address = Address { device, ..Address::default() };
    let mut bytes = Vec::new();
    Header { address, kind, subtype, timestamp: 0.0, sequence: 5 }.write_message(body, &mut bytes);
    bytes
}

impl ServerFixture {
    /// A client that has read the banner.
    fn connect(&mut self) -> ClientId {
        let client = self.server.handle_connected(6665);
        let banner = self.server.poll_transmit(NOW, client).unwrap();
        assert_eq!(banner.len(), BANNER_LEN);
        assert!(banner.starts_with(b"Player v.3.1.1-dev\0"));
        client
    }

    fn send(&mut self, client: ClientId, device: Device, kind: MessageKind, subtype: u8, body: &impl Xdr) {
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
        self.send(client, device, MessageKind::Request, subtype, body);
        let mut answers = self.received(client);
        assert_eq!(answers.len(), 1, "{answers:?}");
        answers.remove(0)
    }

    fn subscribe(&mut self, client: ClientId, device: Device, access: u8) {
        let address = Address { device, ..Address::default() };
        let body = Subscription { address, access, driver: String::new() };
        self.send(client, SERVER, MessageKind::Request, SUBSCRIBE.subtype, &body);
    }

    /// A client for which the base is open.
    fn subscribed(&mut self) -> ClientId {
        let client = self.connect();
        self.subscribe(client, BASE, OPEN);
        if self.server.poll_call() == Some(Call::Open(BASE)) {
            self.server.handle_opened(NOW, BASE, Ok(()));
        }
        let answers = self.received(client);
        assert_eq!(access(&answers[0]), (MessageKind::Acknowledge, OPEN));
        client
    }

    fn data(&mut self, x: f64) {
        let pose = Pose2d { x, ..Pose2d::default() };
        let body = State { pose, ..State::default() }.to_bytes();
        self.server.handle_data(BASE, STATE.subtype, x, &body);
    }

    fn velocity(&mut self, client: ClientId, x: f64) {
        let velocity = Pose2d { x, ..Pose2d::default() };
        self.send(
            client,
            BASE,
            MessageKind::Command,
            VELOCITY.subtype,
            &Velocity { velocity, motors_on: true },
        );
    }

    fn calls(&mut self) -> Vec<Call> {
        std::iter::from_fn(|| self.server.poll_call()).collect()
    }
}

fn access(message: &Message) -> (MessageKind, u8) {
    (message.header.kind, SUBSCRIBE.answer(&message.body).unwrap().access)
}

fn kinds(messages: &[Message]) -> Vec<(MessageKind, u8)> {
    messages.iter().map(|message| (message.header.kind, message.header.subtype)).collect()
}

fn poses(messages: &[Message]) -> Vec<f64> {
    let data = messages.iter().filter(|message| message.header.kind == MessageKind::Data);
    data.map(|message| STATE.body(&message.body).unwrap().pose.x).collect()
}

#[test]
fn a_client_finds_the_devices_and_their_drivers() {
    let mut fixture = fixture();
    let client = fixture.connect();
    let list = fixture.ask(client, SERVER, DEVICES.subtype, &());
    assert_eq!(list.header.sequence, 5, "the server repeats the number of its own requests");
    let host = u32::from_le_bytes([127, 0, 0, 1]);
    let address = Address { host, robot: 6665, device: BASE };
    assert_eq!(DEVICES.answer(&list.body).unwrap(), [address]);
    let question = Driver { address: Address { device: BASE, ..Address::default() }, name: String::new() };
    let driver = fixture.ask(client, SERVER, DRIVER.subtype, &question);
    assert_eq!(DRIVER.answer(&driver.body).unwrap(), Driver { address, name: "kobuki".to_owned() });
    let missing = Driver { address: Address { device: MISSING, ..Address::default() }, name: String::new() };
    assert_eq!(fixture.ask(client, SERVER, DRIVER.subtype, &missing).header.kind, MessageKind::Refuse);
    let port = fixture.ask(
        client,
        SERVER,
        NAME_SERVICE.subtype,
        &NameService { name: "TurtleBot 2".to_owned(), port: 0 },
    );
    assert_eq!(NAME_SERVICE.answer(&port.body).unwrap().port, 6665);
}

#[test]
fn a_subscription_is_answered_when_the_device_works() {
    let mut fixture = fixture();
    let (one, other) = (fixture.connect(), fixture.connect());
    fixture.subscribe(one, BASE, OPEN);
    fixture.subscribe(other, BASE, OPEN);
    assert_eq!(fixture.calls(), [Call::Open(BASE)]);
    assert_eq!(fixture.received(one), []);
    fixture.server.handle_opened(NOW, BASE, Err("no such port".to_owned()));
    for client in [one, other] {
        let answers = fixture.received(client);
        assert_eq!(access(&answers[0]), (MessageKind::Acknowledge, DENIED));
        assert_eq!(SUBSCRIBE.answer(&answers[0].body).unwrap().driver, "kobuki");
    }
    // It is tried again.
    fixture.subscribe(one, BASE, OPEN);
    assert_eq!(fixture.calls(), [Call::Open(BASE)]);
    fixture.subscribe(one, MISSING, OPEN);
    assert_eq!(access(&fixture.received(one)[0]), (MessageKind::Refuse, DENIED));
}

#[test]
fn a_device_is_open_while_a_client_is_subscribed() {
    let mut fixture = fixture();
    let (one, other) = (fixture.subscribed(), fixture.subscribed());
    // Two proxies of one program: one of them is deleted.
    fixture.subscribe(one, BASE, OPEN);
    fixture.subscribe(one, BASE, CLOSE);
    fixture.data(1.0);
    assert_eq!(poses(&fixture.received(one)), [1.0]);
    fixture.subscribe(one, BASE, CLOSE);
    assert_eq!(access(fixture.received(one).last().unwrap()), (MessageKind::Acknowledge, CLOSE));
    fixture.data(2.0);
    assert_eq!(fixture.received(one), []);
    assert_eq!(poses(&fixture.received(other)), [1.0, 2.0]);
    // The third time there is nothing to close.
    fixture.subscribe(one, BASE, CLOSE);
    assert_eq!(access(&fixture.received(one)[0]), (MessageKind::Acknowledge, DENIED));
    assert_eq!(fixture.calls(), []);
    fixture.server.handle_disconnected(other);
    assert_eq!(fixture.calls(), [Call::Close(BASE)]);
}

#[test]
fn pulled_data_comes_between_the_answer_and_a_synch_message() {
    let mut fixture = fixture();
    let client = fixture.subscribed();
    assert_eq!(fixture.ask(client, SERVER, MODE.subtype, &PULL).header.kind, MessageKind::Acknowledge);
    fixture.data(1.0);
    fixture.data(2.0);
    assert_eq!(fixture.received(client), [], "no client has requested data");
    fixture.send(client, SERVER, MessageKind::Request, READ.subtype, &());
    let round = [
        (MessageKind::Acknowledge, READ.subtype),
        (MessageKind::Data, 1),
        (MessageKind::Data, 1),
        (MessageKind::Synch, SYNCH),
    ];
    assert_eq!(kinds(&fixture.received(client)), round);
    // Without data the round waits for the next one.
    fixture.send(client, SERVER, MessageKind::Request, READ.subtype, &());
    assert_eq!(kinds(&fixture.received(client)), [(MessageKind::Acknowledge, READ.subtype)]);
    fixture.data(3.0);
    assert_eq!(kinds(&fixture.received(client)), [(MessageKind::Data, 1), (MessageKind::Synch, SYNCH)]);
    // Waiting data is sent when the mode becomes push.
    fixture.data(4.0);
    fixture.send(client, SERVER, MessageKind::Request, MODE.subtype, &PUSH);
    assert_eq!(
        kinds(&fixture.received(client)),
        [(MessageKind::Data, 1), (MessageKind::Acknowledge, MODE.subtype)]
    );
}

#[test]
fn an_answer_does_not_overtake_data() {
    let mut fixture = fixture();
    let client = fixture.subscribed();
    fixture.ask(client, SERVER, MODE.subtype, &PULL);
    fixture.data(1.0);
    fixture.send(client, SERVER, MessageKind::Request, DEVICES.subtype, &());
    let order = [(MessageKind::Data, 1), (MessageKind::Acknowledge, DEVICES.subtype)];
    assert_eq!(kinds(&fixture.received(client)), order);
}

#[test]
fn the_first_rule_that_fits_decides_about_waiting_data() {
    let rule = |replace: i32| ReplaceRule { interface: 4, index: -1, kind: 1, subtype: -1, replace };
    for (replace, expected) in [(0, vec![1.0, 2.0]), (1, vec![2.0]), (2, vec![])] {
        let mut fixture = fixture();
        let client = fixture.subscribed();
        fixture.ask(client, SERVER, MODE.subtype, &PULL);
        fixture.ask(client, SERVER, REPLACE_RULE.subtype, &rule(replace));
        // A later rule for the same messages has no effect; the same rule again has.
        let all = ReplaceRule { interface: -1, index: -1, kind: -1, subtype: -1, replace: 1 };
        fixture.ask(client, SERVER, REPLACE_RULE.subtype, &all);
        fixture.data(1.0);
        fixture.data(2.0);
        fixture.send(client, SERVER, MessageKind::Request, READ.subtype, &());
        assert_eq!(poses(&fixture.received(client)), expected, "{replace}");
    }
}

#[test]
fn a_client_that_does_not_read_loses_the_newest_data_and_is_notified() {
    let mut fixture = with(ServerConfig { max_data: 3, ..ServerConfig::default() });
    let (slow, other) = (fixture.subscribed(), fixture.subscribed());
    fixture.ask(slow, SERVER, MODE.subtype, &PULL);
    for x in 1..=5 {
        fixture.data(x.into());
        assert_eq!(poses(&fixture.received(other)), [f64::from(x)]);
    }
    fixture.send(slow, SERVER, MessageKind::Request, READ.subtype, &());
    let received = fixture.received(slow);
    assert_eq!(poses(&received), [1.0, 2.0, 3.0]);
    let last = received.last().unwrap();
    assert_eq!((last.header.kind, last.header.subtype), (MessageKind::Synch, SYNCH_OVERFLOW));
    assert_eq!(u32::from_bytes(&last.body), Ok(2));
    assert_eq!(fixture.server.poll_statistics().dropped, 2);
}

#[test]
fn data_of_many_readers_goes_out_in_bundles() {
    let mut fixture = fixture();
    let clients: Vec<ClientId> = (0..200).map(|_| fixture.subscribed()).collect();
    while fixture.server.poll_ready_client().is_some() {}
    let first = clients[0];
    fixture.data(1.0);
    assert_eq!(std::iter::from_fn(|| fixture.server.poll_ready_client()).count(), 200);
    assert_eq!(poses(&fixture.received(first)), [1.0], "the first one at once");
    fixture.data(2.0);
    fixture.data(3.0);
    assert!(
        !std::iter::from_fn(|| fixture.server.poll_ready_client()).any(|ready| ready == first),
        "it waits"
    );
    assert_eq!(poses(&fixture.received(first)), [0.0; 0]);
    let rest = fixture.server.poll_timeout(first).unwrap();
    assert_eq!(rest - NOW, Duration::from_millis(20));
    let mut decoder = Decoder::default();
    decoder.push(&fixture.server.poll_transmit(rest, first).unwrap());
    let bundle: Vec<Message> = std::iter::from_fn(|| decoder.next()).map(Result::unwrap).collect();
    assert_eq!(poses(&bundle), [2.0, 3.0]);

    // An answer does not wait, and does not overtake.
    fixture.data(4.0);
    fixture.subscribe(first, BASE, OPEN);
    assert_eq!(kinds(&fixture.received(first)).last(), Some(&(MessageKind::Acknowledge, SUBSCRIBE.subtype)));
}

#[test]
fn few_readers_get_each_message_at_once_unless_it_is_long() {
    let mut fixture = fixture();
    let client = fixture.subscribed();
    for x in [1.0, 2.0] {
        fixture.data(x);
        assert_eq!(poses(&fixture.received(client)), [x]);
        assert_eq!(fixture.server.poll_timeout(client), None);
    }
    fixture.server.handle_data(BASE, STATE.subtype, 0.0, &vec![0; 1_000_000]);
    assert!(fixture.server.poll_transmit(NOW, client).unwrap().len() > 1_000_000);
    // 5 ms for a megabyte.
    let rest = fixture.server.poll_timeout(client).unwrap() - NOW;
    assert!(rest > Duration::from_millis(5) && rest < Duration::from_millis(6), "{rest:?}");
    // A clock that is set back does not hold it up.
    fixture.data(3.0);
    let past = NOW - Duration::from_secs(3600);
    assert!(fixture.server.poll_transmit(past, client).is_some());
}

#[test]
fn requests_of_a_client_are_carried_out_in_their_order_and_commands_at_once() {
    let mut fixture = fixture();
    let client = fixture.subscribed();
    for _ in 0..2 {
        fixture.send(client, BASE, MessageKind::Request, GET_GEOMETRY.subtype, &());
    }
    fixture.velocity(client, 0.5);
    let calls = fixture.calls();
    assert!(matches!(&calls[..], [Call::Request { .. }, Call::Command { .. }]), "{calls:?}");
    assert_eq!(fixture.received(client), []);
    fixture.server.handle_outcome(NOW, client, Ok(position2d::Geometry::default().to_bytes()));
    let answers = fixture.received(client);
    assert_eq!(kinds(&answers), [(MessageKind::Acknowledge, GET_GEOMETRY.subtype)]);
    assert_eq!(answers[0].header.sequence, 0, "drivers do not repeat the number");
    assert!(matches!(&fixture.calls()[..], [Call::Request { .. }]));
    fixture.server.handle_outcome(NOW, client, Err("no".to_owned()));
    assert_eq!(kinds(&fixture.received(client)), [(MessageKind::Refuse, GET_GEOMETRY.subtype)]);
}

#[test]
fn what_cannot_be_carried_out_is_refused() {
    let mut fixture = fixture();
    let client = fixture.connect();
    assert_eq!(
        fixture.ask(client, BASE, GET_GEOMETRY.subtype, &()).header.kind,
        MessageKind::Refuse,
        "closed"
    );
    let client = fixture.subscribed();
    for (device, subtype) in [(BASE, 99), (MISSING, 1), (SERVER, 99)] {
        assert_eq!(
            fixture.ask(client, device, subtype, &()).header.kind,
            MessageKind::Refuse,
            "{device:?} {subtype}"
        );
    }
    // Poses that are too short and too long.
    let set = position2d::SET_ODOMETRY.subtype;
    assert_eq!(fixture.ask(client, BASE, set, &[1.0, 2.0]).header.kind, MessageKind::Refuse);
    assert_eq!(fixture.ask(client, BASE, set, &[1.0, 2.0, 3.0, 4.0]).header.kind, MessageKind::Refuse);
    // Commands have no answers.
    fixture.send(client, BASE, MessageKind::Command, VELOCITY.subtype, &1.0);
    fixture.send(client, BASE, MessageKind::Data, STATE.subtype, &State::default());
    assert_eq!((fixture.received(client), fixture.calls()), (vec![], vec![]));
    assert_eq!(fixture.server.poll_statistics().refused, 8);
}

#[test]
fn a_robot_does_not_obey_a_client_that_has_gone() {
    let mut fixture = fixture();
    let (driver, watcher) = (fixture.subscribed(), fixture.subscribed());
    fixture.velocity(driver, 0.5);
    fixture.calls();
    fixture.server.handle_disconnected(driver);
    assert_eq!(fixture.calls(), [Call::Release(BASE)]);
    // A client whose command was replaced by another client's command stops nothing.
    let other = fixture.subscribed();
    fixture.velocity(watcher, 0.5);
    fixture.velocity(other, 0.2);
    fixture.calls();
    fixture.server.handle_disconnected(watcher);
    assert_eq!(fixture.calls(), []);
    fixture.server.handle_disconnected(other);
    assert_eq!(fixture.calls(), [Call::Close(BASE)]);
}

#[test]
fn a_key_comes_before_everything_else() {
    let keyed = || with(ServerConfig { key: Some("geheim".to_owned()), ..ServerConfig::default() });
    let mut fixture = keyed();
    let client = fixture.connect();
    assert_eq!(fixture.ask(client, SERVER, DEVICES.subtype, &()).header.kind, MessageKind::Refuse);
    assert!(fixture.server.is_closing(client));
    let client = fixture.connect();
    let wrong = fixture.ask(client, SERVER, AUTHENTICATE.subtype, &Bytes(b"falsch".to_vec()));
    assert_eq!(wrong.header.kind, MessageKind::Refuse);
    assert!(fixture.server.is_closing(client));
    let client = fixture.connect();
    let right = fixture.ask(client, SERVER, AUTHENTICATE.subtype, &Bytes(b"geheim\0".to_vec()));
    assert_eq!(right.header.kind, MessageKind::Acknowledge);
    assert_eq!(fixture.ask(client, SERVER, DEVICES.subtype, &()).header.kind, MessageKind::Acknowledge);
}

#[test]
fn commands_that_the_owner_does_not_fetch_slow_only_their_client() {
    let mut fixture = fixture();
    let (client, other) = (fixture.subscribed(), fixture.subscribed());
    for _ in 0..10_000 {
        if !fixture.server.wants_input(client) {
            break;
        }
        fixture.velocity(client, 0.5);
    }
    assert!(!fixture.server.wants_input(client));
    assert_eq!(fixture.ask(other, SERVER, DEVICES.subtype, &()).header.kind, MessageKind::Acknowledge);
    assert!(fixture.calls().len() <= 64);
    assert!(fixture.server.wants_input(client));
}

/// A body of up to 8 MiB is valid, so its owner reads on beyond what otherwise stops it.
#[test]
fn a_long_message_is_read_to_its_end() {
    let mut fixture = fixture();
    let client = fixture.subscribed();
    let long = encoded(BASE, MessageKind::Request, GET_GEOMETRY.subtype, &vec![0; MAX_BODY_LEN]);
    for part in long.chunks(4096) {
        assert!(fixture.server.wants_input(client));
        fixture.server.handle_bytes(NOW, client, part);
    }
    // It is answered, although it is invalid.
    assert_eq!(fixture.calls(), []);
    assert_eq!(kinds(&fixture.received(client)), [(MessageKind::Refuse, GET_GEOMETRY.subtype)]);
    assert!(fixture.server.wants_input(client));
}

/// Whole messages that wait for their client to read its answers are not read without limit.
#[test]
fn whole_messages_that_wait_stop_their_client() {
    let mut fixture = with(ServerConfig { max_buffered: 4096, ..ServerConfig::default() });
    let client = fixture.connect();
    let ask = encoded(SERVER, MessageKind::Request, DEVICES.subtype, &[]);
    let mut sent = 0;
    while fixture.server.wants_input(client) {
        fixture.server.handle_bytes(NOW, client, &ask);
        sent += 1;
        assert!(sent < 1000);
    }
    // A message that begins behind them changes nothing.
    fixture.server.handle_bytes(NOW, client, &ask[..20]);
    assert!(!fixture.server.wants_input(client));
    assert_eq!(fixture.received(client).len(), sent);
    assert!(fixture.server.wants_input(client));
}

#[test]
fn another_protocol_is_recognized_by_an_impossible_size() {
    let mut fixture = fixture();
    let client = fixture.connect();
    fixture.server.handle_bytes(
        NOW,
        client,
        b"GET / HTTP/1.1\r\nHost: localhost:6665\r\nUser-Agent: x\r\n\r\n",
    );
    assert!(fixture.server.is_closing(client));
    assert!(fixture.server.poll_event().unwrap().to_string().contains("does not speak Player's protocol"));
}

/// A step of any client.
#[derive(Debug, Clone)]
enum Step {
    Bytes(Vec<u8>),
    Message { device: Device, kind: MessageKind, subtype: u8, body: Vec<u8> },
    Data,
    Opened(bool),
    Outcome(bool),
    Disconnect,
    Read,
}

fn step() -> impl Strategy<Value = Step> {
    let device = prop_oneof![4 => Just(BASE), 4 => Just(SERVER), 1 => Just(MISSING)];
    let kind = (1..=6_u8).prop_map(|code| MessageKind::from_code(code).unwrap());
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
    /// For any steps of one client, another one is answered.
    #[test]
    fn no_client_affects_another(steps in proptest::collection::vec(step(), 0..60)) {
        let mut fixture = fixture();
        let mut client = fixture.connect();
        let witness = fixture.connect();
        for step in steps {
            match step {
                Step::Bytes(bytes) => fixture.server.handle_bytes(NOW, client, &bytes),
                Step::Message { device, kind, subtype, body } => {
                    fixture.server.handle_bytes(NOW, client, &encoded(device, kind, subtype, &body));
                }
                Step::Data => fixture.data(1.0),
                Step::Opened(works) => {
                    let opened = if works { Ok(()) } else { Err("no".to_owned()) };
                    fixture.server.handle_opened(NOW, BASE, opened);
                }
                Step::Outcome(done) => {
                    let outcome = if done { Ok(Vec::new()) } else { Err("no".to_owned()) };
                    fixture.server.handle_outcome(NOW, client, outcome);
                }
                Step::Disconnect => {
                    fixture.server.handle_disconnected(client);
                    client = fixture.connect();
                }
                Step::Read => drop(fixture.received(client)),
            }
            fixture.calls();
            let answer = fixture.ask(witness, SERVER, DEVICES.subtype, &());
            prop_assert_eq!(answer.header.kind, MessageKind::Acknowledge);
        }
    }
}

/// The bytes of all clients that are not carried out yet are limited; the connection of the slow client with most bytes
/// is closed.
#[test]
fn messages_that_never_end_have_a_bound_in_all() {
    let mut fixture = fixture();
    let send = |fixture: &mut ServerFixture, now: Duration, client: ClientId, mebibytes: usize| {
        let whole = encoded(BASE, MessageKind::Command, VELOCITY.subtype, &vec![0; mebibytes << 20]);
        let begun = &whole[..whole.len() - 1];
        begun.chunks(64 << 10).for_each(|part| fixture.server.handle_bytes(now, client, part));
    };
    let clients: Vec<ClientId> = (0..9).map(|_| fixture.connect()).collect();
    clients.iter().for_each(|client| send(&mut fixture, NOW, *client, 6));
    let smaller = fixture.connect();
    send(&mut fixture, NOW, smaller, 3);
    let all = || clients.iter().chain([&smaller]);
    assert!(all().all(|client| fixture.server.wants_input(*client)), "57 MiB are not too much");
    // A modest client, and one whose long message is on its way, are not concerned, though that has most.
    let modest = fixture.subscribed();
    let late = fixture.connect();
    send(&mut fixture, NOW + Duration::from_secs(2), late, 7);
    send(&mut fixture, NOW + Duration::from_secs(2), modest, 2);
    let given_up = clients.iter().filter(|client| fixture.server.is_aborted(**client)).count();
    assert_eq!(given_up, 1);
    assert!([late, smaller, modest].iter().all(|client| !fixture.server.is_aborted(*client)));
    let event = fixture.server.poll_event().unwrap().to_string();
    assert!(
        event.ends_with("bytes of incomplete messages and requests: a client is disconnected"),
        "{event}"
    );
    let held: usize = all().chain([&late, &modest]).map(|client| fixture.server.waiting_len(*client)).sum();
    assert!(held <= 64 << 20, "{held}");
}

/// Fast clients cannot make the server keep any number of messages either.
#[test]
fn long_messages_at_the_same_time_have_a_bound_in_all() {
    const LENGTH: usize = 6 << 20;
    let mut fixture = fixture();
    let begun = encoded(BASE, MessageKind::Command, VELOCITY.subtype, &[0; LENGTH]);
    let begun = &begun[..LENGTH];
    let send = |fixture: &mut ServerFixture| {
        let client = fixture.connect();
        fixture.server.handle_bytes(NOW, client, begun);
        client
    };
    let asking = fixture.subscribed();
    let mut clients: Vec<ClientId> = (0..10).map(|_| send(&mut fixture)).collect();
    // A long request is refused at once, a short one is carried out.
    for (body, word) in [(vec![0; LENGTH], "messages of all clients wait"), (Vec::new(), "")] {
        fixture.server.handle_bytes(
            NOW,
            asking,
            &encoded(BASE, MessageKind::Request, GET_GEOMETRY.subtype, &body),
        );
        let refused = fixture.server.poll_event().map(|event| event.to_string()).unwrap_or_default();
        assert!(refused.contains(word), "{refused}");
        assert_eq!(fixture.calls().len(), usize::from(body.is_empty()));
    }
    clients.extend((0..30).map(|_| send(&mut fixture)));
    let held: usize = clients.iter().map(|client| fixture.server.waiting_len(*client)).sum();
    assert!((120 << 20..=128 << 20).contains(&held), "{held}");
    assert!(!fixture.server.is_aborted(asking));
}

/// The open request of a closed client still counts, but another client is closed next.
#[test]
fn a_closed_client_is_not_closed_again() {
    let device = opaque::INTERFACE.device(0);
    let info = DeviceInfo { device, driver: String::new(), robot: String::new() };
    let mut fixture = ServerFixture { server: Server::new(ServerConfig::default(), vec![info]) };
    let asking = fixture.connect();
    fixture.subscribe(asking, device, OPEN);
    assert_eq!(fixture.calls(), [Call::Open(device)]);
    fixture.server.handle_opened(NOW, device, Ok(()));
    let body = Bytes(vec![0; 7 << 20]).to_bytes();
    let request = encoded(device, MessageKind::Request, opaque::REQUEST.subtype, &body);
    fixture.server.handle_bytes(NOW, asking, &request);
    let begun = encoded(BASE, MessageKind::Command, VELOCITY.subtype, &vec![0; 6 << 20]);
    let begun = &begun[..begun.len() - 1];
    fixture.server.handle_bytes(NOW, asking, begun);
    let slow: Vec<ClientId> = (0..12).map(|_| fixture.connect()).collect();
    let given_up =
        |fixture: &ServerFixture| slow.iter().filter(|client| fixture.server.is_aborted(**client)).count();
    for client in &slow[..8] {
        fixture.server.handle_bytes(NOW, *client, begun);
    }
    let later = NOW + Duration::from_secs(2);
    for (at, client) in slow[8..].iter().enumerate() {
        fixture.server.handle_bytes(later, *client, begun);
        assert!(fixture.server.is_aborted(asking));
        // It still holds 7 MiB: each that comes then is one too many.
        assert_eq!(given_up(&fixture), at);
    }
    assert_eq!(fixture.calls().len(), 1);
}

/// The data of all clients that do not read is limited; each client has its own share. Data that waits for several
/// clients counts once.
#[test]
fn data_for_slow_clients_has_a_bound_in_all() {
    const LENGTH: usize = 1 << 20;
    let mut fixture = fixture();
    let body = vec![0; LENGTH];
    let mut slow = Vec::new();
    for _ in 0..8 {
        // Those before have as much as they may, so each has data of its own.
        slow.push(fixture.subscribed());
        (0..40).for_each(|_| fixture.server.handle_data(BASE, STATE.subtype, 0.0, &body));
    }
    let waiting = |server: &Server| slow.iter().map(|client| server.waiting_len(*client)).sum::<usize>();
    let all = waiting(&fixture.server);
    assert!((128 << 20..140 << 20).contains(&all), "{all}");
    // A client that reads gets all data.
    let reader = fixture.subscribed();
    for seconds in 1..4 {
        fixture.server.handle_data(BASE, STATE.subtype, 0.0, &body);
        let now = NOW + Duration::from_secs(10 * seconds);
        assert!(fixture.server.poll_transmit(now, reader).is_some_and(|bytes| bytes.len() > LENGTH));
    }
    assert_eq!(waiting(&fixture.server), all);
    slow.iter().for_each(|client| fixture.server.handle_disconnected(*client));
    // Many readers of the same data do not exceed the limit.
    let readers: Vec<ClientId> = (0..40).map(|_| fixture.subscribed()).collect();
    (0..20).for_each(|_| fixture.server.handle_data(BASE, STATE.subtype, 0.0, &body));
    assert!(readers.iter().all(|client| fixture.server.waiting_len(*client) > 20 * LENGTH));
}

/// Bytes of the shortest body of a message.
fn shortest(interface: &Interface, row: &MessageInfo) -> usize {
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
    let mut fixture =
        ServerFixture { server: Server::new(ServerConfig::default(), devices.clone().map(info).collect()) };
    let client = fixture.connect();
    for interface in devices {
        let device = interface.device(0);
        fixture.subscribe(client, device, OPEN);
        fixture.server.handle_opened(NOW, device, Ok(()));
    }
    fixture.calls();
    fixture.received(client);
    let rows = INTERFACES.into_iter().flat_map(|interface| {
        let all = interface.messages.iter().chain(properties::INTERFACE.messages);
        all.map(move |row| (interface, row))
    });
    let mut count = 0;
    for (interface, row) in rows.filter(|(_, row)| row.kind != MessageKind::Data) {
        let is_server = interface.code == SERVER.interface;
        let len = shortest(interface, row);
        for wrong in [0, len.saturating_sub(1), len + 1, len + 4, len + 8, len + 16, 2 * len] {
            if wrong == len {
                continue;
            }
            let what = format!("{} {}: {wrong} bytes instead of {len}", interface.name, row.name);
            let refused = fixture.server.poll_statistics().refused;
            assert_eq!(refused, 0, "{what}");
            let bytes = encoded(interface.device(0), row.kind, row.subtype, &vec![0; wrong]);
            fixture.server.handle_bytes(NOW, client, &bytes);
            assert_eq!(fixture.calls(), [], "{what}");
            assert_eq!(fixture.server.poll_statistics().refused, 1, "{what}");
            let answers = kinds(&fixture.received(client));
            let expected = (row.kind == MessageKind::Request).then_some((MessageKind::Refuse, row.subtype));
            assert_eq!(answers, Vec::from_iter(expected), "{what}");
            count += 1;
        }
        if is_server {
            continue;
        }
        // Its own length is taken.
        let bytes = encoded(interface.device(0), row.kind, row.subtype, &vec![0; len]);
        fixture.server.handle_bytes(NOW, client, &bytes);
        assert_eq!(fixture.calls().len(), 1, "{} {}", interface.name, row.name);
        if row.kind == MessageKind::Request {
            fixture.server.handle_outcome(NOW, client, Ok(Vec::new()));
            fixture.received(client);
        }
        fixture.server.poll_statistics();
    }
    assert!(count > 500, "{count}");
}

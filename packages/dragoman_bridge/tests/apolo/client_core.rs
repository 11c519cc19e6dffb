//! The client against a scripted server.

use std::time::Duration;

use dragoman_bridge::apolo::wire::{LandMark, Reply, Request, SizeBase};
use dragoman_bridge::apolo::{
    CallId, Client, ClientConfig, ClientEvent, Connection, Outcome, Refusal, ServerConfig,
};
use dragoman_bridge::session::ServerSession;

struct ClientFixture {
    client: Client,
    now: Duration,
    next: u64,
}

impl ClientFixture {
    fn new(config: ClientConfig) -> Self {
        let now = Duration::ZERO;
        Self { client: Client::new(now, config), now, next: 0 }
    }

    fn connected() -> Self {
        let mut fixture = Self::new(ClientConfig::default());
        fixture.connect();
        fixture
    }

    fn connect(&mut self) {
        assert!(self.client.poll_connect(self.now));
        assert!(!self.client.poll_connect(self.now), "once for each attempt");
        self.client.handle_connected(self.now);
        assert_eq!(self.client.poll_event(), Some(ClientEvent::Connected));
    }

    fn call(&mut self, request: Request) -> CallId {
        let id = CallId(self.next);
        self.next += 1;
        self.client.handle_call(self.now, id, request);
        id
    }

    fn pass(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
        self.client.handle_timeout(self.now);
    }

    fn reply(&mut self, reply: Reply) {
        self.client.handle_bytes(self.now, &reply.encode(SizeBase::Full256).unwrap());
    }

    fn sent(&mut self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.client.poll_transmit()).collect()
    }

    #[track_caller]
    fn result(&mut self, id: CallId, outcome: Outcome) {
        assert_eq!(self.client.poll_event(), Some(ClientEvent::Result { id, outcome }));
    }

    #[track_caller]
    fn refused(&mut self, id: CallId, refusal: Refusal) {
        self.result(id, Outcome::Refused(refusal));
    }
}

fn location(object: &str) -> Request {
    Request::GetLocation { world: String::new(), object: object.into() }
}

fn update() -> Request {
    Request::Update { world: String::new() }
}

fn a_move() -> Request {
    let (world, robot) = (String::new(), "Neo".into());
    Request::MoveMRobot { world, robot, speed: 0.1, rotation_speed: 0.0, duration: 0.1 }
}

#[test]
fn questions_go_out_one_at_a_time() {
    let mut fixture = ClientFixture::connected();
    let first = fixture.call(location("pieza"));
    let second = fixture.call(location("Neo"));
    assert_eq!(fixture.sent(), [b"aa\x0d\0G\0\x06pieza\0"]);
    assert_eq!(fixture.client.poll_event(), None);
    let values = vec![-0.25, 0.2, 0.06, 1.25, 0.6912, 0.9425];
    fixture.reply(Reply::Doubles(values.clone()));
    fixture.result(first, Outcome::Values(values));
    assert_eq!(fixture.sent(), [b"aa\x0b\0G\0\x04Neo\0"]);
    fixture.reply(Reply::Doubles(vec![0.0; 6]));
    fixture.result(second, Outcome::Values(vec![0.0; 6]));
}

#[test]
fn what_is_never_answered_is_done_when_it_is_sent() {
    let mut fixture = ClientFixture::connected();
    let ids: Vec<_> = (0..3).map(|_| fixture.call(update())).collect();
    assert_eq!(fixture.sent(), vec![b"aa\x06\0U\0".to_vec(); 3]);
    for id in ids {
        fixture.result(id, Outcome::Done);
    }
    // It waits for the open question, so that the server processes the calls in order.
    fixture.call(location("x"));
    let id = fixture.call(update());
    assert_eq!(fixture.sent().len(), 1);
    fixture.reply(Reply::Doubles(vec![0.0; 6]));
    assert_eq!(fixture.sent().len(), 1);
    fixture.client.poll_event();
    fixture.result(id, Outcome::Done);
}

#[test]
fn every_kind_of_answer_is_understood() {
    let (world, robot) = (String::new, || "x".to_owned());
    let joints = Request::CheckRobotJoints { world: world(), robot: robot(), values: vec![1.0] };
    let place = Request::PlaceMRobot { world: world(), robot: robot(), position: [0.0; 3], yaw: 0.0 };
    let marks = vec![LandMark { id: 1, angle: 0.5, distance: 2.0 }];
    let cases = [
        (joints.clone(), Reply::True, Outcome::Verdict(true)),
        (joints, Reply::False, Outcome::Verdict(false)),
        (place, Reply::True, Outcome::Verdict(true)),
        (a_move(), Reply::False, Outcome::Verdict(false)),
        (
            Request::GetOdometry { world: world(), robot: robot() },
            Reply::Doubles(vec![1.0; 3]),
            Outcome::Values(vec![1.0; 3]),
        ),
        (
            Request::GetLaserData { world: world(), laser: robot() },
            Reply::Doubles(vec![1.0; 541]),
            Outcome::Values(vec![1.0; 541]),
        ),
        (
            Request::GetLaserLandMarks { world: world(), laser: robot() },
            Reply::LandMarks(marks.clone()),
            Outcome::LandMarks(marks),
        ),
    ];
    for (request, reply, outcome) in cases {
        let mut fixture = ClientFixture::connected();
        let id = fixture.call(request);
        fixture.reply(reply);
        fixture.result(id, outcome);
    }
    let mut fixture = ClientFixture::connected();
    let id = fixture.call(location("x"));
    fixture.reply(Reply::False);
    let event = fixture.client.poll_event();
    assert!(
        matches!(&event, Some(ClientEvent::Result { id: of, outcome: Outcome::Refused(Refusal::UnknownName(_)) })
            if *of == id),
        "{event:?}"
    );
}

/// An original server does not answer unknown names. A late answer must not be taken for that to the next question.
#[test]
fn silence_ends_the_call_and_the_connection() {
    let mut fixture = ClientFixture::connected();
    let first = fixture.call(location("nobody"));
    let second = fixture.call(location("pieza"));
    fixture.sent();
    assert_eq!(fixture.client.poll_timeout(), Some(fixture.now + Duration::from_secs(1)));
    fixture.pass(999);
    assert_eq!(fixture.client.poll_event(), None);
    fixture.pass(1);
    assert_eq!(fixture.client.poll_event(), Some(ClientEvent::Disconnected));
    fixture.refused(first, Refusal::TimedOut);
    fixture.reply(Reply::Doubles(vec![9.0; 6]));
    assert_eq!((fixture.sent(), fixture.client.poll_event()), (vec![], None));
    fixture.connect();
    assert_eq!(fixture.sent(), [b"aa\x0d\0G\0\x06pieza\0"]);
    fixture.reply(Reply::Doubles(vec![1.0; 6]));
    fixture.result(second, Outcome::Values(vec![1.0; 6]));
    assert_eq!(fixture.client.statistics().timeouts, 1);
}

#[test]
fn without_a_server_calls_are_refused_at_once() {
    let mut fixture = ClientFixture::new(ClientConfig::default());
    // The first attempt may succeed, so the call waits for it.
    let waits = fixture.call(location("x"));
    assert!(fixture.client.poll_connect(fixture.now));
    assert_eq!(fixture.client.poll_event(), None);
    let mut pauses = Vec::new();
    for _ in 0..7 {
        fixture.client.handle_connect_failed(fixture.now);
        let next = fixture.client.poll_timeout().unwrap();
        pauses.push((next - fixture.now).as_millis());
        fixture.now = next;
        assert!(fixture.client.poll_connect(fixture.now));
    }
    assert_eq!(pauses, [100, 200, 400, 800, 1600, 2000, 2000]);
    fixture.refused(waits, Refusal::NotConnected);
    for request in [location("x"), update(), a_move()] {
        let id = fixture.call(request);
        fixture.refused(id, Refusal::NotConnected);
    }
    fixture.client.handle_connected(fixture.now);
    assert_eq!(fixture.client.poll_event(), Some(ClientEvent::Connected));
    assert_eq!(fixture.sent(), Vec::<Vec<u8>>::new(), "refused calls are not sent later");
}

#[test]
fn a_lost_connection_is_made_again() {
    let mut fixture = ClientFixture::connected();
    let open = fixture.call(location("x"));
    let waiting = fixture.call(location("y"));
    fixture.client.handle_bytes(fixture.now, b"aa\x37\0D\x06\0");
    fixture.client.handle_disconnected(fixture.now);
    assert_eq!(fixture.client.poll_event(), Some(ClientEvent::Disconnected));
    fixture.refused(open, Refusal::NotConnected);
    fixture.sent();
    assert!(!fixture.client.poll_connect(fixture.now), "pause after the server closed the connection");
    fixture.pass(100);
    fixture.connect();
    assert_eq!(fixture.sent(), [b"aa\x09\0G\0\x02y\0"]);
    // The beginning of an answer on the old connection is discarded.
    fixture.reply(Reply::Doubles(vec![2.0; 6]));
    fixture.result(waiting, Outcome::Values(vec![2.0; 6]));
}

#[test]
fn answers_that_do_not_fit_are_counted_and_ignored() {
    let mut fixture = ClientFixture::connected();
    fixture.reply(Reply::True);
    let id = fixture.call(location("x"));
    for reply in [Reply::True, Reply::Doubles(vec![0.0; 3]), Reply::LandMarks(vec![])] {
        fixture.reply(reply);
    }
    fixture.client.handle_bytes(fixture.now, b"aa\x05\0Q garbage aa\x07\0D\xff\0");
    assert_eq!(fixture.client.poll_event(), None);
    fixture.reply(Reply::Doubles(vec![0.0; 6]));
    fixture.result(id, Outcome::Values(vec![0.0; 6]));
    let statistics = fixture.client.statistics();
    assert_eq!((statistics.unsolicited, statistics.undecodable, statistics.replies), (4, 2, 1));
}

#[test]
fn a_server_that_does_not_answer_m() {
    let mut fixture = ClientFixture::new(ClientConfig { move_reply: false, ..ClientConfig::default() });
    fixture.connect();
    let id = fixture.call(a_move());
    fixture.result(id, Outcome::Verdict(true));
    assert_eq!(fixture.client.poll_timeout(), None);
}

#[test]
fn what_cannot_be_sent_is_refused_and_holds_nothing_up() {
    let mut fixture = ClientFixture::connected();
    for bad in [location(&"x".repeat(255)), location("a\0b")] {
        let id = fixture.call(bad);
        let event = fixture.client.poll_event();
        assert!(
            matches!(&event, Some(ClientEvent::Result { id: of, outcome: Outcome::Refused(Refusal::NotEncodable(_)) })
                if *of == id),
            "{event:?}"
        );
    }
    let mut bad = a_move();
    if let Request::MoveMRobot { duration, .. } = &mut bad {
        *duration = f64::NAN;
    }
    let id = fixture.call(bad);
    fixture.refused(id, Refusal::NotFinite);
    assert_eq!(fixture.sent(), Vec::<Vec<u8>>::new());
    fixture.call(location("x"));
    assert_eq!(fixture.sent().len(), 1);
}

#[test]
fn the_queue_is_bounded() {
    let mut fixture = ClientFixture::new(ClientConfig { max_waiting: 3, ..ClientConfig::default() });
    fixture.connect();
    let ids: Vec<_> = (0..5).map(|_| fixture.call(location("x"))).collect();
    fixture.refused(ids[4], Refusal::Busy);
    assert_eq!(fixture.sent().len(), 1);
}

/// Both cores connected by a stream that is split into single bytes.
#[test]
fn client_and_server_understand_each_other() {
    let mut fixture = ClientFixture::connected();
    let mut server = Connection::new(ServerConfig::default());
    let (world, robot) = (|| "World 1".to_owned(), || "Pioneer3AT".to_owned());
    let asked = [
        (a_move(), Outcome::Verdict(true)),
        (Request::Update { world: world() }, Outcome::Done),
        (Request::GetOdometry { world: world(), robot: robot() }, Outcome::Values(vec![0.1, 0.2, 0.3])),
        (Request::GetLaserData { world: world(), laser: robot() }, Outcome::Values(vec![20.0; 541])),
        (
            Request::GetLaserLandMarks { world: world(), laser: robot() },
            Outcome::LandMarks(vec![LandMark { id: 300, angle: -1.0, distance: 3.0 }]),
        ),
        (
            Request::SetRobotJoints { world: world(), robot: robot(), values: vec![0.5, 0.23, -0.1] },
            Outcome::Done,
        ),
        (Request::GetLocation { world: world(), object: robot() }, Outcome::Values(vec![1.0; 6])),
    ];
    for (request, outcome) in &asked {
        fixture.call(request.clone());
        for byte in fixture.sent().concat() {
            server.handle_bytes(fixture.now, &[byte]);
        }
        assert_eq!(server.poll_call(fixture.now).as_ref(), Some(request));
        server.handle_outcome(fixture.now, outcome.clone());
        let answer = server.unsent().to_vec();
        server.handle_sent(answer.len());
        for byte in answer {
            fixture.client.handle_bytes(fixture.now, &[byte]);
        }
        let event = fixture.client.poll_event();
        assert!(
            matches!(&event, Some(ClientEvent::Result { outcome: reported, .. }) if reported == outcome),
            "{event:?}"
        );
    }
}

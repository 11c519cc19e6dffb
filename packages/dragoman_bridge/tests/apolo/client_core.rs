//! The client against a scripted server.

use std::time::Duration;

use dragoman_bridge::apolo::wire::{LandMark, Reply, Request, SizeBase};
use dragoman_bridge::apolo::{
    CallId, Client, ClientConfig, ClientEvent, Connection, Outcome, Refusal, ServerConfig,
};
use dragoman_bridge::session::ServerSession;

struct Bench {
    client: Client,
    now: Duration,
    next: u64,
}

impl Bench {
    fn new(config: ClientConfig) -> Self {
        let now = Duration::ZERO;
        Self { client: Client::new(now, config), now, next: 0 }
    }

    fn connected() -> Self {
        let mut bench = Self::new(ClientConfig::default());
        bench.connect();
        bench
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
    let mut bench = Bench::connected();
    let first = bench.call(location("pieza"));
    let second = bench.call(location("Neo"));
    assert_eq!(bench.sent(), [b"aa\x0d\0G\0\x06pieza\0"]);
    assert_eq!(bench.client.poll_event(), None);
    let values = vec![-0.25, 0.2, 0.06, 1.25, 0.6912, 0.9425];
    bench.reply(Reply::Doubles(values.clone()));
    bench.result(first, Outcome::Values(values));
    assert_eq!(bench.sent(), [b"aa\x0b\0G\0\x04Neo\0"]);
    bench.reply(Reply::Doubles(vec![0.0; 6]));
    bench.result(second, Outcome::Values(vec![0.0; 6]));
}

#[test]
fn what_is_never_answered_is_done_when_it_is_sent() {
    let mut bench = Bench::connected();
    let ids: Vec<_> = (0..3).map(|_| bench.call(update())).collect();
    assert_eq!(bench.sent(), vec![b"aa\x06\0U\0".to_vec(); 3]);
    for id in ids {
        bench.result(id, Outcome::Done);
    }
    // It waits for the open question, so that the server processes the calls in order.
    bench.call(location("x"));
    let id = bench.call(update());
    assert_eq!(bench.sent().len(), 1);
    bench.reply(Reply::Doubles(vec![0.0; 6]));
    assert_eq!(bench.sent().len(), 1);
    bench.client.poll_event();
    bench.result(id, Outcome::Done);
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
        let mut bench = Bench::connected();
        let id = bench.call(request);
        bench.reply(reply);
        bench.result(id, outcome);
    }
    let mut bench = Bench::connected();
    let id = bench.call(location("x"));
    bench.reply(Reply::False);
    let event = bench.client.poll_event();
    assert!(
        matches!(&event, Some(ClientEvent::Result { id: of, outcome: Outcome::Refused(Refusal::UnknownName(_)) })
            if *of == id),
        "{event:?}"
    );
}

/// An original server does not answer unknown names. A late answer must not be taken for that to the next question.
#[test]
fn silence_ends_the_call_and_the_connection() {
    let mut bench = Bench::connected();
    let first = bench.call(location("nobody"));
    let second = bench.call(location("pieza"));
    bench.sent();
    assert_eq!(bench.client.poll_timeout(), Some(bench.now + Duration::from_secs(1)));
    bench.pass(999);
    assert_eq!(bench.client.poll_event(), None);
    bench.pass(1);
    assert_eq!(bench.client.poll_event(), Some(ClientEvent::Disconnected));
    bench.refused(first, Refusal::TimedOut);
    bench.reply(Reply::Doubles(vec![9.0; 6]));
    assert_eq!((bench.sent(), bench.client.poll_event()), (vec![], None));
    bench.connect();
    assert_eq!(bench.sent(), [b"aa\x0d\0G\0\x06pieza\0"]);
    bench.reply(Reply::Doubles(vec![1.0; 6]));
    bench.result(second, Outcome::Values(vec![1.0; 6]));
    assert_eq!(bench.client.statistics().timeouts, 1);
}

#[test]
fn without_a_server_calls_are_refused_at_once() {
    let mut bench = Bench::new(ClientConfig::default());
    // The first attempt may succeed, so the call waits for it.
    let waits = bench.call(location("x"));
    assert!(bench.client.poll_connect(bench.now));
    assert_eq!(bench.client.poll_event(), None);
    let mut pauses = Vec::new();
    for _ in 0..7 {
        bench.client.handle_connect_failed(bench.now);
        let next = bench.client.poll_timeout().unwrap();
        pauses.push((next - bench.now).as_millis());
        bench.now = next;
        assert!(bench.client.poll_connect(bench.now));
    }
    assert_eq!(pauses, [100, 200, 400, 800, 1600, 2000, 2000]);
    bench.refused(waits, Refusal::NotConnected);
    for request in [location("x"), update(), a_move()] {
        let id = bench.call(request);
        bench.refused(id, Refusal::NotConnected);
    }
    bench.client.handle_connected(bench.now);
    assert_eq!(bench.client.poll_event(), Some(ClientEvent::Connected));
    assert_eq!(bench.sent(), Vec::<Vec<u8>>::new(), "refused calls are not sent later");
}

#[test]
fn a_lost_connection_is_made_again() {
    let mut bench = Bench::connected();
    let open = bench.call(location("x"));
    let waiting = bench.call(location("y"));
    bench.client.handle_bytes(bench.now, b"aa\x37\0D\x06\0");
    bench.client.handle_disconnected(bench.now);
    assert_eq!(bench.client.poll_event(), Some(ClientEvent::Disconnected));
    bench.refused(open, Refusal::NotConnected);
    bench.sent();
    assert!(!bench.client.poll_connect(bench.now), "pause after the server closed the connection");
    bench.pass(100);
    bench.connect();
    assert_eq!(bench.sent(), [b"aa\x09\0G\0\x02y\0"]);
    // The beginning of an answer on the old connection is discarded.
    bench.reply(Reply::Doubles(vec![2.0; 6]));
    bench.result(waiting, Outcome::Values(vec![2.0; 6]));
}

#[test]
fn answers_that_do_not_fit_are_counted_and_ignored() {
    let mut bench = Bench::connected();
    bench.reply(Reply::True);
    let id = bench.call(location("x"));
    for reply in [Reply::True, Reply::Doubles(vec![0.0; 3]), Reply::LandMarks(vec![])] {
        bench.reply(reply);
    }
    bench.client.handle_bytes(bench.now, b"aa\x05\0Q garbage aa\x07\0D\xff\0");
    assert_eq!(bench.client.poll_event(), None);
    bench.reply(Reply::Doubles(vec![0.0; 6]));
    bench.result(id, Outcome::Values(vec![0.0; 6]));
    let statistics = bench.client.statistics();
    assert_eq!((statistics.unsolicited, statistics.undecodable, statistics.replies), (4, 2, 1));
}

#[test]
fn a_server_that_does_not_answer_m() {
    let mut bench = Bench::new(ClientConfig { move_reply: false, ..ClientConfig::default() });
    bench.connect();
    let id = bench.call(a_move());
    bench.result(id, Outcome::Verdict(true));
    assert_eq!(bench.client.poll_timeout(), None);
}

#[test]
fn what_cannot_be_sent_is_refused_and_holds_nothing_up() {
    let mut bench = Bench::connected();
    for bad in [location(&"x".repeat(255)), location("a\0b")] {
        let id = bench.call(bad);
        let event = bench.client.poll_event();
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
    let id = bench.call(bad);
    bench.refused(id, Refusal::NotFinite);
    assert_eq!(bench.sent(), Vec::<Vec<u8>>::new());
    bench.call(location("x"));
    assert_eq!(bench.sent().len(), 1);
}

#[test]
fn the_queue_is_bounded() {
    let mut bench = Bench::new(ClientConfig { max_waiting: 3, ..ClientConfig::default() });
    bench.connect();
    let ids: Vec<_> = (0..5).map(|_| bench.call(location("x"))).collect();
    bench.refused(ids[4], Refusal::Busy);
    assert_eq!(bench.sent().len(), 1);
}

/// Both cores connected by a stream that is split into single bytes.
#[test]
fn client_and_server_understand_each_other() {
    let mut bench = Bench::connected();
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
        bench.call(request.clone());
        for byte in bench.sent().concat() {
            server.handle_bytes(bench.now, &[byte]);
        }
        assert_eq!(server.poll_call(bench.now).as_ref(), Some(request));
        server.handle_outcome(bench.now, outcome.clone());
        let answer = server.unsent().to_vec();
        server.handle_sent(answer.len());
        for byte in answer {
            bench.client.handle_bytes(bench.now, &[byte]);
        }
        let event = bench.client.poll_event();
        assert!(
            matches!(&event, Some(ClientEvent::Result { outcome: reported, .. }) if reported == outcome),
            "{event:?}"
        );
    }
}

//! The client core by itself: the bytes it sends, and its reaction to every answer.

use std::net::SocketAddr;
use std::time::Duration;

use dragoman_bridge::arm31::wire::Command;
use dragoman_bridge::arm31::{
    ArmCall, CallId, Client, ClientConfig, ClientEvent, CommandMode, MotionEvent, Outcome, Refusal,
};

use crate::arm31::support::{message, plain, text};

const CONTROLLER: ([u8; 4], u16) = ([192, 0, 2, 7], 5031);
const IDENTITY: [f64; 4] = [0.0, 0.0, 0.0, 1.0];

/// A client core on virtual time, by default without polls.
struct Station {
    client: Client,
    now: Duration,
    last_id: u64,
}

impl Station {
    fn quiet() -> Self {
        Self::with(ClientConfig {
            joint_state_period: None,
            pose_period: None,
            temperature_period: None,
            ..ClientConfig::default()
        })
    }

    fn with(config: ClientConfig) -> Self {
        let now = Duration::ZERO;
        let config = ClientConfig { controller: SocketAddr::from(CONTROLLER), ..config };
        Self { client: Client::new(now, config), now, last_id: 0 }
    }

    fn call(&mut self, call: ArmCall) -> CallId {
        self.last_id += 1;
        self.client.handle_call(self.now, CallId(self.last_id), call);
        CallId(self.last_id)
    }

    fn sent(&mut self) -> Vec<[u8; 31]> {
        std::iter::from_fn(|| self.client.poll_transmit())
            .map(|(to, bytes)| {
                assert_eq!(to, SocketAddr::from(CONTROLLER));
                bytes
            })
            .collect()
    }

    fn reply(&mut self, bytes: &[u8]) {
        self.client.handle_datagram(self.now, SocketAddr::from(CONTROLLER), bytes);
    }

    fn events(&mut self) -> Vec<ClientEvent> {
        std::iter::from_fn(|| self.client.poll_event())
            .filter(|event| *event != ClientEvent::Connected)
            .collect()
    }

    /// Advances the time by `milliseconds`, calling the core at each of its deadlines.
    fn pass(&mut self, milliseconds: u64) {
        let end = self.now + Duration::from_millis(milliseconds);
        while let Some(due) = self.client.poll_timeout().filter(|due| *due <= end) {
            assert!(due >= self.now, "time goes forward");
            self.now = due;
            self.client.handle_timeout(due);
        }
        self.now = end;
        self.client.handle_timeout(end);
    }

    fn result(&mut self, id: CallId, outcome: Outcome) {
        assert_eq!(self.events(), [ClientEvent::Result { id, outcome }]);
    }
}

fn goal(x: f64) -> ArmCall {
    ArmCall::SetGoalPose { position: [x, 0.0, 0.0], quaternion_xyzw: IDENTITY, min_duration: 0.0 }
}

#[test]
fn every_call_has_its_request_and_its_answer() {
    let position = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let six = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0];
    let timed = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    let pose = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 7.0];
    let (at, min_duration) = ([1.0, 2.0, 3.0], 7.0);
    let mode = CommandMode::Cartesian;
    let two = [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let cases = [
        (ArmCall::Plain(Command::BeginMotion), plain(b"BG"), plain(b"GB")),
        (ArmCall::Plain(Command::BeginJointMotion), plain(b"jB"), plain(b"Bj")),
        (ArmCall::Plain(Command::ClearJointViaPoints), plain(b"jC"), plain(b"Cj")),
        (ArmCall::Plain(Command::ExecuteJointViaPoints), plain(b"jE"), plain(b"Ej")),
        (ArmCall::Plain(Command::ResetJointMotion), plain(b"jR"), plain(b"Rj")),
        (ArmCall::Plain(Command::Disable), plain(b"OF"), plain(b"FO")),
        (ArmCall::Plain(Command::Enable), plain(b"ON"), plain(b"NO")),
        (ArmCall::Plain(Command::Stop), plain(b"ST"), plain(b"TS")),
        (ArmCall::Plain(Command::ClearViaPoints), plain(b"VC"), plain(b"CV")),
        (ArmCall::Plain(Command::ExecuteViaPoints), plain(b"VE"), plain(b"EV")),
        (ArmCall::SetCommandMode { mode }, message(b"CM", two, 0), message(b"MC", two, 0)),
        (
            ArmCall::SetGoalPose { position: at, quaternion_xyzw: [0.0, 0.0, 0.0, 3.0], min_duration: 0.0 },
            message(b"GL", [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0], 0),
            message(b"LG", [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0], 0),
        ),
        (
            ArmCall::SetGoalPose { position: at, quaternion_xyzw: IDENTITY, min_duration },
            message(b"GT", pose, 0),
            message(b"TG", pose, 0),
        ),
        (
            ArmCall::SetViaPoint { index: 5, position: at, quaternion_xyzw: IDENTITY, min_duration },
            message(b"VP", pose, 5),
            // The original controller echoes the angles that it computed.
            message(b"PV", [1.0, 2.0, 3.0, 1e-7, 0.0, 0.0, 7.0], 5),
        ),
        (
            ArmCall::SetJointGoal { position, min_duration: 0.0 },
            message(b"jG", six, 0),
            // The original controller leaves an old value in the seventh float.
            message(b"Gj", timed, 0),
        ),
        (
            ArmCall::SetJointViaPoint { index: 19, position, min_duration },
            message(b"jV", timed, 19),
            message(b"Vj", timed, 19),
        ),
        (ArmCall::Recalibrate { position }, message(b"RC", six, 0), message(b"CR", six, 0)),
    ];
    for (call, request, answer) in cases {
        let mut station = Station::quiet();
        let id = station.call(call);
        assert_eq!(station.sent(), [request], "{call:?}");
        assert_eq!(station.events(), []);
        station.reply(&answer);
        let done =
            if let ArmCall::SetCommandMode { mode } = call { Outcome::Mode(mode) } else { Outcome::Done };
        station.result(id, done);
        // A duplicate answer changes nothing.
        station.reply(&answer);
        assert_eq!((station.events(), station.client.statistics().unsolicited), (vec![], 1));

        let mut station = Station::quiet();
        let id = station.call(call);
        let letters = String::from_utf8_lossy(&request[..2]).into_owned();
        let (words, refusal) = match letters.as_str() {
            "ON" => ("ER11 Arm did not start".to_owned(), Refusal::DidNotStart),
            "OF" => ("ER10 Arm did not stop".to_owned(), Refusal::DidNotStop),
            _ => (format!("ER20 Cmd {letters} rejected"), Refusal::Rejected),
        };
        station.reply(&text(&words));
        station.result(id, Outcome::Refused(refusal));

        let mut station = Station::quiet();
        let id = station.call(call);
        station.reply(&text(&format!("ER00 Cmd {letters} not understood")));
        station.result(id, Outcome::Refused(Refusal::NotUnderstood));
    }
}

#[test]
fn the_mode_in_force_is_reported_even_if_it_is_another() {
    let mut station = Station::quiet();
    let id = station.call(ArmCall::SetCommandMode { mode: CommandMode::Cartesian });
    station.reply(&message(b"MC", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0));
    station.result(id, Outcome::Mode(CommandMode::Joint));
}

#[test]
fn unusable_values_are_refused_before_they_are_sent() {
    let position = [0.0; 3];
    let bad_goal = |position, quaternion_xyzw, min_duration| ArmCall::SetGoalPose {
        position,
        quaternion_xyzw,
        min_duration,
    };
    for (call, refusal) in [
        (bad_goal([f64::NAN, 0.0, 0.0], IDENTITY, 0.0), Refusal::InvalidValue),
        (bad_goal([1e39, 0.0, 0.0], IDENTITY, 0.0), Refusal::InvalidValue),
        (bad_goal(position, [0.0; 4], 0.0), Refusal::InvalidValue),
        (bad_goal(position, [f64::INFINITY, 0.0, 0.0, 1.0], 0.0), Refusal::InvalidValue),
        (bad_goal(position, IDENTITY, f64::NAN), Refusal::InvalidValue),
        (ArmCall::Recalibrate { position: [f64::NAN; 6] }, Refusal::InvalidValue),
        (ArmCall::SetJointGoal { position: [0.0; 6], min_duration: 2.0 }, Refusal::NotEncodable),
    ] {
        let mut station = Station::quiet();
        let id = station.call(call);
        assert_eq!(station.sent(), Vec::<[u8; 31]>::new(), "{call:?}");
        station.result(id, Outcome::Refused(refusal));
    }
}

#[test]
fn a_negative_duration_counts_as_none() {
    let mut station = Station::quiet();
    let ArmCall::SetGoalPose { position, quaternion_xyzw, .. } = goal(1.0) else { unreachable!() };
    station.call(ArmCall::SetGoalPose { position, quaternion_xyzw, min_duration: -1.0 });
    assert_eq!(station.sent(), [message(b"GL", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 0)]);
    station.call(ArmCall::SetJointGoal { position: [0.0; 6], min_duration: -1e-9 });
    assert_eq!(station.events(), [], "not refused");
}

#[test]
fn a_goal_is_answered_by_the_same_rotation_with_either_sign() {
    for sign in [1.0, -1.0] {
        let mut station = Station::quiet();
        let id = station.call(ArmCall::SetGoalPose {
            position: [1.0, 0.0, 0.0],
            quaternion_xyzw: [0.6, 0.0, 0.0, -0.8],
            min_duration: 0.0,
        });
        station.reply(&message(b"LG", [1.0, 0.0, 0.0, -0.6, 0.0, 0.0, -0.8], 0));
        assert_eq!(station.events(), [], "another rotation");
        station.reply(&message(b"LG", [1.0, 0.0, 0.0, sign * 0.6, 0.0, 0.0, sign * -0.8], 0));
        station.result(id, Outcome::Done);
    }
}

#[test]
fn calls_go_out_in_order_one_at_a_time() {
    let mut station = Station::quiet();
    let first = station.call(goal(1.0));
    let second = station.call(goal(2.0));
    assert_eq!(station.sent().len(), 1);
    // The echo of another goal is not the answer to this one.
    station.reply(&message(b"LG", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 0));
    assert_eq!(station.events(), []);
    station.reply(&message(b"LG", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 0));
    station.result(first, Outcome::Done);
    assert_eq!(station.sent(), [message(b"GL", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 0)]);
    station.reply(&message(b"LG", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 0));
    station.result(second, Outcome::Done);
}

#[test]
fn only_harmless_requests_are_repeated() {
    for (call, copies) in [
        (goal(1.0), 6), // at 0, 0.1, 0.3, 0.7, 1.5 and 3.1 s
        (ArmCall::Plain(Command::Disable), 6),
        (ArmCall::Plain(Command::ResetJointMotion), 6),
        (ArmCall::Plain(Command::Stop), 60),
        (ArmCall::Plain(Command::BeginMotion), 1),
        (ArmCall::Plain(Command::ExecuteViaPoints), 1),
        (ArmCall::Plain(Command::Enable), 1),
        (ArmCall::SetCommandMode { mode: CommandMode::Off }, 1),
        (ArmCall::Recalibrate { position: [0.0; 6] }, 1),
    ] {
        let mut station = Station::quiet();
        let id = station.call(call);
        station.pass(5999);
        assert_eq!(station.events(), []);
        station.pass(1);
        station.result(id, Outcome::Refused(Refusal::TimedOut));
        assert_eq!(station.sent().len(), copies, "{call:?}");
        station.pass(1000);
        assert_eq!(station.client.poll_timeout(), None);
    }
}

/// A late copy of an old goal must not replace a new one: wait until both copies were answered.
#[test]
fn after_a_repeated_request_the_next_one_waits_for_all_copies() {
    let old = message(b"LG", [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0], 0);
    for second_answer in [true, false] {
        let mut station = Station::quiet();
        station.call(goal(1.0));
        station.pass(100);
        assert_eq!(station.sent().len(), 2);
        station.reply(&old);
        station.call(goal(2.0));
        assert_eq!(station.sent().len(), 0);
        if second_answer {
            station.reply(&old);
        } else {
            station.pass(200);
        }
        assert_eq!(station.sent().len(), 1);
    }
}

#[test]
fn a_stop_overtakes_and_cancels_waiting_starts() {
    let mut station = Station::quiet();
    let enable = station.call(ArmCall::Plain(Command::Enable));
    let start = station.call(ArmCall::Plain(Command::BeginMotion));
    let clear = station.call(ArmCall::Plain(Command::ClearViaPoints));
    let stop = station.call(ArmCall::Plain(Command::Stop));
    let again = station.call(ArmCall::Plain(Command::Stop));
    assert_eq!(station.sent(), [plain(b"ON"), plain(b"ST")]);
    station.result(start, Outcome::Refused(Refusal::Stopped));
    station.reply(&plain(b"NO"));
    station.result(enable, Outcome::Done);
    assert_eq!(station.sent().len(), 0, "the rest waits for the stop");
    station.reply(&plain(b"TS"));
    let done = |id| ClientEvent::Result { id, outcome: Outcome::Done };
    assert_eq!(station.events(), [done(stop), done(again)]);
    assert_eq!(station.sent(), [plain(b"VC")]);
    station.reply(&plain(b"CV"));
    station.result(clear, Outcome::Done);
}

#[test]
fn a_start_under_way_is_stopped_once_more() {
    let mut station = Station::quiet();
    let start = station.call(ArmCall::Plain(Command::BeginMotion));
    let stop = station.call(ArmCall::Plain(Command::Stop));
    assert_eq!(station.sent(), [plain(b"BG"), plain(b"ST")]);
    station.reply(&plain(b"TS"));
    assert_eq!(station.events(), []);
    station.reply(&plain(b"GB"));
    station.result(start, Outcome::Done);
    assert_eq!(station.sent(), [plain(b"ST")]);
    station.reply(&plain(b"TS"));
    station.result(stop, Outcome::Done);

    let start = station.call(ArmCall::Plain(Command::BeginMotion));
    let stop = station.call(ArmCall::Plain(Command::Stop));
    station.sent();
    station.reply(&text("ER20 Cmd BG rejected"));
    station.reply(&plain(b"TS"));
    let refused = ClientEvent::Result { id: start, outcome: Outcome::Refused(Refusal::Rejected) };
    assert_eq!(station.events(), [refused, ClientEvent::Result { id: stop, outcome: Outcome::Done }]);
    assert_eq!(station.sent().len(), 0);
}

#[test]
fn slips_of_the_original_controller_are_understood() {
    let mut station = Station::quiet();
    let clear = station.call(ArmCall::Plain(Command::ClearViaPoints));
    station.reply(&plain(b"PV"));
    station.result(clear, Outcome::Done);

    let start = station.call(ArmCall::Plain(Command::Enable));
    station.reply(b"ER11 Arm did not start\0ood\0gx\0\x3f");
    station.result(start, Outcome::Refused(Refusal::DidNotStart));

    let mut station = Station::with(ClientConfig {
        recalibrate_unanswered: true,
        joint_state_period: None,
        pose_period: None,
        temperature_period: None,
        ..ClientConfig::default()
    });
    let id = station.call(ArmCall::Recalibrate { position: [0.0; 6] });
    station.pass(100);
    station.result(id, Outcome::Done);
}

#[test]
fn queries_keep_their_rates_and_become_measurements() {
    let mut station = Station::with(ClientConfig::default());
    let mut counts = [0; 3];
    for _ in 0..1000 {
        for bytes in station.sent() {
            let (count, answer) = match &bytes[..2] {
                b"jP" => (0, message(b"Pj", [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 0.0], 0)),
                b"PS" => (1, message(b"SP", [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0], 0)),
                b"TM" => (2, message(b"MT", [33.0, 32.0, 27.0, -1000.0, -1000.0, -1000.0, -1000.0], 0)),
                other => panic!("{other:?}"),
            };
            counts[count] += 1;
            station.reply(&answer);
        }
        for event in station.events() {
            match event {
                ClientEvent::JointState { position } => assert_eq!(position, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
                ClientEvent::Pose { position, quaternion_xyzw } => {
                    assert_eq!((position, quaternion_xyzw), ([1.0, 2.0, 3.0], IDENTITY));
                }
                ClientEvent::DriveStatus { temperature } => {
                    assert_eq!(temperature, [33.0, 32.0, 27.0, -1000.0, -1000.0, -1000.0]);
                }
                other => panic!("{other:?}"),
            }
        }
        station.pass(1);
    }
    assert_eq!(counts, [40, 40, 1]);
}

#[test]
fn one_query_of_a_kind_is_outstanding_and_a_lost_one_is_asked_again() {
    let config = ClientConfig { pose_period: None, temperature_period: None, ..ClientConfig::default() };
    let mut station = Station::with(config);
    station.pass(1000);
    assert_eq!(station.sent().len(), 11, "every 100 ms when there is no answer");
    station.reply(&text("ER20 Cmd jP rejected"));
    station.pass(25);
    assert_eq!(station.sent().len(), 1, "a refusal is an answer");
    let joints = message(b"Pj", [1.0; 7], 0);
    station.reply(&joints);
    station.reply(&joints);
    assert_eq!(station.events().len(), 1, "a duplicate may be older than the last measurement");
}

#[test]
fn conditions_become_events() {
    let mut station = Station::quiet();
    for (words, event) in [
        ("ER21 Work space limit.", MotionEvent::WorkspaceLimit),
        ("WN12 Joint limit.", MotionEvent::JointLimit),
        ("WN22 Inv Kin Divergence.", MotionEvent::InverseKinematicsDivergence),
    ] {
        station.reply(&text(words));
        assert_eq!(station.events(), [ClientEvent::Motion(event)]);
    }
}

#[test]
fn the_connection_and_its_loss_are_reported() {
    let mut station = Station::with(ClientConfig::default());
    assert!(!station.client.is_connected());
    station.pass(5000);
    assert_eq!(station.client.poll_event(), None, "never connected, never lost");
    station.reply(&message(b"Pj", [0.0; 7], 0));
    assert_eq!(station.client.poll_event(), Some(ClientEvent::Connected));
    station.events();
    station.pass(999);
    assert_eq!(station.events(), []);
    station.pass(1);
    assert_eq!(station.events(), [ClientEvent::Lost]);
    station.pass(5000);
    assert_eq!((station.events(), station.client.is_connected()), (vec![], false));
    station.reply(&text("ER20 Cmd jP rejected"));
    assert_eq!(station.client.poll_event(), Some(ClientEvent::Connected));
}

#[test]
fn foreign_and_broken_datagrams_change_nothing() {
    let mut station = Station::quiet();
    let id = station.call(ArmCall::Plain(Command::Enable));
    let other_address = SocketAddr::from(([192, 0, 2, 7], 5032));
    station.client.handle_datagram(station.now, other_address, &plain(b"NO"));
    for size in 0..=2000 {
        station.reply(&vec![b'N'; size]);
    }
    station.reply(&text("ER99 What?"));
    station.reply(&message(b"SP", [0.0; 7], 0));
    station.reply(&message(b"Pj", [f32::NAN; 7], 0));
    station.reply(&plain(b"ON"));
    assert_eq!((station.events(), station.client.statistics().foreign), (vec![], 1));
    station.reply(&plain(b"NO"));
    station.result(id, Outcome::Done);
}

#[test]
fn too_many_calls_are_refused() {
    let mut station = Station::quiet();
    for _ in 0..=64 {
        station.call(ArmCall::Plain(Command::ClearViaPoints));
    }
    let id = station.call(ArmCall::Plain(Command::ClearViaPoints));
    station.result(id, Outcome::Refused(Refusal::Busy));
}

//! The client core against the server core over a network that loses, duplicates, reorders and delays, with an arm
//! whose services take time and may be carried out in another order than they were called. All on virtual time.

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_bridge::arm31::wire::Command;
use dragoman_bridge::arm31::{
    ArmCall, CallId, Client, ClientConfig, ClientEvent, CommandMode, MotionEvent, Outcome, Refusal, Server,
    ServerConfig,
};
use proptest::prelude::*;

use crate::arm31::support::{Random, client as address};

const HOME: [f64; 6] = [1.5, 0.0, 1.5, 0.0, 1.5, 0.0];

/// Properties of the network, in percent and milliseconds.
#[derive(Debug, Clone, Copy)]
struct Network {
    loss: u64,
    duplication: u64,
    /// Each copy takes between 1 and this many milliseconds independently: later ones overtake earlier ones.
    delay: u64,
    /// Motion starts and stops and their answers are duplicated too.
    duplicates_starts: bool,
}

const PERFECT: Network = Network { loss: 0, duplication: 0, delay: 1, duplicates_starts: false };

#[derive(Debug)]
enum Happening {
    ToServer(Vec<u8>),
    ToClient(Vec<u8>),
    /// The arm carries out a service.
    Execute(CallId, ArmCall),
    /// The service's answer reaches the bridge.
    Result(CallId, Outcome),
}

/// The ROS program on the client's side, the network, and the arm on the server's side.
struct World {
    now: Duration,
    random: Random,
    network: Network,
    client: Client,
    server: Server,
    agenda: BTreeMap<(Duration, u64), Happening>,
    scheduled: u64,
    /// The services that the arm has carried out, and whether it moves.
    executed: Vec<ArmCall>,
    moving: bool,
    /// Set while the last confirmed call is a stop: nothing may move.
    must_stand: bool,
    results: BTreeMap<CallId, Outcome>,
    measurements: usize,
    conditions: usize,
}

impl World {
    fn new(seed: u64, network: Network) -> Self {
        let now = Duration::ZERO;
        let mut server = Server::new(ServerConfig::default());
        server.handle_joint_state(now, &HOME);
        server.handle_pose(now, [0.5, 0.0, 0.2], [0.0, 0.0, 0.0, 1.0]);
        server.handle_drive_status(now, &[30.0; 6]);
        let config = ClientConfig { controller: address(5031), ..ClientConfig::default() };
        Self {
            now,
            random: Random(seed),
            network,
            client: Client::new(now, config),
            server,
            agenda: BTreeMap::new(),
            scheduled: 0,
            executed: Vec::new(),
            moving: false,
            must_stand: false,
            results: BTreeMap::new(),
            measurements: 0,
            conditions: 0,
        }
    }

    fn schedule(&mut self, milliseconds: u64, happening: Happening) {
        self.scheduled += 1;
        self.agenda.insert((self.now + Duration::from_millis(milliseconds), self.scheduled), happening);
    }

    fn transmit(&mut self, bytes: [u8; 31], wrap: fn(Vec<u8>) -> Happening) {
        if self.random.chance(self.network.loss) {
            return;
        }
        let starts_or_stops = matches!(
            &bytes[..2],
            b"BG" | b"jB" | b"jE" | b"VE" | b"ST" | b"GB" | b"Bj" | b"Ej" | b"EV" | b"TS"
        ) || bytes.starts_with(b"ER");
        let duplicate = self.random.chance(self.network.duplication)
            && (self.network.duplicates_starts || !starts_or_stops);
        for _ in 0..=usize::from(duplicate) {
            let delay = 1 + self.random.below(self.network.delay);
            self.schedule(delay, wrap(bytes.to_vec()));
        }
    }

    /// Processes all outputs of both cores.
    fn drain(&mut self) {
        while let Some((_, bytes)) = self.client.poll_transmit() {
            self.transmit(bytes, Happening::ToServer);
        }
        while let Some((to, bytes)) = self.server.poll_transmit() {
            assert_eq!(to, address(1));
            self.transmit(bytes, Happening::ToClient);
        }
        while let Some((id, call)) = self.server.poll_call() {
            let delay = self.random.below(40);
            self.schedule(delay, Happening::Execute(id, call));
        }
        while let Some(event) = self.client.poll_event() {
            match event {
                ClientEvent::Result { id, outcome } => {
                    assert_eq!(self.results.insert(id, outcome), None, "one result for each call");
                }
                ClientEvent::JointState { position } => {
                    assert_eq!(position, HOME);
                    self.measurements += 1;
                }
                ClientEvent::Motion(_) => self.conditions += 1,
                _ => {}
            }
        }
    }

    fn execute(&mut self, id: CallId, call: ArmCall) {
        let outcome = match call {
            ArmCall::Plain(Command::BeginMotion)
            | ArmCall::Plain(Command::BeginJointMotion)
            | ArmCall::Plain(Command::ExecuteJointViaPoints)
            | ArmCall::Plain(Command::ExecuteViaPoints) => {
                if self.moving {
                    Outcome::Refused(Refusal::Rejected)
                } else {
                    assert!(!self.must_stand, "nothing moves after a confirmed stop");
                    self.moving = true;
                    Outcome::Done
                }
            }
            ArmCall::Plain(Command::Stop) => {
                self.moving = false;
                Outcome::Done
            }
            ArmCall::SetCommandMode { mode } => Outcome::Mode(mode),
            _ => Outcome::Done,
        };
        self.executed.push(call);
        let delay = self.random.below(40);
        self.schedule(delay, Happening::Result(id, outcome));
    }

    /// Advances to the next event, but not beyond `end`. `false`: no event before it.
    fn step(&mut self, end: Duration) -> bool {
        self.drain();
        let deadlines = [
            self.agenda.first_key_value().map(|((at, _), _)| *at),
            self.client.poll_timeout(),
            self.server.poll_timeout(),
        ];
        let next = deadlines.into_iter().flatten().min().filter(|next| *next <= end);
        self.now = next.unwrap_or(end).max(self.now);
        self.client.handle_timeout(self.now);
        self.server.handle_timeout(self.now);
        while let Some(entry) = self.agenda.first_entry().filter(|entry| entry.key().0 <= self.now) {
            match entry.remove() {
                Happening::ToServer(bytes) => self.server.handle_datagram(self.now, address(1), &bytes),
                Happening::ToClient(bytes) => self.client.handle_datagram(self.now, address(5031), &bytes),
                Happening::Execute(id, call) => self.execute(id, call),
                Happening::Result(id, outcome) => self.server.handle_outcome(self.now, id, outcome),
            }
        }
        self.drain();
        next.is_some()
    }

    fn pass(&mut self, milliseconds: u64) {
        let end = self.now + Duration::from_millis(milliseconds);
        while self.step(end) {}
    }

    /// Continues until this many calls have ended and the server has no open calls.
    fn settle(&mut self, results: usize) {
        let end = self.now + Duration::from_secs(1000);
        while (self.results.len() < results || self.server.statistics().open_calls > 0) && self.step(end) {}
    }

    fn call(&mut self, id: u64, call: ArmCall) {
        self.client.handle_call(self.now, CallId(id), call);
        self.drain();
    }
}

fn goal(x: f64) -> ArmCall {
    ArmCall::SetGoalPose { position: [x, 0.0, 0.0], quaternion_xyzw: [0.0, 0.0, 0.0, 1.0], min_duration: 0.0 }
}

fn random_call(random: &mut Random, number: u64) -> ArmCall {
    match random.below(12) {
        0 => ArmCall::Plain(Command::BeginMotion),
        1 => ArmCall::Plain(Command::ExecuteViaPoints),
        2 => ArmCall::Plain(Command::BeginJointMotion),
        3 | 4 => ArmCall::Plain(Command::Stop),
        5 => ArmCall::SetCommandMode { mode: CommandMode::Cartesian },
        6 => ArmCall::Plain(Command::Enable),
        7 => ArmCall::SetJointGoal { position: [number as f64; 6], min_duration: 0.0 },
        8 => ArmCall::Plain(Command::ClearViaPoints),
        9 => ArmCall::SetViaPoint {
            index: number as u8,
            position: [1.0, 2.0, 3.0],
            quaternion_xyzw: [0.5, 0.5, 0.5, 0.5],
            min_duration: 1.0,
        },
        _ => goal(number as f64),
    }
}

#[test]
fn over_a_perfect_network_every_call_is_carried_out_once_and_in_order() {
    let mut world = World::new(1, PERFECT);
    for number in 0..60 {
        world.call(number, goal(number as f64));
    }
    world.pass(10_000);
    assert_eq!(world.executed, (0..60).map(|number| goal(f64::from(number))).collect::<Vec<_>>());
    assert!(world.results.len() == 60 && world.results.values().all(|outcome| *outcome == Outcome::Done));
    assert_eq!(world.client.statistics().retransmissions, 0);
    assert!(world.client.is_connected());
    world.server.handle_event(world.now, MotionEvent::JointLimit);
    world.pass(10);
    assert_eq!(world.conditions, 1);
}

#[test]
fn polls_run_at_their_rate() {
    let mut world = World::new(1, PERFECT);
    world.pass(10_000);
    assert!((390..=401).contains(&world.measurements), "{}", world.measurements);
}

#[test]
fn a_dead_controller_is_lost_and_its_return_noticed() {
    let mut world = World::new(1, PERFECT);
    world.pass(100);
    world.network.loss = 100;
    world.call(1, ArmCall::Plain(Command::BeginMotion));
    world.pass(7_100);
    assert_eq!(world.results[&CallId(1)], Outcome::Refused(Refusal::TimedOut));
    assert!(!world.client.is_connected());
    world.network.loss = 0;
    world.pass(200);
    assert!(world.client.is_connected());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(32) })]

    /// On any network, every call gets one result, and the server becomes idle.
    #[test]
    fn every_call_ends(seed: u64, loss in 0..60_u64, duplication in 0..50_u64, delay in 1..150_u64) {
        let mut world = World::new(seed, Network { loss, duplication, delay, duplicates_starts: true });
        for number in 0..40 {
            let call = random_call(&mut world.random, number);
            world.call(number, call);
            let pause = world.random.below(120);
            world.pass(pause);
        }
        world.network = PERFECT;
        world.settle(40);
        prop_assert_eq!(world.results.len(), 40);
        prop_assert_eq!(world.server.statistics().open_calls, 0);
    }

    /// After a stop was reported as done, nothing moves until the next start is requested, although packets overtake
    /// each other and are lost. (A network that delivers an old start again would defeat the protocol itself: its
    /// datagrams have no sequence number. The test's network therefore never duplicates starts and stops.)
    #[test]
    fn a_confirmed_stop_holds(seed: u64, loss in 0..40_u64, duplication in 0..50_u64, delay in 1..80_u64) {
        let mut world = World::new(seed, Network { loss, duplication, delay, duplicates_starts: false });
        let mut last_stop = None;
        for number in 0..60 {
            let call = random_call(&mut world.random, number);
            let is_start = matches!(
                call,
                ArmCall::Plain(Command::BeginMotion) | ArmCall::Plain(Command::BeginJointMotion) | ArmCall::Plain(Command::ExecuteViaPoints)
            );
            if is_start {
                last_stop = None;
                world.must_stand = false;
            } else if call == ArmCall::Plain(Command::Stop) {
                last_stop = Some(CallId(number));
            }
            world.call(number, call);
            let end = world.now + Duration::from_millis(world.random.below(400));
            while world.step(end) {
                if last_stop.is_some_and(|stop| world.results.get(&stop) == Some(&Outcome::Done)) {
                    prop_assert!(!world.moving, "at rest when the stop is confirmed");
                    world.must_stand = true;
                }
            }
        }
    }

    /// The goal in force at the arm is the last one reported as done: late copies of older goals do not replace it.
    #[test]
    fn the_last_goal_holds(seed: u64, loss in 0..50_u64, delay in 1..100_u64) {
        let network = Network { loss, duplication: 0, delay, duplicates_starts: false };
        let mut world = World::new(seed, network);
        for number in 0..20 {
            world.call(number, goal(number as f64));
        }
        world.settle(20);
        prop_assert_eq!(world.results.len(), 20);
        let last_done =
            world.results.iter().rfind(|(_, outcome)| **outcome == Outcome::Done).map(|(id, _)| id.0);
        let in_force = world.executed.iter().rposition(|call| matches!(call, ArmCall::SetGoalPose { .. }));
        if let (Some(last_done), Some(in_force)) = (last_done, in_force) {
            let ArmCall::SetGoalPose { position: [x, ..], .. } = world.executed[in_force] else { unreachable!() };
            prop_assert!(x >= last_done as f64, "{x} after {last_done}");
        }
    }
}

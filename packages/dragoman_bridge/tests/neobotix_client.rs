//! The client core of Neobotix' protocol, on virtual time, connected to a simulated platform.

#[path = "neobotix_client/any_bytes.rs"]
mod any_bytes;
#[path = "neobotix_client/connections.rs"]
mod connections;
#[path = "neobotix_client/questions.rs"]
mod questions;

use std::time::Duration;

use dragoman_bridge::neobotix::status::{MotionMode, Operation};
use dragoman_bridge::neobotix::wire::{
    CanMessages, Command, CommandKind, Decoder, DocumentReply, Framing, Message, MoveVelocity,
    ParameterReply, Position, ProgramDocument, Reply, SetMode, Status,
};
use dragoman_bridge::neobotix::{CallId, Client, ClientConfig, ClientEvent, Loss, Outcome, Refusal};

const MS: Duration = Duration::from_millis(1);

/// A platform that follows the state chart without delay.
struct Platform {
    decoder: Decoder<Command>,
    received: Vec<Command>,
    status: Status,
    /// Questions that it does not answer.
    ignores: Vec<CommandKind>,
    /// It reads, but neither acts nor answers.
    is_dead: bool,
}

impl Platform {
    fn new() -> Self {
        let status = Status { operation_state: Operation::NotInitialized.into(), ..Status::default() };
        Self {
            decoder: Decoder::default(),
            received: Vec::new(),
            status,
            ignores: Vec::new(),
            is_dead: false,
        }
    }

    fn handle(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.decoder.push(bytes);
        let mut answers = Vec::new();
        while let Some(received) = self.decoder.next().expect("messages") {
            assert_eq!(received.framing, Framing::Header);
            let command = received.message.expect("what the client sends is a command");
            if !self.is_dead
                && let Some(reply) = self.act(&command)
            {
                answers.extend(reply.encode(received.framing).unwrap());
            }
            self.received.push(command);
        }
        answers
    }

    fn act(&mut self, command: &Command) -> Option<Reply> {
        let status = &mut self.status;
        if self.ignores.contains(&command.kind()) {
            return None;
        }
        Some(match command {
            Command::GetStatus => Reply::GetStatus(Box::new(status.clone())),
            Command::GetPosition => Reply::GetPosition(Position::default()),
            Command::GetMap => Reply::GetMap(DocumentReply::default()),
            Command::GetProgram => Reply::GetProgram(ProgramDocument { document: "<program/>".into() }),
            Command::GetCanMessages(_) => Reply::GetCanMessages(CanMessages::default()),
            Command::GetPltfParam(get) => Reply::GetPltfParam(ParameterReply {
                key: get.key.clone(),
                value: "1.50".into(),
                ..ParameterReply::default()
            }),
            other => {
                match other {
                    Command::InitPltf => {
                        status.operation_state = Operation::Ready.into();
                        status.is_initialized = true.into();
                    }
                    Command::Start | Command::Continue
                        if status.operation_state.known() != Some(Operation::NotInitialized) =>
                    {
                        status.operation_state = Operation::Moving.into();
                    }
                    Command::Stop => status.operation_state = Operation::Ready.into(),
                    Command::SetMode(set) => status.motion_mode = set.mode.into(),
                    _ => {}
                }
                return None;
            }
        })
    }
}

struct ClientFixture {
    now: Duration,
    client: Client,
    platform: Platform,
    events: Vec<ClientEvent>,
    /// Whether connection attempts succeed.
    is_there: bool,
    attempts: Vec<Duration>,
    next_id: u64,
}

impl ClientFixture {
    fn new(platform: Platform) -> Self {
        Self::with(platform, ClientConfig::default())
    }

    fn with(platform: Platform, config: ClientConfig) -> Self {
        let now = Duration::ZERO;
        let client = Client::new(now, config);
        let mut fixture = Self {
            now,
            client,
            platform,
            events: Vec::new(),
            is_there: true,
            attempts: Vec::new(),
            next_id: 0,
        };
        fixture.settle();
        fixture
    }

    /// Processes everything that takes no time.
    fn settle(&mut self) {
        loop {
            if self.client.poll_connect(self.now) {
                self.attempts.push(self.now);
                if self.is_there {
                    self.platform.decoder = Decoder::default();
                    self.client.handle_connected(self.now);
                } else {
                    self.client.handle_connect_failed(self.now);
                }
            }
            let bytes = self.client.unsent().to_vec();
            self.client.handle_sent(self.now, bytes.len());
            let answers = self.platform.handle(&bytes);
            self.client.handle_bytes(self.now, &answers);
            self.events.extend(std::iter::from_fn(|| self.client.poll_event()));
            if self.client.unsent().is_empty() && answers.is_empty() {
                return;
            }
        }
    }

    fn run(&mut self, time: Duration) {
        let end = self.now + time;
        let mut turns = 0;
        while let Some(due) = self.client.poll_timeout().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.client.handle_timeout(self.now);
            self.settle();
            turns += 1;
            assert!(turns < 100 + time.as_millis(), "no busy loop");
        }
        self.now = end;
    }

    fn call(&mut self, command: Command) -> CallId {
        let id = CallId(self.next_id);
        self.next_id += 1;
        self.client.handle_call(self.now, id, command);
        self.settle();
        id
    }

    /// The outcome of the call, if it has ended.
    fn outcome(&self, call: CallId) -> Option<&Outcome> {
        let mut results = self.events.iter().filter_map(|event| match event {
            ClientEvent::Result { id, outcome } if *id == call => Some(outcome),
            _ => None,
        });
        let first = results.next();
        assert!(results.next().is_none(), "a call ends once");
        first
    }

    /// Makes a call that ends at once.
    #[track_caller]
    fn ends(&mut self, command: Command) -> Outcome {
        let call = self.call(command);
        self.outcome(call).cloned().expect("an end")
    }

    fn losses(&self) -> Vec<Loss> {
        let losses = self.events.iter().filter_map(|event| match event {
            ClientEvent::Disconnected(loss) => Some(loss.clone()),
            _ => None,
        });
        losses.collect()
    }
}

#[test]
fn the_sequence_of_the_guide_is_confirmed_by_the_status() {
    let mut fixture = ClientFixture::new(Platform::new());
    assert_eq!(fixture.ends(Command::ConnectToPltf), Outcome::Done);
    let start = fixture.call(Command::Start);
    assert_eq!(fixture.outcome(start), None, "it may still occur");
    fixture.run(2000 * MS);
    let refusal = "no effect: the platform is ST_OP_NOT_INITIALIZED in MODE_MOTION_NO";
    match fixture.outcome(start) {
        Some(Outcome::Refused(reason)) => assert_eq!(reason.to_string(), refusal),
        other => panic!("{other:?}"),
    }
    assert_eq!(fixture.ends(Command::InitPltf), Outcome::Done);
    assert_eq!(fixture.ends(Command::SetMode(SetMode { mode: MotionMode::Velocity })), Outcome::Done);
    let velocity = MoveVelocity { translation_mm_per_s: 100, ..Default::default() };
    assert!(matches!(fixture.ends(Command::MoveVel(velocity)), Outcome::Refused(Refusal::NoEffect(_))));
    assert_eq!(fixture.ends(Command::Start), Outcome::Done);
    assert_eq!(fixture.ends(Command::MoveVel(velocity)), Outcome::Done);
    assert_eq!(fixture.ends(Command::Stop), Outcome::Done);
    assert_eq!(fixture.losses(), []);
}

#[test]
fn a_status_from_before_the_command_does_not_count() {
    let mut fixture = ClientFixture::new(Platform::new());
    fixture.platform.status.operation_state = Operation::Moving.into();
    fixture.platform.ignores.push(CommandKind::Stop);
    // The status is queried when due; its answer, already sent, has the state before the command.
    fixture.now += 100 * MS;
    fixture.client.handle_timeout(fixture.now);
    let before = fixture.client.unsent().to_vec();
    let late = fixture.platform.handle(&before);
    fixture.client.handle_sent(fixture.now, before.len());
    fixture.platform.ignores.clear();
    fixture.client.handle_call(fixture.now, CallId(9), Command::Start);
    fixture.platform.status.operation_state = Operation::Ready.into();
    fixture.client.handle_bytes(fixture.now, &late);
    fixture.events.extend(std::iter::from_fn(|| fixture.client.poll_event()));
    assert_eq!(fixture.outcome(CallId(9)), None);
    fixture.settle();
    assert_eq!(fixture.outcome(CallId(9)), Some(&Outcome::Done));
}

#[test]
fn it_polls_at_its_rates_and_no_faster() {
    let mut fixture = ClientFixture::new(Platform::new());
    fixture.run(10_000 * MS);
    let count = |kind| fixture.platform.received.iter().filter(|command| command.kind() == kind).count();
    assert_eq!(count(CommandKind::GetStatus), 101);
    assert_eq!(count(CommandKind::GetPosition), 201);
    assert_eq!(count(CommandKind::GetMap), 2);
    let count = |fits: fn(&ClientEvent) -> bool| fixture.events.iter().filter(|event| fits(event)).count();
    assert_eq!(count(|event| matches!(event, ClientEvent::Status(_))), 101);
    assert_eq!(count(|event| matches!(event, ClientEvent::Position(_))), 201);
    assert_eq!(count(|event| matches!(event, ClientEvent::Map(_))), 2);
}

#[test]
fn velocities_that_are_not_repeated_end() {
    let mut fixture = ClientFixture::new(Platform::new());
    let velocity = |speed| MoveVelocity { translation_mm_per_s: speed, ..Default::default() };
    let sent = |fixture: &ClientFixture| {
        let velocities = fixture.platform.received.iter().filter_map(|command| match command {
            Command::MoveVel(velocity) => Some(velocity.translation_mm_per_s),
            _ => None,
        });
        velocities.collect::<Vec<_>>()
    };
    // A flood: the first is sent at once, of the others only the last one.
    for speed in 1..=1000 {
        fixture.client.handle_velocity(fixture.now, velocity(speed));
    }
    fixture.settle();
    assert_eq!(sent(&fixture), [1]);
    fixture.run(599 * MS);
    assert_eq!(sent(&fixture), [1, 1000]);
    fixture.run(5000 * MS);
    assert_eq!(sent(&fixture), [1, 1000, 0], "one stop");
    fixture.client.handle_velocity(fixture.now, velocity(7));
    fixture.client.handle_velocity(fixture.now, velocity(0));
    fixture.run(5000 * MS);
    assert_eq!(sent(&fixture), [1, 1000, 0, 7, 0]);
    // Velocities that could not be sent are not sent later.
    fixture.client.handle_disconnected(fixture.now, "gone");
    fixture.client.handle_velocity(fixture.now, velocity(9));
    fixture.run(5000 * MS);
    assert_eq!(sent(&fixture).len(), 5);
}

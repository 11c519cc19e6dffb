use super::*;
use crate::codes::PlannerState;
use crate::documents::{Document, Program as ProgramDocument};
use crate::wire::Coded;

fn program(steps: &str) -> Program {
    let text = format!(
        "<program><task name=\"t\">{steps}</task><task name=\"help\"><log message=\"h\"/></task></program>"
    );
    (&ProgramDocument::read(text.as_bytes()).unwrap()).into()
}

struct RemoteFixture {
    remote: Remote,
    status: Status,
    debug: DebugData,
    battery_charge: Option<f64>,
    now: Duration,
}

impl RemoteFixture {
    fn new(steps: &str) -> Self {
        let status = Status {
            operation_state: Operation::Moving.into(),
            motion_mode: MotionMode::Automatic.into(),
            ..Status::default()
        };
        let remote = Remote::new(program(steps), Equipment::default()).unwrap();
        Self { remote, status, debug: DebugData::default(), battery_charge: None, now: Duration::ZERO }
    }

    /// A cycle 0.1 s after the last one.
    fn cycle(&mut self) -> Result<Vec<Order>, Interrupted> {
        self.now += Duration::from_millis(100);
        let observation = Observation {
            now: self.now,
            date: Date::default(),
            status: &self.status,
            debug: Some(&self.debug),
            true_parameters: &[],
            user_events: &[],
            battery_charge: self.battery_charge,
        };
        self.remote.cycle(&observation, None)
    }

    /// The commands of motions that a cycle starts.
    fn moves(&mut self) -> Vec<(MotionNumber, Command)> {
        let orders = self.cycle().unwrap().into_iter();
        orders
            .filter_map(|order| match order {
                Order::Move { number, command } => Some((number, command)),
                _ => None,
            })
            .collect()
    }

    fn messages(&mut self) -> Vec<String> {
        let orders = self.cycle().unwrap().into_iter();
        orders
            .filter_map(|order| if let Order::Log { message, .. } = order { Some(message) } else { None })
            .collect()
    }
}

const DRIVE: &str = "<motion><settarget><coord x=\"1500\" y=\"-20\" angle=\"90\"/></settarget></motion>";

#[test]
fn a_target_counts_once_its_motion_was_seen() {
    let mut fixture = RemoteFixture::new(&format!("{DRIVE}<wait><target/></wait><log message=\"there\"/>"));
    fixture.status.is_target_reached = true.into();
    let frame = Frame { x_mm: 1500, y_mm: -20, angle_mdeg: 90_000 };
    let moves = fixture.moves();
    assert!(matches!(&moves[..], [(_, Command::MoveAbs(found))] if *found == frame), "{moves:?}");
    // The status is still that of an earlier motion.
    assert!(fixture.messages().is_empty());
    fixture.status.is_target_reached = false.into();
    assert!(fixture.messages().is_empty());
    assert_eq!(fixture.remote.interpreter().moving_task(), Some("t"));
    fixture.status.is_target_reached = true.into();
    assert_eq!(fixture.messages(), ["there"]);
    assert!(fixture.remote.has_ended());
}

#[test]
fn a_target_that_was_reached_already_counts_after_a_while() {
    let mut fixture = RemoteFixture::new(&format!("{DRIVE}<wait><target/></wait><log message=\"there\"/>"));
    fixture.status.is_target_reached = true.into();
    fixture.cycle().unwrap();
    // 1 s from the first status after the command; cycles are 0.1 s apart.
    for _ in 0..10 {
        assert!(fixture.messages().is_empty());
    }
    assert_eq!(fixture.messages(), ["there"]);
}

#[test]
fn a_motion_fails_by_the_planner_or_a_refusal() {
    let follow =
        "<motion><moveto onErrorTask=\"help\"><trackedperson/></moveto></motion><wait timeout=\"60000\"/>";
    let mut fixture = RemoteFixture::new(follow);
    assert!(fixture.remote.needs_debug_data());
    // No person is seen.
    let orders = fixture.cycle().unwrap();
    assert_eq!(orders, [Order::MotionFailed("the position of the Person is unknown".to_owned())]);
    assert_eq!(fixture.messages(), ["h"]);

    let mut fixture = RemoteFixture::new(follow);
    fixture.debug.person_clusters =
        vec![Cluster { x_mm: 9000, ..Cluster::default() }, Cluster { x_mm: 3000, y_mm: 0, index: 1 }];
    // A failure of an earlier motion.
    fixture.status.planner_state = PlannerState::NoPath.into();
    let frame = Frame { x_mm: 2050, y_mm: 0, angle_mdeg: 0 };
    let moves = fixture.moves();
    assert!(matches!(&moves[..], [(_, Command::MoveAbs(found))] if *found == frame), "{moves:?}");
    assert!(fixture.cycle().unwrap().is_empty());
    fixture.status.planner_state = PlannerState::Planning.into();
    assert!(fixture.cycle().unwrap().is_empty());
    fixture.status.planner_state = PlannerState::NoPath.into();
    let orders = fixture.cycle().unwrap();
    assert!(matches!(&orders[..], [Order::MotionFailed(_), Order::Log { .. }]), "{orders:?}");

    let mut fixture = RemoteFixture::new(follow);
    fixture.debug.person_clusters = vec![Cluster { x_mm: 3000, ..Cluster::default() }];
    let moves = fixture.moves();
    fixture.remote.handle_motion_refused(moves[0].0);
    assert_eq!(fixture.messages(), ["h"]);
}

/// The local mode starts the error task when the platform aborts a motion because it has missed the target, or the map
/// was changed. The planner is then idle.
#[test]
fn a_motion_that_the_platform_aborts_has_failed() {
    let mut fixture = RemoteFixture::new(
        "<motion><moveto onErrorTask=\"help\"><trackedperson/></moveto></motion><wait><target/></wait>",
    );
    fixture.debug.person_clusters = vec![Cluster { x_mm: 3000, ..Cluster::default() }];
    assert_eq!(fixture.moves().len(), 1);
    assert!(fixture.cycle().unwrap().is_empty(), "planning has not begun");
    fixture.status.planner_state = PlannerState::PathFound.into();
    assert!(fixture.cycle().unwrap().is_empty());
    fixture.status.planner_state = PlannerState::Standby.into();
    let orders = fixture.cycle().unwrap();
    let failed = Order::MotionFailed("the planner reports PLANNER_STANDBY".to_owned());
    assert!(matches!(&orders[..], [first, Order::Log { .. }] if *first == failed), "{orders:?}");
    assert_eq!(fixture.remote.interpreter().moving_task(), None);
}

/// Of two motions of one cycle, the first one is refused.
#[test]
fn a_refused_motion_starts_its_own_error_task() {
    let text = "<program>\
        <task name=\"a\"><motion><moveto onErrorTask=\"no person\"><trackedperson/></moveto></motion></task>\
        <task name=\"b\"><motion><moveto onErrorTask=\"no ball\"><trackedball/></moveto></motion></task>\
        <task name=\"no person\"><log message=\"no person\"/></task>\
        <task name=\"no ball\"><log message=\"no ball\"/></task></program>";
    let program = || Program::from(&ProgramDocument::read(text.as_bytes()).unwrap());
    let mut fixture = RemoteFixture::new("");
    fixture.remote = Remote::new(program(), Equipment::default()).unwrap();
    fixture.debug.person_clusters = vec![Cluster { x_mm: 3000, ..Cluster::default() }];
    fixture.debug.ball_clusters = vec![Cluster { x_mm: 4000, ..Cluster::default() }];
    let moves = fixture.moves();
    assert_eq!(moves.len(), 2);
    fixture.remote.handle_motion_refused(moves[0].0);
    assert_eq!(fixture.remote.interpreter().moving_task(), Some("b"));
    assert_eq!(fixture.messages(), ["no person"]);
    assert!(!fixture.remote.has_ended(), "the motion of b is under way");

    // The second one cannot be commanded: then the first one ends, as in the local mode.
    fixture.remote = Remote::new(program(), Equipment::default()).unwrap();
    fixture.debug.ball_clusters.clear();
    let orders = fixture.cycle().unwrap();
    let [Order::Move { .. }, stop, start, Order::MotionFailed(_)] = &orders[..] else {
        panic!("{orders:?}");
    };
    assert_eq!([stop, start], [&Order::Send(Command::Stop), &Order::Send(Command::Start)]);
    assert_eq!(fixture.messages(), ["no ball"]);
    assert!(fixture.remote.has_ended());
}

#[test]
fn effects_are_commands() {
    let mut fixture = RemoteFixture::new(
        "<ioevent><digitalout D1=\"1\" D12=\"0\"/></ioevent><motion stop=\"1\"/><audio><speak text=\"a\"/></audio>\
         <turnhead angle=\"-45\"/><parameter><set key=\"SirenEnabled\" value=\"true\"/></parameter>\
         <surveillance><grab filename=\"f\" grabscan=\"true\" grabimage=\"true\"/></surveillance><load map=\"m\"/>",
    );
    let output = |channel, is_high| {
        Order::Send(Command::SetDigout(SetDigitalOutput { board: Board::Io, channel, is_high }))
    };
    let set = SetParameter { key: "SirenEnabled".into(), value: "true".into() };
    let file = || "f".to_owned();
    let expected = [
        output(0, true),
        output(11, false),
        Order::Send(Command::Stop),
        Order::Send(Command::Start),
        Order::Send(Command::SpeakText(SpeakText { text: "a".into() })),
        Order::Send(Command::SetPosHeadDrive(HeadPosition { angle_deg: -45 })),
        Order::Send(Command::SetPltfParam(set)),
        Order::Send(Command::GrabImage(FileName { file_name: "f".into() })),
        Order::SaveScan { file_name: file() },
        Order::Load { map: Some("m".to_owned()), roadmap: None },
    ];
    assert_eq!(fixture.cycle().unwrap()[..expected.len()], expected);
}

#[test]
fn a_stopped_platform_ends_the_program_and_a_paused_one_waits() {
    let mut fixture = RemoteFixture::new("<log message=\"a\"/>");
    fixture.status.operation_state = Operation::Broken.into();
    assert_eq!(fixture.cycle(), Ok(Vec::new()));
    fixture.status.operation_state = Operation::Ready.into();
    let error = fixture.cycle().unwrap_err().to_string();
    assert_eq!(error, "the platform is ST_OP_READY in MODE_MOTION_AUTOMATIC: it was stopped by others");
    fixture.status.emergency_state = Coded::from(Emergency::Active);
    assert_eq!(fixture.cycle().unwrap_err().to_string(), "emergency stop: ST_EM_ACTIVE");
}

#[test]
fn unsupported_instructions_are_found_before_the_start() {
    let program = program(
        "<motion><moveto><chargingstation/></moveto></motion><wait><batterycharge limit=\"80\"/></wait>\
         <wait><infrared direction=\"above\"/></wait><wait><radar direction=\"4\"/><infrared/></wait>",
    );
    let found = |equipment: &Equipment| -> Vec<_> {
        unsupported(&program, equipment).into_iter().map(|(task, at, _)| (task, at)).collect()
    };
    let steps = |steps: &[usize]| steps.iter().map(|at| ("t".to_owned(), *at)).collect::<Vec<_>>();
    let mut equipment = Equipment::default();
    assert_eq!(found(&equipment), steps(&[0, 1, 2]));
    equipment.sensor_directions[2] = "above".to_owned();
    for charge in [ChargeSource::Voltage([22.0, 26.0]), ChargeSource::Observed] {
        equipment.charge = charge;
        assert_eq!(found(&equipment), steps(&[0]));
    }
}

#[test]
fn the_equipment_has_directions_and_the_charge() {
    let text = "<wait><infrared direction=\"left\"/></wait><log message=\"left\"/>\
        <wait><radar direction=\"rear\"/></wait><log message=\"rear\"/>\
        <wait><batterycharge limit=\"75\"/></wait><log message=\"charged\"/>";
    let mut fixture = RemoteFixture::new("");
    let equipment = Equipment { charge: ChargeSource::Voltage([22.0, 26.0]), ..Equipment::default() };
    assert!(unsupported(&program(text), &equipment).is_empty());
    fixture.remote = Remote::new(program(text), equipment).unwrap();
    fixture.status.surveillance.infrared[0] = true.into();
    assert_eq!(fixture.messages(), ["h"], "of the other task");
    fixture.status.surveillance.infrared[1] = true.into();
    assert_eq!(fixture.messages(), ["left"]);
    fixture.status.radar_board.velocity_mm_per_s[2] = -200;
    assert_eq!(fixture.messages(), ["rear"]);
    fixture.status.io_board.battery_voltage = 24_900;
    assert!(fixture.messages().is_empty());
    // Only the source that the equipment has counts.
    fixture.battery_charge = Some(1.0);
    assert!(fixture.messages().is_empty());
    fixture.status.io_board.battery_voltage = 25_000;
    assert_eq!(fixture.messages(), ["charged"]);
}

#[test]
fn an_observed_charge_is_used_as_it_is() {
    let text = "<wait><batterycharge limit=\"75\"/></wait><log message=\"charged\"/>";
    let mut fixture = RemoteFixture::new("");
    let equipment = Equipment { charge: ChargeSource::Observed, ..Equipment::default() };
    fixture.remote = Remote::new(program(text), equipment).unwrap();
    fixture.status.io_board.battery_voltage = 30_000;
    assert_eq!(fixture.messages(), ["h"], "of the other task");
    for unknown in [None, Some(f64::NAN), Some(0.74)] {
        fixture.battery_charge = unknown;
        assert!(fixture.messages().is_empty(), "{unknown:?}");
    }
    fixture.battery_charge = Some(0.75);
    assert_eq!(fixture.messages(), ["charged"]);
}

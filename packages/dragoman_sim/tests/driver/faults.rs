//! Every fault at every phase: all axes stop, the reason is reported, and after the fault is removed the arm continues
//! without a restart of the driver and without a jump.

use std::time::Duration;

use canopen_rs::NodeId;
use dragoman_arm::driver::{AxisConfig, ControlMode, Event, Fault as DriverFault, GroupConfig, GroupState};
use dragoman_arm::simpliq::{Argument, Command, DriveRequest, objects};
use dragoman_io::can::{BusFault, Frame};
use dragoman_sim::device::Fault;
use dragoman_sim::whistle::{Whistle, WhistleSettings};

use super::lab::{COUNTS_PER_REVOLUTION, Lab, six};

/// The drive that fails, node 103.
const FAILING_DRIVE: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    StartUp,
    Idle,
    Moving,
}

const PHASES: [Phase; 3] = [Phase::StartUp, Phase::Idle, Phase::Moving];

impl Phase {
    /// A lab in this phase.
    fn lab(self) -> Lab {
        match self {
            Self::StartUp => {
                let mut lab = Lab::new(six());
                // In the middle of the configuration.
                lab.run(0.012);
                assert_eq!(lab.group.state(), GroupState::Unconfigured);
                lab
            }
            Self::Idle => Lab::enabled(six()),
            Self::Moving => {
                let mut lab = Lab::enabled(six());
                let target: Vec<f64> = lab.positions().iter().map(|position| position + 2.0).collect();
                lab.group.command(lab.now, None, &target).unwrap();
                lab.run(0.5);
                assert!(lab.is_moving());
                lab
            }
        }
    }
}

/// Injects a fault at each phase and removes it. `reasons`: texts of which the reported reason must contain one.
fn matrix(reasons: &[&str], inject: fn(&mut Lab), remove: fn(&mut Lab)) {
    for phase in PHASES {
        let mut lab = phase.lab();
        inject(&mut lab);
        lab.run(1.0);
        let reported = lab.group.fault().map(ToString::to_string).unwrap_or_default();
        assert!(
            reasons.iter().any(|reason| reported.contains(reason)),
            "{phase:?}: reported '{reported}', {:?}",
            lab.events
        );
        assert!(!lab.is_moving(), "{phase:?}: all axes stand");
        let expected = if phase == Phase::StartUp { GroupState::Unconfigured } else { GroupState::Faulted };
        assert_eq!(lab.group.state(), expected, "{phase:?}");
        let refusal = lab.group.enable().unwrap_err().to_string();
        assert!(!refusal.is_empty(), "{phase:?}");

        remove(&mut lab);
        recover(&mut lab, phase);
    }
}

/// From a removed fault to a motion.
fn recover(lab: &mut Lab, phase: Phase) {
    let by = lab.now + Duration::from_secs(10);
    while lab.group.state() != GroupState::Disabled {
        let refused = lab.group.recover().err();
        assert!(lab.now < by, "{phase:?}: {refused:?} {:?}", lab.events);
        lab.run(0.1);
    }
    let shafts = shafts(lab);
    let before = lab.positions();
    lab.group.enable().unwrap();
    lab.until(GroupState::Enabled, 3.0);
    lab.run(0.5);
    for (before, after) in shafts.iter().zip(self::shafts(lab)) {
        assert!((before - after).abs() <= 1.0, "{phase:?}: no jump when it is switched on: {before} {after}");
    }
    let target: Vec<f64> = before.iter().map(|position| position - 0.1).collect();
    lab.group.command(lab.now, None, &target).unwrap();
    lab.run(1.0);
    for (position, target) in lab.positions().iter().zip(&target) {
        assert!((position - target).abs() < 1e-4, "{phase:?}: {position} {target} {:?}", lab.group.fault());
    }
    assert_eq!(lab.group.state(), GroupState::Enabled, "{phase:?}");
}

fn shafts(lab: &Lab) -> Vec<f64> {
    lab.drives.iter().map(Whistle::shaft_counts).collect()
}

fn fail(lab: &mut Lab, fault: Fault) {
    let now = lab.now;
    lab.drives[FAILING_DRIVE].inject(now, fault);
}

fn repair(lab: &mut Lab) {
    lab.drives[FAILING_DRIVE].repair();
}

#[test]
fn bus_off() {
    matrix(
        &["off the bus"],
        |lab| {
            lab.cut = true;
            lab.bus_fault(BusFault::BusOff);
        },
        |lab| {
            lab.cut = false;
            lab.bus_fault(BusFault::Active);
        },
    );
}

#[test]
fn interface_down() {
    matrix(
        &["interface is down"],
        |lab| {
            lab.cut = true;
            lab.bus_fault(BusFault::Down);
        },
        |lab| {
            lab.cut = false;
            lab.bus_fault(BusFault::Up);
        },
    );
}

#[test]
fn a_bus_that_accepts_no_frames() {
    matrix(
        &[
            "takes no frames",
            "has not reported",
            "no answer about",
            "does not answer",
            "heartbeat of the master",
        ],
        |lab| lab.blocked = true,
        |lab| lab.blocked = false,
    );
}

#[test]
fn a_cable_that_is_cut() {
    matrix(
        &["has not reported", "no answer about", "does not answer"],
        |lab| lab.cut = true,
        |lab| lab.cut = false,
    );
}

#[test]
fn a_drive_that_is_silent() {
    let reasons = ["node 103 has not reported", "node 103: no answer", "node 103 does not answer"];
    matrix(&reasons, |lab| fail(lab, Fault::Silent), repair);
}

#[test]
fn a_drive_whose_power_comes_back() {
    for phase in PHASES {
        let mut lab = phase.lab();
        fail(&mut lab, Fault::PowerCycle);
        lab.run(1.0);
        let shaft = lab.drives[FAILING_DRIVE].shaft_counts();
        if phase == Phase::StartUp {
            lab.until(GroupState::Disabled, 3.0);
        } else {
            assert_eq!(lab.group.state(), GroupState::Faulted, "{phase:?}");
            assert!(!lab.is_moving());
            let reported = lab.group.fault().map(ToString::to_string).unwrap_or_default();
            assert!(reported.contains("node 103"), "{reported}");
        }
        lab.run(2.0);
        // Its count started at 0 again, but the joint's position is unchanged, except for the coasting in the meantime.
        let counts_per_radian = COUNTS_PER_REVOLUTION[FAILING_DRIVE] / std::f64::consts::TAU;
        let known = std::f64::consts::FRAC_PI_2 + shaft / counts_per_radian;
        assert!(
            (lab.positions()[FAILING_DRIVE] - known).abs() < 0.1,
            "{phase:?}: {:?} {known}",
            lab.positions()
        );
        recover(&mut lab, phase);
    }
}

#[test]
fn a_drive_that_answers_late() {
    let reasons = ["node 103 has not reported", "node 103: no answer", "node 103 does not answer"];
    matrix(&reasons, |lab| fail(lab, Fault::AnswerLate(Duration::from_millis(300))), repair);
}

#[test]
fn a_heartbeat_that_is_lost() {
    matrix(&["node 103 has not reported"], |lab| lab.muted = Some(0x700 + 103), |lab| lab.muted = None);
}

#[test]
fn a_second_device_with_the_same_number() {
    matrix(
        &["two devices answer as node 103", "node 103"],
        |lab| {
            let mut twin = Whistle::new(NodeId::new(103).unwrap(), WhistleSettings::default());
            twin.handle_timeout(lab.now);
            lab.twin = Some(twin);
        },
        |lab| lab.twin = None,
    );
}

#[test]
fn reports_and_answers_that_come_late_and_together_are_not_a_fault() {
    let patient = Duration::from_millis(500);
    let patient = GroupConfig { feedback_loss: patient, heartbeat_loss: patient, ..six() };
    // Less than the permitted silence of a drive; its heartbeat has a separate time limit.
    for (config, held, between) in [(six(), 0.045, 0.06), (patient, 0.15, 0.01)] {
        let mut lab = Lab::enabled(config);
        for _ in 0..20 {
            lab.held = Some(Vec::new());
            lab.run(held);
            lab.deliver();
            lab.run(between);
        }
        assert_eq!(lab.group.state(), GroupState::Enabled, "{:?}", lab.events);
        assert!(!lab.events.iter().any(|event| matches!(event, Event::Interrupted(_))), "{:?}", lab.events);
    }
}

/// Faults that cannot occur before a drive is on, or whose effect is different then.
#[test]
fn a_drive_that_switches_off_without_a_message() {
    for phase in [Phase::Idle, Phase::Moving] {
        let mut lab = phase.lab();
        fail(&mut lab, Fault::ExitEnabled);
        lab.run(1.0);
        assert!(
            matches!(lab.group.fault(), Some(DriverFault::MotorOff { node: 103, .. })),
            "{:?}",
            lab.group.fault()
        );
        assert!(!lab.is_moving());
        recover(&mut lab, phase);
    }
}

#[test]
fn an_error_passive_controller() {
    for phase in [Phase::Idle, Phase::Moving] {
        let mut lab = phase.lab();
        lab.bus_fault(BusFault::Passive);
        lab.run(1.0);
        assert_eq!(lab.group.fault(), Some(&DriverFault::Bus(BusFault::Passive)));
        assert!(!lab.is_moving());
        assert!(lab.drives.iter().all(|drive| !drive.status().is_motor_on()));
        lab.bus_fault(BusFault::Active);
        recover(&mut lab, phase);
    }
}

#[test]
fn a_storm_of_emergencies() {
    for phase in [Phase::Idle, Phase::Moving] {
        let mut lab = phase.lab();
        fail(&mut lab, Fault::EmergencyStorm { per_second: 10_000 });
        lab.run(1.0);
        assert!(
            matches!(lab.group.fault(), Some(DriverFault::Emergency { node: 103, .. })),
            "{:?}",
            lab.group.fault()
        );
        assert!(!lab.is_moving());
        let records = lab.group.emergencies().records();
        assert_eq!(records.len(), 1, "one line: {records:?}");
        assert!(records[0].count > 9_000, "all are counted: {records:?}");
        repair(&mut lab);
        recover(&mut lab, phase);
    }
}

#[test]
fn an_object_that_is_refused_or_not_answered() {
    for (fault, reason) in [
        (Fault::SdoAbort(objects::HEARTBEAT_CONSUMER.index), "node 103: object 0x1016:1 was refused"),
        (Fault::IgnoreSdo, "node 103: no answer about object"),
    ] {
        let mut lab = Lab::new(six());
        lab.run(0.001);
        fail(&mut lab, fault);
        lab.run(3.0);
        let reported = lab.group.fault().map(ToString::to_string).unwrap_or_default();
        assert!(reported.contains(reason), "{reported}");
        assert_eq!(lab.group.state(), GroupState::Unconfigured);
        repair(&mut lab);
        recover(&mut lab, Phase::StartUp);
    }
}

#[test]
fn foreign_frames_do_no_harm() {
    for phase in PHASES {
        let mut lab = phase.lab();
        // A frame every 100 us, of all services and none of our nodes.
        for turn in 0..10_000_u32 {
            let id = u16::try_from(turn * 37 % 0x800).unwrap();
            let ours = (101..=106).contains(&(id & 0x7f)) || id == 0 || id == 0x80;
            if !ours {
                lab.inject(Frame::standard(id, &turn.to_le_bytes()).unwrap());
            }
            lab.run(0.000_1);
        }
        let expected = if phase == Phase::StartUp { GroupState::Disabled } else { GroupState::Enabled };
        assert_eq!(lab.group.state(), expected, "{phase:?} {:?}", lab.events);
        assert!(!lab.events.iter().any(|event| matches!(event, Event::Fault(_))), "{:?}", lab.events);
    }
}

#[test]
fn drives_stop_by_themselves_within_a_tenth_of_a_second_when_the_driver_is_gone() {
    let mut lab = Phase::Moving.lab();
    // As after `kill -9` of the driver: it neither sends nor receives.
    lab.cut = true;
    lab.run(0.1);
    assert!(!lab.is_moving());
}

#[test]
fn a_drive_whose_reports_are_lost_stops_too() {
    let config = GroupConfig { mode: ControlMode::Velocity, sample_ratio: 28, ..six() };
    let mut lab = Lab::enabled(config);
    for _ in 0..50 {
        lab.group.command_rates(lab.now, ControlMode::Velocity, &[0.3; 6]).unwrap();
        lab.run(0.01);
    }
    assert!(lab.drives.iter().all(Whistle::is_moving));
    // Its reports do not arrive, but it receives our frames and our heartbeat.
    lab.muted = Some(0x480 + 103);
    lab.run(0.25);
    assert!(
        matches!(lab.group.fault(), Some(DriverFault::Silent { node: 103, .. })),
        "{:?}",
        lab.group.fault()
    );
    assert!(!lab.is_moving());
    assert!(!lab.drives[FAILING_DRIVE].status().is_motor_on());
}

#[test]
fn a_drive_that_another_master_switches_on_is_switched_off() {
    let mut lab = Lab::new(six());
    lab.until(GroupState::Disabled, 3.0);
    let on = request_frame(Command::MOTOR, 1);
    let now = lab.now;
    lab.drives[FAILING_DRIVE].handle_frame(now, &on);
    lab.run(0.005);
    assert!(lab.drives[FAILING_DRIVE].status().is_motor_on());
    lab.run(0.2);
    assert!(!lab.drives[FAILING_DRIVE].status().is_motor_on());
}

fn request_frame(command: Command, value: i32) -> Frame {
    let (bytes, length) = DriveRequest::Set(command, Argument::Integer(value)).encode();
    Frame::standard(0x300 + 103, &bytes[..length]).unwrap()
}

#[test]
fn an_error_passive_controller_is_not_switched_on() {
    let mut lab = Lab::new(six());
    lab.until(GroupState::Disabled, 3.0);
    lab.bus_fault(BusFault::Passive);
    assert!(lab.group.enable().unwrap_err().to_string().contains("error-passive"));
    lab.bus_fault(BusFault::Active);
    lab.group.enable().unwrap();
    lab.until(GroupState::Enabled, 3.0);
}

#[test]
fn a_pause_of_the_computer_interrupts_the_motion_and_no_more() {
    let patient = Duration::from_millis(200);
    let config = GroupConfig { lead: Duration::from_millis(40), heartbeat_loss: patient, ..six() };
    let mut lab = Lab::enabled(config);
    let target: Vec<f64> = lab.positions().iter().map(|position| position + 2.0).collect();
    lab.group.command(lab.now, None, &target).unwrap();
    lab.run(0.5);
    // Longer than the drives' set-points last, shorter than their timeout for our heartbeat.
    let pause = Duration::from_millis(55);
    let end = lab.now + pause;
    while lab.now < end {
        lab.now += Duration::from_micros(500);
        let now = lab.now;
        lab.drives.iter_mut().for_each(|drive| drive.handle_timeout(now));
    }
    lab.run(1.0);
    assert_eq!(lab.group.state(), GroupState::Enabled, "{:?} {:?}", lab.group.fault(), lab.events);
    assert!(lab.events.iter().any(|event| matches!(event, Event::Interrupted(_))), "{:?}", lab.events);
    assert!(!lab.is_moving(), "it stands, and waits for a new command");
}

#[test]
fn an_interruption_finds_a_relaxed_joint_at_any_moment() {
    // Without power, and this many milliseconds after the command to resume: on its way, and following again.
    for back in [None, Some(1), Some(3), Some(6), Some(10), Some(15), Some(20), Some(30), Some(60)] {
        let mut lab = Lab::enabled(six());
        lab.group.relax(FAILING_DRIVE).unwrap();
        lab.run(0.3);
        let position = lab.positions()[FAILING_DRIVE];
        if let Some(milliseconds) = back {
            lab.group.command_joint(lab.now, FAILING_DRIVE, position).unwrap();
            lab.run(0.001 * f64::from(milliseconds));
        }
        // The queue of another drive has run empty.
        lab.inject(Frame::standard(0x80 + 101, &[0x00, 0xff, 0x81, 0x08, 1, 0, 1, 0]).unwrap());
        lab.until(GroupState::Enabled, 3.0);
        lab.run(0.5);
        assert!(lab.events.iter().any(|event| matches!(event, Event::Interrupted(_))), "{:?}", lab.events);
        assert_eq!(lab.group.fault(), None, "{back:?}");
        assert!(
            back.is_some() || !lab.drives[FAILING_DRIVE].status().is_motor_on(),
            "it stays without power"
        );
        lab.group.command_joint(lab.now, FAILING_DRIVE, position - 0.1).unwrap();
        lab.run(1.5);
        assert!(
            (lab.positions()[FAILING_DRIVE] - position + 0.1).abs() < 1e-4,
            "{back:?}: {:?}",
            lab.positions()
        );
    }
}

#[test]
fn any_bytes_from_the_bus_are_survived() {
    use proptest::prelude::*;
    let frames = prop::collection::vec((0_u16..0x800, prop::collection::vec(any::<u8>(), 0..=8)), 1..200);
    proptest!(ProptestConfig::with_cases(64), |(frames in frames)| {
        let mut lab = Lab::enabled(six());
        for (id, data) in frames {
            lab.inject(Frame::standard(id, &data).unwrap());
            lab.run(0.001);
        }
    });
}

#[test]
fn only_what_drives_report_is_measured() {
    let mut config = six();
    config.axes[5] = AxisConfig::suppressed(0.25);
    let measured = |lab: &Lab| -> Vec<Option<f64>> {
        lab.group.measured(lab.now).map(|joint| joint.map(|measured| measured.position)).collect()
    };
    let mut lab = Lab::new(config);
    assert_eq!(measured(&lab), [None; 6], "no data yet");
    lab.cut = true;
    lab.run(2.0);
    assert_eq!(measured(&lab), [None; 6], "there is no drive");
    lab.cut = false;
    lab.until(GroupState::Disabled, 5.0);
    let all: Vec<Option<f64>> = lab.positions().into_iter().map(Some).collect();
    assert_eq!(measured(&lab), all);
    // One drive is silent, its process data 4 do not arrive: the others are still measured.
    lab.muted = Some(0x480 + 103);
    lab.run(0.2);
    let without: Vec<bool> = measured(&lab).iter().map(Option::is_some).collect();
    assert_eq!(without, [true, true, false, true, true, true]);
    lab.muted = None;
    lab.until(GroupState::Disabled, 5.0);
    // The bus is lost: nothing is measured, not even the joint without a drive.
    lab.bus_fault(BusFault::Down);
    lab.cut = true;
    lab.run(0.2);
    assert_eq!(measured(&lab), [None; 6]);
    lab.cut = false;
    lab.bus_fault(BusFault::Up);
    lab.until(GroupState::Disabled, 5.0);
    assert!(measured(&lab).iter().all(Option::is_some));
}

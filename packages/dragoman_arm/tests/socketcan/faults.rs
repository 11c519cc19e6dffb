//! Every fault at every phase, like `dragoman_sim/tests/driver/faults.rs` on virtual time: all axes stop, the reason is
//! reported, and after its removal the arm continues without a restart of the driver and without a jump.

use std::process::{Child, Stdio};
use std::time::Duration;

use dragoman_arm::driver::{Event, GroupState};
use dragoman_arm::simpliq::objects;
use dragoman_sim::Fault;
use dragoman_sim::whistle::Whistle;

use crate::arm::{Arm, SimulatedDrives, six};
use crate::support::{Vcan, can_utils, cansend};
use crate::test_name;

/// The drive that fails, node 103.
const FAILING_DRIVE: usize = 2;
const NODE: u8 = 103;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    StartUp,
    /// Switched on, at rest.
    Idle,
    Moving,
}

/// A fault, and the expected reasons.
struct Case {
    /// Allowed reasons if it happens at start-up; empty if the drives are set up in spite of it; `None` if it cannot
    /// happen then.
    start_up: Option<&'static [&'static str]>,
    /// Allowed reasons otherwise.
    reasons: &'static [&'static str],
    inject: fn(&mut Scene),
    clear: fn(&mut Scene),
}

struct Scene {
    arm: Arm,
    /// A second device with the number of one of the drives.
    twin: Option<SimulatedDrives>,
    vcan: Vcan,
}

/// Goes through all phases with one driver, which is never restarted.
fn go_through(test: &str, interface: &'static str, case: &Case) {
    let Some(vcan) = Vcan::new(test, interface) else { return };
    if can_utils(test, "cansend").is_none() {
        return;
    }
    let (ours, simulated) = (vcan.bus(), SimulatedDrives::start(101..=106, vcan.bus()));
    if case.start_up.is_some() {
        // To make the set-up take a while.
        fail_all(&simulated, Fault::AnswerLate(Duration::from_millis(15)));
    }
    let mut scene = Scene { arm: Arm::of(six(), Box::new(ours), simulated), twin: None, vcan };
    if case.start_up.is_some() {
        run_case(&mut scene, case, Phase::StartUp);
    } else {
        scene.arm.enable();
    }
    run_case(&mut scene, case, Phase::Idle);
    scene.arm.set_moving();
    run_case(&mut scene, case, Phase::Moving);
}

/// Injects the fault, removes it, and continues with a motion.
fn run_case(scene: &mut Scene, case: &Case, phase: Phase) {
    scene.arm.events.clear();
    (case.inject)(scene);
    let (reasons, state) = match phase {
        Phase::StartUp => (case.start_up.unwrap_or_default(), GroupState::Unconfigured),
        Phase::Idle | Phase::Moving => (case.reasons, GroupState::Faulted),
    };
    let arm = &mut scene.arm;
    if reasons.is_empty() {
        arm.until_state(GroupState::Disabled);
    } else {
        arm.until(&format!("stopped for {reasons:?} ({phase:?})"), |arm| {
            arm.drives.with(|_, group| {
                let fault = group.fault().map(ToString::to_string).unwrap_or_default();
                let known = reasons.iter().any(|reason| fault.contains(reason));
                known && group.state() == state && group.enable().is_err()
            })
        });
    }
    arm.until("at rest", |arm| !arm.is_moving());
    let shafts = arm.shafts();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(arm.shafts(), shafts, "{phase:?}: all axes stand");

    (case.clear)(scene);
    let arm = &mut scene.arm;
    arm.simulated.rack.drives().iter_mut().for_each(Whistle::repair);
    // What does not stop the drives is only known by the refusal to enable them.
    arm.until(&format!("cleared ({phase:?})"), |arm| {
        arm.drives.with(|_, group| {
            group.recover().is_ok() && group.state() == GroupState::Disabled && group.enable().is_ok()
        })
    });
    arm.until_state(GroupState::Enabled);
    std::thread::sleep(Duration::from_millis(200));
    for (before, after) in shafts.iter().zip(arm.shafts()) {
        assert!((before - after).abs() <= 1.0, "{phase:?}: no jump when it is switched on: {before} {after}");
    }
    let target: Vec<f64> = arm.positions().iter().map(|position| position - 0.1).collect();
    arm.go_to(&target);
    assert!(arm.shafts().iter().zip(&shafts).all(|(after, before)| (after - before).abs() > 1000.0));
}

fn fail(scene: &mut Scene, fault: Fault) {
    let rack = &scene.arm.simulated.rack;
    let now = rack.now();
    rack.drives()[FAILING_DRIVE].inject(now, fault);
}

fn fail_all(simulated: &SimulatedDrives, fault: Fault) {
    let now = simulated.rack.now();
    simulated.rack.drives().iter_mut().for_each(|drive| drive.inject(now, fault));
}

#[test]
fn a_controller_off_the_bus() {
    let reasons = &["off the bus"];
    go_through(
        test_name!(),
        "vcan_off",
        &Case {
            start_up: Some(reasons),
            reasons,
            inject: |scene| cansend(scene.vcan.name, "20000040#0000000000000000"),
            clear: |scene| cansend(scene.vcan.name, "20000100#0000000000000000"),
        },
    );
}

#[test]
fn an_error_passive_controller() {
    go_through(
        test_name!(),
        "vcan_passive",
        &Case {
            start_up: Some(&[]),
            reasons: &["passive"],
            inject: |scene| cansend(scene.vcan.name, "20000004#0020000000008000"),
            clear: |scene| cansend(scene.vcan.name, "20000100#0000000000000000"),
        },
    );
}

#[test]
fn a_bus_that_accepts_no_frames() {
    go_through(
        test_name!(),
        "vcan_enobufs",
        &Case {
            start_up: Some(&["no answer about object", "does not answer", "has not reported"]),
            reasons: &["takes no frames"],
            inject: |scene| scene.vcan.block(),
            clear: |scene| scene.vcan.unblock(),
        },
    );
}

#[test]
fn an_interface_that_goes_down() {
    let reasons = &["interface is down"];
    go_through(
        test_name!(),
        "vcan_goes_down",
        &Case {
            start_up: Some(reasons),
            reasons,
            inject: |scene| scene.vcan.down(),
            clear: |scene| scene.vcan.up(),
        },
    );
}

#[test]
fn an_interface_that_is_deleted_and_made_again() {
    let reasons = &["interface is down"];
    go_through(
        test_name!(),
        "vcan_deleted",
        &Case {
            start_up: Some(reasons),
            reasons,
            inject: |scene| scene.vcan.delete(),
            clear: |scene| {
                scene.vcan.make();
                scene.vcan.up();
            },
        },
    );
}

#[test]
fn a_second_device_with_the_same_number() {
    let reasons = &["node 103"];
    go_through(
        test_name!(),
        "vcan_twin",
        &Case {
            start_up: Some(reasons),
            reasons,
            inject: |scene| scene.twin = Some(SimulatedDrives::start([NODE], scene.vcan.bus())),
            clear: |scene| scene.twin = None,
        },
    );
}

#[test]
fn a_drive_whose_power_comes_back() {
    go_through(
        test_name!(),
        "vcan_power",
        &Case {
            start_up: Some(&[]),
            reasons: &["node 103"],
            inject: |scene| fail(scene, Fault::PowerCycle),
            clear: |_| {},
        },
    );
}

#[test]
fn a_drive_that_is_silent() {
    let reasons = &["node 103 has not reported", "node 103: no answer", "node 103 does not answer"];
    go_through(
        test_name!(),
        "vcan_silent",
        &Case { start_up: Some(reasons), reasons, inject: |scene| fail(scene, Fault::Silent), clear: |_| {} },
    );
}

#[test]
fn a_drive_that_switches_off_without_a_message() {
    go_through(
        test_name!(),
        "vcan_exit",
        &Case {
            start_up: None,
            reasons: &["node 103 has switched its motor off"],
            inject: |scene| fail(scene, Fault::ExitEnabled),
            clear: |_| {},
        },
    );
}

#[test]
fn a_storm_of_emergencies() {
    go_through(
        test_name!(),
        "vcan_storm",
        &Case {
            start_up: Some(&[]),
            reasons: &["node 103: EMCY 0x8110"],
            inject: |scene| fail(scene, Fault::EmergencyStorm { per_second: 10_000 }),
            clear: |scene| {
                let arm = &mut scene.arm;
                arm.simulated.rack.drives()[FAILING_DRIVE].repair();
                // Emergencies that are still on their way.
                let mut before = 0;
                while before != count_emergencies(arm) {
                    before = count_emergencies(arm);
                    std::thread::sleep(Duration::from_millis(200));
                }
                // In the 0.3 s that it has lasted at least.
                assert!(before > 1000, "{before} emergencies");
                let kinds = arm.drives.with(|_, group| group.emergencies().records().len());
                assert!(kinds <= 2, "one line, and perhaps one of something else: {kinds}");
            },
        },
    );
}

fn count_emergencies(arm: &Arm) -> u64 {
    arm.drives.with(|_, group| group.emergencies().records().iter().map(|record| record.count).sum())
}

#[test]
fn a_heartbeat_that_is_lost() {
    go_through(
        test_name!(),
        "vcan_heartbeat",
        &Case {
            start_up: None,
            reasons: &["node 103 has not reported"],
            // The producer's period (object 0x1017) becomes 0, until the drive is set up again.
            inject: |scene| cansend(scene.vcan.name, "667#2B17100000000000"),
            clear: |_| {},
        },
    );
}

/// Objects are written only at set-up, which a drive needs again after a restart.
#[test]
fn an_object_that_is_refused() {
    go_through(
        test_name!(),
        "vcan_abort",
        &Case {
            start_up: Some(&["node 103: object 0x1016:1 was refused"]),
            reasons: &["node 103"],
            inject: |scene| {
                fail(scene, Fault::SdoAbort(objects::HEARTBEAT_CONSUMER.index));
                fail(scene, Fault::PowerCycle);
            },
            clear: cannot_recover,
        },
    );
}

#[test]
fn an_object_access_that_is_not_answered() {
    go_through(
        test_name!(),
        "vcan_timeout",
        &Case {
            start_up: Some(&["node 103: no answer about object"]),
            reasons: &["node 103"],
            inject: |scene| {
                fail(scene, Fault::IgnoreSdo);
                fail(scene, Fault::PowerCycle);
            },
            clear: cannot_recover,
        },
    );
}

fn cannot_recover(scene: &mut Scene) {
    let refused = scene.arm.drives.with(|_, group| group.recover()).unwrap_err().to_string();
    assert!(refused.contains("waiting for node 103"), "{refused}");
}

#[test]
fn a_drive_that_answers_late() {
    let reasons = &["node 103 has not reported", "node 103: no answer", "node 103 does not answer"];
    go_through(
        test_name!(),
        "vcan_answer",
        &Case {
            start_up: Some(reasons),
            reasons,
            inject: |scene| fail(scene, Fault::AnswerLate(Duration::from_millis(600))),
            clear: |_| {},
        },
    );
}

/// `cangen`, killed when dropped.
struct Cangen(Child);

impl Drop for Cangen {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn foreign_frames_at_full_load_do_no_harm() {
    let test = test_name!();
    let Some(vcan) = Vcan::new(test, "vcan_foreign") else { return };
    let Some(mut cangen) = can_utils(test, "cangen") else { return };
    // 8 bytes each, with a pause between them: about as many as 500 kbit/s allows, which is 4200. Without the pause
    // there are many more, but they take processor time from the rest of the emulated machine.
    cangen.args(["-g", "0.01", "-i", "-I", "050", "-L", "8", "-D", "r", vcan.name]);
    let _cangen = Cangen(cangen.stderr(Stdio::null()).spawn().unwrap());
    let sent = || -> u64 {
        let path = format!("/sys/class/net/{}/statistics/tx_packets", vcan.name);
        std::fs::read_to_string(path).unwrap().trim().parse().unwrap()
    };
    let mut arm = Arm::start(six(), vcan.bus(), vcan.bus());
    arm.enable();
    let before = sent();
    std::thread::sleep(Duration::from_secs(1));
    let load = sent() - before;
    assert!(load > 2000, "{load} frames/s");
    let target: Vec<f64> = arm.positions().iter().map(|position| position + 1.0).collect();
    arm.go_to(&target);
    assert!(!arm.events.iter().any(|event| matches!(event, Event::Fault(_))), "{:?}", arm.events);
    assert_eq!(arm.state(), GroupState::Enabled);
}

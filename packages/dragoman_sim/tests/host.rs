//! Control at the host over CAN, with drives that carry the arm (Ranger thesis, 5.2.4).

pub(crate) mod circles;

use circles::{Bench, Who, payload};
use dragoman_arm::driver::{Controller, Fault, State};
use dragoman_kinematics::control::Method;
use dragoman_kinematics::dynamics::Inertia;

const COMPUTED: Who = Who::Host(Method::ComputedTorque);
const ADAPTIVE: Who = Who::Host(Method::Adaptive);

fn fault(bench: &Bench) -> String {
    bench.group.fault().map(Fault::to_string).unwrap_or_default()
}

#[test]
fn the_host_follows_circles_better_than_the_drives_and_learns_a_payload() {
    let errors = |who, load: &Inertia| {
        let mut bench = Bench::enabled(who, load, 14);
        let [mean, most] = bench.circle(5.0, 2.0);
        assert_eq!(bench.group.state(), State::Enabled, "{who:?}: {}", fault(&bench));
        (mean, most, bench.learned())
    };
    let (none, load) = (Inertia::default(), payload());
    let (drives, ..) = errors(Who::Drives, &none);
    for who in [COMPUTED, ADAPTIVE] {
        let (mean, most, mass) = errors(who, &none);
        assert!(mean < 0.3 * drives && most < 5e-4, "{who:?}: {mean} {most}, the drives {drives}");
        assert!(mass < 0.1, "there is no payload: {mass}");
    }
    let (wrong, ..) = errors(COMPUTED, &load);
    let (mean, most, mass) = errors(ADAPTIVE, &load);
    assert!(mean < 0.05 * wrong && most < 5e-4, "{mean} {most}, without learning {wrong}");
    assert!((mass - load.mass).abs() < 0.1, "{mass}");
}

#[test]
fn the_default_cycle_is_fast_enough() {
    let mut bench = Bench::enabled(ADAPTIVE, &payload(), 28);
    let [mean, _] = bench.circle(5.0, 2.0);
    assert_eq!(bench.group.state(), State::Enabled, "{}", fault(&bench));
    assert!(mean < 1e-3, "{mean}");
}

#[test]
fn the_greatest_bandwidth_is_stable() {
    for (sample_ratio, bandwidth) in [(14, 0.2 / 0.00504), (28, 0.2 / 0.01008)] {
        for who in [COMPUTED, ADAPTIVE] {
            let mut bench = Bench::with_bandwidth(who, &Inertia::default(), sample_ratio, bandwidth);
            let [mean, most] = bench.circle(5.0, 1.0);
            assert_eq!(bench.group.state(), State::Enabled, "{who:?}: {}", fault(&bench));
            assert!(mean < 1e-3 && most < 2e-3, "{who:?} {bandwidth}: {mean} {most}");
        }
    }
}

#[test]
fn the_arm_holds_its_place_from_the_moment_the_brakes_open_until_they_close() {
    for who in [Who::Drives, COMPUTED] {
        let mut bench = Bench::enabled(who, &Inertia::default(), 14);
        let home = bench.home().to_vec();
        let off = |bench: &Bench| {
            let joints = bench.joints();
            joints.iter().zip(&home).map(|(q, home)| (q - home).abs()).fold(0.0, f64::max)
        };
        assert!(off(&bench) < 0.005, "{who:?}, on: {}", off(&bench));
        bench.run(1.0);
        assert!(off(&bench) < 0.005, "{who:?}, held: {}", off(&bench));
        bench.group.disable(bench.now);
        bench.until(State::Disabled);
        bench.run(1.0);
        assert!(!bench.is_moving() && off(&bench) < 0.01, "{who:?}, off: {}", off(&bench));
    }
}

#[test]
fn the_drives_brake_when_the_host_is_lost() {
    let mut bench = Bench::enabled(COMPUTED, &payload(), 14);
    let mut goal = bench.home().to_vec();
    goal[3] += 1.0;
    for _ in 0..20 {
        bench.group.command(bench.now, None, &goal).unwrap();
        bench.run(0.01);
    }
    assert!(bench.is_moving());
    let loss = bench.group.config().heartbeat_loss.as_secs_f64();
    let before = bench.joints();
    bench.cut = true;
    bench.run(loss + 0.06);
    assert!(!bench.is_moving(), "within the time of the heartbeat and of braking");
    let after = bench.joints();
    assert!(bench.rack.drives().iter().all(|drive| !drive.status().is_motor_on()));
    for (before, after) in before.iter().zip(&after) {
        assert!((after - before).abs() < 0.3, "{before} to {after}");
    }
    bench.run(2.0);
    assert_eq!(bench.joints(), after, "the brakes hold the arm");
}

#[test]
fn a_controller_that_goes_wrong_is_stopped_by_the_limits_of_the_drives() {
    for (torque, reason) in [
        // Within the current of the drive: the speed, then the position.
        (1e9, "speed limit exceeded"),
        (1.2, "position limit exceeded"),
    ] {
        let mut bench = Bench::enabled(COMPUTED, &Inertia::default(), 14);
        bench.replace(Controller::new(move |_, torques| torques[5] = torque));
        bench.until(State::Faulted);
        assert!(fault(&bench).contains(reason), "{}", fault(&bench));
        bench.run(0.5);
        assert!(!bench.is_moving());
    }
    // Not a number: no current; the arm falls until its drives stop it.
    let mut bench = Bench::enabled(COMPUTED, &Inertia::default(), 14);
    bench.replace(Controller::new(|_, torques| torques.fill(f64::NAN)));
    bench.until(State::Faulted);
    bench.run(0.5);
    assert!(!bench.is_moving());
}

//! Control at the host over CAN, with drives that carry the arm (Ranger thesis, 5.2.4).

pub(crate) mod circles;

use circles::{ControlledBy, Fixture, payload};
use dragoman_arm::driver::{Controller, Fault, GroupState};
use dragoman_kinematics::control::Method;
use dragoman_kinematics::dynamics::Inertia;

const COMPUTED: ControlledBy = ControlledBy::Host(Method::ComputedTorque);
const ADAPTIVE: ControlledBy = ControlledBy::Host(Method::Adaptive);

fn fault(fixture: &Fixture) -> String {
    fixture.group.fault().map(Fault::to_string).unwrap_or_default()
}

#[test]
fn the_host_follows_circles_better_than_the_drives_and_learns_a_payload() {
    let errors = |who, load: &Inertia| {
        let mut fixture = Fixture::enabled(who, load, 14);
        let [mean, most] = fixture.circle(5.0, 2.0);
        assert_eq!(fixture.group.state(), GroupState::Enabled, "{who:?}: {}", fault(&fixture));
        (mean, most, fixture.learned())
    };
    let (none, load) = (Inertia::default(), payload());
    let (drives, ..) = errors(ControlledBy::Drives, &none);
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
    let mut fixture = Fixture::enabled(ADAPTIVE, &payload(), 28);
    let [mean, _] = fixture.circle(5.0, 2.0);
    assert_eq!(fixture.group.state(), GroupState::Enabled, "{}", fault(&fixture));
    assert!(mean < 1e-3, "{mean}");
}

#[test]
fn the_maximum_bandwidth_is_stable() {
    for (sample_ratio, bandwidth) in [(14, 0.2 / 0.00504), (28, 0.2 / 0.01008)] {
        for who in [COMPUTED, ADAPTIVE] {
            let mut fixture = Fixture::with_bandwidth(who, &Inertia::default(), sample_ratio, bandwidth);
            let [mean, most] = fixture.circle(5.0, 1.0);
            assert_eq!(fixture.group.state(), GroupState::Enabled, "{who:?}: {}", fault(&fixture));
            assert!(mean < 1e-3 && most < 2e-3, "{who:?} {bandwidth}: {mean} {most}");
        }
    }
}

#[test]
fn the_arm_holds_its_place_from_the_moment_the_brakes_open_until_they_close() {
    for who in [ControlledBy::Drives, COMPUTED] {
        let mut fixture = Fixture::enabled(who, &Inertia::default(), 14);
        let home = fixture.home().to_vec();
        let off = |fixture: &Fixture| {
            let joints = fixture.joints();
            joints.iter().zip(&home).map(|(q, home)| (q - home).abs()).fold(0.0, f64::max)
        };
        assert!(off(&fixture) < 0.005, "{who:?}, on: {}", off(&fixture));
        fixture.run(1.0);
        assert!(off(&fixture) < 0.005, "{who:?}, held: {}", off(&fixture));
        fixture.group.disable(fixture.now);
        fixture.until(GroupState::Disabled);
        fixture.run(1.0);
        assert!(!fixture.is_moving() && off(&fixture) < 0.01, "{who:?}, off: {}", off(&fixture));
    }
}

#[test]
fn the_drives_brake_when_the_host_is_lost() {
    let mut fixture = Fixture::enabled(COMPUTED, &payload(), 14);
    let mut goal = fixture.home().to_vec();
    goal[3] += 1.0;
    for _ in 0..20 {
        fixture.group.command(fixture.now, None, &goal).unwrap();
        fixture.run(0.01);
    }
    assert!(fixture.is_moving());
    let loss = fixture.group.config().heartbeat_loss.as_secs_f64();
    let before = fixture.joints();
    fixture.cut = true;
    fixture.run(loss + 0.06);
    assert!(!fixture.is_moving(), "within the time of the heartbeat and of braking");
    let after = fixture.joints();
    assert!(fixture.rack.drives().iter().all(|drive| !drive.status().is_motor_on()));
    for (before, after) in before.iter().zip(&after) {
        assert!((after - before).abs() < 0.3, "{before} to {after}");
    }
    fixture.run(2.0);
    assert_eq!(fixture.joints(), after, "the brakes hold the arm");
}

#[test]
fn a_controller_that_goes_wrong_is_stopped_by_the_limits_of_the_drives() {
    for (torque, reason) in [
        // Within the current of the drive: the speed, then the position.
        (1e9, "speed limit exceeded"),
        (1.2, "position limit exceeded"),
    ] {
        let mut fixture = Fixture::enabled(COMPUTED, &Inertia::default(), 14);
        fixture.replace(Controller::new(move |_, torques| torques[5] = torque));
        fixture.until(GroupState::Faulted);
        assert!(fault(&fixture).contains(reason), "{}", fault(&fixture));
        fixture.run(0.5);
        assert!(!fixture.is_moving());
    }
    // Not a number: no current; the arm falls until its drives stop it.
    let mut fixture = Fixture::enabled(COMPUTED, &Inertia::default(), 14);
    fixture.replace(Controller::new(|_, torques| torques.fill(f64::NAN)));
    fixture.until(GroupState::Faulted);
    fixture.run(0.5);
    assert!(!fixture.is_moving());
}

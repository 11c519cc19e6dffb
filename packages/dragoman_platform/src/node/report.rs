//! `/diagnostics` of a platform.

use dragoman_geometry::Twist;
use dragoman_ros::Node;
use dragoman_ros::diagnostics::{Diagnostics, Severity};

use super::state::{NodeState, Shared};
use crate::controller::{Emergency, MotionMode, Operation, PlannerState, Status};

/// Returns a function that publishes the state at each call.
pub(super) fn report(
    node: &mut Node,
    shared: &Shared,
) -> dragoman_ros::Result<impl FnMut() + Send + 'static> {
    let mut diagnostics = Diagnostics::new(node, "platform", "Neobotix platform")?;
    let shared = shared.clone();
    Ok(move || {
        let (severity, message, values) = shared.with(state);
        diagnostics.publish(severity, &message, &values);
    })
}

fn state(state: &mut NodeState) -> (Severity, String, Vec<(&'static str, String)>) {
    let (requests, refused, refusal) = state.take_refusals();
    let status = state.platform.status();
    let values = vec![
        ("operation", format!("{:?}", status.operation)),
        ("motion mode", format!("{:?}", status.mode)),
        ("emergency stop", format!("{:?}", status.emergency)),
        ("blind", status.blind.to_string()),
        ("planner", format!("{:?}", status.planner)),
        ("pose", format!("{:.3} {:.3} {:.3}", status.pose.x, status.pose.y, status.pose.heading)),
        ("requests", requests.to_string()),
        ("requests refused", refused.to_string()),
        ("CAN messages kept", state.can.kept().to_string()),
        ("unknown parameters kept", state.kept.keys().map(String::as_str).collect::<Vec<_>>().join(", ")),
    ];
    let (severity, message) = summary(&status, state.base_alive(), refusal);
    (severity, message, values)
}

/// The gravest condition first: a refusal must not hide that the platform is blind.
fn summary(status: &Status, base_alive: bool, refusal: Option<String>) -> (Severity, String) {
    match refusal {
        _ if !base_alive => (Severity::Error, "the base is silent".to_owned()),
        _ if status.blind => {
            (Severity::Error, "no laser scan: the platform is blind and does not move by itself".to_owned())
        }
        _ if status.emergency != Emergency::Inactive => {
            (Severity::Warn, format!("the emergency stop is {:?}", status.emergency))
        }
        Some(refusal) => (Severity::Warn, format!("refused: {refusal}")),
        None if status.collision => (Severity::Warn, "an obstacle is in the way".to_owned()),
        None if status.operation == Operation::NotInitialized => {
            (Severity::Idle, activity(status).to_owned())
        }
        None => (Severity::Ok, activity(status).to_owned()),
    }
}

/// What the platform does. [`Operation::Moving`] only says that it was started.
fn activity(status: &Status) -> &'static str {
    match (status.operation, status.mode, status.planner) {
        (Operation::NotInitialized, ..) => "not initialized",
        (Operation::Ready, ..) => "ready",
        (Operation::Broken, ..) => "paused",
        (Operation::Moving, ..) if !stands(status.velocity) => "moving",
        (_, MotionMode::None, _) => "started, without a motion mode",
        (_, MotionMode::Program, _) => "the program runs",
        (_, MotionMode::Replay, _) => "the replay runs",
        (_, MotionMode::Automatic, PlannerState::Planning) => "plans a way",
        (_, MotionMode::Automatic, PlannerState::PathFound) => "stands on its way",
        (_, MotionMode::Automatic, PlannerState::Standby) if status.target_reached => "has arrived",
        (_, MotionMode::Automatic, PlannerState::Standby) => "started, without a target",
        (_, MotionMode::Automatic, _) => "no way to the target",
        _ => "started, waits for commands",
    }
}

/// Whether these are speeds of a platform that stands.
fn stands(velocity: Twist) -> bool {
    /// m/s and rad/s
    const STANDING: f64 = 0.005;
    [velocity.linear, velocity.lateral, velocity.angular].iter().all(|speed| speed.abs() < STANDING)
}

#[cfg(test)]
mod tests {
    use dragoman_geometry::Pose;

    use super::*;
    use crate::controller::{Command, Input, Platform};
    use crate::settings::Settings;

    #[test]
    fn a_refusal_hides_neither_a_silent_base_nor_a_blind_platform() {
        let mut platform = Platform::new(Settings::default()).unwrap();
        platform.command(Command::Connect).unwrap();
        let mut input = Input::at(std::time::Duration::from_secs(1), Pose::ORIGIN);
        platform.cycle(&input);
        let mut status = platform.status();
        assert!(status.blind);
        let refusal = || Some("the platform is not initialized".to_owned());
        for refusal in [None, refusal()] {
            let (severity, message) = summary(&status, true, refusal.clone());
            assert!(severity == Severity::Error && message.contains("is blind"), "{severity:?}: {message}");
            let (severity, message) = summary(&status, false, refusal);
            assert!(severity == Severity::Error && message.contains("silent"), "{severity:?}: {message}");
        }
        input.now += std::time::Duration::from_millis(20);
        input.emergency_stop = true;
        platform.cycle(&input);
        let pressed = platform.status();
        let (severity, message) = summary(&pressed, true, None);
        assert!(pressed.blind && severity == Severity::Error, "{severity:?}: {message}");

        status.blind = false;
        let (severity, message) = summary(&status, true, refusal());
        assert!(severity == Severity::Warn && message.starts_with("refused"), "{severity:?}: {message}");
        status.collision = false;
        assert_eq!(summary(&status, true, None).0, Severity::Idle);
        status.operation = Operation::Ready;
        assert_eq!(summary(&status, true, None).0, Severity::Ok);
    }

    #[test]
    fn a_started_platform_at_rest_is_not_reported_as_moving() {
        let mut status = Platform::new(Settings::default()).unwrap().status();
        assert_eq!(activity(&status), "not initialized");
        status.operation = Operation::Moving;
        assert_eq!(activity(&status), "started, without a motion mode");
        status.mode = MotionMode::Automatic;
        assert_eq!(activity(&status), "started, without a target");
        status.velocity.linear = 0.1;
        assert_eq!(activity(&status), "moving");
        status.velocity.linear = 0.0;
        status.target_reached = true;
        assert_eq!(activity(&status), "has arrived");
        status.planner = PlannerState::CollisionTarget;
        assert_eq!(activity(&status), "no way to the target");
    }
}

//! `/diagnostics` of a platform.

use dragoman_ros::Node;
use dragoman_ros::diagnostics::{Diagnostics, Severity};

use super::state::{Shared, State};
use crate::controller::{Emergency, Status};

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

fn state(state: &mut State) -> (Severity, String, Vec<(&'static str, String)>) {
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

fn summary(status: &Status, base_alive: bool, refusal: Option<String>) -> (Severity, String) {
    match refusal {
        _ if !base_alive => (Severity::Error, "the base is silent".to_owned()),
        _ if status.emergency != Emergency::Inactive => {
            (Severity::Warn, format!("the emergency stop is {:?}", status.emergency))
        }
        Some(refusal) => (Severity::Warn, format!("refused: {refusal}")),
        None if status.blind => {
            (Severity::Error, "no laser scan: the platform is blind and does not move by itself".to_owned())
        }
        None if status.collision => (Severity::Warn, "an obstacle is in the way".to_owned()),
        None => (Severity::Ok, format!("{:?}", status.operation)),
    }
}

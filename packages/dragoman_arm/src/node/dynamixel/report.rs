//! The `/diagnostics` of the servos.

use dragoman_ros::Node;
use dragoman_ros::diagnostics::{Diagnostics, Severity};

use super::Chain;
use crate::dynamixel::driver::{ChainState, JointState, Mode};
use crate::dynamixel::wire::ErrorFlags;

/// Returns a function that publishes the chain's state; its argument is the location of the arm.
pub(super) fn publisher(
    node: &mut Node,
    chain: &Chain,
) -> dragoman_ros::Result<impl FnMut(&str) + Send + 'static> {
    let mut diagnostics = Diagnostics::new(node, "servos", "WidowX")?;
    let chain = chain.clone();
    Ok(move |place: &str| {
        let state = chain.line.look(|driver| driver.state());
        let (refused, refusal) = chain.refusals.take();
        let (severity, message) = summary(&state, chain.line.failure(), refusal);
        let figures = figures(&state, place, refused);
        let values: Vec<(&str, String)> =
            figures.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        diagnostics.publish(severity, &message, &values);
    })
}

fn summary(state: &ChainState, failure: Option<String>, refusal: Option<String>) -> (Severity, String) {
    if let Some(failure) = failure {
        return (Severity::Error, format!("the line is down: {failure}"));
    }
    if let Some(trouble) = trouble(state) {
        return (Severity::Error, trouble);
    }
    let alarms = state.joints.iter().filter(|joint| !joint.errors.is_empty());
    let alarms = alarms.map(|joint| format!("{}: {}", joint.name, joint.errors));
    let refusals = refusal.map(|refusal| format!("refused: {refusal}"));
    let warnings: Vec<String> = alarms.chain(refusals).collect();
    if !warnings.is_empty() {
        return (Severity::Warn, warnings.join("; "));
    }
    let held = state.joints.iter().filter(|joint| joint.has_torque).count();
    (Severity::Ok, format!("{held} of {} joints hold", state.joints.len()))
}

/// The problem of a servo that does not answer or cannot be used.
pub(super) fn trouble(state: &ChainState) -> Option<String> {
    if state.joints.iter().all(|joint| !joint.is_online) {
        return Some("no servo answers".to_owned());
    }
    let of_joint = |joint: &JointState| match joint.problem {
        Some(problem) => Some(format!("{}: {problem}", joint.name)),
        None if !joint.is_online => {
            Some(format!("{}: its servo (id {}) does not answer", joint.name, joint.id))
        }
        None => None,
    };
    let troubles: Vec<String> = state.joints.iter().filter_map(of_joint).collect();
    (!troubles.is_empty()).then(|| troubles.join("; "))
}

fn figures(state: &ChainState, place: &str, refused: u64) -> Vec<(String, String)> {
    let statistics = &state.statistics;
    let mut values: Vec<(String, String)> = state.joints.iter().map(joint).collect();
    let own = [
        ("port", place.to_owned()),
        ("commands refused", refused.to_string()),
        ("readings of all servos", statistics.cycles.to_string()),
        ("readings that took too long", statistics.late_cycles.to_string()),
        ("requests", statistics.requests.to_string()),
        ("requests without an answer", statistics.timeouts.to_string()),
        ("corrupted requests", statistics.damaged.to_string()),
        ("unexpected packets", statistics.unexpected.to_string()),
        ("packets with wrong checksum", state.line.checksum_errors.to_string()),
        ("bytes outside packets", state.line.skipped_bytes.to_string()),
    ];
    values.extend(own.map(|(key, value)| (key.to_owned(), value)));
    values
}

fn joint(joint: &JointState) -> (String, String) {
    let mut parts = vec![
        match joint.mode {
            _ if !joint.is_online => "silent",
            Some(Mode::Enabled) => "holds",
            Some(Mode::Relaxed) => "relaxed",
            Some(Mode::Disabled) => "disabled",
            None => "unknown",
        }
        .to_owned(),
    ];
    if let Some(motion) = &joint.motion {
        parts.push(format!(
            "{:.3} rad, {:.2} N m, {:.1} V, {:.0} °C",
            motion.position, motion.effort, motion.volts, motion.celsius
        ));
    }
    parts.extend(joint.goal.map(|goal| format!("goal {goal:.3} rad")));
    parts.push(format!("{:.3} rad/s at most", joint.speed));
    if joint.errors != ErrorFlags::empty() {
        parts.push(joint.errors.to_string());
    }
    if let (Some(model), Some(firmware)) = (joint.model, joint.firmware) {
        parts.push(format!("{model}, firmware {firmware}"));
    }
    (joint.name.clone(), parts.join(", "))
}

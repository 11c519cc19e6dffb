//! What `/diagnostics` tells of a base.

use dragoman_ros::Node;
use dragoman_ros::diagnostics::{Diagnostics, Severity};

use super::motion::Refusals;
use crate::commander::Standstill;
use crate::kobuki::driver::{BatteryLevel, Driver, State};
use crate::kobuki::wire::WheelDrops;
use crate::line::Line;

/// What publishes a Kobuki's state each time it is called.
pub(super) fn kobuki(
    node: &mut Node,
    line: &Line<Driver>,
    refusals: Refusals,
    place: &str,
) -> dragoman_ros::Result<impl FnMut() + Send + 'static> {
    let mut diagnostics = Diagnostics::new(node, "base", "Kobuki")?;
    let (line, place) = (line.clone(), place.to_owned());
    Ok(move || {
        let state = line.look(|driver| driver.state());
        let (refused, refusal) = refusals.take();
        let (severity, message) = summary(&state, line.failure(), refusal);
        let mut values = vec![("port", place.clone()), ("commands refused", refused.to_string())];
        values.extend(figures(&state));
        diagnostics.publish(severity, &message, &values);
    })
}

fn summary(state: &State, failure: Option<String>, refusal: Option<String>) -> (Severity, String) {
    if let Some(failure) = failure {
        return (Severity::Error, format!("the line is down: {failure}"));
    }
    if let (false, Some(standstill)) = (state.alive, state.standstill) {
        return (Severity::Error, standstill.to_string());
    }
    let core = state.sensors.core.unwrap_or_default();
    let level = state.battery.map(|battery| battery.level);
    let warnings = [
        (level == Some(BatteryLevel::Dangerous)).then(|| "the battery is nearly empty".to_owned()),
        (level == Some(BatteryLevel::Low)).then(|| "the battery is low".to_owned()),
        (core.wheel_drops != WheelDrops::empty()).then(|| format!("wheel drop: {}", core.wheel_drops)),
        (!core.cliffs.is_empty()).then(|| format!("cliff: {}", core.cliffs)),
        (!core.bumpers.is_empty()).then(|| format!("bumper: {}", core.bumpers)),
        (!core.overcurrents.is_empty()).then(|| format!("a wheel draws too much: {}", core.overcurrents)),
        refusal.map(|refusal| format!("refused: {refusal}")),
    ];
    let warnings: Vec<String> = warnings.into_iter().flatten().collect();
    if !warnings.is_empty() {
        return (Severity::Warn, warnings.join("; "));
    }
    match state.standstill {
        None => (Severity::Ok, "moving".to_owned()),
        Some(reason @ Standstill::CommandExpired) => (Severity::Warn, reason.to_string()),
        Some(reason) => (Severity::Ok, reason.to_string()),
    }
}

fn figures(state: &State) -> Vec<(&'static str, String)> {
    let mut values = vec![
        ("motors", if state.motor_power { "on" } else { "off" }.to_owned()),
        ("measurements", state.feedback_frames.to_string()),
        ("frames", state.line.frames.to_string()),
        ("frames with wrong checksum", state.line.checksum_errors.to_string()),
        ("bytes that belong to no frame", state.line.skipped_bytes.to_string()),
        ("sub-payloads not understood", state.malformed_sub_payloads.to_string()),
        ("jumps of the clocks", state.clock_jumps.to_string()),
        ("jumps of the encoders", state.encoder_jumps.to_string()),
    ];
    if let Some(battery) = state.battery {
        values.push(("battery, V", format!("{:.1}", battery.voltage)));
        values.push(("battery, %", format!("{:.0}", battery.fraction * 100.0)));
    }
    if let Some(core) = state.sensors.core {
        values.push(("charger", core.charger.to_string()));
    }
    if let Some([left, right]) = state.sensors.amperes() {
        values.push(("motor currents left and right, A", format!("{left:.2} {right:.2}")));
    }
    let identity = &state.identity;
    values.extend(identity.hardware.map(|version| ("hardware", version.to_string())));
    values.extend(identity.firmware.map(|version| ("firmware", version.to_string())));
    values.extend(identity.unique_id.map(|id| ("unique id", id.to_string())));
    values
}

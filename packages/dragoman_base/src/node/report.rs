//! The `/diagnostics` of a base.

use dragoman_io::serial::Line;
use dragoman_ros::Node;
use dragoman_ros::diagnostics::{Diagnostics, Severity};

use crate::base::Motion;
use crate::commander::Standstill;
use crate::differential::driver as differential;
use crate::kobuki::driver::{BatteryLevel, Driver, KobukiState};
use dragoman_ros::diagnostics::Refusals;

/// Returns a function that publishes a Kobuki's state.
pub(super) fn kobuki(
    node: &mut Node,
    line: &Line<Driver>,
    refusals: Refusals,
) -> dragoman_ros::Result<impl FnMut(&str) + Send + 'static> {
    let mut diagnostics = Diagnostics::new(node, "base", "Kobuki")?;
    let line = line.clone();
    let mut before = 0;
    Ok(move |place: &str| {
        let state = line.look(|driver| driver.state());
        let (refused, refusal) = refusals.take();
        let garbled = state.line.checksum_errors + state.line.skipped_bytes + state.malformed_sub_payloads;
        let is_garbled = std::mem::replace(&mut before, garbled) < garbled;
        let warnings = warnings(&state, refusal);
        let (severity, message) = summary(&(&state).into(), line.failure(), warnings, is_garbled);
        let mut values = vec![("port", place.to_owned()), ("commands refused", refused.to_string())];
        values.extend(figures(&state));
        diagnostics.publish(severity, &message, &values);
    })
}

/// Returns a function that publishes the state of another base.
pub(super) fn differential(
    node: &mut Node,
    line: &Line<differential::Driver>,
    refusals: Refusals,
) -> dragoman_ros::Result<impl FnMut(&str) + Send + 'static> {
    let mut diagnostics = Diagnostics::new(node, "base", "differential drive")?;
    let line = line.clone();
    let mut before = 0;
    Ok(move |place: &str| {
        let state = line.look(|driver| driver.state());
        let (refused, refusal) = refusals.take();
        let warnings = refusal.map(|refusal| format!("refused: {refusal}")).into_iter().collect();
        let garbled = state.line.not_understood + state.line.garbage;
        let is_garbled = std::mem::replace(&mut before, garbled) < garbled;
        let (severity, message) = summary(&(&state).into(), line.failure(), warnings, is_garbled);
        let values = [
            ("port", place.to_owned()),
            ("commands refused", refused.to_string()),
            ("motors", on_off(state.motor_power)),
            ("measurements", state.line.measurements.to_string()),
            ("requests without an answer", state.line.timeouts.to_string()),
            ("requests or answers not understood", state.line.not_understood.to_string()),
            ("unexpected lines", state.line.garbage.to_string()),
            ("jumps of the clock", state.clock_jumps.to_string()),
            ("jumps of the encoders", state.encoder_jumps.to_string()),
        ];
        diagnostics.publish(severity, &message, &values);
    })
}

fn on_off(on: bool) -> String {
    if on { "on" } else { "off" }.to_owned()
}

/// `is_garbled`: something was received since the last report that is not understood.
fn summary(
    motion: &Motion,
    failure: Option<String>,
    warnings: Vec<String>,
    is_garbled: bool,
) -> (Severity, String) {
    if let Some(failure) = failure {
        return (Severity::Error, format!("the line is down: {failure}"));
    }
    match motion.standstill {
        Some(Standstill::NoFeedback | Standstill::Silent) if is_garbled => {
            (Severity::Error, "what the base sends is not understood".to_owned())
        }
        Some(reason) if !motion.alive => (Severity::Error, reason.to_string()),
        _ if !warnings.is_empty() => (Severity::Warn, warnings.join("; ")),
        Some(reason @ Standstill::CommandExpired) => (Severity::Warn, reason.to_string()),
        Some(reason) => (Severity::Idle, reason.to_string()),
        None => (Severity::Ok, "moving".to_owned()),
    }
}

fn warnings(state: &KobukiState, refusal: Option<String>) -> Vec<String> {
    let core = state.sensors.core.unwrap_or_default();
    let level = state.battery.map(|battery| battery.level);
    let warnings = [
        (level == Some(BatteryLevel::Dangerous)).then(|| "the battery is nearly empty".to_owned()),
        (level == Some(BatteryLevel::Low)).then(|| "the battery is low".to_owned()),
        (!core.wheel_drops.is_empty()).then(|| format!("wheel drop: {}", core.wheel_drops)),
        (!core.cliffs.is_empty()).then(|| format!("cliff: {}", core.cliffs)),
        (!core.bumpers.is_empty()).then(|| format!("bumper: {}", core.bumpers)),
        (!core.overcurrents.is_empty()).then(|| format!("wheel overcurrent: {}", core.overcurrents)),
        refusal.map(|refusal| format!("refused: {refusal}")),
    ];
    warnings.into_iter().flatten().collect()
}

fn figures(state: &KobukiState) -> Vec<(&'static str, String)> {
    let mut values = vec![
        ("motors", on_off(state.motor_power)),
        ("measurements", state.feedback_frames.to_string()),
        ("frames", state.line.frames.to_string()),
        ("frames with wrong checksum", state.line.checksum_errors.to_string()),
        ("bytes outside frames", state.line.skipped_bytes.to_string()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_is_not_understood_is_not_silence() {
        let driver = differential::Driver::new(differential::Config::default()).unwrap();
        let mut motion = Motion::from(&driver.state());
        for (standstill, is_garbled, expected) in [
            (Standstill::Silent, false, "the base has stopped sending"),
            (Standstill::Silent, true, "what the base sends is not understood"),
            (Standstill::NoFeedback, true, "what the base sends is not understood"),
            (Standstill::Disconnected, true, "the base is not connected"),
        ] {
            motion.standstill = Some(standstill);
            let (severity, message) = summary(&motion, None, Vec::new(), is_garbled);
            assert_eq!((severity, message.as_str()), (Severity::Error, expected));
        }
    }
}

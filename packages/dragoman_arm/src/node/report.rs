//! The `/diagnostics` of the drives.

use dragoman_ros::diagnostics::{Diagnostics, Severity};

use super::Arm;
use crate::driver::{EmergencyRecord, Fault, Group, GroupState, Payload};
use crate::simpliq::emergencies;

impl Arm {
    pub(super) fn report(&mut self, diagnostics: &mut Diagnostics) {
        if !self.drives.is_running() {
            diagnostics.publish(Severity::Error, "the driver has failed; start it again", &[]);
            return;
        }
        let refusal = self.refusal.take();
        let (severity, message, mut values) = self.drives.with(|_, group| {
            let (severity, message) = summary(group, refusal);
            (severity, message, figures(group))
        });
        values.push(("refused commands".to_owned(), self.refused_commands.to_string()));
        let values: Vec<(&str, String)> =
            values.iter().map(|(key, value)| (key.as_str(), value.clone())).collect();
        diagnostics.publish(severity, &message, &values);
    }
}

fn summary(group: &Group, refusal: Option<String>) -> (Severity, String) {
    let reason = group.fault().map(Fault::to_string);
    match group.state() {
        GroupState::Unconfigured => {
            let reason = reason.unwrap_or_else(|| "no drive has answered yet".to_owned());
            (Severity::Error, format!("unconfigured: {reason}"))
        }
        GroupState::Faulted | GroupState::Stopping if reason.is_some() => {
            (Severity::Error, format!("stopped: {}", reason.unwrap_or_default()))
        }
        state => match (refusal, group.bus_warning().0) {
            (Some(refusal), _) => (Severity::Warn, refusal),
            (None, Some(warning)) => (Severity::Warn, format!("{}; {warning}", name(state))),
            (None, None) if state == GroupState::Disabled => (Severity::Idle, name(state).to_owned()),
            (None, None) => (Severity::Ok, name(state).to_owned()),
        },
    }
}

fn name(state: GroupState) -> &'static str {
    match state {
        GroupState::Unconfigured => "unconfigured",
        GroupState::Disabled => "disabled",
        GroupState::Enabling => "being enabled",
        GroupState::Enabled => "enabled",
        GroupState::Stopping => "being disabled",
        GroupState::Faulted => "stopped",
    }
}

fn figures(group: &Group) -> Vec<(String, String)> {
    let mut values = vec![
        ("drives".to_owned(), name(group.state()).to_owned()),
        ("frames sent".to_owned(), group.frames_sent().to_string()),
        ("warnings of the bus".to_owned(), group.bus_warning().1.to_string()),
    ];
    if let Some(Payload { link, mass, center: [x, y, z] }) = group.learned_payload() {
        let value = format!("{mass:.2} kg at {x:.3}, {y:.3}, {z:.3} m in {link}");
        values.push(("learned payload".to_owned(), value));
    }
    values.extend(group.emergencies().records().iter().map(emergency));
    if group.emergencies().other() > 0 {
        values.push(("other emergencies".to_owned(), group.emergencies().other().to_string()));
    }
    values
}

fn emergency(record: &EmergencyRecord) -> (String, String) {
    let EmergencyRecord { node, emergency, count, first, last } = record;
    let maker = emergency.maker.first().copied().unwrap_or_default();
    let key = format!("node {node} EMCY 0x{:04X}/{maker:02X}", emergency.code);
    let (first, last) = (first.as_secs_f64(), last.as_secs_f64());
    let value = format!(
        "{}; {count} times, first at {first:.1} s, last at {last:.1} s after the start",
        emergencies::meaning(emergency)
    );
    (key, value)
}

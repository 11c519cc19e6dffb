//! State of a battery.

use std::time::Duration;

use dragoman_protocol::codec::CodecError;
use dragoman_protocol::model::bridge;
use dragoman_ros::QosProfile;
use dragoman_ros::sensor_msgs::msg::BatteryState;

use super::{Entry, Meaning, Reader, Topic, needed, possible};
use crate::machine::outbox::{Outbox, Period};
use crate::machine::term::{Message, Term};

pub(super) struct BatteryMeaning {
    voltage: Term,
    current: Option<Term>,
    charge: Option<Term>,
    capacity: Option<Term>,
    percentage: Option<Term>,
    temperature: Option<Term>,
    charging: Option<Term>,
    period: Period,
}

impl BatteryMeaning {
    pub(super) fn new(
        described: &bridge::Battery,
        mut reader: Reader<'_>,
    ) -> Result<Entry<Self>, CodecError> {
        let meaning = Self {
            voltage: reader.term("voltage", &described.voltage)?,
            current: reader.optional("current", described.current.as_ref())?,
            charge: reader.optional("charge", described.charge.as_ref())?,
            capacity: reader.optional("capacity", described.capacity.as_ref())?,
            percentage: reader.optional("percentage", described.percentage.as_ref())?,
            temperature: reader.optional("temperature", described.temperature.as_ref())?,
            charging: reader.optional("charging", described.charging.as_ref())?,
            period: Period::new(reader.place, described.period)?,
        };
        let topic =
            Topic::new(reader, "battery_state", "sensor_msgs/msg/BatteryState", QosProfile::default(), "");
        Ok(Entry { topic, meaning })
    }
}

impl Meaning for BatteryMeaning {
    type Message = BatteryState;

    #[allow(clippy::cast_possible_truncation, reason = "the message has numbers of 32 bits")]
    fn publish(
        &mut self,
        topic: &Topic<BatteryState>,
        lookup: &Message<'_>,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String> {
        if !self.period.is_over(now) {
            return Ok(());
        }
        let value = |term: &Option<Term>| possible(term.as_ref(), lookup) as f32;
        let mut state = BatteryState { present: true, ..Default::default() };
        state.header = topic.header(now);
        state.voltage = needed("voltage", &self.voltage, lookup)? as f32;
        (state.current, state.charge, state.capacity) =
            (value(&self.current), value(&self.charge), value(&self.capacity));
        state.percentage = value(&self.percentage);
        state.temperature = value(&self.temperature);
        // The message has no value for "not measured" but NaN.
        state.design_capacity = f32::NAN;
        state.power_supply_status = match &self.charging {
            None => BatteryState::POWER_SUPPLY_STATUS_UNKNOWN as u8,
            Some(term) if term.is_true(lookup) => BatteryState::POWER_SUPPLY_STATUS_CHARGING as u8,
            Some(_) => BatteryState::POWER_SUPPLY_STATUS_DISCHARGING as u8,
        };
        topic.send(state, out);
        self.period.begins(now);
        Ok(())
    }
}

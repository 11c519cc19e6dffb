//! State of a battery.

use std::time::Duration;

use dragoman_protocol::codec::{Codec, CodecError, MessageId, Path, Values};
use dragoman_protocol::model::bridge;
use dragoman_ros::sensor_msgs::msg::BatteryState;
use dragoman_ros::{Clock, Node, Publisher, QosProfile};

use super::{Meaning, Reader, needed, possible};
use crate::machine::outbox::{Outbox, Period};
use crate::machine::term::{Message, Term};

pub(super) struct BatteryTopic {
    message: MessageId,
    paths: Vec<Path>,
    voltage: Term,
    current: Option<Term>,
    charge: Option<Term>,
    capacity: Option<Term>,
    percentage: Option<Term>,
    temperature: Option<Term>,
    charging: Option<Term>,
    period: Period,
    publisher: Option<Publisher<BatteryState>>,
}

impl BatteryTopic {
    pub(super) fn new(described: &bridge::Battery, mut reader: Reader<'_>) -> Result<Self, CodecError> {
        Ok(Self {
            message: reader.message,
            voltage: reader.term("voltage", &described.voltage)?,
            current: reader.optional("current", described.current.as_ref())?,
            charge: reader.optional("charge", described.charge.as_ref())?,
            capacity: reader.optional("capacity", described.capacity.as_ref())?,
            percentage: reader.optional("percentage", described.percentage.as_ref())?,
            temperature: reader.optional("temperature", described.temperature.as_ref())?,
            charging: reader.optional("charging", described.charging.as_ref())?,
            period: Period::new(reader.place, described.period)?,
            paths: reader.paths,
            publisher: None,
        })
    }
}

impl Meaning for BatteryTopic {
    fn message(&self) -> MessageId {
        self.message
    }

    fn topic(&self) -> Option<(&str, &'static str)> {
        Some(("battery_state", "sensor_msgs/msg/BatteryState"))
    }

    fn open(&mut self, node: &mut Node) -> dragoman_ros::Result<()> {
        self.publisher = Some(node.create_publisher("battery_state", QosProfile::default())?);
        Ok(())
    }

    #[allow(clippy::cast_possible_truncation, reason = "the message has numbers of 32 bits")]
    fn publish(
        &mut self,
        codec: &Codec,
        values: &Values,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String> {
        if !self.period.is_over(now) {
            return Ok(());
        }
        let lookup = &Message { codec, message: self.message, values, paths: &self.paths };
        let value = |term: &Option<Term>| possible(term.as_ref(), lookup) as f32;
        let mut state = BatteryState { present: true, ..Default::default() };
        state.header.stamp = Clock::to_builtin_time(&now);
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
        out.send(self.publisher.as_ref(), state);
        self.period.begins(now);
        Ok(())
    }
}

//! Distances of single sensors, such as sonars.

use std::time::Duration;

use dragoman_protocol::codec::{CodecError, Path};
use dragoman_protocol::model::bridge;
use dragoman_ros::QosProfile;
use dragoman_ros::sensor_msgs::msg::Range;

use super::{Entry, Meaning, Reader, Topic, needed, numbers, within_range};
use crate::machine::outbox::Outbox;
use crate::machine::plan::error;
use crate::machine::term::{Message, Term};

pub(super) struct RangeMeaning {
    ranges: Path,
    numbers: Option<Path>,
    range_min: Term,
    range_max: Term,
    field_of_view: Term,
    infrared: bool,
}

impl RangeMeaning {
    pub(super) fn new(described: &bridge::Range, mut reader: Reader<'_>) -> Result<Entry<Self>, CodecError> {
        let ranges = reader.field("ranges", &described.ranges)?;
        let numbers = described.numbers.as_deref().map(|field| reader.field("numbers", field)).transpose()?;
        if numbers.as_ref().is_some_and(|numbers| numbers.is_list != ranges.is_list) {
            return Err(error(reader.place, "ranges and numbers must both be lists, or both none"));
        }
        let meaning = Self {
            ranges,
            numbers,
            range_min: reader.term("range_min", &described.range_min)?,
            range_max: reader.term("range_max", &described.range_max)?,
            field_of_view: reader.term("field_of_view", &described.field_of_view)?,
            infrared: described.infrared,
        };
        let topic = Topic::new(
            reader,
            &described.topic,
            "sensor_msgs/msg/Range",
            // A message has several of them.
            QosProfile::default().keep_last(MAX_KEPT),
            &described.frame,
        );
        Ok(Entry { topic, meaning })
    }

    /// The frame of the sensor with this number.
    fn frame_of(&self, frame: &str, number: f64) -> String {
        if self.ranges.is_list || self.numbers.is_some() {
            format!("{frame}{number}")
        } else {
            frame.to_owned()
        }
    }
}

impl Meaning for RangeMeaning {
    type Message = Range;

    #[allow(clippy::cast_possible_truncation, reason = "the message has numbers of 32 bits")]
    fn publish(
        &mut self,
        topic: &Topic<Range>,
        lookup: &Message<'_>,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String> {
        let ranges = numbers(lookup, &self.ranges, |range| range as f32);
        if ranges.is_empty() {
            return Ok(());
        }
        let sensors = match &self.numbers {
            Some(path) => numbers(lookup, path, |number| number),
            None => (0..MAX_SENSORS).map(f64::from).take(ranges.len()).collect(),
        };
        // Each sensor has a frame of its own.
        let mut one = Range::default();
        one.header.stamp = topic.header(now).stamp;
        one.radiation_type = if self.infrared { Range::INFRARED as u8 } else { Range::ULTRASOUND as u8 };
        one.field_of_view = needed("field_of_view", &self.field_of_view, lookup)? as f32;
        one.min_range = needed("range_min", &self.range_min, lookup)? as f32;
        one.max_range = needed("range_max", &self.range_max, lookup)? as f32;
        for (range, number) in ranges.into_iter().zip(sensors) {
            let mut one = one.clone();
            one.header.frame_id = self.frame_of(topic.frame(), number);
            one.range = within_range(range, one.min_range, one.max_range);
            topic.send(one, out);
        }
        Ok(())
    }
}

/// Maximum number of sensors of one message.
const MAX_SENSORS: u16 = 256;
/// Messages that are kept for a slow subscriber.
const MAX_KEPT: usize = 64;

//! Distances of a laser scanner.

use std::time::Duration;

use dragoman_protocol::codec::{CodecError, Path};
use dragoman_protocol::model::bridge;
use dragoman_ros::QosProfile;
use dragoman_ros::sensor_msgs::msg::LaserScan;

use super::{Entry, Meaning, Reader, Topic, needed, numbers, within_range};
use crate::machine::outbox::Outbox;
use crate::machine::term::{Message, Term};

pub(super) struct ScanMeaning {
    ranges: Path,
    scale: Option<Term>,
    valid_from: Option<Term>,
    intensities: Option<Path>,
    angle_min: Term,
    angle_increment: Term,
    range_min: Term,
    range_max: Term,
    scan_time: Option<Term>,
}

impl ScanMeaning {
    pub(super) fn new(
        described: &bridge::LaserScan,
        mut reader: Reader<'_>,
    ) -> Result<Entry<Self>, CodecError> {
        let meaning = Self {
            ranges: reader.field("ranges", &described.ranges)?,
            scale: reader.optional("scale", described.scale.as_ref())?,
            valid_from: reader.optional("valid_from", described.valid_from.as_ref())?,
            intensities: described
                .intensities
                .as_deref()
                .map(|field| reader.field("intensities", field))
                .transpose()?,
            angle_min: reader.term("angle_min", &described.angle_min)?,
            angle_increment: reader.term("angle_increment", &described.angle_increment)?,
            range_min: reader.term("range_min", &described.range_min)?,
            range_max: reader.term("range_max", &described.range_max)?,
            scan_time: reader.optional("scan_time", described.scan_time.as_ref())?,
        };
        let topic = Topic::new(
            reader,
            &described.topic,
            "sensor_msgs/msg/LaserScan",
            QosProfile::sensor_data(),
            &described.frame,
        );
        Ok(Entry { topic, meaning })
    }
}

impl Meaning for ScanMeaning {
    type Message = LaserScan;

    #[allow(clippy::cast_possible_truncation, reason = "the message has numbers of 32 bits")]
    fn publish(
        &mut self,
        topic: &Topic<LaserScan>,
        lookup: &Message<'_>,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String> {
        let list = |path: &Path| numbers(lookup, path, |number| number as f32);
        let mut scan = LaserScan { header: topic.header(now), ..Default::default() };
        scan.angle_min = needed("angle_min", &self.angle_min, lookup)? as f32;
        scan.angle_increment = needed("angle_increment", &self.angle_increment, lookup)? as f32;
        scan.range_min = needed("range_min", &self.range_min, lookup)? as f32;
        scan.range_max = needed("range_max", &self.range_max, lookup)? as f32;
        scan.ranges = list(&self.ranges);
        let optional =
            |name, term: &Option<Term>| term.as_ref().map(|term| needed(name, term, lookup)).transpose();
        if let Some(valid) = optional("valid_from", &self.valid_from)? {
            // REP 117: what is no measurement is not a number.
            let invalid = scan.ranges.iter_mut().filter(|range| f64::from(**range) < valid);
            invalid.for_each(|range| *range = f32::NAN);
        }
        if let Some(scale) = optional("scale", &self.scale)? {
            scan.ranges.iter_mut().for_each(|range| *range *= scale as f32);
        }
        for range in &mut scan.ranges {
            *range = within_range(*range, scan.range_min, scan.range_max);
        }
        scan.intensities = self.intensities.as_ref().map(list).unwrap_or_default();
        scan.scan_time =
            self.scan_time.as_ref().map_or(Ok(0.0), |term| needed("scan_time", term, lookup))? as f32;
        let steps = u16::try_from(scan.ranges.len().saturating_sub(1)).unwrap_or(u16::MAX);
        scan.angle_max = scan.angle_min + scan.angle_increment * f32::from(steps);
        topic.send(scan, out);
        Ok(())
    }
}

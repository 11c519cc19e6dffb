//! The latest measurements, encoded as answers. A query then costs one copy.

use std::time::Duration;

use super::super::rotation;
use super::super::wire::{ABSENT_TEMPERATURE, Command, DATAGRAM_LEN, Reply, VALUE_COUNT};

/// Time of a measurement, and the encoded answer.
type EncodedAnswer = Option<(Duration, [u8; DATAGRAM_LEN])>;

/// Answers to `jP`, `PS` and `TM`, each `None` until its first measurement.
#[derive(Debug, Default)]
pub(super) struct Measurements {
    joint_position: EncodedAnswer,
    pose: EncodedAnswer,
    temperature: EncodedAnswer,
}

impl Measurements {
    /// Whether every query can be answered.
    pub(super) fn are_complete(&self) -> bool {
        self.joint_position.is_some() && self.pose.is_some() && self.temperature.is_some()
    }

    /// `false`: refused (empty, or not finite).
    pub(super) fn set_joint_position(&mut self, now: Duration, position: &[f64]) -> bool {
        let values = padded(position, 0.0);
        let usable = !position.is_empty() && values.iter().all(|value| value.is_finite());
        if usable {
            self.joint_position = Some((now, Reply::JointPosition(values).encode()));
        }
        usable
    }

    /// `false`: refused. The source computes the quaternion from an angle in [0, pi] and an axis, so its w is never
    /// negative.
    pub(super) fn set_pose(&mut self, now: Duration, position: [f64; 3], quaternion_xyzw: [f64; 4]) -> bool {
        let position = position.map(single);
        let quaternion = rotation::normalized(quaternion_xyzw).map(rotation::with_positive_w);
        let Some(quaternion) = quaternion.filter(|_| position.iter().all(|value| value.is_finite())) else {
            return false;
        };
        let pose = Reply::Pose { position, quaternion_xyzw: quaternion.map(single) };
        self.pose = Some((now, pose.encode()));
        true
    }

    pub(super) fn set_temperature(&mut self, now: Duration, temperature: &[f64]) {
        let values = padded(temperature, ABSENT_TEMPERATURE)
            .map(|value| if value.is_finite() { value } else { ABSENT_TEMPERATURE });
        self.temperature = Some((now, Reply::Temperature(values).encode()));
    }

    /// The answer to a query, if a measurement exists and is younger than `max_age`.
    pub(super) fn answer(
        &self,
        now: Duration,
        query: Command,
        max_age: Option<Duration>,
    ) -> Option<[u8; DATAGRAM_LEN]> {
        let (measured, answer) = match query {
            Command::JointPositions => self.joint_position,
            Command::Pose => self.pose,
            Command::Temperatures => self.temperature,
            _ => None,
        }?;
        let fresh = max_age.is_none_or(|max_age| now.saturating_sub(measured) < max_age);
        fresh.then_some(answer)
    }
}

/// The first seven values, padded with `filler`.
fn padded(values: &[f64], filler: f32) -> [f32; VALUE_COUNT] {
    let mut padded = [filler; VALUE_COUNT];
    padded.iter_mut().zip(values).for_each(|(to, from)| *to = single(*from));
    padded
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "f32 is the wire's precision; overflow gives infinity, refused"
)]
fn single(value: f64) -> f32 {
    value as f32
}

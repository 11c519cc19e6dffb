//! Rates and accelerations.

use std::time::Duration;

use dragoman_protocol::codec::CodecError;
use dragoman_protocol::model::bridge::{self, Setting};
use dragoman_ros::sensor_msgs::msg::Imu;
use dragoman_ros::{QosProfile, poses};
use nalgebra::UnitQuaternion;

use super::{Entry, Meaning, Reader, Topic, needed};
use crate::machine::outbox::Outbox;
use crate::machine::term::{Message, Term};

pub(super) struct ImuMeaning {
    orientation: Option<[Term; 3]>,
    rates: Option<[Term; 3]>,
    accelerations: Option<[Term; 3]>,
}

impl ImuMeaning {
    pub(super) fn new(described: &bridge::Imu, mut reader: Reader<'_>) -> Result<Entry<Self>, CodecError> {
        let mut three = |name: &str, terms: &Option<[Setting; 3]>| match terms {
            None => Ok(None),
            Some([x, y, z]) => Ok::<_, CodecError>(Some([
                reader.term(name, x)?,
                reader.term(name, y)?,
                reader.term(name, z)?,
            ])),
        };
        let orientation = three("orientation", &described.orientation)?;
        let rates = three("angular_velocity", &described.angular_velocity)?;
        let accelerations = three("linear_acceleration", &described.linear_acceleration)?;
        let meaning = Self { orientation, rates, accelerations };
        let topic =
            Topic::new(reader, "imu", "sensor_msgs/msg/Imu", QosProfile::sensor_data(), &described.frame);
        Ok(Entry { topic, meaning })
    }
}

impl Meaning for ImuMeaning {
    type Message = Imu;

    fn publish(
        &mut self,
        topic: &Topic<Imu>,
        lookup: &Message<'_>,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String> {
        let three = |name: &str, terms: &[Term; 3]| {
            let [x, y, z] = terms;
            Ok::<_, String>([needed(name, x, lookup)?, needed(name, y, lookup)?, needed(name, z, lookup)?])
        };
        let mut imu = Imu { header: topic.header(now), ..Default::default() };
        match &self.orientation {
            Some(terms) => {
                let [roll, pitch, yaw] = three("orientation", terms)?;
                let turn = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
                imu.orientation = poses::quaternion(turn.coords.into());
            }
            // sensor_msgs/Imu: -1 in the first element says that it is not measured.
            None => imu.orientation_covariance = not_measured(),
        }
        match &self.rates {
            Some(terms) => {
                let [x, y, z] = three("angular_velocity", terms)?;
                let rates = &mut imu.angular_velocity;
                (rates.x, rates.y, rates.z) = (x, y, z);
            }
            None => imu.angular_velocity_covariance = not_measured(),
        }
        match &self.accelerations {
            Some(terms) => {
                let [x, y, z] = three("linear_acceleration", terms)?;
                let accelerations = &mut imu.linear_acceleration;
                (accelerations.x, accelerations.y, accelerations.z) = (x, y, z);
            }
            None => imu.linear_acceleration_covariance = not_measured(),
        }
        topic.send(imu, out);
        Ok(())
    }
}

fn not_measured() -> Vec<f64> {
    let mut covariance = vec![0.0; 9];
    covariance.iter_mut().take(1).for_each(|first| *first = -1.0);
    covariance
}

//! Rates and accelerations.

use std::time::Duration;

use dragoman_protocol::codec::{Codec, CodecError, MessageId, Path, Values};
use dragoman_protocol::model::bridge::{self, Setting};
use dragoman_ros::sensor_msgs::msg::Imu;
use dragoman_ros::{Clock, Node, Publisher, QosProfile, poses};
use nalgebra::UnitQuaternion;

use super::{Meaning, Reader, needed};
use crate::machine::outbox::Outbox;
use crate::machine::term::{Message, Term};

pub(super) struct ImuTopic {
    message: MessageId,
    paths: Vec<Path>,
    orientation: Option<[Term; 3]>,
    rates: Option<[Term; 3]>,
    accelerations: Option<[Term; 3]>,
    frame: String,
    publisher: Option<Publisher<Imu>>,
}

impl ImuTopic {
    pub(super) fn new(described: &bridge::Imu, mut reader: Reader<'_>) -> Result<Self, CodecError> {
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
        Ok(Self {
            message: reader.message,
            orientation,
            rates,
            accelerations,
            paths: reader.paths,
            frame: described.frame.clone(),
            publisher: None,
        })
    }
}

impl Meaning for ImuTopic {
    fn message(&self) -> MessageId {
        self.message
    }

    fn topic(&self) -> Option<(&str, &'static str)> {
        Some(("imu", "sensor_msgs/msg/Imu"))
    }

    fn open(&mut self, node: &mut Node) -> dragoman_ros::Result<()> {
        self.publisher = Some(node.create_publisher("imu", QosProfile::sensor_data())?);
        Ok(())
    }

    fn prefix_frames(&mut self, prefix: &str) {
        self.frame.insert_str(0, prefix);
    }

    fn publish(
        &mut self,
        codec: &Codec,
        values: &Values,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String> {
        let lookup = &Message { codec, message: self.message, values, paths: &self.paths };
        let three = |name: &str, terms: &[Term; 3]| {
            let [x, y, z] = terms;
            Ok::<_, String>([needed(name, x, lookup)?, needed(name, y, lookup)?, needed(name, z, lookup)?])
        };
        let mut imu = Imu::default();
        imu.header.stamp = Clock::to_builtin_time(&now);
        imu.header.frame_id.clone_from(&self.frame);
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
        out.send(self.publisher.as_ref(), imu);
        Ok(())
    }
}

fn not_measured() -> Vec<f64> {
    let mut covariance = vec![0.0; 9];
    covariance.iter_mut().take(1).for_each(|first| *first = -1.0);
    covariance
}

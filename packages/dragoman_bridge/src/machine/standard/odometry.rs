//! Odometry of a mobile base.

use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_protocol::codec::CodecError;
use dragoman_protocol::model::bridge::{self, Since};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Node, Publisher, QosProfile, poses};

use super::motion::BaseMotion;
use super::{Entry, Meaning, Reader, Topic, needed};
use crate::machine::outbox::Outbox;
use crate::machine::plan::error;
use crate::machine::term::{Message, Term};

/// Variances of what a base measures, m^2 and rad^2, and of what it does not: filters need a large number.
const VARIANCE: f64 = 0.01;
const UNKNOWN: f64 = 1e6;

pub(super) struct OdometryMeaning {
    source: OdometrySource,
    twist: Option<[Option<Term>; 3]>,
    motion: BaseMotion,
    child_frame: String,
    has_transform: bool,
    transform: Option<Publisher<TFMessage>>,
}

enum OdometrySource {
    Pose([Term; 3], Option<Term>),
    Differential { ways: [Term; 2], separation: Term, since: Since, overflow: Option<Term> },
}

impl OdometryMeaning {
    pub(super) fn new(
        described: &bridge::Odometry,
        mut reader: Reader<'_>,
    ) -> Result<Entry<Self>, CodecError> {
        let source = match (&described.pose, &described.differential) {
            (Some(pose), None) => OdometrySource::Pose(
                [
                    reader.term("x", &pose.x)?,
                    reader.term("y", &pose.y)?,
                    reader.term("heading", &pose.heading)?,
                ],
                reader.optional("overflow", pose.overflow.as_ref())?,
            ),
            (None, Some(ways)) => OdometrySource::Differential {
                ways: [reader.term("left", &ways.left)?, reader.term("right", &ways.right)?],
                separation: reader.term("separation", &ways.separation)?,
                since: ways.since,
                overflow: reader.optional("overflow", ways.overflow.as_ref())?,
            },
            _ => return Err(error(reader.place, "needs either pose or differential")),
        };
        let twist = match &described.twist {
            None => None,
            Some(twist) => Some([
                Some(reader.term("linear", &twist.linear)?),
                reader.optional("lateral", twist.lateral.as_ref())?,
                Some(reader.term("angular", &twist.angular)?),
            ]),
        };
        let meaning = Self {
            source,
            twist,
            motion: BaseMotion::default(),
            child_frame: described.child_frame.clone(),
            has_transform: described.tf,
            transform: None,
        };
        let topic =
            Topic::new(reader, "odom", "nav_msgs/msg/Odometry", QosProfile::default(), &described.frame);
        Ok(Entry { topic, meaning })
    }
}

impl Meaning for OdometryMeaning {
    type Message = Odometry;

    fn open_others(&mut self, node: &mut Node) -> dragoman_ros::Result<()> {
        if self.has_transform {
            self.transform = Some(node.create_publisher("/tf", QosProfile::default().keep_last(100))?);
        }
        Ok(())
    }

    fn prefix_others(&mut self, prefix: &str) {
        self.child_frame.insert_str(0, prefix);
    }

    fn reset(&mut self) {
        self.motion.reset();
    }

    fn publish(
        &mut self,
        topic: &Topic<Odometry>,
        lookup: &Message<'_>,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String> {
        match &self.source {
            OdometrySource::Pose([x, y, heading], overflow) => {
                let pose = Pose::new(
                    needed("x", x, lookup)?,
                    needed("y", y, lookup)?,
                    needed("heading", heading, lookup)?,
                );
                let overflow = overflow.as_ref().map(|term| needed("overflow", term, lookup)).transpose()?;
                self.motion.measured(now, pose, overflow);
            }
            OdometrySource::Differential { ways: [left, right], separation, since, overflow } => {
                let ways = [needed("left", left, lookup)?, needed("right", right, lookup)?];
                let separation = needed("separation", separation, lookup)?;
                if separation <= 0.0 {
                    return Err(format!("separation: {separation} m is not a distance"));
                }
                let overflow = overflow.as_ref().map(|term| needed("overflow", term, lookup)).transpose()?;
                self.motion.differential(now, ways, *since, overflow, separation);
            }
        }
        let [ahead, turn] = self.motion.velocities();
        let [linear, lateral, angular] = match &self.twist {
            None => [ahead, 0.0, turn],
            Some(terms) => {
                let value =
                    |term: &Option<Term>| term.as_ref().map_or(Ok(0.0), |term| needed("twist", term, lookup));
                let [linear, lateral, angular] = terms;
                [value(linear)?, value(lateral)?, value(angular)?]
            }
        };
        let header = topic.header(now);
        let pose = self.motion.pose;
        if self.has_transform {
            let message = poses::transform(&header.stamp, &header.frame_id, &self.child_frame, &pose);
            out.send(self.transform.as_ref(), TFMessage { transforms: vec![message] });
        }
        let mut odometry =
            Odometry { header, child_frame_id: self.child_frame.clone(), ..Default::default() };
        odometry.pose.pose = poses::pose(&pose);
        let twist = &mut odometry.twist.twist;
        (twist.linear.x, twist.linear.y, twist.angular.z) = (linear, lateral, angular);
        for covariance in [&mut odometry.pose.covariance, &mut odometry.twist.covariance] {
            // x, y and the heading are measured; z, roll and pitch are not.
            *covariance = vec![0.0; 36];
            for (axis, value) in covariance.iter_mut().step_by(7).enumerate() {
                *value = if matches!(axis, 0 | 1 | 5) { VARIANCE } else { UNKNOWN };
            }
        }
        topic.send(odometry, out);
        Ok(())
    }
}

//! Positions of joints.

use std::time::Duration;

use dragoman_protocol::codec::{Codec, CodecError, MessageId, Path, Values};
use dragoman_protocol::model::bridge;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::{Clock, Node, Publisher, QosProfile};

use super::{Meaning, Reader, needed, possible};
use crate::machine::outbox::Outbox;
use crate::machine::term::{Message, Term};

pub(super) struct JointTopic {
    message: MessageId,
    paths: Vec<Path>,
    joints: Vec<(String, Term, Option<Term>, Option<Term>)>,
    /// Several messages may have joints of one machine.
    is_first: bool,
    publisher: Option<Publisher<JointState>>,
}

impl JointTopic {
    pub(super) fn new(
        described: &bridge::JointStates,
        mut reader: Reader<'_>,
        is_first: bool,
    ) -> Result<Self, CodecError> {
        let mut joints = Vec::new();
        for (name, joint) in &described.joints {
            joints.push((
                name.clone(),
                reader.term(name, &joint.position)?,
                reader.optional(name, joint.velocity.as_ref())?,
                reader.optional(name, joint.effort.as_ref())?,
            ));
        }
        Ok(Self { message: reader.message, paths: reader.paths, joints, is_first, publisher: None })
    }
}

impl Meaning for JointTopic {
    fn message(&self) -> MessageId {
        self.message
    }

    fn topic(&self) -> Option<(&str, &'static str)> {
        self.is_first.then_some(("joint_states", "sensor_msgs/msg/JointState"))
    }

    fn open(&mut self, node: &mut Node) -> dragoman_ros::Result<()> {
        self.publisher = Some(node.create_publisher("joint_states", QosProfile::default())?);
        Ok(())
    }

    fn publish(
        &mut self,
        codec: &Codec,
        values: &Values,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String> {
        let lookup = &Message { codec, message: self.message, values, paths: &self.paths };
        let mut state = JointState::default();
        state.header.stamp = Clock::to_builtin_time(&now);
        for (name, position, velocity, effort) in &self.joints {
            state.name.push(name.clone());
            state.position.push(needed(name, position, lookup)?);
            if velocity.is_some() {
                state.velocity.push(possible(velocity.as_ref(), lookup));
            }
            if effort.is_some() {
                state.effort.push(possible(effort.as_ref(), lookup));
            }
        }
        // Lists are empty, or have a value for each joint.
        for list in [&mut state.velocity, &mut state.effort] {
            if list.len() != self.joints.len() {
                list.clear();
            }
        }
        out.send(self.publisher.as_ref(), state);
        Ok(())
    }
}

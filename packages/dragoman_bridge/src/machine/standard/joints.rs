//! Positions of joints.

use std::time::Duration;

use dragoman_protocol::codec::CodecError;
use dragoman_protocol::model::bridge;
use dragoman_ros::QosProfile;
use dragoman_ros::sensor_msgs::msg::JointState;

use super::{Entry, Meaning, Reader, Topic, needed, possible};
use crate::machine::outbox::Outbox;
use crate::machine::term::{Message, Term};

pub(super) struct JointMeaning {
    joints: Vec<(String, Term, Option<Term>, Option<Term>)>,
    /// Several messages may have joints of one machine.
    is_first: bool,
}

impl JointMeaning {
    pub(super) fn new(
        described: &bridge::JointStates,
        mut reader: Reader<'_>,
        is_first: bool,
    ) -> Result<Entry<Self>, CodecError> {
        let mut joints = Vec::new();
        for (name, joint) in &described.joints {
            joints.push((
                name.clone(),
                reader.term(name, &joint.position)?,
                reader.optional(name, joint.velocity.as_ref())?,
                reader.optional(name, joint.effort.as_ref())?,
            ));
        }
        let topic =
            Topic::new(reader, "joint_states", "sensor_msgs/msg/JointState", QosProfile::default(), "");
        Ok(Entry { topic, meaning: Self { joints, is_first } })
    }
}

impl Meaning for JointMeaning {
    type Message = JointState;

    fn is_listed(&self) -> bool {
        self.is_first
    }

    fn publish(
        &mut self,
        topic: &Topic<JointState>,
        lookup: &Message<'_>,
        now: Duration,
        out: &mut Outbox,
    ) -> Result<(), String> {
        let mut state = JointState { header: topic.header(now), ..Default::default() };
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
        topic.send(state, out);
        Ok(())
    }
}

//! A topic with a standard meaning, and the message of the machine from which it comes.

use std::time::Duration;

use dragoman_protocol::codec::{Codec, MessageId, Path, Values};
use dragoman_ros::std_msgs::msg::Header;
use dragoman_ros::{Clock, Node, Publisher, QosProfile, WrappedTypesupport};

use super::Reader;
use crate::machine::outbox::Outbox;
use crate::machine::term::Message;

pub(super) struct Topic<M: WrappedTypesupport> {
    message: MessageId,
    paths: Vec<Path>,
    name: String,
    kind: &'static str,
    qos: QosProfile,
    frame: String,
    publisher: Option<Publisher<M>>,
}

impl<M: WrappedTypesupport + Send + 'static> Topic<M> {
    /// The reader has read all terms. Messages without a frame have an empty one.
    pub(super) fn new(
        reader: Reader<'_>,
        name: &str,
        kind: &'static str,
        qos: QosProfile,
        frame: &str,
    ) -> Self {
        Self {
            message: reader.message,
            paths: reader.paths,
            name: name.to_owned(),
            kind,
            qos,
            frame: frame.to_owned(),
            publisher: None,
        }
    }

    /// The values of a message, for terms.
    pub(super) fn lookup<'a>(&'a self, codec: &'a Codec, values: &'a Values) -> Message<'a> {
        Message { codec, message: self.message, values, paths: &self.paths }
    }

    pub(super) fn frame(&self) -> &str {
        &self.frame
    }

    pub(super) fn header(&self, now: Duration) -> Header {
        Header { stamp: Clock::to_builtin_time(&now), frame_id: self.frame.clone() }
    }

    pub(super) fn send(&self, message: M, out: &mut Outbox) {
        out.send(self.publisher.as_ref(), message);
    }

    pub(super) fn message(&self) -> MessageId {
        self.message
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn kind(&self) -> &'static str {
        self.kind
    }

    /// # Errors
    /// Those of the middleware.
    pub(super) fn open(&mut self, node: &mut Node) -> dragoman_ros::Result<()> {
        self.publisher = Some(node.create_publisher(&self.name, self.qos.clone())?);
        Ok(())
    }

    pub(super) fn prefix_frame(&mut self, prefix: &str) {
        if !self.frame.is_empty() {
            self.frame.insert_str(0, prefix);
        }
    }
}

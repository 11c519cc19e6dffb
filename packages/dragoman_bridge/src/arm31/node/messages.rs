//! The protocol's traffic as text on `~/messages`, in the words of the Ranger thesis' log files: received messages and
//! sent texts (`messagehandler.cpp`, `logOutgoing`). Answers with values are topics of the arm.

use dragoman_ros::shared::listened;
use dragoman_ros::{Node, Publisher, QosProfile, Result, std_msgs};

use crate::arm31::wire::{Datagram, Notice};

pub(super) struct Messages {
    publisher: Publisher<std_msgs::msg::String>,
    has_subscribers: bool,
}

impl Messages {
    pub(super) fn new(node: &mut Node) -> Result<Self> {
        let publisher = node.create_publisher("~/messages", QosProfile::default().keep_last(100))?;
        Ok(Self { publisher, has_subscribers: false })
    }

    /// Checks whether the topic has a subscriber; until then nothing is published.
    pub(super) fn review(&mut self) {
        self.has_subscribers = listened(&self.publisher);
    }

    pub(super) fn received(&self, bytes: &[u8]) {
        if self.has_subscribers
            && let Ok(datagram) = Datagram::parse(bytes)
        {
            self.publish(incoming(&datagram));
        }
    }

    pub(super) fn sent(&self, bytes: &[u8]) {
        if self.has_subscribers
            && let Ok(datagram) = Datagram::parse(bytes)
            && let Ok(notice) = Notice::decode(&datagram)
        {
            self.publish(format!("OUT: {notice}"));
        }
    }

    fn publish(&self, data: String) {
        if let Err(error) = self.publisher.publish(&std_msgs::msg::String { data }) {
            tracing::warn!(%error, "publishing messages failed");
        }
    }
}

/// Letters, seven values, and the index in parentheses.
fn incoming(datagram: &Datagram) -> String {
    let values: Vec<String> = datagram.values().iter().map(|value| format!("{value:.4}")).collect();
    format!("MSG: {} {} ({})", datagram.letters(), values.join(" "), datagram.index())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arm31::wire::Letters;

    #[test]
    fn a_message_has_the_form_of_the_log_file() {
        let datagram = Datagram::new(Letters(*b"VP"), [0.5, 0.2, 0.1, 0.0, 0.0, -1.5, 5.0], 3);
        assert_eq!(incoming(&datagram), "MSG: VP 0.5000 0.2000 0.1000 0.0000 0.0000 -1.5000 5.0000 (3)");
    }
}

//! Bytes on their way to a base.

/// Bytes that wait to be sent. Taking them keeps their memory for the next ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    taken: bool,
}

impl Outbox {
    /// Where further bytes are appended.
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        if std::mem::take(&mut self.taken) {
            self.bytes.clear();
        }
        &mut self.bytes
    }

    /// All that wait; none are left.
    pub(crate) fn take(&mut self) -> &[u8] {
        self.bytes();
        self.taken = true;
        &self.bytes
    }
}

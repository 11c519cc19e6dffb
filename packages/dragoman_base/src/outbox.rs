//! Bytes waiting to be sent to a base.

/// Bytes waiting to be sent. Taking them keeps the allocated memory.
#[derive(Debug, Clone, Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    taken: bool,
}

impl Outbox {
    /// The buffer to append bytes to.
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        if std::mem::take(&mut self.taken) {
            self.bytes.clear();
        }
        &mut self.bytes
    }

    /// Takes all waiting bytes.
    pub(crate) fn take(&mut self) -> &[u8] {
        self.bytes();
        self.taken = true;
        &self.bytes
    }
}

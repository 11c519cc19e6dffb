//! Unsent bytes for the platform.

/// The unsent bytes, and their position in the stream.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    start: usize,
    /// Bytes sent since the connection began.
    written: u64,
}

impl Outbox {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn unsent(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// Removes the first `len` unsent bytes, which were sent.
    pub(super) fn sent(&mut self, len: usize) {
        let len = len.min(self.unsent().len());
        self.start += len;
        self.written += len as u64;
        // Sent bytes are removed when they are the larger part: on average each byte is moved at most once.
        if self.start >= self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        if self.bytes.is_empty() {
            self.bytes.shrink_to(KEPT_CAPACITY);
        }
    }

    /// Position in the stream of the first unsent byte.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Position in the stream after the last unsent byte.
    pub(super) fn queued(&self) -> u64 {
        self.written + self.unsent().len() as u64
    }
}

/// Capacity that is kept when the outbox is empty, bytes.
const KEPT_CAPACITY: usize = 1 << 16;

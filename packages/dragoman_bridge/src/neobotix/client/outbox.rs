//! Bytes on their way to the platform.

/// What waits to be sent, and where in the stream it is.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    bytes: Vec<u8>,
    start: usize,
    /// Bytes that were given away since the connection began.
    written: u64,
}

impl Outbox {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(super) fn unsent(&self) -> &[u8] {
        self.bytes.get(self.start..).unwrap_or_default()
    }

    /// The first `len` of the unsent bytes are gone.
    pub(super) fn sent(&mut self, len: usize) {
        let len = len.min(self.unsent().len());
        self.start += len;
        self.written += len as u64;
        // What was sent goes when it is the greater part: each byte is moved once at most, on average.
        if self.start >= self.bytes.len() / 2 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        if self.bytes.is_empty() {
            self.bytes.shrink_to(KEPT_CAPACITY);
        }
    }

    /// Bytes of the stream that were sent.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// Bytes of the stream with those that wait.
    pub(super) fn queued(&self) -> u64 {
        self.written + self.unsent().len() as u64
    }
}

/// Memory that is kept when nothing waits.
const KEPT_CAPACITY: usize = 1 << 16;

//! Frames in a byte stream.

/// Counters of [`Frames`] since it was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FrameStatistics {
    /// Frames with the right checksum.
    pub frames: u64,
    /// Frames, real or apparent, with a wrong checksum.
    pub checksum_errors: u64,
    /// Bytes that belong to no valid frame.
    pub skipped_bytes: u64,
}

/// What the first bytes of a stream are, as a function of the protocol classifies them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beginning {
    /// This number of bytes, at least one, are not part of a frame.
    Garbage(usize),
    /// A header with a complete frame whose checksum is wrong.
    WrongChecksum,
    /// The beginning of a possible frame.
    Unfinished,
    /// A frame of this length with its header and checksum, bytes.
    Frame(usize),
}

/// Finds frames in a byte stream that arrives in pieces of any length. Of invalid bytes it keeps those that may still
/// become a frame.
///
/// After a wrong checksum the search continues at the second byte of the frame, so that a false header hides no frame.
#[derive(Debug, Clone)]
pub struct Frames {
    buffer: Vec<u8>,
    /// Everything before this index is parsed.
    start: usize,
    capacity: usize,
    statistics: FrameStatistics,
}

impl Frames {
    /// Buffers up to `capacity` bytes, which must be more than the longest frame has.
    pub fn new(capacity: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, capacity, statistics: FrameStatistics::default() }
    }

    /// The next frame; consumes the bytes it needs. `None`: all bytes were consumed without completing a frame.
    /// `beginning` classifies the first bytes of the stream.
    pub fn next<'a>(
        &'a mut self,
        bytes: &mut &[u8],
        beginning: impl Fn(&[u8]) -> Beginning,
    ) -> Option<&'a [u8]> {
        let length = loop {
            if let Some(length) = self.search(&beginning) {
                break length;
            }
            if bytes.is_empty() {
                return None;
            }
            self.buffer.drain(..self.start.min(self.buffer.len()));
            self.start = 0;
            let room = self.capacity.saturating_sub(self.buffer.len());
            let (taken, rest) = bytes.split_at(room.min(bytes.len()));
            self.buffer.extend_from_slice(taken);
            *bytes = rest;
        };
        self.buffer.get(self.start.checked_sub(length)?..self.start)
    }

    /// Drops an unfinished frame. The counters are kept.
    pub fn clear(&mut self) {
        self.statistics.skipped_bytes += self.buffer.len().saturating_sub(self.start) as u64;
        self.buffer.clear();
        self.start = 0;
    }

    /// The counters.
    pub fn statistics(&self) -> FrameStatistics {
        self.statistics
    }

    /// Passes the next complete frame in the buffer, and returns its length.
    fn search(&mut self, beginning: impl Fn(&[u8]) -> Beginning) -> Option<usize> {
        loop {
            let garbage = match beginning(self.buffer.get(self.start..)?) {
                Beginning::Unfinished => return None,
                Beginning::Frame(length) => {
                    self.statistics.frames += 1;
                    self.start += length;
                    return Some(length);
                }
                Beginning::WrongChecksum => {
                    self.statistics.checksum_errors += 1;
                    1
                }
                Beginning::Garbage(count) => count,
            };
            self.start += garbage;
            self.statistics.skipped_bytes += garbage as u64;
        }
    }
}

//! Bus logs in the format of can-utils (`candump -L`, `candump -l`, `canplayer`), and a bus that replays such a log.
//!
//! One line per frame: `(1600000000.123456) can0 181#0102`; seconds, interface, frame; newer versions may add `R` or
//! `T` for received or sent.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::iter::Peekable;
use std::str::FromStr;
use std::time::Duration;

use super::bus::{Bus, BusFault, Received, SendError};
use super::error_frame::{self, ERROR_FLAG};
use super::frame::Frame;

/// Maximum length of a line in bytes; those of CAN FD are below 200.
const MAX_LINE: u64 = 512;

/// One frame of a log: when, on which interface, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct LogLine {
    /// Time of the system's clock, since 1970; some programs write it since the start of the log.
    pub time: Duration,
    /// The interface's name.
    pub interface: String,
    pub content: Content,
}

/// Content of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some variants say it")]
pub enum Content {
    Frame(Frame),
    /// An error frame of the interface with its faults; possibly none.
    Faults(Vec<BusFault>),
    /// A CAN FD frame, which is skipped.
    CanFd,
}

/// A candump line failed to parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a line of a candump log; write (1600000000.123456) can0 181#0102")]
pub struct ParseLineError(String);

/// Error reading a log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// A line failed to parse; the next may be valid.
    #[error("line {number}: {source}")]
    Line {
        /// Line number, from one.
        number: u64,
        /// The error.
        source: ParseLineError,
    },
    /// A line is too long: the file is not a log. Reading ends here.
    #[error("line {number} has more than {MAX_LINE} bytes: this is not a candump log")]
    TooLong {
        /// Line number, from one.
        number: u64,
    },
    /// I/O error. Reading ends here.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Writes a frame as a line of a log, without the line break.
pub fn line(time: Duration, interface: &str, frame: &Frame) -> String {
    LogLine { time, interface: interface.to_owned(), content: Content::Frame(*frame) }.to_string()
}

/// Iterates over the lines of a log; empty ones are skipped.
pub fn read(reader: impl BufRead) -> impl Iterator<Item = Result<LogLine, ReadError>> {
    Lines { reader: Some(reader), number: 0 }
}

struct Lines<R> {
    /// `None` after the end.
    reader: Option<R>,
    number: u64,
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<LogLine, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let reader = self.reader.as_mut()?;
            let mut bytes = Vec::new();
            self.number += 1;
            match reader.take(MAX_LINE).read_until(b'\n', &mut bytes) {
                Ok(0) => {
                    self.reader = None;
                    return None;
                }
                Ok(length) if length as u64 == MAX_LINE && !bytes.ends_with(b"\n") => {
                    self.reader = None;
                    return Some(Err(ReadError::TooLong { number: self.number }));
                }
                Ok(_) => {}
                Err(error) => {
                    self.reader = None;
                    return Some(Err(error.into()));
                }
            }
            let text = String::from_utf8_lossy(&bytes);
            if !text.trim().is_empty() {
                let number = self.number;
                return Some(text.parse().map_err(|source| ReadError::Line { number, source }));
            }
        }
    }
}

impl FromStr for LogLine {
    type Err = ParseLineError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).ok_or_else(|| ParseLineError(text.trim().to_owned()))
    }
}

/// A frame in log format, to the microsecond. Other contents are described in words, which are not log format.
impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}.{:06}) {} ", self.time.as_secs(), self.time.subsec_micros(), self.interface)?;
        match &self.content {
            Content::Frame(frame) => write!(f, "{frame}"),
            Content::Faults(faults) => write!(f, "error frame: {faults:?}"),
            Content::CanFd => f.write_str("CAN FD"),
        }
    }
}

fn parse(text: &str) -> Option<LogLine> {
    let mut words = text.split_ascii_whitespace();
    let (time, interface, content) = (words.next()?, words.next()?, words.next()?);
    if !matches!((words.next(), words.next()), (None | Some("R" | "T"), None)) {
        return None;
    }
    Some(LogLine {
        time: parse_time(time.strip_prefix('(')?.strip_suffix(')')?)?,
        interface: interface.to_owned(),
        content: parse_content(content)?,
    })
}

/// Seconds with up to nine decimals.
fn parse_time(text: &str) -> Option<Duration> {
    let (seconds, fraction) = text.split_once('.')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(seconds) || !digits(fraction) || fraction.len() > 9 {
        return None;
    }
    let nanoseconds = format!("{fraction:0<9}").parse().ok()?;
    Some(Duration::new(seconds.parse().ok()?, nanoseconds))
}

fn parse_content(text: &str) -> Option<Content> {
    let (id, data) = text.split_once('#')?;
    let raw = u32::from_str_radix(id, 16).ok()?;
    if let Some(fd) = data.strip_prefix('#') {
        let wide = matches!(id.len(), 3 | 8) && fd.len() % 2 == 1;
        return (wide && fd.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(Content::CanFd);
    }
    if id.len() == 8 && raw & ERROR_FLAG != 0 {
        // The data alone, parsed like a frame's; the identifier is too wide for one.
        let frame: Frame = format!("000#{data}").parse().ok()?;
        let mut bytes = [0; 8];
        bytes.get_mut(..frame.data().len())?.copy_from_slice(frame.data());
        return Some(Content::Faults(error_frame::faults(raw, bytes)));
    }
    text.parse().ok().map(Content::Frame)
}

/// A bus on which the frames of a log arrive, at the times of the log; sent frames are only recorded.
///
/// Its time begins with the first line and is virtual: it advances only in [`Bus::wait`], by exactly the timeout, or to
/// the next line if that comes first.
pub struct ReplayBus<L: Iterator<Item = LogLine>> {
    lines: Peekable<L>,
    first: Option<Duration>,
    now: Duration,
    pending: VecDeque<BusFault>,
    sent: Vec<(Duration, Frame)>,
}

impl<L: Iterator<Item = LogLine>> ReplayBus<L> {
    /// A bus with a virtual time.
    pub fn in_virtual_time(lines: impl IntoIterator<IntoIter = L>) -> Self {
        let mut lines = lines.into_iter().peekable();
        let first = lines.peek().map(|line| line.time);
        Self { lines, first, now: Duration::ZERO, pending: VecDeque::new(), sent: Vec::new() }
    }

    /// Time since the first line.
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Whether the log is at its end.
    pub fn is_finished(&mut self) -> bool {
        self.pending.is_empty() && self.lines.peek().is_none()
    }

    /// The sent frames with their times.
    pub fn sent(&self) -> &[(Duration, Frame)] {
        &self.sent
    }

    /// When the next line is due; a line older than the one before is due at once.
    fn due(&mut self) -> Option<Duration> {
        Some(self.lines.peek()?.time.saturating_sub(self.first?))
    }
}

impl<L: Iterator<Item = LogLine> + Send> Bus for ReplayBus<L> {
    fn send(&mut self, frame: &Frame) -> Result<(), SendError> {
        self.sent.push((self.now(), *frame));
        Ok(())
    }

    fn receive(&mut self) -> Option<Received> {
        loop {
            if let Some(fault) = self.pending.pop_front() {
                return Some(Received::Fault(fault));
            }
            if self.due()? > self.now() {
                return None;
            }
            match self.lines.next()?.content {
                Content::Frame(frame) => return Some(Received::Frame(frame)),
                Content::Faults(faults) => self.pending.extend(faults),
                Content::CanFd => {}
            }
        }
    }

    fn wait(&mut self, timeout: Duration) {
        if !self.pending.is_empty() {
            return;
        }
        let now = self.now;
        let pause = self.due().map_or(timeout, |due| due.saturating_sub(now).min(timeout));
        self.now = now.saturating_add(pause);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LOG: &str = "(1600000000.000100) can0 080#\n\
        (1600000000.001100) can0 181#0102 R\n\
        \n\
        (1600000000.001100) can0 20000040#0000000000000000\n\
        (1600000000.002000) can0 123##1DEADBEEF\n\
        (1600000000.010100) can0 00000181#R4 T\n";

    fn lines(log: &str) -> Vec<LogLine> {
        read(log.as_bytes()).map(Result::unwrap).collect()
    }

    #[test]
    fn a_log_is_read_line_by_line() {
        let lines = lines(LOG);
        let contents: Vec<_> = lines.iter().map(|line| line.content.clone()).collect();
        let frame = |text: &str| Content::Frame(text.parse().unwrap());
        let off = Content::Faults(vec![BusFault::BusOff]);
        assert_eq!(contents, [frame("080#"), frame("181#0102"), off, Content::CanFd, frame("00000181#R4")]);
        assert!(lines.iter().all(|line| line.interface == "can0"));
        assert_eq!(lines[0].time, Duration::new(1_600_000_000, 100_000));
        assert_eq!("(1.123456789) can0 080#".parse::<LogLine>().unwrap().time, Duration::new(1, 123_456_789));
    }

    #[test]
    fn a_frame_is_written_as_it_is_read() {
        for text in ["(1600000000.123456) can0 181#0102", "(0.000001) vcan10 1F334455#R8"] {
            let parsed: LogLine = text.parse().unwrap();
            assert_eq!(parsed.to_string(), text);
            let Content::Frame(frame) = parsed.content else { panic!("a frame") };
            assert_eq!(line(parsed.time, &parsed.interface, &frame), text);
        }
    }

    #[test]
    fn what_is_no_log_is_refused_with_its_line() {
        for text in [
            "181#0102",
            "(1.5) can0",
            "(1.5) can0 181#010",
            "(1.5) can0 181#01 X",
            "(1.5) can0 181#01 R T",
            "(-1.5) can0 181#01",
            "(1) can0 181#01",
            "(1.0000000001) can0 181#01",
            "(99999999999999999999.5) can0 181#01",
            "1.5 can0 181#01",
            "(1.5) can0 20000040#000000000000000000",
            "(1.5) can0 181##1x",
        ] {
            assert!(text.parse::<LogLine>().is_err(), "{text}");
        }
        let mut log = read(&b"(1.5) can0 080#\n\nrubbish \xff\n(1.5) can0 080#\n"[..]);
        assert!(log.next().unwrap().is_ok());
        let error = log.next().unwrap().unwrap_err().to_string();
        assert!(error.starts_with("line 3: 'rubbish"), "{error}");
        assert!(log.next().unwrap().is_ok());
        assert!(log.next().is_none());
    }

    #[test]
    fn a_line_without_end_ends_the_log() {
        let mut log = read(io::BufReader::new(io::repeat(b'x').take(1 << 40)));
        assert!(matches!(log.next(), Some(Err(ReadError::TooLong { number: 1 }))));
        assert!(log.next().is_none());
    }

    #[test]
    fn a_replay_gives_what_is_due_and_nothing_earlier() {
        let mut bus = ReplayBus::in_virtual_time(lines(LOG));
        let frame = |text: &str| Some(Received::Frame(text.parse().unwrap()));
        assert_eq!(bus.receive(), frame("080#"));
        assert_eq!(bus.receive(), None);
        bus.wait(Duration::from_micros(400));
        assert_eq!((bus.now(), bus.receive()), (Duration::from_micros(400), None));
        bus.wait(Duration::from_secs(1));
        assert_eq!(bus.now(), Duration::from_millis(1));
        assert_eq!(bus.receive(), frame("181#0102"));
        assert_eq!(bus.receive(), Some(Received::Fault(BusFault::BusOff)));
        let answer = Frame::standard(0x601, &[1]).unwrap();
        bus.send(&answer).unwrap();
        assert_eq!(bus.sent(), [(Duration::from_millis(1), answer)]);
        // A skipped line ends a wait, but is not received.
        bus.wait(Duration::from_secs(1));
        assert_eq!(bus.receive(), None);
        bus.wait(Duration::from_secs(1));
        assert_eq!(bus.receive(), frame("00000181#R4"));
        assert!(bus.is_finished());
        bus.wait(Duration::from_secs(1));
        assert_eq!(bus.now(), Duration::from_millis(1010));
    }

    #[test]
    fn a_replay_comes_to_the_end_of_the_log() {
        let mut bus = ReplayBus::in_virtual_time(lines(LOG));
        let mut received = 0;
        while !bus.is_finished() {
            bus.wait(Duration::from_secs(1));
            received += std::iter::from_fn(|| bus.receive()).count();
        }
        assert_eq!(received, 4);
        assert!(bus.now() >= Duration::from_millis(10));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in any::<Vec<u8>>()) {
            for line in read(&text[..]).flatten() {
                prop_assert!(line.to_string().contains(&line.interface));
            }
        }

        #[test]
        fn what_looks_like_a_line_is_written_as_it_was_read(
            text in r"\([0-9]{1,4}\.[0-9]{6}\) [a-z]{1,3}[0-9] [0-7][0-9A-F]{2}#(R[0-8]|([0-9A-F]{2}){0,9})",
        ) {
            if let Ok(line) = text.parse::<LogLine>() {
                let again: LogLine = line.to_string().parse().unwrap();
                prop_assert_eq!(again, line);
            }
        }
    }
}

//! Bus logs of can-utils and a bus that replays them.
//!
//! Written: one line per frame, `(1600000000.123456) can0 181#0102`; seconds, interface, frame (`candump -L`, `candump -l`,
//! `canplayer`). Read: that, and what `candump` shows on the screen.
//!
//! | file | holds |
//! | --- | --- |
//! | `candump.rs` | reading a log line by line, its times; the bus |
//! | `candump/formats.rs` | one line, in all formats |

mod formats;

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, BufRead, Read};
use std::iter::Peekable;
use std::str::FromStr;
use std::time::Duration;

use formats::Line;

use super::bus::{Bus, BusFault, Received, SendError};
use super::frame::Frame;

/// Maximum length of a line in bytes; those of CAN FD are below 200.
const MAX_LINE: u64 = 512;

/// One frame of a log: when, on which interface, and what.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct LogLine {
    /// Time of the system's clock, since 1970; some programs write it since the start of the log. Zero if there is none.
    pub time: Duration,
    /// The interface's name; `-` if there is none.
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
    /// A frame of CAN FD or CAN XL, which is skipped.
    NotClassic,
}

/// A candump line failed to parse.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a line of candump; write (1600000000.123456) can0 181#0102")]
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
    let lines = Lines { reader: Some(reader), number: 0, is_after_faults: false };
    Timed { lines, ahead: VecDeque::new(), base: None, time: Duration::ZERO }
}

struct Lines<R> {
    /// `None` after the end.
    reader: Option<R>,
    number: u64,
    /// Whether the line before was an error frame.
    is_after_faults: bool,
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<Line, ReadError>;

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
            // `candump -e` puts the faults of an error frame into words, in lines of their own.
            if text.trim().is_empty() || (self.is_after_faults && text.starts_with('\t')) {
                continue;
            }
            let line = formats::parse(&text);
            self.is_after_faults = matches!(&line, Some(Line { content: Content::Faults(_), .. }));
            return Some(line.ok_or_else(|| ReadError::Line {
                number: self.number,
                source: ParseLineError(text.trim().to_owned()),
            }));
        }
    }
}

/// What the times of a log count from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Base {
    /// The same for all lines: 1970, or the first line (`candump -t z`).
    Fixed,
    /// The line before (`candump -t d`).
    Last,
}

/// Gives the lines of a log their times.
struct Timed<I: Iterator> {
    lines: I,
    /// Lines that were needed to find out the base.
    ahead: VecDeque<I::Item>,
    /// `None` before the first time.
    base: Option<Base>,
    /// That of the line before.
    time: Duration,
}

impl<I: Iterator<Item = Result<Line, ReadError>>> Timed<I> {
    /// Logs whose times count from the first line or from the line before begin with zero; in the latter, times do not
    /// grow.
    fn base(&mut self, first: Duration) -> Base {
        const LINES: usize = 64;
        if !first.is_zero() {
            return Base::Fixed;
        }
        self.ahead.extend(self.lines.by_ref().take(LINES));
        let times: Vec<Duration> = self.ahead.iter().flatten().filter_map(|line| line.time).collect();
        let steps = times.iter().zip(times.iter().skip(1));
        let back = steps.clone().filter(|(before, after)| after <= before && !after.is_zero()).count();
        // A few lines may be out of order, as in a log of two interfaces.
        if back > 0 && 4 * back >= steps.len() { Base::Last } else { Base::Fixed }
    }
}

impl<I: Iterator<Item = Result<Line, ReadError>>> Iterator for Timed<I> {
    type Item = Result<LogLine, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Line { time, interface, content } = match self.ahead.pop_front().or_else(|| self.lines.next())? {
            Ok(line) => line,
            Err(error) => return Some(Err(error)),
        };
        if let Some(time) = time {
            let base = match self.base {
                Some(base) => base,
                None => self.base(time),
            };
            self.base = Some(base);
            self.time = if base == Base::Last { self.time.saturating_add(time) } else { time };
        }
        Some(Ok(LogLine::of(self.time, interface, content)))
    }
}

impl LogLine {
    fn of(time: Duration, interface: Option<String>, content: Content) -> Self {
        Self { time, interface: interface.unwrap_or_else(|| "-".to_owned()), content }
    }
}

impl FromStr for LogLine {
    type Err = ParseLineError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let line = formats::parse(text).ok_or_else(|| ParseLineError(text.trim().to_owned()))?;
        Ok(Self::of(line.time.unwrap_or_default(), line.interface, line.content))
    }
}

/// A frame in log format, to the microsecond. Other contents are described in words, which are not log format.
impl fmt::Display for LogLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}.{:06}) {} ", self.time.as_secs(), self.time.subsec_micros(), self.interface)?;
        match &self.content {
            Content::Frame(frame) => write!(f, "{frame}"),
            Content::Faults(faults) => write!(f, "error frame: {faults:?}"),
            Content::NotClassic => f.write_str("CAN FD or XL"),
        }
    }
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
                Content::NotClassic => {}
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
        assert_eq!(
            contents,
            [frame("080#"), frame("181#0102"), off, Content::NotClassic, frame("00000181#R4")]
        );
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
    fn text_that_is_not_a_log_is_refused_with_its_line() {
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

    fn milliseconds(log: &str) -> Vec<u128> {
        lines(log).iter().map(|line| line.time.as_millis()).collect()
    }

    #[test]
    fn times_count_from_1970_the_first_line_or_the_line_before() {
        let log = |times: &[&str]| -> String {
            times.iter().map(|time| format!(" ({time})  can0  181   [1]  01\n")).collect()
        };
        assert_eq!(
            milliseconds(&log(&["1600000000.010", "1600000000.009"])),
            [1_600_000_000_010, 1_600_000_000_009]
        );
        assert_eq!(milliseconds(&log(&["000.000", "000.010", "000.030"])), [0, 10, 30]);
        assert_eq!(milliseconds(&log(&["000.000", "000.010", "000.030", "000.005"])), [0, 10, 40, 45]);
        assert_eq!(milliseconds(&log(&["000.000", "000.010", "000.010", "000.010"])), [0, 10, 20, 30]);
        let swapped = log(&["000.000", "000.010", "000.030", "000.029", "000.040", "000.050", "000.060"]);
        assert_eq!(milliseconds(&swapped), [0, 10, 30, 29, 40, 50, 60]);
        // Lines without a time come together with the line before.
        assert_eq!(
            milliseconds("can0  181   [0]\ncan0  181   [0]\n(0.010) can0 181#\ncan0  181   [0]"),
            [0, 0, 10, 10]
        );
    }

    #[test]
    fn faults_in_words_belong_to_the_line_before() {
        let log = "  can0  20000040   [8]  00 00 00 00 00 00 00 00   ERRORFRAME\n\tbus-off\n\terror-counter-tx-rx{{0}{0}}\n\
            \u{20} can0  181   [1]  01\n\tno faults here\n";
        let mut log = read(log.as_bytes());
        assert!(matches!(log.next().unwrap().unwrap().content, Content::Faults(_)));
        assert!(matches!(log.next().unwrap().unwrap().content, Content::Frame(_)));
        assert!(matches!(log.next(), Some(Err(ReadError::Line { number: 5, .. }))));
    }

    #[test]
    fn a_line_without_end_ends_the_log() {
        let mut log = read(io::BufReader::new(io::repeat(b'x').take(1 << 40)));
        assert!(matches!(log.next(), Some(Err(ReadError::TooLong { number: 1 }))));
        assert!(log.next().is_none());
    }

    #[test]
    fn a_replay_gives_no_frame_before_it_is_due() {
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

        /// With every option of candump that changes the format.
        #[test]
        fn a_frame_on_the_screen_is_the_frame_of_a_log(
            id in prop_oneof![(0u32..0x800).prop_map(|id| format!("{id:03X}")), (0u32..0x2000_0000).prop_map(|id| format!("{id:08X}"))],
            bytes in prop::collection::vec(any::<u8>(), 0..=8),
            (swapped, binary, text, direction, colour) in any::<(bool, bool, bool, bool, bool)>(),
        ) {
            let digits = |byte: &u8| if binary { format!("{byte:08b}") } else { format!("{byte:02X}") };
            let data = match swapped {
                true => bytes.iter().rev().map(digits).collect::<Vec<_>>().join("`"),
                false => bytes.iter().map(digits).collect::<Vec<_>>().join(" "),
            };
            let shown: String = bytes.iter().map(|&byte| if (0x20..0x7f).contains(&byte) { char::from(byte) } else { '.' }).collect();
            let text = if text { format!("   '{shown}'") } else { String::new() };
            let direction = if direction { "  RX - -" } else { "" };
            let (on, off) = if colour { ("\x1b[31m", "\x1b[0m") } else { ("", "") };
            let screen = format!(" {on}(1.500000)  can0{direction}  {id}   [{}]  {data}{text}{off}", bytes.len());
            let compact: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
            let log: LogLine = format!("(1.500000) can0 {id}#{compact}").parse().unwrap();
            prop_assert_eq!(screen.parse::<LogLine>(), Ok(log));
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

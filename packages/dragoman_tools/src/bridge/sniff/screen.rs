//! What `dragoman bridge sniff` prints: a line per message, in colour on a terminal.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use chrono::DateTime;
use dragoman_protocol::model::Side;

/// Bytes of one line, at most.
const MAX_SHOWN: usize = 64;

/// What a line is about, which decides its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message to the machine, or from it.
    Message(Side),
    /// Bytes that are not a message.
    Wrong(Option<Side>),
    /// What is said about the line itself.
    Note,
}

impl Kind {
    /// Codes of ECMA-48: cyan, green, red, faint.
    fn colour(self) -> &'static str {
        match self {
            Self::Message(Side::Client) => "\x1b[36m",
            Self::Message(Side::Server) => "\x1b[32m",
            Self::Wrong(_) => "\x1b[31m",
            Self::Note => "\x1b[2m",
        }
    }

    fn arrow(self) -> &'static str {
        match self {
            Self::Message(Side::Client) | Self::Wrong(Some(Side::Client)) => "->",
            Self::Message(Side::Server) | Self::Wrong(Some(Side::Server)) => "<-",
            Self::Wrong(None) => "??",
            Self::Note => "--",
        }
    }
}

/// Prints lines.
pub(crate) struct Screen<W> {
    out: W,
    is_coloured: bool,
    /// Days since 1970 of the last line.
    day: Option<u64>,
    /// Who speaks with whom in the last line.
    ends: Option<String>,
}

/// Whether colours are wanted: on a terminal that has them, and not with NO_COLOR.
pub(crate) fn is_coloured() -> bool {
    let is_set = |name: &str| dragoman_time::variable(name).filter(|value| !value.is_empty());
    io::stdout().is_terminal()
        && is_set("NO_COLOR").is_none()
        && is_set("TERM").is_none_or(|terminal| terminal != "dumb")
}

impl<W: Write> Screen<W> {
    pub(crate) fn new(out: W, is_coloured: bool) -> Self {
        Self { out, is_coloured, day: None, ends: None }
    }

    /// Says who speaks with whom, if that is not known from the line before.
    pub(crate) fn ends(&mut self, now: Option<Duration>, ends: &str) -> io::Result<()> {
        if ends.is_empty() || self.ends.as_deref() == Some(ends) {
            return Ok(());
        }
        self.line(now, Kind::Note, format_args!("{ends}"))?;
        self.ends = Some(ends.to_owned());
        Ok(())
    }

    /// A line. `now` is the time since 1970, if it is known.
    pub(crate) fn line(
        &mut self,
        now: Option<Duration>,
        kind: Kind,
        text: fmt::Arguments<'_>,
    ) -> io::Result<()> {
        const DAY: u64 = 86_400;
        let mut time = String::new();
        if let Some(now) = now {
            let (day, rest) = (now.as_secs() / DAY, now.as_secs() % DAY);
            if self.day.replace(day) != Some(day) {
                let date =
                    i64::try_from(now.as_secs()).ok().and_then(|time| DateTime::from_timestamp(time, 0));
                if let Some(date) = date {
                    self.coloured(Kind::Note, &format!("-- {}, times are UTC", date.date_naive()))?;
                }
            }
            let micros = now.subsec_micros();
            time = format!("{:02}:{:02}:{:02}.{micros:06} ", rest / 3600, rest / 60 % 60, rest % 60);
        }
        let text = text.to_string();
        self.coloured(kind, &format!("{time}{} {}", kind.arrow(), safe(&text)))
    }

    /// A line of its own, for the end.
    pub(crate) fn plain(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", safe(text))
    }

    fn coloured(&mut self, kind: Kind, text: &str) -> io::Result<()> {
        if self.is_coloured {
            writeln!(self.out, "{}{text}\x1b[0m", kind.colour())
        } else {
            writeln!(self.out, "{text}")
        }
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    #[cfg(test)]
    pub(crate) fn into_inner(self) -> W {
        self.out
    }
}

/// Without what could change the terminal.
fn safe(text: &str) -> Cow<'_, str> {
    dragoman_text::line(text)
}

/// Bytes in hexadecimal digits; of many the first ones.
pub(crate) struct Hexadecimal<'a>(pub(crate) &'a [u8]);

impl fmt::Display for Hexadecimal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, byte) in self.0.iter().take(MAX_SHOWN).enumerate() {
            write!(f, "{}{byte:02x}", if number == 0 { "" } else { " " })?;
        }
        if self.0.len() > MAX_SHOWN { write!(f, " ... ({} bytes)", self.0.len()) } else { Ok(()) }
    }
}

//! Frames, messages and noise in what one side has sent at one moment.

use std::io::{self, Write};
use std::time::Duration;

use dragoman_protocol::codec::{Codec, DecodeError, MessageId, Values};
use dragoman_protocol::cut::{Begin, Cutter};
use dragoman_protocol::model::Side;

use super::screen::{Hexadecimal, Kind, Screen};
use super::watch::{Counts, Ends, Heard};

/// Bytes that belong to no frame wait for so many before they are shown, so that noise is not a line per byte.
const NOISE: usize = 32;
/// Where silences are too short to be seen, frames with a check sum are looked for in so many bytes.
const MAX_SEARCHED: usize = 512;
/// Marks identifiers of 29 bits in descriptions.
pub(super) const EXTENDED: u64 = 1 << 31;

/// One direction.
pub(super) struct Lane {
    pub(super) cutter: Cutter,
    /// Bytes that belong to no frame, and are not shown yet.
    pub(super) noise: Vec<u8>,
    /// So many bytes were shown already as a wrong frame: others may hide in it.
    pub(super) shown: usize,
    /// What was received since the last silence, where that ends a frame.
    pub(super) gap: Vec<u8>,
    /// When, and from whom, something was received last.
    pub(super) last: Option<Duration>,
    pub(super) heard: Option<Heard>,
}

/// The last question of a conversation.
pub(super) struct Asked<'a> {
    pub(super) asked: &'a mut Option<MessageId>,
    pub(super) question: &'a mut Values,
}

/// A message, who has sent it, and whether it answers the last question.
pub(super) type Decoded = Result<(MessageId, Side), DecodeError>;

/// All but the conversation, for the bytes of one moment.
pub(super) struct Turn<'a, W> {
    pub(super) codec: &'a Codec,
    pub(super) may_hide: bool,
    pub(super) gap: Option<Duration>,
    pub(super) has_checksum: bool,
    pub(super) max: usize,
    pub(super) now: Option<Duration>,
    pub(super) heard: Heard,
    pub(super) ends: Ends,
    pub(super) values: &'a mut Values,
    pub(super) scratch: &'a mut Values,
    pub(super) frame: &'a mut Vec<u8>,
    pub(super) screen: &'a mut Screen<W>,
    pub(super) counts: &'a mut Counts,
}

impl<W: Write> Turn<'_, W> {
    pub(super) fn stream(&mut self, lane: &mut Lane, asked: &mut Asked<'_>, bytes: &[u8]) -> io::Result<()> {
        if self.gap.is_some() {
            return self.silences(lane, asked, bytes);
        }
        // A large part at once would let the buffer grow.
        for part in bytes.chunks(4096) {
            lane.cutter.push(part);
            self.frames(lane, asked)?;
        }
        Ok(())
    }

    fn frames(&mut self, lane: &mut Lane, asked: &mut Asked<'_>) -> io::Result<()> {
        let mut frame = std::mem::take(self.frame);
        loop {
            frame.clear();
            let (codec, heard, scratch) = (self.codec, self.heard, &mut *self.scratch);
            let content = lane.cutter.next_frame_by(|rest| measure(codec, heard, rest, scratch));
            let is_found = content.map(|content| frame.extend_from_slice(content)).is_some();
            self.left_out(lane)?;
            if !is_found {
                break;
            }
            let decoded = self.decode(asked, None, &frame);
            let is_wrong = decoded.is_err();
            if lane.shown == 0 || !is_wrong {
                self.noise(lane)?;
                self.show(asked, decoded, None, &frame)?;
                if is_wrong && self.may_hide {
                    lane.shown = frame.len();
                    // They are counted one by one, as far as no message is found within.
                    self.counts.left_out -= frame.len() as u64;
                }
            }
            if is_wrong && self.may_hide {
                lane.cutter.reject();
            } else {
                lane.shown = lane.shown.saturating_sub(frame.len());
            }
        }
        *self.frame = frame;
        Ok(())
    }

    /// Takes what the cutter has left out.
    fn left_out(&mut self, lane: &mut Lane) -> io::Result<()> {
        let bytes = lane.cutter.take_left_out();
        self.counts.left_out += bytes.len() as u64;
        let known = lane.shown.min(bytes.len());
        lane.shown -= known;
        for byte in bytes.get(known..).unwrap_or_default() {
            lane.noise.push(*byte);
            if lane.noise.len() >= NOISE {
                self.noise(lane)?;
            }
        }
        Ok(())
    }

    /// Shows the bytes that belong to no frame.
    pub(super) fn noise(&mut self, lane: &mut Lane) -> io::Result<()> {
        if lane.noise.is_empty() {
            return Ok(());
        }
        let count = lane.noise.len();
        let bytes = Hexadecimal(&lane.noise);
        let text = format!(
            "{bytes}: {count} {} to no frame",
            if count == 1 { "byte belongs" } else { "bytes belong" }
        );
        lane.noise.clear();
        self.wrong(&text)
    }

    /// Nothing belongs to what waits for the rest of its frame.
    pub(super) fn rest(&mut self, lane: &mut Lane) -> io::Result<()> {
        self.noise(lane)?;
        let bytes = lane.cutter.take_incomplete();
        lane.shown = 0;
        if bytes.is_empty() {
            return Ok(());
        }
        self.counts.left_out += bytes.len() as u64;
        let text = format!("{}: the beginning of a frame whose end is missing", Hexadecimal(&bytes));
        self.wrong(&text)
    }

    fn wrong(&mut self, text: &str) -> io::Result<()> {
        let side = if let Heard::Side(side) = self.heard { Some(side) } else { None };
        self.between()?;
        self.screen.line(self.now, Kind::Wrong(side), format_args!("{text}"))
    }

    fn between(&mut self) -> io::Result<()> {
        let ends = self.ends.map(|[machine, other]| format!("machine {machine}, other side {other}"));
        self.screen.ends(self.now, &ends.unwrap_or_default())
    }

    /// Frames that end with a silence; a frame is shown as soon as it is a message.
    fn silences(&mut self, lane: &mut Lane, asked: &mut Asked<'_>, bytes: &[u8]) -> io::Result<()> {
        let silence = self.now.and_then(|now| Some(now.saturating_sub(lane.last?)));
        if silence.zip(self.gap).is_some_and(|(silence, gap)| silence > gap) {
            self.after_gap(lane, asked)?;
        }
        let room = self.max.saturating_sub(lane.gap.len());
        let (taken, rest) = bytes.split_at(room.min(bytes.len()));
        lane.gap.extend_from_slice(taken);
        if self.decode(asked, None, &lane.gap).is_ok() || !rest.is_empty() {
            self.after_gap(lane, asked)?;
        }
        // Longer than any frame, without a silence.
        if !rest.is_empty() {
            self.counts.left_out += rest.len() as u64;
            let text = format!("{}: longer than any frame", Hexadecimal(rest));
            self.wrong(&text)?;
        }
        Ok(())
    }

    /// What was received is a frame; with a check sum, several may have come without a silence that could be seen.
    pub(super) fn after_gap(&mut self, lane: &mut Lane, asked: &mut Asked<'_>) -> io::Result<()> {
        let frame = std::mem::take(&mut lane.gap);
        let mut rest = frame.as_slice();
        while !rest.is_empty() {
            let whole = self.decode(asked, None, rest);
            let searched = if self.has_checksum { rest.len().min(MAX_SEARCHED) } else { 0 };
            let first = match whole {
                Ok(_) => None,
                Err(_) => (1..searched)
                    .find(|len| rest.get(..*len).is_some_and(|part| self.decode(asked, None, part).is_ok())),
            };
            let (part, after) = rest.split_at(first.unwrap_or(rest.len()));
            let decoded = self.decode(asked, None, part);
            self.show(asked, decoded, None, part)?;
            rest = after;
        }
        Ok(())
    }

    /// Decodes a frame; on a line on which both are heard, as what fits: an answer to the last question, a message to the
    /// machine, or one from it.
    pub(super) fn decode(&mut self, asked: &Asked<'_>, id: Option<u64>, frame: &[u8]) -> Decoded {
        let question = asked.asked.map(|message| (message, &*asked.question));
        let Self { codec, values, .. } = self;
        let mut of = |side: Side| {
            let decoded = codec.decode_frame(id, frame, side, question, values);
            decoded.map(|message| (message, side))
        };
        if let Heard::Side(side) = self.heard {
            return of(side);
        }
        if question.is_some()
            && let Ok(answer @ (MessageId { is_answer: true, .. }, _)) = of(Side::Server)
        {
            return Ok(answer);
        }
        let first = match of(Side::Client) {
            Ok(message) => return Ok(message),
            Err(error) => error,
        };
        of(Side::Server).map_err(|second| match second {
            DecodeError::UnknownCode { .. } => first,
            second => second,
        })
    }

    /// Shows a frame, and counts it.
    pub(super) fn show(
        &mut self,
        asked: &mut Asked<'_>,
        decoded: Decoded,
        id: Option<u64>,
        frame: &[u8],
    ) -> io::Result<()> {
        let (message, side) = match decoded {
            Ok(found) => found,
            Err(error) => {
                self.counts.wrong += 1;
                self.counts.left_out += frame.len() as u64;
                let id = id.map_or(String::new(), |id| format!("{:#x} ", id & !EXTENDED));
                let text = format!("{id}{}: {error}", Hexadecimal(frame));
                return self.wrong(&text);
            }
        };
        self.between()?;
        let shown = self.codec.show(message, self.values);
        self.screen.line(self.now, Kind::Message(side), format_args!("{shown}"))?;
        let messages = &self.codec.protocol().messages;
        if let Some(found) = messages.get(message.number) {
            let name =
                if message.is_answer { format!("answer to {}", found.name) } else { found.name.clone() };
            *self.counts.messages.entry(name).or_default() += 1;
            self.counts.right += 1;
            if found.answer.is_some() && !message.is_answer {
                *asked.asked = Some(message);
                std::mem::swap(asked.question, self.values);
            }
        }
        if message.is_answer {
            *asked.asked = None;
        }
        Ok(())
    }
}

/// What a buffer begins with, if each code has a size of its own.
fn measure(codec: &Codec, heard: Heard, rest: &[u8], scratch: &mut Values) -> Begin {
    match heard {
        Heard::Side(side) => codec.measure(rest, side, scratch),
        Heard::Both => match codec.measure(rest, Side::Client, scratch) {
            Begin::Garbage(_) => codec.measure(rest, Side::Server, scratch),
            begin => begin,
        },
    }
}

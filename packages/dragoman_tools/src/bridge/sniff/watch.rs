//! Cuts what is heard into frames, decodes them, shows them, and counts.
//!
//! It has no link and no clock: [`Watch`] takes bytes with their times, of a line, of datagrams, or of a CAN bus.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dragoman_protocol::codec::{Codec, MessageId, Values};
use dragoman_protocol::cut::{Cutter, MAX_FRAME};
use dragoman_protocol::model::{Code, FieldRole, Link, Side};

use super::screen::{Kind, Screen};
use super::turn::{Asked, EXTENDED, Lane, Turn};

/// Connections and peers that are known at the same time; of further ones the one that was silent for longest is forgotten.
const MAX_CONVERSATIONS: usize = 32;
/// So long after the last byte they are shown at once.
const NOISE_TIME: Duration = Duration::from_millis(300);
/// Frames that end with a silence: the system reports bytes with a delay, so a shorter silence cannot be seen.
const MIN_GAP: Duration = Duration::from_millis(4);
/// Identifiers above this one have 29 bits.
const MAX_STANDARD: u64 = 0x7FF;
/// Bits of a character on a serial line, with those around it.
const CHARACTER: f64 = 11.0;

/// Who has sent what was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Side(Side),
    /// Both are heard on one line: what is no message of the one may be one of the other.
    Both,
}

/// Between whom bytes are sent: the machine's address and the other one; none on a line.
pub(crate) type Ends = Option<[SocketAddr; 2]>;

/// What is heard, where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) ends: Ends,
    pub(crate) heard: Heard,
}

/// How many of what there were.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(super) messages: BTreeMap<String, u64>,
    pub(crate) right: u64,
    pub(crate) wrong: u64,
    /// Bytes that are not part of a message.
    pub(crate) left_out: u64,
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.messages.is_empty() {
            f.write_str("no messages")?;
        }
        for (number, (name, count)) in self.messages.iter().enumerate() {
            write!(f, "{}{name} {count}", if number == 0 { "" } else { ", " })?;
        }
        write!(f, "; wrong frames {}, bytes that are no message {}", self.wrong, self.left_out)
    }
}

/// Both directions between two ends.
struct Conversation {
    ends: Ends,
    lanes: [Lane; 2],
    /// The last question, with its values.
    asked: Option<MessageId>,
    question: Values,
    /// A number that grows: when it was heard last.
    used: u64,
}

/// Shows what is heard.
pub(crate) struct Watch<W> {
    codec: Arc<Codec>,
    /// A new one for each direction.
    cutter: Cutter,
    /// A frame with a wrong size may hide others.
    may_hide: bool,
    /// Frames end with so much silence.
    gap: Option<Duration>,
    has_checksum: bool,
    max: usize,
    conversations: Vec<Conversation>,
    used: u64,
    values: Values,
    scratch: Values,
    frame: Vec<u8>,
    screen: Screen<W>,
    counts: Counts,
}

impl<W: Write> Watch<W> {
    pub(crate) fn new(codec: Arc<Codec>, mut cutter: Cutter, screen: Screen<W>) -> Self {
        cutter.keep_left_out();
        let protocol = codec.protocol();
        let cut = &protocol.frame.cut;
        let rate = if let Link::Serial(serial) = protocol.link { f64::from(serial.rate) } else { 9600.0 };
        let gap = cut
            .silence
            .and_then(|characters| Duration::try_from_secs_f64(characters * CHARACTER / rate.max(1.0)).ok());
        let has_checksum = protocol.frame.fields.iter().any(|field| field.is == Some(FieldRole::Checksum));
        Self {
            may_hide: cut.size.is_some() || cut.by_code,
            gap: gap.map(|gap| gap.max(MIN_GAP)),
            has_checksum,
            max: cut.most.unwrap_or(MAX_FRAME),
            cutter,
            conversations: Vec::new(),
            used: 0,
            values: Values::default(),
            scratch: Values::default(),
            frame: Vec::new(),
            screen,
            counts: Counts::default(),
            codec,
        }
    }

    /// Says something that is not about bytes.
    pub(crate) fn note(&mut self, now: Option<Duration>, text: &str) -> io::Result<()> {
        self.screen.line(now, Kind::Note, format_args!("{text}"))
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.screen.flush()
    }

    #[cfg(test)]
    pub(crate) fn into_screen(self) -> Screen<W> {
        self.screen
    }

    /// What was counted.
    pub(crate) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Takes bytes of a line or of a connection.
    pub(crate) fn bytes(&mut self, now: Option<Duration>, place: Place, bytes: &[u8]) -> io::Result<()> {
        let number = self.conversation(place.ends);
        self.with(number, now, place, |one, lane, asked| one.stream(lane, asked, bytes))
    }

    /// Takes a datagram, or what else is received as a whole: no message is in two of them.
    pub(crate) fn datagram(&mut self, now: Option<Duration>, place: Place, bytes: &[u8]) -> io::Result<()> {
        let number = self.conversation(place.ends);
        self.with(number, now, place, |one, lane, asked| {
            if one.gap.is_some() {
                lane.gap.extend_from_slice(bytes);
                return one.after_gap(lane, asked);
            }
            one.stream(lane, asked, bytes)?;
            one.rest(lane)
        })
    }

    /// Takes a frame of a CAN bus.
    pub(crate) fn can(
        &mut self,
        now: Option<Duration>,
        id: u64,
        is_extended: bool,
        data: &[u8],
    ) -> io::Result<()> {
        let place = Place { ends: None, heard: Heard::Both };
        let marked = id | EXTENDED;
        let is_marked =
            is_extended && self.codec.protocol().messages.iter().any(|one| one.code == Code::Number(marked));
        // As the bridge does: without the mark only identifiers that need 29 bits, or all if the link says so.
        let is_plain =
            matches!(self.codec.protocol().link, Link::Can(can) if can.extended) || id > MAX_STANDARD;
        let id = if is_marked || is_extended && !is_plain { marked } else { id };
        let number = self.conversation(None);
        self.with(number, now, place, |one, _, asked| {
            let decoded = one.decode(asked, Some(id), data);
            one.show(asked, decoded, Some(id), data)
        })
    }

    /// Bytes are missing here: what follows does not belong to what was there before.
    pub(crate) fn missing(&mut self, now: Option<Duration>, place: Place, count: u32) -> io::Result<()> {
        let number = self.conversation(place.ends);
        self.with(number, now, place, |one, lane, _| {
            one.rest(lane)?;
            one.screen.line(one.now, Kind::Note, format_args!("{count} bytes are not in the capture"))
        })
    }

    /// Nothing was heard up to now.
    pub(crate) fn idle(&mut self, now: Duration) -> io::Result<()> {
        let longest = self.gap.unwrap_or(NOISE_TIME);
        for number in 0..self.conversations.len() {
            self.each_lane(
                number,
                |lane| {
                    let is_waiting = !lane.noise.is_empty() || !lane.gap.is_empty();
                    is_waiting && lane.last.is_some_and(|last| now.saturating_sub(last) > longest)
                },
                |one, lane, asked| {
                    one.after_gap(lane, asked)?;
                    one.noise(lane)
                },
            )?;
        }
        self.screen.flush()
    }

    /// This connection has ended.
    pub(crate) fn end(&mut self, ends: Ends) -> io::Result<()> {
        let Some(number) = self.conversations.iter().position(|one| one.ends == ends) else { return Ok(()) };
        self.end_of(number)?;
        self.conversations.remove(number);
        Ok(())
    }

    /// Shows what is left, and the counts.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        while !self.conversations.is_empty() {
            self.end_of(0)?;
            self.conversations.remove(0);
        }
        let counts = self.counts.to_string();
        self.screen.plain(&counts)?;
        self.screen.flush()
    }

    fn end_of(&mut self, number: usize) -> io::Result<()> {
        self.each_lane(
            number,
            |_| true,
            |one, lane, asked| {
                one.after_gap(lane, asked)?;
                one.rest(lane)
            },
        )
    }

    /// Works on the directions of a conversation that are `wanted`, at the time when they were heard last.
    fn each_lane(
        &mut self,
        number: usize,
        wanted: impl Fn(&Lane) -> bool,
        act: impl Fn(&mut Turn<'_, W>, &mut Lane, &mut Asked<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        for which in 0..2 {
            let Some(conversation) = self.conversations.get(number) else { continue };
            let Some(lane) = conversation.lanes.get(which).filter(|lane| wanted(lane)) else { continue };
            let (Some(heard), last) = (lane.heard, lane.last) else { continue };
            self.with(number, last, Place { ends: conversation.ends, heard }, &act)?;
        }
        Ok(())
    }

    /// The place of a conversation in the list.
    fn conversation(&mut self, ends: Ends) -> usize {
        self.used += 1;
        if let Some(number) = self.conversations.iter().position(|one| one.ends == ends) {
            return number;
        }
        if self.conversations.len() >= MAX_CONVERSATIONS {
            let oldest = self.conversations.iter().enumerate().min_by_key(|(_, one)| one.used);
            if let Some(number) = oldest.map(|(number, _)| number) {
                // An error of the output comes again with the next line.
                let _ = self.end_of(number);
                self.conversations.remove(number);
            }
        }
        let lane = || Lane {
            cutter: self.cutter.clone(),
            noise: Vec::new(),
            shown: 0,
            gap: Vec::new(),
            last: None,
            heard: None,
        };
        let lanes = [lane(), lane()];
        let question = Values::default();
        self.conversations.push(Conversation { ends, lanes, asked: None, question, used: self.used });
        self.conversations.len() - 1
    }

    /// Works on one direction of a conversation.
    fn with(
        &mut self,
        number: usize,
        now: Option<Duration>,
        place: Place,
        act: impl FnOnce(&mut Turn<'_, W>, &mut Lane, &mut Asked<'_>) -> io::Result<()>,
    ) -> io::Result<()> {
        let Self { codec, conversations, values, scratch, frame, screen, counts, .. } = self;
        let Some(conversation) = conversations.get_mut(number) else { return Ok(()) };
        conversation.used = self.used;
        let Conversation { lanes: [client, server], asked, question, ends, .. } = conversation;
        // On a line on which both are heard there is one direction.
        let lane = if place.heard == Heard::Side(Side::Client) { client } else { server };
        let mut turn = Turn {
            codec,
            may_hide: self.may_hide,
            gap: self.gap,
            has_checksum: self.has_checksum,
            max: self.max,
            now,
            heard: place.heard,
            ends: *ends,
            values,
            scratch,
            frame,
            screen,
            counts,
        };
        lane.heard = Some(place.heard);
        act(&mut turn, lane, &mut Asked { asked, question })?;
        if now.is_some() {
            lane.last = now;
        }
        Ok(())
    }
}

//! What was recorded: captures, candump logs, dumps of hexadecimal digits, bytes.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use dragoman_io::can::Frame;
use dragoman_io::can::candump::{self, Content as Line, ReadError};
use dragoman_protocol::Protocol;
use dragoman_protocol::model::{Link, Side};
use embedded_can::Id;

use super::capture::{Capture, is_capture};
use super::dump::{Dump, Part};
use super::packet::{Content, Ends, Other, Segment, content};
use super::stream::{Piece, Stream};
use super::watch::{Heard, Place, Watch};
use super::{Failure, SniffCommand, SniffError};

/// Connections of TCP that are known at the same time.
const MAX_CONNECTIONS: usize = 32;
/// Ports without the machine that are named, if nothing else was found.
const MAX_PORTS: usize = 8;
/// Bytes of a file that are read at once.
const CHUNK: usize = 4096;

/// A recording, and what is known about it.
pub(crate) struct Source {
    path: PathBuf,
    is_raw: bool,
    is_can: bool,
    /// Frames are datagrams, or end with a silence: an empty line in a dump ends one.
    is_whole: bool,
    /// The port of the machine; of one that connects to us, our own one.
    port: Option<u16>,
    is_ours: bool,
    /// In a capture there is UDP only, or TCP only.
    transport: Option<&'static str>,
    has_port_option: bool,
    from: Option<Heard>,
}

impl Source {
    pub(crate) fn new(protocol: &Protocol, command: &SniffCommand, path: &Path) -> Result<Self, SniffError> {
        let (port, is_ours, transport) = match protocol.link {
            Link::Udp(udp) if udp.listen => (udp.local, true, Some("UDP")),
            Link::Udp(udp) => (udp.port, false, Some("UDP")),
            Link::Tcp(tcp) => (tcp.port, tcp.listen, Some("TCP")),
            // A line whose bytes a server passes on.
            Link::Serial(_) | Link::Can(_) => (0, false, None),
        };
        let cut = &protocol.frame.cut;
        Ok(Self {
            path: path.to_owned(),
            is_raw: command.raw,
            is_can: matches!(protocol.link, Link::Can(_)),
            is_whole: cut.datagram.is_some() || cut.silence.is_some() || transport == Some("UDP"),
            port: command.port.or((port != 0).then_some(port)),
            is_ours: is_ours && command.port.is_none(),
            transport,
            has_port_option: command.port.is_some(),
            from: command.from.map(super::Speaker::heard),
        })
    }

    /// Shows all of it.
    pub(crate) fn watch<W: Write>(
        &self,
        watch: &mut Watch<W>,
        stopped: &AtomicBool,
    ) -> Result<(), SniffError> {
        let broken = |reason: String| SniffError::Recording { path: self.path.clone(), reason };
        let watched = if self.path == Path::new("-") {
            self.read(std::io::stdin().lock(), watch, stopped)
        } else {
            let file = File::open(&self.path).map_err(|error| broken(error.to_string()))?;
            self.read(BufReader::new(file), watch, stopped)
        };
        watched.map_err(|failure| match failure {
            Failure::Output(error) => SniffError::Output(error),
            failure => broken(failure.to_string()),
        })
    }

    /// Reads a recording, whose kind its first bytes show.
    pub(crate) fn read<W: Write>(
        &self,
        mut reader: impl BufRead,
        watch: &mut Watch<W>,
        stopped: &AtomicBool,
    ) -> Result<(), Failure> {
        let mut begin = Vec::new();
        reader.by_ref().take(4).read_to_end(&mut begin).map_err(unreadable)?;
        let is_capture = !self.is_raw && is_capture(&begin);
        let reader = Cursor::new(begin).chain(reader);
        let wrong = |text: &str| Err(Failure::Other(text.to_owned()));
        if is_capture {
            if self.from.is_some() {
                return wrong("--from: this is a capture, in which who sends is known by the ports");
            }
            return self.capture(reader, watch, stopped);
        }
        if self.has_port_option {
            return wrong("--port is for captures; this is neither pcap nor pcapng");
        }
        if self.is_can && self.from.is_some() {
            return wrong("--from: on a CAN bus who sends is known by the identifiers");
        }
        if self.is_raw {
            return self.bytes(reader, watch, stopped);
        }
        if self.is_can { candump(reader, watch, stopped) } else { self.dump(reader, watch, stopped) }
    }

    fn place(&self) -> Place {
        Place { ends: None, heard: self.from.unwrap_or(Heard::Side(Side::Server)) }
    }

    fn bytes<W: Write>(
        &self,
        mut reader: impl BufRead,
        watch: &mut Watch<W>,
        stopped: &AtomicBool,
    ) -> Result<(), Failure> {
        let mut buffer = [0; CHUNK];
        while !stopped.load(Ordering::Relaxed) {
            let count = reader.read(&mut buffer).map_err(unreadable)?;
            if count == 0 {
                break;
            }
            watch.bytes(None, self.place(), buffer.get(..count).unwrap_or_default())?;
        }
        Ok(())
    }

    fn dump<W: Write>(
        &self,
        reader: impl BufRead,
        watch: &mut Watch<W>,
        stopped: &AtomicBool,
    ) -> Result<(), Failure> {
        /// More than any datagram.
        const MAX_DATAGRAM: usize = 1 << 17;
        let mut dump = Dump::new(reader);
        let mut whole = Vec::new();
        let ended = loop {
            if stopped.load(Ordering::Relaxed) {
                break Ok(());
            }
            let part = match dump.next_part() {
                Ok(Some(part)) => part,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error.into()),
            };
            match part {
                Part::Bytes(bytes) if self.is_whole && whole.len() < MAX_DATAGRAM => {
                    whole.extend_from_slice(&bytes)
                }
                Part::Bytes(bytes) => watch.bytes(None, self.place(), &bytes)?,
                Part::Break if !whole.is_empty() => {
                    watch.datagram(None, self.place(), &whole)?;
                    whole.clear();
                }
                Part::Break => {}
            }
        };
        if !whole.is_empty() {
            watch.datagram(None, self.place(), &whole)?;
        }
        ended
    }

    fn capture<W: Write>(
        &self,
        reader: impl Read,
        watch: &mut Watch<W>,
        stopped: &AtomicBool,
    ) -> Result<(), Failure> {
        if self.port.is_none() && !self.is_can {
            let text =
                "which port has the machine? --port PORT; the description has none, since its link is serial";
            return Err(Failure::Other(text.to_owned()));
        }
        let mut capture = Capture::open(reader)?;
        let mut seen =
            Seen { connections: Vec::new(), others: BTreeMap::new(), ports: BTreeMap::new(), shown: 0 };
        let ended = loop {
            if stopped.load(Ordering::Relaxed) {
                break Ok(());
            }
            match capture.next_packet() {
                Ok(Some(packet)) => {
                    let content = content(packet.link, packet.bytes);
                    self.packet(packet.time, content, watch, &mut seen)?;
                }
                Ok(None) => break Ok(()),
                Err(error) => break Err(Failure::from(error)),
            }
        };
        for connection in &mut seen.connections {
            connection.flush(watch)?;
        }
        for (other, count) in seen.others.iter().filter(|(other, _)| !matches!(other, Other::Protocol)) {
            watch.note(None, &format!("not shown: {count} {other}"))?;
        }
        ended?;
        if seen.shown == 0 && !stopped.load(Ordering::Relaxed) {
            return Err(Failure::Other(self.nothing(&seen)));
        }
        Ok(())
    }

    fn packet<W: Write>(
        &self,
        now: Option<std::time::Duration>,
        content: Content<'_>,
        watch: &mut Watch<W>,
        seen: &mut Seen,
    ) -> Result<(), Failure> {
        match content {
            Content::Can { id, is_extended, data } if self.is_can => {
                seen.shown += 1;
                watch.can(now, id.into(), is_extended, data)?;
            }
            Content::Can { .. } => seen.other(Other::Link(227)),
            Content::Other(other) => seen.other(other),
            Content::Udp(ends, _) | Content::Tcp(ends, _) if self.is_can => seen.port("IP", ends),
            Content::Udp(ends, bytes) => match self.between(ends).filter(|_| self.transport != Some("TCP")) {
                Some(place) => {
                    seen.shown += 1;
                    watch.datagram(now, place, bytes)?;
                }
                None => seen.port("UDP", ends),
            },
            Content::Tcp(ends, segment) => match self.between(ends).filter(|_| self.transport != Some("UDP"))
            {
                Some(place) => {
                    seen.shown += 1;
                    seen.segment(now, ends, place, segment, watch)?;
                }
                None => seen.port("TCP", ends),
            },
        }
        Ok(())
    }

    /// Who is who, by the port.
    fn between(&self, ends: Ends) -> Option<Place> {
        let Ends { from, to } = ends;
        let port = self.port?;
        let (machine, other, heard) = match (from.port() == port, to.port() == port) {
            (false, false) => return None,
            // Both ends have this port: the bytes tell who has sent them.
            (true, true) => (from.max(to), from.min(to), Heard::Both),
            (is_from, _) if is_from != self.is_ours => (from, to, Side::Server.into()),
            _ => (to, from, Side::Client.into()),
        };
        // Our port may be that of a machine that connects to us.
        Some(Place { ends: Some([machine, other]), heard })
    }

    fn nothing(&self, seen: &Seen) -> String {
        let wanted = match (self.is_can, self.transport, self.port) {
            (true, ..) => "frames of a CAN bus".to_owned(),
            (_, transport, port) => {
                format!("{} with port {}", transport.unwrap_or("UDP or TCP"), port.unwrap_or_default())
            }
        };
        let ports = seen.ports.keys().map(|(transport, port)| format!("{transport} port {port}"));
        let others = seen.others.iter().map(|(other, count)| format!("{count} {other}"));
        let found: Vec<String> = ports.chain(others).collect();
        let found = if found.is_empty() { "nothing".to_owned() } else { found.join(", ") };
        let hint = if self.is_can { "" } else { "; --port chooses another port" };
        format!("it has no {wanted}; it has {found}{hint}")
    }
}

impl From<Side> for Heard {
    fn from(side: Side) -> Self {
        Self::Side(side)
    }
}

fn unreadable(error: std::io::Error) -> Failure {
    Failure::Other(error.to_string())
}

/// The identifier of a frame, and whether it has 29 bits.
pub(super) fn identifier(frame: &Frame) -> (u64, bool) {
    match frame.id() {
        Id::Standard(id) => (id.as_raw().into(), false),
        Id::Extended(id) => (id.as_raw().into(), true),
    }
}

fn candump<W: Write>(
    reader: impl BufRead,
    watch: &mut Watch<W>,
    stopped: &AtomicBool,
) -> Result<(), Failure> {
    let (mut not_classic, mut others) = (0_u64, 0_u64);
    for line in candump::read(reader) {
        if stopped.load(Ordering::Relaxed) {
            break;
        }
        match line {
            Ok(line) => match line.content {
                Line::Frame(frame) if !frame.is_remote() => {
                    let (id, is_extended) = identifier(&frame);
                    let time = Some(line.time).filter(|time| !time.is_zero());
                    watch.can(time, id, is_extended, frame.data())?;
                }
                Line::NotClassic => not_classic += 1,
                Line::Frame(_) | Line::Faults(_) => others += 1,
            },
            // A killed recorder leaves half a line; the next one may be right.
            Err(error @ ReadError::Line { .. }) if watch.counts().right > 0 => {
                watch.note(None, &format!("not understood: {error}"))?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    for (count, what) in
        [(not_classic, "frames of CAN FD or CAN XL"), (others, "remote frames and error frames")]
    {
        if count > 0 {
            watch.note(None, &format!("not shown: {count} {what}"))?;
        }
    }
    Ok(())
}

/// What was found in a capture.
struct Seen {
    connections: Vec<Connection>,
    /// What is not looked at.
    others: BTreeMap<Other, u64>,
    /// Ports of other programs.
    ports: BTreeMap<(&'static str, u16), ()>,
    shown: u64,
}

/// A connection of TCP: both ends, and both directions.
struct Connection {
    ends: [std::net::SocketAddr; 2],
    streams: [Stream; 2],
    heard: [Heard; 2],
    time: Option<std::time::Duration>,
}

impl Seen {
    fn other(&mut self, other: Other) {
        *self.others.entry(other).or_default() += 1;
    }

    /// The smaller port is that of a server, as a rule.
    fn port(&mut self, transport: &'static str, ends: Ends) {
        if self.ports.len() < MAX_PORTS {
            self.ports.insert((transport, ends.from.port().min(ends.to.port())), ());
        }
    }

    fn segment<W: Write>(
        &mut self,
        now: Option<std::time::Duration>,
        ends: Ends,
        place: Place,
        segment: Segment<'_>,
        watch: &mut Watch<W>,
    ) -> Result<(), Failure> {
        let [machine, other] = place.ends.unwrap_or([ends.from, ends.to]);
        let both = [machine, other];
        let which = usize::from(ends.from != machine);
        let number = match self.connections.iter().position(|one| one.ends == both) {
            Some(number) => number,
            None => {
                if self.connections.len() >= MAX_CONNECTIONS {
                    self.connections.remove(0).flush(watch)?;
                }
                let heard = match place.heard {
                    Heard::Both => [Heard::Both; 2],
                    Heard::Side(_) => [Side::Server.into(), Side::Client.into()],
                };
                let streams = [Stream::default(), Stream::default()];
                self.connections.push(Connection { ends: both, streams, heard, time: now });
                self.connections.len() - 1
            }
        };
        let Some(connection) = self.connections.get_mut(number) else { return Ok(()) };
        connection.time = now;
        if segment.begins && segment.acknowledged.is_none() {
            // A new connection between the same ports.
            connection.flush(watch)?;
            watch.end(Some(both))?;
        }
        let mut pieces = [Vec::new(), Vec::new()];
        let [machine, other] = &mut connection.streams;
        let (own, back) = if which == 0 { (machine, other) } else { (other, machine) };
        let [own_pieces, back_pieces] = &mut pieces;
        if let Some(number) = segment.acknowledged {
            back.acknowledged(number, back_pieces);
        }
        own.push(segment, own_pieces);
        if segment.ends {
            own.flush(own_pieces);
        }
        let [own_pieces, back_pieces] = pieces;
        connection.show(1 - which, back_pieces, watch)?;
        connection.show(which, own_pieces, watch)
    }
}

impl Connection {
    fn flush<W: Write>(&mut self, watch: &mut Watch<W>) -> Result<(), Failure> {
        for which in 0..2 {
            let mut pieces = Vec::new();
            if let Some(stream) = self.streams.get_mut(which) {
                stream.flush(&mut pieces);
            }
            self.show(which, pieces, watch)?;
        }
        Ok(())
    }

    fn show<W: Write>(&self, which: usize, pieces: Vec<Piece>, watch: &mut Watch<W>) -> Result<(), Failure> {
        let Some(heard) = self.heard.get(which).copied() else { return Ok(()) };
        let place = Place { ends: Some(self.ends), heard };
        for piece in pieces {
            match piece {
                Piece::Bytes(bytes) => watch.bytes(self.time, place, &bytes)?,
                Piece::Missing(count) => watch.missing(self.time, place, count)?,
            }
        }
        Ok(())
    }
}

//! Captures of network and CAN traffic: pcap and pcapng, as tcpdump, Wireshark and their relatives write them.
//!
//! The file is read block by block, so that a pipe can be watched; memory is bounded by one block. The layout of a block is
//! that of `pcap-parser`; where a block begins and ends is decided here, so that an error has its offset.

use std::io::{self, Read};
use std::time::Duration;

use pcap_parser::{
    Block, PcapBlockOwned, PcapHeader, parse_block_be, parse_block_le, parse_pcap_frame, parse_pcap_frame_be,
    parse_pcap_header, parse_sectionheaderblock,
};

/// Maximum size of a block, bytes; packets are far smaller.
const MAX_BLOCK: u32 = 16 << 20;
/// Interfaces of a section, at most.
const MAX_INTERFACES: usize = 1024;
/// Sizes of the headers of pcap: of the file, and of a packet.
const FILE_HEADER: u64 = 24;
const PACKET_HEADER: u64 = 16;
/// The smallest block of pcapng, and the part of it that has its type and size.
const MIN_BLOCK: u32 = 12;
const BLOCK_HEADER: u64 = 8;
const SECTION_HEADER: u32 = 0x0A0D_0D0A;
/// The byte order mark of a section, in the order of this byte.
const LITTLE_MARK: [u8; 4] = [0x4D, 0x3C, 0x2B, 0x1A];
/// The magic numbers of pcap, as they are written on machines of both byte orders: microseconds, nanoseconds, and the one
/// of a variant that has more in front of a packet.
const MAGIC: [[u8; 4]; 6] = [
    [0xD4, 0xC3, 0xB2, 0xA1],
    [0xA1, 0xB2, 0xC3, 0xD4],
    [0x4D, 0x3C, 0xB2, 0xA1],
    [0xA1, 0xB2, 0x3C, 0x4D],
    MODIFIED,
    [0xA1, 0xB2, 0xCD, 0x34],
];
const MODIFIED: [u8; 4] = [0x34, 0xCD, 0xB2, 0xA1];

/// Whether a file that begins with these bytes is a capture.
pub(crate) fn is_capture(begin: &[u8]) -> bool {
    MAGIC.iter().any(|magic| begin.starts_with(magic)) || begin.starts_with(&SECTION_HEADER.to_le_bytes())
}

/// What was captured at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packet<'a> {
    /// Since 1970. `None`: the file does not say it.
    pub(crate) time: Option<Duration>,
    /// What `bytes` begins with: a number of the list of link types that tcpdump.org keeps.
    pub(crate) link: u32,
    pub(crate) bytes: &'a [u8],
}

/// Why a capture cannot be read on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CaptureError {
    /// The content is broken.
    #[error("byte {offset}: {reason}")]
    Broken {
        /// Where the broken block begins, bytes from the beginning of the file.
        offset: u64,
        /// What is wrong.
        reason: String,
    },
    /// The system cannot read it.
    #[error("byte {offset}: {error}")]
    Io {
        /// How much was read.
        offset: u64,
        /// The error.
        error: io::Error,
    },
}

#[derive(Debug, Clone, Copy)]
enum Format {
    Pcap {
        is_big: bool,
        is_nano: bool,
        link: u32,
    },
    /// Blocks of a section with this byte order.
    PcapNg {
        is_big: bool,
    },
}

/// An interface of a section of pcapng.
#[derive(Debug, Clone, Copy)]
struct Interface {
    link: u32,
    /// Ticks per second.
    resolution: u128,
    /// What is added to times, s.
    offset: i64,
}

/// A capture that is read from its beginning.
pub(crate) struct Capture<R> {
    reader: R,
    format: Format,
    /// Where the next block begins.
    offset: u64,
    block: Vec<u8>,
    interfaces: Vec<Interface>,
}

impl<R: Read> Capture<R> {
    /// Reads the header.
    ///
    /// # Errors
    /// This is not a capture, or of a kind that is not read.
    pub(crate) fn open(reader: R) -> Result<Self, CaptureError> {
        let format = Format::PcapNg { is_big: false };
        let mut capture = Self { reader, format, offset: 0, block: Vec::new(), interfaces: Vec::new() };
        capture.read(4)?;
        if capture.block == SECTION_HEADER.to_le_bytes() {
            return Ok(capture);
        }
        if !is_capture(&capture.block) {
            return Err(capture.broken("this is neither pcap nor pcapng"));
        }
        if [MODIFIED, MAGIC[5]].iter().any(|magic| capture.block == magic) {
            let reason = "this is the variant of pcap with magic number a1b2cd34, which is not read; \
                `tshark -r OLD -w NEW` writes it as pcapng";
            return Err(capture.broken(reason));
        }
        capture.read(FILE_HEADER - 4)?;
        let (_, header) =
            parse_pcap_header(&capture.block).map_err(|_| capture.broken("the header is broken"))?;
        let PcapHeader { version_major, version_minor, network, .. } = header;
        if version_major != 2 {
            return Err(capture.broken(&format!(
                "this is version {version_major}.{version_minor} of pcap; version 2.4 is read"
            )));
        }
        capture.format = Format::Pcap {
            is_big: header.is_bigendian(),
            is_nano: header.is_nanosecond_precision(),
            // The upper bits have other meanings.
            link: network.0.cast_unsigned() & 0xFFFF,
        };
        capture.next_block();
        Ok(capture)
    }

    /// The next packet; `None` at the end of the file.
    ///
    /// # Errors
    /// The file is broken from here on.
    pub(crate) fn next_packet(&mut self) -> Result<Option<Packet<'_>>, CaptureError> {
        match self.format {
            Format::Pcap { is_big, is_nano, link } => self.next_record(is_big, is_nano, link),
            Format::PcapNg { .. } => self.next_in_section(),
        }
    }

    fn next_record(
        &mut self,
        is_big: bool,
        is_nano: bool,
        link: u32,
    ) -> Result<Option<Packet<'_>>, CaptureError> {
        if !self.begins(PACKET_HEADER)? {
            return Ok(None);
        }
        let size = self.number(8, is_big);
        if size > MAX_BLOCK {
            return Err(
                self.broken(&format!("a packet of {size} bytes; the largest that is read has {MAX_BLOCK}"))
            );
        }
        self.read(size.into())?;
        self.next_block();
        let parsed = if is_big { parse_pcap_frame_be(&self.block) } else { parse_pcap_frame(&self.block) };
        let Ok((_, packet)) = parsed else { return Err(self.broken("the packet is broken")) };
        let fraction = if is_nano {
            Duration::from_nanos(packet.ts_usec.into())
        } else {
            Duration::from_micros(packet.ts_usec.into())
        };
        let time = Some(Duration::from_secs(packet.ts_sec.into()).saturating_add(fraction));
        Ok(Some(Packet { time, link, bytes: packet.data }))
    }

    fn next_in_section(&mut self) -> Result<Option<Packet<'_>>, CaptureError> {
        loop {
            let Some(is_big) = self.next_pcapng_block()? else { return Ok(None) };
            let begin = self.offset;
            self.next_block();
            // Only what has packets is looked into: other blocks are many, and of no use here.
            let kind = self.number(0, is_big);
            if kind == SECTION_HEADER {
                parse_sectionheaderblock(&self.block)
                    .map_err(|_| broken(begin, "the header of the section is broken"))?;
                self.format = Format::PcapNg { is_big };
                self.interfaces.clear();
                continue;
            }
            if ![INTERFACE, ENHANCED_PACKET, SIMPLE_PACKET].contains(&kind) {
                continue;
            }
            let parse = if is_big { parse_block_be } else { parse_block_le };
            let parsed = match parse(&self.block) {
                Ok((_, block)) => PcapBlockOwned::from(block),
                Err(_) => return Err(broken(begin, &format!("the block of type {kind} is broken"))),
            };
            match parsed {
                PcapBlockOwned::NG(Block::InterfaceDescription(block)) => {
                    if self.interfaces.len() >= MAX_INTERFACES {
                        return Err(broken(begin, &format!("more than {MAX_INTERFACES} interfaces")));
                    }
                    // The parser takes it for little-endian.
                    let offset = block.if_tsoffset;
                    self.interfaces.push(Interface {
                        link: u32::from_ne_bytes(block.linktype.0.to_ne_bytes()),
                        resolution: resolution(block.if_tsresol),
                        offset: if is_big { offset.swap_bytes() } else { offset },
                    });
                }
                _ => break,
            }
        }
        self.packet()
    }

    /// The packet in a block that was checked.
    fn packet(&self) -> Result<Option<Packet<'_>>, CaptureError> {
        let Format::PcapNg { is_big } = self.format else { return Ok(None) };
        let begin = self.offset.saturating_sub(self.block.len() as u64);
        let parse = if is_big { parse_block_be } else { parse_block_le };
        let interface = |number: u32| {
            let found = usize::try_from(number).ok().and_then(|number| self.interfaces.get(number));
            found.copied().ok_or_else(|| {
                broken(begin, &format!("a packet of interface {number}, which the file does not describe"))
            })
        };
        let cut = |data: &'_ [u8], size: u32| -> usize {
            data.len().min(usize::try_from(size).unwrap_or(usize::MAX))
        };
        match parse(&self.block) {
            Ok((_, Block::EnhancedPacket(block))) => {
                let interface = interface(block.if_id)?;
                let ticks = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
                let len = cut(block.data, block.caplen);
                let bytes = block.data.get(..len).unwrap_or_default();
                Ok(Some(Packet { time: interface.time(ticks), link: interface.link, bytes }))
            }
            Ok((_, Block::SimplePacket(block))) => {
                let interface = interface(0)?;
                let len = cut(block.data, block.origlen);
                let bytes = block.data.get(..len).unwrap_or_default();
                Ok(Some(Packet { time: None, link: interface.link, bytes }))
            }
            _ => Err(broken(begin, "the block is broken")),
        }
    }

    /// Reads a block, and returns the byte order of its section.
    fn next_pcapng_block(&mut self) -> Result<Option<bool>, CaptureError> {
        let Format::PcapNg { mut is_big } = self.format else { return Ok(None) };
        if !self.begins(BLOCK_HEADER)? {
            return Ok(None);
        }
        if self.number(0, is_big) == SECTION_HEADER {
            self.read(4)?;
            is_big = match self.block.get(8..) {
                Some(mark) if mark == LITTLE_MARK => false,
                Some(mark) if mark.iter().eq(LITTLE_MARK.iter().rev()) => true,
                _ => return Err(self.broken("a section without a byte order mark")),
            };
        }
        let size = self.number(4, is_big);
        if !(MIN_BLOCK..=MAX_BLOCK).contains(&size) || !size.is_multiple_of(4) {
            return Err(self.broken(&format!(
                "a block of {size} bytes; a block has {MIN_BLOCK} to {MAX_BLOCK}, a multiple of 4"
            )));
        }
        let there = self.block.len() as u64;
        self.read(u64::from(size).saturating_sub(there))?;
        if self.number(self.block.len().saturating_sub(4), is_big) != size {
            return Err(self.broken(&format!("the block of {size} bytes does not end with its size")));
        }
        Ok(Some(is_big))
    }

    /// Reads the beginning of a block; `false` at the end of the file.
    fn begins(&mut self, size: u64) -> Result<bool, CaptureError> {
        // The beginning of the file was read before.
        if self.offset > 0 {
            self.block.clear();
        }
        let there = self.block.len() as u64;
        let read = self.append(size.saturating_sub(there))?;
        if read == 0 && there == 0 {
            return Ok(false);
        }
        if (self.block.len() as u64) < size { Err(self.ends()) } else { Ok(true) }
    }

    /// Appends so many bytes to the block.
    fn read(&mut self, size: u64) -> Result<(), CaptureError> {
        if self.append(size)? < size { Err(self.ends()) } else { Ok(()) }
    }

    fn append(&mut self, size: u64) -> Result<u64, CaptureError> {
        let read = self.reader.by_ref().take(size).read_to_end(&mut self.block);
        let offset = self.offset.saturating_add(self.block.len() as u64);
        read.map(|read| read as u64).map_err(|error| CaptureError::Io { offset, error })
    }

    fn ends(&self) -> CaptureError {
        let rest = self.block.len();
        self.broken(&format!("the file ends within a block, of which it has {rest} bytes"))
    }

    /// The block was read as a whole.
    fn next_block(&mut self) {
        self.offset = self.offset.saturating_add(self.block.len() as u64);
    }

    fn number(&self, at: usize, is_big: bool) -> u32 {
        let bytes = self.block.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or_default();
        if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
    }

    fn broken(&self, reason: &str) -> CaptureError {
        broken(self.offset, reason)
    }
}

const INTERFACE: u32 = 1;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;

fn broken(offset: u64, reason: &str) -> CaptureError {
    CaptureError::Broken { offset, reason: reason.to_owned() }
}

/// Ticks per second: a power of 10, or with the highest bit one of 2.
fn resolution(code: u8) -> u128 {
    let base: u128 = if code & 0x80 == 0 { 10 } else { 2 };
    // 10 to the power of 38 is the largest that fits; no clock is so fine.
    base.pow((code & 0x7F).min(38).into())
}

impl Interface {
    fn time(self, ticks: u64) -> Option<Duration> {
        const NANOS: u128 = 1_000_000_000;
        let ticks = u128::from(ticks);
        let seconds = i128::try_from(ticks / self.resolution).ok()?.checked_add(self.offset.into())?;
        let fraction = ticks % self.resolution;
        // A fraction of more than 29 digits is of no use, and would overflow.
        let nanos = fraction.checked_mul(NANOS).map_or(0, |nanos| nanos / self.resolution);
        Some(Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?))
    }
}

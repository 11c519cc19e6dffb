//! Finds frames that have their size in front.

use super::{Begin, MAX_FRAME};
use crate::kind::{Base, Kind};
use crate::model::{ByteOrder, Counted, FieldRole, Protocol};

#[derive(Debug, Clone)]
pub(super) struct Sized {
    /// Offset and bytes of the size.
    at: usize,
    size: usize,
    order: ByteOrder,
    /// Its base, if it is written as text.
    base: Option<u32>,
    counts: Counted,
    /// Bytes before the body, and behind it.
    head: usize,
    tail: usize,
    /// What every frame has, with its offset.
    constants: Vec<(usize, Vec<u8>)>,
}

impl Sized {
    pub(super) fn new(protocol: &Protocol, name: &str) -> Result<Self, String> {
        let (mut offset, mut at, mut constants, mut tail, mut is_behind) = (0, None, Vec::new(), 0, false);
        for field in &protocol.frame.fields {
            if field.is == Some(FieldRole::Body) {
                is_behind = true;
                continue;
            }
            let size = field.size().filter(|size| *size <= MAX_FRAME);
            let size = size.ok_or_else(|| format!("{} has no fixed size up to {MAX_FRAME}", field.name))?;
            if is_behind {
                tail += size;
                continue;
            }
            if let (Some(value), Kind { base: Base::Text, .. }, false) =
                (&field.value, field.kind(), field.is_text_number())
            {
                constants.push((offset, value.as_bytes().to_vec()));
            } else if let Some(value) = &field.value
                && let Ok(bytes) =
                    value.split_ascii_whitespace().map(|byte| u8::from_str_radix(byte, 16)).collect()
                && field.kind().base == Base::Bytes
            {
                constants.push((offset, bytes));
            }
            if field.name == name {
                let base = field.base.filter(|_| field.is_text_number()).map(u32::from);
                at = Some((offset, size, field.order.unwrap_or(protocol.order), base));
            }
            offset += size;
            if offset.max(tail) > MAX_FRAME {
                return Err(format!("{} ends beyond {MAX_FRAME} bytes", field.name));
            }
        }
        let (at, size, order, base) = at.ok_or_else(|| format!("{name} is not in front of the body"))?;
        let counts = protocol.frame.cut.counts.unwrap_or(Counted::Frame);
        Ok(Self { at, size, order, base, counts, head: offset, tail, constants })
    }

    pub(super) fn begin(&self, rest: &[u8], max: usize) -> Begin {
        for (at, constant) in &self.constants {
            let there = rest.get(*at..).unwrap_or_default();
            let known = there.len().min(constant.len());
            if there.get(..known) != constant.get(..known) {
                return Begin::Garbage(1);
            }
        }
        let Some(bytes) = rest.get(self.at..self.at + self.size) else { return Begin::Incomplete };
        let add = |size: usize, byte: &u8| size << 8 | usize::from(*byte);
        let size = match (self.base, self.order) {
            (Some(base), _) => {
                let text = std::str::from_utf8(bytes).unwrap_or_default().trim_matches(' ');
                match usize::from_str_radix(text, base) {
                    Ok(size) => size,
                    Err(_) => return Begin::Garbage(1),
                }
            }
            (None, ByteOrder::Big) => bytes.iter().fold(0, add),
            (None, ByteOrder::Little) => bytes.iter().rev().fold(0, add),
        };
        let around = match self.counts {
            Counted::Frame => 0,
            Counted::Rest => self.at + self.size,
            Counted::Body => self.head + self.tail,
        };
        let len = size.saturating_add(around);
        if len > max || len < self.head + self.tail {
            return Begin::Garbage(1);
        }
        if len > rest.len() { Begin::Incomplete } else { Begin::Frame { len, from: 0, to: len } }
    }
}

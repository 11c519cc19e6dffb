//! Messages of a server.

use std::fmt;

use dragoman_protocol::bytes::{BytesError, Reader};
use dragoman_protocol::model::ByteOrder;

use super::payload::FrameWriter;
use super::{EncodeError, HEADER_LEN, SizeBase};

/// A landmark that a laser sees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LandMark {
    /// Its number.
    pub id: u16,
    /// Bearing in the laser's frame, rad, counter-clockwise from straight ahead.
    pub angle: f64,
    /// Distance from the laser, m.
    pub distance: f64,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// `T`
    True,
    /// `F`
    False,
    /// `D`: V_DOUBLES.
    Doubles(Vec<f64>),
    /// `b`
    LandMarks(Vec<LandMark>),
}

const TRUE: u8 = b'T';
const FALSE: u8 = b'F';
const DOUBLES: u8 = b'D';
const LAND_MARKS: u8 = b'b';

/// Bytes of one landmark.
const LAND_MARK_LEN: usize = 18;

impl Reply {
    /// Bytes per element of a list, 0 for kinds without a list. `None`: not a reply.
    pub(super) fn element_len(kind: u8) -> Option<usize> {
        match kind {
            TRUE | FALSE => Some(0),
            DOUBLES => Some(8),
            LAND_MARKS => Some(LAND_MARK_LEN),
            _ => None,
        }
    }

    /// Length of the frame of this kind whose payload begins with `payload`. `None`: not a reply, or the bytes that
    /// determine the length are missing.
    pub(super) fn frame_len(kind: u8, payload: &[u8], base: SizeBase) -> Option<usize> {
        match Self::element_len(kind)? {
            0 => Some(HEADER_LEN),
            element => Some(HEADER_LEN + 2 + element * usize::from(base.join(*payload.first_chunk()?))),
        }
    }

    /// Reads the payload of a frame. `None`: not a reply, or too short.
    pub fn decode(kind: u8, payload: &[u8], base: SizeBase) -> Option<Self> {
        let mut reader = Reader::new(payload, ByteOrder::Little);
        let number = |reader: &mut Reader<'_>| base.join([reader.u8(), reader.u8()]);
        let reply = match kind {
            TRUE => Self::True,
            FALSE => Self::False,
            DOUBLES => Self::Doubles((0..number(&mut reader)).map(|_| reader.f64()).collect()),
            LAND_MARKS => {
                let count = number(&mut reader);
                let mark =
                    |_| LandMark { id: number(&mut reader), angle: reader.f64(), distance: reader.f64() };
                Self::LandMarks((0..count).map(mark).collect())
            }
            _ => return None,
        };
        let is_short = matches!(reader.end(), Err(BytesError::Missing { .. }));
        (!is_short).then_some(reply)
    }

    /// The frame to send.
    ///
    /// # Errors
    /// The list is too long.
    pub fn encode(&self, base: SizeBase) -> Result<Vec<u8>, EncodeError> {
        match self {
            Self::True => FrameWriter::new(TRUE, base).finish(),
            Self::False => FrameWriter::new(FALSE, base).finish(),
            Self::Doubles(values) => {
                let mut writer = FrameWriter::new(DOUBLES, base);
                writer.number(values.len());
                values.iter().for_each(|value| writer.f64(*value));
                writer.finish()
            }
            Self::LandMarks(marks) => {
                let mut writer = FrameWriter::new(LAND_MARKS, base);
                writer.number(marks.len());
                for mark in marks {
                    writer.number(mark.id.into());
                    writer.f64(mark.angle);
                    writer.f64(mark.distance);
                }
                writer.finish()
            }
        }
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::True => f.write_str("true"),
            Self::False => f.write_str("false"),
            Self::Doubles(values) => write!(f, "{values:?}"),
            Self::LandMarks(marks) => marks
                .iter()
                .try_for_each(|mark| write!(f, "[{} at {} rad, {} m]", mark.id, mark.angle, mark.distance)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_byte_by_byte() {
        let one = b"\0\0\0\0\0\0\xf0\x3f".as_slice();
        let half = b"\0\0\0\0\0\0\xe0\x3f".as_slice();
        let marks = vec![
            LandMark { id: 7, angle: 1.0, distance: 0.5 },
            LandMark { id: 258, angle: 0.5, distance: 1.0 },
        ];
        let cases = [
            (Reply::True, b"aa\x05\0T".to_vec()),
            (Reply::False, b"aa\x05\0F".to_vec()),
            (Reply::Doubles(vec![]), b"aa\x07\0D\0\0".to_vec()),
            (Reply::Doubles(vec![1.0, 0.5]), [b"aa\x17\0D\x02\0", one, half].concat()),
            (Reply::LandMarks(marks), [b"aa\x2b\0b\x02\0\x07\0", one, half, b"\x02\x01", half, one].concat()),
        ];
        for (reply, bytes) in cases {
            assert_eq!(reply.encode(SizeBase::Full256).as_ref(), Ok(&bytes));
            assert_eq!(Reply::decode(bytes[4], &bytes[5..], SizeBase::Full256), Some(reply));
        }
    }

    /// Annex of the Apolo port manual: `insertSize` and `writeUInt16` use base 255.
    #[test]
    fn the_annex_s_base_is_255() {
        let scan = Reply::Doubles(vec![0.0; 541]);
        assert_eq!(scan.encode(SizeBase::Annex255).expect("a frame")[..7], *b"aa\0\x11D\x1f\x02");
        assert_eq!(scan.encode(SizeBase::Full256).expect("a frame")[..7], *b"aa\xef\x10D\x1d\x02");
    }

    #[test]
    fn lists_too_long_for_the_size_are_refused() {
        for (base, most) in [(SizeBase::Full256, 8191), (SizeBase::Annex255, 8159)] {
            assert!(Reply::Doubles(vec![0.0; most]).encode(base).is_ok());
            assert!(Reply::Doubles(vec![0.0; most + 1]).encode(base).is_err(), "{base:?}");
        }
    }
}

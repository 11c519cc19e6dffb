//! The error and warning texts.

use std::fmt;

use super::{Command, DATAGRAM_LEN, Datagram, DecodeError, Letters};

/// A text from the controller: `ER..` an error, `WN..` a warning. 31 bytes, padded with NUL.
///
/// Source: Ranger thesis, listing of the message handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Notice {
    /// `ER00 Cmd XX not understood`: unknown letters, or more than 31 bytes.
    NotUnderstood(Letters),
    /// `ER01 Msg XX undersized.`: fewer than 30 bytes.
    Undersized(Letters),
    /// `ER10 Arm did not stop`: `OF` failed.
    DidNotStop,
    /// `ER11 Arm did not start`: `ON` failed.
    DidNotStart,
    /// `ER20 Cmd XX rejected`.
    Rejected(Letters),
    /// `ER21 Work space limit.`: set-point outside the workspace.
    WorkspaceLimit,
    /// `WN12 Joint limit.`: a joint command was clamped.
    JointLimit,
    /// `WN22 Inv Kin Divergence.`: inverse kinematics did not converge.
    InverseKinematicsDivergence,
}

/// Text before the letters, the letters if any, text after them.
type Text = (&'static str, Option<Letters>, &'static str);

impl Notice {
    /// The refusal of `command` by the arm.
    pub fn rejected(command: Command) -> Self {
        Self::Rejected(command.letters())
    }

    fn text(self) -> Text {
        match self {
            Self::NotUnderstood(letters) => ("ER00 Cmd ", Some(letters), " not understood"),
            Self::Undersized(letters) => ("ER01 Msg ", Some(letters), " undersized."),
            Self::DidNotStop => ("ER10 Arm did not stop", None, ""),
            Self::DidNotStart => ("ER11 Arm did not start", None, ""),
            Self::Rejected(letters) => ("ER20 Cmd ", Some(letters), " rejected"),
            Self::WorkspaceLimit => ("ER21 Work space limit.", None, ""),
            Self::JointLimit => ("WN12 Joint limit.", None, ""),
            Self::InverseKinematicsDivergence => ("WN22 Inv Kin Divergence.", None, ""),
        }
    }

    /// The datagram to send.
    pub fn encode(self) -> [u8; DATAGRAM_LEN] {
        let (before, letters, after) = self.text();
        let text =
            before.bytes().chain(letters.into_iter().flat_map(Letters::printable)).chain(after.bytes());
        let mut bytes = [0; DATAGRAM_LEN];
        bytes.iter_mut().zip(text).for_each(|(byte, character)| *byte = character);
        bytes
    }

    /// Whether a datagram claims to be a notice: `ER` or `WN`, two digits, a blank.
    ///
    /// No server may answer such a datagram, or two of them could be set to answer each other's errors forever.
    pub fn is_notice(datagram: &Datagram) -> bool {
        matches!(
            datagram.bytes(),
            [b'E', b'R', tens, ones, b' ', ..] | [b'W', b'N', tens, ones, b' ', ..]
                if tens.is_ascii_digit() && ones.is_ascii_digit()
        )
    }

    /// Reads a notice. Bytes after the first NUL are ignored: the original controller leaves old bytes there.
    ///
    /// # Errors
    /// [`DecodeError::UnknownNotice`] for any text that is not in the table.
    pub fn decode(datagram: &Datagram) -> Result<Self, DecodeError> {
        let text = datagram.bytes().split(|&byte| byte == 0).next().unwrap_or_default();
        let letters = match *text {
            [_, _, _, _, _, _, _, _, _, first, second, ..] => Letters([first, second]),
            _ => Letters(*b"??"),
        };
        [
            Self::NotUnderstood(letters),
            Self::Undersized(letters),
            Self::DidNotStop,
            Self::DidNotStart,
            Self::Rejected(letters),
            Self::WorkspaceLimit,
            Self::JointLimit,
            Self::InverseKinematicsDivergence,
        ]
        .into_iter()
        .find(|notice| {
            let encoded = notice.encode();
            encoded.split(|&byte| byte == 0).next() == Some(text)
        })
        .ok_or(DecodeError::UnknownNotice)
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (before, letters, after) = self.text();
        f.write_str(before)?;
        letters.map_or(Ok(()), |letters| write!(f, "{letters}"))?;
        f.write_str(after)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of the listing of the message handler, byte by byte.
    const TEXTS: [(Notice, &[u8; 31]); 8] = [
        (Notice::NotUnderstood(Letters(*b"QX")), b"ER00 Cmd QX not understood\0\0\0\0\0"),
        (Notice::Undersized(Letters(*b"jP")), b"ER01 Msg jP undersized.\0\0\0\0\0\0\0\0"),
        (Notice::DidNotStop, b"ER10 Arm did not stop\0\0\0\0\0\0\0\0\0\0"),
        (Notice::DidNotStart, b"ER11 Arm did not start\0\0\0\0\0\0\0\0\0"),
        (Notice::Rejected(Letters(*b"BG")), b"ER20 Cmd BG rejected\0\0\0\0\0\0\0\0\0\0\0"),
        (Notice::WorkspaceLimit, b"ER21 Work space limit.\0\0\0\0\0\0\0\0\0"),
        (Notice::JointLimit, b"WN12 Joint limit.\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        (Notice::InverseKinematicsDivergence, b"WN22 Inv Kin Divergence.\0\0\0\0\0\0\0"),
    ];

    #[test]
    fn texts_are_the_listing_s_and_read_back() {
        for (notice, bytes) in TEXTS {
            assert_eq!(&notice.encode(), bytes, "{notice}");
            let datagram = Datagram::parse(bytes).expect("31 bytes");
            assert_eq!(Notice::decode(&datagram), Ok(notice));
            assert!(Notice::is_notice(&datagram));
            assert_eq!(notice.to_string().as_bytes(), bytes.split(|&byte| byte == 0).next().expect("text"));
        }
    }

    #[test]
    fn stale_bytes_after_the_end_are_ignored() {
        let datagram = Datagram::parse(b"WN12 Joint limit.\0erstood\0\0\x01\x02\x03\0").expect("31 bytes");
        assert_eq!(Notice::decode(&datagram), Ok(Notice::JointLimit));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            b"ER99 Something else entirely!!!",
            b"ER\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
        ] {
            let datagram = Datagram::parse(text).expect("31 bytes");
            assert_eq!(Notice::decode(&datagram), Err(DecodeError::UnknownNotice));
        }
    }

    #[test]
    fn letters_that_do_not_print_become_question_marks() {
        assert!(
            Notice::NotUnderstood(Letters([0, 0x1b])).encode().starts_with(b"ER00 Cmd ?? not understood\0")
        );
        assert!(Notice::Undersized(Letters([b'B', 0xff])).encode().starts_with(b"ER01 Msg B? undersized.\0"));
    }
}

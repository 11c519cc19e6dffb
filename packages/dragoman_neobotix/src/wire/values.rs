//! Functions of some structures of the messages, and the structure with a field that is not on the wire.

use super::field::{Field, Reader};
use super::{DocumentReply, Fault, NamedDocument, ParameterReply, Position, Text};
use crate::parameters::{Declaration, Value};

impl DocumentReply {
    /// The reply with this document.
    pub fn new(NamedDocument { name, document }: NamedDocument) -> Self {
        let [.., character_count] = name.0.len().to_be_bytes();
        Self { character_count, document, name }
    }
}

impl ParameterReply {
    /// A parameter with its value.
    pub fn new(declaration: &Declaration, value: Value) -> Self {
        Self {
            key: declaration.key.into(),
            value: value.to_string().into(),
            category: declaration.category.into(),
            kind: declaration.kind().into(),
            minimum: declaration.minimum,
            maximum: declaration.maximum,
        }
    }
}

impl Position {
    /// Whether no number is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        [self.angle_rad, self.translation_mm_per_s, self.rotation_rad_per_s]
            .iter()
            .all(|value| value.is_finite())
    }
}

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct QueueEntry {
    pub text: Text,
    /// Its number, from 1; 0: none. Not on the wire: a server sends a numbered line once to each of its clients.
    pub number: u32,
}

impl Field for QueueEntry {
    const MIN_LEN: usize = Text::MIN_LEN;

    fn read(reader: &mut Reader<'_>) -> Result<Self, Fault> {
        Ok(Self { text: Text::read(reader)?, number: 0 })
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        self.text.write(bytes);
    }

    #[cfg(test)]
    fn sample(source: &mut super::properties::Source) -> Self {
        Self { text: Text::sample(source), number: 0 }
    }
}

#[cfg(test)]
mod tests {
    use crate::parameters::Parameters;

    use super::*;
    use crate::wire::{Framing, Message, Reply};

    #[test]
    fn replies_are_made_of_the_table() {
        let parameters = Parameters::default();
        let replies: Vec<_> =
            parameters.iter().map(|(declaration, value)| ParameterReply::new(declaration, value)).collect();
        assert_eq!(replies.len(), 94);
        for (reply, (declaration, value)) in replies.iter().zip(parameters.iter()) {
            assert_eq!(declaration.parse(&reply.value.to_str()), Ok(value));
            assert_eq!(reply.category.known(), Some(declaration.category));
        }
        let turn = replies.into_iter().find(|reply| reply.key.to_str() == "IpoRotvel").expect("a parameter");
        let bytes = Reply::GetPltfParam(turn).encode(Framing::Bare).expect("a message");
        let expected =
            b"\0\0\0\x25\x26\0\0\0\x09IpoRotvel\0\0\0\x030.6\0\0\0\x02\0\0\0\x02\0\0\0\0\0\0\0\x0a";
        assert_eq!(bytes, expected);
    }
}

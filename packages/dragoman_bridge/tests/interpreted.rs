//! The codec of `dragoman_protocol`, which reads descriptions at run time, against the compiled one that is made of the same
//! description: both ways, on valid, random and damaged bytes, and on what the fuzz targets keep.
//!
//! What the compiled codecs have by hand, and descriptions cannot say:
//!
//! | protocol | what is written by hand |
//! | --- | --- |
//! | 31-byte | a notice is known by its whole text; by its description, by its number |
//! | Apolo | sizes and counts of base 255; a frame whose size is larger than its fields; the zero behind a text that is sent |

use dragoman_protocol::codec::{Codec, Item, MessageId, Values};
use dragoman_protocol::expression::Number;
use dragoman_protocol::model::Side;
use dragoman_protocol::{Protocol, protocols};

#[path = "interpreted/apolo.rs"]
mod apolo;
#[path = "interpreted/arm31.rs"]
mod arm31;

thread_local! {
    static ARM31: Codec = codec(protocols::ARM31);
    static APOLO: Codec = codec(protocols::APOLO);
}

fn codec(text: &str) -> Codec {
    Codec::new(Protocol::read(text).unwrap()).unwrap()
}

/// What the interpreter makes of a frame.
struct Read {
    message: MessageId,
    name: String,
    values: Values,
    /// The frame, encoded again.
    again: Vec<u8>,
}

impl Read {
    /// `None`: it is refused.
    fn new(codec: &Codec, frame: &[u8], from: Side) -> Option<Self> {
        let mut values = Values::default();
        let message = codec.decode(frame, from, None, &mut values).ok()?;
        let mut again = Vec::new();
        codec
            .encode(message, &mut values, &mut again)
            .unwrap_or_else(|error| panic!("{error}: {frame:02x?}"));
        let name = codec.protocol().messages[message.number].name.clone();
        Some(Self { message, name, values, again })
    }

    /// The numbers of a field.
    fn numbers(&self, codec: &Codec, field: &str) -> Vec<f64> {
        let path = codec.path(self.message, field).unwrap_or_else(|reason| panic!("{}: {reason}", self.name));
        let mut numbers = Vec::new();
        codec.find(self.message, &self.values, &path, &mut |item| {
            numbers.extend(if let Item::Number(number) = item { Some(Number::real(number)) } else { None });
        });
        numbers
    }
}

/// The inputs that a fuzz target keeps.
pub(crate) fn kept(target: &str) -> Vec<Vec<u8>> {
    let folder = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder}: {error}"));
    let all: Vec<Vec<u8>> = files.map(|file| std::fs::read(file.unwrap().path()).unwrap()).collect();
    assert!(!all.is_empty(), "{folder} is empty");
    all
}

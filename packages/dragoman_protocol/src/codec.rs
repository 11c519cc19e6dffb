//! Decodes and encodes the messages of a description that is read at run time.
//!
//! [`Codec::new`] makes a flat program of a description: a list of steps per message, in which structures are dissolved.
//! Decoding runs the steps and appends an [`Item`] per field to [`Values`]; encoding runs the same steps over such items.
//! [`Values`] are used again for the next frame, so that a frame takes no memory.
//!
//! What cuts a stream into frames is `cut`.
//!
//! ```
//! use dragoman_protocol::codec::{Codec, Values};
//! use dragoman_protocol::{Protocol, model::Side};
//!
//! let text = "
//! protocol: lamp
//! title: A lamp on a serial line
//! source: its manual, page 3
//! link: { serial: 9600 }
//! order: little
//! frame:
//!   cut: { size: size, counts: body }
//!   fields:
//!     - { name: size, type: u8, is: size }
//!     - { name: command, type: u8, is: code }
//!     - { name: data, is: body }
//!     - { name: sum, type: u8, is: checksum, algorithm: sum }
//! messages:
//!   - name: dim
//!     code: 7
//!     meaning: set the brightness
//!     fields: [{ name: level, type: u16, unit: cd, scale: 0.1 }, { name: name, type: 'text[*]' }]
//! ";
//! let codec = Codec::new(Protocol::read(text)?)?;
//! let mut values = Values::default();
//! let message = codec.decode(&[6, 7, 0x2c, 0x01, b'l', b'e', b'f', b't', 0xe5], Side::Client, None, &mut values)?;
//! assert_eq!(codec.show(message, &values).to_string(), "dim: level 30 cd, name \"left\"");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod codes;
mod compile;
mod decode;
mod direct;
mod encode;
mod fields;
mod plain;
pub(crate) mod plan;
pub(crate) mod show;
mod values;

use std::collections::BTreeMap;

pub use compile::CodecError;
pub use decode::DecodeError;
pub use encode::EncodeError;
pub use fields::{Filling, Given, Leaf, Path};
pub use show::Show;
pub use values::{Item, Values};

use codes::{Codes, FoundCode};
use direct::Direct;

use crate::checksum::Checksum;
use crate::cut::Envelope;
use crate::expression::Expression;
use crate::model::{ByteOrder, Counted, Protocol, TextEncoding};

/// Lists within lists and structures within structures, at most.
pub const MAX_NESTING: usize = 8;
/// Steps of a message: its fields, and those of its types.
const MAX_STEPS: usize = 4096;
/// Maximum size of a frame that a description may name, bytes.
pub const MAX_SIZE: usize = 16 << 20;
/// Items of a message, and elements of all its lists, at most.
pub const MAX_ITEMS: usize = 1 << 16;

/// The program of a description.
pub struct Codec {
    protocol: Protocol,
    /// What separates the values of a body that is text.
    separator: Option<u8>,
    envelope: Envelope,
    /// What is in front of the body; if it is text, without the code.
    head: Vec<Step>,
    /// What follows it.
    tail: Vec<Step>,
    /// Bytes of what follows it.
    tail_size: usize,
    /// Minimum and maximum size of a datagram that is filled with zeros.
    datagram: Option<[usize; 2]>,
    messages: Vec<Programs>,
    codes: Codes,
    /// Numbers that counts, conditions and expressions ask for.
    slots: usize,
    /// Places of fields that check sums ask for.
    places: usize,
    /// Those of the code, if the body is text, and of the body.
    code_place: Option<usize>,
    body_place: Option<usize>,
}

/// The programs of a message.
struct Programs {
    body: Vec<Step>,
    /// What answers it, if anything does.
    answer: Option<Vec<Step>>,
}

/// A message that was decoded, or is to be encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageId {
    /// Its place in [`Protocol::messages`].
    pub number: usize,
    /// It is what answers that message.
    pub is_answer: bool,
}

/// What a field becomes.
#[derive(Debug, Clone)]
struct Step {
    /// Its name, and its unit.
    name: String,
    unit: String,
    /// It begins at this offset of the frame.
    at: Option<usize>,
    /// Without these values of slots it is missing.
    when: Vec<(usize, i64)>,
    /// If this is 0, it is missing.
    condition: Option<Expression>,
    /// It may be missing at the end.
    is_optional: bool,
    /// An empty word stands for it if it is missing.
    empty: EmptyWord,
    count: Option<Count>,
    /// Where counts, conditions and expressions find its number.
    slot: Option<usize>,
    /// Where check sums find its bytes.
    place: Option<usize>,
    /// What it is, if it can be read and written in one go.
    direct: Option<Direct>,
    kind: StepKind,
}

/// When an empty word stands for a field that is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EmptyWord {
    Never,
    /// Unless it is the last one.
    Within,
    Always,
}

#[derive(Debug, Clone)]
enum StepKind {
    Number(NumberStep),
    Bytes {
        /// They are a text.
        text: Option<TextStep>,
        /// What they always are.
        value: Option<Vec<u8>>,
        is_code: bool,
    },
    /// The next steps are the fields of a structure.
    Structure(usize),
}

#[derive(Debug, Clone, Copy)]
struct TextStep {
    /// It takes all that is left, with separators.
    is_rest: bool,
    /// Fills a text of fixed size.
    pad: u8,
    encoding: Option<TextEncoding>,
}

#[derive(Debug, Clone)]
struct NumberStep {
    form: Form,
    /// Bytes; of a number that is written as text, those that its values need.
    size: usize,
    order: ByteOrder,
    digits: Digits,
    bits: Option<Bits>,
    /// Value = number * scale + offset.
    scale: Option<[f64; 2]>,
    role: Role,
    /// Names of the values.
    codes: BTreeMap<i64, String>,
    /// Another value is an error.
    is_strict: bool,
}

/// How a number is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Digits {
    base: u32,
    /// All characters, if their number is fixed.
    width: Option<usize>,
    /// Minimum number of digits, in front of a decimal point.
    least: usize,
    /// Digits behind a decimal point, if their number is fixed.
    decimals: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Unsigned,
    Signed,
    Float,
    Bool,
}

/// A part of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bits {
    lowest: u32,
    count: u32,
    /// The step before has a part of the same number.
    is_shared: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Count {
    Fixed(usize),
    /// A number of so many bytes in front, in this order.
    Prefixed(usize, ByteOrder),
    Slot(usize),
    Rest,
}

/// Who knows a number.
#[derive(Debug, Clone)]
enum Role {
    /// It is a value of the message.
    Value,
    Constant(i128),
    /// It is computed from other numbers.
    Expression(Expression),
    /// It is a value of the message, computed from other numbers; it has no bytes.
    Computed(Expression),
    Size(Counted),
    Checksum(Sum),
    Code,
}

/// A check sum and the bytes that it is of.
#[derive(Debug, Clone)]
struct Sum {
    checksum: Checksum,
    /// Its lowest bits.
    mask: u64,
    /// Place of the first field; `None`: the frame begins with it.
    from: Option<usize>,
    /// Place of the last field; `None`: the one in front of the check sum.
    to: Option<usize>,
    /// The last field follows the check sum.
    is_later: bool,
    /// The last field follows the body.
    is_of_tail: bool,
}

impl Sum {
    /// The bytes, as offsets in the frame; the check sum itself begins at `at`.
    fn range(&self, values: &Values, at: usize) -> std::ops::Range<usize> {
        let place = |place: Option<usize>| place.and_then(|place| values.places.get(place));
        let begin = place(self.from).map_or(0, |[begin, _]| *begin);
        begin..place(self.to).map_or(at, |[_, end]| *end)
    }
}

/// The steps of one level, each with those of its structure.
fn level(steps: &[Step]) -> impl Iterator<Item = (&Step, &[Step])> {
    let mut rest = steps;
    std::iter::from_fn(move || {
        let (step, after) = rest.split_first()?;
        let inner = if let StepKind::Structure(inner) = step.kind { inner } else { 0 };
        let (fields, after) = after.split_at_checked(inner)?;
        rest = after;
        Some((step, fields))
    })
}

impl Step {
    /// Whether a message has a value for it; others are known.
    fn has_item(&self) -> bool {
        match &self.kind {
            StepKind::Number(number) => matches!(number.role, Role::Value | Role::Computed(_)),
            StepKind::Bytes { value, is_code, .. } => value.is_none() && !is_code,
            StepKind::Structure(_) => true,
        }
    }
}

impl Codec {
    /// The description.
    pub fn protocol(&self) -> &Protocol {
        &self.protocol
    }

    fn program(&self, message: MessageId) -> Option<&[Step]> {
        let programs = self.messages.get(message.number)?;
        if message.is_answer { programs.answer.as_deref() } else { Some(&programs.body) }
    }

    /// What is in front of the body of a message, and what follows it.
    fn around(&self, message: MessageId) -> [&[Step]; 2] {
        if self.is_bare(message) { [&[], &[]] } else { [&self.head, &self.tail] }
    }

    /// Whether a message is an answer without the fields of the frame.
    fn is_bare(&self, message: MessageId) -> bool {
        message.is_answer && self.protocol.messages.get(message.number).is_some_and(|message| message.bare)
    }
}

//! What is made of a description.

use dragoman_protocol::{Protocol, rust};

const LAMP: &str = "
protocol: lamp
title: lamp's protocol
source: its manual, page 3
about: The first lamp is 0.
link: { udp: 4000 }
order: little
frame:
  cut: { datagram: 12 }
  fields: [{ name: letter, type: 'text[1]', is: code }, { name: data, is: body }]
messages:
  - name: dim
    code: d
    role: start
    service: set_brightness
    meaning: set the brightness
    fields:
      - { name: levels, type: 'f32[2]', unit: cd, meaning: of both lamps }
      - { name: lamp, type: u8, at: 10, meaning: its number }
    answer: echo
  - { name: blow_out, code: b, meaning: switch off, answer: echo }
  - { name: broken, code: x, from: server, meaning: a lamp is broken }
";

#[test]
fn a_lamp_in_rust() {
    let source = rust::requests(&Protocol::read(LAMP).unwrap()).unwrap();
    assert_eq!(source, EXPECTED, "\n{source}");
}

const LAMPS: &str = "
protocol: lamps
title: lamps
source: RFC 0
link: { tcp: 4001 }
encoding: xdr
frame:
  cut: { size: size, counts: body }
  fields: [{ name: number, type: u32, is: code }, { name: size, type: u32, is: size }, { name: body, is: body }]
interfaces:
  - name: lamp
    code: 5
    meaning: a lamp
    types:
      - { name: color, meaning: color of light, base: u8, codes: { red: { code: 1, meaning: as fire }, blue: 2 } }
      - { name: constants, meaning: numbers, base: u32, codes: { max_level: 9 } }
      - { name: light, meaning: what it gives, fields: [{ name: color, type: u8, codes: color }, { name: levels, type: 'f32[u32]', unit: cd }] }
    messages:
      - { name: light, code: 1, from: server, meaning: its light, fields: [{ name: value, type: light }] }
      - { name: get_name, code: 2, meaning: its name, answer: [{ name: value, type: 'text[u32]' }] }
";

#[test]
fn lamps_in_rust() {
    let source = rust::interfaces(&Protocol::read(LAMPS).unwrap(), &[]).unwrap();
    assert_eq!(source, EXPECTED_LAMPS, "\n{source}");
}

const SHELF: &str = "
protocol: shelf
title: shelf
source: its plate
link: { tcp: 4002 }
frame:
  cut: { size: size, counts: rest }
  fields: [{ name: size, type: u32, is: size }, { name: number, type: u8, is: code }, { name: data, is: body }]
messages:
  - { name: fetch, code: 1, meaning: fetch a box, fields: [{ name: value, type: place }] }
  - { name: get_boxes, code: 2, meaning: the boxes, answer: [{ name: value, type: boxes }, { name: end_check, type: i32, value: '-1' }] }
types:
  - { name: side, meaning: side of the shelf, base: u8, codes: { left: { code: 0, text: SIDE_L }, right: { code: 1, text: SIDE_R, meaning: where the sun rises } } }
  - { name: place, meaning: a place, fields: [{ name: side, type: u8, codes: side, strict: true }, { name: height_mm, type: i32, optional: true }] }
  - { name: boxes, meaning: what is there, fields: [{ name: side, type: i32, codes: side }, { name: names, type: 'text[u32]' }, { name: has_top, type: bool }, { name: top, type: f64, when: { has_top: 1 } }] }
";

#[test]
fn a_shelf_in_rust() {
    let protocol = Protocol::read(SHELF).unwrap();
    let source = rust::codes(&protocol) + &rust::telegrams(&protocol, &[], &["boxes"]).unwrap();
    assert_eq!(source, EXPECTED_SHELF, "\n{source}");
}

#[test]
fn what_has_no_rust_is_refused_with_its_place() {
    for (from, to, reason) in [
        ("f32[2]", "f32[u8]", "dim: levels: its length is not fixed"),
        ("f32[2]", "text[2]", "dim: levels: text[2] has no Rust yet"),
        ("at: 10", "at: 3", "dim: lamp: lies before the end of the field before it"),
        ("code: d", "code: 7", "dim: its code is not of the type of the frame's"),
        ("code: d", "code: dd", "dim: its code is not of the type of the frame's"),
    ] {
        let protocol = Protocol::read(&LAMP.replace(from, to)).unwrap();
        assert_eq!(rust::requests(&protocol).unwrap_err().to_string(), reason);
    }
}

const EXPECTED: &str = r#"// Made of the description of the lamp's protocol.

/// The commands of the lamp's protocol (its manual, page 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Command {
    /// Set the brightness.
    Dim,
    /// Switch off.
    BlowOut,
}

impl Command {
    /// All commands, in the order of the description.
    pub const ALL: [Self; 2] = [Self::Dim, Self::BlowOut];

    /// What says on the wire which command it is.
    pub const fn code(self) -> [u8; 1] {
        match self {
            Self::Dim => *b"d",
            Self::BlowOut => *b"b",
        }
    }

    /// ROS service that stands for it, or topic with its answer; in the namespace of the machine.
    pub const fn ros_name(self) -> &'static str {
        match self {
            Self::Dim => "set_brightness",
            Self::BlowOut => "",
        }
    }

    /// What it does to the machine.
    pub const fn role(self) -> Role {
        match self {
            Self::Dim => Role::Start,
            Self::BlowOut => Role::Setting,
        }
    }

    /// Whether it may be sent again without knowing whether the first copy arrived.
    pub const fn is_repeatable(self) -> bool {
        match self {
            Self::Dim => false,
            Self::BlowOut => true,
        }
    }

    /// Short description.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Dim => "set the brightness",
            Self::BlowOut => "switch off",
        }
    }

    /// Names of its fields.
    pub const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Dim => &["levels", "lamp"],
            Self::BlowOut => &[],
        }
    }

    /// Size of the fields that follow its code, bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::Dim => 8,
            Self::BlowOut => 0,
        }
    }

    /// The command with this code.
    pub fn from_code(code: [u8; 1]) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.code() == code)
    }
}

/// A request, with its values as on the wire: they may be NaN or infinite. The first lamp is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Request {
    /// Set the brightness.
    Dim {
        /// Of both lamps, cd.
        levels: [f32; 2],
        /// Its number.
        lamp: u8,
    },
    /// Switch off.
    BlowOut,
}

impl Request {
    /// The command of this request.
    pub const fn command(&self) -> Command {
        match self {
            Self::Dim { .. } => Command::Dim,
            Self::BlowOut => Command::BlowOut,
        }
    }

    /// Reads the fields of `command`, which follow its code.
    pub fn read(command: Command, reader: &mut Reader<'_>) -> Self {
        match command {
            Command::Dim => {
                let levels = [(); 2].map(|()| reader.f32());
                reader.bytes(1);
                let lamp = reader.u8();
                Self::Dim { levels, lamp }
            }
            Command::BlowOut => Self::BlowOut,
        }
    }

    /// Writes the fields, which follow the code.
    pub fn write(&self, writer: &mut Writer) {
        match self {
            Self::BlowOut => {}
            Self::Dim { levels, lamp } => {
                levels.iter().for_each(|one| writer.f32(*one));
                writer.pad(9);
                writer.u8(*lamp);
            }
        }
    }

    /// Whether no value is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Dim { levels, .. } => levels.iter().all(|one| one.is_finite()),
            _ => true,
        }
    }
}
"#;

const EXPECTED_LAMPS: &str = r#"// Made of the description of lamps.

/// What several interfaces use.
pub mod common {
}

/// A lamp.
pub mod lamp {
    #[allow(unused_imports, reason = "not every interface has them")]
    pub use super::common::*;

    /// Color of light.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Color {
        /// As fire.
        Red,
        /// Blue.
        Blue,
        /// Any other code.
        Other(u8),
    }

    impl From<u8> for Color {
        fn from(code: u8) -> Self {
            match code {
                1 => Self::Red,
                2 => Self::Blue,
                _ => Self::Other(code),
            }
        }
    }

    impl From<Color> for u8 {
        fn from(value: Color) -> Self {
            match value {
                Color::Red => 1,
                Color::Blue => 2,
                Color::Other(code) => code,
            }
        }
    }

    /// Code 0.
    impl Default for Color {
        fn default() -> Self {
            Self::from(0)
        }
    }

    impl super::Xdr for Color {
        fn write(&self, bytes: &mut Vec<u8>) {
            super::Xdr::write(&u8::from(*self), bytes);
        }

        fn read(reader: &mut super::Reader<'_>) -> Result<Self, super::XdrError> {
            <u8 as super::Xdr>::read(reader).map(Self::from)
        }
    }

    /// Max level.
    pub const MAX_LEVEL: u32 = 9;

    /// What it gives.
    #[derive(Debug, Clone, PartialEq, Default)]
    #[allow(missing_docs, reason = "the names of some fields say it")]
    pub struct Light {
        pub color: Color,
        /// Levels, cd.
        pub levels: Vec<f32>,
    }

    impl super::Xdr for Light {
        fn write(&self, bytes: &mut Vec<u8>) {
            super::Xdr::write(&self.color, bytes);
            super::Xdr::write(&self.levels, bytes);
        }

        fn read(reader: &mut super::Reader<'_>) -> Result<Self, super::XdrError> {
            Ok(Self {
                color: super::Xdr::read(reader)?,
                levels: super::Xdr::read(reader)?,
            })
        }
    }

    /// Its light.
    pub const LIGHT: super::Note<Light> = super::Note::new(super::Kind::Data, 1);

    /// Its name.
    pub const GET_NAME: super::Ask<(), String> = super::Ask::new(2);

    /// A lamp.
    pub const INTERFACE: super::Interface = super::Interface {
        code: 5,
        name: "lamp",
        messages: &[
            super::Row {
                kind: super::Kind::Data,
                subtype: 1,
                name: "LIGHT",
                meaning: "its light",
                rewrite: super::table::rewrite::<Light>,
                rewrite_answer: None,
            },
            super::Row {
                kind: super::Kind::Request,
                subtype: 2,
                name: "GET_NAME",
                meaning: "its name",
                rewrite: super::table::rewrite_all::<()>,
                rewrite_answer: Some(super::table::rewrite::<String>),
            },
        ],
    };
}

/// All interfaces, by their codes.
pub const INTERFACES: [&Interface; 1] = [
    &lamp::INTERFACE,
];
"#;

const EXPECTED_SHELF: &str = r#"// Made of the description of the shelf.

/// Side of the shelf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the names of some say it")]
pub enum Side {
    /// `SIDE_L`
    Left = 0,
    /// Where the sun rises.
    ///
    /// `SIDE_R`
    Right = 1,
}

impl Code for Side {
    const ALL: &'static [Self] = &[
        Self::Left,
        Self::Right,
    ];

    fn code(self) -> u8 {
        self as u8
    }

    fn name(self) -> &'static str {
        match self {
            Self::Left => "SIDE_L",
            Self::Right => "SIDE_R",
        }
    }
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}
// Made of the description of the shelf.

impl field::Field for codes::Side {
    const MIN_LEN: usize = size_of::<u8>();

    fn read(reader: &mut field::Reader<'_>) -> Result<Self, Fault> {
        field::known(<u8 as field::Field>::read(reader)?.into())
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        field::Field::write(&codes::Code::code(*self), bytes);
    }

    #[cfg(test)]
    fn sample(source: &mut properties::Source) -> Self {
        *source.one_of(<Self as codes::Code>::ALL)
    }
}

/// A place.
#[derive(Debug, Clone, PartialEq, Copy, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Place {
    pub side: codes::Side,
    pub height_mm: Tail<i32>,
}

impl field::Field for Place {
    const MIN_LEN: usize = <codes::Side as field::Field>::MIN_LEN
        + <Tail<i32> as field::Field>::MIN_LEN;

    fn read(reader: &mut field::Reader<'_>) -> Result<Self, Fault> {
        Ok(Self {
            side: reader.field("side")?,
            height_mm: reader.field("height_mm")?,
        })
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        field::Field::write(&self.side, bytes);
        field::Field::write(&self.height_mm, bytes);
    }

    #[cfg(test)]
    fn sample(source: &mut properties::Source) -> Self {
        Self {
            side: field::Field::sample(source),
            height_mm: field::Field::sample(source),
        }
    }
}

/// What is there.
#[derive(Debug, Clone, PartialEq, Default)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Boxes {
    pub side: Coded<codes::Side, i32>,
    pub names: Text,
    pub top: Option<f64>,
}

impl field::Field for Boxes {
    const MIN_LEN: usize = <Coded<codes::Side, i32> as field::Field>::MIN_LEN
        + <Text as field::Field>::MIN_LEN
        + <Option<f64> as field::Field>::MIN_LEN;

    fn read(reader: &mut field::Reader<'_>) -> Result<Self, Fault> {
        Ok(Self {
            side: reader.field("side")?,
            names: reader.field("names")?,
            top: reader.field("top")?,
        })
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        field::Field::write(&self.side, bytes);
        field::Field::write(&self.names, bytes);
        field::Field::write(&self.top, bytes);
    }

    #[cfg(test)]
    fn sample(source: &mut properties::Source) -> Self {
        Self {
            side: field::Field::sample(source),
            names: field::Field::sample(source),
            top: field::Field::sample(source),
        }
    }
}

/// The commands, without their arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CommandKind {
    /// Fetch a box.
    Fetch,
    /// The boxes.
    GetBoxes,
}

impl CommandKind {
    const ALL: [Self; 2] = [
        Self::Fetch,
        Self::GetBoxes,
    ];

    /// The first byte of its data.
    pub fn number(self) -> u8 {
        match self {
            Self::Fetch => 1,
            Self::GetBoxes => 2,
        }
    }

    /// Name of its ROS service in the namespace of the platform.
    pub fn service(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::GetBoxes => "get_boxes",
        }
    }

    /// Whether the guide has a reply for it.
    pub fn is_answered(self) -> bool {
        match self {
            Self::Fetch => false,
            Self::GetBoxes => true,
        }
    }

    /// Short description.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Fetch => "fetch a box",
            Self::GetBoxes => "the boxes",
        }
    }

    /// All commands, in the order of their numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }

    /// The command with this number.
    pub fn from_number(number: u8) -> Option<Self> {
        Self::all().find(|kind| kind.number() == number)
    }
}

/// A message of a client. Values are those on the wire; the platform checks them.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Fetch a box.
    Fetch(Place),
    /// The boxes.
    GetBoxes,
}

impl Command {
    /// The command without its arguments.
    pub fn kind(&self) -> CommandKind {
        match self {
            Self::Fetch(_) => CommandKind::Fetch,
            Self::GetBoxes => CommandKind::GetBoxes,
        }
    }

    /// Every command with random arguments.
    #[cfg(test)]
    fn samples(source: &mut properties::Source) -> Vec<Self> {
        vec![
            Self::Fetch(field::Field::sample(source)),
            Self::GetBoxes,
        ]
    }
}

impl Message for Command {
    fn decode(data: &[u8]) -> Result<Self, DecodeError> {
        match frame::kind(data).ok_or_else(|| frame::unknown(data, "command"))? {
            CommandKind::Fetch => frame::decode(data, false).map(Self::Fetch),
            CommandKind::GetBoxes => frame::decode(data, false).map(|()| Self::GetBoxes),
        }
    }

    fn encode(&self, framing: Framing) -> Result<Vec<u8>, EncodeError> {
        let number = self.kind().number();
        match self {
            Self::Fetch(arguments) => frame::encode(number, arguments, false, framing),
            Self::GetBoxes => frame::encode(number, &(), false, framing),
        }
    }
}

/// An answer; its variants are those of [`CommandKind`].
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The boxes.
    GetBoxes(Box<Boxes>),
}

impl Reply {
    /// The command of this reply.
    pub fn kind(&self) -> CommandKind {
        match self {
            Self::GetBoxes(_) => CommandKind::GetBoxes,
        }
    }

    /// Every reply with random values.
    #[cfg(test)]
    fn samples(source: &mut properties::Source) -> Vec<Self> {
        vec![
            Self::GetBoxes(field::Field::sample(source)),
        ]
    }
}

impl Message for Reply {
    fn decode(data: &[u8]) -> Result<Self, DecodeError> {
        match frame::kind(data) {
            Some(CommandKind::GetBoxes) => frame::decode(data, true).map(Self::GetBoxes),
            _ => Err(frame::unknown(data, "telegram")),
        }
    }

    fn encode(&self, framing: Framing) -> Result<Vec<u8>, EncodeError> {
        let number = self.kind().number();
        match self {
            Self::GetBoxes(payload) => frame::encode(number, payload, true, framing),
        }
    }
}
"#;

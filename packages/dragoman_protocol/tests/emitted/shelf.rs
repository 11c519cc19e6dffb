// Made of the description of the shelf.

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

// Made of the description of the lamp's protocol.

/// The commands of the lamp's protocol (its manual, page 3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Command {
    /// Set the brightness.
    Dim,
    /// Switch off.
    BlowOut,
}

impl Command {
    const ALL: [Self; 2] = [Self::Dim, Self::BlowOut];

    /// Code that identifies the command on the wire.
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

    /// All commands, in the order of the description.
    pub fn all() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter()
    }

    /// The command with this code.
    pub fn from_code(code: [u8; 1]) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.code() == code)
    }
}

/// A request, with its values as on the wire: they may be NaN or infinite. The first lamp is 0.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
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
    fn read(command: Command, reader: &mut Reader<'_>) -> Self {
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
    fn write(&self, writer: &mut Writer) {
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

    /// Shows the fields, each after a blank: texts in quotes, whole numbers in parentheses.
    fn show(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Dim { levels, lamp } => {
                levels.iter().try_for_each(|one| write!(f, " {one}"))?;
                write!(f, " ({lamp})")?;
            }
            Self::BlowOut => {}
        }
        Ok(())
    }
}

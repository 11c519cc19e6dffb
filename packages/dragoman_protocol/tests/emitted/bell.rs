// Made of the description of the bell's protocol.

/// The commands of the bell's protocol (its maker).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Command {
    /// Ring.
    Ring,
    /// Be silent.
    Hush,
}

impl Command {
    const ALL: [Self; 2] = [Self::Ring, Self::Hush];

    /// Code that identifies the command on the wire.
    pub const fn code(self) -> [u8; 1] {
        match self {
            Self::Ring => *b"r",
            Self::Hush => *b"h",
        }
    }

    /// ROS service that stands for it, or topic with its answer; in the namespace of the machine.
    pub const fn ros_name(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Hush => "silence",
        }
    }

    /// What it does to the machine.
    pub const fn role(self) -> Role {
        match self {
            Self::Ring => Role::Setting,
            Self::Hush => Role::Setting,
        }
    }

    /// Whether it may be sent again without knowing whether the first copy arrived.
    pub const fn is_repeatable(self) -> bool {
        match self {
            Self::Ring => true,
            Self::Hush => true,
        }
    }

    /// Short description.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Ring => "ring",
            Self::Hush => "be silent",
        }
    }

    /// Names of its fields.
    pub const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Ring => &["house", "tones", "place"],
            Self::Hush => &["house"],
        }
    }

    /// Size of the fields that follow its code, bytes.
    pub const fn size(self) -> usize {
        match self {
            Self::Ring => 24,
            Self::Hush => 0,
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

/// A request, with its values as on the wire: they may be NaN or infinite. A tone is a frequency.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Request {
    /// Ring.
    Ring {
        house: String,
        /// Tones, Hz.
        tones: Vec<f64>,
        /// Place, m.
        place: [f64; 3],
    },
    /// Be silent.
    Hush {
        house: String,
    },
}

impl Request {
    /// The command of this request.
    pub const fn command(&self) -> Command {
        match self {
            Self::Ring { .. } => Command::Ring,
            Self::Hush { .. } => Command::Hush,
        }
    }

    /// Reads the fields of `command`, which follow its code.
    fn read(command: Command, reader: &mut Reader<'_>) -> Self {
        match command {
            Command::Ring => {
                let house = reader.text_u8();
                let tones = (0..reader.len_u8()).map(|_| reader.f64()).collect();
                let place = [(); 3].map(|()| reader.f64());
                Self::Ring { house, tones, place }
            }
            Command::Hush => {
                let house = reader.text_u8();
                Self::Hush { house }
            }
        }
    }

    /// Writes the fields, which follow the code.
    fn write(&self, writer: &mut Writer) {
        match self {
            Self::Ring { house, tones, place } => {
                writer.text_u8(house);
                writer.count_u8(tones.len());
                tones.iter().for_each(|one| writer.f64(*one));
                place.iter().for_each(|one| writer.f64(*one));
            }
            Self::Hush { house } => {
                writer.text_u8(house);
            }
        }
    }

    /// Whether no value is NaN or infinite.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Ring { tones, place, .. } => tones.iter().all(|one| one.is_finite()) && place.iter().all(|one| one.is_finite()),
            _ => true,
        }
    }

    /// Shows the fields, each after a blank: texts in quotes, whole numbers in parentheses.
    fn show(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Ring { house, tones, place } => {
                write!(f, " {house:?}")?;
                tones.iter().try_for_each(|one| write!(f, " {one}"))?;
                place.iter().try_for_each(|one| write!(f, " {one}"))?;
            }
            Self::Hush { house } => {
                write!(f, " {house:?}")?;
            }
        }
        Ok(())
    }
}

impl Command {
    /// What answers it.
    pub const fn answer(self) -> AnswerFormat {
        match self {
            Self::Ring => AnswerFormat::Doubles(4),
            Self::Hush => AnswerFormat::None,
        }
    }
}

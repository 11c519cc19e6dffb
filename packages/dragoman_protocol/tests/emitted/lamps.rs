// Made of the description of lamps.

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
    pub const LIGHT: super::OneWayMessage<Light> = super::OneWayMessage::new(super::MessageKind::Data, 1);

    /// Its name.
    pub const GET_NAME: super::RequestMessage<(), String> = super::RequestMessage::new(2);

    /// Data of a server.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Data {
        /// Its light.
        Light(Light),
    }

    impl Data {
        /// Reads the body of the message with this number.
        ///
        /// # Errors
        /// There is no such message; the bytes are not its body.
        pub fn read(subtype: u8, bytes: &[u8]) -> Result<Self, super::BodyError> {
            match subtype {
                1 => LIGHT.body(bytes).map(Self::Light).map_err(super::BodyError::of("LIGHT")),
                _ => Err(super::BodyError::Unknown { subtype }),
            }
        }

        /// Its bytes.
        pub fn to_bytes(&self) -> Vec<u8> {
            match self {
                Self::Light(body) => super::Xdr::to_bytes(body),
            }
        }
    }

    /// A request of a client.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Request {
        /// Its name.
        GetName,
    }

    impl Request {
        /// Reads the body of the message with this number.
        ///
        /// # Errors
        /// There is no such message; the bytes are not its body.
        pub fn read(subtype: u8, bytes: &[u8]) -> Result<Self, super::BodyError> {
            match subtype {
                2 => GET_NAME.question(bytes).map(|()| Self::GetName).map_err(super::BodyError::of("GET_NAME")),
                _ => Err(super::BodyError::Unknown { subtype }),
            }
        }

        /// Its bytes.
        pub fn to_bytes(&self) -> Vec<u8> {
            match self {
                Self::GetName => Vec::new(),
            }
        }
    }

    /// The answer to a request.
    #[derive(Debug, Clone, PartialEq)]
    pub enum Answer {
        /// Its name.
        GetName(String),
    }

    impl Answer {
        /// Reads the body of the message with this number.
        ///
        /// # Errors
        /// There is no such message; the bytes are not its body.
        pub fn read(subtype: u8, bytes: &[u8]) -> Result<Self, super::BodyError> {
            match subtype {
                2 => GET_NAME.answer(bytes).map(Self::GetName).map_err(super::BodyError::of("GET_NAME")),
                _ => Err(super::BodyError::Unknown { subtype }),
            }
        }

        /// Its bytes.
        pub fn to_bytes(&self) -> Vec<u8> {
            match self {
                Self::GetName(body) => super::Xdr::to_bytes(body),
            }
        }
    }

    /// A lamp.
    pub const INTERFACE: super::Interface = super::Interface {
        code: 5,
        name: "lamp",
        messages: &[
            super::MessageInfo { kind: super::MessageKind::Data, subtype: 1, name: "LIGHT", meaning: "its light" },
            super::MessageInfo { kind: super::MessageKind::Request, subtype: 2, name: "GET_NAME", meaning: "its name" },
        ],
    };
}

/// All interfaces, by their codes.
pub const INTERFACES: [&Interface; 1] = [
    &lamp::INTERFACE,
];

/// Data of a server, by its interface.
#[derive(Debug, Clone, PartialEq)]
pub enum Data {
    /// A lamp.
    Lamp(lamp::Data),
}

impl Data {
    /// Reads the body of the message with this number.
    ///
    /// # Errors
    /// There is no such message; the bytes are not its body.
    pub fn read(interface: u16, subtype: u8, bytes: &[u8]) -> Result<Self, BodyError> {
        match interface {
            5 => lamp::Data::read(subtype, bytes).map(Self::Lamp),
            _ => Err(BodyError::Unknown { subtype }),
        }
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Lamp(body) => body.to_bytes(),
        }
    }
}

/// A request of a client, by its interface.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// A lamp.
    Lamp(lamp::Request),
}

impl Request {
    /// Reads the body of the message with this number.
    ///
    /// # Errors
    /// There is no such message; the bytes are not its body.
    pub fn read(interface: u16, subtype: u8, bytes: &[u8]) -> Result<Self, BodyError> {
        match interface {
            5 => lamp::Request::read(subtype, bytes).map(Self::Lamp),
            _ => Err(BodyError::Unknown { subtype }),
        }
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Lamp(body) => body.to_bytes(),
        }
    }
}

/// The answer to a request, by its interface.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// A lamp.
    Lamp(lamp::Answer),
}

impl Answer {
    /// Reads the body of the message with this number.
    ///
    /// # Errors
    /// There is no such message; the bytes are not its body.
    pub fn read(interface: u16, subtype: u8, bytes: &[u8]) -> Result<Self, BodyError> {
        match interface {
            5 => lamp::Answer::read(subtype, bytes).map(Self::Lamp),
            _ => Err(BodyError::Unknown { subtype }),
        }
    }

    /// Its bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Lamp(body) => body.to_bytes(),
        }
    }
}

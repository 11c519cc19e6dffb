//! Configuration files of servers: the drivers, their devices, and their options.
//!
//! ```text
//! # a comment
//! unit_length "mm"
//! define laser_on_com driver ( name "sicklms200" port "/dev/ttyS0" )
//! include "robot.inc"
//!
//! driver
//! (
//!   name "p2os"
//!   provides ["odometry:::position2d:0" "sonar:0"]
//!   max_speed 500
//! )
//! laser_on_com ( provides ["laser:0"] pose [100 0 0] )
//! ```
//!
//! Source: the documentation of Player 3.1, and the files that its server accepts. Such a file has the same meaning
//! here:
//!
//! - Options outside of sections are global, at any position. A section with the name of a definition is a copy of the
//!   definition; its own options are added.
//! - An option that is given again replaces the value at the same place of its list. Other elements stay.
//! - Lengths are in metres and angles in degrees, unless `unit_length` and `unit_angle` say otherwise.
//! - An invalid number is an error. The original uses the valid beginning of the text.
//!
//! Each value records whether it was read. [`ConfigFile::unread`] lists the others, which are misspelt or have no
//! effect.

mod lexer;
mod parser;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Maximum depth of nested sections, definitions and included files.
pub const MAX_DEPTH: usize = 32;
/// Maximum number of words, values and brackets, including those from definitions and included files.
pub const MAX_TOKENS: usize = 200_000;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Name of the included file, or empty.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Character in the line, from 1.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, column } = self;
        if !file.is_empty() {
            write!(f, "{file}, ")?;
        }
        write!(f, "line {line}, column {column}")
    }
}

/// An error in a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {problem}")]
pub struct ConfigError {
    /// Position of the error.
    pub place: Place,
    /// The kind of error.
    pub problem: Problem,
}

/// A kind of error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A character that cannot start a token.
    #[error("unexpected character {0:?}")]
    Character(char),
    /// A quote is not closed in its line.
    #[error("the quote is not closed")]
    OpenQuote,
    /// A bracket is not closed.
    #[error("the bracket is not closed")]
    OpenBracket,
    /// Another token is expected here.
    #[error("{found:?} instead of {expected}")]
    Unexpected {
        /// The token found; empty at the end.
        found: String,
        /// The expected token.
        expected: &'static str,
    },
    /// A file cannot be included.
    #[error("including {name:?} failed: {reason}")]
    Include {
        /// The file's name.
        name: String,
        /// Why it cannot be read.
        reason: String,
    },
    /// Sections, definitions or files are nested more than [`MAX_DEPTH`] times.
    #[error("more than {MAX_DEPTH} levels, or a definition or a file contains itself")]
    TooDeep,
    /// The file with all definitions and included files has more than [`MAX_TOKENS`] words.
    #[error("more than {MAX_TOKENS} words")]
    TooLong,
    /// A driver has no name.
    #[error("a driver without a name")]
    NoName,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueKind {
    /// Written as a number.
    Number,
    /// Written in quotes.
    Text,
    /// `true`, `false`, `yes` or `no` without quotes.
    Flag,
}

/// A value of an option.
#[derive(Debug)]
pub struct Value {
    kind: ValueKind,
    text: Arc<str>,
    place: Place,
    is_read: AtomicBool,
}

impl Value {
    fn new(kind: ValueKind, text: Arc<str>, place: Place) -> Self {
        Self { kind, text, place, is_read: AtomicBool::new(false) }
    }

    /// The type of the value.
    pub const fn kind(&self) -> ValueKind {
        self.kind
    }

    /// Where it is.
    pub const fn place(&self) -> &Place {
        &self.place
    }

    fn mark_read(&self) {
        self.is_read.store(true, Ordering::Relaxed);
    }

    fn error(&self, expected: &'static str) -> ConfigError {
        let problem = Problem::Unexpected { found: self.text.to_string(), expected };
        ConfigError { place: self.place.clone(), problem }
    }

    /// The value as it is written, without quotes. It counts as read, as with all functions below.
    pub fn text(&self) -> &str {
        self.mark_read();
        &self.text
    }

    /// The value as a number.
    ///
    /// # Errors
    /// It is no finite number.
    pub fn number(&self) -> Result<f64, ConfigError> {
        let number = self.text().parse().ok().filter(|number: &f64| number.is_finite());
        number.ok_or_else(|| self.error("a number"))
    }

    /// The value as an integer.
    ///
    /// # Errors
    /// It is none, or too large.
    pub fn integer(&self) -> Result<i64, ConfigError> {
        self.text().parse().map_err(|_| self.error("an integer"))
    }

    /// The value as true or false.
    ///
    /// # Errors
    /// It is neither `yes`, `true` or `1` nor `no`, `false` or `0`.
    pub fn flag(&self) -> Result<bool, ConfigError> {
        match self.text() {
            "yes" | "true" | "1" => Ok(true),
            "no" | "false" | "0" => Ok(false),
            _ => Err(self.error("yes or no")),
        }
    }

    /// The value as a length, m.
    ///
    /// # Errors
    /// It is no number.
    pub fn length(&self, units: Units) -> Result<f64, ConfigError> {
        self.number().map(|number| number * units.length)
    }

    /// The value as an angle, rad.
    ///
    /// # Errors
    /// It is no number.
    pub fn angle(&self, units: Units) -> Result<f64, ConfigError> {
        self.number().map(|number| number * units.angle)
    }
}

/// Units of lengths and angles in a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Units {
    /// Unit of lengths, m.
    pub length: f64,
    /// Unit of angles, rad.
    pub angle: f64,
}

impl Units {
    fn of(global: &Section) -> Result<Self, ConfigError> {
        let unit = |name, known: &[(&str, f64)], expected| {
            let Some(value) = global.value(name) else { return Ok(None) };
            let text = value.text();
            let found = known.iter().find(|(name, _)| *name == text);
            found.map(|(_, size)| Some(*size)).ok_or_else(|| value.error(expected))
        };
        let lengths = [("m", 1.0), ("cm", 0.01), ("mm", 0.001)];
        let angles = [("degrees", 1_f64.to_radians()), ("radians", 1.0)];
        Ok(Self {
            length: unit("unit_length", &lengths, "m, cm or mm")?.unwrap_or(1.0),
            angle: unit("unit_angle", &angles, "degrees or radians")?.unwrap_or(1_f64.to_radians()),
        })
    }
}

/// A section, or the global options.
#[derive(Debug)]
pub struct Section {
    kind: Arc<str>,
    place: Place,
    options: BTreeMap<Arc<str>, Vec<Value>>,
}

impl Section {
    /// The word before its bracket, for example `driver`; for a copy of a definition, the definition's base.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Where it begins.
    pub const fn place(&self) -> &Place {
        &self.place
    }

    /// An option's values; none if it is not given.
    pub fn values(&self, name: &str) -> &[Value] {
        self.options.get(name).map_or(&[], Vec::as_slice)
    }

    /// An option's first value.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values(name).first()
    }

    fn unread(&self) -> impl Iterator<Item = Unread<'_>> {
        self.options.iter().flat_map(|(option, values)| {
            let index = |index| (values.len() > 1).then_some(index);
            let unread =
                values.iter().enumerate().filter(|(_, value)| !value.is_read.load(Ordering::Relaxed));
            unread.map(move |(at, value)| Unread { option, index: index(at), place: &value.place })
        })
    }
}

/// A value that was not read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Unread<'a> {
    pub option: &'a str,
    /// Index of the value in its list, from 0.
    pub index: Option<usize>,
    /// Where it is.
    pub place: &'a Place,
}

/// A device's address in a driver section: `key:host:port:interface:index`. Parts from the left may be empty, or
/// missing with their colon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceName {
    /// Key that distinguishes it from other devices of the driver with the same interface.
    pub key: Option<String>,
    /// The server's host; `None`: this one.
    pub host: Option<String>,
    /// The server's port; `None`: the default.
    pub port: Option<u16>,
    /// Name of its interface.
    pub interface: String,
    /// Its number.
    pub index: u16,
    /// Where it is in the file.
    pub place: Place,
}

impl DeviceName {
    fn of(value: &Value) -> Result<Self, ConfigError> {
        let error = || value.error("a device, such as key:host:port:interface:index");
        let mut parts = value.text().trim().rsplit(':');
        let index = parts.next().and_then(|index| index.parse().ok()).ok_or_else(error)?;
        let interface = parts.next().filter(|name| !name.is_empty()).ok_or_else(error)?.to_owned();
        let port = parts.next().filter(|port| !port.is_empty()).map(str::parse).transpose();
        let mut name = || parts.next().filter(|name| !name.is_empty()).map(str::to_owned);
        let (host, key) = (name(), name());
        let port = port.ok().filter(|_| parts.next().is_none()).ok_or_else(error)?;
        Ok(Self { key, host, port, interface, index, place: value.place.clone() })
    }

    /// Whether it has this interface, and this key if `key` is given.
    pub fn is(&self, interface: &str, key: Option<&str>) -> bool {
        self.interface == interface && (key.is_none() || key == self.key.as_deref())
    }
}

/// A driver of a file.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct DriverConfig<'a> {
    pub name: &'a str,
    /// The devices that it provides.
    pub provides: Vec<DeviceName>,
    /// The devices that it requires.
    pub requires: Vec<DeviceName>,
    /// All options, including those above.
    pub options: &'a Section,
}

/// A file with its included files.
#[derive(Debug)]
pub struct ConfigFile {
    /// The first section has the global options.
    sections: Vec<Section>,
    plugins: Vec<Value>,
    units: Units,
}

impl ConfigFile {
    /// Parses a file. `include` returns the text of an included file, or the reason why it cannot be read.
    ///
    /// # Errors
    /// The text is not a configuration file.
    pub fn parse(
        text: &str,
        mut include: impl FnMut(&str) -> Result<String, String>,
    ) -> Result<Self, ConfigError> {
        let tokens = lexer::tokens(text, &mut include)?;
        let (sections, plugins) = parser::parse(tokens)?;
        let units =
            sections.first().map_or(Ok(Units { length: 1.0, angle: 1_f64.to_radians() }), Units::of)?;
        let file = Self { sections, plugins, units };
        file.drivers()?;
        Ok(file)
    }

    /// All sections, including nested ones. The first has the global options.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Libraries that the file asks for by `plugin`.
    pub fn plugins(&self) -> &[Value] {
        &self.plugins
    }

    /// Units of its lengths and angles.
    pub const fn units(&self) -> Units {
        self.units
    }

    /// Its drivers, in their order.
    ///
    /// # Errors
    /// A driver has no name, or a device's name is malformed. A file that was parsed has no such driver.
    pub fn drivers(&self) -> Result<Vec<DriverConfig<'_>>, ConfigError> {
        let sections = self.sections.iter().filter(|section| section.kind() == "driver");
        sections
            .map(|options| {
                let error = || ConfigError { place: options.place.clone(), problem: Problem::NoName };
                let name = options.value("name").ok_or_else(error)?.text();
                let devices =
                    |name| options.values(name).iter().map(DeviceName::of).collect::<Result<Vec<_>, _>>();
                Ok(DriverConfig {
                    name,
                    provides: devices("provides")?,
                    requires: devices("requires")?,
                    options,
                })
            })
            .collect()
    }

    /// Values that were not read, by their places. Names and devices of drivers count as read.
    pub fn unread(&self) -> Vec<Unread<'_>> {
        let mut unread: Vec<_> = self.sections.iter().flat_map(Section::unread).collect();
        let plugins = self.plugins.iter().filter(|value| !value.is_read.load(Ordering::Relaxed));
        unread.extend(plugins.map(|value| Unread { option: "plugin", index: None, place: &value.place }));
        unread.sort_by_key(|one| (&one.place.file, one.place.line, one.place.column));
        unread
    }
}

//! `dragoman bridge`: descriptions of protocols that users write.
//!
//! `check` reads a description and says what is in it; `try` decodes bytes by it, `sniff` those of a line or of a recording. `new`
//! writes one to begin with, `import` makes one of a DBC file; `page`, `header` and `python` make documentation and code of one,
//! `schema` helps editors, `checksums` lists check sums. All but `sniff` work without the machine, and all without ROS.

mod checksums;
mod import;
mod made;
mod new;
mod sniff;
#[cfg(test)]
mod wrong;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand, ValueEnum};
use dragoman_bridge::machine::Interface;
use dragoman_bridge::machine::node::types;
use dragoman_bridge::machine::services::ON_R2R;
use dragoman_bridge::machine::simulated::Simulated;
use dragoman_protocol::Protocol;
use dragoman_protocol::codec::{Codec, CodecError, MessageId, Values};
use dragoman_protocol::cut::Cutter;
use dragoman_protocol::generate::{c::header, python::python};
use dragoman_protocol::model::{Code, Side};
use dragoman_protocol::page::page;
use dragoman_protocol::schema::schema;
use dragoman_protocol::skeleton::SkeletonError;
use dragoman_ros::out;

pub use checksums::ChecksumsCommand;
pub use import::ImportCommand;
pub use made::{MakeCommand, Output};
pub use new::NewCommand;
pub use sniff::{SniffCommand, SniffError};

/// Maximum size of a description, bytes.
const MAX_FILE: u64 = 1 << 20;

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum BridgeCommand {
    /// Read the description of a protocol; say what is in it, or what is wrong with it.
    Check(CheckCommand),
    /// Decode bytes by the description of a protocol.
    Try(TryCommand),
    /// Show the messages on a line or in a recording, by the description of their protocol; sends nothing.
    Sniff(SniffCommand),
    /// Write a description to begin with, from a few questions.
    New(NewCommand),
    /// Make a description of a DBC file, in which makers describe the messages of a CAN bus.
    Import(ImportCommand),
    /// Make a page of documentation, in Markdown.
    Page(MakeCommand),
    /// Make a C99 header with an encoder and a decoder per message.
    Header(MakeCommand),
    /// Make a Python module with a dataclass per message.
    Python(MakeCommand),
    /// List the check sums by their names, with what a manual says of them.
    Checksums(ChecksumsCommand),
    /// Print the JSON schema of descriptions, with which editors complete and check them.
    Schema(Output),
}

/// `dragoman bridge check`.
#[derive(Debug, Args)]
pub struct CheckCommand {
    /// The description, a YAML file.
    file: PathBuf,
}

/// `dragoman bridge try`.
#[derive(Debug, Clone, Args)]
pub struct TryCommand {
    /// The description, a YAML file.
    file: PathBuf,
    /// Bytes as hexadecimal digits; blanks, commas and colons between them have no meaning.
    #[arg(required = true, allow_hyphen_values = true)]
    bytes: Vec<String>,
    /// The bytes are these characters, with \r, \n, \t, \\ and \xNN.
    #[arg(long)]
    text: bool,
    /// Who has sent the bytes.
    #[arg(long, value_enum, default_value_t = Sender::Machine)]
    from: Sender,
    /// Identifier of the frame, on a CAN bus.
    #[arg(long)]
    id: Option<u64>,
    /// The message that was sent last: the bytes are its answer.
    #[arg(long, value_name = "MESSAGE")]
    asked: Option<String>,
}

/// Who has sent bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Sender {
    /// The machine.
    Machine,
    /// Who uses the machine.
    Client,
}

/// Why a command has failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The file is not a description.
    #[error("{}: {reason}", path.display())]
    NotADescription {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The file is not a DBC file, or no description can be made of it.
    #[error("{}: {reason}", path.display())]
    NotADbcFile {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The bytes are not written as bytes.
    #[error("{0}")]
    NotBytes(String),
    /// There is no such message.
    #[error("--asked: there is no message {name}{hint}")]
    NoMessage {
        /// What was given.
        name: String,
        /// What may be meant.
        hint: String,
    },
    /// Some of the bytes are not a message.
    #[error("{0} bytes are not a message{1}")]
    NotMessages(usize, &'static str),
    /// There is no such check sum.
    #[error("{0}")]
    NoChecksum(String),
    /// Nothing more can be shown of a line or of a recording.
    #[error(transparent)]
    Sniff(#[from] SniffError),
    /// A new description would replace a file.
    #[error("{} is already there; it is not overwritten", .0.display())]
    Exists(PathBuf),
    /// A file cannot be written.
    #[error("{}: {error}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The answers make no description.
    #[error(transparent)]
    Answers(#[from] SkeletonError),
    /// The input has ended before the last question.
    #[error("no answer: {0}")]
    NoAnswer(std::io::Error),
}

/// Runs a subcommand.
///
/// # Errors
/// The file cannot be read, or is not a description; the bytes are not bytes, or not messages; a description has what C or
/// Python is not made of; a file is there already, or cannot be written.
pub fn run(command: BridgeCommand) -> Result<(), BridgeError> {
    match command {
        BridgeCommand::Check(check) => {
            let text = text_of(&check.file)?;
            let wrong = |reason: String| BridgeError::NotADescription { path: check.file.clone(), reason };
            let (codec, _) = compile(&text).map_err(wrong)?;
            let codec = Arc::new(codec);
            let appears = appearance(&codec, &text).map_err(wrong)?;
            out!("{}{appears}{}", summary(&check.file, &codec), warnings(&codec, &text));
            Ok(())
        }
        BridgeCommand::Try(trial) => try_bytes(&trial),
        BridgeCommand::Sniff(command) => sniff::run(command),
        BridgeCommand::New(command) => new::run(&command),
        BridgeCommand::Import(command) => import::run(&command),
        BridgeCommand::Page(command) => made::make(&command, |codec| Ok(page(codec))),
        BridgeCommand::Header(command) => made::make(&command, header),
        BridgeCommand::Python(command) => made::make(&command, python),
        BridgeCommand::Checksums(command) => checksums::run(&command),
        BridgeCommand::Schema(output) => made::write(&output, &schema()),
    }
}

/// Reads a description that is carried out, not only looked at.
///
/// # Errors
/// The file cannot be read, or is not a description; its sections `bridge` or `serve` have a mistake.
pub fn load(path: &Path) -> Result<Arc<Codec>, BridgeError> {
    let text = text_of(path)?;
    let wrong = |reason: String| BridgeError::NotADescription { path: path.to_owned(), reason };
    let codec = Arc::new(compile(&text).map_err(wrong)?.0);
    appearance(&codec, &text).map_err(wrong)?;
    Ok(codec)
}

/// How the machine appears in ROS, a line each; checks the sections `bridge` and `serve`.
fn appearance(codec: &Arc<Codec>, text: &str) -> Result<String, String> {
    let protocol = codec.protocol();
    let mut lines = String::new();
    if protocol.bridge.is_some() {
        let interface = Interface::new(Arc::clone(codec), &types()).map_err(|error| located(&error, text))?;
        for line in interface.lines() {
            // Writing to a text cannot fail.
            let _ = writeln!(lines, "  {line}");
        }
        for name in interface.not_on_r2r() {
            let _ = writeln!(
                lines,
                "  note: on r2r the service {name} is not possible: {} are",
                ON_R2R.join(", ")
            );
        }
    }
    if protocol.serve.is_some() {
        Simulated::new(Arc::clone(codec)).map_err(|error| located(&error, text))?;
    }
    Ok(lines)
}

fn located(error: &CodecError, text: &str) -> String {
    let line = error.line(text).map_or(String::new(), |line| format!("line {line}: "));
    format!("{line}{error}")
}

fn read(path: &Path) -> Result<(Codec, Cutter), BridgeError> {
    let wrong = |reason: String| BridgeError::NotADescription { path: path.to_owned(), reason };
    compile(&text_of(path)?).map_err(wrong)
}

fn text_of(path: &Path) -> Result<String, BridgeError> {
    let unreadable = |error| BridgeError::Unreadable { path: path.to_owned(), error };
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > MAX_FILE {
        let reason = format!("{size} bytes; a description has at most {MAX_FILE}");
        return Err(BridgeError::NotADescription { path: path.to_owned(), reason });
    }
    Ok(dragoman_text::decode(&std::fs::read(path).map_err(unreadable)?).0)
}

fn compile(text: &str) -> Result<(Codec, Cutter), String> {
    let protocol = Protocol::read(text).map_err(|error| plain_words(error.to_string()))?;
    let cutter = Cutter::new(&protocol).map_err(|reason| format!("frame: {reason}"))?;
    let codec = Codec::new(protocol).map_err(|error| located(&error, text))?;
    Ok((codec, cutter))
}

/// Names of types in errors of the YAML reader, in words.
fn plain_words(reason: String) -> String {
    let words = [
        ("invalid type: map, ", "found a mapping, "),
        ("invalid type: sequence, ", "found a list, "),
        ("invalid type: unit value, ", "found nothing, "),
        ("invalid type: ", "found the "),
        ("invalid length ", "found a list of "),
        ("expected f64", "expected a number"),
        ("expected u64", "expected a whole number from 0"),
        ("expected usize", "expected a whole number from 0"),
        ("expected i64", "expected a whole number"),
        ("expected a sequence", "expected a list, as in [a, b]"),
        ("expected an array of length 2", "expected two values, as in [0, 1]"),
        ("expected a map", "expected a mapping, as in { a: 1 }"),
        ("missing field", "missing key"),
    ];
    words.into_iter().fold(reason, |reason, (from, to)| reason.replace(from, to))
}

/// What is hardly meant, a line each.
fn warnings(codec: &Codec, text: &str) -> String {
    let shown = codec.protocol().warnings().into_iter().map(|warning| {
        let line = warning.line(text).map_or(String::new(), |line| format!("line {line}: "));
        format!("  warning: {line}{}: {}\n", warning.place, warning.text)
    });
    shown.collect()
}

/// A line per message.
fn summary(path: &Path, codec: &Codec) -> String {
    let protocol = codec.protocol();
    let messages = &protocol.messages;
    let mut text = format!("{}: {}; {} messages\n", path.display(), protocol.title, messages.len());
    for message in messages {
        let code = match &message.code {
            Code::Number(number) => number.to_string(),
            Code::Text(text) => text.clone(),
        };
        let who = if message.from == Side::Client { "to the machine" } else { "from the machine" };
        let fields = message.fields.iter().map(|field| {
            let unit = if field.unit.is_empty() { String::new() } else { format!(" {}", field.unit) };
            format!("{}: {}{unit}", field.name, field.kind())
        });
        let fields = fields.collect::<Vec<_>>().join(", ");
        // Writing to a text cannot fail.
        let _ = writeln!(text, "  {} ({code}), {who}: {}", message.name, message.meaning);
        if !fields.is_empty() {
            let _ = writeln!(text, "    {fields}");
        }
    }
    text
}

fn try_bytes(trial: &TryCommand) -> Result<(), BridgeError> {
    let (codec, cutter) = read(&trial.file)?;
    let given = trial.bytes.join(" ");
    let bytes = if trial.text { characters(&given)? } else { digits(&given)? };
    let asked = trial.asked.as_deref().map(|name| message(&codec, name)).transpose()?;
    let (text, not_messages) = decoded(&codec, cutter.clone(), &bytes, trial, asked);
    out!("{text}");
    if not_messages == 0 {
        return Ok(());
    }
    let (other, hint) = match trial.from {
        Sender::Machine => (Sender::Client, "; as bytes to the machine they are: --from client"),
        Sender::Client => (Sender::Machine, "; as bytes from the machine they are: --from machine"),
    };
    let other = TryCommand { from: other, ..trial.clone() };
    let is_other = decoded(&codec, cutter, &bytes, &other, None).1 == 0;
    Err(BridgeError::NotMessages(not_messages, if is_other { hint } else { "" }))
}

/// A line per message, and how many bytes are not part of one.
fn decoded(
    codec: &Codec,
    mut cutter: Cutter,
    bytes: &[u8],
    trial: &TryCommand,
    asked: Option<MessageId>,
) -> (String, usize) {
    let from = if trial.from == Sender::Machine { Side::Server } else { Side::Client };
    let (question, mut values, mut scratch) = (Values::default(), Values::default(), Values::default());
    let asked = asked.map(|asked| (asked, &question));
    let (mut text, mut not_messages) = (String::new(), 0);
    cutter.push(bytes);
    while let Some(frame) = cutter.next_frame_by(|rest| codec.measure(rest, from, &mut scratch)) {
        // Writing to a text cannot fail.
        let _ = match codec.decode_frame(trial.id, frame, from, asked, &mut values) {
            Ok(message) => writeln!(text, "{}", codec.show(message, &values)),
            Err(error) => {
                not_messages += frame.len();
                writeln!(text, "{}: {error}", hexadecimal(frame))
            }
        };
    }
    let left_out = usize::try_from(cutter.left_out()).unwrap_or(usize::MAX);
    if left_out > 0 {
        let _ = writeln!(text, "{left_out} bytes belong to no frame");
    }
    let incomplete = cutter.incomplete();
    if incomplete > 0 {
        let _ = writeln!(text, "{incomplete} bytes are the beginning of a frame");
    }
    (text, not_messages + left_out + incomplete)
}

fn message(codec: &Codec, name: &str) -> Result<MessageId, BridgeError> {
    let names = || codec.protocol().messages.iter().map(|message| message.name.as_str());
    let number = names().position(|one| one == name);
    number.map(|number| MessageId { number, is_answer: false }).ok_or_else(|| BridgeError::NoMessage {
        name: dragoman_text::excerpt(name).into_owned(),
        hint: dragoman_text::hint(name, names()),
    })
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn digits(text: &str) -> Result<Vec<u8>, BridgeError> {
    sniff::dump::digits(text)
        .map_err(|reason| BridgeError::NotBytes(format!("{reason}; --text takes characters")))
}

/// The bytes of a text with escapes.
fn characters(text: &str) -> Result<Vec<u8>, BridgeError> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        rest = rest.get(first.len_utf8()..).unwrap_or_default();
        if first != '\\' {
            bytes.extend_from_slice(first.encode_utf8(&mut [0; 4]).as_bytes());
            continue;
        }
        let (byte, len) = match rest.chars().next() {
            Some('r') => (Some(b'\r'), 1),
            Some('n') => (Some(b'\n'), 1),
            Some('t') => (Some(b'\t'), 1),
            Some('\\') => (Some(b'\\'), 1),
            Some('x') => (rest.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok()), 3),
            _ => (None, 0),
        };
        let wrong = || {
            BridgeError::NotBytes(format!(
                "\"\\{}\" is not one of \\r, \\n, \\t, \\\\, \\xNN",
                rest.get(..len.max(1)).unwrap_or(rest)
            ))
        };
        bytes.push(byte.ok_or_else(wrong)?);
        rest = rest.get(len..).unwrap_or_default();
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The blocks of the page that begin with this line.
    fn block(language: &str) -> &'static str {
        let page = include_str!("../../../docs/own-protocol.md");
        let (_, block) = page.split_once(&format!("```{language}\n")).unwrap();
        block.split_once("```").unwrap().0
    }

    fn trial(arguments: &[&str]) -> TryCommand {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            trial: TryCommand,
        }
        let line: Line = clap::Parser::parse_from([&["try", "rover.yaml"], arguments].concat());
        line.trial
    }

    #[test]
    fn the_page_s_description_decodes_its_bytes() {
        let (codec, cutter) = compile(block("yaml")).unwrap();
        let commands = block("console");
        let checked = summary(Path::new("rover.yaml"), &codec);
        let bytes =
            commands.lines().find_map(|line| line.strip_prefix("$ dragoman bridge try rover.yaml ")).unwrap();
        let trial = trial(&bytes.split(' ').collect::<Vec<_>>());
        let (text, not_messages) = decoded(&codec, cutter, &digits(bytes).unwrap(), &trial, None);
        assert_eq!(not_messages, 0);
        let expected = format!(
            "$ dragoman bridge check rover.yaml\n{checked}$ dragoman bridge try rover.yaml {bytes}\n{text}"
        );
        assert_eq!(commands, expected);
    }

    #[test]
    fn what_is_not_a_message_is_shown() {
        let (codec, cutter) = compile(block("yaml")).unwrap();
        let tried =
            |bytes: &str| decoded(&codec, cutter.clone(), &digits(bytes).unwrap(), &trial(&["00"]), None);
        assert_eq!(
            tried("52 56 00 09 00 00"),
            ("52 56 00 09 00 00: no message has the code 9\n".to_owned(), 6)
        );
        assert_eq!(
            tried("00 52 56"),
            ("1 bytes belong to no frame\n2 bytes are the beginning of a frame\n".to_owned(), 3)
        );
    }

    #[test]
    fn bytes_are_digits_or_characters() {
        for (text, expected) in
            [("0a0B", &[10, 11][..]), ("0x0a, 0x0b", &[10, 11]), ("0a:0b\t0c", &[10, 11, 12]), ("", &[])]
        {
            assert_eq!(digits(text).unwrap(), expected, "{text}");
        }
        for text in ["0", "0g", "+1", "\u{e4}a"] {
            assert!(matches!(digits(text), Err(BridgeError::NotBytes(_))), "{text}");
        }
        assert_eq!(characters("a\\x02\\r\\n\\\\\u{e4}").unwrap(), b"a\x02\r\n\\\xc3\xa4");
        for text in ["\\", "\\q", "\\x1", "\\xzz"] {
            assert!(matches!(characters(text), Err(BridgeError::NotBytes(_))), "{text}");
        }
    }
}

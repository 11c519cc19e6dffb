//! The description to begin with, from a few answers: comments say what is to be filled in.
//!
//! ```
//! use dragoman_protocol::{Protocol, skeleton::{Answers, skeleton}};
//!
//! let text = skeleton(&Answers { name: "lamp".to_owned(), ..Answers::default() })?;
//! assert_eq!(Protocol::read(&text)?.name, "lamp");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::checksum::Checksum;
use crate::model::ByteOrder;
use crate::rust::sentence;

/// What the author of a description has answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answers {
    /// Name of the protocol.
    pub name: String,
    /// Its transport.
    pub link: LinkAnswer,
    /// How a message begins and ends; on a CAN bus it is a frame, whatever stands here.
    pub cut: CutAnswer,
    /// Order of the bytes of numbers.
    pub order: ByteOrder,
    /// Name of the check sum, if there is one.
    pub checksum: Option<String>,
    /// Name of a message to the machine.
    pub to_machine: String,
    /// Name of a message from the machine.
    pub from_machine: String,
}

impl Default for Answers {
    fn default() -> Self {
        Self {
            name: "machine".to_owned(),
            link: LinkAnswer::Serial,
            cut: CutAnswer::Size,
            order: ByteOrder::Little,
            checksum: None,
            to_machine: "move".to_owned(),
            from_machine: "state".to_owned(),
        }
    }
}

/// A transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum LinkAnswer {
    Serial,
    Tcp,
    Udp,
    Can,
}

impl LinkAnswer {
    /// All, with their words.
    pub const ALL: [(&str, Self); 4] =
        [("serial", Self::Serial), ("tcp", Self::Tcp), ("udp", Self::Udp), ("can", Self::Can)];
}

/// How a message begins and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CutAnswer {
    /// A field has its size.
    Size,
    /// All messages have the same size.
    Fixed,
    /// It is between marks.
    Marks,
    /// It is a line of text.
    Line,
    /// Each code has a size.
    Code,
}

impl CutAnswer {
    /// All, with their words.
    pub const ALL: [(&str, Self); 5] = [
        ("size", Self::Size),
        ("fixed", Self::Fixed),
        ("marks", Self::Marks),
        ("line", Self::Line),
        ("code", Self::Code),
    ];
}

/// Why there is no description for these answers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SkeletonError {
    /// A name cannot be used in code.
    #[error("'{0}' is not a name: expected small letters, digits and underscores, with a letter in front")]
    NotAName(String),
    /// The messages have the same name.
    #[error("both messages are called {0}")]
    SameName(String),
    /// There is no such check sum.
    #[error("{0}")]
    NoChecksum(String),
}

/// Whether a text can be the name of a protocol or a message.
///
/// # Errors
/// It cannot.
pub fn check_name(name: &str) -> Result<(), SkeletonError> {
    let is_right = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.len() <= 64
        && name.chars().all(|one| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_');
    if is_right { Ok(()) } else { Err(SkeletonError::NotAName(dragoman_text::excerpt(name).into_owned())) }
}

/// The type of the field of a check sum.
///
/// # Errors
/// There is no check sum with this name.
pub fn checksum_type(name: &str) -> Result<&'static str, SkeletonError> {
    match Checksum::named(name) {
        None => Err(SkeletonError::NoChecksum(Checksum::unknown(name))),
        Some(Checksum::Crc32(_)) => Ok("u32"),
        Some(Checksum::Crc16(_) | Checksum::Words) => Ok("u16"),
        Some(Checksum::Crc8(_) | Checksum::Xor | Checksum::Sum { .. }) => Ok("u8"),
    }
}

/// The text of a description, which [`Protocol::read`](crate::Protocol::read) accepts.
///
/// # Errors
/// A name cannot be used in code, both messages have the same one, or the check sum is not known.
pub fn skeleton(answers: &Answers) -> Result<String, SkeletonError> {
    for name in [&answers.name, &answers.to_machine, &answers.from_machine] {
        check_name(name)?;
    }
    if answers.to_machine == answers.from_machine {
        return Err(SkeletonError::SameName(answers.to_machine.clone()));
    }
    let sum =
        answers.checksum.as_deref().map(|name| checksum_type(name).map(|kind| (name, kind))).transpose()?;
    let is_can = answers.link == LinkAnswer::Can;
    let is_text = answers.cut == CutAnswer::Line && !is_can;
    let link = match answers.link {
        LinkAnswer::Serial => "{ serial: 115200 }  # bits per second",
        LinkAnswer::Tcp => "{ tcp: 4000 }       # port of the machine",
        LinkAnswer::Udp => "{ udp: 4000 }       # port of the machine",
        LinkAnswer::Can => "{ can: 500000 }     # bits per second",
    };
    let order = if answers.order == ByteOrder::Little { "little" } else { "big" };
    let (name, title) = (quoted(&answers.name), sentence(&answers.name.replace('_', " ")));
    let mut out = format!(
        "# The protocol of a machine, for `dragoman bridge`. Replace what is an example here; `dragoman bridge check FILE`\n\
         # says what is wrong and where. All keys: packages/dragoman_protocol/README.md\n\
         protocol: {name}\n\
         title: {title:?}\n\
         source: the manual, its edition and chapter\n\
         # about: what holds for all messages, such as frames of coordinates\n\
         link: {link}\n\
         order: {order:<17} # of the bytes of numbers: little or big\n"
    );
    if is_text {
        out +=
            "encoding: blanks         # values are text, with blanks between them; or { separator: \",\" }\n";
    }
    out += &frame(answers, is_can, is_text, sum);
    out += &messages(answers, is_can, is_text);
    out += &bridge(answers, answers.cut == CutAnswer::Marks && !is_can);
    Ok(out)
}

fn frame(answers: &Answers, is_can: bool, is_text: bool, sum: Option<(&str, &str)>) -> String {
    let (cut, remark) = match answers.cut {
        _ if is_can => ("{ can: true }", "A message is a frame of the bus; its identifier is the code."),
        CutAnswer::Size => (
            "{ size: size, counts: body, most: 256 }",
            "Field size says where a message ends: it counts the body, or the whole frame, or the rest behind it.",
        ),
        CutAnswer::Fixed if answers.link == LinkAnswer::Udp => {
            ("{ datagram: 16 }", "Each message is a datagram of so many bytes.")
        }
        CutAnswer::Fixed => (
            "{ by_code: true }",
            "All messages have the same size: fields called reserved fill them, as in the first message below.",
        ),
        CutAnswer::Marks => (
            "{ start: \"\\x02\", end: \"\\x03\" }",
            "A message is between these bytes. If values may have them, it needs an escape: see the README.",
        ),
        CutAnswer::Line => ("{ line: \"\\r\\n\" }", "A message is a line."),
        CutAnswer::Code => ("{ by_code: true }", "A message ends where the fields of its code end."),
    };
    let mut out = format!("frame:\n  # {remark}\n  cut: {cut}\n  fields:\n");
    let has_mark = !is_can && !matches!(answers.cut, CutAnswer::Marks | CutAnswer::Line);
    if has_mark {
        out += "    - { name: mark, type: \"bytes[2]\", value: AA 55 }    # if each message begins with the same bytes\n";
    }
    if !is_can && answers.cut == CutAnswer::Size {
        out += "    - { name: size, type: u8, is: size }\n";
    }
    if is_text {
        out += "    - { name: command, type: \"text[1]\", is: code }      # the first word\n";
    } else if !is_can {
        out += "    - { name: command, type: u8, is: code }             # says which message it is\n";
    }
    out += "    - { name: data, is: body }                          # the fields of the message\n";
    if let (Some((name, kind)), true) = (sum, is_text) {
        let digits = match kind {
            "u8" => 2,
            "u16" => 4,
            _ => 8,
        };
        out += "    - { name: star, type: \"text[1]\", value: \"*\" }\n";
        out += &format!(
            "    - {{ name: check, type: \"text[{digits}]\", base: 16, is: checksum, algorithm: {name} }}\n"
        );
    } else if let Some((name, kind)) = sum {
        out += &format!("    - {{ name: check, type: {kind}, is: checksum, algorithm: {name} }}\n");
    }
    out
}

fn messages(answers: &Answers, is_can: bool, is_text: bool) -> String {
    let [to, from] = [&answers.to_machine, &answers.from_machine].map(|name| quoted(name));
    let [to_code, from_code] = match () {
        () if is_text => ["MOVE", "STATE"],
        () if is_can => ["257", "513"],
        // Other bytes than the marks.
        () if answers.cut == CutAnswer::Marks => ["65", "66"],
        () => ["1", "2"],
    };
    // On a stream, both messages are seven bytes long then.
    let reserved = if answers.cut == CutAnswer::Fixed && !is_can && answers.link != LinkAnswer::Udp {
        "      - { name: reserved, type: \"bytes[3]\", value: 00 00 00 }\n"
    } else {
        ""
    };
    format!(
        "messages:\n\
         \x20 - name: {to}\n\
         \x20   code: {to_code}\n\
         \x20   role: start                # query, setting, start or stop: what it does to the machine\n\
         \x20   meaning: drive with these velocities\n\
         \x20   fields:\n\
         \x20     # The value is number * scale, in unit.\n\
         \x20     - {{ name: forward, type: i16, unit: m/s, scale: 0.001 }}\n\
         \x20     - {{ name: turn, type: i16, unit: rad/s, scale: 0.001, meaning: to the left is positive }}\n\
         {reserved}\
         \x20   # answer: echo             # or a list of fields; without it nothing answers\n\
         \x20 - name: {from}\n\
         \x20   code: {from_code}\n\
         \x20   from: server               # the machine sends it\n\
         \x20   meaning: where it is, and whether it works\n\
         \x20   fields:\n\
         \x20     - {{ name: x, type: i16, unit: m, scale: 0.001 }}\n\
         \x20     - {{ name: y, type: i16, unit: m, scale: 0.001 }}\n\
         \x20     - {{ name: heading, type: i16, unit: rad, scale: 0.001 }}\n\
         \x20     - {{ name: fault, type: u8, codes: fault }}\n\
         types:\n\
         \x20 - {{ name: fault, codes: {{ none: 0, motor: 1, battery: 2 }} }}\n"
    )
}

fn bridge(answers: &Answers, has_marks: bool) -> String {
    let [to, from] = [&answers.to_machine, &answers.from_machine].map(|name| quoted(name));
    let mut motion = format!(
        "\x20 stop: {to}                   # what stops it; fields that are not named are 0\n\
         \x20 # every: [{{ send: {to}, period: 0.5 }}]   # heartbeats, and questions that are asked again and again\n\
         \x20 cmd_vel:\n\
         \x20   send: {to}\n\
         \x20   fields: {{ forward: linear, turn: angular }}\n\
         \x20   limits: {{ linear: 0.3, angular: 1.0 }}   # larger velocities are reduced to these\n\
         \x20   timeout: 0.6             # s after which a command that is not renewed ends in a stop\n"
    );
    if has_marks {
        let lines: Vec<_> = motion.lines().map(|line| format!("  #{line}\n")).collect();
        motion = "  # Once the marks have an escape, or cannot be in the values:\n".to_owned();
        motion.extend(lines);
    }
    format!(
        "# How it appears in ROS: `dragoman bridge FILE --link PLACE`. Units are m, rad, s, V, A.\n\
         bridge:\n\
         \x20 # Numbers with names for the expressions below; in ROS they are parameters of the node.\n\
         \x20 constants:\n\
         \x20   heading_offset: {{ value: 0, unit: rad, meaning: heading of the machine's x axis, range: [-3.15, 3.15] }}\n\
         \x20 timing: {{ silence: 2 }}       # s without a message, after which the machine is silent\n\
         {motion}\
         \x20 odometry: {{ from: {from}, pose: {{ x: x, y: y, heading: heading + heading_offset }} }}\n\
         \x20 publish:\n\
         \x20   - {{ topic: fault, type: std_msgs/msg/String, from: {from}, fields: {{ data: fault }} }}\n"
    )
}

/// A name as a text of YAML, also where it is one of YAML's own words.
fn quoted(name: &str) -> String {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    if words.contains(&name) { format!("\"{name}\"") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;
    use crate::codec::{Codec, MessageId, Values};
    use crate::cut::Cutter;
    use crate::model::Side;

    #[test]
    fn every_combination_of_answers_gives_a_description() {
        for (_, link) in LinkAnswer::ALL {
            for (_, cut) in CutAnswer::ALL {
                for order in [ByteOrder::Big, ByteOrder::Little] {
                    for checksum in
                        [None, Some("sum"), Some("xor"), Some("CRC-16/MODBUS"), Some("CRC-32/ISO-HDLC")]
                    {
                        let checksum = checksum.map(str::to_owned);
                        check(&Answers { link, cut, order, checksum, ..Answers::default() });
                    }
                }
            }
        }
        for name in Checksum::names() {
            check(&Answers { checksum: Some(name), ..Answers::default() });
        }
        check(&Answers {
            name: "null".into(),
            to_machine: "on".into(),
            from_machine: "u8".into(),
            ..Answers::default()
        });
    }

    /// It is read, and its messages are encoded, cut out of a stream and decoded.
    fn check(answers: &Answers) {
        let text = skeleton(answers).unwrap();
        let protocol = Protocol::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(protocol.name, answers.name);
        let codec = Codec::new(protocol).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let cut = &codec.protocol().frame.cut;
        let mut sizes = Vec::new();
        for (number, side) in [(0, Side::Client), (1, Side::Server)] {
            let id = MessageId { number, is_answer: false };
            let (mut values, mut content) = (Values::default(), Vec::new());
            codec.plain(id, None, &mut values);
            codec.encode(id, &mut values, &mut content).unwrap_or_else(|error| panic!("{error}\n{text}"));
            let mut cutter = Cutter::new(codec.protocol()).unwrap();
            let mut frame = Vec::new();
            codec.encode_wire(id, &mut values, &mut frame).unwrap_or_else(|error| panic!("{error}\n{text}"));
            cutter.push(&frame);
            sizes.push(frame.len());
            let found = cutter
                .next_frame_by(|rest| codec.measure(rest, side, &mut Values::default()))
                .map(<[u8]>::to_vec);
            assert_eq!(found.as_ref(), Some(&content), "{text}");
            let identifier = cut.can.then_some([257, 513][number]);
            let decoded = codec.decode_frame(identifier, &content, side, None, &mut values);
            assert_eq!(decoded, Ok(id), "{text}");
        }
        if answers.cut == CutAnswer::Fixed && answers.link != LinkAnswer::Can {
            assert_eq!(sizes[0], sizes[1], "{text}");
        }
    }

    #[test]
    fn answers_that_cannot_be_used_are_refused() {
        for (name, to, from, sum, expected) in [
            (
                "Machine",
                "a",
                "b",
                None,
                "'Machine' is not a name: expected small letters, digits and underscores, with a letter in front",
            ),
            (
                "a: b",
                "a",
                "b",
                None,
                "'a: b' is not a name: expected small letters, digits and underscores, with a letter in front",
            ),
            ("m", "a", "a", None, "both messages are called a"),
            (
                "m",
                "a",
                "b",
                Some("CRC-16/MODBSU"),
                "'CRC-16/MODBSU' is not a known check sum; did you mean 'CRC-16/MODBUS'?",
            ),
        ] {
            let [name, to_machine, from_machine] = [name, to, from].map(str::to_owned);
            let answers = Answers {
                name,
                to_machine,
                from_machine,
                checksum: sum.map(str::to_owned),
                ..Answers::default()
            };
            assert_eq!(skeleton(&answers).unwrap_err().to_string(), expected);
        }
    }
}

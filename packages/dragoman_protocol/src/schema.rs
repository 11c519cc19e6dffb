//! The form of descriptions as a JSON schema, with which editors complete and check them.
//!
//! A new key of the model needs a line here, or in `schema/bridge.rs` for the sections `bridge` and `serve`; a test compares them. The
//! schema is of draft 7, which yaml-language-server knows best.

mod bridge;

use std::fmt::Write as _;

use crate::checksum::Checksum;

/// What a value is.
#[derive(Debug, Clone, Copy)]
enum Shape {
    Text,
    /// A text for which editors offer the names of check sums.
    Algorithm,
    /// A type of fields.
    Kind,
    Whole,
    Real,
    Flag,
    /// One of these words.
    Words(&'static [&'static str]),
    /// An object of the table.
    One(&'static str),
    /// A list of such objects.
    List(&'static str),
    /// One of these.
    Any(&'static [Shape]),
    /// A mapping of names to such values.
    Map(&'static Shape),
    /// A list of such values.
    Items(&'static Shape),
    /// A list of so many such values.
    Fixed(usize, &'static Shape),
}
use Shape::{Algorithm, Any, Fixed, Flag, Items, List, Map, One, Real, Text, Whole, Words};

struct Key {
    name: &'static str,
    is_needed: bool,
    shape: Shape,
    text: &'static str,
}

const fn key(name: &'static str, shape: Shape, text: &'static str) -> Key {
    Key { name, is_needed: false, shape, text }
}

const fn needed(name: &'static str, shape: Shape, text: &'static str) -> Key {
    Key { name, is_needed: true, shape, text }
}

struct Object {
    name: &'static str,
    keys: &'static [Key],
}

const ENCODINGS: Shape = Words(&["plain", "xdr", "blanks"]);
/// A text, or a list of bytes.
const MARK: Shape = Any(&[Text, Items(&Whole)]);
const ORDER: Shape = Words(&["big", "little"]);

/// All objects but those of `bridge` and `serve`; the first one is the whole description.
const OBJECTS: &[Object] = &[
    Object {
        name: "protocol",
        keys: &[
            needed("protocol", Text, "Name in code; the file's name."),
            needed("title", Text, "Name in texts."),
            needed("source", Text, "The document that defines the protocol."),
            key("about", Text, "What holds for all messages: units, frames."),
            needed("link", One("link"), "The transport, with its usual port or its bits per second."),
            key(
                "encoding",
                Any(&[ENCODINGS, One("separator")]),
                "How values are written; plain by default. blanks: as text, with blanks between them.",
            ),
            key("order", ORDER, "Order of the bytes of numbers; big by default."),
            needed("frame", One("frame"), "How messages are found, and what is around their fields."),
            key("types", List("type"), "Structures, and names for numbers."),
            key("messages", List("message"), "The messages."),
            key("interfaces", List("interface"), "Groups of messages with a code of their own."),
            key("notices", One("notices"), "Texts for errors and warnings."),
            key("bridge", One("bridge"), "How the machine appears in ROS."),
            key("serve", One("serve"), "How the machine is simulated."),
        ],
    },
    Object {
        name: "link",
        keys: &[
            key("udp", Any(&[Whole, One("udp")]), "Port of UDP, or a mapping."),
            key("tcp", Any(&[Whole, One("tcp")]), "Port of TCP, or a mapping."),
            key("serial", Any(&[Whole, One("serial")]), "Bits per second of a serial line, or a mapping."),
            key("can", Any(&[Whole, One("can")]), "Bits per second of a CAN bus, or a mapping."),
        ],
    },
    Object {
        name: "udp",
        keys: &[
            needed("port", Whole, "Port to which messages are sent."),
            key("local", Whole, "Own port; chosen by the system by default."),
            key("broadcast", Flag, "Messages go to all hosts of the network."),
            key(
                "listen",
                Flag,
                "The machine begins: messages go to the address from which the last one came.",
            ),
        ],
    },
    Object {
        name: "tcp",
        keys: &[needed("port", Whole, "Port."), key("listen", Flag, "The machine connects to this port.")],
    },
    Object {
        name: "serial",
        keys: &[
            needed("rate", Whole, "Bits per second."),
            key("parity", Words(&["none", "even", "odd"]), "Parity bit; none by default."),
            key("data_bits", Whole, "Data bits: 7 or 8 (default)."),
            key("stop_bits", Whole, "Stop bits: 1 (default) or 2."),
            key("flow", Flag, "Flow control by RTS and CTS."),
        ],
    },
    Object {
        name: "can",
        keys: &[
            needed("rate", Whole, "Bits per second."),
            key("extended", Flag, "All identifiers have 29 bits; by default those above 0x7FF."),
        ],
    },
    Object {
        name: "frame",
        keys: &[
            needed("cut", One("cut"), "Where a message begins and ends."),
            needed("fields", List("field"), "What is around the body: one field is the code, one the body."),
            key("answer", Text, "What is different in an answer."),
        ],
    },
    Object {
        name: "cut",
        keys: &[
            key("datagram", Whole, "A message is a datagram of so many bytes."),
            key("least", Whole, "Minimum size of a datagram, bytes; missing bytes count as 0."),
            key("size", Text, "The field with the size."),
            key(
                "counts",
                Words(&["frame", "rest", "body"]),
                "What the size counts: the whole frame (default), what follows it, or the body.",
            ),
            key("most", Whole, "Maximum size of a frame, bytes."),
            key("start", MARK, "Bytes before a message."),
            key("end", MARK, "Bytes after a message."),
            key(
                "escape",
                Any(&[Words(&["slip", "cobs", "hex", "double"]), One("stuffing")]),
                "How the bytes of start and end are written within a message.",
            ),
            key("line", MARK, "The end of a line, such as \"\\r\\n\"."),
            key("silence", Real, "Silence after a message, in characters of the serial line."),
            key("by_code", Flag, "The code determines the size."),
            key("can", Flag, "A message is a frame of the CAN bus; the code is its identifier."),
        ],
    },
    Object {
        name: "field",
        keys: &[
            needed("name", Text, "Name in code."),
            key(
                "type",
                Shape::Kind,
                "u8, i16, f32[3], text[u8], bytes[*], a type of the description; the body of a frame has none.",
            ),
            key("unit", Text, "Unit of the value."),
            key("meaning", Text, "What it means."),
            key(
                "is",
                Words(&["code", "body", "size", "checksum", "address", "sequence", "computed"]),
                "Its purpose in a frame.",
            ),
            key("at", Whole, "Its offset in the frame, bytes; by default it follows the field before it."),
            key("value", Text, "The value that it always has."),
            key("codes", Text, "The type with the names of its numbers."),
            key("strict", Flag, "Another number than those in codes is an error."),
            key("changed", Flag, "Its value may be different in an answer that repeats it."),
            key("scale", Real, "Value = number * scale + offset, in unit."),
            key("offset", Real, "The value for the number 0."),
            key(
                "bits",
                Fixed(2, &Whole),
                "Its lowest bit and its number of bits, where several share a number.",
            ),
            key("order", ORDER, "Order of its bytes, if it differs from the protocol's."),
            key("base", Whole, "Base of a number that is written as text: 2, 8, 10 or 16."),
            key("algorithm", Algorithm, "How the check sum is computed."),
            key(
                "when",
                Any(&[Map(&Whole), Text]),
                "It is only there if these earlier fields have these values.",
            ),
            key("digits", Whole, "Minimum number of digits of a number that is written as text."),
            key("decimals", Whole, "Digits behind the decimal point of a number that is written as text."),
            key("empty", Words(&["missing"]), "What an empty word between separators stands for."),
            key("pad", MARK, "The byte that fills a text of fixed size; zero by default."),
            key("rest", Flag, "A text between separators that takes all that is left of the message."),
            key("encoding", Words(&["latin1", "utf8", "ascii"]), "Encoding of a text."),
            key("over", One("over"), "The bytes of a check sum; by default all in front of it."),
            key("optional", Flag, "It may be missing at the end of a message."),
        ],
    },
    Object {
        name: "over",
        keys: &[
            key("from", Text, "The first field; by default that of the frame."),
            key("to", Text, "The last field; by default the one in front of the check sum."),
        ],
    },
    Object {
        name: "stuffing",
        keys: &[
            needed("mark", Whole, "The byte in front of an escaped one."),
            needed("xor", Whole, "What an escaped byte is combined with by exclusive or."),
            needed("of", Items(&Whole), "The bytes that are escaped."),
        ],
    },
    Object {
        name: "separator",
        keys: &[needed("separator", Text, "The character between values, which are written as text.")],
    },
    Object {
        name: "type",
        keys: &[
            needed("name", Text, "Name in code."),
            key("meaning", Text, "What it means."),
            key("fields", List("field"), "Fields of a structure."),
            key("base", Shape::Kind, "Type of the numbers in codes."),
            key("codes", Map(&Any(&[Whole, One("code")])), "Numbers by their names."),
        ],
    },
    Object {
        name: "code",
        keys: &[
            needed("code", Whole, "The number."),
            key("meaning", Text, "What it means."),
            key("text", Text, "Its name in the document that defines it."),
        ],
    },
    Object {
        name: "message",
        keys: &[
            needed("name", Text, "Name in code."),
            needed("code", Any(&[Whole, Text]), "What identifies it on the wire."),
            key("also", Items(&Any(&[Whole, Text])), "Further codes that stand for it when it is received."),
            needed("meaning", Text, "What it does."),
            key(
                "from",
                Words(&["client", "server"]),
                "Who sends it: client (default), or server, which is the machine.",
            ),
            key(
                "role",
                Words(&["query", "setting", "start", "stop"]),
                "Its effect on the machine; setting by default.",
            ),
            key(
                "repeatable",
                Flag,
                "Whether it may be sent again without knowing whether the first copy arrived; by default all but a start.",
            ),
            key("ros", Text, "Type of the ROS service, if its fields are those of the request."),
            key("service", Text, "Name of the ROS service."),
            key("topic", Text, "Name of the ROS topic."),
            key("fields", List("field"), "Its fields."),
            key(
                "answer",
                Any(&[Text, List("field")]),
                "echo, a type, or fields; without it nothing answers.",
            ),
            key("answer_code", Any(&[Whole, Text]), "Code of the answer, if it is not that of the message."),
            key("bare", Flag, "The answer is its fields alone, without those of the frame."),
        ],
    },
    Object {
        name: "interface",
        keys: &[
            needed("name", Text, "Name in code."),
            needed("code", Whole, "What identifies it on the wire."),
            needed("meaning", Text, "What it is for."),
            key("types", List("type"), "Types of its messages."),
            needed("messages", List("message"), "Its messages."),
        ],
    },
    Object {
        name: "notices",
        keys: &[
            needed("meaning", Text, "What the texts stand for."),
            needed("texts", List("notice"), "The texts."),
        ],
    },
    Object {
        name: "notice",
        keys: &[needed("text", Text, "The text."), needed("meaning", Text, "What it means.")],
    },
];

/// The JSON schema of descriptions.
pub fn schema() -> String {
    let Some((first, others)) = OBJECTS.split_first() else { return String::new() };
    let mut out = "{\n  \"$schema\": \"http://json-schema.org/draft-07/schema#\",\n".to_owned();
    // Writing into a text does not fail.
    let _ = writeln!(
        out,
        "  \"title\": \"Description of a wire protocol, for dragoman bridge\",\n  {},",
        object(first, "  ")
    );
    out.push_str("  \"definitions\": {\n");
    let definitions = others
        .iter()
        .chain(bridge::OBJECTS)
        .map(|one| format!("    {}: {{\n      {}\n    }}", text(one.name), object(one, "      ")));
    out + &definitions.collect::<Vec<_>>().join(",\n") + "\n  }\n}\n"
}

/// The inside of an object's schema.
fn object(one: &Object, indent: &str) -> String {
    let needed = one.keys.iter().filter(|key| key.is_needed).map(|key| text(key.name));
    let needed = needed.collect::<Vec<_>>().join(", ");
    let mut out = "\"type\": \"object\",".to_owned();
    if !needed.is_empty() {
        let _ = write!(out, "\n{indent}\"required\": [{needed}],");
    }
    let single = if one.name == "link" {
        format!("\n{indent}\"minProperties\": 1,\n{indent}\"maxProperties\": 1,")
    } else {
        String::new()
    };
    let _ = write!(out, "{single}\n{indent}\"additionalProperties\": false,\n{indent}\"properties\": {{");
    for (number, key) in one.keys.iter().enumerate() {
        let comma = if number == 0 { "" } else { "," };
        let _ = write!(
            out,
            "{comma}\n{indent}  {}: {{ \"description\": {}, {} }}",
            text(key.name),
            text(key.text),
            shape(key.shape)
        );
    }
    let _ = write!(out, "\n{indent}}}");
    out
}

/// The inside of a value's schema.
fn shape(shape: Shape) -> String {
    match shape {
        Text => "\"type\": \"string\"".to_owned(),
        Whole => "\"type\": \"integer\"".to_owned(),
        Real => "\"type\": \"number\"".to_owned(),
        Flag => "\"type\": \"boolean\"".to_owned(),
        Shape::Kind => {
            "\"type\": \"string\", \"pattern\": \"^[a-z][a-z0-9_]*(\\\\[([*]|[0-9]+|[a-z][a-z0-9_]*)\\\\])?$\"".to_owned()
        }
        Algorithm => {
            let names: Vec<String> = Checksum::names().map(|name| text(&name)).collect();
            format!("\"anyOf\": [{{ \"enum\": [{}] }}, {{ \"type\": \"string\" }}]", names.join(", "))
        }
        Words(words) => {
            let words: Vec<String> = words.iter().map(|word| text(word)).collect();
            format!("\"enum\": [{}]", words.join(", "))
        }
        // Beside a reference, draft 7 ignores the description.
        One(name) => format!("\"allOf\": [{{ \"$ref\": \"#/definitions/{name}\" }}]"),
        List(name) => format!("\"type\": \"array\", \"items\": {{ \"$ref\": \"#/definitions/{name}\" }}"),
        Any(shapes) => {
            let shapes: Vec<String> = shapes.iter().map(|one| format!("{{ {} }}", self::shape(*one))).collect();
            format!("\"anyOf\": [{}]", shapes.join(", "))
        }
        Map(one) => format!("\"type\": \"object\", \"additionalProperties\": {{ {} }}", self::shape(*one)),
        Items(one) => format!("\"type\": \"array\", \"items\": {{ {} }}", self::shape(*one)),
        Fixed(count, one) => {
            let items = self::shape(Items(one));
            format!("{items}, \"minItems\": {count}, \"maxItems\": {count}")
        }
    }
}

/// A text of JSON.
fn text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests;

//! A page of documentation of a protocol, in Markdown, made of its description.
//!
//! ```
//! use dragoman_protocol::{Protocol, codec::Codec, page::page};
//!
//! let text = include_str!("../machines/modbus_gripper.yaml");
//! let page = page(&Codec::new(Protocol::read(text)?)?);
//! assert!(page.starts_with("# Robotiq 2F-85 on Modbus RTU\n"));
//! assert!(page.contains("Example: `09 03 07 d0 00 03 04 0e`"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod fields;

use crate::codec::{Codec, MessageId, Values};
use crate::generate::{code, one_line, statement};
use crate::model::{
    Answer, ByteOrder, Code, Counted, Escape, Field, FieldRole, Link, Mark, Message, NamedEscape, Parity,
    Protocol, Role, Side, Type,
};
use crate::rust::{line, sorted};

/// The page of a description.
pub fn page(codec: &Codec) -> String {
    let protocol = codec.protocol();
    let mut out = String::new();
    line(&mut out, &format!("# {}", plain(&protocol.title)));
    for text in [statement(&protocol.about), format!("Source: {}", one_line(&protocol.source))] {
        paragraph(&mut out, &text);
    }
    let order = match (protocol.encoding.separator(), protocol.order) {
        (Some(' '), _) => "Values are written as text, with blanks between them.".to_owned(),
        (Some(separator), _) => format!("Values are written as text, with `{separator}` between them."),
        (_, ByteOrder::Big) => "The most significant byte of a number comes first.".to_owned(),
        (_, ByteOrder::Little) => "The least significant byte of a number comes first.".to_owned(),
    };
    paragraph(&mut out, &format!("Link: {}. {order}", link(protocol.link)));
    line(&mut out, "\n## Frame");
    paragraph(&mut out, &framing(protocol));
    paragraph(&mut out, &statement(&protocol.frame.answer));
    frame(protocol, &mut out);
    line(&mut out, "\n## Messages\n\n| message | code | sent | meaning |\n| --- | --- | --- | --- |");
    for message in &protocol.messages {
        let (name, code) = (&message.name, plain(&code(&message.code)));
        let meaning = plain(&message.meaning);
        line(&mut out, &format!("| [{name}](#{name}) | {code} | {} | {meaning} |", sender(message)));
    }
    for (number, message) in protocol.messages.iter().enumerate() {
        section(codec, number, message, &mut out);
    }
    if !protocol.types.is_empty() {
        line(&mut out, "\n## Types");
        protocol.types.iter().for_each(|one| kind(protocol, one, &mut out));
    }
    out
}

fn paragraph(out: &mut String, text: &str) {
    if !text.is_empty() {
        line(out, &format!("\n{}", plain(text)));
    }
}

/// A text in one line, without what ends a cell of a table.
fn plain(text: &str) -> String {
    one_line(text).replace('|', "\\|")
}

fn link(link: Link) -> String {
    match link {
        Link::Udp(udp) if udp.listen => format!("UDP, own port {}; the machine begins", udp.local),
        Link::Udp(udp) if udp.broadcast => format!("UDP to all hosts, port {}", udp.port),
        Link::Udp(udp) => format!("UDP, port {}", udp.port),
        Link::Tcp(tcp) if tcp.listen => format!("TCP, own port {}; the machine connects", tcp.port),
        Link::Tcp(tcp) => format!("TCP, port {}", tcp.port),
        Link::Serial(serial) => {
            let parity = match serial.parity {
                Parity::None => "",
                Parity::Even => ", even parity",
                Parity::Odd => ", odd parity",
            };
            let bits = if serial.data_bits == 8 {
                String::new()
            } else {
                format!(", {} data bits", serial.data_bits)
            };
            let stop = if serial.stop_bits == 1 { "" } else { ", two stop bits" };
            let flow = if serial.flow { ", flow control by RTS and CTS" } else { "" };
            format!("serial line, {} bits per second{bits}{parity}{stop}{flow}", serial.rate)
        }
        Link::Can(can) => {
            let extended = if can.extended { ", identifiers of 29 bits" } else { "" };
            format!("CAN bus, {} bits per second{extended}", can.rate)
        }
    }
}

fn sender(message: &Message) -> &'static str {
    if message.from == Side::Client { "to the machine" } else { "by the machine" }
}

/// How a message is found in the bytes.
fn framing(protocol: &Protocol) -> String {
    let cut = &protocol.frame.cut;
    let mark = |mark: &Option<Mark>| format!("`{}`", hexadecimal(mark.as_ref().map_or(&[][..], Mark::bytes)));
    let mut text = match (cut.datagram, &cut.size, cut.silence) {
        (Some(size), ..) => match cut.least {
            Some(least) if least < size => {
                format!("A message is a datagram of {least} to {size} bytes; missing ones count as 0.")
            }
            _ => format!("A message is a datagram of {size} bytes."),
        },
        (_, Some(size), _) => {
            let counted = match cut.counts.unwrap_or(Counted::Frame) {
                Counted::Frame => "all bytes of the frame",
                Counted::Rest => "all bytes behind it",
                Counted::Body => "the bytes of the body",
            };
            format!("A message ends where its size says: field `{size}` counts {counted}.")
        }
        (.., Some(silence)) => format!("A message ends with a silence of {silence} characters."),
        _ if cut.line.is_some() => {
            format!("A message is a line, which ends with the bytes {}.", mark(&cut.line))
        }
        _ if cut.by_code => "A message ends where the fields of its code end.".to_owned(),
        _ if cut.can => "A message is a frame of the bus; its identifier is the code.".to_owned(),
        _ if cut.start.is_none() => format!("A message ends with the bytes {}.", mark(&cut.end)),
        _ => format!("A message lies between the bytes {} and {}.", mark(&cut.start), mark(&cut.end)),
    };
    if let Some(escape) = &cut.escape {
        text += &format!(" {}", escaping(escape));
    }
    if let Some(most) = cut.most {
        text += &format!(" It has at most {most} bytes.");
    }
    text
}

/// How the bytes of marks are written within a message.
fn escaping(escape: &Escape) -> String {
    match escape {
        Escape::Named(NamedEscape::Slip) => {
            "Within it `db dc` stands for `c0`, and `db dd` for `db` (SLIP, RFC 1055).".to_owned()
        }
        Escape::Named(NamedEscape::Cobs) => {
            "It has no zeros: they are written with Consistent Overhead Byte Stuffing (COBS).".to_owned()
        }
        Escape::Named(NamedEscape::Hex) => "Each byte is written as two hexadecimal digits.".to_owned(),
        Escape::Named(NamedEscape::Double) => {
            "Within it the first byte of the marks is sent twice.".to_owned()
        }
        Escape::Stuffing(one) => format!(
            "Within it the bytes `{}` are sent as `{:02x}` and their exclusive or with `{:02x}`.",
            hexadecimal(&one.of),
            one.mark,
            one.xor
        ),
    }
}

/// The table of the frame. Behind the body, offsets are counted from the end.
fn frame(protocol: &Protocol, out: &mut String) {
    let mut parts = protocol.frame.fields.split(|field| field.is == Some(FieldRole::Body));
    let (head, tail) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let mut rows = fields::rows(protocol, head, Some(fields::Offset::default()));
    let body = protocol.frame.fields.iter().find(|field| field.is == Some(FieldRole::Body));
    rows.rows.extend(body.map(|body| fields::Row {
        offset: rows.end.as_ref().map(ToString::to_string).unwrap_or_default(),
        name: body.name.clone(),
        content: "the fields of the message".to_owned(),
        ..fields::Row::default()
    }));
    let size = fields::size(tail);
    let mut tail = fields::rows(protocol, tail, Some(fields::Offset::default()));
    for row in &mut tail.rows {
        let offset =
            row.offset.parse().ok().zip(size).map(|(offset, size): (usize, usize)| size - offset.min(size));
        row.offset = offset.map_or_else(String::new, |offset| format!("{offset} before the end"));
    }
    rows.rows.append(&mut tail.rows);
    fields::table(&rows.rows, out);
}

/// Bytes in front of the body, if their number is fixed and values have offsets.
fn head(protocol: &Protocol) -> Option<fields::Offset> {
    let fields = &protocol.frame.fields;
    let body = fields.iter().position(|field| field.is == Some(FieldRole::Body))?;
    fields::rows(protocol, fields.get(..body)?, Some(fields::Offset::default())).end
}

fn section(codec: &Codec, number: usize, message: &Message, out: &mut String) {
    let protocol = codec.protocol();
    line(out, &format!("\n### {}", message.name));
    paragraph(out, &statement(&message.meaning));
    let role = match message.role {
        Role::Query => "It reads data.",
        Role::Setting => "It changes a setting; nothing moves.",
        Role::Start => "It starts a motion.",
        Role::Stop => "It stops every motion.",
    };
    let role = if message.from == Side::Client { format!(" {role}") } else { String::new() };
    let also: String = message.also.iter().map(|other| format!(" or {}", code(other))).collect();
    let mut text = format!("Code {}{also}, sent {}.{role}", code(&message.code), sender(message));
    if let Some(name) = message.ros_name() {
        let what = if message.topic.is_some() { "topic" } else { "service" };
        let kind = message.ros.as_ref().map_or(String::new(), |kind| format!(" (`{kind}`)"));
        text += &format!(" In ROS: {what} `{name}`{kind}.");
    }
    paragraph(out, &text);
    fields::table(&fields::rows(protocol, &message.fields, head(protocol)).rows, out);
    let mut question = Values::default();
    let id = MessageId { number, is_answer: false };
    example(codec, message, id, None, &mut question, out);
    let own = message.answer_code.as_ref();
    let with = own.map_or(String::new(), |own| format!(" with code {}", code(own)));
    if message.bare {
        paragraph(out, "Its answer is without the fields of the frame.");
    }
    let fields: &[Field] = match &message.answer {
        None => return,
        Some(Answer::Named(name)) if name == "echo" => {
            return paragraph(out, &format!("Answer: the message itself{with}."));
        }
        Some(Answer::Named(name)) => {
            paragraph(out, &format!("Answer{with}: the fields of [{name}](#{name})."));
            codec.type_of(name).map_or(&[], |one| &one.fields)
        }
        Some(Answer::Fields(fields)) if fields.is_empty() => {
            paragraph(out, &format!("Answer{with}: without fields."));
            fields
        }
        Some(Answer::Fields(fields)) => {
            paragraph(out, &format!("Answer{with}:"));
            fields
        }
    };
    fields::table(&fields::rows(protocol, fields, head(protocol)).rows, out);
    example(
        codec,
        message,
        MessageId { number, is_answer: true },
        Some(&question),
        &mut Values::default(),
        out,
    );
}

/// The frame of plain values.
fn example(
    codec: &Codec,
    message: &Message,
    id: MessageId,
    asked: Option<&Values>,
    values: &mut Values,
    out: &mut String,
) {
    let protocol = codec.protocol();
    let cut = &protocol.frame.cut;
    let mut frame = Vec::new();
    codec.plain(id, asked, values);
    // Values that are not known here, such as a size within a message, may not fit.
    if codec.encode_wire(id, values, &mut frame).is_err() {
        return;
    }
    // Computed values are those of the decoded message.
    let mut content = Vec::new();
    let side = if id.is_answer { Side::Server } else { message.from };
    let code_of = if id.is_answer { message.code_of_answer() } else { &message.code };
    let identifier = if let Code::Number(code) = code_of { Some(*code).filter(|_| cut.can) } else { None };
    let question = asked.map(|asked| (MessageId { is_answer: false, ..id }, asked));
    let mut decoded = Values::default();
    let is_encoded = codec.encode(id, values, &mut content).is_ok();
    if !is_encoded || codec.decode_frame(identifier, &content, side, question, &mut decoded) != Ok(id) {
        return;
    }
    let what = match code_of {
        Code::Number(code) if cut.can => format!("identifier {code:#x}, data "),
        _ => String::new(),
    };
    let bytes =
        if frame.is_empty() { "without bytes".to_owned() } else { format!("`{}`", hexadecimal(&frame)) };
    let shown = codec.show(id, &decoded).to_string();
    let shown = shown.split_once(": ").map_or(String::new(), |(_, shown)| format!(" ({})", plain(shown)));
    // What is text is also shown as such.
    let text = match std::str::from_utf8(&frame) {
        Ok(text) if protocol.encoding.separator().is_some() => {
            format!(", `{}`", plain(&text.escape_debug().to_string()))
        }
        _ => String::new(),
    };
    line(out, &format!("\nExample: {what}{bytes}{text}{shown}"));
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn kind(protocol: &Protocol, one: &Type, out: &mut String) {
    line(out, &format!("\n### {}", one.name));
    paragraph(out, &statement(&one.meaning));
    if one.codes.is_empty() {
        fields::table(&fields::rows(protocol, &one.fields, Some(fields::Offset::default())).rows, out);
        return;
    }
    line(out, "\n| number | name | meaning |\n| --- | --- | --- |");
    for (name, value) in sorted(one) {
        let meaning = value.meaning().map(plain).unwrap_or_default();
        line(out, &format!("| {} | {name} | {meaning} |", value.code()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_message_has_its_section_and_every_field_its_row() {
        for text in [
            include_str!("../machines/cola_a.yaml"),
            include_str!("../machines/create2.yaml"),
            include_str!("../machines/modbus_gripper.yaml"),
            include_str!("../other_machines/modbus_ascii.yaml"),
            include_str!("../machines/motor_can.yaml"),
            include_str!("../machines/nmea0183.yaml"),
            crate::protocols::APOLO,
            crate::protocols::ARM31,
        ] {
            let codec = Codec::new(Protocol::read(text).unwrap()).unwrap();
            let page = page(&codec);
            for message in &codec.protocol().messages {
                let heading = format!("\n### {}\n", message.name);
                let section = page.split_once(&heading).unwrap().1.split("\n### ").next().unwrap();
                for field in &message.fields {
                    assert!(section.contains(&format!("| `{}` |", field.name)), "{}", field.name);
                }
                assert!(section.contains("Example: "), "{section}");
            }
            let columns = |line: &str| line.replace("\\|", "").matches('|').count();
            for table in page.split("\n\n").filter(|part| part.starts_with("| ")) {
                let first = columns(table.lines().next().unwrap());
                assert!(table.lines().all(|line| columns(line) == first), "{table}");
            }
        }
    }

    #[test]
    fn a_page_is_complete() {
        let text = include_str!("../../../docs/own-protocol.md");
        let text = text.split_once("```yaml\n").unwrap().1.split_once("```").unwrap().0;
        let page = page(&Codec::new(Protocol::read(text).unwrap()).unwrap());
        let expected = include_str!("page/rover.txt");
        assert_eq!(page, expected, "{page}");
    }
}

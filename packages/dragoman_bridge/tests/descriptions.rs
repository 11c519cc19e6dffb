//! The descriptions in `dragoman_protocol`: a sample that is made of a description is understood, and comes back the
//! same.

use dragoman_bridge::apolo::wire as apolo;
use dragoman_bridge::neobotix::wire::{self as neobotix, Framing, Message as _};
use dragoman_bridge::player::wire::{INTERFACES, MessageKind as PlayerKind, properties};
use dragoman_protocol::model::{Answer, Code, Encoding, Link, Message, Side, Type};
use dragoman_protocol::{Base, Count, Field, Kind, Protocol, protocols};

use crate::player::literals::rewrite;

/// Makes values of the fields of a description.
struct Samples<'a> {
    protocol: &'a Protocol,
    types: &'a [Type],
    /// Bytes of a count without a size of its own in the encoding.
    bytes: Vec<u8>,
}

impl<'a> Samples<'a> {
    fn of(protocol: &'a Protocol, types: &'a [Type], fields: &[Field]) -> Vec<u8> {
        let mut samples = Self { protocol, types, bytes: Vec::new() };
        fields.iter().for_each(|field| samples.field(field));
        samples.bytes
    }

    fn find(&self, name: &str) -> &'a Type {
        self.types.iter().chain(&self.protocol.types).find(|one| one.name == name).expect("a type")
    }

    fn field(&mut self, field: &Field) {
        let first = |name: &String| self.find(name).codes.values().next().expect("a code").code();
        let code = field.codes.as_ref().map(first);
        let value = field.value.as_ref().map(|value| value.parse().expect("a number"));
        self.kind(&field.kind(), value.or(code).unwrap_or(1));
    }

    fn kind(&mut self, kind: &Kind, value: i64) {
        let is_packed = matches!(kind.base, Base::Text | Base::Bytes);
        match kind.count {
            None => self.one(&kind.base, value),
            Some(Count::Fixed(count)) => (0..count).for_each(|_| self.one(&kind.base, value)),
            Some(Count::Prefixed(bits)) => {
                // A text with its final zero.
                let count = if is_packed { 2 } else { 1 };
                self.whole(bits, count);
                if self.protocol.encoding == Encoding::Xdr {
                    self.whole(bits, count);
                }
                match kind.base {
                    Base::Text => self.bytes.extend(b"a\0"),
                    Base::Bytes => self.bytes.extend([1, 2]),
                    _ => self.one(&kind.base, value),
                }
                if is_packed && self.protocol.encoding == Encoding::Xdr {
                    self.bytes.extend([0, 0]);
                }
            }
            // XDR writes the length again in front of the elements.
            Some(Count::Of(_)) if kind.base == Base::Bytes && self.protocol.encoding == Encoding::Xdr => {
                self.whole(32, 1);
                self.bytes.extend([1, 0, 0, 0]);
            }
            _ => panic!("{kind}"),
        }
    }

    fn one(&mut self, base: &Base, value: i64) {
        match base {
            Base::Unsigned(bits) | Base::Signed(bits) => self.whole(*bits, value),
            Base::Bool => self.whole(8, 1),
            Base::Float(32) => self.ordered(&1.5_f32.to_be_bytes()),
            Base::Float(_) => self.ordered(&1.5_f64.to_be_bytes()),
            Base::Text | Base::Bytes => self.bytes.push(b'a'),
            Base::Named(name) => self.find(name).fields.iter().for_each(|field| self.field(field)),
        }
    }

    fn whole(&mut self, bits: u8, value: i64) {
        let size = if self.protocol.encoding == Encoding::Xdr { 4 } else { usize::from(bits) / 8 };
        self.ordered(&value.to_be_bytes()[8 - size..]);
    }

    fn ordered(&mut self, big: &[u8]) {
        match self.protocol.order {
            dragoman_protocol::model::ByteOrder::Big => self.bytes.extend(big),
            dragoman_protocol::model::ByteOrder::Little => self.bytes.extend(big.iter().rev()),
        }
    }
}

fn answer(message: &Message) -> Option<&[Field]> {
    match &message.answer {
        Some(Answer::Fields(fields)) => Some(fields),
        _ => None,
    }
}

#[test]
fn apolo_s_commands_are_described() {
    let protocol = Protocol::read(protocols::APOLO).unwrap();
    assert!(matches!(protocol.link, Link::Tcp(tcp) if tcp.port == apolo::DEFAULT_PORT));
    let described: Vec<&Message> = protocol.messages.iter().filter(|one| one.from == Side::Client).collect();
    assert_eq!(described.len(), apolo::Command::all().count());
    for (message, command) in described.iter().zip(apolo::Command::all()) {
        assert_eq!(message.code, Code::Text(command.to_string()));
        assert_eq!(message.ros_name(), Some(command.ros_name()));
        assert_eq!(message.meaning, command.meaning());
        assert_eq!(message.answer.is_some(), command.answer() != apolo::AnswerFormat::None, "{command}");
        let body = Samples::of(&protocol, &[], &message.fields);
        let request = apolo::Request::decode(command, &body).expect("a request");
        assert_eq!(request.encode(apolo::SizeBase::Full256).unwrap()[apolo::HEADER_LEN..], body, "{command}");
    }
}

#[test]
fn platform_ctrl_s_commands_and_replies_are_described() {
    let protocol = Protocol::read(protocols::NEOBOTIX).unwrap();
    assert_eq!(protocol.messages.len(), neobotix::CommandKind::all().count());
    for (message, kind) in protocol.messages.iter().zip(neobotix::CommandKind::all()) {
        assert_eq!(message.code, Code::Number(kind.number().into()));
        assert_eq!((message.name.as_str(), message.meaning.as_str()), (kind.service(), kind.meaning()));
        assert_eq!(answer(message).is_some(), kind.is_answered(), "{kind}");
        let with_number =
            |fields: &[Field]| [vec![kind.number()], Samples::of(&protocol, &[], fields)].concat();
        let data = with_number(&message.fields);
        let command = neobotix::Command::decode(&data).unwrap_or_else(|error| panic!("{kind}: {error}"));
        // Behind the length.
        assert_eq!(command.encode(Framing::Bare).unwrap()[4..], data, "{kind}");
        if let Some(fields) = answer(message) {
            let data = with_number(fields);
            let reply = neobotix::Reply::decode(&data).unwrap_or_else(|error| panic!("{kind}: {error}"));
            assert_eq!(reply.encode(Framing::Bare).unwrap()[4..], data, "{kind}");
        }
    }
}

#[test]
fn player_s_interfaces_are_described() {
    let protocol = Protocol::read(protocols::PLAYER).unwrap();
    let known = INTERFACES.into_iter().chain([&properties::INTERFACE]);
    assert_eq!(protocol.interfaces.len(), known.clone().count());
    for (described, interface) in protocol.interfaces.iter().zip(known) {
        assert_eq!(
            (described.code, described.name.replace('_', " ")),
            (interface.code.into(), interface.name.into())
        );
        assert_eq!(described.messages.len(), interface.messages.len(), "{}", interface.name);
        for (message, row) in described.messages.iter().zip(interface.messages) {
            let place = format!("{} {}", interface.name, row.name);
            assert_eq!(
                (message.name.as_str(), &message.code),
                (&*row.name.to_lowercase(), &Code::Number(row.subtype.into()))
            );
            assert_eq!(message.meaning, row.meaning);
            let kind = match (message.from, &message.answer) {
                (Side::Server, _) => PlayerKind::Data,
                (Side::Client, None) => PlayerKind::Command,
                (Side::Client, Some(_)) => PlayerKind::Request,
            };
            assert_eq!(kind, row.kind, "{place}");
            let sample = |fields: &[Field]| Samples::of(&protocol, &described.types, fields);
            let body = sample(&message.fields);
            let rewrite = |kind, body: &[u8]| rewrite(interface, kind, row.subtype, body);
            assert_eq!(rewrite(row.kind, &body).as_ref(), Ok(&body), "{place}");
            assert_eq!(row.kind == PlayerKind::Request, message.answer.is_some(), "{place}");
            if let Some(fields) = answer(message) {
                let body = sample(fields);
                assert_eq!(rewrite(PlayerKind::Acknowledge, &body).as_ref(), Ok(&body), "{place}: answer");
            }
        }
    }
}

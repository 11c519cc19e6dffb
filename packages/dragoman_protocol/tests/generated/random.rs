//! Random messages, with their values as generated programs print them.

use std::collections::BTreeMap;

use dragoman_protocol::codec::{Codec, MessageId, Values};
use dragoman_protocol::model::{Answer, Field, FieldRole, Protocol};
use dragoman_protocol::{Base, Count};

/// A path, its value, and whether other languages may leave it out: the number of elements of a list.
#[derive(Debug, Default, Clone)]
pub(crate) struct Shown(pub(crate) Vec<(String, String, bool)>);

/// A message: the content of the question's frame, the question, the content of the frame, values.
type Made = (Option<Vec<u8>>, Option<Values>, Vec<u8>, Shown);

pub(crate) struct Random(pub(crate) u64);

impl Random {
    fn next(&mut self) -> u64 {
        // Numbers of xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.rotate_left(23)
    }

    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    pub(crate) fn damage(&mut self, frame: &mut Vec<u8>) {
        let at = usize::try_from(self.below(frame.len() as u64)).unwrap();
        match self.below(4) {
            0 => frame.truncate(at),
            1 => frame.push(0),
            _ => frame[at] ^= 1 << self.below(8),
        }
    }

    /// `None`: the codec does not encode these values, which happens for lists that are too long.
    pub(crate) fn message(&mut self, codec: &Codec, id: MessageId) -> Option<Made> {
        let protocol = codec.protocol();
        let message = &protocol.messages[id.number];
        let mut asked = None;
        let mut scope = BTreeMap::new();
        let mut question = Values::default();
        if id.is_answer {
            let mut shown = Shown::default();
            self.body(protocol, &message.fields, &mut scope, &mut question, &mut shown);
            let mut bytes = Vec::new();
            codec.encode(MessageId { is_answer: false, ..id }, &mut question, &mut bytes).ok()?;
            asked = Some(bytes);
        }
        let fields = match &message.answer {
            Some(Answer::Named(name)) if id.is_answer && name != "echo" => {
                &protocol.types.iter().find(|one| one.name == *name).unwrap().fields
            }
            Some(Answer::Fields(fields)) if id.is_answer => fields,
            _ => &message.fields,
        };
        // The slots of the question stay: its values are replaced.
        let mut values = question.clone();
        values.restart();
        let mut shown = Shown::default();
        self.body(protocol, fields, &mut scope, &mut values, &mut shown);
        let mut bytes = Vec::new();
        codec.encode(id, &mut values, &mut bytes).ok()?;
        Some((asked, id.is_answer.then_some(question), bytes, shown))
    }

    fn body(
        &mut self,
        protocol: &Protocol,
        fields: &[Field],
        scope: &mut BTreeMap<String, i128>,
        values: &mut Values,
        shown: &mut Shown,
    ) {
        let mut parts = protocol.frame.fields.split(|field| field.is == Some(FieldRole::Body));
        let (head, tail) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        for (fields, is_frame) in [(head, true), (fields, false), (tail, true)] {
            self.fields(protocol, fields, is_frame, "", scope, values, shown);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn fields(
        &mut self,
        protocol: &Protocol,
        fields: &[Field],
        is_frame: bool,
        path: &str,
        scope: &mut BTreeMap<String, i128>,
        values: &mut Values,
        shown: &mut Shown,
    ) {
        for (number, field) in fields.iter().enumerate() {
            if let Some(value) = &field.value
                && let Ok(value) = value.parse()
            {
                scope.insert(field.name.clone(), value);
            }
            let is_known = matches!(field.is, Some(FieldRole::Code | FieldRole::Checksum))
                || is_frame && field.is == Some(FieldRole::Size)
                || field.value.is_some();
            if is_known {
                continue;
            }
            let is_here =
                field.when.values().all(|(name, value)| scope.get(name) == Some(&i128::from(value)));
            // What may be missing is missing to the end.
            let is_left_out = field.optional && (self.below(2) == 0 || number > 0 && is_missing(values));
            if !is_here || is_left_out {
                values.missing();
                continue;
            }
            let name = &field.name;
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let kind = field.kind();
            let count = match &kind.count {
                None => None,
                Some(Count::Fixed(count)) => Some(*count),
                Some(Count::Of(name)) => Some(usize::try_from(*scope.get(name).unwrap_or(&0)).unwrap_or(0)),
                Some(_) => Some(usize::try_from(self.below(5)).unwrap()),
            };
            let is_count =
                fields.iter().any(|other| other.kind().count == Some(Count::Of(field.name.clone())));
            match (&kind.base, count) {
                (Base::Text | Base::Bytes, _) => {
                    let is_text = kind.base == Base::Text;
                    let bytes: Vec<u8> = (0..count.unwrap_or(0))
                        .map(|_| u8::try_from(self.below(if is_text { 26 } else { 256 })).unwrap())
                        .map(|byte| if is_text { b'a' + byte } else { byte })
                        .collect();
                    values.append(&bytes);
                    let hexadecimal = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                    shown.0.push((path, hexadecimal, false));
                }
                (_, None) => self.one(protocol, field, &path, is_count, scope, values, shown),
                (_, Some(count)) => {
                    values.list(count);
                    for number in 0..count {
                        self.one(protocol, field, &format!("{path}[{number}]"), false, scope, values, shown);
                    }
                }
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn one(
        &mut self,
        protocol: &Protocol,
        field: &Field,
        path: &str,
        is_count: bool,
        scope: &mut BTreeMap<String, i128>,
        values: &mut Values,
        shown: &mut Shown,
    ) {
        let kind = field.kind();
        let one = |name: &str| protocol.types.iter().find(|one| one.name == name).unwrap();
        let bits = match kind.base {
            Base::Named(name) => {
                return self.fields(protocol, &one(&name).fields, false, path, scope, values, shown);
            }
            Base::Float(size) => {
                #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
                let raw = (self.below(2000) as f64 - 1000.0) / if size == 32 { 8.0 } else { 7.0 };
                let value = match (field.scale, field.offset) {
                    (None, None) => raw,
                    (scale, offset) => raw * scale.unwrap_or(1.0) + offset.unwrap_or(0.0),
                };
                values.real(value);
                shown.0.push((path.to_owned(), format!("{:016x}", value.to_bits()), false));
                return;
            }
            Base::Unsigned(bits) | Base::Signed(bits) => field.bits.map_or(bits, |bits| bits[1]),
            _ => 1,
        };
        let mut whole = i128::from(self.next() >> (64 - u32::from(bits)));
        if is_count {
            whole %= 6;
        }
        // Numbers on which other fields depend.
        if self.below(2) == 0 {
            whole %= 4;
        }
        if field.codes.as_deref() == Some("packet") {
            whole = [7, 19, 20, 22, 23, 1][usize::try_from(self.below(6)).unwrap()];
        } else if let (Some(name), true) = (&field.codes, field.strict) {
            whole = one(name).codes.values().next().unwrap().code().into();
        }
        if matches!(kind.base, Base::Signed(_)) && whole >> (bits - 1) & 1 == 1 {
            whole -= 1 << bits;
        }
        scope.insert(field.name.clone(), whole);
        let text = if field.scale.is_some() || field.offset.is_some() {
            #[allow(clippy::cast_precision_loss)]
            let value = whole as f64 * field.scale.unwrap_or(1.0) + field.offset.unwrap_or(0.0);
            values.real(value);
            format!("{:016x}", value.to_bits())
        } else {
            values.whole(whole);
            whole.to_string()
        };
        shown.0.push((path.to_owned(), text, is_count));
    }
}

fn is_missing(values: &Values) -> bool {
    values.items().last() == Some(&dragoman_protocol::codec::Item::Missing)
}

//! What can never occur: codes that their field cannot have, values of which none is left, fields behind the last byte.

use std::ops::RangeInclusive;

use super::sense;
use crate::kind::{Base, Count};
use crate::model::{
    Answer, Code, Encoding, Escape, Field, FieldRole, Message, NamedEscape, Protocol, ProtocolError, Side,
};

/// Identifiers of a CAN bus: 29 bits, and one that marks them.
const CAN_ID: u64 = 0x1FFF_FFFF;
const CAN_EXTENDED: u64 = 1 << 31;

/// What is not wrong, but hardly meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// Place: protocol, message, field.
    pub place: String,
    /// What may happen, and what to do.
    pub text: String,
}

impl Warning {
    /// The line of the text of which the description was read, if it is known.
    pub fn line(&self, text: &str) -> Option<usize> {
        super::line_of(text, &self.place)
    }
}

/// The whole numbers that a field can have on the wire. `None`: it is not one.
pub(super) fn range(field: &Field) -> Option<RangeInclusive<i128>> {
    let kind = field.kind();
    if field.is_text_number() {
        let Some(Count::Fixed(digits)) = kind.count else { return None };
        let base = i128::from(field.base.unwrap_or(10));
        let highest = base.checked_pow(u32::try_from(digits).ok()?)?.checked_sub(1)?;
        return field.decimals.is_none().then_some(-highest..=highest);
    }
    let bits = |bits: u8| field.bits.map_or(u32::from(bits), |[_, count]| u32::from(count)).min(64);
    match kind.base {
        Base::Unsigned(size) => Some(0..=(1 << bits(size)) - 1),
        Base::Signed(size) => {
            let half: i128 = 1 << bits(size).saturating_sub(1);
            Some(-half..=half - 1)
        }
        Base::Bool => Some(0..=1),
        _ => None,
    }
}

fn shown(range: &RangeInclusive<i128>) -> String {
    format!("{} to {}", range.start(), range.end())
}

impl Protocol {
    /// Whether the code of a message can be in its field.
    pub(super) fn check_code(&self, place: &str, code: &Code) -> Result<(), ProtocolError> {
        let wrong = |reason: String| Err(sense(place, format!("code: {reason}")));
        if self.frame.cut.can {
            return match code {
                Code::Text(text) => wrong(format!(
                    "'{text}' is a text; on a CAN bus the code is the identifier, such as 0x201"
                )),
                Code::Number(id) if id & !CAN_EXTENDED > CAN_ID => wrong(format!(
                    "{id:#x} is not an identifier: they have 11 bits (0x7ff) or 29 (0x1fffffff)"
                )),
                Code::Number(_) => Ok(()),
            };
        }
        // In a text the code is a word, which may be a number.
        let Some(field) = self.frame.fields.iter().find(|field| field.is == Some(FieldRole::Code)) else {
            return Ok(());
        };
        if self.encoding.separator().is_some() || self.encoding == Encoding::Xdr {
            return Ok(());
        }
        let (name, kind) = (&field.name, field.kind());
        let is_text = matches!(kind.base, Base::Text | Base::Bytes) && !field.is_text_number();
        match code {
            Code::Number(number) if is_text => {
                let letter = u8::try_from(*number).ok().filter(u8::is_ascii_graphic).map(char::from);
                let digits = number.to_string();
                let hint = match (&kind.count, letter) {
                    (Some(Count::Fixed(size)), _) if digits.len() == *size => {
                        format!("write it as \"{digits}\"")
                    }
                    (Some(Count::Fixed(1)), Some(letter)) => {
                        format!("write \"{letter}\", if its byte is meant")
                    }
                    _ => "write it in quotes".to_owned(),
                };
                wrong(format!("{number} is a number, and the field {name} is {kind}; {hint}"))
            }
            Code::Text(text) if is_text => match kind.count {
                Some(Count::Fixed(size)) if text.len() != size => {
                    wrong(format!("'{text}' has {} bytes, and the field {name} is {kind}", text.len()))
                }
                _ => Ok(()),
            },
            Code::Text(text) => {
                let hint = match text.as_bytes() {
                    [byte] => format!("; the number of its byte is {byte:#04x}"),
                    _ => String::new(),
                };
                wrong(format!("'{text}' is a text, and the field {name} is {kind}{hint}"))
            }
            Code::Number(number) => match range(field) {
                Some(range) if !range.contains(&i128::from(*number)) => {
                    wrong(format!("{number} does not fit: the field {name} is {kind}, {}", shown(&range)))
                }
                Some(_) => Ok(()),
                None => wrong(format!(
                    "the field {name} is {kind}, which cannot be a code: it needs a whole number or a text"
                )),
            },
        }
    }

    /// Whether the values that conditions ask for can occur.
    pub(super) fn check_values(
        &self,
        place: &str,
        field: &Field,
        before: &[&Field],
    ) -> Result<(), ProtocolError> {
        for (name, value) in field.when.values() {
            let asked = before.iter().find(|one| one.name == *name).and_then(|one| Some((one, range(one)?)));
            if let Some((one, range)) = asked.filter(|(_, range)| !range.contains(&value.into())) {
                let reason =
                    format!("when: {name} is never {value}: it is {}, {}", one.kind(), shown(&range));
                return Err(sense(place, reason));
            }
        }
        Ok(())
    }

    /// Whether each field can have bytes: behind one that goes up to the end there are none.
    pub(super) fn check_ends(&self, place: &str, fields: &[Field]) -> Result<(), ProtocolError> {
        let always = |field: &&Field| field.when.is_empty() && !field.optional && !field.is_computed();
        // Between separators a text is one word.
        let is_words = self.encoding.separator().is_some();
        let is_rest = |field: &&Field| {
            let kind = field.kind();
            let is_word = is_words && matches!(kind.base, Base::Text | Base::Bytes);
            matches!(kind.count, Some(Count::Rest)) && !is_word
        };
        let Some((at, rest)) = fields.iter().enumerate().find(|(_, field)| is_rest(field) && always(field))
        else {
            return Ok(());
        };
        if let Some(behind) = fields.iter().skip(at + 1).find(|field| always(field) && field.at.is_none()) {
            let reason = format!(
                "{} in front of it goes up to the end ([*]): nothing is left for this field",
                rest.name
            );
            return Err(sense(&format!("{place}: {}", behind.name), reason));
        }
        Ok(())
    }

    /// Whether a message of variable size has an end, if only its fields say where that is.
    pub(super) fn check_end_by_code(&self, place: &str, fields: &[Field]) -> Result<(), ProtocolError> {
        if !self.frame.cut.by_code {
            return Ok(());
        }
        let endless =
            fields.iter().find(|field| matches!(field.kind().count, Some(Count::Rest)) || field.optional);
        endless.map_or(Ok(()), |field| {
            let reason = "with cut: by_code a message ends behind its last field, so a field that goes up to the end \
                ([*]) or that may be missing (optional) has none; give its number, as in u8[count], or cut frames otherwise";
            Err(sense(&format!("{place}: {}", field.name), reason))
        })
    }

    /// What is not wrong, but hardly meant.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Vec::new();
        self.warn_of_marks(&mut warnings);
        self.warn_of_equal_codes(&mut warnings);
        self.warn_of_counters(&mut warnings);
        self.warn_of_names(&mut warnings);
        warnings
    }

    /// All fields on the wire, with the names of their messages.
    fn all_fields(&self) -> impl Iterator<Item = (Option<&Message>, &Field)> {
        let frame = self.frame.fields.iter().filter(|field| field.is != Some(FieldRole::Body));
        let messages = self.messages.iter().flat_map(|message| {
            let answer = match &message.answer {
                Some(Answer::Fields(fields)) => fields.as_slice(),
                _ => &[],
            };
            message.fields.iter().chain(answer).map(move |field| (Some(message), field))
        });
        let types = self.types.iter().flat_map(|one| &one.fields).map(|field| (None, field));
        frame.map(|field| (None, field)).chain(messages).chain(types)
    }

    /// Marks without an escape around bytes that may be the same.
    fn warn_of_marks(&self, warnings: &mut Vec<Warning>) {
        let cut = &self.frame.cut;
        let (end, key) = if cut.line.is_some() { (&cut.line, "line") } else { (&cut.end, "end") };
        let Some([first, ..]) = end.as_ref().map(|mark| mark.bytes()) else { return };
        let first_field = self.frame.fields.first();
        if let (Some(Escape::Named(NamedEscape::Double)), Some([mark])) =
            (&cut.escape, cut.start.as_ref().map(|mark| mark.bytes()))
            && first_field.is_some_and(|field| field.value.is_none())
        {
            let other = end.as_ref().and_then(|end| end.bytes().get(1)).copied().unwrap_or_default();
            let text = format!(
                "escape: double with a start of one byte is ambiguous if a frame may begin with {other:#04x} or {mark:#04x}: \
                 behind {mark:#04x} these are the end and a doubled byte. Give a start of two bytes, such as [{mark:#04x}, 0x02], \
                 or the first field a value"
            );
            warnings.push(Warning { place: format!("{}: frame", self.name), text });
        }
        if cut.escape.is_some() {
            return;
        }
        let is_words = self.encoding.separator().is_some();
        let may_have = |(message, field): &(Option<&Message>, &Field)| {
            let is_in_frame = self.frame.fields.iter().any(|one| std::ptr::eq(one, *field));
            let is_binary = match field.kind().base {
                Base::Text => false,
                Base::Bytes => true,
                Base::Named(_) => return false,
                _ => !is_words || (message.is_none() && is_in_frame),
            };
            let is_known = field.value.is_some() || field.is_computed() || field.is == Some(FieldRole::Code);
            is_binary && !is_known && !field.is_text_number()
        };
        if let Some((message, field)) = self.all_fields().find(may_have) {
            let of = message.map_or(String::new(), |message| format!(" of {}", message.name));
            let text = format!(
                "{key}: the field {}{of} is {}, which may have the byte {first:#04x}: the message would end there. \
                 Use an escape (slip, cobs, hex, double, or mark with xor), a size, or text",
                field.name,
                field.kind()
            );
            warnings.push(Warning { place: format!("{}: frame", self.name), text });
        }
    }

    /// Of two messages to the machine with the same code only the first is found.
    fn warn_of_equal_codes(&self, warnings: &mut Vec<Warning>) {
        for (number, message) in self.messages.iter().enumerate() {
            let mut before = self.messages.iter().take(number);
            let first = before
                .find(|one| one.from == Side::Client && one.from == message.from && one.code == message.code);
            if let Some(first) = first {
                let text = format!(
                    "it has the code of {0}: what is sent to the machine with this code is always read as {0}",
                    first.name
                );
                warnings.push(Warning { place: format!("{}: {}", self.name, message.name), text });
            }
        }
    }

    /// Ways that are counted in whole numbers begin again some day.
    fn warn_of_counters(&self, warnings: &mut Vec<Warning>) {
        use super::super::bridge::{Setting, Since};
        let odometry = self.bridge.as_ref().and_then(|bridge| bridge.odometry.as_ref());
        let Some((odometry, ways)) = odometry.and_then(|one| Some((one, one.differential.as_ref()?))) else {
            return;
        };
        if ways.overflow.is_some() || ways.since == Since::Last {
            return;
        }
        let message = self.messages.iter().find(|one| one.name == odometry.from);
        let fields = message.map(|message| match &message.answer {
            Some(Answer::Fields(fields)) if message.from == Side::Client => fields,
            _ => &message.fields,
        });
        for setting in [&ways.left, &ways.right] {
            let Setting::Text(text) = setting else { continue };
            let names = crate::expression::Expression::names(text);
            let mut named = fields.into_iter().flatten().filter(|field| names.contains(&field.name));
            let counter = named.find_map(|field| match field.kind().base {
                Base::Unsigned(bits @ ..=32) | Base::Signed(bits @ ..=32) => Some((field, 1_u64 << bits)),
                _ => None,
            });
            if let Some((field, steps)) = counter {
                let way = match field.scale {
                    Some(scale) if names.len() == 1 => format!("{steps} * {scale}"),
                    _ => format!("{steps} times the way of one step"),
                };
                let text = format!(
                    "{} is {}, a counter that begins again: the pose would jump. Add overflow, the way in m after which it \
                     begins again ({way}), or since: last, if it counts from message to message",
                    field.name,
                    field.kind()
                );
                warnings.push(Warning { place: format!("{}: bridge: odometry", self.name), text });
                return;
            }
        }
    }

    /// Names of values that the field cannot have.
    fn warn_of_names(&self, warnings: &mut Vec<Warning>) {
        for (message, field) in self.all_fields().filter(|(_, field)| !field.is_computed()) {
            let named = self.types.iter().find(|one| Some(&one.name) == field.codes.as_ref());
            let Some((named, range)) = named.zip(range(field)) else { continue };
            let outside = named.codes.iter().find(|(_, value)| !range.contains(&value.code().into()));
            if let Some((name, value)) = outside {
                let message = message.map_or(String::new(), |message| format!(": {}", message.name));
                let text = format!(
                    "{name} of {} is {}, and the field has {}",
                    named.name,
                    value.code(),
                    shown(&range)
                );
                warnings.push(Warning { place: format!("{}{message}: {}", self.name, field.name), text });
            }
        }
    }
}

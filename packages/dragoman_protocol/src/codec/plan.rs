//! What generators of code in other languages need of a program: its steps with names, types of structures and
//! references. What they cannot express is refused here, with the name of the field.

use std::collections::BTreeSet;

use super::compile::fixed_size;
use super::{Bits, Codec, CodecError, Count, Form, NumberStep, Role, Step, StepKind, level};
use crate::kind::{self, Base};
use crate::model::{Answer, ByteOrder, Code, Counted, Field, FieldRole, Mark, Message, Over, Side, Type};

/// A protocol, for a generator.
pub(crate) struct Plan<'a> {
    /// Name of the protocol as an identifier.
    pub(crate) name: String,
    /// Words of the language that cannot be names.
    reserved: &'static [&'static str],
    pub(crate) head: Vec<Part<'a>>,
    pub(crate) tail: Vec<Part<'a>>,
    pub(crate) tail_size: usize,
    /// Bytes in front of the content of a frame and behind it.
    pub(crate) marks: [&'a [u8]; 2],
    /// Structures that messages use; one that another one uses comes before it.
    pub(crate) structures: Vec<Structure<'a>>,
    /// Messages and answers.
    pub(crate) messages: Vec<Planned<'a>>,
}

pub(crate) struct Structure<'a> {
    pub(crate) name: String,
    pub(crate) meaning: &'a str,
    pub(crate) parts: Vec<Part<'a>>,
}

/// A message, or an answer.
pub(crate) struct Planned<'a> {
    pub(crate) name: String,
    pub(crate) message: &'a Message,
    pub(crate) is_answer: bool,
    pub(crate) parts: Vec<Part<'a>>,
    /// Whether fields of an answer depend on fields of the question.
    pub(crate) asks: bool,
}

/// A field.
pub(crate) struct Part<'a> {
    /// Its name as an identifier.
    pub(crate) name: String,
    pub(crate) field: &'a Field,
    pub(crate) at: Option<usize>,
    pub(crate) when: Vec<(Reference, i64)>,
    pub(crate) is_optional: bool,
    pub(crate) count: Option<PartCount>,
    pub(crate) kind: PartKind<'a>,
}

pub(crate) enum PartKind<'a> {
    Number(PartNumber<'a>),
    Bytes {
        is_text: bool,
        value: Option<&'a [u8]>,
        is_code: bool,
    },
    /// Index in [`Plan::structures`].
    Structure(usize),
}

pub(crate) struct PartNumber<'a> {
    pub(crate) form: PartForm,
    /// Bytes.
    pub(crate) size: usize,
    pub(crate) is_little: bool,
    pub(crate) bits: Option<PartBits>,
    pub(crate) scale: Option<[f64; 2]>,
    pub(crate) role: PartRole<'a>,
    pub(crate) is_strict: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartForm {
    Unsigned,
    Signed,
    Float,
    Bool,
}

/// The bits of a field; several fields may share a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartBits {
    pub(crate) lowest: u32,
    pub(crate) count: u32,
    /// Whether the number begins with this field, and whether it ends with it.
    pub(crate) opens: bool,
    pub(crate) closes: bool,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum PartRole<'a> {
    Value,
    Constant(i128),
    Size(Counted),
    Checksum {
        name: &'a str,
        /// Bytes of the frame in front of those that it covers.
        skipped: usize,
    },
    Code,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PartCount {
    Fixed(usize),
    /// A number in front.
    Prefixed {
        /// Bytes.
        size: usize,
        is_little: bool,
    },
    Of(Reference),
    Rest,
}

/// Where the number of a count or condition is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    /// In an earlier field beside it.
    Here(String),
    /// In a field of the question.
    Asked(String),
    /// A constant.
    Always(i128),
}

impl<'a> Planned<'a> {
    /// Its code on the wire.
    pub(crate) fn code(&self) -> &'a Code {
        if self.is_answer { self.message.code_of_answer() } else { &self.message.code }
    }
}

impl Part<'_> {
    /// Whether a message has a value for it; others are known.
    pub(crate) fn has_value(&self) -> bool {
        match &self.kind {
            PartKind::Number(number) => matches!(number.role, PartRole::Value),
            PartKind::Bytes { value, is_code, .. } => value.is_none() && !is_code,
            PartKind::Structure(_) => true,
        }
    }

    /// The number, name and skipped bytes of a check sum.
    pub(crate) fn checksum(&self) -> Option<(&PartNumber<'_>, &str, usize)> {
        match &self.kind {
            PartKind::Number(number) => match number.role {
                PartRole::Checksum { name, skipped } => Some((number, name, skipped)),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A name as an identifier, which is not one of the reserved words.
pub(crate) fn identifier(name: &str, reserved: &[&str]) -> String {
    let letter = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '_' };
    let name: String = name.chars().map(letter).collect();
    if !name.starts_with(|first: char| first.is_ascii_alphabetic()) {
        format!("f_{name}")
    } else if reserved.contains(&name.as_str()) {
        name + "_"
    } else {
        name
    }
}

fn error(place: &str, reason: impl Into<String>) -> CodecError {
    CodecError { place: place.to_owned(), reason: reason.into() }
}

impl Codec {
    /// What a generator needs. `reserved`: words that cannot be names; `has_escapes`: it generates escapes.
    pub(crate) fn plan(
        &self,
        reserved: &'static [&'static str],
        has_escapes: bool,
    ) -> Result<Plan<'_>, CodecError> {
        let protocol = &self.protocol;
        if self.separator.is_some() {
            return Err(error(&protocol.name, "values that are written as text are not generated"));
        }
        if self.envelope.has_escapes() && !has_escapes {
            return Err(error(&format!("{}: frame", protocol.name), "escapes are not generated in C"));
        }
        let cut = &protocol.frame.cut;
        if !cut.can && !protocol.frame.fields.iter().any(|field| field.is == Some(FieldRole::Code)) {
            return Err(error(
                &format!("{}: frame", protocol.name),
                "frames without a code are not generated",
            ));
        }
        let marks = [&cut.start, if cut.line.is_some() { &cut.line } else { &cut.end }]
            .map(|mark| mark.as_ref().map_or(&[][..], Mark::bytes));
        for one in &protocol.types {
            let names: BTreeSet<String> =
                one.codes.keys().map(|name| identifier(name, &[]).to_uppercase()).collect();
            if names.len() < one.codes.len() {
                let place = format!("{}: type {}", protocol.name, one.name);
                return Err(error(&place, "two of its names would be the same in code"));
            }
        }
        let mut plan = Plan {
            name: identifier(&protocol.name, reserved),
            reserved,
            head: Vec::new(),
            tail: Vec::new(),
            tail_size: self.tail_size,
            marks,
            structures: Vec::new(),
            messages: Vec::new(),
        };
        let frame = format!("{}: frame", protocol.name);
        let mut fields = protocol.frame.fields.split(|field| field.is == Some(FieldRole::Body));
        let (before, after) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        plan.head = self.parts(&mut plan, &frame, before, &self.head, &[])?;
        plan.tail = self.parts(&mut plan, &frame, after, &self.tail, &[])?;
        for (message, programs) in protocol.messages.iter().zip(&self.messages) {
            let place = format!("{}: {}", protocol.name, message.name);
            self.check_code(&place, &plan.head, &message.code)?;
            self.check_code(&place, &plan.head, message.code_of_answer())?;
            if message.bare || !message.also.is_empty() {
                return Err(error(&place, "bare answers and further codes are not generated"));
            }
            let parts = self.parts(&mut plan, &place, &message.fields, &programs.body, &[])?;
            let name = identifier(&message.name, reserved);
            plan.push(&place, Planned { name, message, is_answer: false, parts, asks: false })?;
            let (Some(answer), Some(steps)) = (&message.answer, &programs.answer) else { continue };
            let fields = match answer {
                Answer::Fields(fields) => fields,
                Answer::Named(name) if name == "echo" => &message.fields,
                Answer::Named(name) => self.fields_of(name),
            };
            let place = format!("{place}: answer");
            let parts = self.parts(&mut plan, &place, fields, steps, &message.fields)?;
            let name = format!("{}_answer", identifier(&message.name, reserved));
            let asks = parts.iter().any(|part| {
                let asked = |reference: &Reference| matches!(reference, Reference::Asked(_));
                part.when.iter().any(|(reference, _)| asked(reference))
                    || matches!(&part.count, Some(PartCount::Of(reference)) if asked(reference))
            });
            plan.push(&place, Planned { name, message, is_answer: true, parts, asks })?;
        }
        Ok(plan)
    }

    fn fields_of(&self, name: &str) -> &[Field] {
        self.type_of(name).map_or(&[], |one| &one.fields)
    }

    pub(crate) fn type_of(&self, name: &str) -> Option<&Type> {
        self.protocol.types.iter().find(|one| one.name == name)
    }

    fn check_code(&self, place: &str, head: &[Part<'_>], code: &Code) -> Result<(), CodecError> {
        for part in head {
            let reason = match (&part.kind, code) {
                (PartKind::Bytes { is_code: true, .. }, Code::Text(text)) => {
                    let is_full = part.count == Some(PartCount::Fixed(text.len()));
                    (!is_full).then(|| format!("the code '{text}' does not fill {}", part.name))
                }
                (PartKind::Number(PartNumber { role: PartRole::Code, size, .. }), Code::Number(code)) => {
                    let fits = *code <= super::decode::mask(*size);
                    (!fits).then(|| format!("the code {code} does not fit {}", part.name))
                }
                (PartKind::Bytes { is_code: true, .. }, _)
                | (PartKind::Number(PartNumber { role: PartRole::Code, .. }), _) => {
                    Some(format!("its code is not of the type of {}", part.name))
                }
                _ => None,
            };
            if let Some(reason) = reason {
                return Err(error(place, reason));
            }
        }
        Ok(())
    }

    /// The fields of one level with their steps.
    fn parts<'a>(
        &'a self,
        plan: &mut Plan<'a>,
        place: &str,
        fields: &'a [Field],
        steps: &'a [Step],
        asked: &'a [Field],
    ) -> Result<Vec<Part<'a>>, CodecError> {
        let mut parts: Vec<Part<'a>> = Vec::new();
        for (field, (step, inner)) in fields.iter().zip(level(steps)) {
            let place = format!("{place}: {}", field.name);
            let wrong = |reason: &str| Err(error(&place, reason));
            let references = |name: &str| reference(&place, name, &parts, (asked, plan.reserved));
            if step.condition.is_some() {
                return wrong("a condition that is an expression is not generated");
            }
            let mut when = Vec::new();
            for (name, value) in field.when.values() {
                when.push((references(name)?, value));
            }
            let count = match (&field.kind().count, step.count) {
                (Some(kind::Count::Of(name)), _) => Some(PartCount::Of(references(name)?)),
                (_, Some(Count::Fixed(count))) => Some(PartCount::Fixed(count)),
                (_, Some(Count::Prefixed(size, order))) => {
                    Some(PartCount::Prefixed { size, is_little: order == ByteOrder::Little })
                }
                (_, Some(Count::Rest)) => Some(PartCount::Rest),
                (_, None | Some(Count::Slot(_))) => None,
            };
            let kind = match (&step.kind, &field.kind().base) {
                (StepKind::Number(number), _) => PartKind::Number(self.part_number(&place, field, number)?),
                (StepKind::Bytes { text: Some(text), .. }, _) if text.pad != 0 || text.encoding.is_some() => {
                    return wrong("texts with an encoding or another padding than zeros are not generated");
                }
                (StepKind::Bytes { text, value, is_code }, _) => {
                    let value = value.as_deref();
                    if value.is_some_and(|value| count != Some(PartCount::Fixed(value.len()))) {
                        return wrong("a constant needs a type of its size, such as text[2]");
                    }
                    PartKind::Bytes { is_text: text.is_some(), value, is_code: *is_code }
                }
                (StepKind::Structure(_), Base::Named(name)) => {
                    PartKind::Structure(self.structure_of(plan, &place, name, inner)?)
                }
                (StepKind::Structure(_), _) => return wrong("a structure needs a type"),
            };
            let (at, is_optional) = (step.at, step.is_optional);
            let name = identifier(&field.name, plan.reserved);
            let part = Part { name, field, at, when, is_optional, count, kind };
            if !part.has_value() {
                if part.count.is_some() && !matches!(part.kind, PartKind::Bytes { .. }) {
                    return wrong("a list of constants, codes or check sums is not generated");
                }
                if part.is_optional {
                    return wrong("a constant, code or check sum that may be missing is not generated");
                }
            }
            parts.push(part);
        }
        check_overlaps(place, &parts)?;
        let names: BTreeSet<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        if names.len() < parts.len() {
            return Err(error(place, "two of its fields would have the same name in code"));
        }
        close_bits(place, &mut parts)?;
        Ok(parts)
    }

    fn structure_of<'a>(
        &'a self,
        plan: &mut Plan<'a>,
        place: &str,
        name: &str,
        steps: &'a [Step],
    ) -> Result<usize, CodecError> {
        let wanted = identifier(name, plan.reserved);
        if let Some(found) = plan.structures.iter().position(|one| one.name == wanted) {
            return Ok(found);
        }
        let found = self.type_of(name).ok_or_else(|| error(place, format!("there is no type {name}")))?;
        let parts = self.parts(plan, place, &found.fields, steps, &[])?;
        if let Some(part) = parts.iter().find(|part| part.checksum().is_some()) {
            let reason = "a check sum in a structure is not generated";
            return Err(error(&format!("{place}: {}", part.name), reason));
        }
        plan.structures.push(Structure { name: wanted, meaning: &found.meaning, parts });
        Ok(plan.structures.len() - 1)
    }
}

impl<'a> Plan<'a> {
    fn push(&mut self, place: &str, one: Planned<'a>) -> Result<(), CodecError> {
        let taken = self.messages.iter().any(|other| other.name == one.name)
            || self.structures.iter().any(|other| other.name == one.name);
        if taken {
            return Err(error(place, format!("{} would be there twice in code", one.name)));
        }
        let frame = self.head.iter().chain(&self.tail).filter(|part| part.has_value());
        for part in frame {
            if one.parts.iter().any(|other| other.has_value() && other.name == part.name) {
                return Err(error(place, format!("it and the frame have a field {}", part.name)));
            }
        }
        self.messages.push(one);
        Ok(())
    }

    /// A name of the description as it is in code.
    pub(crate) fn identifier(&self, name: &str) -> String {
        identifier(name, self.reserved)
    }

    /// The parts of a message for which it has values, with those of the frame.
    pub(crate) fn values<'p>(&'p self, one: &'p Planned<'a>) -> impl Iterator<Item = &'p Part<'a>> {
        self.head.iter().chain(&one.parts).chain(&self.tail).filter(|part| part.has_value())
    }
}

impl Planned<'_> {
    pub(crate) fn is_from_client(&self) -> bool {
        !self.is_answer && self.message.from == Side::Client
    }
}

impl Codec {
    fn part_number<'a>(
        &self,
        place: &str,
        field: &'a Field,
        number: &'a NumberStep,
    ) -> Result<PartNumber<'a>, CodecError> {
        let form = match number.form {
            Form::Unsigned => PartForm::Unsigned,
            Form::Signed => PartForm::Signed,
            Form::Float => PartForm::Float,
            Form::Bool => PartForm::Bool,
        };
        let role = match &number.role {
            Role::Value => PartRole::Value,
            Role::Constant(value) => PartRole::Constant(*value),
            Role::Size(counted) => PartRole::Size(*counted),
            Role::Checksum(_) => {
                let name = field.algorithm.as_deref().unwrap_or_default();
                let skipped = field.over.as_ref().map_or(Some(0), |over| self.skipped(field, over));
                let reason = "a check sum that does not end in front of itself, or does not begin with a field of \
                              the frame at a fixed place, is not generated";
                PartRole::Checksum { name, skipped: skipped.ok_or_else(|| error(place, reason))? }
            }
            Role::Expression(_) | Role::Computed(_) => {
                return Err(error(place, "a value that is computed is not generated"));
            }
            Role::Code => PartRole::Code,
        };
        if number.digits.width.is_some() {
            return Err(error(place, "a number that is written as text is not generated"));
        }
        let bits = number.bits.map(|Bits { lowest, count, is_shared }| PartBits {
            lowest,
            count,
            opens: !is_shared,
            closes: true,
        });
        let is_known = !matches!(role, PartRole::Value);
        let reason = match (form, &role) {
            (PartForm::Float, _) if number.bits.is_some() => {
                "bits of a floating-point number are not generated"
            }
            (PartForm::Float | PartForm::Bool, _) if is_known => {
                "a constant, code, size or check sum is an integer"
            }
            (PartForm::Bool, _) if number.scale.is_some() => "a bool with a scale is not generated",
            (_, PartRole::Size(_) | PartRole::Checksum { .. } | PartRole::Code) if bits.is_some() => {
                "bits of a size, code or check sum are not generated"
            }
            (_, PartRole::Constant(value)) if !range(form, number.size, bits).contains(value) => {
                "the constant does not fit its field"
            }
            _ => {
                let is_little = number.order == ByteOrder::Little;
                let (size, scale, is_strict) = (number.size, number.scale, number.is_strict);
                return Ok(PartNumber { form, size, is_little, bits, scale, role, is_strict });
            }
        };
        Err(error(place, reason))
    }

    /// The bytes of the frame in front of those of its check sum; `None` if they are not always as many.
    fn skipped(&self, sum: &Field, over: &Over) -> Option<usize> {
        let Over { from: Some(from), to: None } = over else { return None };
        let fields = &self.protocol.frame.fields;
        let position = |is_meant: &dyn Fn(&Field) -> bool| fields.iter().position(is_meant);
        position(&|field| std::ptr::eq(field, sum))?;
        let at = position(&|field| field.name == *from)?;
        let before = fields.get(..at)?;
        let is_plain = |field: &Field| {
            field.is != Some(FieldRole::Body)
                && field.bits.is_none()
                && field.at.is_none()
                && field.when.is_empty()
                && !field.optional
        };
        let are_plain = fields.get(..=at)?.iter().all(is_plain);
        fixed_size(before).filter(|_| are_plain)
    }
}

fn range(form: PartForm, size: usize, bits: Option<PartBits>) -> std::ops::RangeInclusive<i128> {
    let bits = bits.map_or(8 * size, |bits| bits.count as usize);
    match form {
        PartForm::Signed => -(1 << (bits - 1))..=(1 << (bits - 1)) - 1,
        _ => 0..=(1 << bits) - 1,
    }
}

/// Fields with bits may overlap others; what is generated writes one field behind the other.
fn check_overlaps(place: &str, parts: &[Part<'_>]) -> Result<(), CodecError> {
    let mut end = 0;
    for part in parts {
        let bits = if let PartKind::Number(number) = &part.kind { number.bits } else { None };
        if bits.is_some_and(|bits| bits.opens) && part.at.is_some_and(|at| at < end) {
            let reason = "bits of bytes that another field has bits of are not generated";
            return Err(error(&format!("{place}: {}", part.name), reason));
        }
        let size = part.field.size().unwrap_or(0);
        end = part.at.map_or(end, |at| end.max(at)).saturating_add(if bits.is_some_and(|bits| !bits.opens) {
            0
        } else {
            size
        });
    }
    Ok(())
}

/// Marks the last field of each number that several fields share.
fn close_bits(place: &str, parts: &mut [Part<'_>]) -> Result<(), CodecError> {
    let shares = |part: &Part<'_>| matches!(&part.kind, PartKind::Number(number) if number.bits.is_some_and(|bits| !bits.opens));
    let continues: Vec<bool> = parts.iter().skip(1).map(shares).chain([false]).collect();
    for (part, continues) in parts.iter_mut().zip(continues) {
        let is_conditional = part.is_optional || !part.when.is_empty();
        let is_shared = continues || shares(part);
        if is_shared && (is_conditional || part.count.is_some()) {
            let reason = "bits that share a number are neither conditional nor a list";
            return Err(error(&format!("{place}: {}", part.name), reason));
        }
        if let PartKind::Number(PartNumber { bits: Some(bits), .. }) = &mut part.kind {
            bits.closes = !continues;
        }
    }
    Ok(())
}

fn reference(
    place: &str,
    name: &str,
    before: &[Part<'_>],
    (asked, reserved): (&[Field], &[&str]),
) -> Result<Reference, CodecError> {
    let wrong = || error(place, format!("{name} is not a whole number, on which a field may depend"));
    if let Some(part) = before.iter().rev().find(|part| part.field.name == name) {
        let PartKind::Number(number) = &part.kind else { return Err(wrong()) };
        if part.count.is_some() || number.scale.is_some() || number.form == PartForm::Float {
            return Err(wrong());
        }
        return match number.role {
            PartRole::Value if part.is_optional || !part.when.is_empty() => {
                Err(error(place, format!("{name} may be missing, and another field depends on it")))
            }
            PartRole::Value => Ok(Reference::Here(part.name.clone())),
            PartRole::Constant(value) => Ok(Reference::Always(value)),
            _ => Err(wrong()),
        };
    }
    let field = asked.iter().find(|field| field.name == name).ok_or_else(wrong)?;
    let is_plain = field.scale.is_none() && field.offset.is_none() && field.value.is_none();
    let is_whole = matches!(field.kind().base, Base::Unsigned(_) | Base::Signed(_) | Base::Bool);
    if is_plain && is_whole && field.kind().count.is_none() && field.when.is_empty() && !field.optional {
        Ok(Reference::Asked(identifier(name, reserved)))
    } else {
        Err(wrong())
    }
}

//! Makes the program of a description.

use std::collections::BTreeMap;

use super::{
    Bits, Codec, Count, Form, MAX_ITEMS, MAX_NESTING, MAX_SIZE, MAX_STEPS, NumberStep, Programs, Role, Step,
    StepKind,
};
use crate::checksum::Checksum;
use crate::cut::MAX_FRAME;
use crate::kind::{self, Base};
use crate::model::{Answer, Code, Counted, Encoding, Field, FieldRole, Protocol, Side, Type};

/// Why a description, which makes sense as such, has no program.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {reason}")]
pub struct CodecError {
    /// Where: protocol, message, field.
    pub place: String,
    /// What is wrong.
    pub reason: String,
}

impl CodecError {
    /// The line of the text of which the description was read, if it is known.
    pub fn line(&self, text: &str) -> Option<usize> {
        crate::model::line_of(text, &self.place)
    }
}

fn error(place: &str, reason: impl Into<String>) -> CodecError {
    CodecError { place: place.to_owned(), reason: reason.into() }
}

impl Codec {
    /// Makes the program.
    ///
    /// # Errors
    /// What a program cannot do: interfaces, XDR, lists that are nested too deep, a type that contains itself, a check sum
    /// that is not known, a constant that does not fit its field, a part behind the body whose size varies.
    pub fn new(protocol: Protocol) -> Result<Self, CodecError> {
        if !protocol.interfaces.is_empty() || protocol.encoding == Encoding::Xdr {
            return Err(error(&protocol.name, "interfaces and XDR are not interpreted"));
        }
        let compiler = Compiler { protocol: &protocol, slots: slots(&protocol) };
        let frame = format!("{}: frame", protocol.name);
        let mut fields = protocol.frame.fields.split(|field| field.is == Some(FieldRole::Body));
        let (before, after) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        let (head, tail) = (compiler.frame(&frame, before)?, compiler.frame(&frame, after)?);
        let tail_size =
            fixed_size(after).ok_or_else(|| error(&frame, "what follows the body has no fixed size"))?;
        let cut = &protocol.frame.cut;
        if let Some(size) =
            [cut.datagram, cut.least, cut.most].into_iter().flatten().max().filter(|size| *size > MAX_SIZE)
        {
            return Err(error(&frame, format!("a size of {size} bytes; at most {MAX_SIZE} are possible")));
        }
        let mut messages = Vec::new();
        let mut by_code: BTreeMap<(Side, Code), Vec<usize>> = BTreeMap::new();
        for (number, message) in protocol.messages.iter().enumerate() {
            let place = format!("{}: {}", protocol.name, message.name);
            let body = compiler.program(&place, &message.fields)?;
            let answer = match &message.answer {
                None => None,
                Some(Answer::Fields(fields)) => Some(compiler.program(&format!("{place}: answer"), fields)?),
                Some(Answer::Named(name)) if name == "echo" => Some(body.clone()),
                Some(Answer::Named(name)) => Some(
                    compiler
                        .program(&format!("{place}: answer"), &compiler.structure(&place, name)?.fields)?,
                ),
            };
            messages.push(Programs { body, answer });
            by_code.entry((message.from, message.code.clone())).or_default().push(number);
        }
        let slots = compiler.slots.len();
        let cut = &protocol.frame.cut;
        let datagram = cut.datagram.map(|size| [cut.least.unwrap_or(size), size]);
        let encoding = protocol.encoding;
        Ok(Self { encoding, head, tail, tail_size, datagram, messages, by_code, slots, protocol })
    }
}

/// Bytes of fields that always have the same size.
pub(crate) fn fixed_size(fields: &[Field]) -> Option<usize> {
    fields
        .iter()
        .try_fold(0_usize, |sum, field| sum.checked_add(field.kind().size()?))
        .filter(|size| *size <= MAX_SIZE)
}

/// Numbers for the fields that counts and conditions ask for, by their names.
fn slots(protocol: &Protocol) -> BTreeMap<String, usize> {
    let answers = protocol.messages.iter().filter_map(|message| match &message.answer {
        Some(Answer::Fields(fields)) => Some(fields),
        _ => None,
    });
    let all = protocol.messages.iter().map(|message| &message.fields).chain(answers);
    let all = all.chain(protocol.types.iter().map(|one| &one.fields)).chain([&protocol.frame.fields]);
    let mut slots = BTreeMap::new();
    for field in all.flatten() {
        let count = match field.kind().count {
            Some(kind::Count::Of(name)) => Some(name),
            _ => None,
        };
        for name in field.when.keys().cloned().chain(count) {
            let next = slots.len();
            slots.entry(name).or_insert(next);
        }
    }
    slots
}

struct Compiler<'a> {
    protocol: &'a Protocol,
    slots: BTreeMap<String, usize>,
}

impl Compiler<'_> {
    /// What is around the body.
    fn frame(&self, place: &str, fields: &[Field]) -> Result<Vec<Step>, CodecError> {
        let mut steps = self.program(place, fields)?;
        let counts = self.protocol.frame.cut.counts.unwrap_or(Counted::Frame);
        for (step, field) in steps.iter_mut().zip(fields) {
            if let (StepKind::Number(number), Some(FieldRole::Size)) = (&mut step.kind, field.is) {
                number.role = Role::Size(counts);
            }
        }
        Ok(steps)
    }

    fn program(&self, place: &str, fields: &[Field]) -> Result<Vec<Step>, CodecError> {
        let mut steps = Vec::new();
        self.append(place, fields, 0, &mut steps)?;
        Ok(steps)
    }

    fn structure(&self, place: &str, name: &str) -> Result<&Type, CodecError> {
        let found = self.protocol.types.iter().find(|one| one.name == name);
        let found = found.ok_or_else(|| error(place, format!("there is no type {name}")))?;
        if found.fields.is_empty() {
            let reason = format!(
                "{name} has no fields: names of numbers stand at a number, {{ type: u8, codes: {name} }}"
            );
            return Err(error(place, reason));
        }
        Ok(found)
    }

    fn append(
        &self,
        place: &str,
        fields: &[Field],
        depth: usize,
        steps: &mut Vec<Step>,
    ) -> Result<(), CodecError> {
        if depth > MAX_NESTING {
            return Err(error(place, format!("nested deeper than {MAX_NESTING}, or a type contains itself")));
        }
        for (number, field) in fields.iter().enumerate() {
            let place = format!("{place}: {}", field.name);
            let kind = field.kind();
            let count = kind.count.as_ref().map(|count| self.count(count)).transpose();
            let count = count.map_err(|reason| error(&place, reason))?;
            let when = field.when.iter().map(|(name, value)| self.slot(name).map(|slot| (slot, *value)));
            let when = when.collect::<Result<_, _>>().map_err(|reason| error(&place, reason))?;
            let before = number.checked_sub(1).and_then(|before| fields.get(before));
            let at = steps.len();
            if at >= MAX_STEPS {
                return Err(error(&place, format!("more than {MAX_STEPS} fields, with those of types")));
            }
            if let Some(offset) = field.at.filter(|offset| *offset > MAX_FRAME) {
                return Err(error(&place, format!("offset {offset}; at most {MAX_FRAME} is possible")));
            }
            steps.push(Step {
                name: field.name.clone(),
                unit: field.unit.clone(),
                at: field.at,
                when,
                is_optional: field.optional,
                count,
                kind: StepKind::Structure(0),
            });
            let kind = match &kind.base {
                Base::Named(name) => {
                    self.append(&place, &self.structure(&place, name)?.fields, depth + 1, steps)?;
                    StepKind::Structure(steps.len() - at - 1)
                }
                Base::Text | Base::Bytes => StepKind::Bytes {
                    is_text: kind.base == Base::Text,
                    value: constant_bytes(field, &kind.base).map_err(|reason| error(&place, reason))?,
                    is_code: field.is == Some(FieldRole::Code),
                },
                _ => StepKind::Number(
                    self.number(field, before, &kind.base).map_err(|reason| error(&place, reason))?,
                ),
            };
            if let Some(step) = steps.get_mut(at) {
                step.kind = kind;
            }
        }
        Ok(())
    }

    fn slot(&self, name: &str) -> Result<usize, String> {
        self.slots.get(name).copied().ok_or_else(|| format!("there is no field {name}"))
    }

    fn count(&self, count: &kind::Count) -> Result<Count, String> {
        Ok(match count {
            kind::Count::Fixed(count) if *count > MAX_ITEMS => {
                return Err(format!("{count} elements; at most {MAX_ITEMS} are possible"));
            }
            kind::Count::Fixed(count) => Count::Fixed(*count),
            kind::Count::Prefixed(bits) => Count::Prefixed(usize::from(*bits) / 8),
            kind::Count::Of(name) => Count::Slot(self.slot(name)?),
            kind::Count::Rest => Count::Rest,
        })
    }

    fn number(&self, field: &Field, before: Option<&Field>, base: &Base) -> Result<NumberStep, String> {
        let (form, size) = match base {
            Base::Signed(bits) => (Form::Signed, usize::from(*bits) / 8),
            Base::Float(bits) => (Form::Float, usize::from(*bits) / 8),
            Base::Bool => (Form::Bool, 1),
            Base::Unsigned(bits) => (Form::Unsigned, usize::from(*bits) / 8),
            _ => return Err(format!("{base} is not a number")),
        };
        let role = match (field.is, &field.value) {
            (Some(FieldRole::Code), _) => Role::Code,
            (Some(FieldRole::Checksum), _) => Role::Checksum(checksum(field.algorithm.as_deref())?),
            (_, Some(value)) => {
                Role::Constant(whole(value).ok_or_else(|| format!("{value} is not a whole number"))?)
            }
            _ => Role::Value,
        };
        let codes = match &field.codes {
            None => BTreeMap::new(),
            Some(name) => {
                let names = self.protocol.types.iter().find(|one| one.name == *name);
                let names = names.ok_or_else(|| format!("there is no type {name}"))?;
                names.codes.iter().map(|(name, value)| (value.code(), name.clone())).collect()
            }
        };
        let scale = (field.scale.is_some() || field.offset.is_some())
            .then(|| [field.scale.unwrap_or(1.0), field.offset.unwrap_or(0.0)]);
        if scale.is_some_and(|[scale, offset]| !scale.is_finite() || scale == 0.0 || !offset.is_finite()) {
            return Err("scale must be finite and not 0, offset finite".to_owned());
        }
        let digits = field.base.unwrap_or(10);
        if ![2, 8, 10, 16].contains(&digits) {
            return Err(format!("numbers of base {digits}; possible are 2, 8, 10 and 16"));
        }
        Ok(NumberStep {
            form,
            size,
            order: field.order.unwrap_or(self.protocol.order),
            base: digits.into(),
            bits: field.bits.map(|bits| bits_of(bits, size, field, before)).transpose()?,
            scale,
            role,
            slot: self.slots.get(&field.name).copied(),
            codes,
            is_strict: field.strict,
        })
    }
}

fn checksum(name: Option<&str>) -> Result<Checksum, String> {
    let name = name.unwrap_or_default();
    let names: Vec<String> = Checksum::names().collect();
    Checksum::named(name).ok_or_else(|| {
        let hint = dragoman_text::hint(name, names.iter().map(String::as_str));
        format!("'{name}' is not a known check sum{hint}")
    })
}

/// The bits of a number; those of two neighbours are in the same one if they come in order.
fn bits_of(
    [lowest, count]: [u8; 2],
    size: usize,
    field: &Field,
    before: Option<&Field>,
) -> Result<Bits, String> {
    let (lowest, count) = (u32::from(lowest), u32::from(count));
    if count == 0 || (lowest + count) as usize > size * 8 {
        return Err(format!("bits {lowest} to {} are not in {} bits", lowest + count - 1, 8 * size));
    }
    let is_shared = before.is_some_and(|before| {
        let is_later = before.bits.is_some_and(|[low, many]| u32::from(low) + u32::from(many) <= lowest);
        is_later && before.kind() == field.kind() && (field.at.is_none() || field.at == before.at)
    });
    Ok(Bits { lowest, count, is_shared })
}

fn whole(text: &str) -> Option<i128> {
    match text.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn constant_bytes(field: &Field, base: &Base) -> Result<Option<Vec<u8>>, String> {
    let Some(value) = &field.value else { return Ok(None) };
    if *base == Base::Text {
        return Ok(Some(value.clone().into_bytes()));
    }
    let bytes = value.split_ascii_whitespace().map(|byte| u8::from_str_radix(byte, 16));
    bytes.collect::<Result<_, _>>().map(Some).map_err(|_| format!("'{value}' is not bytes such as 'FF 01'"))
}

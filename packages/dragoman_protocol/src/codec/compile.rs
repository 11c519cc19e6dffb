//! Makes the program of a description.

mod number;

use std::collections::BTreeMap;

use super::{
    Codec, Codes, Count, Direct, EmptyWord, Form, MAX_ITEMS, MAX_NESTING, MAX_SIZE, MAX_STEPS, NumberStep,
    Programs, Role, Step, StepKind, TextStep, level,
};
use crate::cut::{Envelope, MAX_FRAME};
use crate::expression::Expression;
use crate::kind::{self, Base};
use crate::model::{Answer, Counted, Empty, Encoding, Field, FieldRole, Protocol, Type};

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
        // A reason may begin with keys below the place: `fields: left: there is no ...`.
        let is_key = |part: &&str| part.chars().all(|one| one.is_ascii_alphanumeric() || one == '_');
        let keys = self.reason.rsplit_once(": ").map_or("", |(keys, _)| keys);
        let mut keys: Vec<&str> = keys.split(": ").take_while(is_key).filter(|key| !key.is_empty()).collect();
        while !keys.is_empty() {
            if let Some(line) = crate::model::line_of(text, &format!("{}: {}", self.place, keys.join(": "))) {
                return Some(line);
            }
            keys.pop();
        }
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
        let separator = protocol.encoding.separator().and_then(|separator| u8::try_from(separator).ok());
        let frame = format!("{}: frame", protocol.name);
        let envelope = Envelope::new(&protocol.frame.cut).map_err(|reason| error(&frame, reason))?;
        let mut fields = protocol.frame.fields.split(|field| field.is == Some(FieldRole::Body));
        let (mut before, after) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
        if separator.is_some() && !protocol.frame.cut.can {
            // What is text ends where a separator follows, not after a number of bytes.
            match before.split_last() {
                Some((code, rest)) if code.is == Some(FieldRole::Code) => before = rest,
                _ => {
                    return Err(error(
                        &frame,
                        "the code must be the field in front of the body, if that is text",
                    ));
                }
            }
        }
        let compiler = Compiler::new(&protocol, separator);
        let (head, tail) = (compiler.frame(&frame, before)?, compiler.frame(&frame, after)?);
        let tail_size =
            fixed_size(after).ok_or_else(|| error(&frame, "what follows the body has no fixed size"))?;
        let cut = &protocol.frame.cut;
        if let Some(size) =
            [cut.datagram, cut.least, cut.most].into_iter().flatten().max().filter(|size| *size > MAX_SIZE)
        {
            return Err(error(&frame, format!("a size of {size} bytes; at most {MAX_SIZE} are possible")));
        }
        let (mut messages, mut codes) = (Vec::new(), Codes::default());
        for (number, message) in protocol.messages.iter().enumerate() {
            let place = format!("{}: {}", protocol.name, message.name);
            let body = compiler.program(&place, &message.fields, &[])?;
            let answer = match &message.answer {
                None => None,
                Some(Answer::Fields(fields)) => {
                    Some(compiler.program(&format!("{place}: answer"), fields, &message.fields)?)
                }
                Some(Answer::Named(name)) if name == "echo" => Some(body.clone()),
                Some(Answer::Named(name)) => Some(compiler.program(
                    &format!("{place}: answer"),
                    &compiler.structure(&place, name)?.fields,
                    &[],
                )?),
            };
            messages.push(Programs { body, answer });
            codes.insert(message, number, separator.is_some());
        }
        let role = |role| protocol.frame.fields.iter().find(move |field| field.is == Some(role));
        let place = |field: Option<&Field>| field.and_then(|field| compiler.place(true, &field.name));
        let (code_place, body_place) = (place(role(FieldRole::Code)), place(role(FieldRole::Body)));
        let (slots, places) = (compiler.slots.len(), compiler.places.len());
        let datagram = cut.datagram.map(|size| [cut.least.unwrap_or(size), size]);
        Ok(Self {
            separator,
            envelope,
            head,
            tail,
            tail_size,
            datagram,
            messages,
            codes,
            slots,
            places,
            code_place: code_place.filter(|_| separator.is_some()),
            body_place,
            protocol,
        })
    }
}

/// Bytes of fields that always have the same size.
pub(crate) fn fixed_size(fields: &[Field]) -> Option<usize> {
    fields
        .iter()
        .try_fold(0_usize, |sum, field| sum.checked_add(field.size()?))
        .filter(|size| *size <= MAX_SIZE)
}

struct Compiler<'a> {
    protocol: &'a Protocol,
    separator: Option<u8>,
    /// Numbers for the fields that counts, conditions and expressions ask for, by their names.
    slots: BTreeMap<String, usize>,
    /// Numbers for the fields that check sums ask for; `true`: those of the frame.
    places: BTreeMap<(bool, String), usize>,
}

/// Where fields are.
#[derive(Clone, Copy)]
struct Context<'f> {
    is_frame: bool,
    depth: usize,
    /// The fields beside it, and those of the question.
    fields: &'f [Field],
    asked: &'f [Field],
}

impl<'a> Compiler<'a> {
    fn new(protocol: &'a Protocol, separator: Option<u8>) -> Self {
        let mut compiler = Self { protocol, separator, slots: BTreeMap::new(), places: BTreeMap::new() };
        let answers = protocol.messages.iter().filter_map(|message| match &message.answer {
            Some(Answer::Fields(fields)) => Some(fields),
            _ => None,
        });
        let bodies = protocol.messages.iter().map(|message| &message.fields).chain(answers);
        let all = bodies.chain(protocol.types.iter().map(|one| &one.fields)).map(|fields| (fields, false));
        for (fields, is_frame) in all.chain([(&protocol.frame.fields, true)]) {
            for field in fields {
                compiler.ask(field);
                let over = field.over.iter().flat_map(|over| [&over.from, &over.to]).flatten();
                for name in over {
                    // A check sum in a message may also begin in the frame.
                    let is_frame = is_frame || !fields.iter().any(|one| one.name == *name);
                    let next = compiler.places.len();
                    compiler.places.entry((is_frame, name.clone())).or_insert(next);
                }
            }
        }
        compiler
    }

    /// Slots for the names that a field asks for.
    fn ask(&mut self, field: &Field) {
        let mut names: Vec<String> = field.when.keys().cloned().collect();
        if let Some(kind::Count::Of(name)) = field.kind().count {
            names.push(name);
        }
        for text in [field.when.expression(), field.expression()].into_iter().flatten() {
            names.extend(Expression::names(text));
        }
        for name in names {
            let next = self.slots.len();
            self.slots.entry(name).or_insert(next);
        }
    }

    /// What is around the body.
    fn frame(&self, place: &str, fields: &[Field]) -> Result<Vec<Step>, CodecError> {
        let mut steps = Vec::new();
        let context = Context { is_frame: true, depth: 0, fields, asked: &[] };
        self.append(place, fields, context, &mut steps)?;
        let counts = self.protocol.frame.cut.counts.unwrap_or(Counted::Frame);
        for (step, field) in steps.iter_mut().zip(fields) {
            if let (StepKind::Number(number), Some(FieldRole::Size)) = (&mut step.kind, field.is) {
                number.role = Role::Size(counts);
                step.direct = None;
            }
        }
        Ok(steps)
    }

    /// `asked`: the fields of the question, of an answer.
    fn program(&self, place: &str, fields: &[Field], asked: &[Field]) -> Result<Vec<Step>, CodecError> {
        let mut steps = Vec::new();
        self.append(place, fields, Context { is_frame: false, depth: 0, fields, asked }, &mut steps)?;
        // Such a message cannot be sent, but it would take memory.
        let (least, most) = (least(&steps), self.protocol.frame.cut.most.unwrap_or(MAX_FRAME));
        if self.separator.is_none() && least > most {
            return Err(error(place, format!("it has at least {least} bytes; a frame has at most {most}")));
        }
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
        context: Context<'_>,
        steps: &mut Vec<Step>,
    ) -> Result<(), CodecError> {
        if context.depth > MAX_NESTING {
            return Err(error(place, format!("nested deeper than {MAX_NESTING}, or a type contains itself")));
        }
        for field in fields {
            let place = format!("{place}: {}", field.name);
            let wrong = |reason| error(&place, reason);
            let at = steps.len();
            if at >= MAX_STEPS {
                return Err(error(&place, format!("more than {MAX_STEPS} fields, with those of types")));
            }
            steps.push(self.step(field, context).map_err(wrong)?);
            let kind = field.kind();
            let kind = match &kind.base {
                Base::Named(name) => {
                    let fields = &self.structure(&place, name)?.fields;
                    let inner = Context { depth: context.depth + 1, fields, asked: &[], ..context };
                    self.append(&place, fields, inner, steps)?;
                    StepKind::Structure(steps.len() - at - 1)
                }
                Base::Text | Base::Bytes if !field.is_text_number() => StepKind::Bytes {
                    text: (kind.base == Base::Text).then(|| TextStep {
                        is_rest: field.rest,
                        pad: pad(field),
                        encoding: field.encoding,
                    }),
                    value: self.constant_bytes(field, context).map_err(wrong)?,
                    is_code: field.is == Some(FieldRole::Code),
                },
                base => StepKind::Number(self.number(field, fields, base, context).map_err(wrong)?),
            };
            if let Some(step) = steps.get_mut(at) {
                step.kind = kind;
                step.direct = Direct::of(step).filter(|_| !self.is_words(context));
            }
        }
        Ok(())
    }

    /// A step without its kind.
    fn step(&self, field: &Field, context: Context<'_>) -> Result<Step, String> {
        let kind = field.kind();
        let count = kind.count.as_ref().filter(|_| !field.is_text_number());
        let when = field.when.values().map(|(name, value)| Ok((self.slot(name)?, value)));
        if let Some(offset) = field.at.filter(|offset| *offset > MAX_FRAME) {
            return Err(format!("offset {offset}; at most {MAX_FRAME} is possible"));
        }
        let is_word = self.is_words(context) && !matches!(kind.base, Base::Named(_));
        let is_one = count.is_none() || matches!(kind.base, Base::Text | Base::Bytes);
        let empty = match (field.empty, field.optional) {
            _ if !is_word || !is_one || field.rest => EmptyWord::Never,
            (Some(Empty::Missing), _) => EmptyWord::Always,
            (None, true) => EmptyWord::Within,
            (None, false) => EmptyWord::Never,
        };
        Ok(Step {
            name: field.name.clone(),
            unit: field.unit.clone(),
            at: field.at,
            when: when.collect::<Result<_, String>>()?,
            condition: field.when.expression().map(|text| self.expression(text, context)).transpose()?,
            is_optional: field.optional,
            empty,
            count: count.map(|count| self.count(count, field)).transpose()?,
            slot: self.slots.get(&field.name).copied(),
            place: if context.depth == 0 { self.place(context.is_frame, &field.name) } else { None },
            direct: None,
            kind: StepKind::Structure(0),
        })
    }

    /// Whether values are words between separators here.
    fn is_words(&self, context: Context<'_>) -> bool {
        self.separator.is_some() && !context.is_frame
    }

    fn slot(&self, name: &str) -> Result<usize, String> {
        self.slots.get(name).copied().ok_or_else(|| format!("there is no field {name}"))
    }

    fn place(&self, is_frame: bool, name: &str) -> Option<usize> {
        self.places.get(&(is_frame, name.to_owned())).copied()
    }

    fn expression(&self, text: &str, context: Context<'_>) -> Result<Expression, String> {
        let slot = |name: &str| self.slots.get(name).copied();
        let fields = || context.fields.iter().chain(context.asked).chain(&self.protocol.frame.fields);
        let code =
            |name: &str, value: &str| self.protocol.code_of(fields().find(|one| one.name == name), value);
        Expression::read_with_codes(text, &slot, &code).map_err(|error| error.to_string())
    }

    fn count(&self, count: &kind::Count, field: &Field) -> Result<Count, String> {
        Ok(match count {
            kind::Count::Fixed(count) if *count > MAX_ITEMS => {
                return Err(format!("{count} elements; at most {MAX_ITEMS} are possible"));
            }
            kind::Count::Fixed(count) => Count::Fixed(*count),
            kind::Count::Prefixed(bits) => {
                Count::Prefixed(usize::from(*bits) / 8, field.order.unwrap_or(self.protocol.order))
            }
            kind::Count::Of(name) => Count::Slot(self.slot(name)?),
            kind::Count::Rest => Count::Rest,
        })
    }

    fn constant_bytes(&self, field: &Field, context: Context<'_>) -> Result<Option<Vec<u8>>, String> {
        let Some(value) = &field.value else { return Ok(None) };
        let kind = field.kind();
        if kind.base == Base::Bytes {
            let bytes = value.split_ascii_whitespace().map(|byte| u8::from_str_radix(byte, 16));
            let bytes = bytes.collect::<Result<_, _>>().map(Some);
            return bytes.map_err(|_| format!("'{value}' is not bytes such as 'FF 01'"));
        }
        let mut bytes = value.clone().into_bytes();
        if let (Some(kind::Count::Fixed(size)), false) = (kind.count, self.is_words(context)) {
            if bytes.len() > size {
                return Err(format!("'{value}' has {} bytes, not {size} as its type", bytes.len()));
            }
            bytes.resize(size.min(MAX_SIZE), pad(field));
        }
        Ok(Some(bytes))
    }
}

/// Bytes that a message has at least.
fn least(steps: &[Step]) -> usize {
    let sizes = level(steps).filter(|(step, _)| step.when.is_empty() && step.condition.is_none()).map(
        |(step, fields)| {
            if step.is_optional || step.empty != EmptyWord::Never {
                return 0;
            }
            let one = match &step.kind {
                StepKind::Number(NumberStep { role: Role::Computed(_), .. }) => 0,
                StepKind::Number(NumberStep { bits: Some(bits), .. }) if bits.is_shared => 0,
                StepKind::Number(number) => number.digits.width.unwrap_or(number.size),
                StepKind::Bytes { .. } => 1,
                StepKind::Structure(_) => least(fields),
            };
            match step.count {
                None => one,
                Some(Count::Fixed(count)) => one.saturating_mul(count),
                Some(_) => 0,
            }
        },
    );
    sizes.fold(0, usize::saturating_add)
}

/// The byte that fills a text.
fn pad(field: &Field) -> u8 {
    field.pad.as_ref().and_then(|pad| pad.bytes().first()).copied().unwrap_or(0)
}

/// The form and size of a number that is not written as text.
fn form(base: &Base) -> Result<(Form, usize), String> {
    Ok(match base {
        Base::Signed(bits) => (Form::Signed, usize::from(*bits) / 8),
        Base::Float(bits) => (Form::Float, usize::from(*bits) / 8),
        Base::Bool => (Form::Bool, 1),
        Base::Unsigned(bits) => (Form::Unsigned, usize::from(*bits) / 8),
        _ => return Err(format!("{base} is not a number")),
    })
}

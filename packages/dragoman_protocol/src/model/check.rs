//! Whether the parts of a description fit together, and where they do not.

mod fields;
mod reach;

use std::collections::BTreeSet;

use super::{Answer, Code, Field, FieldRole, Message, Protocol, ProtocolError, Side, Type};
use crate::cut::Envelope;
use crate::kind::{Base, Count};
use fields::{Part, Scope};
pub use reach::Warning;

impl Protocol {
    /// Whether its parts fit together.
    pub(super) fn check(&self) -> Result<(), ProtocolError> {
        let cut = &self.frame.cut;
        let ways = [
            cut.datagram.is_some(),
            cut.size.is_some(),
            cut.start.is_some() || cut.end.is_some(),
            cut.line.is_some(),
            cut.silence.is_some(),
            cut.by_code,
            cut.can,
        ];
        let frame = format!("{}: frame", self.name);
        if ways.iter().filter(|way| **way).count() != 1 {
            let reason = "cut must have one of datagram, size, start with end, line, silence, by_code, can";
            return Err(sense(&frame, reason));
        }
        // On a CAN bus the identifier is the code; where there is one message only, it needs none.
        let is_single = matches!(self.messages.as_slice(), [one] if one.code == Code::Number(0));
        let needed: &[FieldRole] =
            if cut.can || is_single { &[FieldRole::Body] } else { &[FieldRole::Code, FieldRole::Body] };
        for part in needed {
            if !self.frame.fields.iter().any(|field| field.is == Some(*part)) {
                return Err(sense(&frame, format!("no field is its {part:?}").to_lowercase()));
            }
        }
        if let Some(size) = &cut.size
            && !self.frame.fields.iter().any(|field| field.name == *size)
        {
            return Err(sense(&frame, format!("there is no field {size}, which cut names as the size")));
        }
        Envelope::new(cut).map_err(|reason| sense(&frame, reason))?;
        self.check_separator()?;
        self.check_fields(&frame, &self.frame.fields, Scope { part: Part::Frame, asked: &[] }, &[])?;
        unique(&self.name, "type", self.types.iter().map(|one| &one.name))?;
        for one in &self.types {
            if !one.fields.is_empty() && !one.codes.is_empty() {
                let reason = "a type has fields or codes, not both";
                return Err(sense(&format!("{}: type {}", self.name, one.name), reason));
            }
            let scope = Scope { part: Part::Type, asked: &[] };
            self.check_fields(&format!("{}: type {}", self.name, one.name), &one.fields, scope, &[])?;
        }
        self.check_messages(&self.name, &self.messages, &[])?;
        unique(&self.name, "interface", self.interfaces.iter().map(|one| &one.name))?;
        unique(&self.name, "code", self.interfaces.iter().map(|one| &one.code))?;
        for interface in &self.interfaces {
            let place = format!("{}: {}", self.name, interface.name);
            unique(&place, "type", interface.types.iter().map(|one| &one.name))?;
            for one in &interface.types {
                let scope = Scope { part: Part::Type, asked: &[] };
                let place = format!("{place}: type {}", one.name);
                self.check_fields(&place, &one.fields, scope, &interface.types)?;
            }
            self.check_messages(&place, &interface.messages, &interface.types)?;
        }
        Ok(())
    }

    fn check_messages(&self, place: &str, messages: &[Message], types: &[Type]) -> Result<(), ProtocolError> {
        unique(place, "message", messages.iter().map(|one| &one.name))?;
        // A command and a request may have the same number: only the request has an answer.
        for (number, message) in messages.iter().enumerate() {
            let codes = || std::iter::once(&message.code).chain(&message.also);
            let is_same = |one: &&Message| {
                (one.from, one.answer.is_some()) == (message.from, message.answer.is_some())
                    && std::iter::once(&one.code).chain(&one.also).any(|code| codes().any(|own| own == code))
            };
            if let Some(first) = messages.iter().take(number).find(is_same) {
                let who = if message.from == Side::Client { "to the machine" } else { "from the machine" };
                let reason = format!(
                    "it has the same code as {}, {}, and both are sent {who}: which one is meant cannot be known",
                    first.name, message.code
                );
                return Err(sense(&format!("{place}: {}", message.name), reason));
            }
        }
        for message in messages {
            let place = format!("{place}: {}", message.name);
            self.check_bare(&place, message)?;
            let further = message.also.iter().chain(&message.answer_code);
            std::iter::once(&message.code)
                .chain(further)
                .try_for_each(|code| self.check_code(&place, code))?;
            let scope = Scope { part: Part::Message, asked: &[] };
            self.check_fields(&place, &message.fields, scope, types)?;
            self.check_end_by_code(&place, &message.fields)?;
            self.check_answer_code(&place, message)?;
            match &message.answer {
                Some(Answer::Fields(fields)) => {
                    let scope = Scope { part: Part::Message, asked: &message.fields };
                    let place = format!("{place}: answer");
                    self.check_fields(&place, fields, scope, types)?;
                    self.check_end_by_code(&place, fields)?;
                }
                Some(Answer::Named(name)) if name != "echo" => self.check_type(&place, name, types)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn check_answer_code(&self, place: &str, message: &Message) -> Result<(), ProtocolError> {
        let Some(code) = &message.answer_code else { return Ok(()) };
        if message.answer.is_none() || message.from == Side::Server {
            return Err(sense(place, "answer_code: nothing answers it"));
        }
        if !self.interfaces.is_empty() {
            return Err(sense(place, "answer_code: a protocol with interfaces has none"));
        }
        match (code, &message.code) {
            (Code::Number(_), Code::Number(_)) | (Code::Text(_), Code::Text(_)) => Ok(()),
            _ => Err(sense(
                place,
                "answer_code: one is a number and the other a text, but both are in one field",
            )),
        }
    }

    /// Whether a bare answer can be found in what is received.
    fn check_bare(&self, place: &str, message: &Message) -> Result<(), ProtocolError> {
        let cut = &self.frame.cut;
        let reason = if !message.bare {
            return Ok(());
        } else if message.answer.is_none() {
            "bare is for an answer, and nothing answers it"
        } else if cut.size.is_some() || cut.can || cut.datagram.is_some() {
            "a bare answer has no size or code: cut needs by_code, end, line or silence"
        } else if self.encoding.separator().is_some() {
            "bare answers are not possible with values between separators"
        } else {
            return Ok(());
        };
        Err(sense(place, reason))
    }

    fn check_type(&self, place: &str, name: &str, types: &[Type]) -> Result<(), ProtocolError> {
        let known = || types.iter().chain(&self.types).map(|one| one.name.as_str());
        if known().any(|one| one == name) {
            return Ok(());
        }
        Err(sense(place, format!("there is no type {name}{}", dragoman_text::hint(name, known()))))
    }

    /// Whether what separates values cannot be part of a number.
    fn check_separator(&self) -> Result<(), ProtocolError> {
        let Some(separator) = self.encoding.separator() else { return Ok(()) };
        if !separator.is_ascii() || separator.is_ascii_alphanumeric() || ".+-".contains(separator) {
            let reason =
                format!("{separator:?} cannot separate values: it may be part of a number, or is not ASCII");
            return Err(sense(&format!("{}: encoding", self.name), reason));
        }
        if self.frame.cut.by_code {
            let reason = "cut: by_code needs fields of known sizes, not encoding: blanks or a separator";
            return Err(sense(&format!("{}: frame", self.name), reason));
        }
        Ok(())
    }

    fn check_fields(
        &self,
        place: &str,
        fields: &[Field],
        scope: Scope<'_>,
        types: &[Type],
    ) -> Result<(), ProtocolError> {
        unique(place, "field", fields.iter().map(|one| &one.name))?;
        for (number, field) in fields.iter().enumerate() {
            let place = format!("{place}: {}", field.name);
            let kind = field.kind();
            let before = || fields.iter().take(number).chain(scope.asked);
            let comes_before = |name: &String| before().any(|other| other.name == *name);
            if let Base::Named(name) = &kind.base {
                self.check_type(&place, name, types)?;
            }
            if let Some(name) = &field.codes {
                self.check_type(&place, name, types)?;
            }
            if let Some(Count::Of(name)) = &kind.count
                && !comes_before(name)
            {
                return Err(sense(&place, format!("no field {name} comes before it")));
            }
            if let Some(name) = field.when.keys().find(|name| !comes_before(name)) {
                return Err(sense(&place, format!("no field {name} comes before it")));
            }
            if field.algorithm.is_some() != (field.is == Some(FieldRole::Checksum)) {
                return Err(sense(&place, "a check sum, and nothing else, has an algorithm"));
            }
            let known = before().collect::<Vec<_>>();
            self.check_keys(&place, field, &known, scope)?;
            self.check_values(&place, field, &known)?;
            if let Some(over) = &field.over {
                self.check_over(&place, field, over, fields, scope)?;
            }
        }
        // Behind the body there may be fields.
        if scope.part == Part::Frame { Ok(()) } else { self.check_ends(place, fields) }
    }
}

impl Protocol {
    /// What only the interpreter can do, with its place: code that is generated would ignore it. Only the messages of `side`
    /// count, if it is given.
    pub(crate) fn only_interpreted(&self, side: Option<Side>) -> Option<(&str, &'static str)> {
        if self.frame.cut.escape.is_some() {
            return Some((&self.name, "escapes are only interpreted"));
        }
        let messages = || self.messages.iter().filter(|one| side.is_none_or(|side| one.from == side));
        let answers = messages().filter_map(|message| match &message.answer {
            Some(Answer::Fields(fields)) => Some(fields),
            _ => None,
        });
        let interfaces = self.interfaces.iter().flat_map(|one| &one.messages);
        let bodies = messages().chain(interfaces).map(|message| &message.fields).chain(answers);
        let interfaces = self.interfaces.iter().flat_map(|one| &one.types);
        let types = self.types.iter().chain(interfaces).map(|one| &one.fields);
        if let Some(message) = self.messages.iter().find(|message| message.bare || !message.also.is_empty()) {
            return Some((&message.name, "bare answers and further codes are only interpreted"));
        }
        let mut fields = bodies.chain(types).chain([&self.frame.fields]).flatten();
        fields.find_map(|field| {
            let reason = if field.is_computed() {
                "a computed field is only interpreted"
            } else if field.expression().is_some() || field.when.expression().is_some() {
                "expressions are only interpreted"
            } else if field.is_text_number() || field.digits.is_some() || field.decimals.is_some() {
                "numbers that are written as text are only interpreted"
            } else if field.over.is_some() {
                "over is only interpreted"
            } else if field.pad.is_some() || field.encoding.is_some() || field.empty.is_some() {
                "pad, encoding and empty are only interpreted"
            } else {
                return None;
            };
            Some((field.name.as_str(), reason))
        })
    }
}

fn sense(place: &str, reason: impl Into<String>) -> ProtocolError {
    ProtocolError::Sense { line: None, place: place.to_owned(), reason: reason.into() }
}

impl ProtocolError {
    /// With the line of its place.
    pub(super) fn located(self, text: &str) -> Self {
        match self {
            Self::Sense { place, reason, .. } => Self::Sense { line: line_of(text, &place), place, reason },
            error => error,
        }
    }
}

/// The line of a place such as `lamp: dim: level`, which consists of names below each other.
pub(crate) fn line_of(text: &str, place: &str) -> Option<usize> {
    let mut at = 0;
    for part in place.split(": ").skip(1) {
        let rest = text.get(at..)?;
        let name = part.strip_prefix("type ").unwrap_or(part);
        // `topic scan` stands for an entry with `topic: scan`.
        let keys = [format!("name: {name}"), format!("{name}:"), name.replacen(' ', ": ", 1)];
        let keys = if name.contains(' ') { keys.get(2..) } else { keys.get(..2) }.unwrap_or_default();
        let is_whole = |end: usize| {
            !rest
                .get(end..)
                .unwrap_or_default()
                .starts_with(|next: char| next.is_alphanumeric() || next == '_')
        };
        let found = keys.iter().find_map(|key| {
            rest.match_indices(key.as_str())
                .map(|(start, found)| start + found.len())
                .find(|end| is_whole(*end))
        });
        at += found?;
    }
    (at > 0).then(|| text.get(..at).unwrap_or_default().lines().count())
}

fn unique<T: Ord + std::fmt::Display>(
    place: &str,
    what: &str,
    all: impl Iterator<Item = T>,
) -> Result<(), ProtocolError> {
    let mut seen = BTreeSet::new();
    for one in all {
        let text = format!("the {what} {one} is there twice");
        if !seen.insert(one) {
            return Err(sense(place, text));
        }
    }
    Ok(())
}

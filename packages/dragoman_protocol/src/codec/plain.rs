//! Plain values of a message, for examples: zeros, and texts without characters.

use super::{Codec, Count, Form, MAX_ITEMS, MessageId, NumberStep, Role, Step, StepKind, Values, level};
use crate::expression::Number;

impl Codec {
    /// Fills `values` with plain ones of a message, which [`encode`](Self::encode) takes: numbers are 0 on the wire, or the
    /// first one that a condition of another field or a strict list of names has; lists are as short as possible. The slots of
    /// `asked` are those of the question.
    pub fn plain(&self, message: MessageId, asked: Option<&Values>, values: &mut Values) {
        values.begin(self.slots, self.places, asked);
        let Some(program) = self.program(message) else { return };
        let (head, tail) = (self.head.as_slice(), self.tail.as_slice());
        let answer = self.messages.get(message.number).and_then(|one| one.answer.as_deref());
        let mut wanted = Vec::new();
        [head, program, answer.unwrap_or_default()].iter().for_each(|steps| {
            wanted.extend(steps.iter().flat_map(|step| &step.when).copied());
        });
        let is_text = self.separator.is_some();
        let mut filler = Filler { wanted, is_text, is_words: false, room: MAX_ITEMS, values };
        for (steps, is_body) in [(head, false), (program, true), (tail, false)] {
            filler.is_words = is_body && is_text;
            filler.fill(steps);
        }
    }
}

struct Filler<'a> {
    /// Slots and their values that conditions of other fields name.
    wanted: Vec<(usize, i64)>,
    /// The message is text, and these values are words of it.
    is_text: bool,
    is_words: bool,
    /// Elements and bytes that may follow: lists of lists would have too many. What is missing then, encoding reports.
    room: usize,
    values: &'a mut Values,
}

impl Filler<'_> {
    fn fill(&mut self, steps: &[Step]) {
        for (step, fields) in level(steps) {
            let is_here = self.values.holds(step).unwrap_or(false);
            if !is_here {
                if step.has_item() {
                    self.values.missing();
                }
                self.values.skip(step, fields);
                continue;
            }
            match &step.kind {
                StepKind::Bytes { .. } if !step.has_item() => {}
                // A word is not empty.
                StepKind::Bytes { .. } if self.is_words => self.values.text("0"),
                StepKind::Bytes { .. } => {
                    let count = self.len(step.count).min(self.room);
                    self.room -= count;
                    self.values.append(&vec![if self.is_text { b'0' } else { 0 }; count]);
                }
                StepKind::Number(number) if step.count.is_none() => self.number(step, number),
                kind => {
                    let mut count = 1;
                    if step.count.is_some() {
                        count = self.len(step.count);
                        self.values.list(count);
                    }
                    for _ in 0..count {
                        let Some(room) = self.room.checked_sub(1) else { return };
                        self.room = room;
                        match kind {
                            StepKind::Number(number) => self.number(step, number),
                            _ => self.fill(fields),
                        }
                    }
                }
            }
        }
    }

    fn len(&self, count: Option<Count>) -> usize {
        match count {
            Some(Count::Fixed(count)) => count,
            Some(Count::Slot(slot)) => match self.values.slot(slot) {
                Some(Number::Whole(count)) => usize::try_from(count).unwrap_or(0),
                _ => 0,
            },
            _ => 0,
        }
    }

    fn number(&mut self, step: &Step, number: &NumberStep) {
        let condition = step.slot.and_then(|slot| self.wanted.iter().find(|(other, _)| *other == slot));
        let coded = number.codes.keys().next().filter(|_| number.is_strict);
        let whole = match &number.role {
            Role::Constant(value) => Number::Whole(*value),
            Role::Expression(expression) | Role::Computed(expression) => {
                let computed = expression.compute(|slot| self.values.slot(slot));
                computed.unwrap_or(Number::Whole(0))
            }
            _ => Number::Whole(condition.map(|(_, value)| *value).or(coded.copied()).unwrap_or(0).into()),
        };
        self.values.set_slot(step.slot, Some(whole));
        if step.has_item() {
            let value = match number.scale {
                Some([scale, offset]) => Number::Real(whole.real() * scale + offset),
                None if number.form == Form::Float => Number::Real(0.0),
                None => whole,
            };
            self.values.number(value);
        }
    }
}

//! Plain values of a message, for examples: zeros, and texts without characters.

use super::{
    Codec, Count, Form, Item, MAX_ITEMS, MessageId, NumberStep, Role, Step, StepKind, Values, level,
};
use crate::cut::MAX_FRAME;
use crate::expression::Number;
use crate::model::Encoding;

impl Codec {
    /// Fills `values` with plain ones of a message, which [`encode`](Self::encode) takes: numbers are 0 on the wire, or the
    /// first one that a condition of another field or a strict list of names has; lists are as short as possible. The slots of
    /// `asked` are those of the question.
    pub fn plain(&self, message: MessageId, asked: Option<&Values>, values: &mut Values) {
        values.begin(self.slots, asked);
        let Some(program) = self.program(message) else { return };
        let is_words = self.encoding == Encoding::Blanks;
        // In words, the code is in front of the values, and nothing behind them.
        let (head, tail) =
            if is_words { (&[][..], &[][..]) } else { (self.head.as_slice(), self.tail.as_slice()) };
        let answer = self.messages.get(message.number).and_then(|one| one.answer.as_deref());
        let mut wanted = Vec::new();
        [head, program, answer.unwrap_or_default()].iter().for_each(|steps| {
            wanted.extend(steps.iter().flat_map(|step| &step.when).copied());
        });
        [head, program, tail].iter().for_each(|steps| fill(steps, &wanted, is_words, values));
    }
}

fn fill(steps: &[Step], wanted: &[(usize, i64)], is_words: bool, values: &mut Values) {
    for (step, fields) in level(steps) {
        let is_here = step.when.iter().all(|(slot, value)| values.slot(*slot) == Some((*value).into()));
        if !is_here {
            if step.has_item() {
                values.missing();
            }
            continue;
        }
        match &step.kind {
            StepKind::Bytes { .. } if !step.has_item() => {}
            // A word is not empty.
            StepKind::Bytes { .. } if is_words => values.text("0"),
            StepKind::Bytes { .. } => values.append(&vec![0; len(step.count, values).min(MAX_FRAME)]),
            StepKind::Number(number) if step.count.is_none() => plain_number(step, number, wanted, values),
            kind => {
                let mut count = 1;
                if step.count.is_some() {
                    count = len(step.count, values).min(MAX_ITEMS);
                    values.list(count);
                }
                for _ in 0..count {
                    match kind {
                        StepKind::Number(number) => plain_number(step, number, wanted, values),
                        _ => fill(fields, wanted, is_words, values),
                    }
                }
            }
        }
    }
}

fn len(count: Option<Count>, values: &Values) -> usize {
    match count {
        Some(Count::Fixed(count)) => count,
        Some(Count::Slot(slot)) => {
            values.slot(slot).and_then(|count| usize::try_from(count).ok()).unwrap_or(0)
        }
        _ => 0,
    }
}

fn plain_number(step: &Step, number: &NumberStep, wanted: &[(usize, i64)], values: &mut Values) {
    let condition = number.slot.and_then(|slot| wanted.iter().find(|(other, _)| *other == slot));
    let coded = number.codes.keys().next().filter(|_| number.is_strict);
    let whole = match &number.role {
        Role::Constant(value) => *value,
        _ => condition.map(|(_, value)| *value).or(coded.copied()).unwrap_or(0).into(),
    };
    if let Some(slot) = number.slot {
        values.set_slot(slot, whole);
    }
    if step.has_item() {
        let value = match number.scale {
            Some([scale, offset]) => Number::Real(Number::Whole(whole).real() * scale + offset),
            None if number.form == Form::Float => Number::Real(0.0),
            None => Number::Whole(whole),
        };
        values.items.push(Item::Number(value));
    }
}

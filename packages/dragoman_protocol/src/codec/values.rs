//! The values of a message.

use super::Step;
use crate::expression::{NoValue, Number};

/// A value, in the order of the description.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Item {
    /// A number; scaled, if the description says so.
    Number(Number),
    /// Bytes, or a text, at a place of [`Values`].
    Bytes {
        /// Where they begin.
        start: usize,
        /// How many.
        len: usize,
    },
    /// So many elements follow, each with the items of its fields.
    List(usize),
    /// The field is not in this message.
    Missing,
}

/// The values of a message. The same ones can be used for all messages.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Values {
    pub(super) items: Vec<Item>,
    pub(super) bytes: Vec<u8>,
    /// Numbers that counts, conditions and expressions ask for, also those of the answer.
    pub(super) slots: Vec<Option<Number>>,
    /// Where fields begin and end that check sums ask for.
    pub(super) places: Vec<[usize; 2]>,
}

impl Values {
    /// Without values, as before decoding.
    pub fn clear(&mut self) {
        self.items.clear();
        self.bytes.clear();
        self.slots.clear();
        self.places.clear();
    }

    /// Without values, but with the numbers on which counts and conditions of an answer depend: for the answer to the message
    /// that was decoded or encoded last.
    pub fn restart(&mut self) {
        self.items.clear();
        self.bytes.clear();
    }

    /// All items.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The bytes of an item; of other items than [`Item::Bytes`] none.
    pub fn bytes(&self, item: Item) -> &[u8] {
        let Item::Bytes { start, len } = item else { return &[] };
        self.bytes.get(start..).and_then(|rest| rest.get(..len)).unwrap_or_default()
    }

    /// Appends a number.
    pub fn number(&mut self, number: Number) {
        self.items.push(Item::Number(number));
    }

    /// Appends a whole number.
    pub fn whole(&mut self, whole: impl Into<i128>) {
        self.number(Number::Whole(whole.into()));
    }

    /// Appends a real number.
    pub fn real(&mut self, real: f64) {
        self.number(Number::Real(real));
    }

    /// Appends a text.
    pub fn text(&mut self, text: &str) {
        self.append(text.as_bytes());
    }

    /// Appends bytes.
    pub fn append(&mut self, bytes: &[u8]) {
        self.items.push(Item::Bytes { start: self.bytes.len(), len: bytes.len() });
        self.bytes.extend_from_slice(bytes);
    }

    /// Appends bytes that are 0.
    pub(super) fn append_zeros(&mut self, count: usize) {
        self.items.push(Item::Bytes { start: self.bytes.len(), len: count });
        self.bytes.resize(self.bytes.len() + count, 0);
    }

    /// Appends the beginning of a list: the items of so many elements follow.
    pub fn list(&mut self, count: usize) {
        self.items.push(Item::List(count));
    }

    /// Appends a field that is missing.
    pub fn missing(&mut self) {
        self.items.push(Item::Missing);
    }

    pub(super) fn slot(&self, slot: usize) -> Option<Number> {
        self.slots.get(slot).copied().flatten()
    }

    pub(super) fn set_slot(&mut self, slot: Option<usize>, value: Option<Number>) {
        if let Some(place) = slot.and_then(|slot| self.slots.get_mut(slot)) {
            *place = value;
        }
    }

    pub(super) fn set_place(&mut self, place: Option<usize>, of: [usize; 2]) {
        if let Some(place) = place.and_then(|place| self.places.get_mut(place)) {
            *place = of;
        }
    }

    /// Empty, with so many slots and places; slots are those of the question, if it is given.
    pub(super) fn begin(&mut self, slots: usize, places: usize, asked: Option<&Self>) {
        self.clear();
        if let Some(asked) = asked {
            self.slots.extend_from_slice(&asked.slots);
        }
        self.slots.resize(slots, None);
        self.places.resize(places, [0; 2]);
    }

    /// Whether a field is there.
    pub(super) fn holds(&self, step: &Step) -> Result<bool, NoValue> {
        let has = |slot: usize, value: i64| {
            self.slot(slot).is_some_and(|number| number.is(Number::Whole(value.into())))
        };
        if !step.when.iter().all(|(slot, value)| has(*slot, *value)) {
            return Ok(false);
        }
        let Some(condition) = &step.condition else { return Ok(true) };
        match condition.compute(|slot| self.slot(slot)) {
            Ok(value) => Ok(value.is_true()),
            Err(NoValue::Missing) => Ok(false),
            Err(reason) => Err(reason),
        }
    }

    /// Forgets the numbers of a field that is missing.
    pub(super) fn skip(&mut self, step: &Step, fields: &[Step]) {
        for slot in fields.iter().chain([step]).map(|step| step.slot) {
            self.set_slot(slot, None);
        }
    }
}

//! Values by the names of their fields: found in a message that was decoded, and filled in for one to be encoded.

use std::collections::BTreeMap;

use super::{
    Codec, Count, EmptyWord, Item, MAX_ITEMS, MessageId, NumberStep, Role, Step, StepKind, Values, level,
};
use crate::expression::Number;
use crate::model::{Answer, Field, FieldRole};

/// Where the values of a field are in the messages of one kind.
///
/// `left`, `bumps.left`, `cells[2].voltage`, `ranges[0]`; a list without an index, as in `ranges` and `cells.voltage`, stands
/// for all of its elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Path {
    segments: Vec<Segment>,
    /// What its values are.
    pub leaf: Leaf,
    /// It may have any number of values.
    pub is_list: bool,
    /// The unit of the values.
    pub unit: String,
}

/// What the values of a field are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaf {
    /// Numbers.
    Number,
    /// A text.
    Text,
    /// Bytes.
    Bytes,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Segment {
    /// Which step of its level.
    step: usize,
    /// Which element, if it is a list; `None`: all.
    index: Option<usize>,
}

/// How values with names become the items of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filling {
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Slot {
    /// The value with this number.
    Given(usize),
    Zero,
    /// So many bytes that are 0.
    Bytes(usize),
    /// So many elements follow.
    List(usize),
    Missing,
    /// As the slot behind it, unless these numbers of the question are others.
    When(Vec<(usize, i64)>),
}

/// A value for [`Codec::fill`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Given<'a> {
    /// A number.
    Number(Number),
    /// A text, or bytes.
    Bytes(&'a [u8]),
    /// All elements of a list of numbers.
    List(&'a [Number]),
}

impl Codec {
    /// The message of this name.
    pub fn message_named(&self, name: &str) -> Option<MessageId> {
        let number = self.protocol().messages.iter().position(|message| message.name == name)?;
        Some(MessageId { number, is_answer: false })
    }

    /// Whether anything answers a message.
    pub fn has_answer(&self, message: MessageId) -> bool {
        self.messages.get(message.number).is_some_and(|programs| programs.answer.is_some())
    }

    /// The field with the number that an answer repeats, or that is another one in each message: of the message, or of the frame.
    pub fn sequence_field(&self, message: MessageId) -> Option<&Field> {
        let described = self.protocol().messages.get(message.number)?;
        let own = match (&described.answer, message.is_answer) {
            (Some(Answer::Fields(fields)), true) => fields.as_slice(),
            (_, true) => &[],
            (_, false) => described.fields.as_slice(),
        };
        let mut all = own.iter().chain(&self.protocol().frame.fields);
        all.find(|field| field.is == Some(FieldRole::Sequence))
    }

    /// Where that field is.
    pub fn sequence(&self, message: MessageId) -> Option<Path> {
        self.path(message, &self.sequence_field(message)?.name).ok()
    }

    /// Finds a field by its name.
    ///
    /// # Errors
    /// There is no such field, or it has no value of its own; the text says what may be meant.
    pub fn path(&self, message: MessageId, text: &str) -> Result<Path, String> {
        let mut level_steps: Vec<(&Step, &[Step])> = self.top(message).collect();
        // Of two fields with one name, that of the message counts, not that of the frame.
        let mut body = self.body_steps(message);
        let (mut segments, mut is_list) = (Vec::new(), false);
        let mut parts = text.split('.').peekable();
        loop {
            let part = parts.next().unwrap_or_default();
            let (name, index) =
                indexed(part).ok_or_else(|| format!("'{part}' is not a name or name[number]"))?;
            let has_name = |at: &usize| level_steps.get(*at).is_some_and(|(step, _)| step.name == name);
            let mut all = std::mem::replace(&mut body, 0..0).chain(0..level_steps.len());
            let found = all.find(has_name);
            let Some((number, (step, fields))) = found.and_then(|at| Some((at, *level_steps.get(at)?)))
            else {
                let names = level_steps.iter().filter(|(step, _)| step.has_item());
                let hint = dragoman_text::hint(name, names.map(|(step, _)| step.name.as_str()));
                return Err(format!("there is no field {name}{hint}"));
            };
            if !step.has_item() {
                return Err(format!("{name} is always the same: it has no value to ask for"));
            }
            // The count of bytes and texts is their size.
            let is_counted = step.count.is_some() && !matches!(step.kind, StepKind::Bytes { .. });
            match (index, step.count) {
                (Some(_), _) if !is_counted => return Err(format!("{name} is not a list")),
                (Some(index), Some(Count::Fixed(count))) if index >= count => {
                    return Err(format!("{name} has {count} elements, from {name}[0] on"));
                }
                _ => {}
            }
            is_list |= is_counted && index.is_none();
            segments.push(Segment { step: number, index });
            let is_last = parts.peek().is_none();
            let leaf = match &step.kind {
                StepKind::Structure(_) if is_last => {
                    let first = level(fields).next().map_or("", |(step, _)| step.name.as_str());
                    return Err(format!("{name} has fields: {text}.{first} is one of them"));
                }
                StepKind::Structure(_) => {
                    level_steps = level(fields).collect();
                    continue;
                }
                _ if !is_last => return Err(format!("{name} has no fields")),
                StepKind::Number(_) => Leaf::Number,
                StepKind::Bytes { text: Some(_), .. } => Leaf::Text,
                StepKind::Bytes { .. } => Leaf::Bytes,
            };
            return Ok(Path { segments, leaf, is_list, unit: step.unit.clone() });
        }
    }

    /// Calls `take` with the values of a field: none if it is missing in this message, several if it is a list.
    pub fn find(&self, message: MessageId, values: &Values, path: &Path, take: &mut dyn FnMut(Item)) {
        find(self.top(message), values.items(), 0, &path.segments, take);
    }

    /// The only value of a field that is a number.
    pub fn number_at(&self, message: MessageId, values: &Values, path: &Path) -> Option<Number> {
        let mut found = None;
        self.find(message, values, path, &mut |item| {
            if let (Item::Number(number), None) = (item, found) {
                found = Some(number);
            }
        });
        found
    }

    /// The name of a field's value, if its description has one.
    pub fn meaning(&self, message: MessageId, path: &Path, value: i64) -> Option<&str> {
        self.codes_at(message, path)?.get(&value).map(String::as_str)
    }

    /// The number that a field has if its value has this name.
    ///
    /// # Errors
    /// There is no such field, or it has no such name.
    pub fn code(&self, message: MessageId, field: &str, name: &str) -> Result<i64, String> {
        let path = self.path(message, field)?;
        let codes = self.codes_at(message, &path).filter(|codes| !codes.is_empty());
        let codes = codes.ok_or_else(|| format!("{field} has no names for its values: it needs codes"))?;
        codes.iter().find(|(_, one)| *one == name).map(|(code, _)| *code).ok_or_else(|| {
            let hint = dragoman_text::hint(name, codes.values().map(String::as_str));
            format!("no value of {field} is called '{name}'{hint}")
        })
    }

    /// The field of which a value has this name.
    pub fn field_with_code(&self, message: MessageId, name: &str) -> Option<&str> {
        let has_name = |step: &Step| match &step.kind {
            StepKind::Number(number) => number.codes.values().any(|one| one == name),
            _ => false,
        };
        self.top(message).find(|(step, _)| has_name(step)).map(|(step, _)| step.name.as_str())
    }

    fn codes_at(&self, message: MessageId, path: &Path) -> Option<&BTreeMap<i64, String>> {
        let mut steps: Vec<(&Step, &[Step])> = self.top(message).collect();
        let (last, before) = path.segments.split_last()?;
        for segment in before {
            let (_, fields) = *steps.get(segment.step)?;
            steps = level(fields).collect();
        }
        match &steps.get(last.step)?.0.kind {
            StepKind::Number(number) => Some(&number.codes),
            _ => None,
        }
    }

    /// How values with these names become a message. Fields that are not named are 0 or empty; those that may be missing are
    /// missing.
    ///
    /// # Errors
    /// A name that the message does not have, or that cannot be set alone.
    pub fn filling(&self, message: MessageId, names: &[&str]) -> Result<Filling, String> {
        for name in names {
            self.path(message, name)?;
        }
        let mut filling = Filling { slots: Vec::new() };
        let mut used = vec![false; names.len()];
        let steps = self.program(message).unwrap_or_default();
        let is_in_body = |name: &str| level(steps).any(|(step, _)| step.name == name);
        let around: Vec<&str> = names.iter().map(|name| if is_in_body(name) { "" } else { *name }).collect();
        let [head, tail] = self.around(message);
        filling.append(level(head), "", &around, &mut used)?;
        filling.append(level(steps), "", names, &mut used)?;
        filling.append(level(tail), "", &around, &mut used)?;
        match used.iter().position(|used| !used).and_then(|unused| names.get(unused)) {
            Some(name) => Err(format!("{name} cannot be set")),
            None => Ok(filling),
        }
    }

    /// The items of a message; `asked` are the values of the question that it answers, on which fields may depend.
    pub fn fill<'a>(
        &self,
        filling: &Filling,
        given: impl Fn(usize) -> Given<'a>,
        asked: Option<&Values>,
        values: &mut Values,
    ) {
        values.clear();
        if let Some(asked) = asked {
            values.slots.clone_from(&asked.slots);
        }
        let mut slots = filling.slots.iter();
        while let Some(slot) = slots.next() {
            match slot {
                Slot::When(when) => {
                    let is_other = |(slot, value): &(usize, i64)| {
                        values.slot(*slot).is_some_and(|found| found != Number::Whole((*value).into()))
                    };
                    if when.iter().any(is_other) {
                        values.missing();
                        slots.next();
                    }
                }
                Slot::Zero => values.whole(0),
                Slot::Bytes(count) => values.append_zeros(*count),
                Slot::List(count) => values.list(*count),
                Slot::Missing => values.missing(),
                Slot::Given(number) => match given(*number) {
                    Given::Number(number) => values.number(number),
                    Given::Bytes(bytes) => values.append(bytes),
                    Given::List(numbers) => {
                        values.list(numbers.len());
                        numbers.iter().for_each(|number| values.number(*number));
                    }
                },
            }
        }
    }

    /// Which of the steps of a whole frame are those of the message.
    fn body_steps(&self, message: MessageId) -> std::ops::Range<usize> {
        let [head, _] = self.around(message);
        let (head, body) = (level(head).count(), level(self.program(message).unwrap_or_default()).count());
        head..head + body
    }

    /// The steps of a whole frame.
    fn top(&self, message: MessageId) -> impl Iterator<Item = (&Step, &[Step])> {
        // What stands around the body of words has no values.
        let body = self.program(message).unwrap_or_default();
        let [head, tail] = self.around(message);
        level(head).chain(level(body)).chain(level(tail))
    }
}

impl Filling {
    fn append<'s>(
        &mut self,
        steps: impl Iterator<Item = (&'s Step, &'s [Step])>,
        prefix: &str,
        names: &[&str],
        used: &mut [bool],
    ) -> Result<(), String> {
        for (step, fields) in steps.filter(|(step, _)| step.has_item()) {
            let path = format!("{prefix}{}", step.name);
            if let StepKind::Number(NumberStep { role: Role::Computed(_), .. }) = &step.kind {
                if names.contains(&path.as_str()) {
                    return Err(format!("{path} is computed from other fields"));
                }
                self.slots.push(Slot::Missing);
                continue;
            }
            if self.slots.len() >= MAX_ITEMS {
                return Err(format!("{path}: more than {MAX_ITEMS} values"));
            }
            if let Some(number) = names.iter().position(|name| *name == path) {
                if let Some(used) = used.get_mut(number) {
                    *used = true;
                }
                if !step.when.is_empty() {
                    self.slots.push(Slot::When(step.when.clone()));
                }
                self.slots.push(Slot::Given(number));
                continue;
            }
            let is_inside = |name: &&&str| {
                name.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with(['.', '[']))
            };
            if step.may_be_missing() && !names.iter().any(|name| is_inside(&name)) {
                self.slots.push(Slot::Missing);
                continue;
            }
            match (&step.kind, step.count) {
                (StepKind::Bytes { .. }, Some(Count::Fixed(size))) => self.slots.push(Slot::Bytes(size)),
                (StepKind::Bytes { .. }, _) => self.slots.push(Slot::Bytes(0)),
                (StepKind::Number(_), None) => self.slots.push(Slot::Zero),
                (StepKind::Structure(_), None) => {
                    self.append(level(fields), &format!("{path}."), names, used)?;
                }
                (_, Some(count)) => {
                    // A list of any length has the elements that are named.
                    let named =
                        names.iter().filter_map(|name| name.strip_prefix(path.as_str())?.strip_prefix('['));
                    let last = named.filter_map(|rest| rest.split(']').next()?.parse::<usize>().ok()).max();
                    let count = match count {
                        Count::Fixed(count) => count,
                        _ => last.map_or(0, |last| last.saturating_add(1)),
                    };
                    if count > MAX_ITEMS {
                        return Err(format!("{path}: more than {MAX_ITEMS} values"));
                    }
                    self.slots.push(Slot::List(count));
                    for element in 0..count {
                        let path = format!("{path}[{element}]");
                        if matches!(step.kind, StepKind::Structure(_)) {
                            self.append(level(fields), &format!("{path}."), names, used)?;
                        } else {
                            let number = names.iter().position(|name| *name == path);
                            if let Some(used) = number.and_then(|number| used.get_mut(number)) {
                                *used = true;
                            }
                            self.slots.push(number.map_or(Slot::Zero, Slot::Given));
                        }
                        if self.slots.len() >= MAX_ITEMS {
                            return Err(format!("{path}: more than {MAX_ITEMS} values"));
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

impl Step {
    /// Whether there are messages without it.
    pub(super) fn may_be_missing(&self) -> bool {
        self.is_optional
            || !self.when.is_empty()
            || self.condition.is_some()
            || self.empty != EmptyWord::Never
    }
}

/// `name` or `name[3]`.
fn indexed(part: &str) -> Option<(&str, Option<usize>)> {
    let Some((name, index)) = part.split_once('[') else { return Some((part, None)) };
    Some((name, Some(index.strip_suffix(']')?.parse().ok()?)))
}

/// The item behind a field's.
fn skip(step: &Step, fields: &[Step], items: &[Item], at: usize) -> usize {
    if !step.has_item() {
        return at;
    }
    match (items.get(at), &step.kind, step.count) {
        // A structure that is there has no item of its own: it is its first field that is missing.
        (Some(Item::Missing), StepKind::Structure(_), None) if !step.may_be_missing() => {
            skip_all(fields, items, at)
        }
        (Some(Item::Missing) | None, ..) => at + 1,
        (Some(Item::List(count)), StepKind::Structure(_), Some(_)) => {
            (0..*count).fold(at + 1, |at, _| skip_all(fields, items, at))
        }
        (Some(Item::List(count)), ..) => at + 1 + count,
        (_, StepKind::Structure(_), _) => skip_all(fields, items, at),
        _ => at + 1,
    }
}

fn skip_all(steps: &[Step], items: &[Item], at: usize) -> usize {
    level(steps).fold(at, |at, (step, fields)| skip(step, fields, items, at))
}

fn find<'s>(
    steps: impl Iterator<Item = (&'s Step, &'s [Step])>,
    items: &[Item],
    mut at: usize,
    segments: &[Segment],
    take: &mut dyn FnMut(Item),
) {
    let Some((segment, rest)) = segments.split_first() else { return };
    for (number, (step, fields)) in steps.enumerate() {
        if number != segment.step {
            at = skip(step, fields, items, at);
            continue;
        }
        match (items.get(at), &step.kind, step.count) {
            (Some(Item::Missing), StepKind::Structure(_), None) if !step.may_be_missing() => {
                find(level(fields), items, at, rest, take);
            }
            (Some(Item::Missing) | None, ..) => {}
            (Some(Item::List(count)), StepKind::Structure(_), Some(_)) => {
                let mut at = at + 1;
                for element in 0..*count {
                    if segment.index.is_none_or(|index| index == element) {
                        find(level(fields), items, at, rest, take);
                    }
                    at = skip_all(fields, items, at);
                }
            }
            (Some(Item::List(count)), ..) => {
                let elements = items.get(at + 1..).and_then(|rest| rest.get(..*count)).unwrap_or_default();
                match segment.index {
                    Some(index) => elements.get(index).copied().into_iter().for_each(take),
                    None => elements.iter().copied().for_each(take),
                }
            }
            (_, StepKind::Structure(_), _) => find(level(fields), items, at, rest, take),
            (Some(item), ..) => take(*item),
        }
        return;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Protocol;
    use crate::model::Side;

    const TEXT: &str = "
protocol: pack
title: A pack of batteries
source: a test
link: { serial: 9600 }
frame:
  cut: { size: size, counts: frame }
  fields:
    - { name: size, type: u8, is: size }
    - { name: number, type: u8, is: sequence }
    - { name: command, type: u8, is: code }
    - { name: data, is: body }
messages:
  - name: state
    code: 1
    from: server
    meaning: all cells
    fields:
      - { name: flags, type: u8, codes: flags }
      - { name: cells, type: 'cell[u8]' }
      - { name: currents, type: 'i8[2]', unit: A, scale: 0.5 }
      - { name: place, type: place }
      - { name: name, type: 'text[*]' }
  - name: set
    code: 2
    meaning: limits
    fields:
      - { name: limits, type: 'u8[2]' }
      - { name: place, type: place }
      - { name: name, type: 'text[3]' }
      - { name: more, type: u8, optional: true }
types:
  - { name: cell, fields: [{ name: voltage, type: u8, unit: V, scale: 0.5 }, { name: hot, type: u8 }] }
  - { name: place, fields: [{ name: row, type: u8 }, { name: column, type: u8 }] }
  - { name: flags, codes: { fine: 0, fault: 1 } }
";

    fn codec() -> Codec {
        Codec::new(Protocol::read(TEXT).unwrap()).unwrap()
    }

    #[test]
    fn values_are_found_by_name() {
        let codec = codec();
        let frame = [16, 9, 1, 1, 2, 120, 0, 121, 1, 0xfe, 4, 7, 8, b'a', b'b', b'c'];
        let mut values = Values::default();
        let message = codec.decode(&frame, Side::Server, None, &mut values).unwrap();
        let found = |text: &str| {
            let path = codec.path(message, text).unwrap();
            let mut all = Vec::new();
            codec.find(message, &values, &path, &mut |item| match item {
                Item::Number(number) => all.push(number.to_string()),
                item => all.push(String::from_utf8_lossy(values.bytes(item)).into_owned()),
            });
            all.join(" ")
        };
        for (text, expected) in [
            ("number", "9"),
            ("flags", "1"),
            ("cells.voltage", "60 60.5"),
            ("cells[1].hot", "1"),
            ("cells[2].hot", ""),
            ("currents", "-1 2"),
            ("currents[1]", "2"),
            ("place.column", "8"),
            ("name", "abc"),
        ] {
            assert_eq!(found(text), expected, "{text}");
        }
        let flags = codec.path(message, "flags").unwrap();
        assert_eq!(codec.meaning(message, &flags, 1), Some("fault"));
        assert_eq!(codec.number_at(message, &values, &flags), Some(Number::Whole(1)));
        assert_eq!(codec.sequence(message), Some(codec.path(message, "number").unwrap()));
        for (text, expected) in [
            ("flag", "there is no field flag; did you mean 'flags'?"),
            ("place", "place has fields: place.row is one of them"),
            ("flags.a", "flags has no fields"),
            ("flags[0]", "flags is not a list"),
            ("currents[2]", "currents has 2 elements, from currents[0] on"),
            ("currents[x]", "'currents[x]' is not a name or name[number]"),
            ("size", "size is always the same: it has no value to ask for"),
        ] {
            assert_eq!(codec.path(message, text).unwrap_err(), expected, "{text}");
        }
    }

    #[test]
    fn values_are_filled_in_by_name() {
        let codec = codec();
        let message = codec.message_named("set").unwrap();
        let filling = codec.filling(message, &["place.row", "limits[1]", "name", "number"]).unwrap();
        let given = |number| match number {
            2 => Given::Bytes(b"ab"),
            number => Given::Number(Number::Whole(number as i128 + 5)),
        };
        let (mut values, mut frame) = (Values::default(), Vec::new());
        codec.fill(&filling, given, None, &mut values);
        codec.encode(message, &mut values, &mut frame).unwrap();
        assert_eq!(frame, [10, 8, 2, 0, 6, 5, 0, b'a', b'b', 0]);
        let filling = codec.filling(message, &["limits", "more"]).unwrap();
        let numbers = [Number::Whole(3), Number::Whole(4)];
        let given = |number| if number == 0 { Given::List(&numbers) } else { Given::Number(numbers[0]) };
        frame.clear();
        codec.fill(&filling, given, None, &mut values);
        codec.encode(message, &mut values, &mut frame).unwrap();
        assert_eq!(frame, [11, 0, 2, 3, 4, 0, 0, 0, 0, 0, 3]);
        assert!(codec.filling(message, &["limit"]).unwrap_err().contains("did you mean 'limits'"));
    }
}

//! The description of one node of the bus.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::layout::{MAX_DATA, Place};
use super::multiplex::{Condition, conditions, exclude};
use super::names::{Unique, field_name, number, one_line, quoted, snake_case};
use super::{Dbc, DbcError, DbcMessage, MAX_SIGNALS, Notes, Signal, is_node};
use crate::codec::Codec;
use crate::model::Protocol;

/// Maximum size of a description, bytes: that of `dragoman bridge`.
const MAX_TEXT: usize = 1 << 20;
/// Characters of a comment.
const MAX_COMMENT: usize = 200;
/// Bit rate that is written if the file does not say one.
const BIT_RATE: u32 = 500_000;

/// What is described.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Name of the protocol.
    pub name: &'a str,
    /// Name of the file, for people.
    pub file: &'a str,
    /// The node that is the machine: what it sends comes from the machine. `None`: the file names no senders.
    pub machine: Option<&'a str>,
}

/// A description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Its text.
    pub text: String,
    /// What was left out, and why.
    pub notes: Notes,
}

/// Writes the description of a node.
///
/// # Errors
/// The node is not there, or not named; a signal is not in its frame; too many messages for a description.
pub fn describe(dbc: &Dbc, options: Options<'_>) -> Result<Imported, DbcError> {
    check_machine(dbc, options.machine)?;
    let mut writer = Writer { notes: dbc.notes.clone(), ..Writer::default() };
    let mut others = BTreeSet::new();
    for message in dbc.messages.iter().filter(|message| !message.is_none()) {
        match is_from_machine(message, options.machine) {
            Some(is_from) => writer.message(message, is_from)?,
            None => {
                others.insert(message.name.as_str());
            }
        }
        if writer.messages.len() + writer.types.len() > MAX_TEXT {
            let reason = format!(
                "a description of more than {MAX_TEXT} bytes, which is the maximum; leave messages out of the file"
            );
            return Err(DbcError { line: None, reason });
        }
    }
    if let Some(first) = others.first() {
        let more = others.len() - 1;
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        writer.notes.add(format!("left out: {first}{more}: neither from the machine nor for it"));
    }
    if writer.messages.is_empty() {
        return Err(DbcError { line: None, reason: "the file has no messages of the machine".to_owned() });
    }
    let text = writer.finish(dbc, options);
    let read = Protocol::read(&text).map_err(|error| error.to_string());
    read.and_then(|protocol| Codec::new(protocol).map_err(|error| error.to_string())).map_err(|reason| {
        let reason =
            dragoman_text::line(&format!("the description of the file is wrong: {reason}")).into_owned();
        DbcError { line: None, reason }
    })?;
    Ok(Imported { text, notes: writer.notes })
}

/// Whether the machine is a node of the file.
fn check_machine(dbc: &Dbc, machine: Option<&str>) -> Result<(), DbcError> {
    let names = dbc.node_names();
    let wrong =
        |reason: String| Err(DbcError { line: None, reason: dragoman_text::line(&reason).into_owned() });
    let all = || names.iter().copied().collect::<Vec<_>>().join(", ");
    match machine {
        Some(machine) if !names.contains(machine) => {
            let machine = dragoman_text::excerpt(machine);
            let hint = dragoman_text::hint(&machine, names.iter().copied());
            wrong(format!(
                "there is no node {machine}{hint}; the file has {}",
                if names.is_empty() { "none".to_owned() } else { all() }
            ))
        }
        None if dbc.messages.iter().any(|message| message.named_senders().next().is_some()) => {
            wrong(format!("which node is the machine? --machine NODE; the file has {}", all()))
        }
        _ => Ok(()),
    }
}

/// Whether the machine sends a message; `None` if it neither sends nor receives it.
fn is_from_machine(message: &DbcMessage, machine: Option<&str>) -> Option<bool> {
    let Some(machine) = machine else { return Some(true) };
    if message.named_senders().any(|name| name == machine) {
        return Some(true);
    }
    let mut receivers =
        message.signals.iter().flat_map(|signal| &signal.receivers).filter(|name| is_node(name)).peekable();
    let is_for_all = receivers.peek().is_none();
    (is_for_all || receivers.any(|name| name == machine)).then_some(false)
}

#[derive(Default)]
struct Writer {
    messages: String,
    types: String,
    message_names: Unique,
    type_names: Unique,
    /// The names of types by the names of their signals and their content.
    known: BTreeMap<(String, String), String>,
    /// Signals of more than one byte with the most significant byte first, and with the least.
    orders: [usize; 2],
    notes: Notes,
}

/// A signal of a message that is described.
struct Field<'a> {
    signal: &'a Signal,
    number: usize,
    place: Place,
    conditions: Vec<Condition>,
}

impl Writer {
    fn message(&mut self, message: &DbcMessage, is_from_machine: bool) -> Result<(), DbcError> {
        if message.size > MAX_DATA || message.signals.len() > MAX_SIGNALS {
            let reason = if message.size > MAX_DATA {
                format!("its {} bytes need CAN FD or several frames", message.size)
            } else {
                format!("{} signals; at most {MAX_SIGNALS} are possible", message.signals.len())
            };
            self.notes.add(format!("line {}: left out: {}: {reason}", message.line, message.name));
            return Ok(());
        }
        let fields = self.fields(message)?;
        let mut names = Unique::default();
        let named: BTreeMap<usize, String> =
            fields.iter().map(|field| (field.number, names.name(field_name(&field.signal.name)))).collect();
        let name = self.message_names.name(snake_case(&message.name));
        let mut meaning = message.name.clone();
        if !message.comment.trim().is_empty() {
            meaning += &format!(": {}", one_line(&message.comment, MAX_COMMENT));
        }
        if let Some(period) = message.period_ms {
            meaning += &format!(", every {} ms", number(period));
        }
        // Writing to a text cannot fail.
        let _ = writeln!(self.messages, "  - name: {}\n    code: {:#X}", quoted(&name), message.id);
        if is_from_machine {
            self.messages += "    from: server\n";
        }
        let _ = writeln!(self.messages, "    meaning: {}", quoted(&meaning));
        if message.size > 0 {
            self.messages += "    fields:\n";
        }
        let mut line = Lines { at: Some(0), ..Lines::default() };
        for field in &fields {
            let names = Names {
                message: &name,
                field: named.get(&field.number).map_or("", String::as_str),
                all: &named,
            };
            let text = self.field(field, &names, &mut line);
            let _ = writeln!(self.messages, "      - {{ {text} }}");
        }
        if line.certain < message.size {
            let unused = names.name("unused".to_owned());
            let bits = if line.possible < message.size { "" } else { ", bits: [0, 8]" };
            let _ = writeln!(
                self.messages,
                "      - {{ name: {unused}, type: u8, at: {}{bits}, meaning: the last byte of the frame }}",
                message.size - 1
            );
        }
        Ok(())
    }

    /// The signals that can be described, in the order of their fields: those that others depend on first.
    fn fields<'a>(&mut self, message: &'a DbcMessage) -> Result<Vec<Field<'a>>, DbcError> {
        let mut fields: Vec<Field<'a>> = Vec::new();
        for (number, signal) in message.signals.iter().enumerate() {
            let place = Place::of(message, signal)?;
            if signal.factor == 0.0 {
                let reason = format!("{}: {}: the factor is 0", message.name, signal.name);
                return Err(DbcError::at(signal.line, reason));
            }
            match conditions(message, signal) {
                Err(reason) => self.left_out(message, signal, &reason),
                Ok(_) if signal.is_float && !place.is_whole() => {
                    self.left_out(message, signal, "a floating-point number that does not begin with a byte");
                }
                Ok(conditions) => fields.push(Field { signal, number, place, conditions }),
            }
        }
        fields.sort_by_key(|field| {
            let place = &field.place;
            let depth = if field.signal.is_switch { field.conditions.len() } else { MAX_SIGNALS };
            (depth, place.first, place.bytes, place.is_big_endian, place.lowest, field.number)
        });
        let mut kept: Vec<Field<'a>> = Vec::new();
        for field in fields {
            let mask = field.place.mask();
            let other = kept.iter().find(|other| {
                other.place.mask() & mask != 0 && !exclude(&other.conditions, &field.conditions)
            });
            let switch =
                field.conditions.first().filter(|one| !kept.iter().any(|other| other.number == one.switch));
            match (other, switch) {
                (Some(other), _) => {
                    self.left_out(
                        message,
                        field.signal,
                        &format!("{} has some of its bits", other.signal.name),
                    );
                }
                (None, Some(_)) => self.left_out(message, field.signal, "its switch is left out"),
                (None, None) => kept.push(field),
            }
        }
        Ok(kept)
    }

    fn left_out(&mut self, message: &DbcMessage, signal: &Signal, reason: &str) {
        self.notes
            .add(format!("line {}: left out: {}: {}: {reason}", signal.line, message.name, signal.name));
    }

    /// The keys of a field.
    fn field(&mut self, field: &Field<'_>, names: &Names<'_>, line: &mut Lines) -> String {
        let Field { signal, place, .. } = field;
        let letter = if signal.is_float {
            'f'
        } else if signal.is_signed {
            'i'
        } else {
            'u'
        };
        let mut text = format!("name: {}, type: {letter}{}", quoted(names.field), 8 * place.bytes);
        if place.bytes > 1 {
            let [big, little] = &mut self.orders;
            *(if place.is_big_endian { big } else { little }) += 1;
            // What is the order of most signals is known at the end.
            text += if place.is_big_endian { BIG } else { LITTLE };
        }
        let is_continued = line.last.as_ref().is_some_and(|(before, conditions)| {
            place.continues(before) && (conditions.is_empty() || *conditions == field.conditions)
        });
        let is_over = line
            .all
            .iter()
            .any(|(other, conditions)| other.end() > place.first && !exclude(conditions, &field.conditions));
        let has_bits = !place.is_whole() || is_over;
        // Without an offset, bits that follow bits would be taken for those of the same number.
        let is_ambiguous = has_bits && line.last.is_some();
        if !is_continued && (line.at != Some(place.first) || is_ambiguous) {
            text += &format!(", at: {}", place.first);
        }
        if has_bits {
            text += &format!(", bits: [{}, {}]", place.lowest, place.length);
        }
        line.push(field, has_bits);
        if let Some(condition) = field.conditions.first() {
            let switch = names.all.get(&condition.switch).map_or("", String::as_str);
            text += &format!(", when: {}", when(switch, &condition.ranges));
        }
        if !signal.unit.trim().is_empty() {
            text += &format!(", unit: {}", quoted(&one_line(&signal.unit, MAX_COMMENT)));
        }
        if signal.factor != 1.0 || signal.offset != 0.0 {
            text += &format!(", scale: {}", number(signal.factor));
        }
        if signal.offset != 0.0 {
            text += &format!(", offset: {}", number(signal.offset));
        }
        if let Some(codes) = self.codes(field, names) {
            text += &format!(", codes: {}", quoted(&codes));
        }
        let mut meaning = one_line(&signal.comment, MAX_COMMENT);
        if signal.minimum < signal.maximum && [signal.minimum, signal.maximum] != natural_range(signal) {
            let separator = if meaning.is_empty() { "" } else { "; " };
            meaning += &format!("{separator}{} to {}", number(signal.minimum), number(signal.maximum));
        }
        if !meaning.is_empty() {
            text += &format!(", meaning: {}", quoted(&meaning));
        }
        text
    }

    /// The name of the type with the names of a signal's numbers.
    fn codes(&mut self, field: &Field<'_>, names: &Names<'_>) -> Option<String> {
        if field.signal.values.is_empty() {
            return None;
        }
        if field.signal.is_float {
            let reason = "the names of values of a floating-point number are left out";
            self.notes
                .add(format!("line {}: {}: {}: {reason}", field.signal.line, names.message, names.field));
            return None;
        }
        let (mut unique, mut seen, mut content) = (Unique::default(), BTreeSet::new(), String::new());
        for (code, text) in field.signal.values.iter() {
            if !seen.insert(code) {
                continue;
            }
            let wanted = match snake_case(text).as_str() {
                "unnamed" => format!("value_{code}").replace('-', "minus_"),
                name => name.to_owned(),
            };
            let name = unique.name_or(wanted.clone(), || format!("{wanted}_{code}").replace('-', "minus_"));
            let separator = if content.is_empty() { "" } else { ", " };
            // Writing to a text cannot fail.
            let _ = if name.replace('_', " ") == text.to_lowercase() || name == text.to_lowercase() {
                write!(content, "{separator}{}: {code}", quoted(&name))
            } else {
                let text = one_line(text, MAX_COMMENT);
                write!(content, "{separator}{}: {{ code: {code}, text: {} }}", quoted(&name), quoted(&text))
            };
        }
        let key = (names.field.to_owned(), content);
        if let Some(known) = self.known.get(&key) {
            return Some(known.clone());
        }
        let (message, field) = (names.message, names.field);
        let name = self.type_names.name_or(field.to_owned(), || format!("{message}_{field}"));
        let _ = writeln!(self.types, "  - {{ name: {}, codes: {{ {} }} }}", quoted(&name), key.1);
        self.known.insert(key, name.clone());
        Some(name)
    }

    fn finish(&mut self, dbc: &Dbc, options: Options<'_>) -> String {
        let [big, little] = self.orders;
        let (order, most, few) = if big > little { ("big", BIG, LITTLE) } else { ("little", LITTLE, BIG) };
        let other = if big > little { ", order: little" } else { ", order: big" };
        let messages = self.messages.replace(most, "").replace(few, other);
        let machine = options.machine.map(|name| one_line(name, MAX_COMMENT));
        let comment = dbc.nodes.iter().find(|(name, _)| Some(name.as_str()) == options.machine);
        let title = match comment.map(|(_, comment)| one_line(comment, MAX_COMMENT)) {
            Some(comment) if !comment.is_empty() => comment,
            _ => format!("{} on a CAN bus", machine.as_deref().unwrap_or(options.name)),
        };
        let mut source = one_line(options.file, MAX_COMMENT);
        if let Some(machine) = &machine {
            source += &format!(", node {machine}");
        }
        if !dbc.version.trim().is_empty() {
            source += &format!(", version {}", one_line(&dbc.version, MAX_COMMENT));
        }
        let rate = match dbc.bit_rate {
            Some(rate) => format!("link: {{ can: {rate} }}"),
            None => format!("# The DBC file does not say the bit rate.\nlink: {{ can: {BIT_RATE} }}"),
        };
        let types = if self.types.is_empty() { String::new() } else { format!("\ntypes:\n{}", self.types) };
        format!(
            "# Made of a DBC file. What it does not say is to be added: the role of messages that start a motion or stop it,\n\
             # counters (is: sequence) and check sums (is: checksum), and the sections bridge and serve.\n\
             protocol: {}\ntitle: {}\nsource: {}\n{rate}\norder: {order}\nframe:\n  cut: {{ can: true }}\n  \
             fields:\n    - {{ name: data, is: body }}\n\nmessages:\n{messages}{types}",
            quoted(options.name),
            quoted(&title),
            quoted(&source),
        )
    }
}

/// The values that the bits of a signal can have.
#[allow(clippy::cast_precision_loss, reason = "to compare it with what people write")]
fn natural_range(signal: &Signal) -> [f64; 2] {
    let bits = u32::try_from(signal.length).unwrap_or(64).clamp(1, 64);
    let numbers = if signal.is_signed {
        [-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1]
    } else {
        [0, (1_i128 << bits) - 1]
    };
    let range = numbers.map(|number| number as f64 * signal.factor + signal.offset);
    if signal.is_float { [f64::NEG_INFINITY, f64::INFINITY] } else { range }
}

/// Stand for the orders of bytes until that of most signals is known; no name has these characters.
const BIG: &str = "\u{1}";
const LITTLE: &str = "\u{2}";

struct Names<'a> {
    message: &'a str,
    field: &'a str,
    /// Those of all signals, by their numbers.
    all: &'a BTreeMap<usize, String>,
}

/// The fields of a message up to now.
#[derive(Default)]
struct Lines {
    /// The offset of the next field, if it is certain.
    at: Option<usize>,
    /// The last one, if it has bits.
    last: Option<(Place, Vec<Condition>)>,
    all: Vec<(Place, Vec<Condition>)>,
    /// Ends of fields that are always there, and of all.
    certain: usize,
    possible: usize,
}

impl Lines {
    fn push(&mut self, field: &Field<'_>, has_bits: bool) {
        let (place, conditions) = (field.place, field.conditions.clone());
        self.possible = self.possible.max(place.end());
        self.at = None;
        if conditions.is_empty() {
            self.certain = self.certain.max(place.end());
            self.at = (self.certain == self.possible && place.end() == self.possible).then_some(self.certain);
        }
        self.last = has_bits.then(|| (place, conditions.clone()));
        self.all.push((place, conditions));
    }
}

/// The condition of a field.
fn when(switch: &str, ranges: &[[u64; 2]]) -> String {
    if let [[low, high]] = ranges
        && low == high
    {
        return format!("{{ {}: {low} }}", quoted(switch));
    }
    let range = |[low, high]: &[u64; 2]| {
        if low == high {
            format!("({switch} == {low})")
        } else {
            format!("({switch} >= {low}) & ({switch} <= {high})")
        }
    };
    let all: Vec<String> = ranges.iter().map(range).collect();
    format!("\"={}\"", all.join(" | "))
}

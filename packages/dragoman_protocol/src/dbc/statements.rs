//! The statements of a DBC file.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::words::{Word, WordKind, Words, wrong};
use super::{Dbc, DbcError, DbcMessage, EXTENDED, MAX_ID, MAX_NODES, Signal, is_node};

/// The words with which statements begin. Those that nothing is read of are only skipped.
const STATEMENTS: [&str; 32] = [
    "VERSION",
    "NS_",
    "BS_",
    "BU_",
    "BO_",
    "SG_",
    "CM_",
    "VAL_",
    "VAL_TABLE_",
    "BA_",
    "BO_TX_BU_",
    "SIG_VALTYPE_",
    "SG_MUL_VAL_",
    "BA_DEF_",
    "BA_DEF_DEF_",
    "BA_DEF_REL_",
    "BA_DEF_DEF_REL_",
    "BA_REL_",
    "BA_DEF_SGTYPE_",
    "BA_SGTYPE_",
    "EV_",
    "EV_DATA_",
    "ENVVAR_DATA_",
    "SGTYPE_",
    "SGTYPE_VAL_",
    "SIG_TYPE_REF_",
    "SIG_GROUP_",
    "SIGTYPE_VALTYPE_",
    "CAT_DEF_",
    "CAT_",
    "FILTER",
    "NS_DESC_",
];
/// The message that tools write for signals without a message.
const NO_MESSAGE: &str = "VECTOR__INDEPENDENT_SIG_MSG";

/// Reads a file.
pub(super) fn read(text: &str) -> Result<Dbc, DbcError> {
    let mut reader = Reader {
        words: Words::new(text),
        line: 1,
        dbc: Dbc::default(),
        by_id: BTreeMap::new(),
        by_name: BTreeMap::new(),
        signals: BTreeMap::new(),
        tables: BTreeMap::new(),
    };
    reader.run()?;
    Ok(reader.dbc)
}

struct Reader<'a> {
    words: Words<'a>,
    /// That of the statement.
    line: usize,
    dbc: Dbc,
    /// Messages by their identifiers and names.
    by_id: BTreeMap<u32, usize>,
    by_name: BTreeMap<&'a str, usize>,
    /// Signals by the numbers of their messages and their names.
    signals: BTreeMap<(usize, &'a str), usize>,
    /// Tables of values with names.
    tables: BTreeMap<&'a str, Arc<[(i64, String)]>>,
}

impl<'a> Reader<'a> {
    fn run(&mut self) -> Result<(), DbcError> {
        while let Some(word) = self.words.next()? {
            self.line = word.line;
            if word.kind == WordKind::Mark && word.text == ";" {
                continue;
            }
            match word.text {
                _ if word.kind != WordKind::Plain => return Err(self.not_a_statement(word)),
                "VERSION" => {
                    let version = self.words.text("the version")?;
                    version.clone_into(&mut self.dbc.version);
                }
                "NS_" => self.skip_symbols()?,
                "BS_" => self.bit_timing()?,
                "BU_" => self.nodes()?,
                "BO_" => self.message()?,
                "SG_" => self.signal()?,
                "CM_" => self.comment()?,
                "VAL_" => self.values()?,
                "VAL_TABLE_" => {
                    let name = self.words.plain("the name of the table")?.text;
                    let values = self.named_values()?;
                    self.tables.insert(name, values);
                }
                "BA_" => self.attribute()?,
                "BO_TX_BU_" => self.senders()?,
                "SIG_VALTYPE_" => self.value_type()?,
                "SG_MUL_VAL_" => self.multiplex()?,
                other if STATEMENTS.contains(&other) => self.skip()?,
                _ => return Err(self.not_a_statement(word)),
            }
        }
        Ok(())
    }

    fn not_a_statement(&self, word: Word<'_>) -> DbcError {
        let text = dragoman_text::excerpt(word.text);
        let hint = dragoman_text::hint(&text, STATEMENTS.iter().copied());
        DbcError::at(word.line, format!("'{text}' does not begin a statement of a DBC file{hint}"))
    }

    /// The end of a statement that has one.
    fn end(&mut self) -> Result<(), DbcError> {
        self.words.mark(";")
    }

    /// Up to the end of the statement.
    fn skip(&mut self) -> Result<(), DbcError> {
        loop {
            match self.words.next()? {
                Some(word) if word.kind == WordKind::Mark && word.text == ";" => return Ok(()),
                Some(word) if !begins_statement(&word) => {}
                _ => return Err(DbcError::at(self.line, "the statement has no ; at its end")),
            }
        }
    }

    /// The symbols behind `NS_`, each in a line of its own.
    fn skip_symbols(&mut self) -> Result<(), DbcError> {
        self.words.mark(":")?;
        loop {
            let mut ahead = self.words.clone();
            let Some(word) = ahead.next()? else { return Ok(()) };
            let next = ahead.peek()?;
            if word.is_first && next.is_some_and(|next| !next.is_first) && begins_statement(&word) {
                return Ok(());
            }
            self.words = ahead;
        }
    }

    fn bit_timing(&mut self) -> Result<(), DbcError> {
        self.words.mark(":")?;
        let Some(next) = self.words.peek()?.filter(|next| !next.is_first) else { return Ok(()) };
        if next.kind == WordKind::Plain {
            self.dbc.bit_rate = Some(self.words.whole("the bit rate")?).filter(|rate| *rate > 0);
        }
        while self.words.peek()?.is_some_and(|next| !next.is_first) {
            self.words.next()?;
        }
        Ok(())
    }

    fn nodes(&mut self) -> Result<(), DbcError> {
        self.words.mark(":")?;
        while let Some(next) = self.words.peek()?.filter(|next| !begins_statement(next)) {
            if next.kind == WordKind::Mark && next.text == ";" {
                return Ok(());
            }
            let name = self.words.plain("a node")?.text;
            if self.dbc.nodes.len() >= MAX_NODES {
                return Err(DbcError::at(next.line, format!("more than {MAX_NODES} nodes")));
            }
            self.dbc.nodes.push((name.to_owned(), String::new()));
        }
        Ok(())
    }

    /// An identifier, with bit 31 if it has 29 bits.
    fn id(&mut self) -> Result<u32, DbcError> {
        self.words.whole("an identifier")
    }

    fn message(&mut self) -> Result<(), DbcError> {
        let line = self.line;
        let id = self.id()?;
        let name = self.words.plain("the name of the message")?.text;
        self.words.mark(":")?;
        let size = self.words.whole("the size of the message")?;
        let sender = self.words.plain("the sender")?.text;
        let [extended, standard] = MAX_ID;
        if name != NO_MESSAGE && id & EXTENDED == 0 && id > standard {
            let reason = format!(
                "{name}: the identifier {id} has more than 11 bits; one of 29 bits is written with 2147483648 added"
            );
            return Err(DbcError::at(line, reason));
        }
        if name != NO_MESSAGE && id & !EXTENDED > extended {
            return Err(DbcError::at(line, format!("{name}: the identifier {id} has more than 29 bits")));
        }
        let number = self.dbc.messages.len();
        for (before, what) in
            [(self.by_id.insert(id, number), "identifier"), (self.by_name.insert(name, number), "name")]
        {
            if let Some(before) = before.and_then(|before| self.dbc.messages.get(before)) {
                let reason = format!("{name}: {} in line {} has the same {what}", before.name, before.line);
                return Err(DbcError::at(line, reason));
            }
        }
        self.dbc.messages.push(DbcMessage {
            line,
            id,
            name: name.to_owned(),
            size,
            senders: vec![sender.to_owned()],
            ..DbcMessage::default()
        });
        Ok(())
    }

    fn signal(&mut self) -> Result<(), DbcError> {
        let line = self.line;
        let name = self.words.plain("the name of the signal")?.text;
        let mut signal = Signal { line, name: name.to_owned(), ..Signal::default() };
        if !self.words.has_mark(":")? {
            let word = self.words.plain("M, or m with a number")?;
            (signal.is_switch, signal.switched_by) = multiplexing(word)?;
            self.words.mark(":")?;
        }
        signal.start = self.words.whole("the first bit")?;
        self.words.mark("|")?;
        signal.length = self.words.whole("the number of bits")?;
        self.words.mark("@")?;
        (signal.is_big_endian, signal.is_signed) = self.order_and_sign()?;
        self.words.mark("(")?;
        signal.factor = self.words.number("the factor")?;
        self.words.mark(",")?;
        signal.offset = self.words.number("the offset")?;
        self.words.mark(")")?;
        self.words.mark("[")?;
        signal.minimum = self.words.number("the minimum")?;
        self.words.mark("|")?;
        signal.maximum = self.words.number("the maximum")?;
        self.words.mark("]")?;
        self.words.text("the unit")?.clone_into(&mut signal.unit);
        while let Some(next) = self.words.peek()?.filter(|next| !next.is_first) {
            self.words.next()?;
            match next.kind {
                WordKind::Plain => signal.receivers.push(next.text.to_owned()),
                WordKind::Mark if next.text == "," || next.text == ";" => {}
                _ => return Err(wrong(next, "a receiver")),
            }
        }
        let number = self.dbc.messages.len().checked_sub(1);
        let message = number.and_then(|number| self.dbc.messages.get_mut(number));
        let (Some(number), Some(message)) = (number, message) else {
            return Err(DbcError::at(line, format!("{name}: no message is in front of the signal")));
        };
        if self.signals.insert((number, name), message.signals.len()).is_some() {
            return Err(DbcError::at(line, format!("{}: two signals are called {name}", message.name)));
        }
        message.signals.push(signal);
        Ok(())
    }

    /// Such as `1+`: little-endian, no sign.
    fn order_and_sign(&mut self) -> Result<(bool, bool), DbcError> {
        let word = self.words.plain("order and sign")?;
        let sign = if word.text.len() == 1 {
            self.words.plain("+ or -")?.text
        } else {
            word.text.get(1..).unwrap_or_default()
        };
        let is_big_endian = match word.text.chars().next() {
            Some('0') => true,
            Some('1') => false,
            _ => return Err(wrong(word, "0 or 1 for the order of bytes")),
        };
        match sign {
            "+" => Ok((is_big_endian, false)),
            "-" => Ok((is_big_endian, true)),
            _ => Err(wrong(word, "+ or - for the sign")),
        }
    }

    fn comment(&mut self) -> Result<(), DbcError> {
        let word = self.words.word("a comment")?;
        match word.text {
            _ if word.kind == WordKind::Quoted => {}
            "BU_" => {
                let name = self.words.plain("a node")?.text;
                let comment = self.words.text("the comment")?;
                match self.dbc.nodes.iter_mut().find(|(node, _)| node == name) {
                    Some((_, place)) => comment.clone_into(place),
                    None => self.not_there(&format!("the comment of the node {name}")),
                }
            }
            "BO_" => {
                let id = self.id()?;
                let comment = self.words.text("the comment")?;
                match self.found(id) {
                    Some(message) => comment.clone_into(&mut message.comment),
                    None => self.not_there(&format!("the comment of message {id}")),
                }
            }
            "SG_" => {
                let (id, name) = (self.id()?, self.words.plain("a signal")?.text);
                let comment = self.words.text("the comment")?;
                match self.found_signal(id, name) {
                    Some(signal) => comment.clone_into(&mut signal.comment),
                    None => self.not_there(&format!("the comment of {name} in message {id}")),
                }
            }
            _ => return self.skip(),
        }
        self.end()
    }

    fn values(&mut self) -> Result<(), DbcError> {
        let word = self.words.plain("an identifier")?;
        let Ok(id) = word.text.parse::<u32>() else {
            // Those of an environment variable.
            return self.skip();
        };
        let name = self.words.plain("a signal")?.text;
        let table = self.words.peek()?.filter(|next| next.kind == WordKind::Plain);
        let values = match table.and_then(|next| self.tables.get(next.text)) {
            Some(values) => {
                let values = Arc::clone(values);
                self.words.next()?;
                self.end()?;
                values
            }
            None => self.named_values()?,
        };
        match self.found_signal(id, name) {
            Some(signal) => signal.values = values,
            None => self.not_there(&format!("the names of values of {name} in message {id}")),
        }
        Ok(())
    }

    /// Numbers with names, up to the end of the statement.
    fn named_values(&mut self) -> Result<Arc<[(i64, String)]>, DbcError> {
        let mut values = Vec::new();
        while !self.words.has_mark(";")? {
            let word = self.words.plain("a whole number, or ; at the end")?;
            let whole = word.text.parse().ok().or_else(|| whole_of(word.text));
            let number = whole.ok_or_else(|| wrong(word, "a whole number, or ; at the end"))?;
            values.push((number, self.words.text("a name")?.to_owned()));
        }
        Ok(values.into())
    }

    fn attribute(&mut self) -> Result<(), DbcError> {
        let name = self.words.text("the name of an attribute")?;
        match (name, self.words.peek()?) {
            ("GenMsgCycleTime", Some(next)) if next.text == "BO_" => {
                self.words.next()?;
                let (id, period) = (self.id()?, self.words.number("the time")?);
                if let Some(message) = self.found(id) {
                    message.period_ms = Some(period).filter(|period| *period > 0.0);
                }
                self.end()
            }
            ("Baudrate", Some(next)) if next.kind == WordKind::Plain => {
                let rate = self.words.number("the bit rate")?;
                if rate.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&rate) {
                    self.dbc.bit_rate = format!("{rate:.0}").parse().ok();
                }
                self.end()
            }
            _ => self.skip(),
        }
    }

    fn senders(&mut self) -> Result<(), DbcError> {
        let id = self.id()?;
        self.words.mark(":")?;
        let mut senders = Vec::new();
        while !self.words.has_mark(";")? {
            if !self.words.has_mark(",")? {
                senders.push(self.words.plain("a node, or ; at the end")?.text.to_owned());
            }
        }
        match self.found(id) {
            Some(message) => message.senders.extend(senders),
            None => self.not_there(&format!("the senders of message {id}")),
        }
        Ok(())
    }

    fn value_type(&mut self) -> Result<(), DbcError> {
        let (id, name) = (self.id()?, self.words.plain("a signal")?.text);
        self.words.has_mark(":")?;
        let line = self.line;
        let kind: u8 = self.words.whole("0, 1 or 2")?;
        let bits = match kind {
            0 => None,
            1 => Some(32),
            2 => Some(64),
            _ => return Err(DbcError::at(line, format!("{name}: the type {kind} is not 0, 1 or 2"))),
        };
        match self.found_signal(id, name) {
            Some(signal) => match bits.filter(|bits| *bits != signal.length) {
                Some(bits) => {
                    let reason = format!(
                        "{name} has {} bits, not the {bits} of a floating-point number",
                        signal.length
                    );
                    return Err(DbcError::at(line, reason));
                }
                None => signal.is_float = bits.is_some(),
            },
            None => self.not_there(&format!("the type of {name} in message {id}")),
        }
        self.end()
    }

    fn multiplex(&mut self) -> Result<(), DbcError> {
        let (id, name) = (self.id()?, self.words.plain("a signal")?.text);
        let switch = self.words.plain("a signal")?.text.to_owned();
        let mut ranges = Vec::new();
        let mut text = String::new();
        loop {
            let word = self.words.word("a range such as 1-3")?;
            if word.kind == WordKind::Plain {
                text += word.text;
                continue;
            }
            let ends =
                text.split_once('-').and_then(|(low, high)| Some([low.parse().ok()?, high.parse().ok()?]));
            match (ends.filter(|[low, high]: &[u64; 2]| low <= high), word.text) {
                (Some(range), "," | ";") => ranges.push(range),
                _ => return Err(wrong(word, "a range such as 1-3 in front")),
            }
            text.clear();
            if word.text == ";" {
                break;
            }
        }
        match self.found_signal(id, name) {
            Some(signal) => signal.switch = Some((switch, ranges)),
            None => self.not_there(&format!("the multiplexing of {name} in message {id}")),
        }
        Ok(())
    }

    fn found(&mut self, id: u32) -> Option<&mut DbcMessage> {
        self.by_id.get(&id).and_then(|number| self.dbc.messages.get_mut(*number))
    }

    fn found_signal(&mut self, id: u32, name: &str) -> Option<&mut Signal> {
        let number = *self.by_id.get(&id)?;
        let at = *self.signals.get(&(number, name))?;
        self.dbc.messages.get_mut(number)?.signals.get_mut(at)
    }

    fn not_there(&mut self, what: &str) {
        self.dbc.notes.add(format!("line {}: left out: {what}, which is not there", self.line));
    }
}

impl DbcMessage {
    /// Whether it is none: tools list signals that no message has.
    pub(super) fn is_none(&self) -> bool {
        self.name == NO_MESSAGE
    }

    /// The nodes that send it.
    pub(super) fn named_senders(&self) -> impl Iterator<Item = &str> {
        self.senders.iter().map(String::as_str).filter(|name| is_node(name))
    }
}

fn begins_statement(word: &Word<'_>) -> bool {
    word.is_first && word.kind == WordKind::Plain && STATEMENTS.contains(&word.text)
}

/// `M`, `m3` or `m3M`.
fn multiplexing(word: Word<'_>) -> Result<(bool, Option<u64>), DbcError> {
    let expected = "M, or m with a number";
    let (numbered, is_switch) = match word.text.strip_suffix('M') {
        Some(rest) => (rest, true),
        None => (word.text, false),
    };
    if numbered.is_empty() {
        return Ok((true, None));
    }
    let number = numbered.strip_prefix('m').and_then(|digits| digits.parse().ok());
    number.map(|number| (is_switch, Some(number))).ok_or_else(|| wrong(word, expected))
}

/// A whole number that is written with a point.
fn whole_of(text: &str) -> Option<i64> {
    let number: f64 =
        text.parse().ok().filter(|number: &f64| number.fract() == 0.0 && number.abs() < 1e15)?;
    format!("{number:.0}").parse().ok()
}

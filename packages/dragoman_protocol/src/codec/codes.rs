//! Messages by their codes.

use crate::model::{Code, Message, Side};

/// Messages by their codes.
#[derive(Debug, Default)]
pub(super) struct Codes {
    numbers: Table<u64>,
    /// Texts that fit into a number, which is faster to compare.
    short: Table<u128>,
    texts: Table<Vec<u8>>,
    /// Bytes of the longest text.
    pub(super) longest: usize,
}

/// The messages with one code, by their places in the description.
#[derive(Debug, Default)]
pub(super) struct Coded {
    pub(super) clients: Vec<usize>,
    pub(super) servers: Vec<usize>,
    /// The questions whose answers have it.
    pub(super) answers: Vec<usize>,
}

/// A code in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FoundCode<'a> {
    Number(u64),
    Text(&'a [u8]),
}

/// Rows in the order of their keys.
#[derive(Debug)]
struct Table<K> {
    keys: Vec<K>,
    rows: Vec<Coded>,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Self { keys: Vec::new(), rows: Vec::new() }
    }
}

impl<K: Ord> Table<K> {
    fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&Coded>
    where
        K: std::borrow::Borrow<Q>,
    {
        let at = self.keys.binary_search_by(|one| one.borrow().cmp(key)).ok()?;
        self.rows.get(at)
    }

    fn entry(&mut self, key: K) -> Option<&mut Coded> {
        let at = match self.keys.binary_search(&key) {
            Ok(at) => at,
            Err(at) => {
                self.keys.insert(at, key);
                self.rows.insert(at, Coded::default());
                at
            }
        };
        self.rows.get_mut(at)
    }
}

/// A text of up to 15 bytes as a number; another text is another number.
fn packed(text: &[u8]) -> Option<u128> {
    if text.len() > 15 {
        return None;
    }
    Some(text.iter().fold(1, |number, byte| number << 8 | u128::from(*byte)))
}

impl Codes {
    pub(super) fn find(&self, code: FoundCode<'_>) -> Option<&Coded> {
        match code {
            FoundCode::Number(number) => self.numbers.get(&number),
            FoundCode::Text(text) => match packed(text) {
                Some(number) => self.short.get(&number),
                None => self.texts.get(text),
            },
        }
    }

    /// Adds a message. `is_text`: its code is written with characters.
    pub(super) fn insert(&mut self, message: &Message, number: usize, is_text: bool) {
        for code in std::iter::once(&message.code).chain(&message.also) {
            if let Some(row) = self.entry(code, is_text) {
                match message.from {
                    Side::Client => row.clients.push(number),
                    Side::Server => row.servers.push(number),
                }
            }
        }
        if message.from == Side::Client
            && message.answer.is_some()
            // A bare answer has no code by which it is found.
            && !message.bare
            && let Some(row) = self.entry(message.code_of_answer(), is_text)
        {
            row.answers.push(number);
        }
    }

    fn entry(&mut self, code: &Code, is_text: bool) -> Option<&mut Coded> {
        let text = match code {
            Code::Number(code) if !is_text => return self.numbers.entry(*code),
            Code::Number(code) => code.to_string(),
            Code::Text(code) => code.clone(),
        };
        self.longest = self.longest.max(text.len());
        match packed(text.as_bytes()) {
            Some(number) => self.short.entry(number),
            None => self.texts.entry(text.into_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_all_lengths_are_told_apart() {
        let texts: [&[u8]; 7] = [b"", b"\0", b"\0\0", b"a", b"a\0", b"fifteen letters", b"sixteen letters."];
        for (number, text) in texts.iter().enumerate() {
            assert_eq!(packed(text).is_none(), text.len() == 16);
            assert!(texts.iter().skip(number + 1).all(|other| packed(other) != packed(text)));
        }
    }
}

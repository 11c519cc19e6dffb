//! Finds frames with escapes, byte by byte.
//!
//! Marks cannot occur within such a frame: what is cut off or wrong ends at the next mark.

use super::envelope::{Envelope, Escaping};

/// Takes marks and escapes off.
#[derive(Debug, Clone)]
pub(super) struct Unescaper {
    envelope: Envelope,
    escaping: Escaping,
    /// Maximum size of the content.
    max: usize,
    content: Vec<u8>,
    /// The content is that of a frame that is complete: the next byte begins another one.
    is_complete: bool,
    state: State,
    /// Bytes of the frame up to now; outside of one, of what may become a mark.
    raw: usize,
    /// Bytes of the frame that was complete last.
    last: usize,
    /// The mark of an escape or the first of two digits, whose other part is missing.
    held: Option<u8>,
    /// Bytes of a mark of two bytes or more, up to now.
    matched: usize,
    /// Bytes that are missing in a block of COBS, and whether a zero follows it.
    block: usize,
    is_before_zero: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first mark.
    Outside,
    Inside,
    /// In a frame that is left out.
    Wrong,
}

/// What a byte completes.
enum Token {
    /// Nothing yet.
    Part,
    Start,
    /// A start whose end is seen by this byte, which is content.
    StartBefore(u8),
    End,
    Content(u8),
    /// Neither mark nor content.
    Wrong,
}

/// What a byte has done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    None,
    /// [`Unescaper::content`] is a frame.
    Frame,
    /// So many bytes belong to no frame.
    LeftOut(usize),
}

impl Unescaper {
    /// `None`: the envelope has no escapes.
    pub(super) fn new(envelope: &Envelope, max: usize) -> Option<Self> {
        let escaping = envelope.escaping.clone()?;
        let mut unescaper = Self {
            envelope: envelope.clone(),
            escaping,
            max,
            content: Vec::new(),
            is_complete: false,
            state: State::Outside,
            raw: 0,
            last: 0,
            held: None,
            matched: 0,
            block: 0,
            is_before_zero: false,
        };
        unescaper.reset();
        Some(unescaper)
    }

    /// Forgets what was received.
    pub(super) fn reset(&mut self) {
        (self.raw, self.last, self.matched) = (0, 0, 0);
        self.state = if self.envelope.start.is_empty() { State::Inside } else { State::Outside };
        self.begin();
    }

    pub(super) fn content(&self) -> &[u8] {
        &self.content
    }

    /// Bytes that wait for the rest of their frame.
    pub(super) fn incomplete(&self) -> usize {
        self.raw
    }

    /// Bytes of the frame that was complete last; 0 the next time.
    pub(super) fn take_last(&mut self) -> usize {
        std::mem::take(&mut self.last)
    }

    /// One mark is the end of a frame and the start of the next one.
    fn is_shared(&self) -> bool {
        self.envelope.start == self.envelope.end
    }

    fn begin(&mut self) {
        self.content.clear();
        self.is_complete = false;
        (self.held, self.block, self.is_before_zero) = (None, 0, false);
    }

    /// Takes the next byte.
    pub(super) fn push(&mut self, byte: u8) -> Event {
        if self.is_complete {
            self.begin();
        }
        self.raw += 1;
        match self.token(byte) {
            Token::Part => Event::None,
            Token::Start => self.start(self.envelope.start.len(), None),
            Token::StartBefore(byte) => self.start(self.envelope.start.len() + 1, Some(byte)),
            Token::Content(byte) if self.state == State::Inside => {
                if self.take(byte) {
                    Event::None
                } else {
                    self.wrong()
                }
            }
            Token::Wrong if self.state == State::Inside => self.wrong(),
            Token::Content(_) | Token::Wrong => Event::LeftOut(std::mem::take(&mut self.raw)),
            Token::End => self.end(),
        }
    }

    fn wrong(&mut self) -> Event {
        self.state = State::Wrong;
        Event::LeftOut(std::mem::take(&mut self.raw))
    }

    /// A frame begins, of which so many bytes are known; what was before has no end.
    fn start(&mut self, known: usize, content: Option<u8>) -> Event {
        let before = self.raw.saturating_sub(known);
        self.raw = known;
        self.state = State::Inside;
        self.begin();
        if !content.is_none_or(|byte| self.take(byte)) {
            self.state = State::Wrong;
        }
        if before > 0 { Event::LeftOut(before) } else { Event::None }
    }

    fn end(&mut self) -> Event {
        let is_marked = !self.envelope.start.is_empty() && !self.is_shared();
        let state =
            std::mem::replace(&mut self.state, if is_marked { State::Outside } else { State::Inside });
        let raw = std::mem::take(&mut self.raw);
        let is_empty = !is_marked && raw == self.envelope.end.len();
        let is_whole = self.held.is_none() && self.block == 0;
        match state {
            State::Inside if is_empty => Event::None,
            State::Outside if self.is_shared() && is_empty => Event::None,
            State::Inside if is_whole => {
                self.last = raw;
                self.is_complete = true;
                Event::Frame
            }
            _ => {
                self.begin();
                Event::LeftOut(raw)
            }
        }
    }

    fn token(&mut self, byte: u8) -> Token {
        let (start, end) = (self.envelope.start.as_slice(), self.envelope.end.as_slice());
        match self.escaping {
            Escaping::Hex => {
                let is_within = self.matched > 0;
                if end.get(self.matched) == Some(&byte) {
                    self.matched += 1;
                    if self.matched < end.len() {
                        return Token::Part;
                    }
                    self.matched = 0;
                    return Token::End;
                }
                self.matched = usize::from(is_within && end.first() == Some(&byte));
                match start {
                    [mark] if *mark == byte => Token::Start,
                    _ if is_within => Token::Wrong,
                    _ => Token::Content(byte),
                }
            }
            Escaping::Double => {
                let is_behind_mark = std::mem::take(&mut self.matched) > 0;
                let is_mark = end.first() == Some(&byte);
                match (is_behind_mark, is_mark) {
                    (false, true) => {
                        self.matched = 1;
                        Token::Part
                    }
                    (false, false) | (true, true) => Token::Content(byte),
                    (true, false) if end.get(1) == Some(&byte) => Token::End,
                    (true, false) => match start {
                        [_] => Token::StartBefore(byte),
                        [_, second] if *second == byte => Token::Start,
                        _ => Token::Wrong,
                    },
                }
            }
            Escaping::Slip | Escaping::Cobs | Escaping::Stuffing { .. } => {
                if end == [byte] {
                    Token::End
                } else if start == [byte] {
                    Token::Start
                } else {
                    Token::Content(byte)
                }
            }
        }
    }

    /// Whether a byte of a frame makes sense, and there is room for it.
    fn take(&mut self, byte: u8) -> bool {
        let byte = match &self.escaping {
            Escaping::Slip | Escaping::Stuffing { .. } => {
                if self.held.take().is_some() {
                    match self.escaping.unescaped(byte) {
                        Some(byte) => byte,
                        None => return false,
                    }
                } else if self.escaping.mark() == Some(byte) {
                    self.held = Some(byte);
                    return true;
                } else {
                    byte
                }
            }
            Escaping::Hex => {
                let digit = char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                let Some(digit) = digit else { return false };
                match self.held.take() {
                    Some(first) => first << 4 | digit,
                    None => {
                        self.held = Some(digit);
                        return true;
                    }
                }
            }
            Escaping::Cobs if self.block > 0 => {
                self.block -= 1;
                byte
            }
            Escaping::Cobs => {
                self.block = usize::from(byte) - usize::from(byte > 0);
                if !std::mem::replace(&mut self.is_before_zero, byte < u8::MAX) {
                    return true;
                }
                0
            }
            Escaping::Double => byte,
        };
        if self.content.len() >= self.max {
            return false;
        }
        self.content.push(byte);
        true
    }
}

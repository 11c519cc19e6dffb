//! Bytes that the original's own functions wrote, and the values behind them.
//!
//! The field at place `k` of a message, counted from 1 through all structures and elements, has the value that these
//! functions give for `k`. Lists have two elements; bytes and texts have three, the last of a text is its zero.

use std::collections::BTreeMap;
use std::fmt::Debug;

use dragoman_bridge::player::wire::common::{Orientation3d, Point3d, Pose2d, Pose3d, Segment, Size3d};
use dragoman_bridge::player::wire::{
    Answer, BodyError, Bytes, Command, Data, Interface, MessageKind, OneWayMessage, Request, RequestMessage,
    Xdr,
};

pub(super) fn f64(place: u8) -> f64 {
    let size = f64::from(place) + 0.25 * f64::from(place % 4);
    if place % 2 == 1 { size } else { -size }
}

pub(super) fn f32(place: u8) -> f32 {
    f64(place) as f32
}

pub(super) fn u32(place: u8) -> u32 {
    0x0102_0300 + u32::from(place)
}

pub(super) fn u16(place: u8) -> u16 {
    0x0200 + u16::from(place)
}

pub(super) fn i32(place: u8) -> i32 {
    let size = 100_000 + i32::from(place);
    if place % 2 == 1 { -size } else { size }
}

pub(super) fn u8(place: u8) -> u8 {
    0x10 + place
}

pub(super) fn text(place: u8) -> String {
    [place, place + 1].map(|place| char::from(b'a' + place - 1)).iter().collect()
}

pub(super) fn bytes(place: u8) -> Bytes {
    Bytes([place, place + 1, place + 2].map(u8).to_vec())
}

pub(super) fn pose2d(place: u8) -> Pose2d {
    Pose2d { x: f64(place), y: f64(place + 1), yaw: f64(place + 2) }
}

pub(super) fn point3d(place: u8) -> Point3d {
    Point3d { x: f64(place), y: f64(place + 1), z: f64(place + 2) }
}

pub(super) fn orientation3d(place: u8) -> Orientation3d {
    Orientation3d { roll: f64(place), pitch: f64(place + 1), yaw: f64(place + 2) }
}

pub(super) fn pose3d(place: u8) -> Pose3d {
    Pose3d { position: point3d(place), orientation: orientation3d(place + 3) }
}

pub(super) fn size3d(place: u8) -> Size3d {
    Size3d { width: f64(place), length: f64(place + 1), height: f64(place + 2) }
}

pub(super) fn segment(place: u8) -> Segment {
    Segment { x0: f64(place), y0: f64(place + 1), x1: f64(place + 2), y1: f64(place + 3) }
}

/// The literals of an interface that are not compared yet.
pub(super) struct Literals {
    interface: &'static Interface,
    rest: BTreeMap<(String, u8), Vec<u8>>,
}

/// Reads a body and writes it again.
pub(crate) fn rewrite(
    interface: &Interface,
    kind: MessageKind,
    subtype: u8,
    bytes: &[u8],
) -> Result<Vec<u8>, BodyError> {
    let code = interface.code;
    match kind {
        MessageKind::Data => Data::read(code, subtype, bytes).map(|body| body.to_bytes()),
        MessageKind::Command => Command::read(code, subtype, bytes).map(|body| body.to_bytes()),
        MessageKind::Request => Request::read(code, subtype, bytes).map(|body| body.to_bytes()),
        _ => Answer::read(code, subtype, bytes).map(|body| body.to_bytes()),
    }
}

fn kind_name(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::Data => "data",
        MessageKind::Command => "command",
        _ => "request",
    }
}

impl Literals {
    pub(super) fn of(interface: &'static Interface) -> Self {
        let name = if interface.code == 0 { "properties" } else { interface.name };
        let mut rest: BTreeMap<(String, u8), Vec<u8>> = BTreeMap::new();
        let mut last = None;
        for line in include_str!("literals.txt").lines().filter(|line| !line.starts_with('#')) {
            if let Some(hex) = line.strip_prefix("    ") {
                let digits = hex.as_bytes().chunks(2).map(|two| std::str::from_utf8(two).unwrap());
                let bytes = digits.map(|two| u8::from_str_radix(two, 16).unwrap());
                if let Some(key) = &last {
                    rest.entry(Clone::clone(key)).or_default().extend(bytes);
                }
            } else {
                let words: Vec<_> = line.split(' ').collect();
                last = (words[0] == name).then(|| (words[1].to_owned(), words[2].parse().unwrap()));
            }
        }
        Self { interface, rest }
    }

    fn compare<T: Xdr + PartialEq + Debug>(&self, kind: MessageKind, subtype: u8, value: &T) -> Vec<u8> {
        let bytes = self.rest[&(kind_name(kind).to_owned(), subtype)].clone();
        let shown = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(shown(&value.to_bytes()), shown(&bytes), "{kind:?} {subtype}");
        assert_eq!(T::from_bytes(&bytes).as_ref(), Ok(value));
        bytes
    }

    /// Compares a message without an answer.
    pub(super) fn note<T: Xdr + PartialEq + Debug>(&mut self, note: &OneWayMessage<T>, value: T) {
        let bytes = self.compare(note.kind, note.subtype, &value);
        assert_eq!(rewrite(self.interface, note.kind, note.subtype, &bytes), Ok(bytes));
        self.rest.remove(&(kind_name(note.kind).to_owned(), note.subtype));
    }

    /// Compares a request's question.
    pub(super) fn question<Q, A>(&mut self, ask: &RequestMessage<Q, A>, value: Q)
    where
        Q: Xdr + Default + PartialEq + Debug,
        A: Xdr,
    {
        let bytes = self.compare(MessageKind::Request, ask.subtype, &value);
        assert_eq!(rewrite(self.interface, MessageKind::Request, ask.subtype, &bytes), Ok(bytes));
        self.rest.remove(&("request".to_owned(), ask.subtype));
    }

    /// Compares a request's answer.
    pub(super) fn answer<Q, A>(&mut self, ask: &RequestMessage<Q, A>, value: A)
    where
        Q: Xdr + Default,
        A: Xdr + PartialEq + Debug,
    {
        let bytes = self.compare(MessageKind::Request, ask.subtype, &value);
        assert_eq!(rewrite(self.interface, MessageKind::Acknowledge, ask.subtype, &bytes), Ok(bytes));
        self.rest.remove(&("request".to_owned(), ask.subtype));
    }

    /// Compares a request whose question and answer have the same form.
    pub(super) fn both<T>(&mut self, ask: &RequestMessage<T, T>, value: T)
    where
        T: Xdr + Default + PartialEq + Debug + Clone,
    {
        let key = ("request".to_owned(), ask.subtype);
        let bytes = self.rest[&key].clone();
        self.question(ask, value.clone());
        self.rest.insert(key, bytes);
        self.answer(ask, value);
    }

    /// All of them were compared.
    pub(super) fn finish(self) {
        assert_eq!(self.rest, BTreeMap::new());
    }
}

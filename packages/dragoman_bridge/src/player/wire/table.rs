//! Descriptions of interfaces and their messages, as typed constants and as a table; the error of reading a body.

use std::marker::PhantomData;

use super::message::{Device, MessageKind};
use super::xdr::{Xdr, XdrError};

/// Description of a message without an answer: [`MessageKind::Data`] or [`MessageKind::Command`]. Its body is a `T`.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct OneWayMessage<T> {
    pub kind: MessageKind,
    /// Its number in the interface.
    pub subtype: u8,
    body: PhantomData<fn() -> T>,
}

impl<T: Xdr> OneWayMessage<T> {
    /// A message with this number.
    pub const fn new(kind: MessageKind, subtype: u8) -> Self {
        Self { kind, subtype, body: PhantomData }
    }

    /// Its kind and number.
    pub const fn id(&self) -> (MessageKind, u8) {
        (self.kind, self.subtype)
    }

    /// Reads the body. As in Player's drivers, a command's body of another length is an error.
    ///
    /// # Errors
    /// The bytes are not a body of this message.
    pub fn body(&self, bytes: &[u8]) -> Result<T, XdrError> {
        if self.kind == MessageKind::Command { T::from_all_bytes(bytes) } else { T::from_bytes(bytes) }
    }
}

/// Description of a request: its body is a `Q`, the body of its acknowledgement an `A`.
#[derive(Debug)]
pub struct RequestMessage<Q, A> {
    /// Its number in the interface.
    pub subtype: u8,
    bodies: PhantomData<fn(Q) -> A>,
}

impl<Q: Xdr, A: Xdr> RequestMessage<Q, A> {
    /// A request with this number.
    pub const fn new(subtype: u8) -> Self {
        Self { subtype, bodies: PhantomData }
    }

    /// Its kind and number.
    pub const fn id(&self) -> (MessageKind, u8) {
        (MessageKind::Request, self.subtype)
    }

    /// Reads the body of the request. As in Player's drivers, a body of another length is an error.
    ///
    /// # Errors
    /// The bytes are not a body of this request.
    pub fn question(&self, bytes: &[u8]) -> Result<Q, XdrError> {
        Q::from_all_bytes(bytes)
    }

    /// Reads the body of the acknowledgement.
    ///
    /// # Errors
    /// The bytes are not a body of this acknowledgement.
    pub fn answer(&self, bytes: &[u8]) -> Result<A, XdrError> {
        A::from_bytes(bytes)
    }
}

/// An interface: a type of device, and its messages.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Interface {
    /// Its number on the wire.
    pub code: u16,
    /// Its name in configuration files.
    pub name: &'static str,
    pub messages: &'static [MessageInfo],
}

impl Interface {
    /// Its device with this number.
    pub const fn device(&self, index: u16) -> Device {
        Device { interface: self.code, index }
    }
}

/// Description of a message of an interface.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct MessageInfo {
    /// Data, command or request.
    pub kind: MessageKind,
    /// Its number.
    pub subtype: u8,
    pub name: &'static str,
    pub meaning: &'static str,
}

/// Error reading the body of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum BodyError {
    /// The interface has no message with this number.
    #[error("there is no message {subtype}")]
    Unknown { subtype: u8 },
    /// The bytes are not its body.
    #[error("{name}: {error}")]
    Malformed { name: &'static str, error: XdrError },
}

impl BodyError {
    /// The error of a message with this name.
    pub(super) fn of(name: &'static str) -> impl Fn(XdrError) -> Self {
        move |error| Self::Malformed { name, error }
    }
}

//! What the interfaces consist of: their messages, as typed constants and as a table, and why a body cannot be read.

use std::marker::PhantomData;

use super::message::{Device, Kind};
use super::xdr::{Xdr, XdrError};

/// A message of an interface without an answer: [`Kind::Data`] or [`Kind::Command`].
#[derive(Debug)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Note<T> {
    pub kind: Kind,
    /// Its number in the interface.
    pub subtype: u8,
    body: PhantomData<fn() -> T>,
}

impl<T: Xdr> Note<T> {
    /// A message with this number.
    pub const fn new(kind: Kind, subtype: u8) -> Self {
        Self { kind, subtype, body: PhantomData }
    }

    /// Its kind and number.
    pub const fn id(&self) -> (Kind, u8) {
        (self.kind, self.subtype)
    }

    /// Its body. As with the drivers of the original, a command's body of another length is none.
    ///
    /// # Errors
    /// The bytes are not a body of this message.
    pub fn body(&self, bytes: &[u8]) -> Result<T, XdrError> {
        if self.kind == Kind::Command { T::from_all_bytes(bytes) } else { T::from_bytes(bytes) }
    }
}

/// A request of an interface, and the body of its acknowledgement.
#[derive(Debug)]
pub struct Ask<Q, A> {
    /// Its number in the interface.
    pub subtype: u8,
    bodies: PhantomData<fn(Q) -> A>,
}

impl<Q: Xdr, A: Xdr> Ask<Q, A> {
    /// A request with this number.
    pub const fn new(subtype: u8) -> Self {
        Self { subtype, bodies: PhantomData }
    }

    /// Its kind and number.
    pub const fn id(&self) -> (Kind, u8) {
        (Kind::Request, self.subtype)
    }

    /// The request's body. As with the drivers of the original, a body of another length is none.
    ///
    /// # Errors
    /// The bytes are not a body of this request.
    pub fn question(&self, bytes: &[u8]) -> Result<Q, XdrError> {
        Q::from_all_bytes(bytes)
    }

    /// The body of an acknowledgement.
    ///
    /// # Errors
    /// The bytes are not a body of this acknowledgement.
    pub fn answer(&self, bytes: &[u8]) -> Result<A, XdrError> {
        A::from_bytes(bytes)
    }
}

/// An interface: a sort of devices and its messages.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Interface {
    /// Its number on the wire.
    pub code: u16,
    /// Its name in configuration files.
    pub name: &'static str,
    pub messages: &'static [Row],
}

impl Interface {
    /// Its device with this number.
    pub const fn device(&self, index: u16) -> Device {
        Device { interface: self.code, index }
    }
}

/// A message of an interface.
#[derive(Debug)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Row {
    /// Which kind: data, command or request.
    pub kind: Kind,
    /// Its number.
    pub subtype: u8,
    pub name: &'static str,
    pub meaning: &'static str,
}

/// Why the body of a message cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum BodyError {
    /// The interface has no message with this number.
    #[error("there is no message {subtype}")]
    Unknown { subtype: u8 },
    /// The bytes are not its body.
    #[error("{name}: {error}")]
    Malformed {
        /// The message.
        name: &'static str,
        error: XdrError,
    },
}

impl BodyError {
    /// The error of a message with this name.
    pub(super) fn of(name: &'static str) -> impl Fn(XdrError) -> Self {
        move |error| Self::Malformed { name, error }
    }
}

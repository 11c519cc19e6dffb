//! What the interfaces consist of: their messages, as typed constants and as a table.

use std::marker::PhantomData;

use super::message::{Device, Kind};
use super::properties;
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

    /// Its body.
    ///
    /// # Errors
    /// The bytes are not a body of this message.
    pub fn body(&self, bytes: &[u8]) -> Result<T, XdrError> {
        T::from_bytes(bytes)
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
    /// The message with this place, also one that [every interface](properties) has; an answer has the place of its
    /// request.
    pub fn message(&self, kind: Kind, subtype: u8) -> Option<&'static Row> {
        let all = self.messages.iter().chain(properties::INTERFACE.messages);
        all.into_iter().find(|row| row.kind == kind && row.subtype == subtype)
    }

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
    /// Reads a body and writes it again; of a request the question. Commands and questions have no bytes but their own.
    pub rewrite: Rewrite,
    /// Reads and writes the body of an acknowledgement.
    pub rewrite_answer: Option<Rewrite>,
}

/// Reads a body and writes it again.
pub type Rewrite = fn(&[u8]) -> Result<Vec<u8>, XdrError>;

/// A [`Rewrite`] of this type.
pub(super) fn rewrite<T: Xdr>(bytes: &[u8]) -> Result<Vec<u8>, XdrError> {
    T::from_bytes(bytes).map(|value| value.to_bytes())
}

/// A [`Rewrite`] of this type, of a message from a client to a server: nothing may follow it.
pub(super) fn rewrite_all<T: Xdr>(bytes: &[u8]) -> Result<Vec<u8>, XdrError> {
    T::from_all_bytes(bytes).map(|value| value.to_bytes())
}

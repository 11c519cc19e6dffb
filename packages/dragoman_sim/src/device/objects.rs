//! The objects of a simulated node, and its SDO server.
//!
//! The transfers are those of the crate `canopen-rs`. Its server has fewer abort codes than CiA 301 and does not check
//! values, so both are done here.

use canopen_rs::sdo::{SdoPayload, SdoServer};
use canopen_rs::{Address, Entry, NodeId, ObjectDictionary, Value};

/// Maximum number of objects of a node.
const CAPACITY: usize = 128;

/// Abort codes (CiA 301, table of SDO abort codes).
pub mod abort {
    /// The object cannot be accessed in this way.
    pub const UNSUPPORTED_ACCESS: u32 = 0x0601_0000;
    /// The object does not exist.
    pub const NO_OBJECT: u32 = 0x0602_0000;
    /// The object cannot be mapped to process data.
    pub const NOT_MAPPABLE: u32 = 0x0604_0041;
    /// The mapped objects are longer than a frame, or too many.
    pub const MAPPING_TOO_LONG: u32 = 0x0604_0042;
    /// Too long for the object.
    pub const TOO_LONG: u32 = 0x0607_0012;
    /// Too short for the object.
    pub const TOO_SHORT: u32 = 0x0607_0013;
    /// The subindex does not exist.
    pub const NO_SUBINDEX: u32 = 0x0609_0011;
    /// Invalid value.
    pub const VALUE: u32 = 0x0609_0030;
    /// Any other reason.
    pub const GENERAL: u32 = 0x0800_0000;
    /// Not possible in the current state.
    pub const STATE: u32 = 0x0800_0022;
}

const DOWNLOAD: u8 = 0x20;
const UPLOAD: u8 = 0x40;
const SPECIFIER: u8 = 0xe0;
const EXPEDITED: u8 = 0x02;
const SIZE_INDICATED: u8 = 0x01;

/// The dictionary and the server of a node.
pub(super) struct Objects {
    dictionary: Box<ObjectDictionary<CAPACITY>>,
    addresses: Vec<Address>,
    server: SdoServer,
    /// The object being written, and its previous value.
    target: Option<(Address, Value)>,
}

/// Result of a request.
pub(super) struct Outcome {
    pub(super) answer: Option<SdoPayload>,
    /// A written value to be accepted or refused.
    pub(super) written: Option<(Address, Value)>,
}

impl Objects {
    pub(super) fn new(node: NodeId, entries: &[(Address, Entry)]) -> Self {
        let mut dictionary = Box::new(ObjectDictionary::new());
        for (address, entry) in entries {
            let inserted = dictionary.insert(*address, *entry);
            debug_assert!(inserted.is_ok(), "the dictionary holds all objects of a simulated node");
        }
        let addresses = entries.iter().map(|(address, _)| *address).collect();
        Self { dictionary, addresses, server: SdoServer::new(node), target: None }
    }

    /// The object that a request starts to read.
    pub(super) fn about_to_read(request: &SdoPayload) -> Option<Address> {
        let [command, low, high, subindex, ..] = *request;
        let address = Address::new(u16::from_le_bytes([low, high]), subindex);
        (command & SPECIFIER == UPLOAD).then_some(address)
    }

    /// Handles a request.
    pub(super) fn request(&mut self, request: &SdoPayload) -> Outcome {
        if let Some((address, code)) = self.refusal(request) {
            return Outcome { answer: Some(aborted(address, code)), written: None };
        }
        let answer = self.server.handle(&mut self.dictionary, request);
        let written = self.server.take_write().and_then(|address| Some((address, self.value(address)?)));
        Outcome { answer, written }
    }

    /// Reverts the write of [`Objects::request`].
    pub(super) fn take_back(&mut self) {
        if let Some((address, before)) = self.target.take() {
            self.set(address, before);
        }
    }

    /// The value of an object, regardless of its access rights.
    pub(super) fn value(&self, address: Address) -> Option<Value> {
        self.dictionary.entry(address).map(|entry| entry.value)
    }

    /// Sets the value of an object internally.
    pub(super) fn set(&mut self, address: Address, value: Value) {
        let set = self.dictionary.set(address, value);
        debug_assert!(set.is_ok(), "object {address:?} exists and has this type");
    }

    /// The reason to refuse the start of a transfer.
    fn refusal(&mut self, request: &SdoPayload) -> Option<(Address, u32)> {
        let [command, low, high, subindex, ..] = *request;
        let address = Address::new(u16::from_le_bytes([low, high]), subindex);
        let is_download = command & SPECIFIER == DOWNLOAD;
        if !is_download && command & SPECIFIER != UPLOAD {
            return None;
        }
        let Some(entry) = self.dictionary.entry(address) else {
            let has_index = self.addresses.iter().any(|known| known.index == address.index);
            return Some((address, if has_index { abort::NO_SUBINDEX } else { abort::NO_OBJECT }));
        };
        if is_download && entry.access.is_writable() {
            self.target = Some((address, entry.value));
            let given = download_length(request)?;
            let size = entry.value.data_type().fixed_size()?;
            return match given.cmp(&size) {
                std::cmp::Ordering::Less => Some((address, abort::TOO_SHORT)),
                std::cmp::Ordering::Equal => None,
                std::cmp::Ordering::Greater => Some((address, abort::TOO_LONG)),
            };
        }
        None
    }
}

/// The length announced at the start of a download, if any.
fn download_length(request: &SdoPayload) -> Option<usize> {
    let [command, _, _, _, size @ ..] = *request;
    match (command & SIZE_INDICATED != 0, command & EXPEDITED != 0) {
        (false, _) => None,
        (true, true) => Some(4 - usize::from(command >> 2 & 3)),
        (true, false) => usize::try_from(u32::from_le_bytes(size)).ok(),
    }
}

/// The answer that ends a transfer.
pub(super) fn aborted(address: Address, code: u32) -> SdoPayload {
    let ([low, high], [a, b, c, d]) = (address.index.to_le_bytes(), code.to_le_bytes());
    [0x80, low, high, address.subindex, a, b, c, d]
}

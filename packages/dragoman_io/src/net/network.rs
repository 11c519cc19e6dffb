//! The network of a lab on virtual time: which sockets listen at which addresses, and what happens to bytes on
//! their way.

use std::collections::BTreeMap;
use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::{Mutex, MutexGuard};

use super::datagrams::Inbox;
use super::listener::Accepting;

/// What happens to bytes on their way. The default is a network without faults and with a short delay.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions {
    /// Minimum delay.
    pub delay: Duration,
    /// Maximum addition to the delay. Datagrams overtake each other; bytes of a connection do not.
    pub jitter: Duration,
    /// Share of the datagrams that are lost.
    pub loss: f64,
    /// Share of the datagrams that arrive twice.
    pub duplication: f64,
    /// Share of a connection's writes at which the connection is reset.
    pub reset: f64,
    /// Share of a connection's writes at which the path is cut: nothing arrives any more, and neither end is notified.
    pub cut: f64,
}

impl Default for Conditions {
    fn default() -> Self {
        Self {
            delay: Duration::from_micros(50),
            jitter: Duration::ZERO,
            loss: 0.0,
            duplication: 0.0,
            reset: 0.0,
            cut: 0.0,
        }
    }
}

/// Sets what happens from now on in the network of the present lab. Without effect on the system's network.
pub fn set_conditions(conditions: Conditions) {
    Network::of_lab().state().conditions = conditions;
}

/// The source of all chance in the network.
const STREAM: &str = "network";

/// Whether something with this probability happens.
pub(super) fn happens(share: f64) -> bool {
    share > 0.0 && dragoman_time::random_unit(STREAM) < share
}

impl Conditions {
    /// When bytes arrive that are sent now.
    pub(super) fn arrival(&self) -> Instant {
        let extra = if self.jitter.is_zero() {
            Duration::ZERO
        } else {
            self.jitter.mul_f64(dragoman_time::random_unit(STREAM))
        };
        dragoman_time::now() + self.delay + extra
    }
}

/// The network of a lab.
#[derive(Default)]
pub(super) struct Network(Mutex<NetworkState>);

#[derive(Default)]
pub(super) struct NetworkState {
    pub(super) conditions: Conditions,
    pub(super) listeners: BTreeMap<SocketAddr, Weak<Accepting>>,
    pub(super) datagrams: BTreeMap<SocketAddr, Weak<Inbox>>,
    last_port: u16,
}

/// First of the ports for sockets that request none (RFC 6335, 6).
const FIRST_DYNAMIC: u16 = 49152;

impl Network {
    pub(super) fn of_lab() -> Arc<Self> {
        dragoman_time::shared()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, NetworkState> {
        self.0.lock()
    }

    pub(super) fn conditions(&self) -> Conditions {
        self.state().conditions
    }
}

impl NetworkState {
    /// A socket's address: the wanted one, or with port 0 one that is free by `is_free`.
    pub(super) fn address(
        &mut self,
        wanted: SocketAddr,
        is_free: impl Fn(&Self, &SocketAddr) -> bool,
    ) -> Result<SocketAddr> {
        if wanted.port() != 0 {
            return if is_free(self, &wanted) {
                Ok(wanted)
            } else {
                Err(Error::new(ErrorKind::AddrInUse, "Address already in use (os error 98)"))
            };
        }
        for _ in FIRST_DYNAMIC..u16::MAX {
            self.last_port = self.last_port.checked_add(1).unwrap_or(0).max(FIRST_DYNAMIC);
            let found = SocketAddr::new(wanted.ip(), self.last_port);
            if is_free(self, &found) {
                return Ok(found);
            }
        }
        Err(Error::new(ErrorKind::AddrInUse, "no free port"))
    }
}

/// The entry of a table that listens at `address`: there, or on all interfaces.
pub(super) fn listening<T>(table: &BTreeMap<SocketAddr, Weak<T>>, address: &SocketAddr) -> Option<Arc<T>> {
    let everywhere: SocketAddr = ([0, 0, 0, 0], address.port()).into();
    [address, &everywhere].into_iter().find_map(|address| table.get(address).and_then(Weak::upgrade))
}

pub(super) fn is_free<T>(table: &BTreeMap<SocketAddr, Weak<T>>, address: &SocketAddr) -> bool {
    table.get(address).is_none_or(|other| other.strong_count() == 0)
}

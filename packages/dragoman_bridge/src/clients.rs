//! Publishes the connected clients of the servers on `/dragoman/clients`.

use std::fmt::Display;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::dragoman_msgs::msg::{ProtocolClient, ProtocolClients};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Clock, QosProfile, Result};
use parking_lot::Mutex;

/// The topic of all servers.
const TOPIC: &str = "/dragoman/clients";
/// Minimum time between two messages.
const PERIOD: Duration = Duration::from_secs(1);
/// Maximum number of clients in a message.
const MAX_CLIENTS: usize = 64;
/// Maximum number of characters of a request.
const MAX_REQUEST: usize = 80;

/// The clients of a server. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clients(Arc<Mutex<List>>);

#[derive(Debug, Default)]
struct List {
    clients: Vec<(SocketAddr, ProtocolClient)>,
    has_changed: bool,
}

impl Clients {
    /// A client has connected.
    pub(crate) fn join(&self, address: SocketAddr) {
        let mut list = self.0.lock();
        list.has_changed = true;
        let client = ProtocolClient { address: address.to_string(), since: now(), ..Default::default() };
        list.clients.push((address, client));
    }

    /// A client has left.
    pub(crate) fn leave(&self, address: SocketAddr) {
        let mut list = self.0.lock();
        if let Some(at) = list.clients.iter().position(|(other, _)| *other == address) {
            list.clients.remove(at);
            list.has_changed = true;
        }
    }

    /// Sets the list of clients: others have left, new ones have just connected.
    pub(crate) fn set(&self, addresses: &[SocketAddr]) {
        let known = self.addresses();
        known.iter().filter(|one| !addresses.contains(one)).for_each(|one| self.leave(*one));
        addresses.iter().filter(|one| !known.contains(one)).for_each(|one| self.join(*one));
    }

    /// A client has sent `count` requests; `request` is the last one.
    pub(crate) fn request(&self, address: SocketAddr, request: &dyn Display, count: u64) {
        let mut list = self.0.lock();
        let List { clients, has_changed } = &mut *list;
        let Some((_, client)) = clients.iter_mut().find(|(other, _)| *other == address) else { return };
        let text = request.to_string();
        client.last_request = dragoman_text::line(&text).chars().take(MAX_REQUEST).collect();
        client.last_time = now();
        client.requests += count;
        *has_changed = true;
    }

    /// The clients' addresses.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        self.0.lock().clients.iter().map(|(address, _)| *address).collect()
    }

    /// Publishes the clients with the server's name.
    pub(crate) fn publish(&self, tasks: &mut NodeTasks, protocol: &str) -> Result<()> {
        let qos = QosProfile::default().keep_last(1).transient_local();
        let publisher = tasks.node().create_publisher::<ProtocolClients>(TOPIC, qos)?;
        let (clients, node) = (self.clone(), tasks.node().fully_qualified_name()?);
        let protocol = protocol.to_owned();
        tasks.every(PERIOD, move || {
            let Some(clients) = clients.changed() else { return };
            let message = ProtocolClients { node: node.clone(), protocol: protocol.clone(), clients };
            if let Err(error) = publisher.publish(&message) {
                tracing::warn!(%error, "publishing the clients failed");
            }
        })
    }

    /// The clients, if they have changed since the last call.
    fn changed(&self) -> Option<Vec<ProtocolClient>> {
        let mut list = self.0.lock();
        let has_changed = std::mem::take(&mut list.has_changed);
        has_changed.then(|| list.clients.iter().take(MAX_CLIENTS).map(|(_, client)| client.clone()).collect())
    }
}

fn now() -> Time {
    Clock::to_builtin_time(&dragoman_time::wall_time())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(port: u16) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], port))
    }

    #[test]
    fn only_changes_are_published() {
        let clients = Clients::default();
        assert!(clients.changed().is_none());
        clients.join(address(1));
        clients.request(address(1), &"GL", 1);
        clients.request(address(2), &"nobody", 1);
        let known = clients.changed().unwrap();
        assert_eq!((known.len(), &*known[0].last_request, known[0].requests), (1, "GL", 1));
        assert!(clients.changed().is_none());
        clients.set(&[address(3)]);
        assert_eq!(clients.addresses(), [address(3)]);
        assert_eq!(clients.changed().unwrap()[0].last_request, "");
        clients.leave(address(3));
        assert!(clients.changed().unwrap().is_empty());
    }

    #[test]
    fn the_size_of_a_message_is_bounded() {
        let clients = Clients::default();
        (1..=200).for_each(|port| clients.join(address(port)));
        clients.request(address(1), &"x\n".repeat(10_000), 1);
        let known = clients.changed().unwrap();
        assert_eq!(known.len(), MAX_CLIENTS);
        assert!(
            known[0].last_request.chars().count() <= MAX_REQUEST && !known[0].last_request.contains('\n')
        );
    }
}

//! The process's membership in a ROS domain.

use std::sync::Arc;

use super::arguments::Arguments;
use super::background::Background;
use super::dds::Participant;
use super::discovery::{Discovery, MAX_DOMAIN_ID};
use super::error::{Error, Result};
use super::graph::{self, Graph};
use crate::distribution::Distribution;

/// A DDS participant and the shared state of all nodes of a process. Clones share the context.
#[derive(Clone)]
pub struct Context {
    inner: Arc<Inner>,
}

struct Inner {
    domain_id: u16,
    // Dropped first: its tasks hold the participant.
    background: Background,
    graph: Arc<Graph>,
    participant: Participant,
    arguments: Arguments,
}

impl Context {
    /// Joins the domain given by the environment and the command line of this process.
    ///
    /// # Errors
    /// Invalid environment or `--ros-args`; no participant can be created.
    pub fn create() -> Result<Self> {
        super::security::check(dragoman_time::variable)?;
        let discovery = Discovery::from_variables(dragoman_time::variable)?;
        Self::with_options(&discovery, Arguments::parse(dragoman_time::arguments().into_iter().skip(1))?)
    }

    /// Joins a domain regardless of the environment. Not in r2r.
    ///
    /// # Errors
    /// There is no such domain. No participant can be created: all 120 participant ids of the domain are taken, or there is
    /// no network.
    pub fn with_options(discovery: &Discovery, arguments: Arguments) -> Result<Self> {
        let domain = discovery.domain_id;
        if domain > MAX_DOMAIN_ID {
            let reason = format!("there is no ROS domain {domain}; the last one is {MAX_DOMAIN_ID}");
            return Err(Error::InvalidArgument(reason));
        }
        let distribution = Distribution::current();
        if distribution != Distribution::default() {
            tracing::info!("using the message formats of ROS 2 {distribution:?} (ROS_DISTRO)");
        }
        let background = Background::start()?;
        let participant = Participant::new(discovery, arguments.enclave(), &background)?;
        super::static_peers::announce_to(discovery, &participant, &background)?;
        Self::of(discovery.domain_id, participant, arguments, background)
    }

    /// A context without network: its nodes, and those of such contexts of the same domain in this process, reach each
    /// other. Not in r2r.
    ///
    /// # Errors
    /// The system refused a thread.
    pub fn in_memory(domain_id: u16, arguments: Arguments) -> Result<Self> {
        let background = Background::start()?;
        Self::of(domain_id, Participant::in_memory(domain_id, &background), arguments, background)
    }

    fn of(
        domain_id: u16,
        participant: Participant,
        arguments: Arguments,
        background: Background,
    ) -> Result<Self> {
        let graph = Arc::new(Graph::default());
        graph::announce(&graph, &participant, &background)?;
        Ok(Self { inner: Arc::new(Inner { domain_id, background, graph, participant, arguments }) })
    }

    /// Its ROS domain. Not in r2r.
    pub fn domain_id(&self) -> u16 {
        self.inner.domain_id
    }

    /// Whether the context is valid: always, until it is dropped.
    pub fn is_valid(&self) -> bool {
        true
    }

    pub(crate) fn participant(&self) -> &Participant {
        &self.inner.participant
    }

    pub(crate) fn background(&self) -> &Background {
        &self.inner.background
    }

    pub(crate) fn graph(&self) -> &Arc<Graph> {
        &self.inner.graph
    }

    pub(crate) fn arguments(&self) -> &Arguments {
        &self.inner.arguments
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, UdpSocket};
    use std::time::Duration;

    use futures::StreamExt;
    use futures::executor::block_on;

    use super::*;
    use crate::embedded::discovery::DiscoveryRange;
    use crate::embedded::static_peers::discovery_port;
    use crate::{Node, QosProfile, std_msgs};

    fn context(domain_id: u16) -> Context {
        let discovery = Discovery { domain_id, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        Context::with_options(&discovery, Arguments::default()).unwrap()
    }

    #[test]
    fn a_domain_without_ports_is_refused() {
        let discovery = Discovery {
            domain_id: MAX_DOMAIN_ID + 1,
            range: DiscoveryRange::Localhost,
            static_peers: Vec::new(),
        };
        let error = Context::with_options(&discovery, Arguments::default()).err().unwrap();
        assert!(error.to_string().contains("there is no ROS domain 233"), "{error}");
    }

    #[test]
    fn a_dropped_context_gives_back_its_ports() {
        const DOMAIN: u16 = 95;
        // Several times: a hanging thread of the library appears only sometimes.
        for _ in 0..10 {
            let context = context(DOMAIN);
            let port = (Ipv4Addr::LOCALHOST, discovery_port(DOMAIN, 0));
            UdpSocket::bind(port).unwrap_err();
            drop(context);
            // The library's thread may be the last that has the participant.
            let end = dragoman_time::now() + Duration::from_secs(60);
            while let Err(error) = UdpSocket::bind(port) {
                assert!(dragoman_time::now() < end, "{error}");
                block_on(dragoman_time::precise_sleep(Duration::from_millis(1)));
            }
        }
    }

    /// Without the notification the others would keep the participant until its lease ends.
    #[test]
    fn a_participant_that_ends_notifies_the_others() {
        const DOMAIN: u16 = 92;
        let peer = UdpSocket::bind((Ipv4Addr::LOCALHOST, discovery_port(DOMAIN, 3))).unwrap();
        peer.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        for _ in 0..3 {
            let context = context(DOMAIN);
            let mut node = Node::create(context.clone(), "node", "").unwrap();
            for number in 0..100 {
                let qos = QosProfile::default();
                node.create_publisher::<std_msgs::msg::String>(&format!("topic_{number}"), qos).unwrap();
            }
            // These keep the event loop busy while the participant ends.
            drop((node, context));
            let mut datagram = [0; 65_536];
            let mut length = 0;
            while !is_announcement_of_the_end(&datagram[..length]) {
                length = peer.recv(&mut datagram).expect("a goodbye");
            }
        }
    }

    /// A DATA of the writer of announcements that carries a key alone (RTPS 2.5, sections 8.3.8.2 and 8.5.3.2).
    fn is_announcement_of_the_end(datagram: &[u8]) -> bool {
        const DATA: u8 = 0x15;
        const KEY: u8 = 0x08;
        const ANNOUNCEMENTS: [u8; 4] = [0, 1, 0, 0xc2];
        let mut rest = datagram.get(20..).unwrap_or_default();
        while let [kind, flags, low, high, body @ ..] = rest {
            let length = usize::from(u16::from_le_bytes([*low, *high]));
            if *kind == DATA && flags & KEY != 0 && body[8..12] == ANNOUNCEMENTS {
                return true;
            }
            rest = if length == 0 { &[] } else { &body[length..] };
        }
        false
    }

    /// The id is free only if both of its ports are: others compute or cache them.
    #[test]
    fn a_context_takes_the_next_id_where_a_port_is_taken_and_is_reached_there() {
        const DOMAIN: u16 = 94;
        let user_port = discovery_port(DOMAIN, 0) + 1;
        let _taken_port = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, user_port)).unwrap();
        let contexts = [context(DOMAIN), context(DOMAIN)];
        // Held by no participant.
        UdpSocket::bind((Ipv4Addr::LOCALHOST, discovery_port(DOMAIN, 0))).unwrap();
        UdpSocket::bind((Ipv4Addr::LOCALHOST, discovery_port(DOMAIN, 1))).unwrap_err();
        let qos = || QosProfile::default().transient_local();
        let [publisher, subscriber] =
            contexts.clone().map(|context| Node::create(context, "node", "").unwrap());
        let (mut publisher, mut subscriber) = (publisher, subscriber);
        let publisher = publisher.create_publisher("latched", qos()).unwrap();
        publisher.publish(&std_msgs::msg::String { data: "kept".into() }).unwrap();
        // A latched sample is sent when the acknowledgement of the reader arrives.
        let mut received = subscriber.subscribe::<std_msgs::msg::String>("latched", qos()).unwrap();
        assert_eq!(block_on(received.next()).unwrap().data, "kept");
    }

    /// Checks of its own packets, in each of two contexts.
    #[test]
    fn a_context_checks_that_its_own_packets_arrive() {
        for context in [context(93), context(93)] {
            let end = dragoman_time::now() + Duration::from_secs(60);
            let mut health = context.participant().health();
            while health.checks < 6 {
                assert!(dragoman_time::now() < end, "{health:?}");
                block_on(dragoman_time::precise_sleep(Duration::from_millis(50)));
                health = context.participant().health();
            }
            assert_eq!(health.faults, []);
        }
    }

    /// More participants than the library announces itself to by default, where loopback has no multicast.
    #[test]
    fn many_contexts_on_localhost_find_each_other() {
        let contexts: Vec<Context> = (0..14).map(|_| context(96)).collect();
        let node = |index: usize| Node::create(contexts[index].clone(), "node", "").unwrap();
        let qos = || QosProfile::default().transient_local();
        let publisher = node(12).create_publisher("last", qos()).unwrap();
        publisher.publish(&std_msgs::msg::String { data: "found".into() }).unwrap();
        let mut received = node(13).subscribe::<std_msgs::msg::String>("last", qos()).unwrap();
        assert_eq!(block_on(received.next()).unwrap().data, "found");
    }
}

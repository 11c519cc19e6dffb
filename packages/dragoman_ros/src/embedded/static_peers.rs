//! `ROS_STATIC_PEERS`: hosts outside the range of multicast discovery.
//!
//! The DDS library announces a participant by multicast and, on this machine, by unicast to the discovery ports of the
//! participants 0 to 31; further addresses cannot be set. So one of those ports is opened here, and the library's
//! packets to it are forwarded unchanged: an announcement contains its participant's addresses.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::background::Background;
use super::dds::Participant;
use super::discovery::{Discovery, DiscoveryRange};
use super::error::{Error, Result};

/// The participant ids of this machine that receive unicast announcements of the library.
const LOCAL_PARTICIPANTS: u16 = 32;

/// Participants per host that are addressed, as in Cyclone DDS.
const PEER_PARTICIPANTS: u16 = 32;

/// The UDP port on which participant `id` of a domain receives announcements (RTPS 2.5, 9.6.2.3).
pub(super) fn discovery_port(domain: u16, id: u16) -> u16 {
    7400 + 250 * domain + 10 + 2 * id
}

/// Forwards the announcements of `participant` to the static peers, until the context ends.
pub(crate) fn announce_to(
    discovery: &Discovery,
    participant: &Participant,
    background: &Background,
) -> Result<()> {
    if discovery.static_peers.is_empty() {
        return Ok(());
    }
    if discovery.range == DiscoveryRange::Off {
        tracing::warn!("ROS_STATIC_PEERS has no effect while ROS_AUTOMATIC_DISCOVERY_RANGE is OFF");
        return Ok(());
    }
    let domain = discovery.domain_id;
    let socket = (0..LOCAL_PARTICIPANTS)
        .rev()
        .find_map(|id| UdpSocket::bind((Ipv4Addr::LOCALHOST, discovery_port(domain, id))).ok())
        .ok_or_else(|| {
            Error::Middleware("ROS_STATIC_PEERS: no discovery port of this machine is free".into())
        })?;
    let sender =
        UdpSocket::bind((discovery.bind_address(), 0)).map_err(|e| Error::Middleware(e.to_string()))?;
    socket
        .set_read_timeout(Some(Duration::from_millis(200)))
        .map_err(|e| Error::Middleware(e.to_string()))?;
    let prefix = participant.guid();
    let targets = targets(&discovery.static_peers, domain);
    let stop = StopOnDrop(Arc::default());
    let stopped = Arc::clone(&stop.0);
    std::thread::Builder::new()
        .name("ros static peers".into())
        .spawn(move || {
            let mut datagram = [0; 65536];
            while !stopped.load(Ordering::Relaxed) {
                match socket.recv(&mut datagram) {
                    Ok(length) => {
                        let Some(message) =
                            datagram.get(..length).filter(|message| is_from(message, &prefix))
                        else {
                            continue;
                        };
                        for target in &targets {
                            // An unreachable peer is not an error: it gets the next announcement.
                            let _ = sender.send_to(message, target);
                        }
                    }
                    Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                    Err(error) => tracing::debug!(%error, "receiving an announcement failed"),
                }
            }
        })
        .map_err(|error| Error::Middleware(error.to_string()))?;
    // Ends with the context, which drops its background tasks.
    background.spawn(async move {
        let _stop = stop;
        std::future::pending::<()>().await;
    });
    Ok(())
}

struct StopOnDrop(Arc<AtomicBool>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn targets(peers: &[IpAddr], domain: u16) -> Vec<SocketAddr> {
    peers
        .iter()
        .flat_map(|peer| (0..PEER_PARTICIPANTS).map(|id| SocketAddr::new(*peer, discovery_port(domain, id))))
        .collect()
}

/// Whether an RTPS message (magic, version, vendor, then the sender's GUID prefix) comes from participant `guid`.
fn is_from(message: &[u8], guid: &[u8; 16]) -> bool {
    message.starts_with(b"RTPS") && message.get(8..20) == guid.get(..12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_follow_the_rtps_mapping() {
        assert_eq!(discovery_port(0, 0), 7410);
        assert_eq!(discovery_port(1, 2), 7664);
    }

    #[test]
    fn only_our_own_messages_are_passed_on() {
        let mut message = *b"RTPS\x02\x04\x01\x12abcdefghijkl....";
        let mut guid = *b"abcdefghijkl\0\0\x01\xc1";
        assert!(is_from(&message, &guid));
        guid[0] = b'x';
        assert!(!is_from(&message, &guid));
        message[0] = b'Q';
        assert!(!is_from(&message, b"abcdefghijkl\0\0\x01\xc1"));
        assert!(!is_from(b"RTPS", &guid));
    }
}

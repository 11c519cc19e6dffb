//! Sends datagrams to a DDS participant, as from the network.
//!
//! Input: datagrams, each after its length (two bytes, little-endian). The bytes `US`, `READER` or `WRITER` below are
//! replaced by our GUID prefix and our endpoints. Checks: no thread panics or hangs (the event loop answers each input,
//! and the other thread continues), and memory stays below libFuzzer's limit.

#![no_main]

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use libfuzzer_sys::fuzz_target;
use rustdds::bytes::Bytes;
use rustdds::policy::{Durability, History, Reliability};
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, QosPolicies, QosPolicyBuilder, RTPSEntity, TopicKind,
};

const US: &[u8; 12] = b"\x01\x12dragoman01";
const READER: &[u8; 4] = b"\xffour";
const WRITER: &[u8; 4] = b"\xffouw";
const SOURCE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9);
/// The discovery thread completes its loop at least once in five seconds, and the machine may be busy.
const TIME_LIMIT: Duration = Duration::from_secs(60);

struct Target {
    participant: DomainParticipant,
    names: [(Vec<u8>, Vec<u8>); 3],
    _reader: rustdds::no_key::DataReaderCdr<String>,
    _writer: rustdds::no_key::DataWriterCdr<String>,
    start: Instant,
}

impl Target {
    /// One participant for all inputs: the state left by one input is part of the test of the next.
    fn new() -> Self {
        let participant = DomainParticipantBuilder::new(200)
            .with_only_networks([IpAddr::V4(Ipv4Addr::LOCALHOST)])
            .same_host_loopback(false)
            .build()
            .unwrap();
        let qos = QosPolicyBuilder::new()
            .reliability(Reliability::Reliable { max_blocking_time: rustdds::Duration::from_millis(100) })
            .durability(Durability::TransientLocal)
            .history(History::KeepLast { depth: 10 })
            .build();
        let topic = |name: &str| {
            let type_name = "std_msgs::msg::dds_::String_".to_owned();
            participant.create_topic(name.to_owned(), type_name, &qos, TopicKind::NoKey).unwrap()
        };
        let subscriber = participant.create_subscriber(&QosPolicies::qos_none()).unwrap();
        let publisher = participant.create_publisher(&QosPolicies::qos_none()).unwrap();
        let reader = subscriber.create_datareader_no_key_cdr(&topic("rt/read"), Some(qos.clone())).unwrap();
        let writer = publisher.create_datawriter_no_key_cdr(&topic("rt/written"), Some(qos.clone())).unwrap();
        for length in [1, 100, 10_000] {
            let _ = writer.write("x".repeat(length), None);
        }
        let names = [
            (US.to_vec(), participant.guid().to_bytes()[..12].to_vec()),
            (READER.to_vec(), reader.guid().to_bytes()[12..].to_vec()),
            (WRITER.to_vec(), writer.guid().to_bytes()[12..].to_vec()),
        ];
        Self { participant, names, _reader: reader, _writer: writer, start: Instant::now() }
    }

    fn datagrams(&self, mut input: &[u8]) -> Vec<Bytes> {
        let mut datagrams = Vec::new();
        while let [low, high, rest @ ..] = input {
            let length = usize::from(u16::from_le_bytes([*low, *high])).min(rest.len());
            let (datagram, after) = rest.split_at(length);
            let mut datagram = datagram.to_vec();
            for (placeholder, name) in &self.names {
                for at in 0..(datagram.len() + 1).saturating_sub(name.len()) {
                    if datagram[at..].starts_with(placeholder) {
                        datagram[at..at + name.len()].copy_from_slice(name);
                    }
                }
            }
            datagrams.push(datagram.into());
            input = after;
        }
        datagrams
    }

    /// Panics when the other thread has hung for too long.
    fn check_discovery(&self) {
        static TURNS: AtomicU64 = AtomicU64::new(0);
        static SINCE: AtomicU64 = AtomicU64::new(0);
        let turns = self.participant.loop_turns().discovery();
        let now = self.start.elapsed().as_secs();
        if TURNS.swap(turns, Ordering::Relaxed) != turns {
            SINCE.store(now, Ordering::Relaxed);
        }
        let still = now - SINCE.load(Ordering::Relaxed);
        assert!(still < TIME_LIMIT.as_secs(), "Discovery has stood still for {still} s");
    }
}

fuzz_target!(|input: &[u8]| {
    static TARGET: OnceLock<Target> = OnceLock::new();
    let target = TARGET.get_or_init(Target::new);
    assert!(target.participant.receive(target.datagrams(input), SOURCE), "the event loop has ended");
    target.check_discovery();
});

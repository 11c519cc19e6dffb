//! The DDS library survives any packet: datagrams are sent to a participant as from the network, and it keeps working,
//! discovers others and limits its memory.
//!
//! Each test fails without the patch (`rustdds/patches`) that is named in it.

#![cfg(all(target_os = "linux", not(feature = "r2r")))]

#[path = "packets/wire.rs"]
mod wire;

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::strategy::Union;
use rustdds::dds::statusevents::{DomainParticipantStatusEvent as Event, StatusEvented};
use rustdds::policy::{Durability, History, Reliability};
use rustdds::refused::refused;
use rustdds::{
    DomainParticipant, DomainParticipantBuilder, QosPolicies, QosPolicyBuilder, RTPSEntity, TopicKind,
};
use wire::{
    DATA, Entity, Message, PUBLICATIONS_READER, PUBLICATIONS_WRITER, Prefix, SPDP_READER, SPDP_WRITER,
    SUBSCRIPTIONS_READER, SUBSCRIPTIONS_WRITER, UNKNOWN, announcement, endpoint, guid, made_up,
};

/// Address of the simulated peers, without a receiver.
const PEER: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 9);
const SOURCE: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 9);
/// User writer and reader of a peer.
const WRITER: Entity = [0, 0, 1, 3];
const READER: Entity = [0, 0, 2, 4];
const TOPIC: &str = "rt/read";
/// Another one, so that our own reader does not block our writer.
const WRITTEN: &str = "rt/written";
const TYPE: &str = "std_msgs::msg::dds_::String_";

/// Memory and the counters belong to the process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

struct Target {
    participant: DomainParticipant,
    reader: rustdds::no_key::DataReaderCdr<String>,
    writer: rustdds::no_key::DataWriterCdr<String>,
    _alone: MutexGuard<'static, ()>,
}

impl Target {
    /// A participant with a reliable, volatile reader and writer.
    fn new() -> Self {
        Self::keeping(History::KeepLast { depth: 10 })
    }

    fn keeping(history: History) -> Self {
        Self::with(history, false)
    }

    /// With `same_host`, whose address is on this host gets everything there.
    fn with(history: History, same_host: bool) -> Self {
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let domain = 110 + (std::process::id() % 100) as u16;
        let participant = DomainParticipantBuilder::new(domain)
            .with_only_networks([IpAddr::V4(Ipv4Addr::LOCALHOST)])
            .same_host_loopback(same_host)
            .build()
            .unwrap();
        let qos = QosPolicyBuilder::new()
            .reliability(Reliability::Reliable { max_blocking_time: rustdds::Duration::from_millis(100) })
            .durability(Durability::Volatile)
            .history(history)
            .build();
        let topic = |name: &str| {
            participant.create_topic(name.to_owned(), TYPE.to_owned(), &qos, TopicKind::NoKey).unwrap()
        };
        let subscriber = participant.create_subscriber(&QosPolicies::qos_none()).unwrap();
        let publisher = participant.create_publisher(&QosPolicies::qos_none()).unwrap();
        let reader = subscriber.create_datareader_no_key_cdr(&topic(TOPIC), Some(qos.clone())).unwrap();
        let writer = publisher.create_datawriter_no_key_cdr(&topic(WRITTEN), Some(qos.clone())).unwrap();
        Self { participant, reader, writer, _alone: alone }
    }

    fn prefix(&self) -> Prefix {
        guid_bytes(self.participant.guid())[..12].try_into().unwrap()
    }

    /// With multicast, the participant discovers itself too.
    fn writers_of_others(&self) -> usize {
        let own = self.participant.guid().prefix;
        let writers = self.participant.discovered_writers();
        writers.iter().filter(|writer| writer.publication_topic_data.key.prefix != own).count()
    }

    fn reader(&self) -> Entity {
        guid_bytes(self.reader.guid())[12..].try_into().unwrap()
    }

    fn writer(&self) -> Entity {
        guid_bytes(self.writer.guid())[12..].try_into().unwrap()
    }

    #[track_caller]
    fn receive(&self, messages: Vec<Message>) {
        let datagrams = messages.into_iter().map(|message| message.0.into()).collect();
        assert!(self.participant.receive(datagrams, SOURCE), "the event loop has ended");
    }

    /// Announces a peer, a writer and a reader of our topic, until they are discovered.
    #[track_caller]
    fn announce_peer(&self, peer: Prefix) {
        self.announce_peer_at(peer, PEER);
    }

    /// The same for a peer with another address.
    #[track_caller]
    fn announce_peer_at(&self, peer: Prefix, address: (Ipv4Addr, u16)) {
        wait_for("a peer is found", || {
            self.receive(vec![announcement(peer, address, 100)]);
            std::thread::sleep(Duration::from_millis(2));
            self.receive(vec![publication(peer, 1, WRITER, TOPIC), subscription(peer, 1, READER, WRITTEN)]);
            self.knows(peer)
        });
    }

    fn knows(&self, peer: Prefix) -> bool {
        let writers = self.participant.discovered_writers();
        let readers = self.participant.discovered_readers();
        writers.iter().any(|w| guid_bytes(w.writer_proxy.remote_writer_guid) == guid(peer, WRITER))
            && readers.iter().any(|r| guid_bytes(r.reader_proxy.remote_reader_guid) == guid(peer, READER))
    }

    /// Checks that both threads complete their loops, and a new peer is discovered.
    #[track_caller]
    fn is_alive(&self, new_peer: u32) {
        let turns = self.participant.loop_turns();
        let before = (turns.event_loop(), turns.discovery());
        self.announce_peer(made_up(new_peer));
        wait_for("both threads live", || turns.event_loop() > before.0 && turns.discovery() > before.1);
    }
}

fn guid_bytes(guid: rustdds::GUID) -> [u8; 16] {
    guid.to_bytes()
}

fn publication(peer: Prefix, number: i64, entity: Entity, topic: &str) -> Message {
    let data = endpoint(guid(peer, entity), topic, TYPE);
    Message::from(peer).data(PUBLICATIONS_READER, PUBLICATIONS_WRITER, number, &data)
}

fn subscription(peer: Prefix, number: i64, entity: Entity, topic: &str) -> Message {
    let data = endpoint(guid(peer, entity), topic, TYPE);
    Message::from(peer).data(SUBSCRIPTIONS_READER, SUBSCRIPTIONS_WRITER, number, &data)
}

#[track_caller]
fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Resident memory in MiB.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
}

#[track_caller]
fn takes_at_most(mebibytes: f64, what: &str, act: impl FnOnce()) {
    let before = resident();
    act();
    let grown = resident() - before;
    println!("{what}: {grown:.1} MiB");
    assert!(grown < mebibytes, "{what}: {grown:.1} MiB");
}

#[test]
fn fragments_stay_within_their_memory() {
    let target = Target::new();
    let peer = made_up(1);
    target.announce_peer(peer);
    let before = refused().fragments;
    let fragment = |number: i64, first: u32, count: u16, size: u16, whole: u32| {
        let payload = &[7; 64][..usize::from(size.clamp(1, 64))];
        Message::from(peer).data_frag(target.reader(), WRITER, number, first, count, size, whole, payload)
    };
    takes_at_most(20.0, "samples of 4 GB", || {
        // The event loop is notified of the peer by the thread that has found it.
        wait_for("they are refused", || {
            target.receive((1..50).map(|number| fragment(number, 1, 1, 0xffff, 0xffff_fff0)).collect());
            target.receive((50..100).map(|number| fragment(number, 1, 1, 1, 0xffff_fff0)).collect());
            refused().fragments >= before + 99
        });
    });
    takes_at_most(20.0, "first fragments of 60 MB", || {
        target.receive((100..300).map(|number| fragment(number, 1, 1, 0x8000, 60 << 20)).collect());
    });
    takes_at_most(100.0, "a fragment of every page", || {
        for number in 300..303 {
            target.receive((1..14_000).map(|f| fragment(number, f, 1, 4096, 60 << 20)).collect());
        }
    });
    // Fragments of one sample that are inconsistent or end beyond it.
    target.receive(vec![
        fragment(400, 1, 1, 1024, 4096),
        fragment(400, 2, 1, 512, 4096),
        fragment(400, 2, 1, 1024, 8192),
        fragment(400, 4, 2, 1024, 4096),
        fragment(400, 0, 1, 1024, 4096),
        fragment(400, u32::MAX, u16::MAX, 1024, 4096),
        fragment(400, 1, 1, 0, 4096),
    ]);
    target.is_alive(2);
}

#[test]
fn endpoints_of_unknown_participants_are_refused() {
    let target = Target::new();
    // From here on it has the reader used below.
    target.is_alive(900);
    let known = target.writers_of_others();
    let before = refused().unmatched;
    target.receive(vec![
        publication(made_up(1), 1, WRITER, TOPIC),
        subscription(made_up(1), 1, READER, WRITTEN),
        Message::from(made_up(1)).data_frag(target.reader(), WRITER, 1, 1, 1, 100, 1000, &[0; 100]),
    ]);
    wait_for("all three are refused", || refused().unmatched >= before + 3);
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(target.writers_of_others(), known);
    // It is still discovered when it announces itself.
    target.announce_peer(made_up(1));
}

#[test]
fn packets_of_peers_do_not_end_our_own_participant() {
    let target = Target::new();
    let events = target.participant.status_listener();
    let own = target.prefix();
    target.receive(vec![
        announcement(own, PEER, 0),
        Message::from(made_up(1)).data(SPDP_READER, SPDP_WRITER, 1, &wire::participant(own, PEER, 0)),
        Message::from(made_up(1)).dispose(SPDP_READER, SPDP_WRITER, 2, guid(own, [0, 0, 1, 0xc1])),
    ]);
    // Longer than the interval of the lease checks.
    std::thread::sleep(Duration::from_millis(2500));
    while let Some(event) = events.try_recv_status() {
        assert!(!matches!(event, Event::ParticipantLost { .. }), "{event:?}");
    }
    target.is_alive(2);
}

#[test]
fn floods_stay_within_the_limits() {
    let target = Target::new();
    let before = refused();
    // One participant with endless endpoints, and topics with endless names.
    let peer = made_up(1);
    target.announce_peer(peer);
    takes_at_most(100.0, "endpoints without end", || {
        for first in (2..20_000).step_by(100) {
            target.receive(
                (first..first + 100)
                    .map(|number: i64| {
                        let [.., a, b, c] = number.to_be_bytes();
                        publication(peer, number, [a, b, c, 3], &format!("rt/{number}"))
                    })
                    .collect(),
            );
            // The queues between the threads are limited too, and dropped data must be requested again.
            std::thread::sleep(Duration::from_millis(2));
        }
        target.receive(vec![publication(peer, 20_002, [9, 9, 9, 3], &"x".repeat(20_000))]);
    });
    wait_for("endpoints are refused", || refused().endpoints > before.endpoints + 5_000);
    let known = target.writers_of_others();
    assert!(known <= 4096, "{known}");
    assert_eq!(
        target
            .participant
            .discovered_writers()
            .iter()
            .filter(|w| w.publication_topic_data.topic_name.len() > 1000)
            .count(),
        0
    );

    // Participants without end, each with an endpoint.
    let mut numbers = 10..;
    takes_at_most(50.0, "participants without end", || {
        wait_for("participants make room", || {
            let ten = numbers.by_ref().take(10);
            target.receive(ten.map(|number| announcement(made_up(number), PEER, 86_400)).collect());
            refused().participants > before.participants + 300
        });
    });
    target.is_alive(1_000_000);
    // It had endpoints, so it was not removed.
    assert!(target.knows(peer));
}

/// Patches 0051 and 0053.
#[test]
fn long_names_are_refused() {
    let target = Target::new();
    let peer = made_up(1);
    target.announce_peer(peer);
    let before = refused();
    let long = |number: i64| format!("rt/{number:x>30000}");
    takes_at_most(15.0, "endpoints with names of 30,000 characters", || {
        for first in (2..2002).step_by(20) {
            let of_number = |number: i64| {
                let [.., a, b, c] = number.to_be_bytes();
                publication(peer, number, [a, b, c, 3], &long(number))
            };
            target.receive((first..first + 20).map(of_number).collect());
            // Discovery reads them between two datagrams.
            wait_for("names are refused", || refused().names + 2 >= before.names + first as u64);
        }
    });
    let typed = endpoint(guid(peer, [9, 9, 9, 3]), "rt/typed", &"x".repeat(256));
    target.receive(vec![Message::from(peer).data(PUBLICATIONS_READER, PUBLICATIONS_WRITER, 2002, &typed)]);
    wait_for("the name of a type is refused", || refused().names >= before.names + 2001);
    let verbose_peer = made_up(2);
    let announced = wire::participant_with(verbose_peer, PEER, 100, Some(wire::user_data(&[7; 30_000])));
    target.receive(vec![Message::from(verbose_peer).data(UNKNOWN, SPDP_WRITER, 1, &announced)]);
    wait_for("user data is refused", || refused().names >= before.names + 2002);
    // As long as ROS allows.
    let modest = format!("rt/{:x>252}", "");
    target.receive(vec![publication(peer, 2003, [8, 8, 8, 3], &modest)]);
    let finds = |name: &str| {
        let writers = target.participant.discovered_writers();
        writers.iter().any(|writer| writer.publication_topic_data.topic_name == name)
    };
    wait_for("a long but valid name is found", || finds(&modest));
    target.is_alive(3);
}

/// Patch 0069. Domains share ports: the addresses of one domain's participants may be reached from another.
#[test]
fn participants_of_other_domains_are_ignored() {
    let target = Target::new();
    let own = u32::from(target.participant.domain_id());
    let announce = |peer: Prefix, domain: u32| {
        let announced = wire::participant_with(peer, PEER, 100, Some(wire::domain_id(domain)));
        target.receive(vec![Message::from(peer).data(UNKNOWN, SPDP_WRITER, 1, &announced)]);
        target.receive(vec![publication(peer, 1, WRITER, TOPIC), subscription(peer, 1, READER, WRITTEN)]);
    };
    let (of_other_domain, of_this_domain) = (made_up(1), made_up(2));
    let before = refused().domains;
    wait_for("the announcement is refused", || {
        announce(of_other_domain, own + 1);
        refused().domains > before
    });
    wait_for("a participant of this domain is found", || {
        announce(of_other_domain, own + 1);
        announce(of_this_domain, own);
        std::thread::sleep(Duration::from_millis(2));
        target.knows(of_this_domain)
    });
    assert!(!target.knows(of_other_domain));
    target.is_alive(3);
}

/// Patch 0063.
#[test]
fn a_first_sample_is_requested_until_it_arrives() {
    const EPROSIMA: u8 = 0x0f;
    let target = Target::new();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut peer = made_up(1);
    peer[1] = EPROSIMA;
    target.announce_peer_at(peer, (Ipv4Addr::LOCALHOST, socket.local_addr().unwrap().port()));
    let mut datagram = [0; 65536];
    let mut next = || loop {
        let length = socket.recv(&mut datagram).expect("an ACKNACK");
        if let Some(request) = wire::acknack_to(&datagram[..length], WRITER) {
            return request;
        }
    };
    // Fast DDS ignores a count that is not above the one before, which is 0 at first.
    let mut count = 0;
    for _ in 0..3 {
        let request = next();
        assert_eq!((request.base, request.missing.as_slice()), (1, [1].as_slice()));
        assert!(request.count > count, "{request:?}");
        count = request.count;
    }
    target.receive(vec![
        Message::from(peer).data(target.reader(), WRITER, 1, b"\0\x01\0\0\x05\0\0\0what\0"),
        Message::from(peer).heartbeat(target.reader(), WRITER, 1, 1, 1),
    ]);
    let acknowledged = std::iter::repeat_with(next).find(|request| request.base == 2).unwrap();
    assert_eq!(acknowledged.missing, []);
}

/// Patch 0068: a peer that had lost us for a while, and has found us again, though we have lost nothing.
#[test]
fn a_peer_that_had_lost_us_gets_all_announcements_again() {
    let target = Target::with(History::KeepLast { depth: 10 }, true);
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let peer = made_up(1);
    target.announce_peer_at(peer, (Ipv4Addr::LOCALHOST, socket.local_addr().unwrap().port()));
    let mut datagram = [0; 65536];
    let mut next = || {
        let length = socket.recv(&mut datagram).expect("what was announced before");
        datagram[..length].to_vec()
    };
    let mut count = 0;
    let mut report = |base: i64, bits: u32, missing: &[u32]| {
        count += 1;
        let (reader, writer) = (PUBLICATIONS_READER, PUBLICATIONS_WRITER);
        target.receive(vec![
            Message::from(peer).to(target.prefix()).acknack(reader, writer, base, bits, missing, count),
        ]);
    };
    // It has nothing yet, and then everything.
    report(1, 0, &[]);
    let last = loop {
        match wire::heartbeat_of(&next(), PUBLICATIONS_WRITER) {
            Some([_, last]) if last > 0 => break last,
            _ => {}
        }
    };
    report(last + 1, 0, &[]);
    // What was sent before that.
    socket.set_nonblocking(true).unwrap();
    while socket.recv(&mut [0; 65536]).is_ok() {}
    socket.set_nonblocking(false).unwrap();
    // It has nothing again, and requests everything.
    report(1, 0, &[]);
    while wire::heartbeat_of(&next(), PUBLICATIONS_WRITER).is_none_or(|[_, again]| again != last) {}
    report(1, 32, &[u32::MAX]);
    while wire::data_of(&next(), PUBLICATIONS_WRITER).all(|number| number != last) {}
}

#[test]
fn packets_from_invented_sources_do_not_accumulate() {
    let target = Target::new();
    takes_at_most(10.0, "made-up sources", || {
        for first in (0..200_000).step_by(1000) {
            target.receive((first..first + 1000).map(|number| Message::from(made_up(number))).collect());
        }
    });
    target.is_alive(300_000);
}

#[test]
fn late_readers_cost_little() {
    let target = Target::new();
    for _ in 0..50_000 {
        // The event loop may lag.
        while target.writer.write(String::new(), None).is_err() {}
    }
    takes_at_most(20.0, "100 readers after 50000 samples", || {
        for number in 0..100 {
            target.announce_peer(made_up(number));
        }
    });
}

/// Patch 0048: a reader that was killed or suspended, until its lease ends.
#[test]
fn a_reader_that_never_acknowledges_costs_a_bounded_number_of_bytes() {
    let target = Target::new();
    target.announce_peer(made_up(1));
    takes_at_most(10.0, "3000 samples of 100 kB", || {
        for _ in 0..3000 {
            target.writer.write("x".repeat(100_000), None).unwrap();
        }
    });
    takes_at_most(2.0, "20000 empty samples", || {
        for _ in 0..20_000 {
            target.writer.write(String::new(), None).unwrap();
        }
    });
    target.is_alive(2);
}

#[test]
fn what_is_refused_is_counted() {
    let target = Target::new();
    let peer = made_up(1);
    target.announce_peer(peer);
    let before = refused();
    let (reader, writer) = (target.reader(), target.writer());
    target.receive(vec![
        Message(b"RTPS\x02\x03\x01\x12123456789012\x15\x01\xff\xff".to_vec()),
        Message::from(peer).heartbeat(reader, WRITER, -5, 10, 1),
        Message::from(peer).heartbeat(reader, WRITER, 10, 1, 2),
        Message::from(peer).gap(reader, WRITER, 0, 10, 0, &[]),
        Message::from(peer).acknack(READER, writer, i64::MAX, 0, &[], 1),
        Message::from(peer).nack_frag(READER, writer, 1, u32::MAX, 256, &[u32::MAX; 8], 1),
    ]);
    let after = refused();
    assert_eq!(after.malformed, before.malformed + 1);
    assert_eq!(after.numbers, before.numbers + 5);
    // Of a missing sample; the writer ignores it until the discovered reader is known to it.
    let mut count = 2;
    wait_for("a fragment request is counted", || {
        target.receive(vec![Message::from(peer).nack_frag(READER, writer, 70, 1, 32, &[u32::MAX], count)]);
        count += 1;
        refused().fragment_requests != after.fragment_requests
    });
    assert_eq!(refused().fragment_requests, after.fragment_requests + 1);
}

/// The extremes, and their neighbours.
fn numbers() -> impl Strategy<Value = i64> {
    let interesting = [
        i64::MIN,
        -(1 << 32),
        -1,
        0,
        1,
        2,
        3,
        5,
        31,
        255,
        256,
        257,
        1 << 31,
        1 << 32,
        1 << 40,
        (1 << 62) - 1,
        1 << 62,
        i64::MAX - 1,
        i64::MAX,
    ];
    prop_oneof![proptest::sample::select(interesting.to_vec()), 0..20_i64, any::<i64>()]
}

fn sizes() -> impl Strategy<Value = u32> {
    prop_oneof![
        proptest::sample::select(vec![
            0,
            1,
            2,
            31,
            32,
            255,
            256,
            257,
            65_535,
            1 << 20,
            u32::MAX - 1,
            u32::MAX
        ]),
        0..300_u32,
    ]
}

/// An endpoint of the peer and one of ours that may be matched with it; placeholders for our user endpoints.
fn ends() -> impl Strategy<Value = (Entity, Entity)> {
    proptest::sample::select(vec![
        (SPDP_WRITER, SPDP_READER),
        (PUBLICATIONS_WRITER, PUBLICATIONS_READER),
        (SUBSCRIPTIONS_WRITER, SUBSCRIPTIONS_READER),
        (PUBLICATIONS_READER, PUBLICATIONS_WRITER),
        (SUBSCRIPTIONS_READER, SUBSCRIPTIONS_WRITER),
        ([0, 2, 0, 0xc2], [0, 2, 0, 0xc7]),
        (WRITER, OUR_READER),
        (READER, OUR_WRITER),
        (WRITER, UNKNOWN),
        (UNKNOWN, UNKNOWN),
    ])
}

const OUR_READER: Entity = *b"\xffour";
const OUR_WRITER: Entity = *b"\xffouw";

/// Packets of a hostile peer: any submessages with any numbers, and sometimes with other bytes in between.
fn packets(peer: Prefix) -> impl Strategy<Value = Message> {
    let words = || proptest::collection::vec(any::<u32>(), 0..10);
    let start = move || Just(Message::from(peer));
    let one = Union::new([
        (start(), ends(), numbers(), words())
            .prop_map(|(m, (from, to), number, data)| {
                m.data(to, from, number, &data.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>())
            })
            .boxed(),
        (start(), ends(), numbers(), numbers(), any::<i32>())
            .prop_map(|(m, (from, to), first, last, count)| m.heartbeat(to, from, first, last, count))
            .boxed(),
        (start(), ends(), numbers(), numbers(), sizes(), words())
            .prop_map(|(m, (from, to), first, base, bits, set)| m.gap(to, from, first, base, bits, &set))
            .boxed(),
        (start(), ends(), numbers(), sizes(), words(), any::<i32>())
            .prop_map(|(m, (from, to), base, bits, set, count)| m.acknack(from, to, base, bits, &set, count))
            .boxed(),
        (start(), ends(), numbers(), sizes(), sizes(), words(), any::<i32>())
            .prop_map(|(m, (from, to), number, base, bits, set, count)| {
                m.nack_frag(from, to, number, base, bits, &set, count)
            })
            .boxed(),
        (start(), ends(), numbers(), sizes(), any::<u16>(), any::<u16>(), sizes(), words())
            .prop_map(|(m, (from, to), number, first, count, size, whole, data)| {
                let data: Vec<u8> = data.iter().flat_map(|w| w.to_le_bytes()).collect();
                m.data_frag(to, from, number, first, count, size, whole, &data)
            })
            .boxed(),
        (start(), numbers(), proptest::collection::vec((0..300_usize, any::<u8>()), 0..4))
            .prop_map(move |(m, number, changes)| {
                let mut data = endpoint(guid(peer, WRITER), TOPIC, TYPE);
                for (at, byte) in changes {
                    if let Some(old) = data.get_mut(at) {
                        *old = byte;
                    }
                }
                m.data(PUBLICATIONS_READER, PUBLICATIONS_WRITER, number.clamp(2, 100), &data)
            })
            .boxed(),
        (start(), any::<u8>(), any::<u8>(), words())
            .prop_map(|(m, kind, flags, data)| {
                m.submessage(kind, flags, &data.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<_>>())
            })
            .boxed(),
    ]);
    let changes = proptest::collection::vec((20..200_usize, any::<u8>()), 0..3);
    let mutate = prop_oneof![4 => Just(Vec::new()), 1 => changes];
    (one, mutate).prop_map(|(mut message, changes)| {
        for (at, byte) in changes {
            if let Some(old) = message.0.get_mut(at) {
                *old = byte;
            }
        }
        message
    })
}

/// Replaces placeholders in a packet by our endpoints.
fn address(message: &mut Message, target: &Target) {
    for (placeholder, entity) in [(OUR_READER, target.reader()), (OUR_WRITER, target.writer())] {
        for at in 0..message.0.len().saturating_sub(3) {
            if message.0[at..at + 4] == placeholder {
                message.0[at..at + 4].copy_from_slice(&entity);
            }
        }
    }
}

#[test]
fn no_packet_ends_a_participant() {
    let target = Target::new();
    let before = resident();
    let peer = made_up(1);
    target.announce_peer(peer);
    for _ in 0..20 {
        target.writer.write("sample ".repeat(1000), None).unwrap();
    }
    let seen = std::cell::Cell::new(0_u32);
    let config = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(mut messages in proptest::collection::vec(packets(peer), 1..100))| {
        messages.iter_mut().for_each(|message| address(message, &target));
        messages.push(announcement(peer, PEER, 100));
        seen.set(seen.get() + messages.len() as u32);
        target.receive(messages);
        prop_assert!(resident() - before < 200.0, "{} MiB", resident());
    });
    println!("{} packets, {:.1} MiB", seen.get(), resident() - before);
    target.is_alive(9);
}

/// A valid message in between is still accepted.
#[test]
fn valid_data_arrives_beside_invalid() {
    let mut target = Target::new();
    let peer = made_up(1);
    target.announce_peer(peer);
    let text = b"\x00\x01\x00\x00\x06\x00\x00\x00hello\0\0\0";
    let reader = target.reader();
    wait_for("the sample arrives", || {
        target.receive(vec![
            Message::from(peer).gap(reader, WRITER, 5, 1 << 40, 0, &[]),
            Message::from(peer).submessage(DATA, 4, &[0; 3]),
            Message::from(peer).to(target.prefix()).data(reader, WRITER, 1, text),
            Message::from(peer).heartbeat(reader, WRITER, 1, 1 << 40, 1),
        ]);
        matches!(target.reader.take_next_sample(), Ok(Some(sample)) if sample.value() == "hello")
    });
}

/// Patch 0043: more samples than a reader keeps track of follow two missing ones, of which the second is
/// repaired first.
#[test]
fn missing_samples_before_many_others_are_not_given_up() {
    let mut target = Target::keeping(History::KeepAll);
    let peer = made_up(1);
    target.announce_peer(peer);
    let (reader, prefix) = (target.reader(), target.prefix());
    let text = |number: u8| [b"\0\x01\0\0\x02\0\0\0", [b'0' + number].as_slice(), b"\0\0\0"].concat();
    let sample = |number: i64, text: &[u8]| Message::from(peer).to(prefix).data(reader, WRITER, number, text);
    wait_for("the first sample arrives", || {
        target.receive(vec![sample(1, &text(1))]);
        matches!(target.reader.take_next_sample(), Ok(Some(_)))
    });
    for start in (4..10_004).step_by(100) {
        target.receive((start..start + 100).map(|number| sample(number, &text(4))).collect());
    }
    target.receive(vec![sample(3, &text(3)), sample(2, &text(2))]);
    for expected in ["2", "3", "4"] {
        let mut taken = None;
        wait_for(expected, || {
            taken = target.reader.take_next_sample().unwrap().map(|sample| sample.into_value());
            taken.is_some()
        });
        assert_eq!(taken.as_deref(), Some(expected));
    }
}

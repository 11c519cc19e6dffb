//! The packets that two contexts of the embedded layer exchange over the loopback interface, and a writer's memory for
//! them.

#![cfg(not(feature = "r2r"))]

use std::net::UdpSocket;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, Publisher, QosProfile, WrappedServiceTypeSupport,
    WrappedTypesupport, std_msgs, std_srvs,
};
use futures::executor::block_on;
use futures::future::{Either, select};
use futures::{Stream, StreamExt};
use rustdds::DomainParticipantBuilder;

/// A unique domain for every test, so that tests can run at the same time.
fn domain(test: u16) -> u16 {
    // Ports of domains above 101 are in the system's ephemeral range.
    20 + (std::process::id() % 8) as u16 * 10 + test
}

fn context(test: u16) -> Context {
    let domain_id = domain(test);
    let discovery = Discovery { domain_id, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    Context::with_options(&discovery, Arguments::default()).unwrap()
}

fn node(test: u16, name: &str) -> Node {
    Node::create(context(test), name, "").unwrap()
}

fn next<T>(stream: &mut (impl Stream<Item = T> + Unpin), time: Duration) -> Option<T> {
    match block_on(select(stream.next(), futures_timer::Delay::new(time))) {
        Either::Left((value, _)) => value,
        Either::Right(_) => None,
    }
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < TIMEOUT, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn matched<T: WrappedTypesupport + 'static>(publisher: &Publisher<T>, count: usize) {
    wait_for("the match", || {
        (publisher.get_inter_process_subscription_count().unwrap() >= count).then_some(())
    });
    // Matching is not symmetric: messages before a volatile reader's match are lost.
    std::thread::sleep(Duration::from_millis(300));
}

const TIMEOUT: Duration = Duration::from_secs(10);

/// Longer than a repair takes.
const A_WHILE: Duration = Duration::from_millis(700);

#[test]
fn type_hashes_the_enclave_and_the_lease_are_announced() {
    // The library announces a participant to the discovery ports of the participants 0 to 11 on this machine.
    let announced = UdpSocket::bind(("127.0.0.1", 7400 + 250 * domain(0) + 10 + 2 * 11)).unwrap();
    announced.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut node = node(0, "node");
    let _publisher = node.create_publisher::<std_msgs::msg::UInt32>("number", QosProfile::default()).unwrap();
    let _subscription = node.subscribe::<std_msgs::msg::UInt32>("number", QosProfile::default()).unwrap();
    let _service = node
        .create_service::<std_srvs::srv::SetBool::Service>("switch", QosProfile::services_default())
        .unwrap();
    let mut datagram = [0; 65536];
    let length = announced.recv(&mut datagram).unwrap();
    // PID_USER_DATA with its length, and a sequence of ten bytes, padded to a multiple of four.
    let enclave = &b"\x2c\0\x10\0\x0a\0\0\0enclave=/;\0\0"[..];
    // PID_PARTICIPANT_LEASE_DURATION with its length: 20 s (patch 0049).
    let lease = &b"\x02\0\x08\0\x14\0\0\0\0\0\0\0"[..];
    for expected in [enclave, lease] {
        assert!(datagram[..length].windows(expected.len()).any(|bytes| bytes == expected), "{expected:?}");
    }

    let peer = DomainParticipantBuilder::new(domain(0)).with_only_networks([[127, 0, 0, 1]]).build().unwrap();
    type SetBool = <std_srvs::srv::SetBool::Service as WrappedServiceTypeSupport>::Request;
    type SetBoolAnswer = <std_srvs::srv::SetBool::Service as WrappedServiceTypeSupport>::Response;
    for (topic, hash) in [
        ("rt/number", std_msgs::msg::UInt32::TYPE_HASH),
        ("rr/switchReply", SetBoolAnswer::TYPE_HASH),
        ("ros_discovery_info", dragoman_ros::rmw_dds_common::msg::ParticipantEntitiesInfo::TYPE_HASH),
    ] {
        let writer = wait_for(topic, || {
            let mut writers = peer.discovered_writers().into_iter();
            writers.find(|writer| writer.publication_topic_data.topic_name == topic)
        });
        assert_eq!(String::from_utf8_lossy(&writer.user_data), format!("typehash={hash};"), "{topic}");
    }
    for (topic, hash) in
        [("rt/number", std_msgs::msg::UInt32::TYPE_HASH), ("rq/switchRequest", SetBool::TYPE_HASH)]
    {
        let reader = wait_for(topic, || {
            let mut readers = peer.discovered_readers().into_iter();
            readers.find(|reader| reader.subscription_topic_data.topic_name() == topic)
        });
        assert_eq!(String::from_utf8_lossy(&reader.user_data), format!("typehash={hash};"), "{topic}");
    }
}

fn publish(publisher: &Publisher<std_msgs::msg::UInt32>, numbers: impl IntoIterator<Item = u32>) {
    for data in numbers {
        publisher.publish(&std_msgs::msg::UInt32 { data }).unwrap();
    }
}

#[test]
fn a_volatile_reader_gets_no_latched_history() {
    let latched = QosProfile::default().keep_last(3).transient_local();
    let mut talker = node(1, "talker");
    let publisher = talker.create_publisher::<std_msgs::msg::UInt32>("state", latched.clone()).unwrap();
    publish(&publisher, 1..=3);
    // Before another reader is matched, and after.
    for (readers, name) in [(1, "first"), (3, "later")] {
        let mut listener = node(1, name);
        let mut volatile =
            listener.subscribe::<std_msgs::msg::UInt32>("state", QosProfile::default()).unwrap();
        matched(&publisher, readers);
        assert_eq!(next(&mut volatile, A_WHILE), None, "{name}");
        publish(&publisher, [4]);
        assert_eq!(next(&mut volatile, TIMEOUT).map(|number| number.data), Some(4), "{name}");

        if name == "first" {
            let mut late = node(1, "late");
            let mut history = late.subscribe::<std_msgs::msg::UInt32>("state", latched.clone()).unwrap();
            let got = [(); 3].map(|()| next(&mut history, TIMEOUT).map(|number| number.data));
            assert_eq!(got, [Some(2), Some(3), Some(4)]);
            assert_eq!(next(&mut volatile, A_WHILE), None);
            std::mem::forget((late, history, listener, volatile));
        }
    }
}

/// All readers of a topic in one participant share a cache.
#[test]
fn a_reader_gets_nothing_that_an_earlier_one_of_its_participant_has_received() {
    let (talkers, listeners) = (context(7), context(7));
    let mut talker = Node::create(talkers, "talker", "").unwrap();
    let publisher = talker.create_publisher::<std_msgs::msg::UInt32>("state", QosProfile::default()).unwrap();
    let client = talker
        .create_client::<std_srvs::srv::Trigger::Service>("act", QosProfile::services_default())
        .unwrap();
    for round in 0..3_u32 {
        let mut listener = Node::create(listeners.clone(), "listener", "").unwrap();
        let mut numbers =
            listener.subscribe::<std_msgs::msg::UInt32>("state", QosProfile::default()).unwrap();
        let mut requests = listener
            .create_service::<std_srvs::srv::Trigger::Service>("act", QosProfile::services_default())
            .unwrap();
        wait_for("the service", || block_on(Node::is_available(&client).unwrap()).ok());
        matched(&publisher, 1);
        assert_eq!(next(&mut numbers, A_WHILE), None, "{round}");
        assert!(next(&mut requests, A_WHILE).is_none(), "an old request, {round}");

        publish(&publisher, [round]);
        assert_eq!(next(&mut numbers, TIMEOUT).map(|number| number.data), Some(round));
        let _answer = client.request(&std_srvs::srv::Trigger::Request::default()).unwrap();
        assert!(next(&mut requests, TIMEOUT).is_some(), "{round}");
        drop((numbers, requests, listener));
        wait_for("the end of the match", || {
            (publisher.get_inter_process_subscription_count().unwrap() == 0).then_some(())
        });
    }
}

#[test]
fn a_late_joiner_gets_the_depth_at_most() {
    let latched = QosProfile::default().keep_last(2).transient_local();
    let mut talker = node(2, "talker");
    let publisher = talker.create_publisher::<std_msgs::msg::UInt32>("state", latched.clone()).unwrap();
    for (readers, name) in [(1, "first"), (2, "second")] {
        publish(&publisher, 1..=5);
        let mut listener = node(2, name);
        let mut messages =
            listener.subscribe::<std_msgs::msg::UInt32>("state", latched.clone().keep_last(10)).unwrap();
        matched(&publisher, readers);
        let got = [(); 3].map(|()| next(&mut messages, A_WHILE).map(|number| number.data));
        assert_eq!(got, [Some(4), Some(5), None], "{name}");
        std::mem::forget((listener, messages));
    }
}

/// A reader requests 256 samples at a time. If it did so with periodic heartbeats only, this would take at least 20 s.
#[test]
fn a_late_joiner_need_not_wait_for_a_long_history() {
    const COUNT: u32 = 50_000;
    let latched = QosProfile::default().keep_last(COUNT as usize).transient_local();
    let mut talker = node(6, "talker");
    let publisher = talker.create_publisher::<std_msgs::msg::UInt32>("state", latched.clone()).unwrap();
    publish(&publisher, 0..COUNT);
    let mut listener = node(6, "listener");
    let mut messages = listener.subscribe::<std_msgs::msg::UInt32>("state", latched).unwrap();
    // At the pace of one answer for each heartbeat it would take minutes.
    let end = Instant::now() + 6 * TIMEOUT;
    for expected in 0..COUNT {
        assert!(Instant::now() < end, "{expected} of {COUNT} messages");
        assert_eq!(next(&mut messages, TIMEOUT).map(|number| number.data), Some(expected));
    }
}

/// Resident memory of this process, MB.
fn resident() -> usize {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 4096 / 1_000_000
}

/// Publishes 200 MB, which `reader` takes at once, on a topic with other readers; returns the remaining memory, MB.
fn kept(
    publisher: &Publisher<std_msgs::msg::String>,
    reader: &mut (impl Stream<Item = std_msgs::msg::String> + Unpin),
) -> usize {
    let message = std_msgs::msg::String { data: "x".repeat(1_000_000) };
    let before = resident();
    for _ in 0..200 {
        publisher.publish(&message).unwrap();
        assert!(next(reader, TIMEOUT).is_some());
    }
    resident().saturating_sub(before)
}

/// One test at a time measures the memory of the process.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn a_writer_frees_samples_that_its_readers_have() {
    let _alone = alone();
    let mut talker = node(3, "talker");
    let qos = QosProfile::default().keep_last(2);
    let publisher = talker.create_publisher::<std_msgs::msg::String>("large", qos.clone()).unwrap();
    let mut listener = node(3, "listener");
    let mut reliable = listener.subscribe::<std_msgs::msg::String>("large", qos.clone()).unwrap();
    let mut watcher = node(3, "watcher");
    let _unreliable = watcher.subscribe::<std_msgs::msg::String>("large", qos.best_effort()).unwrap();
    matched(&publisher, 2);
    let kept = kept(&publisher, &mut reliable);
    assert!(kept < 100, "{kept} MB are kept of 200 MB");
}

#[test]
fn a_reader_of_the_same_process_does_not_keep_memory() {
    let _alone = alone();
    let mut talker = node(4, "talker");
    let qos = QosProfile::default().keep_last(2);
    let mut own = talker.subscribe::<std_msgs::msg::String>("large", qos.clone()).unwrap();
    let publisher = talker.create_publisher::<std_msgs::msg::String>("large", qos.clone()).unwrap();
    let mut listener = node(4, "listener");
    let mut other = listener.subscribe::<std_msgs::msg::String>("large", qos).unwrap();
    matched(&publisher, 2);
    let kept = kept(&publisher, &mut other);
    assert!(kept < 100, "{kept} MB are kept of 200 MB");
    assert!(next(&mut own, TIMEOUT).is_some());
}

#[test]
fn a_small_message_keeps_no_receive_buffer() {
    let _alone = alone();
    let mut talker = node(5, "talker");
    let qos = QosProfile::default();
    let large = talker.create_publisher::<std_msgs::msg::String>("large", qos.clone()).unwrap();
    let small = talker.create_publisher::<std_msgs::msg::UInt32>("small", qos.clone()).unwrap();
    let mut listener = node(5, "listener");
    let mut much = listener.subscribe::<std_msgs::msg::String>("large", qos.clone().keep_last(1)).unwrap();
    let mut little = listener.subscribe::<std_msgs::msg::UInt32>("small", qos.keep_last(2000)).unwrap();
    matched(&large, 1);
    matched(&small, 1);
    let message = std_msgs::msg::String { data: "x".repeat(50_000) };
    let before = resident();
    for number in 0..2000 {
        large.publish(&message).unwrap();
        assert!(next(&mut much, TIMEOUT).is_some());
        publish(&small, [number]);
        assert!(next(&mut little, TIMEOUT).is_some());
    }
    let kept = resident().saturating_sub(before);
    assert!(kept < 40, "{kept} MB are kept of 100 MB");
}

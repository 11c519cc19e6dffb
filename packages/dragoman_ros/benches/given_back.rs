//! Dropped endpoints, nodes and participants give back their memory: thousands are created and dropped, one after
//! another, and the memory in use stays the same.
//!
//! `cargo test --workspace --bench given_back` runs it, in five minutes: it measures, and is not part of the tests.
//!
//! Each test fails without the patch (`rustdds/patches`) or the change that is named in it. It measures the memory of the
//! process, in which the peer lives too, and so is a program of its own.

#![cfg(all(target_os = "linux", target_env = "gnu", not(feature = "r2r")))]

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use dragoman_ros::introspection::Introspection;
use dragoman_ros::std_msgs::msg::String as Text;
use dragoman_ros::std_srvs::srv::SetBool;
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
use futures::StreamExt;
use futures::executor::block_on;
use futures::future::{Either, select};

/// Memory belongs to the process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn context(test: u16) -> Context {
    let domain_id = 20 + (std::process::id() % 6) as u16 * 10 + test;
    let discovery = Discovery { domain_id, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    Context::with_options(&discovery, Arguments::default()).unwrap()
}

fn latched() -> QosProfile {
    QosProfile::default().keep_last(1).transient_local()
}

const TIME_LIMIT: Duration = Duration::from_secs(60);

/// Waits for `future`.
#[track_caller]
fn get<T>(future: impl Future<Output = T>) -> T {
    match block_on(select(Box::pin(future), futures_timer::Delay::new(TIME_LIMIT))) {
        Either::Left((value, _)) => value,
        Either::Right(_) => panic!("nothing came"),
    }
}

/// Bytes in use when nothing happens any more: the least that is seen for a while.
fn settled() -> usize {
    let looks = (0..30).map(|_| {
        std::thread::sleep(Duration::from_millis(100));
        dragoman_memory::in_use()
    });
    looks.min().unwrap()
}

/// Checks that a round, of `count`, leaves less than `limit` bytes behind once all are over.
#[track_caller]
fn leaves_at_most(limit: usize, count: usize, mut round: impl FnMut()) {
    (0..count / 5).for_each(|_| round());
    let before = settled();
    (0..count).for_each(|_| round());
    let end = Instant::now() + TIME_LIMIT;
    let mut kept = usize::MAX;
    while kept > count * limit && Instant::now() < end {
        kept = settled().saturating_sub(before);
    }
    println!("{} bytes kept for each of {count}", kept / count);
    assert!(kept <= count * limit, "{} bytes kept for each of {count}", kept / count);
}

/// As a web client: patches 0050 to 0052, 0054, `Matches::drop_local`, `Local::purge`.
#[test]
fn subscriptions_that_come_and_go() {
    let _alone = alone();
    let mut talker = Node::create(context(0), "talker", "").unwrap();
    let mut listener = Node::create(context(0), "listener", "").unwrap();
    let topics = ["one", "two", "three"];
    let publishers = topics.map(|topic| {
        let publisher = talker.create_publisher::<Text>(topic, latched()).unwrap();
        publisher.publish(&Text { data: "text".into() }).unwrap();
        publisher
    });
    leaves_at_most(600, 500, || {
        let mut subscriptions = topics.map(|topic| listener.subscribe::<Text>(topic, latched()).unwrap());
        for subscription in &mut subscriptions {
            get(subscription.next()).unwrap();
        }
    });
    drop(publishers);
}

/// The console follows the graph, and a web client that comes and goes changes it: `Introspection` takes announcements as
/// they come.
#[test]
fn changes_of_a_large_graph_that_is_not_read() {
    let _alone = alone();
    let context = context(7);
    let mut large = Node::create(context.clone(), "large", "").unwrap();
    let endpoints = (0..200).map(|number| large.create_publisher::<Text>(&format!("p{number}"), latched()));
    let endpoints = endpoints.collect::<Result<Vec<_>, _>>().unwrap();
    let mut console = Node::create(context, "console", "").unwrap();
    let mut introspection = Introspection::new(&mut console).unwrap();
    leaves_at_most(1000, 100, || {
        let subscription = console.subscribe::<Text>("p1", latched()).unwrap();
        std::thread::sleep(Duration::from_millis(150));
        drop(subscription);
        std::thread::sleep(Duration::from_millis(600));
    });
    let graph = introspection.graph(&console).unwrap();
    assert_eq!(
        graph.publishers.iter().filter(|publisher| publisher.node.as_deref() == Some("/large")).count(),
        200
    );
    drop(endpoints);
}

/// Without a peer: patches 0050 and 0055.
#[test]
fn subscriptions_of_ever_new_topics() {
    let _alone = alone();
    let mut listener = Node::create(context(1), "listener", "").unwrap();
    let mut number = 0;
    leaves_at_most(300, 2000, || {
        number += 1;
        drop(listener.subscribe::<Text>(&format!("topic_{number}"), latched()).unwrap());
        std::thread::sleep(Duration::from_millis(2));
    });
}

/// Patches 0050, 0052.
#[test]
fn publishers_that_come_and_go() {
    let _alone = alone();
    let mut talker = Node::create(context(2), "talker", "").unwrap();
    let mut listener = Node::create(context(2), "listener", "").unwrap();
    let mut received = listener.subscribe::<Text>("topic", latched()).unwrap();
    leaves_at_most(400, 500, || {
        let publisher = talker.create_publisher::<Text>("topic", latched()).unwrap();
        publisher.publish(&Text { data: "text".into() }).unwrap();
        get(received.next()).unwrap();
    });
}

/// Patches 0050, 0052.
#[test]
fn clients_that_come_and_go() {
    let _alone = alone();
    let mut server = Node::create(context(3), "server", "").unwrap();
    let mut asker = Node::create(context(3), "asker", "").unwrap();
    let qos = QosProfile::services_default;
    let mut requests = server.create_service::<SetBool::Service>("switch", qos()).unwrap();
    std::thread::spawn(move || {
        block_on(async {
            while let Some(request) = requests.next().await {
                request.respond(SetBool::Response { success: true, ..Default::default() }).unwrap();
            }
        });
    });
    leaves_at_most(1000, 300, || {
        let client = asker.create_client::<SetBool::Service>("switch", qos()).unwrap();
        get(Node::is_available(&client).unwrap()).unwrap();
        assert!(get(client.request(&SetBool::Request { data: true }).unwrap()).unwrap().success);
    });
}

/// As the supervisor restarts them: patch 0050.
#[test]
fn nodes_with_services_that_come_and_go() {
    let _alone = alone();
    let context = context(4);
    let _peer = self::context(4);
    leaves_at_most(1500, 300, || {
        let mut node = Node::create(context.clone(), "node", "").unwrap();
        let qos = QosProfile::services_default();
        drop(node.create_service::<SetBool::Service>("switch", qos).unwrap());
        std::thread::sleep(Duration::from_millis(10));
    });
}

/// Patches 0014, 0015.
#[test]
fn participants_that_come_and_go() {
    let _alone = alone();
    let mut listener = Node::create(context(5), "listener", "").unwrap();
    let mut received = listener.subscribe::<Text>("topic", latched()).unwrap();
    leaves_at_most(4000, 50, || {
        let mut talker = Node::create(context(5), "talker", "").unwrap();
        let publisher = talker.create_publisher::<Text>("topic", latched()).unwrap();
        publisher.publish(&Text { data: "text".into() }).unwrap();
        get(received.next()).unwrap();
    });
}

/// Patch 0050: the announcements of endpoints that stay were dropped after 8192 others.
#[test]
fn a_late_participant_finds_the_endpoints_that_stay() {
    let _alone = alone();
    let mut server = Node::create(context(6), "server", "").unwrap();
    let qos = QosProfile::services_default;
    let mut requests = server.create_service::<SetBool::Service>("switch", qos()).unwrap();
    for _ in 0..4500 {
        drop(server.subscribe::<Text>("topic", latched()).unwrap());
        // Discovery's queue of commands is limited.
        std::thread::sleep(Duration::from_millis(1));
    }
    let mut late = Node::create(context(6), "late", "").unwrap();
    let client = late.create_client::<SetBool::Service>("switch", qos()).unwrap();
    get(Node::is_available(&client).unwrap()).unwrap();
    let answer = client.request(&SetBool::Request { data: true }).unwrap();
    get(requests.next()).unwrap().respond(SetBool::Response { success: true, ..Default::default() }).unwrap();
    assert!(get(answer).unwrap().success);
}

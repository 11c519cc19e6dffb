//! Two contexts of the embedded layer communicate over the loopback interface.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::task::{Context as TaskContext, Wake, Waker};
use std::time::{Duration, Instant};

use dragoman_ros::{
    Arguments, Client, Context, Discovery, DiscoveryRange, Node, QosProfile, geometry_msgs, sensor_msgs,
    std_msgs, std_srvs,
};
use futures::executor::block_on;
use futures::future::{Either, select};
use futures::{Stream, StreamExt};

/// A unique domain for every test, so that tests can run at the same time.
fn discovery(test: u16) -> Discovery {
    // Ports of domains above 101 are in the system's ephemeral range.
    let base = 10 + (std::process::id() % 8) as u16 * 10;
    Discovery { domain_id: base + test, range: DiscoveryRange::Localhost, static_peers: Vec::new() }
}

fn context(test: u16) -> Context {
    Context::with_options(&discovery(test), Arguments::default()).unwrap()
}

fn within<T>(time: Duration, future: impl Future<Output = T>) -> Option<T> {
    let timeout = futures_timer::Delay::new(time);
    match block_on(select(Box::pin(future), timeout)) {
        Either::Left((value, _)) => Some(value),
        Either::Right(_) => None,
    }
}

fn collect<T>(stream: &mut (impl Stream<Item = T> + Unpin), count: usize) -> Vec<T> {
    let mut received = Vec::new();
    within(Duration::from_secs(20), async {
        while received.len() < count {
            received.push(stream.next().await.unwrap());
        }
    });
    received
}

const TIMEOUT: Duration = Duration::from_secs(10);

/// Matching is not symmetric: messages before a volatile reader's match are lost.
const MATCHING_SETTLES: Duration = Duration::from_millis(300);

#[test]
fn messages_arrive_in_order_whatever_the_quality_of_service() {
    let (here, there) = (context(0), context(0));
    let mut talker = Node::create(here, "talker", "").unwrap();
    let mut listener = Node::create(there, "listener", "").unwrap();
    let profiles = [
        ("default", QosProfile::default()),
        ("sensor_data", QosProfile::sensor_data()),
        ("keep_all", QosProfile::default().keep_all()),
        ("latched", QosProfile::default().transient_local()),
        ("system", QosProfile::system_default()),
    ];
    for (topic, qos) in profiles {
        let mut messages = listener.subscribe::<std_msgs::msg::UInt32>(topic, qos.clone()).unwrap();
        let publisher = talker.create_publisher::<std_msgs::msg::UInt32>(topic, qos).unwrap();
        within(TIMEOUT, publisher.wait_for_inter_process_subscribers().unwrap()).expect(topic).unwrap();
        std::thread::sleep(MATCHING_SETTLES);
        let sent: Vec<u32> = (1..=5).collect();
        for &data in &sent {
            publisher.publish(&std_msgs::msg::UInt32 { data }).unwrap();
            std::thread::sleep(Duration::from_millis(5));
        }
        let received: Vec<u32> =
            collect(&mut messages, sent.len()).into_iter().map(|message| message.data).collect();
        assert_eq!(received, sent, "{topic}");
    }
}

#[test]
fn a_late_joiner_gets_what_is_latched() {
    let here = context(1);
    let mut talker = Node::create(here, "talker", "").unwrap();
    let qos = QosProfile::default().keep_last(1).transient_local();
    let publisher =
        talker.create_publisher::<std_msgs::msg::String>("robot_description", qos.clone()).unwrap();
    // One byte more than a multiple of four, and larger than a datagram.
    let data = "x".repeat(150_001);
    publisher.publish(&std_msgs::msg::String { data: data.clone() }).unwrap();
    let mut listener = Node::create(context(1), "listener", "").unwrap();
    let mut messages = listener.subscribe::<std_msgs::msg::String>("robot_description", qos).unwrap();
    assert_eq!(collect(&mut messages, 1).first().map(|message| message.data.len()), Some(data.len()));
}

#[test]
fn structures_with_all_kinds_of_fields_arrive_unchanged() {
    let mut node = Node::create(context(2), "node", "/lab").unwrap();
    let mut messages = node.subscribe::<sensor_msgs::msg::Imu>("imu", QosProfile::default()).unwrap();
    let publisher =
        node.create_publisher::<sensor_msgs::msg::Imu>("/lab/imu", QosProfile::default()).unwrap();
    within(TIMEOUT, publisher.wait_for_inter_process_subscribers().unwrap()).unwrap().unwrap();
    let mut sent = sensor_msgs::msg::Imu::default();
    assert_eq!(sent.orientation, geometry_msgs::msg::Quaternion { w: 1.0, ..Default::default() });
    assert_eq!(sent.angular_velocity_covariance.len(), 9);
    sent.header.frame_id = "imu_link".into();
    sent.linear_acceleration_covariance[8] = 0.5;
    publisher.publish(&sent).unwrap();
    assert_eq!(collect(&mut messages, 1), [sent.clone()]);
    sent.angular_velocity_covariance.pop();
    assert!(publisher.publish(&sent).is_err(), "a fixed array of the wrong length");
}

fn serve(node: &mut Node, name: &str) -> std::thread::JoinHandle<()> {
    let mut requests =
        node.create_service::<std_srvs::srv::SetBool::Service>(name, QosProfile::services_default()).unwrap();
    std::thread::spawn(move || {
        block_on(async {
            while let Some(request) = requests.next().await {
                let message = format!("got {}", request.message.data);
                let last = message == "got false";
                request.respond(std_srvs::srv::SetBool::Response { success: true, message }).unwrap();
                if last {
                    break;
                }
            }
        });
    })
}

#[test]
fn services_answer_each_client_its_own_request() {
    let mut server = Node::create(context(3), "server", "").unwrap();
    let thread = serve(&mut server, "switch");
    let there = context(3);
    let mut node = Node::create(there, "client", "").unwrap();
    let clients: Vec<Client<std_srvs::srv::SetBool::Service>> =
        (0..3).map(|_| node.create_client("switch", QosProfile::services_default()).unwrap()).collect();
    for client in &clients {
        within(TIMEOUT, Node::is_available(client).unwrap()).expect("the service is there").unwrap();
    }
    let request = |data| std_srvs::srv::SetBool::Request { data };
    for client in &clients {
        for _ in 0..20 {
            let answer = within(TIMEOUT, client.request(&request(true)).unwrap()).unwrap().unwrap();
            assert_eq!(answer.message, "got true");
        }
    }
    let answer = within(TIMEOUT, clients[0].request(&request(false)).unwrap()).unwrap().unwrap();
    assert_eq!(answer.message, "got false");
    thread.join().unwrap();
}

#[test]
fn a_burst_of_a_hundred_thousand_reliable_messages_arrives() {
    let mut talker = Node::create(context(5), "talker", "").unwrap();
    let mut listener = Node::create(context(5), "listener", "").unwrap();
    let qos = QosProfile::default().keep_all();
    let mut messages = listener.subscribe::<std_msgs::msg::UInt32>("burst", qos.clone()).unwrap();
    let publisher = talker.create_publisher::<std_msgs::msg::UInt32>("burst", qos).unwrap();
    within(TIMEOUT, publisher.wait_for_inter_process_subscribers().unwrap()).unwrap().unwrap();
    std::thread::sleep(MATCHING_SETTLES);
    const COUNT: u32 = 100_000;
    let receiver = std::thread::spawn(move || {
        let mut expected = 0;
        within(Duration::from_secs(100), async {
            while expected < COUNT {
                assert_eq!(messages.next().await.unwrap().data, expected);
                expected += 1;
            }
        });
        expected
    });
    // A writer that keeps all samples fails after a while where its readers cannot keep up; it can be tried again.
    let end = Instant::now() + Duration::from_secs(100);
    for data in 0..COUNT {
        while let Err(error) = publisher.publish(&std_msgs::msg::UInt32 { data }) {
            assert!(Instant::now() < end, "{data}: {error}");
        }
    }
    assert_eq!(receiver.join().unwrap(), COUNT);
}

/// A topic of one name may have two types, for example `/cmd_vel` with and without a header.
#[test]
fn a_writer_of_another_type_is_not_misread() {
    let (here, there) = (context(9), context(9));
    let mut talker = Node::create(here, "talker", "").unwrap();
    let mut listener = Node::create(there, "listener", "").unwrap();
    let qos = QosProfile::default();
    let mut plain = listener.subscribe::<geometry_msgs::msg::Twist>("/cmd_vel", qos.clone()).unwrap();
    let mut stamped =
        listener.subscribe::<geometry_msgs::msg::TwistStamped>("/cmd_vel", qos.clone()).unwrap();
    let publisher = talker.create_publisher::<geometry_msgs::msg::TwistStamped>("/cmd_vel", qos).unwrap();
    within(TIMEOUT, publisher.wait_for_inter_process_subscribers().unwrap()).unwrap().unwrap();
    std::thread::sleep(MATCHING_SETTLES);
    let mut message = geometry_msgs::msg::TwistStamped::default();
    message.twist.linear.x = 0.25;
    for _ in 0..5 {
        publisher.publish(&message).unwrap();
    }
    assert_eq!(collect(&mut stamped, 5).last().map(|message| message.twist.linear.x), Some(0.25));
    assert_eq!(within(Duration::from_millis(300), plain.next()), None, "read as what it is not");
}

/// The task of a subscription, in which the middleware's thread waits until the sender is dropped.
struct Gate {
    reached: SyncSender<()>,
    opened: Mutex<Receiver<()>>,
}

impl Wake for Gate {
    fn wake(self: Arc<Self>) {
        let _ = self.reached.try_send(());
        let _ = self.opened.lock().unwrap().recv();
    }
}

/// Nothing that is made is refused, and nothing that is dropped stays, because the middleware is busy.
#[test]
fn endpoints_do_not_wait_for_the_event_loop() {
    const COUNT: u32 = 300;
    let (here, there) = (context(4), context(4));
    let mut talker = Node::create(here, "talker", "").unwrap();
    let mut listener = Node::create(there, "listener", "").unwrap();
    let qos = QosProfile::default();
    let mut messages = listener.subscribe::<std_msgs::msg::UInt32>("gate", qos.clone()).unwrap();
    let publisher = talker.create_publisher::<std_msgs::msg::UInt32>("gate", qos.clone()).unwrap();
    let (reached, is_reached) = sync_channel(1);
    let (open, opened) = sync_channel(0);
    let gate = Waker::from(Arc::new(Gate { reached, opened: Mutex::new(opened) }));
    assert!(messages.poll_next_unpin(&mut TaskContext::from_waker(&gate)).is_pending());
    within(TIMEOUT, publisher.wait_for_inter_process_subscribers().unwrap()).unwrap().unwrap();
    let end = Instant::now() + TIMEOUT;
    while is_reached.try_recv().is_err() {
        assert!(Instant::now() < end, "no message comes");
        publisher.publish(&std_msgs::msg::UInt32 { data: 1 }).unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    let made: Vec<_> = (0..COUNT)
        .map(|number| {
            let name = format!("made_{number}");
            let messages = listener.subscribe::<std_msgs::msg::UInt32>(&name, qos.clone()).unwrap();
            (messages, listener.create_publisher::<std_msgs::msg::UInt32>(&name, qos.clone()).unwrap())
        })
        .collect();
    drop(made);
    drop(open);
    assert_eq!(collect(&mut messages, 1)[0].data, 1);
    // Those that are made now come after what was made and dropped.
    let mut last = listener.subscribe::<std_msgs::msg::UInt32>("last", qos.clone()).unwrap();
    let publisher = talker.create_publisher::<std_msgs::msg::UInt32>("last", qos).unwrap();
    within(TIMEOUT, publisher.wait_for_inter_process_subscribers().unwrap()).unwrap().unwrap();
    std::thread::sleep(MATCHING_SETTLES);
    publisher.publish(&std_msgs::msg::UInt32 { data: 2 }).unwrap();
    assert_eq!(collect(&mut last, 1)[0].data, 2);
    let topics = talker.get_topic_names_and_types().unwrap();
    assert!(!topics.keys().any(|name| name.contains("made")), "{topics:?}");
}

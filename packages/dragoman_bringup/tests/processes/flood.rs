//! Many requests of a client that discovery never finds: other clients must not wait. The requests have the form of another
//! DDS implementation, and only real discovery leaves a client without a reader: on virtual time there is neither.

use std::time::{Duration, Instant};

use crate::common::apolo::{ApoloClient, request};
use crate::common::{Answer, Lab, domain};
use dragoman_ros::dragoman_msgs::srv::SetJointGoal;
use dragoman_ros::rcl_interfaces::srv::ListParameters;
use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, Publisher, QosProfile, WrappedTypesupport,
};
use futures::executor::block_on;

/// Writes the requests of a client on Cyclone DDS, without the reader for the answers.
fn client_without_reader<T: WrappedTypesupport + Send + 'static>(
    node: &mut Node,
    service: &str,
) -> Publisher<T> {
    let qos = QosProfile { avoid_ros_namespace_conventions: true, ..QosProfile::services_default() };
    let client = node.create_publisher::<T>(&format!("/rq{service}Request"), qos).unwrap();
    block_on(client.wait_for_inter_process_subscribers().unwrap()).unwrap();
    client
}

/// Cyclone's header takes the first 16 bytes: the array's length and first value. The rest is a goal of one joint,
/// which is refused.
fn goal() -> SetJointGoal::Request {
    SetJointGoal::Request { position: vec![0.0, f64::from_bits(1), 0.5], min_duration: 1.0 }
}

/// Likewise the first prefix; the rest requests the names below no prefix, one level deep.
fn list() -> ListParameters::Request {
    ListParameters::Request { prefixes: vec!["1234567".to_owned(), String::new()], depth: 1 }
}

/// Sends requests every 20 ms while `flood` has work, and prints the response times: about 20 ms on an idle machine; they
/// were 5 s when every request waited for its client. Without an answer the clients give up.
fn asked_during(name: &str, mut flood: impl FnMut(Duration) -> bool, mut ask: impl FnMut()) {
    let start = Instant::now();
    let mut times = Vec::new();
    while flood(start.elapsed()) {
        let asked = Instant::now();
        ask();
        times.push(asked.elapsed());
        std::thread::sleep(Duration::from_millis(20));
    }
    times.sort();
    let (median, p99) = (times[times.len() / 2], times[times.len() * 99 / 100]);
    println!(
        "{name}: {} answers, median {median:?}, 99th percentile {p99:?}, longest {:?}",
        times.len(),
        times[times.len() - 1]
    );
}

#[test]
fn requests_of_clients_that_are_never_found_silence_nobody() {
    let lab = Lab::start_with(domain(), &["up"], &["-p", "arm31:port:=0"]);
    let discovery =
        Discovery { domain_id: lab.domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    let context = Context::with_options(&discovery, Arguments::default()).unwrap();
    let mut node = Node::create(context, "stranger", "").unwrap();
    let goals = client_without_reader(&mut node, "/ranger/set_joint_goal");
    let lists = client_without_reader(&mut node, "/apolo/world/list_parameters");
    let client = lab.client();
    let stop = || {
        let answer = client.ask("ST", [0.0; 7], 0);
        assert!(matches!(answer, Answer::Values([b'T', b'S'], ..)), "{answer:?}");
    };
    let mut sent = 0;
    asked_during(
        "12 requests a second, STOP",
        |time| {
            while f64::from(sent) < time.as_secs_f64() * 12.0 {
                goals.publish(&goal()).unwrap();
                sent += 1;
            }
            time < Duration::from_secs(5)
        },
        stop,
    );
    let mut apolo = ApoloClient::new(lab.apolo);
    let location = request(b'G', "", &["pieza"], &[]);
    sent = 0;
    asked_during(
        "500 requests in 0.6 s, Apolo's get_location",
        |time| {
            while f64::from(sent) < (time.as_secs_f64() / 0.6).min(1.0) * 500.0 {
                lists.publish(&list()).unwrap();
                sent += 1;
            }
            time < Duration::from_secs(3)
        },
        || {
            apolo.ask(&location);
        },
    );
}

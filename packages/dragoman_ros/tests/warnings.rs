//! Warnings of the embedded layer.

use std::io::Write;
use std::sync::{Arc, Mutex};

use dragoman_ros::cdr;
use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile, WrappedTypesupport, std_msgs,
};
use futures::{FutureExt, StreamExt};
use serde::Serialize;

#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The warnings of this thread while `act` runs.
fn warnings(act: impl FnOnce()) -> Vec<String> {
    let lines = Lines::default();
    let writer = lines.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::WARN)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::with_default(subscriber, act);
    let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    text.lines().filter(|line| !line.contains("rustdds")).map(str::to_owned).collect()
}

fn node(name: &str) -> Node {
    let discovery = Discovery { domain_id: 99, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    let context = Context::with_options(&discovery, Arguments::default()).unwrap();
    Node::create(context, name, &format!("/run{}", std::process::id())).unwrap()
}

/// A length without a string, with the type name of a string.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Malformed {
    length: u32,
}

impl cdr::Cdr for Malformed {
    fn write(&self, out: &mut cdr::Output) {
        cdr::Cdr::write(&self.length, out);
    }

    fn read(input: &mut cdr::Input<'_>) -> Self {
        Self { length: cdr::Cdr::read(input) }
    }
}

impl WrappedTypesupport for Malformed {
    const TYPE_NAME: &'static str = std_msgs::msg::String::TYPE_NAME;
    const TYPE_HASH: &'static str = std_msgs::msg::String::TYPE_HASH;
}

#[test]
fn malformed_samples_are_reported_once_a_second() {
    let mut node = node("node");
    let qos = QosProfile::default().keep_last(100);
    let bad = node.create_publisher::<Malformed>("state", qos.clone()).unwrap();
    let good = node.create_publisher::<std_msgs::msg::String>("state", qos.clone()).unwrap();
    let mut messages = node.subscribe::<std_msgs::msg::String>("state", qos).unwrap();
    let warned = warnings(|| {
        for _ in 0..50 {
            bad.publish(&Malformed { length: 1000 }).unwrap();
        }
        good.publish(&std_msgs::msg::String { data: "fine".into() }).unwrap();
        assert_eq!(messages.next().now_or_never().flatten().unwrap().data, "fine");
    });
    assert_eq!(warned.len(), 1, "{warned:?}");
    assert!(warned[0].contains("/state") && warned[0].contains("std_msgs/msg/String"), "{warned:?}");
}

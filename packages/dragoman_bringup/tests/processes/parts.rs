//! Separate parts of the lab, and labs below namespaces.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::common::{Lab, domain};
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node};

const PATIENCE: Duration = Duration::from_secs(30);

/// The topics of a domain when all `wanted` are present.
fn topics(domain_id: u16, wanted: &[&str]) -> HashMap<String, Vec<String>> {
    let discovery = Discovery { domain_id, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    let context = Context::with_options(&discovery, Arguments::default()).unwrap();
    let node = Node::create(context, "observer", "").unwrap();
    let start = Instant::now();
    loop {
        let topics = node.get_topic_names_and_types().unwrap();
        if wanted.iter().all(|name| topics.contains_key(*name)) {
            return topics;
        }
        assert!(start.elapsed() < PATIENCE, "{wanted:?} are to be there: {topics:#?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn parts_of_the_lab_are_started_by_themselves() {
    let config = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("parts.yaml");
    std::fs::write(&config, "/**/arm31: {ros__parameters: {port: 0}}\n").unwrap();
    let config = config.to_str().unwrap();
    let arms = ["/left", "/right"].map(|namespace| {
        let arguments = ["up", "--only", "ranger", "--namespace", namespace, "--config", config];
        Lab::start_with(domain(), &arguments, &[])
    });
    for (arm, namespace) in arms.iter().zip(["/left/ranger", "/right/ranger"]) {
        assert_eq!(arm.banner.len(), 2, "a head and a row: {:?}", arm.banner);
        assert!(arm.banner[1].ends_with(namespace), "{:?}", arm.banner);
        let [_, _, height] = arm.client().position();
        assert!((height - 0.6671).abs() < 1e-4, "{height}");
    }
    let platform = Lab::start_with(domain(), &["up", "--only", "neobotix"], &[]);
    assert!(!platform.banner.iter().any(|row| row.contains("/ranger") || row.contains("Apolo")));
    let topics = topics(platform.domain, &["/neobotix/status"]);
    assert!(!topics.contains_key("/mobile_base/sensors/core"), "{topics:#?}");
}

#[test]
fn everything_of_a_lab_is_below_its_namespace() {
    let lab = Lab::start_with(domain(), &["up", "--namespace", "/left"], &["-p", "arm31:port:=0"]);
    let wanted = [
        "/left/ranger/pose",
        "/left/odom",
        "/left/scan",
        "/left/tf",
        "/left/camera/depth/image",
        "/left/neobotix/status",
        "/left/simulation/pose",
    ];
    // Topics of all nodes of a graph.
    let shared = [
        "/rosout",
        "/parameter_events",
        "/diagnostics",
        "/joy",
        "/clock",
        "/dragoman/_claims",
        "/service_calls",
    ];
    for name in topics(lab.domain, &wanted).keys() {
        assert!(name.starts_with("/left/") || shared.contains(&name.as_str()), "{name}");
    }
}

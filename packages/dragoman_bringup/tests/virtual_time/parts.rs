//! Separate parts of the lab, and labs below namespaces.

use std::collections::HashMap;
use std::time::Duration;

use crate::common::{Folder, Lab, node, within};

/// The topics of a domain when all `wanted` are present.
fn topics(domain: u16, wanted: &[&str]) -> HashMap<String, Vec<String>> {
    let node = node(domain);
    let mut topics = HashMap::new();
    within(Duration::from_secs(1), "the topics are there", || {
        topics = node.get_topic_names_and_types().unwrap();
        wanted.iter().all(|name| topics.contains_key(*name))
    });
    topics
}

#[test]
fn parts_of_the_lab_start_alone() {
    let folder = Folder::new();
    let config = folder.write("parts.yaml", "/**/arm31: {ros__parameters: {port: 0}}\n");
    let arms = [(1, "/left"), (2, "/right")].map(|(domain, namespace)| {
        let arguments = ["up", "--only", "ranger", "--namespace", namespace, "--config", &config];
        Lab::start_with(domain, &arguments, &[])
    });
    for (arm, namespace) in arms.iter().zip(["/left/ranger", "/right/ranger"]) {
        assert_eq!(arm.banner.len(), 3, "a head, a row, ready: {:?}", arm.banner);
        assert!(arm.banner[1].ends_with(namespace), "{:?}", arm.banner);
        let [_, _, height] = arm.client().position();
        assert!((height - 0.6671).abs() < 1e-4, "{height}");
    }
    let platform = Lab::only("neobotix");
    assert!(!platform.banner.iter().any(|row| row.contains("/ranger") || row.contains("Apolo")));
    let topics = topics(platform.domain, &["/neobotix/status"]);
    assert!(!topics.contains_key("/mobile_base/sensors/core"), "{topics:#?}");
}

#[test]
fn everything_of_a_lab_is_below_its_namespace() {
    let lab = Lab::start_with(0, &["up", "--namespace", "/left"], &[]);
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
        "/dragoman/clients",
        "/service_calls",
    ];
    for name in topics(lab.domain, &wanted).keys() {
        assert!(name.starts_with("/left/") || shared.contains(&name.as_str()), "{name}");
    }
}

//! Compares `docs/reference/` with the running programs: no row may be missing, superfluous or wrong.
//!
//! A table belongs to the heading above it and is known by its first head cell: `topic`, `service`, `called service`,
//! `action` or `parameter`. The test rewrites each table and compares it with the file; with
//! `DRAGOMAN_UPDATE_REFERENCE=1` it also replaces the file. Rows of parameters come from the parameter services. For
//! published topics the graph gives name, type, reliability and durability; for services the type. Rates, history
//! depths and meanings stay as they are in the file. DDS neither says which node a subscription belongs to, nor lists
//! services. So their names are written by hand, but for services that the description of a protocol names; and the
//! numbers of a node's readers and writers must match.

#![allow(dead_code, unreachable_pub, reason = "the labs are those of the tests on virtual time")]

#[path = "reference/conventions.rs"]
mod conventions;
#[path = "reference/described.rs"]
mod described;
#[path = "reference/observer.rs"]
mod observer;
#[path = "reference/pages.rs"]
mod pages;
#[path = "reference/rviz.rs"]
mod rviz;
#[path = "reference/tables.rs"]
mod tables;
#[path = "virtual_time"]
mod virtual_time {
    pub(crate) mod common;
    pub(crate) mod host;
}

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::Duration;

use dragoman_ros::QosProfile;
use dragoman_ros::sensor_msgs::msg::JointState;
use virtual_time::{common, host};

use common::{Folder, Lab};
use observer::Observer;
use tables::{Pages, TableRow, implied, names, policies, read_pages, rows, with_rows};

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// The heading of the rows that all nodes with parameters share; `~` stands for the node's name there.
const COMMON: &str = "Every node with parameters";

/// Time until a program has all its nodes and names.
const TIME_LIMIT: Duration = Duration::from_secs(5);

#[test]
fn reference_of_up() {
    let lab = Lab::start();
    let nodes = [
        ("/dragoman", "Node /dragoman"),
        ("/ranger/arm", "Node /ranger/arm"),
        ("/ranger/kinematics", "Node /ranger/kinematics"),
        ("/ranger/arm31", "Node /ranger/arm31, server side"),
        ("/ranger/tracker", "Node /ranger/tracker"),
        ("/mobile_base", "Node /mobile_base"),
        ("/widowx", "Node /widowx"),
        ("/neobotix/platform", "Node /neobotix/platform"),
        ("/neobotix/platform_state", "Node /neobotix/platform_state"),
        ("/neobotix/neobotix", "Node /neobotix/neobotix, server side"),
        ("/neobotix/hardware", "Node /neobotix/hardware"),
        ("/apolo/apolo", "Node /apolo/apolo, server side"),
        ("/apolo/world", "Node /apolo/world"),
        ("/robot_state", "Node /robot_state"),
        ("/simulation", "Node /simulation"),
        ("/player", "Node /player, server side"),
        ("/recorder", "Node /recorder"),
        ("/console", "Node /console"),
        ("/console_gateway", "Node /console_gateway"),
    ];
    compare(&lab, &nodes);
}

#[test]
fn reference_of_arm31() {
    // Port 9 is closed, and the node does not need an answer.
    let arguments = ["arm31", "--controller", "127.0.0.1:9", "--robot", "ranger_mk1"];
    let lab = Lab::start_with(0, &arguments, &[]);
    compare(&lab, &[("/dragoman", "Node /dragoman"), ("/ranger/arm31", "Node /ranger/arm31, client side")]);
}

#[test]
fn reference_of_apolo() {
    let robots = "apolo_client:robots:=[Marvin, Neo, Neobotix platform, Pioneer3AT, RoMAA]";
    let lasers = "apolo_client:lasers:=[LMS100, '', front, '', '']";
    let lab = Lab::start_with(0, &["apolo", "--server", "127.0.0.1:9"], &["-p", robots, "-p", lasers]);
    let client = ("/apolo/apolo_client", "Node /apolo/apolo_client, client side");
    compare(&lab, &[("/dragoman", "Node /dragoman"), client]);
}

#[test]
fn reference_of_neobotix() {
    let lab = Lab::start_with(0, &["neobotix", "--server", "127.0.0.1:9"], &[]);
    let client = ("/neobotix/neobotix_client", "Node /neobotix/neobotix_client, client side");
    compare(&lab, &[("/dragoman", "Node /dragoman"), client]);
}

#[test]
fn reference_of_player() {
    let lab = Lab::start_with(0, &["player", "--server", "127.0.0.1:9"], &[]);
    compare(
        &lab,
        &[("/dragoman", "Node /dragoman"), ("/player/player_client", "Node /player/player_client")],
    );
}

#[test]
fn reference_of_base() {
    let arguments = ["base", "--port", "/dev/no-base-is-here", "--kind", "differential"];
    let lab = Lab::start_with(0, &arguments, &[]);
    compare(
        &lab,
        &[("/dragoman", "Node /dragoman"), ("/mobile_base", "Node /mobile_base, differential drive")],
    );
}

/// The nodes and parameters that `dragoman` knows are those of the reference.
#[test]
fn known_parameters_are_those_of_the_reference() {
    let pages = read_pages();
    let own = |heading: &str| rows(&pages, heading, "parameter").into_iter().map(|row| row[0].clone());
    let mut nodes: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in pages.values().flat_map(|text| text.lines()) {
        let heading = line.trim_start_matches('#').trim().replace('`', "");
        let Some(node) = heading.strip_prefix("Node ").filter(|_| line.starts_with('#')) else { continue };
        let (path, _) = node.split_once(',').unwrap_or((node, ""));
        let name = path.rsplit('/').next().unwrap();
        nodes.entry(name.to_owned()).or_default().extend(own(&heading));
    }
    let line = |(node, names): (String, BTreeSet<String>)| {
        let names: Vec<String> = names.into_iter().map(|name| format!(" {name}")).collect();
        format!("{node}:{}\n", names.concat())
    };
    let expected: String = nodes.into_iter().map(line).collect();
    let path = format!("{REPOSITORY}/packages/dragoman_bringup/src/known_parameters.txt");
    if std::env::var_os("DRAGOMAN_UPDATE_REFERENCE").is_some() {
        std::fs::write(&path, &expected).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), expected, "DRAGOMAN_UPDATE_REFERENCE=1 rewrites it");
}

/// Pages with the rewritten tables of the sections, and further errors.
fn generate(pages: &Pages, sections: &[(&str, &str)], observer: &mut Observer) -> (Pages, Vec<String>) {
    let (mut new, mut problems) = (pages.clone(), Vec::new());
    let (mut published_by_all, mut subscribed) = (BTreeMap::new(), BTreeMap::new());
    let infos = observer.nodes();
    let unknown = infos.keys().filter(|name| !sections.iter().any(|(node, _)| node == name));
    problems.extend(unknown.map(|node| format!("{node} has no section")));
    for (node, heading) in sections {
        let Some(info) = infos.get(*node) else {
            problems.push(format!("{node} does not exist"));
            continue;
        };
        let mut replace = |kind: &str, of_kind: Vec<TableRow>| {
            let unexplained = of_kind.iter().filter(|row| row.last().is_none_or(String::is_empty));
            let mut wrong: Vec<_> =
                unexplained.map(|row| format!("{heading}: {} needs a meaning", row[0])).collect();
            new.values_mut().for_each(|text| *text = with_rows(text, heading, kind, &of_kind));
            if rows(&new, heading, kind) != of_kind {
                wrong.push(format!("{heading} has no table of kind {kind} for {of_kind:?}"));
            }
            wrong
        };
        let published = observer.published(info);
        let (mut readers, mut writers, mut covered) = (0, published.len(), BTreeSet::new());
        for kind in ["topic", "service", "called service"] {
            let own = rows(pages, heading, kind);
            let (count, mut kept) = (own.len(), Vec::new());
            for (index, row) in own.into_iter().chain(implied(pages, heading, kind)).enumerate() {
                let is_published = row.get(2).is_some_and(|direction| direction == "publishes");
                let names = names(&row[0], node);
                // Type and quality of service in the graph; they must be the same for all names.
                let facts = names.iter().map(|name| match kind {
                    "topic" if is_published => published.iter().find(|[topic, ..]| topic == name).cloned(),
                    "topic" => {
                        let exists = observer.subscriptions(name, &row[1]) > 0;
                        exists.then(|| [name.clone(), row[1].clone(), row[3].clone()])
                    }
                    _ => observer.service_type(info, kind, name).map(|of| [name.clone(), of, String::new()]),
                });
                let facts: Vec<_> = facts.map(|fact| fact.map(|[_, of, qos]| (of, qos))).collect();
                let mut seen = row.clone();
                if let Some(Some((of, qos))) = facts.first() {
                    seen[1].clone_from(of);
                    if is_published {
                        seen[3] = row[3].replacen(&policies(&row[3]), qos, 1);
                    }
                }
                let exists = facts.iter().all(|fact| fact.is_some() && *fact == facts[0]);
                if index >= count && !(exists && seen == row) {
                    problems.push(format!("{node} has no {row:?}"));
                }
                if !exists {
                    continue;
                }
                if is_published {
                    let facts = facts.into_iter().flatten();
                    covered.extend(names.into_iter().zip(facts).map(|(name, (of, qos))| [name, of, qos]));
                } else {
                    readers += names.len();
                    if kind == "topic" {
                        let keys = names.into_iter().map(|name| (name, row[1].clone()));
                        keys.for_each(|key| *subscribed.entry(key).or_insert(0) += 1);
                    } else {
                        writers += names.len();
                    }
                }
                kept.extend((index < count).then_some(seen));
            }
            if kind != "topic" {
                let listed: BTreeSet<String> =
                    rows(pages, heading, kind).iter().flat_map(|row| names(&row[0], node)).collect();
                for [name, meaning] in described::services(node, heading) {
                    let of = observer.service_type(info, kind, &name).filter(|_| !listed.contains(&name));
                    let Some(of) = of else { continue };
                    kept.push(vec![name, of, meaning]);
                    readers += 1;
                    writers += 1;
                }
            }
            if kind == "topic" {
                let published: BTreeSet<_> = published.iter().cloned().collect();
                for [topic, of, qos] in published.difference(&covered) {
                    kept.push([topic, of, "publishes", qos, "", ""].map(str::to_owned).to_vec());
                }
            }
            problems.extend(replace(kind, kept));
        }
        if !rows(pages, heading, "parameter").is_empty() {
            let common = rows(pages, COMMON, "parameter");
            let (of_all, own): (Vec<TableRow>, Vec<TableRow>) = observer
                .parameters(node)
                .into_iter()
                .partition(|row| common.iter().any(|known| known[0] == row[0]));
            if of_all != common {
                problems.push(format!("{node} has {of_all:?} of the common parameters {common:?}"));
            }
            problems.extend(replace("parameter", own));
        }
        let seen = (info.reader_gid_seq.len(), info.writer_gid_seq.len());
        if seen != (readers, writers) {
            problems.push(format!(
                "{node} has {} readers and {} writers; its tables have {readers} and {writers}. Add rows of new \
                 subscriptions and services by hand",
                seen.0, seen.1
            ));
        }
        published_by_all.extend(published.into_iter().map(|[topic, of, _]| (topic, of)));
    }
    for ((topic, of), count) in &subscribed {
        let seen = observer.subscriptions(topic, of);
        if seen != *count {
            problems.push(format!("{count} rows subscribe to {topic}, {of}; in the graph there are {seen}"));
        }
        if let Some(other) = published_by_all.get(topic).filter(|other| *other != of) {
            problems.push(format!("two types of one topic: {topic}, {of} and {other}"));
        }
    }
    (new, problems)
}

fn compare(lab: &Lab, sections: &[(&str, &str)]) {
    static UPDATE: Mutex<()> = Mutex::new(());
    let update = std::env::var_os("DRAGOMAN_UPDATE_REFERENCE").is_some();
    let mut observer = Observer::new(lab);
    let start = dragoman_time::now();
    loop {
        let guard = UPDATE.lock();
        let pages = read_pages();
        let (new, problems) = generate(&pages, sections, &mut observer);
        if new == pages && problems.is_empty() {
            return;
        }
        if dragoman_time::since(start) >= TIME_LIMIT {
            if update {
                new.iter().for_each(|(path, text)| std::fs::write(path, text).unwrap());
            }
            let lines =
                |pages: &Pages| pages.values().flat_map(|text| text.lines()).map(str::to_owned).collect();
            let (old, new): (BTreeSet<String>, BTreeSet<String>) = (lines(&pages), lines(&new));
            let removed = old.difference(&new).map(|line| format!("-{line}"));
            let added = new.difference(&old).map(|line| format!("+{line}"));
            let differences: Vec<String> = removed.chain(added).collect();
            assert!(
                update && problems.is_empty(),
                "docs/reference is stale, or its rows have another order; DRAGOMAN_UPDATE_REFERENCE=1 rewrites \
                 its tables\n{}\n{}\n",
                differences.join("\n"),
                problems.join("\n")
            );
            return;
        }
        drop(guard);
        common::sleep(Duration::from_millis(200));
    }
}

/// The only block of the guide in this language.
fn block(language: &str) -> &'static str {
    let guide = include_str!("../../../docs/own-robot.md");
    let (_, rest) = guide.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn the_guides_arm_starts_as_it_is_printed() {
    let folder = Folder::new();
    folder.write("lift.urdf", block("xml"));
    let robot = folder.write("lift.yaml", block("yaml"));
    let lab = Lab::start_with(0, &["up", "--only", "ranger", "--robot", &robot], &[]);
    let states =
        common::node(lab.domain).subscribe::<JointState>("/ranger/joint_states", QosProfile::default());
    let state = common::next(&mut states.unwrap());
    assert_eq!(state.name, ["lift_joint", "turn_joint"]);
    assert!((state.position[0] - 0.1).abs() < 1e-3, "{state:?}");
}

//! Descriptions compared with Pinocchio, which reads them with urdfdom: poses of all links, limits of the joints.
//!
//! `DRAGOMAN_PEER_PIN_PYTHON` is a Python with PyPI's `pin`; with `DRAGOMAN_REQUIRE_PEERS` it must be there.

#[path = "../../../dragoman_urdf/tests/oddities/lift.rs"]
mod lift;

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use dragoman_kinematics::Model;
use dragoman_kinematics::state::Tree;
use nalgebra::Matrix4;
use serde_json::{Value, json};

use crate::common::{Random, link_poses};

/// Positions at which each description is compared.
const POSITIONS: usize = 3;
const TOLERANCE: f64 = 1e-9;

/// Where the two differ on purpose: a joint that turns about a vector of length 0. Pinocchio's result is not a
/// rotation; Dragoman takes x, with a note.
const WITHOUT_DIRECTION: [&str; 2] = ["<axis xyz='0 0 0'/>", "<axis/>"];

/// A description that Dragoman loads.
struct Case {
    name: String,
    text: String,
    root: String,
    positions: Vec<BTreeMap<String, f64>>,
}

/// `None` if Dragoman does not load it.
fn case(name: String, text: String, random: &mut Random) -> Option<Case> {
    let description = dragoman_urdf::Description::parse(&text).ok()?;
    let tree = Tree::from_urdf(&text).ok()?;
    let joints: Vec<String> = tree.joint_names().map(str::to_owned).collect();
    let positions =
        (0..POSITIONS).map(|_| joints.iter().map(|name| (name.clone(), 3.0 * random.unit() - 1.5)).collect());
    Some(Case { name, positions: positions.collect(), root: description.root, text })
}

/// Pinocchio's poses and limits of these.
fn pinocchio(python: &str, cases: &[Case]) -> Vec<Value> {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/all/pin.py");
    let mut child = Command::new(python)
        .arg(script)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut requests = child.stdin.take().unwrap();
    let answers = BufReader::new(child.stdout.take().unwrap());
    let answers: Vec<Value> = std::thread::scope(|scope| {
        scope.spawn(move || {
            for Case { text, positions, .. } in cases {
                writeln!(requests, "{}", json!({ "urdf": text, "positions": positions })).unwrap();
            }
        });
        answers.lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
    });
    assert!(child.wait().unwrap().success());
    answers
}

#[test]
fn poses_and_limits_are_those_of_pinocchio() {
    let Ok(python) = std::env::var("DRAGOMAN_PEER_PIN_PYTHON") else {
        assert!(std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_none(), "there is no Pinocchio");
        println!("skipped: DRAGOMAN_PEER_PIN_PYTHON is not set");
        return;
    };
    let mut random = Random::announced("positions for Pinocchio", 35);
    let odd = lift::descriptions().map(|(odd, bytes)| (odd, dragoman_urdf::decode(&bytes).0));
    let cases: Vec<Case> = crate::descriptions::texts()
        .into_iter()
        .chain(odd)
        .filter_map(|(name, text)| case(name, text, &mut random))
        .collect();
    let (mut compared, mut refused, mut others) = (0, 0, Vec::new());
    for (case, answer) in cases.iter().zip(pinocchio(&python, &cases)) {
        if case.name.contains("continuous") && WITHOUT_DIRECTION.iter().any(|odd| case.name.contains(odd)) {
            continue;
        }
        if answer.get("error").is_some() {
            refused += 1;
            continue;
        }
        compared += 1;
        others.extend(differences(case, &answer));
    }
    println!("compared {compared} of {}; {refused} are refused by Pinocchio", cases.len());
    assert!(others.is_empty(), "{} differ: {:#?}", others.len(), &others[..others.len().min(20)]);
    assert!(compared > 1000);
}

/// Differences of Pinocchio's poses and limits from Dragoman's.
fn differences(case: &Case, answer: &Value) -> Vec<String> {
    let (name, mut found) = (&case.name, Vec::new());
    let mut tree = Tree::from_urdf(&case.text).unwrap();
    for (positions, theirs) in case.positions.iter().zip(answer["poses"].as_array().unwrap()) {
        for (link, pose) in link_poses(&mut tree, &case.root, |joint| positions.get(joint).copied()) {
            let Some(theirs) = theirs.get(&link) else {
                found.push(format!("{name}: no link {link}"));
                continue;
            };
            let numbers: Vec<f64> =
                theirs.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect();
            let distance = (pose.to_homogeneous() - Matrix4::from_row_slice(&numbers)).abs().max();
            if distance > TOLERANCE {
                found.push(format!("{name}: {link} is {distance:e} away"));
            }
        }
    }
    // The chain to the tool, with what bounds it.
    let Ok(model) = Model::from_urdf(&case.text, None, Some("tool0")) else { return found };
    for joint in model.joints() {
        let own = json!([joint.lower, joint.upper, joint.velocity]);
        match answer["limits"].get(&joint.name) {
            Some(limits) if *limits != own => {
                found.push(format!("{name}: {}: {limits}, not {own}", joint.name));
            }
            _ => {}
        }
    }
    found
}

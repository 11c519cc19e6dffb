//! Descriptions with oddities, each alone and in pairs. Dragoman must load all that ROS's own parser (urdfdom) loads.
//!
//! The parser is `check_urdf` of Debian's `liburdfdom-tools`, if it is there; with `DRAGOMAN_REQUIRE_PEERS` it must be.

#[path = "oddities/lift.rs"]
mod lift;

use std::process::{Command, Stdio};

use dragoman_urdf::{Description, decode};

/// Links of a description as urdfdom loads it; `None` if it does not.
fn urdfdom(text: &[u8]) -> Option<Vec<String>> {
    use std::io::Write as _;
    let mut child = Command::new("timeout")
        .args(["-s", "KILL", "10", "check_urdf", "/dev/stdin"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text).unwrap();
    let output = child.wait_with_output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let root = shown.lines().find_map(|line| line.strip_prefix("root Link: "));
    let root = root.and_then(|rest| rest.split(" has ").next()).map(str::to_owned);
    let below = shown
        .lines()
        .filter_map(|line| Some(line.trim().strip_prefix("child(")?.split_once(":  ")?.1.to_owned()));
    let mut links: Vec<String> = below.chain(root).collect();
    links.sort();
    output.status.success().then_some(links)
}

#[test]
fn all_that_urdfdom_loads_is_loaded() {
    let is_there = Command::new("check_urdf").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !is_there {
        assert!(std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_none(), "there is no check_urdf");
        println!("skipped: there is no check_urdf");
        return;
    }
    let (mut both, mut only_here, mut neither) = (0, 0, 0);
    for (odd, bytes) in lift::descriptions() {
        let theirs = urdfdom(&bytes);
        let ours = Description::parse(&decode(&bytes).0);
        match (theirs, ours) {
            (Some(mut links), Ok(description)) => {
                let mut found: Vec<String> =
                    description.robot.links.iter().map(|link| link.name.clone()).collect();
                found.sort();
                links.dedup();
                assert_eq!(found, links, "{odd}");
                both += 1;
            }
            (Some(_), Err(error)) => panic!("{odd}: {error}"),
            (None, Ok(_)) => only_here += 1,
            (None, Err(_)) => neither += 1,
        }
    }
    println!("both load {both}, only this one {only_here}, neither {neither}");
    assert!(both > 1000 && neither > 100);
}

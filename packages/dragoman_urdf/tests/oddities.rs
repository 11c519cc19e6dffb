//! Descriptions with oddities, each alone and in pairs: what ROS's own parser (urdfdom) loads, this loads.
//!
//! The parser is `check_urdf` of Debian's `liburdfdom-tools`, if it is there; with `DRAGOMAN_REQUIRE_PEERS` it must be.

use std::process::{Command, Stdio};

use dragoman_urdf::{Description, decode};

/// A lift with an arm, and a finger beside the chain to the tool. Words in capitals are places for oddities.
const LIFT: &str = r#"HEAD<robot name="lift" ROBOT>
<link name="base_link"/><link name="column"/><link name="arm">LINK</link><link name="tool0"/><link name="finger"/>
<joint name="lift_joint" type="prismatic"><parent link="base_link"/><child link="column"/><origin xyz="0 0 0.2"/>ARM<axis xyz="0 0 1"/><limit lower="0" upper="0.5" velocity="0.2" effort="100"/></joint>
<joint name="turn_joint" type="revolute"><parent link="column"/><child link="arm"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="50"/></joint>
<joint name="tool_joint" type="fixed"><parent link="arm"/><child link="tool0"/><origin xyz="0.4 0 0"/></joint>
<joint name="finger_joint" TYPE><parent link="arm"/><child link="finger"/>FINGER</joint>
END</robot>"#;

/// Place, and text there.
type Oddity = (&'static str, &'static str);

const SPHERE: &str = "<geometry><sphere radius='1'/></geometry>";

fn oddities() -> Vec<Oddity> {
    let visual = |inner: &str| format!("<visual>{SPHERE}{inner}</visual>").leak() as &str;
    vec![
        ("HEAD", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><!-- \u{fc} -->"),
        ("HEAD", "<?xml version=\"1.0\"?>\n<!-- <robot> -->"),
        ("HEAD", "<!DOCTYPE robot>"),
        ("HEAD", "\n"),
        ("ROBOT", "version=\"1.0\""),
        ("ROBOT", "xmlns:xacro=\"http://ros.org/wiki/xacro\""),
        ("ROBOT", "a:b=\"c\""),
        ("LINK", "<visual><origin xyz='0 0 0'/></visual>"),
        ("LINK", "<visual><geometry/></visual>"),
        ("LINK", "<visual><geometry><mesh/></geometry></visual>"),
        ("LINK", "<visual><geometry><box size='1 2'/></geometry></visual>"),
        ("LINK", "<visual><geometry><cone radius='1'/></geometry></visual>"),
        ("LINK", "<visual><geometry><sphere/></geometry></visual>"),
        ("LINK", "<collision><geometry><cylinder radius='1'/></geometry></collision>"),
        ("LINK", "<collision/>"),
        ("LINK", visual("<material name='a'/><material name='b'/>")),
        ("LINK", visual("<material><color rgba='1 0 0 1'/></material>")),
        ("LINK", visual("<material name='a'><color rgba='1 0 0'/></material>")),
        ("LINK", visual("<material name='a'><color/></material>")),
        ("LINK", visual("<material name='a'><texture/></material>")),
        ("LINK", visual("<origin xyz='0 0 zero'/>")),
        ("LINK", "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"),
        ("LINK", "<inertial><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"),
        ("LINK", "<inertial><mass value='1'/></inertial>"),
        ("LINK", "<inertial/><inertial/>"),
        ("LINK", "<contact><lateral_friction value='1'/></contact>"),
        ("LINK", "text"),
        ("ARM", "<origin xyz='0 0 0.3'/>"),
        ("ARM", "<axis xyz='0 1 0'/>"),
        ("ARM", "<limit lower='-1' upper='1' velocity='1' effort='1'/>"),
        ("ARM", "<dynamics damping='1'/>"),
        ("ARM", "<safety_controller k_velocity='1'/>"),
        ("ARM", "<calibration rising='0.1'/>"),
        ("ARM", "<hardwareInterface>x</hardwareInterface>"),
        ("TYPE", "type=\"floating\""),
        ("TYPE", "type=\"planar\""),
        ("TYPE", "type=\"continuous\""),
        ("TYPE", "type=\"revolute\""),
        ("TYPE", "type=\"helical\""),
        ("FINGER", "<origin/>"),
        ("FINGER", "<origin xyz='0 0'/>"),
        ("FINGER", "<origin rpy='a b c'/>"),
        ("FINGER", "<axis xyz='0 0 0'/>"),
        ("FINGER", "<axis/>"),
        ("FINGER", "<limit lower='-1e308' upper='1e308' velocity='1e9' effort='0'/>"),
        ("FINGER", "<limit lower='1' upper='-1' velocity='1' effort='1'/>"),
        ("FINGER", "<limit velocity='1' effort='1'/>"),
        ("FINGER", "<limit/>"),
        ("FINGER", "<mimic joint='nobody'/>"),
        ("FINGER", "<mimic joint='finger_joint'/>"),
        ("FINGER", "<mimic joint='turn_joint' multiplier='2' offset='1'/>"),
        ("FINGER", "<dynamics/>"),
        ("END", "<gazebo><sensor:camera name='c'><a/></sensor:camera></gazebo>"),
        ("END", "<gazebo reference='arm'/><transmission name='t'/><ros2_control/>"),
        ("END", "<material name='a'/><material name='a'/>"),
        ("END", "<xacro:property name='a' value='b'/>"),
        ("END", "<frame name='f'/>"),
        ("END", "<link name='arm'/>"),
        ("END", "<link name='alone'/>"),
        ("END", "<link/>"),
        ("END", "<joint/>"),
        ("END", "<joint name='turn_joint' type='fixed'><parent link='arm'/><child link='tool0'/></joint>"),
        ("END", "<joint name='x' type='fixed'><parent link='arm'/><child link='nobody'/></joint>"),
        // Not a link with two parents below itself: urdfdom does not end then.
    ]
}

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
fn what_urdfdom_loads_this_loads() {
    let is_there = Command::new("check_urdf").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    if !is_there {
        assert!(std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_none(), "there is no check_urdf");
        println!("skipped: there is no check_urdf");
        return;
    }
    let oddities = oddities();
    let pairs = (0..oddities.len()).flat_map(|one| (one..oddities.len()).map(move |other| (one, other)));
    let (mut both, mut only_here, mut neither) = (0, 0, 0);
    for (one, other) in pairs {
        let pair = [oddities[one], oddities[other]];
        // The same place twice: one after the other, if it takes elements.
        if one != other && pair[0].0 == pair[1].0 && matches!(pair[0].0, "HEAD" | "TYPE" | "ROBOT") {
            continue;
        }
        let mut text = LIFT.to_owned();
        for (place, odd) in &pair[..if one == other { 1 } else { 2 }] {
            text = text.replacen(place, &format!("{odd}{}", if *place == "TYPE" { "" } else { *place }), 1);
        }
        text = text.replacen("TYPE", "type=\"fixed\"", 1);
        for place in ["HEAD", "ROBOT", "LINK", "ARM", "FINGER", "END"] {
            text = text.replacen(place, "", 1);
        }
        // In the encoding that it declares.
        let bytes: Vec<u8> = if text.contains("ISO-8859-1") {
            text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect()
        } else {
            text.into_bytes()
        };
        let theirs = urdfdom(&bytes);
        let ours = Description::parse(&decode(&bytes).0);
        match (theirs, ours) {
            (Some(mut links), Ok(description)) => {
                let mut found: Vec<String> =
                    description.robot.links.iter().map(|link| link.name.clone()).collect();
                found.sort();
                links.dedup();
                assert_eq!(found, links, "{pair:?}");
                both += 1;
            }
            (Some(_), Err(error)) => panic!("{pair:?}: {error}"),
            (None, Ok(_)) => only_here += 1,
            (None, Err(_)) => neither += 1,
        }
    }
    println!("both load {both}, only this one {only_here}, neither {neither}");
    assert!(both > 1000 && neither > 100);
}

//! Descriptions of a lift with oddities, each alone and in pairs.

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

/// What is odd, and the description in the encoding that it declares.
pub(crate) fn descriptions() -> impl Iterator<Item = (String, Vec<u8>)> {
    let oddities = oddities();
    let count = oddities.len();
    let pairs = (0..count).flat_map(move |one| (one..count).map(move |other| (one, other)));
    pairs.filter_map(move |(one, other)| {
        let pair = [oddities[one], oddities[other]];
        // The same place twice: one after the other, if it takes elements.
        if one != other && pair[0].0 == pair[1].0 && matches!(pair[0].0, "HEAD" | "TYPE" | "ROBOT") {
            return None;
        }
        let mut text = LIFT.to_owned();
        for (place, odd) in &pair[..if one == other { 1 } else { 2 }] {
            text = text.replacen(place, &format!("{odd}{}", if *place == "TYPE" { "" } else { *place }), 1);
        }
        text = text.replacen("TYPE", "type=\"fixed\"", 1);
        for place in ["HEAD", "ROBOT", "LINK", "ARM", "FINGER", "END"] {
            text = text.replacen(place, "", 1);
        }
        let bytes = if text.contains("ISO-8859-1") {
            text.chars().map(|letter| u8::try_from(u32::from(letter)).unwrap()).collect()
        } else {
            text.into_bytes()
        };
        Some((format!("{pair:?}"), bytes))
    })
}

//! Descriptions with oddities, as people publish them.

use dragoman_urdf::{About, Description, decode};
use proptest::prelude::*;
use urdf_rs::JointType;

/// A lift with a turning arm; `LINK` and `JOINT` are places for oddities in it, `END` is one at the end.
const LIFT: &str = r#"<robot name="lift">
<link name="base_link"/><link name="column"/><link name="arm">LINK</link><link name="tool0"/>
<joint name="lift_joint" type="prismatic"><parent link="base_link"/><child link="column"/><origin xyz="0 0 0.2"/>JOINT<axis xyz="0 0 1"/><limit lower="0" upper="0.5" velocity="0.2" effort="100"/></joint>
<joint name="turn_joint" type="revolute"><parent link="column"/><child link="arm"/><axis xyz="0 0 1"/><limit lower="-3" upper="3" velocity="1" effort="50"/></joint>
<joint name="tool_joint" type="fixed"><parent link="arm"/><child link="tool0"/><origin xyz="0.4 0 0"/></joint>
END</robot>"#;

fn lift(link: &str, joint: &str, end: &str) -> String {
    LIFT.replace("LINK", link).replace("JOINT", joint).replace("END", end)
}

/// Reads it, and returns the notes.
#[track_caller]
fn notes(text: &str) -> Vec<String> {
    let description = Description::parse(text).unwrap();
    assert_eq!(description.root, "base_link");
    assert_eq!((description.robot.links.len(), description.robot.joints.len()), (4, 3));
    assert_eq!(*description.robot.joints[0].origin.xyz, [0.0, 0.0, 0.2]);
    assert_eq!(*description.robot.joints[2].origin.xyz, [0.4, 0.0, 0.0]);
    let joints = |note: &&dragoman_urdf::Note| matches!(note.about, About::Joint(_));
    assert_eq!(description.notes.iter().find(joints), None);
    description.notes.iter().map(ToString::to_string).collect()
}

#[test]
fn faults_in_unused_parts_do_not_stop_an_arm() {
    assert_eq!(notes(&lift("", "", "")), [""; 0]);
    let left_out = [
        ("<visual><origin xyz='0 0 0'/></visual>", "<geometry> is missing; the <visual> is left out"),
        ("<visual><geometry/></visual>", "<geometry> is empty; the <visual> is left out"),
        ("<visual><geometry><mesh/></geometry></visual>", "<mesh> has no filename; the <visual> is left out"),
        ("<visual><geometry><cone/></geometry></visual>", "<cone> is no shape; the <visual> is left out"),
        (
            "<visual><geometry><box size='1 2'/></geometry></visual>",
            "size=\"1 2\" of <box> is not 3 numbers; the <visual> is left out",
        ),
        (
            "<visual><origin rpy='0 x 0'/><geometry><sphere radius='1'/></geometry></visual>",
            "rpy=\"0 x 0\" of <origin> is not 3 numbers; the <visual> is left out",
        ),
        (
            "<visual><geometry><sphere radius='1'/></geometry><material name='a'><color rgba='1 0 0'/></material></visual>",
            "rgba=\"1 0 0\" of <color> is not 4 numbers; the <color> is left out",
        ),
        (
            "<visual><geometry><sphere radius='1'/></geometry><material><color rgba='1 0 0 1'/></material></visual>",
            "a <material> without a name",
        ),
        (
            "<visual><geometry><sphere radius='1'/></geometry><material name='a'/><material name='b'/></visual>",
            "a second <material> is left out",
        ),
        (
            "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>",
            "<inertia> has no ixy; the <inertial> is left out",
        ),
        ("<inertial><inertia ixx='1'/></inertial>", "<mass> is missing; the <inertial> is left out"),
        ("<inertial><mass value='1'/></inertial>", "<inertia> is missing; the <inertial> is left out"),
        (
            "<inertial><mass value='heavy'/></inertial>",
            "value=\"heavy\" of <mass> is no number; the <inertial> is left out",
        ),
        ("<inertial><mass value='-1'/></inertial>", "a mass of -1 kg; the <inertial> is left out"),
    ];
    for (link, text) in left_out {
        assert_eq!(notes(&lift(link, "", "")), [format!("line 2: link arm: {text}")], "{link}");
    }
    let inertial =
        "<inertial><mass value='2'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>";
    let two = lift(&inertial.repeat(2).replacen("'2'", "'3'", 1), "", "");
    assert_eq!(notes(&two), ["line 2: link arm: a second <inertial> is left out"]);
    assert_eq!(Description::parse(&two).unwrap().robot.links[2].inertial.mass.value, 3.0);
}

#[test]
fn the_first_of_two_counts() {
    let two = lift("", r#"<origin xyz="0 0 0.3"/>"#, "");
    assert_eq!(notes(&two), ["line 3: joint lift_joint: a second <origin> is left out"]);
}

#[test]
fn extensions_of_other_programs_are_skipped() {
    let known = "<gazebo><a/></gazebo><transmission/><ros2_control/><xacro:arg xmlns:xacro='x' name='a'/>";
    assert_eq!(notes(&lift("", "", known)), [""; 0]);
    let camera = "\n<gazebo><sensor:camera a:b='c'/><sensor:ray/></gazebo>";
    let expected = ["sensor:camera>: the prefix a is", "sensor:camera>: the prefix sensor is"];
    let expected = expected.map(|text| format!("line 7: <{text} not declared"));
    assert_eq!(notes(&lift("", "", camera)), expected);
    let xacro = "<xacro:property name='a'/>";
    let expected = "<xacro:property> is left out: this is xacro, from which `xacro FILE` makes a description";
    assert_eq!(notes(&lift("", "", xacro)), [format!("line 6: {expected}")]);
    let unknown = "<contact/><contact/>";
    assert_eq!(notes(&lift(unknown, "", "")), ["line 2: <contact> in <link> (2 times) means nothing here"]);
    let malformed = "<gazebo reference=arm/>";
    assert!(notes(&lift("", "", malformed))[0].starts_with("line 6: an attribute of <gazebo> is left out: "));
}

/// A fault in a part that the arm needs is found by the part's name, and the part has a substitute.
#[test]
fn faults_of_joints() {
    let cases = [
        (
            "<axis xyz=\"0 0 1\"/>",
            "<axis xyz=\"0 0 0\"/>",
            "axis 0 0 0 has no direction; it is taken along x",
        ),
        ("<axis xyz=\"0 0 1\"/>", "<axis/>", "<axis> has no xyz; it is taken along x"),
        (
            "xyz=\"0 0 0.2\"",
            "xyz=\"0 0,2 0\"",
            "xyz=\"0 0,2 0\" of <origin> is not 3 numbers; the child is at its parent",
        ),
        ("upper=\"0.5\"", "upper=\"-0.5\"", "limits 0 to -0.5 enclose no range; it has none"),
        ("upper=\"0.5\"", "upper=\"nan\"", "upper=\"nan\" of <limit> is no number; it has none"),
        ("type=\"prismatic\"", "type=\"linear\"", "there is no type linear; it is taken as fixed"),
        ("<axis xyz=\"0 0 1\"/>", "<mimic joint=\"turn\"/>", "there is no moving joint turn to mimic"),
        (
            "<axis xyz=\"0 0 1\"/>",
            "<mimic joint=\"lift_joint\"/>",
            "it mimics itself, by way of others or not",
        ),
        ("<axis xyz=\"0 0 1\"/>", "<mimic/>", "<mimic> has no joint; it moves by itself"),
    ];
    for (from, to, text) in cases {
        let text = format!("line 3: joint lift_joint: {text}");
        let description = Description::parse(&lift("", "", "").replacen(from, to, 1)).unwrap();
        let fault = description.fault(&About::Joint("lift_joint".to_owned())).map(ToString::to_string);
        assert_eq!(fault, Some(text), "{to}");
        assert_eq!(description.fault(&About::Joint("turn_joint".to_owned())), None);
    }
    let without =
        lift("", "", "").replace("<limit lower=\"-3\" upper=\"3\" velocity=\"1\" effort=\"50\"/>", "");
    let description = Description::parse(&without).unwrap();
    let fault = description.fault(&About::Joint("turn_joint".to_owned())).unwrap();
    let text = "line 4: joint turn_joint: <limit> is missing, which a joint of this type needs";
    assert_eq!(fault.to_string(), text);
    // Only control at the host needs friction.
    let friction = Description::parse(&lift("", "<dynamics damping='x'/>", "")).unwrap();
    let text =
        "line 3: joint lift_joint: damping=\"x\" of <dynamics> is no number; the <dynamics> is left out";
    assert_eq!(friction.fault(&About::Inertia("column".to_owned())).unwrap().to_string(), text);
    assert_eq!(friction.notes.len(), 1);
    let circle = lift("", r#"<mimic joint="turn_joint"/>"#, "")
        .replace(r#"<limit lower="-3""#, r#"<mimic joint="lift_joint"/><limit lower="-3""#);
    let description = Description::parse(&circle).unwrap();
    assert!(description.robot.joints.iter().all(|joint| joint.mimic.is_none()));
}

#[test]
fn limits_that_mean_no_limit() {
    let wide = lift("", "", "").replace("lower=\"0\" upper=\"0.5\"", "lower=\"-1e308\" upper=\"inf\"");
    assert_eq!(notes(&wide), [""; 0]);
    let limit = Description::parse(&wide).unwrap().robot.joints[0].limit.clone();
    assert_eq!((limit.lower, limit.upper), (-1e308, f64::INFINITY));
    let endless = lift("", "", "")
        .replace("type=\"revolute\"", "type=\"continuous\"")
        .replace("lower=\"-3\"", "lower=\"9\"");
    assert_eq!(notes(&endless), [""; 0]);
}

/// URDF 1.1.
#[test]
fn quaternions() {
    let half = r#"<robot version="1.1"><link name="a"/><link name="b"/><joint name="j" type="fixed"><parent link="a"/>
        <child link="b"/><origin quat_xyzw="0 0 1 1"/></joint></robot>"#;
    let [roll, pitch, yaw] = *Description::parse(half).unwrap().robot.joints[0].origin.rpy;
    assert!(roll == 0.0 && pitch == 0.0 && (yaw - std::f64::consts::FRAC_PI_2).abs() < 1e-15);
    let old = Description::parse(&half.replace("1.1", "1.0")).unwrap();
    assert_eq!(*old.robot.joints[0].origin.rpy, [0.0; 3]);
    for wrong in ["quat_xyzw='0 0 0 0'", "quat_xyzw='0 0 1'", "quat_xyzw='0 0 0 1' rpy='0 0 0'"] {
        let description = Description::parse(&half.replace("quat_xyzw=\"0 0 1 1\"", wrong)).unwrap();
        assert!(description.fault(&About::Joint("j".to_owned())).is_some(), "{wrong}");
    }
}

#[test]
fn any_name_is_a_name() {
    for name in
        ["lift.joint", "lift-joint", "lift joint", "1_joint", "lift__joint", "Gr\u{fc}\u{df}e", "a&amp;b"]
    {
        let text = lift("", "", "").replace("lift_joint", name);
        assert_eq!(notes(&text), [""; 0]);
        let found = &Description::parse(&text).unwrap().robot.joints[0].name;
        assert_eq!(*found, name.replace("&amp;", "&"));
    }
}

#[test]
fn texts_that_are_not_robots_are_refused() {
    let error = |text: &str| Description::parse(text).unwrap_err().to_string();
    let whole = lift("", "", "");
    assert_eq!(error(""), "line 1: there is no element: a description is a <robot>");
    assert_eq!(error("\n<sdf/>"), "line 2: <sdf> is no robot description: it has to be a <robot>");
    assert_eq!(
        error("<robot><link name='a'/></robot>\n<robot/>"),
        "line 2: <robot> follows the end of the document"
    );
    assert_eq!(error("<robot>\n<link name='a'>"), "line 2: <link> has no end");
    assert!(error("<robot>\n</link>").starts_with("line 2: "));
    assert_eq!(error("<robot name='a'/>"), "line 1: there are no links");
    assert_eq!(error(&whole.replace("link name=\"tool0\"", "link")), "line 2: <link> has no name");
    assert_eq!(error(&whole.replace("name=\"lift_joint\"", "")), "line 3: <joint> has no name");
    assert_eq!(
        error(&whole.replace("<parent link=\"arm\"/>", "")),
        "line 5: joint tool_joint has no <parent>"
    );
    assert_eq!(
        error(&whole.replace("<child link=\"tool0\"/>", "<child/>")),
        "line 5: joint tool_joint: <child> has no link"
    );
}

/// The number of notes has a limit, but notes about parts that an arm needs are always kept.
#[test]
fn notes_are_bounded() {
    let many = lift(&"<visual/>".repeat(5000), "", "").replace("axis xyz=\"0 0 1\"", "axis");
    let description = Description::parse(&many).unwrap();
    assert!(description.notes.len() < 1010);
    assert!(description.notes.last().unwrap().to_string().ends_with(" more of these"));
    assert!(description.fault(&About::Joint("turn_joint".to_owned())).is_some());
}

/// A description that `urdf-rs` reads is read with the same result.
#[test]
fn as_urdf_rs_reads_it() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../urdf");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "urdf") {
            continue;
        }
        let (text, note) = decode(&std::fs::read(&path).unwrap());
        assert_eq!(note, None);
        let description = Description::parse(&text).unwrap();
        assert_eq!(description.notes, [], "{}", path.display());
        let mut robot = urdf_rs::read_from_string(&text).unwrap();
        for joint in robot.joints.iter_mut().filter(|joint| joint.joint_type == JointType::Fixed) {
            joint.axis = urdf_rs::Axis::default();
            joint.limit = urdf_rs::JointLimit::default();
        }
        let written = urdf_rs::write_to_string(&robot).unwrap();
        assert_eq!(urdf_rs::write_to_string(&description.robot).unwrap(), written, "{}", path.display());
        count += 1;
    }
    assert!(count > 5);
}

proptest! {
    /// Any text gives a description or an error, and any bytes can be decoded.
    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let (text, _) = decode(&bytes);
        let _ = Description::parse(&text);
    }

    /// A piece of a description is replaced by random text.
    #[test]
    fn pieces_are_replaced(at in 0_usize..2000, len in 0_usize..60, piece in "[ -~]{0,20}") {
        let whole = lift("<visual><geometry><sphere radius='1'/></geometry></visual>", "<mimic joint='turn_joint'/>", "");
        let (at, end) = (at.min(whole.len()), (at + len).min(whole.len()));
        let text = format!("{}{piece}{}", &whole[..at], &whole[end..]);
        if let Ok(description) = Description::parse(&text) {
            prop_assert!(description.robot.links.iter().any(|link| link.name == description.root));
        }
    }
}

//! World files, descriptions and meshes: accepted input, and errors with line and reason.

use std::collections::HashMap;

use proptest::prelude::*;

use super::super::{Geometry, LoadError, Mesh, Worlds};
use super::{load, near, refusal};

/// The line in the message.
fn line(error: &LoadError) -> usize {
    match error {
        LoadError::Element { line, .. } => *line,
        LoadError::Yaml { reason } => {
            let rest = reason.split_once("line ").unwrap_or_else(|| panic!("no line in {reason}")).1;
            rest.split([' ', ',']).next().unwrap().parse().unwrap()
        }
    }
}

#[test]
fn errors_name_the_line_and_what_is_wrong() {
    let body =
        |shape: &str| format!("worlds:\n- name: A\n  bodies:\n  - name: thing\n    shapes:\n    - {shape}\n");
    for (shape, words) in [
        ("box: [1, 2, 0]", "0 is out of range 0.0001"),
        ("box: [1, 2, .nan]", "NaN is out of range"),
        ("box: [1, 2, 1e300]", "is out of range"),
        ("box: [1, -2, 1]", "-2 is out of range"),
        ("cylinder: {radius: .inf, length: 1}", "inf is out of range"),
        ("cylinder: {radius: 1}", "missing field `length`"),
        ("bxo: [1, 1, 1]", "the unknown key 'bxo'; did you mean 'box'?"),
        ("extrusion: {polygon: [[0, 0], [1, 0]], height: 1}", "2 corners; a polygon has 3"),
    ] {
        let error = refusal(&body(shape));
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(line(&error), 6, "{error}");
    }
    for (shape, words) in [
        ("{}", "a shape is one of"),
        ("cube: [1, 1, 1]", "line 6: worlds[0].bodies[0].shapes[0]: the unknown key 'cube' is left out"),
        ("{box: [1, 1, 1], sphere: {radius: 1}}", "a shape is one of"),
        ("extrusion: {polygon: [[0, 0], [1, 1], [2, 2]], height: 1}", "no area"),
        ("extrusion: {polygon: [[0, 0], [1, 1], [1, 0], [0, 1.1]], height: 1}", "cross each other"),
        ("mesh: {file: a.stl}", "a.stl: no files here"),
    ] {
        let error = refusal(&body(shape));
        assert!(error.to_string().contains(words), "{error}");
        assert_eq!(line(&error), 4, "{error}");
    }
}

#[test]
fn what_is_unknown_is_left_out_with_a_note() {
    let text = "author: me\nworlds:\n- name: A\n  bodies:\n  - name: thing\n    friction: 0.3\n    shapes: [{sphere: {radius: 1}}]\n";
    let worlds = load(text);
    assert_eq!(
        worlds.world(None).unwrap().notes(),
        [
            "line 1: the unknown key 'author' is left out",
            "line 6: worlds[0].bodies[0]: the unknown key 'friction' is left out",
        ]
    );
    let error = refusal(&text.replace("name: thing", "nmae: thing")).to_string();
    assert_eq!(error, "line 5, column 5: worlds[0].bodies[0]: the unknown key 'nmae'; did you mean 'name'?");
    let error = refusal(&text.replace("friction: 0.3", "name: other")).to_string();
    assert_eq!(error, "line 6, column 5: worlds[0].bodies[0]: the key 'name' is given twice");
}

#[test]
fn errors_of_a_world_in_json_have_a_line_too() {
    let text = r#"{"worlds": [{"name": "A",
  "bodies": [
    {"name": "thing", "shapes": [{"sphere": {"radius": 1}}]},
    {"shapes": [], "name" : "empty"}
  ]}]}"#;
    let error = refusal(text);
    assert!(error.to_string().contains("needs shapes"), "{error}");
    assert_eq!(line(&error), 4, "{error}");
    let error = refusal(&text.replace("radius", "diameter"));
    assert!(error.to_string().contains("missing field `radius`"), "{error}");
    assert!(error.to_string().ends_with("the unknown key 'diameter' is left out"), "{error}");
    assert_eq!(line(&error), 3, "{error}");
}

#[test]
fn landmarks_share_an_id_if_the_world_says_so() {
    let text = "worlds:\n- name: A\n  landmarks: [{name: m, id: 1}, {name: n, id: 1}]\n";
    assert!(refusal(text).to_string().contains("id 1"));
    let worlds = load(&format!("{text}  repeated_landmark_ids: true\n"));
    assert_eq!(worlds.world(None).unwrap().landmarks().len(), 2);
}

#[test]
fn parts_that_do_not_fit_together_are_refused() {
    let thing = "{name: thing, shapes: [{sphere: {radius: 1}}]}";
    let arm = "{name: a, convention: craig, joints: [{name: j, type: revolute, lower: 0, upper: 1}]}";
    let robot = "{name: r, wheel_radius: 0.1, body: [], supports: [[0, 0], [1, 0], [2, 0]]}";
    for (rest, words) in [
        (format!("bodies: [{thing}, {{name: T HING, shapes: [{{sphere: {{radius: 1}}}}]}}]"), "used twice"),
        (format!("bodies: [{thing}]\n  landmarks: [{{name: Thing, id: 1}}]"), "used twice"),
        ("landmarks: [{name: m, id: 1}, {name: n, id: 1}]".to_owned(), "n: its id 1 is that of m already"),
        ("bodies: [{name: thing}]".to_owned(), "needs shapes"),
        ("bodies: [{name: '  ', shapes: [{sphere: {radius: 1}}]}]".to_owned(), "1 to 254 bytes"),
        ("lasers: [{name: l, model: lms100, on: nobody}]".to_owned(), "on nobody, which does not exist"),
        ("lasers: [{name: l}]".to_owned(), "either a model or a scan"),
        (
            "lasers: [{name: l, scan: {beams: 1, first_angle: 0, last_angle: 1, min_range: 1, max_range: 2}}]".to_owned(),
            "2 to 10000 beams",
        ),
        (format!("wheeled_robots: [{robot}]"), "not collinear"),
        (format!("wheeled_robots: [{}]", robot.replace("[2, 0]", "[0, 1]")), "needs a body or a urdf"),
        (format!("wheeled_robots: [{}]", robot.replace("[2, 0]", "[0, 1]").replace("}", ", without: [a]}")), "without belongs"),
        (format!("arms: [{}]", arm.replace("a,", "a, root_link: b,")), "belong to a urdf"),
        (format!("arms: [{}]", arm.replace("a,", "a, on: nobody,")), "not a robot on wheels"),
        (format!("bodies: [{thing}]\n  arms: [{}]", arm.replace("a,", "a, on: thing,")), "not a robot on wheels"),
        ("arms: [{name: a}]".to_owned(), "either a urdf or joints"),
        ("arms: [{name: a, joints: [{name: j, type: revolute, lower: 0, upper: 1}]}]".to_owned(), "convention"),
        (
            "arms: [{name: a, convention: craig, joints: [{name: j, type: revolute, lower: 1, upper: 1}]}]".to_owned(),
            "lower below upper",
        ),
        (
            "arms: [{name: a, home: [2], convention: craig, joints: [{name: j, type: revolute, lower: 0, upper: 1}]}]".to_owned(),
            "beyond its limits",
        ),
    ] {
        let error = refusal(&format!("worlds:\n- name: A\n  {rest}\n"));
        assert!(error.to_string().contains(words), "{error}");
    }
    assert!(refusal("worlds: []").to_string().contains("the list is empty"));
    assert!(refusal("worlds: [{name: A}, {name: ' a'}]").to_string().contains("a name of its own"));
}

#[test]
fn the_first_world_that_has_the_object_is_meant() {
    let ball = |x: f64| format!("[{{name: ball, xyz: [{x}, 0, 0], shapes: [{{sphere: {{radius: 1}}}}]}}]");
    let mut worlds = load(&format!(
        "worlds:\n- name: Empty\n- name: One\n  bodies: {}\n- name: Two\n  bodies: {}\n",
        ball(1.0),
        ball(2.0)
    ));
    assert_eq!(worlds.location(None, "ball").unwrap()[0], 1.0);
    assert_eq!(worlds.location(Some("two"), "ball").unwrap()[0], 2.0);
    assert!(worlds.location(Some("empty"), "ball").is_err());
    worlds.update(None).unwrap();
    assert!(worlds.worlds().iter().all(|world| world.updates() == 1));
}

#[test]
fn the_printed_example_loads() {
    let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/apolo-world.md"));
    let example = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    let mut worlds = load(example);
    assert_eq!(worlds.world(None).unwrap().collisions(), []);
    assert!(worlds.place_m_robot(None, "Rover", [0.5, 0.5, 0.2], 1.0).unwrap());
    assert!(!worlds.check_robot_joints(None, "Picker", &[0.5, 0.1]).unwrap());
    assert_eq!(worlds.laser_data(None, "front").unwrap().len(), 541);
}

/// A unit cube with a corner at the origin, as OBJ with faces of four corners.
const CUBE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1
f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 2/1/1 3//1 7 6\nf 3 4 8 7\nf -8 -4 -1 -5\n";

fn cube_as_stl(binary: bool) -> Vec<u8> {
    let triangles: Vec<_> = Mesh::parse("a.obj", CUBE.as_bytes(), [1.0; 3]).unwrap().triangles().collect();
    if !binary {
        let corner = |[x, y, z]: [f64; 3]| format!("vertex {x} {y} {z}\n");
        let facet = |corners: &[[f64; 3]; 3]| {
            format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", corners.map(corner).concat())
        };
        let facets: String = triangles.iter().map(facet).collect();
        return format!("solid cube\n{facets}endsolid\n").into_bytes();
    }
    let mut bytes = b"solid, says the header".to_vec();
    bytes.resize(80, 0);
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for triangle in triangles {
        bytes.extend([0; 12]);
        bytes.extend(triangle.iter().flatten().flat_map(|value| (*value as f32).to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

#[test]
fn meshes_from_all_formats_are_the_same_cube() {
    let files: HashMap<&str, Vec<u8>> = [
        ("cube.obj", CUBE.as_bytes().to_vec()),
        ("text.stl", cube_as_stl(false)),
        ("binary.STL", cube_as_stl(true)),
    ]
    .into();
    for file in files.keys() {
        for convex in [false, true] {
            let text = format!(
                "worlds:\n- name: A\n  bodies:\n  - {{name: cube, shapes: [{{mesh: {{file: {file}, scale: [2, 2, 2], convex: {convex}}}}}]}}
  - {{name: ball, xyz: [5, 1, 1], shapes: [{{sphere: {{radius: 0.5}}}}]}}
  wheeled_robots:
  - {{name: robot, xyz: [9, 0, 0], wheel_radius: 0.1, body: [{{sphere: {{radius: 0.3}}}}], supports: [[0.1, 0], [0, 0.1], [0, -0.1]]}}
  ultrasonics: [{{name: sonar, xyz: [-1, 1, 1]}}]\n"
            );
            let get = |name: &str| files.get(name).cloned().ok_or_else(|| "missing".to_owned());
            let mut worlds = Worlds::from_yaml(&text, &get).unwrap();
            near(worlds.distance(None, "cube", "ball").unwrap(), 2.5, 1e-6);
            near(worlds.ultrasonic(None, "sonar").unwrap(), 1.0, 1e-6);
            let cube = worlds.world(None).unwrap().parts().first().unwrap();
            assert_eq!(cube.shapes[0].geometry.triangles().len(), 12);
            // A solid completely inside the cube, far from its surface, counts as well.
            worlds.place_xyz(None, "robot", [1.0, 1.0, 1.0]).unwrap();
            assert_eq!(worlds.world(None).unwrap().collisions(), [("robot", "cube")], "{file}, {convex}");
        }
    }
}

#[test]
fn a_mesh_of_triangles_in_the_world_file() {
    let world = |mesh: &str| {
        format!(
            "worlds:
- name: A
  bodies:
  - {{name: wedge, shapes: [{{mesh: {{{mesh}}}}}]}}
  - {{name: ball, xyz: [0, -2, 0], shapes: [{{sphere: {{radius: 0.5}}}}]}}
"
        )
    };
    let corners = "vertices: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]";
    let triangles = "triangles: [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]]";
    let mut worlds = load(&world(&format!("{corners}, {triangles}, scale: [2, 2, 2]")));
    near(worlds.distance(None, "ball", "wedge").unwrap(), 1.5, 1e-6);
    worlds.place_xyz(None, "ball", [2.0, -1.0, 0.0]).unwrap();
    near(worlds.distance(None, "ball", "wedge").unwrap(), 0.5, 1e-6);
    for (mesh, words) in [
        (corners.to_owned(), "either a file or vertices"),
        (format!("file: a.stl, {corners}, {triangles}"), "either a file or vertices"),
        (format!("{corners}, triangles: [[0, 1, 4]]"), "there is no corner 4"),
        ("vertices: [[0, 0, .nan]], triangles: [[0, 0, 0]]".to_owned(), "NaN is out of range"),
    ] {
        let error = refusal(&world(&mesh)).to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn meshes_that_are_refused() {
    for (name, bytes, words) in [
        ("a.stl", b"solid\n".to_vec(), "no triangle"),
        ("a.stl", b"vertex 0 0 0\nvertex 1 0 0\n".to_vec(), "not complete"),
        ("a.stl", b"vertex 0 0 x\n".to_vec(), "line 1: \"x\" is not a number"),
        ("a.stl", vec![0xff; 300], "neither"),
        ("a.obj", b"v 0 0 0\nf 1 2 3\n".to_vec(), "line 2: there is no corner 2"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 nan 0\nf 1 2 3\n".to_vec(), "coordinate NaN"),
        ("a.obj", b"v 0 0 0\nf 0 0 0\n".to_vec(), "there is no corner 0"),
        ("a.dae", Vec::new(), "from .stl and .obj"),
    ] {
        let error = Mesh::parse(name, &bytes, [1.0; 3]).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_polygon_with_a_notch_is_a_solid_with_a_notch() {
    let mut worlds = load(
        "worlds:
- name: A
  bodies:
  - {name: u, shapes: [{extrusion: {polygon: [[0, 0], [3, 0], [3, 3], [2, 3], [2, 1], [1, 1], [1, 3], [0, 3]], height: 1}}]}
  - {name: ball, xyz: [1.5, 2, 0.5], shapes: [{sphere: {radius: 0.1}}]}
",
    );
    near(worlds.distance(None, "u", "ball").unwrap(), 0.4, 1e-6);
    worlds.place_xyz(None, "ball", [2.5, 2.0, 0.5]).unwrap();
    assert_eq!(worlds.distance(None, "u", "ball").unwrap(), 0.0);
    let world = worlds.world(None).unwrap();
    let triangles = world.parts()[0].shapes[0].geometry.triangles();
    // Volume by the divergence theorem: closed, and oriented outwards.
    let volume: f64 = triangles
        .iter()
        .map(|[a, b, c]| {
            let [a, b, c] = [a, b, c].map(|corner| nalgebra::Vector3::from(*corner));
            a.dot(&b.cross(&c)) / 6.0
        })
        .sum();
    near(volume, 7.0, 1e-9);
}

#[test]
fn parts_of_a_description() {
    let text = include_str!("../../../../urdf/turtlebot2_widowx.urdf");
    let load = |arms: &str| {
        let world = format!("worlds:\n- name: A\n  arms: [{arms}]\n");
        Worlds::from_yaml(&world, &|_| Ok(text.as_bytes().to_vec()))
    };
    // The arm alone keeps its pose in the description, and only its own joints; the fingers follow the last.
    let mut worlds =
        load("{name: w, urdf: t, root_link: arm_base_link, tip_link: gripper_left_link}").unwrap();
    near(worlds.location(None, "w").unwrap()[2], 0.42, 1e-12);
    let names: Vec<String> =
        worlds.robot_joints(None, "w").unwrap().iter().map(|joint| joint.name.clone()).collect();
    let arm = ["arm_1_joint", "arm_2_joint", "arm_3_joint", "arm_4_joint", "arm_5_joint", "gripper_1_joint"];
    assert_eq!(names, arm);
    near(worlds.tool_pose(None, "w").unwrap().translation.y, 0.0185, 1e-12);
    worlds.set_robot_joints(None, "w", &[0.0, 0.0, 0.0, 0.0, 0.0, 2.0]).unwrap();
    near(worlds.tool_pose(None, "w").unwrap().translation.y, 0.0037, 1e-12);
    let refused = |arms: &str, words: &str| {
        let error = load(arms).err().unwrap().to_string();
        assert!(error.contains(words), "{error}");
    };
    refused("{name: w, urdf: t, root_link: arm_9_link}", "no link arm_9_link");
    refused("{name: w, urdf: t, root_link: arm_base_link, tip_link: base_link}", "name tip_link");
}

/// A joint that moves the tool must be right; the same fault beside the arm is a note.
#[test]
fn a_faulty_joint_of_an_arm_is_an_error() {
    let text = "<robot name='r'><link name='base'/><link name='a'/><link name='b'/>
<joint name='a_joint' type='continuous'><parent link='base'/><child link='a'/></joint>
<joint name='b_joint' type='continuous'><parent link='a'/><child link='b'/><axis xyz='0 0 0'/></joint></robot>";
    let load = |tip: &str| {
        let world = format!("worlds:\n- name: A\n  arms: [{{name: w, urdf: t, tip_link: {tip}}}]\n");
        Worlds::from_yaml(&world, &|_| Ok(text.as_bytes().to_vec()))
    };
    let error = load("b").err().unwrap().to_string();
    assert!(error.contains("t: line 3: ") && error.contains("axis 0 0 0 has no direction"), "{error}");
    let worlds = load("a").unwrap();
    let notes = worlds.world(None).unwrap().notes().join("; ");
    assert!(notes.contains("t: line 3: ") && notes.contains("it is taken along x"), "{notes}");
}

/// Faulty joints do not move, and links without a shape are omitted: with a note, not an error.
#[test]
fn descriptions_with_faults() {
    let joint = |name: &str, parent: &str, rest: &str| {
        format!(
            "<link name='{name}'/><joint name='{name}_joint' {rest}<parent link='{parent}'/><child link='{name}'/></joint>"
        )
    };
    let limits = |lower: &str, upper: &str| {
        format!("type='revolute'><limit lower='{lower}' upper='{upper}' velocity='1' effort='1'/>")
    };
    let text = [
        "<robot name='r'><link name='base'><visual><geometry><mesh filename='gone.stl'/></geometry></visual>".to_owned(),
        "<collision><geometry><capsule radius='1' length='1'/></geometry></collision>".to_owned(),
        "<inertial><mass value='1e300'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link>".to_owned(),
        joint("a", "base", &limits("-1e308", "inf")),
        joint("b", "a", &limits("0.5", "0.5")),
        joint("c", "b", "type='floating'>"),
        joint("d", "c", &limits("-1", "1").replace("<limit", "<mimic joint='b_joint'/><limit")),
        "</robot>".to_owned(),
    ]
    .concat();
    let files =
        |name: &str| if name == "t" { Ok(text.as_bytes().to_vec()) } else { Err("missing".to_owned()) };
    let mut worlds =
        Worlds::from_yaml("worlds:\n- name: A\n  arms: [{name: w, urdf: t, tip_link: d}]\n", &files).unwrap();
    let joints = worlds.robot_joints(None, "w").unwrap();
    assert_eq!(joints.iter().map(|joint| joint.name.as_str()).collect::<Vec<_>>(), ["a_joint"]);
    assert_eq!(
        worlds.world(None).unwrap().notes(),
        [
            "t: link base: mass 1e300 kg, or its place, is too large: it has no mass",
            "t: link base: gone.stl: missing: the shape is left out",
            "t: link base: a capsule: the shape is left out",
            "t: joint b_joint: limits 0.5 to 0.5; it is fixed here",
            "t: joint c_joint: only revolute, continuous and prismatic joints move; it is fixed here",
            "t: joint d_joint: the joint b_joint does not move, nor does this one",
        ]
    );
}

#[test]
fn every_description_of_the_workspace_is_an_arm() {
    for (file, text, joints) in [
        ("ranger_mk1.urdf", include_str!("../../../../urdf/ranger_mk1.urdf"), 6),
        ("ranger_mk2.urdf", include_str!("../../../../urdf/ranger_mk2.urdf"), 8),
        ("platform_arm.urdf", include_str!("../../../../urdf/platform_arm.urdf"), 6),
    ] {
        let world = format!(
            "worlds:\n- name: A\n  arms: [{{name: arm, urdf: {file}, tip_link: tool0}}]\n  bodies: [{{name: statue, urdf: {file}, xyz: [9, 0, 0]}}]\n"
        );
        let mut worlds = Worlds::from_yaml(&world, &|_| Ok(text.as_bytes().to_vec())).unwrap();
        let model = dragoman_description(text);
        let arm: Vec<f64> = worlds
            .robot_joints(None, "arm")
            .unwrap()
            .iter()
            .map(|joint| joint.lower + 0.3 * (joint.upper - joint.lower))
            .collect();
        assert_eq!(arm.len(), joints);
        worlds.set_robot_joints(None, "arm", &arm).unwrap();
        let tool = worlds.tool_pose(None, "arm").unwrap();
        // The same with the forward kinematics of another program.
        model.set_joint_positions(&arm).unwrap();
        let expected = model.end_transform();
        near((tool.translation.vector - expected.translation.vector).norm(), 0.0, 1e-9);
        near(tool.rotation.angle_to(&expected.rotation), 0.0, 1e-7);
        assert!(worlds.world(None).unwrap().parts().len() > joints);
    }
}

fn dragoman_description(text: &str) -> k::SerialChain<f64> {
    let chain = k::Chain::<f64>::from(urdf_rs::read_from_string(text).unwrap());
    k::SerialChain::from_end(chain.find_link("tool0").unwrap())
}

/// A value of a world file, valid or invalid.
fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (-3.0..3.0_f64).prop_map(|value| value.to_string()),
        1 => Just(".nan".to_owned()),
        1 => Just("-.inf".to_owned()),
        1 => Just("0".to_owned()),
        1 => Just("1e-4".to_owned()),
        1 => Just("1e4".to_owned()),
        1 => Just("1e300".to_owned()),
        1 => Just("five".to_owned()),
    ]
}

fn size() -> impl Strategy<Value = String> {
    prop_oneof![9 => (0.001..2.0_f64).prop_map(|value| value.to_string()), 1 => value()]
}

fn shape() -> impl Strategy<Value = String> {
    let three = || (size(), size(), size());
    let corners = proptest::collection::vec((value(), value()), 2..7);
    prop_oneof![
        three().prop_map(|(a, b, c)| format!("{{box: [{a}, {b}, {c}]}}")),
        three().prop_map(|(a, b, _)| format!("{{cylinder: {{radius: {a}, length: {b}}}}}")),
        three().prop_map(|(a, _, _)| format!("{{sphere: {{radius: {a}}}}}")),
        (corners, size()).prop_map(|(corners, height)| {
            let corners: Vec<String> = corners.iter().map(|(x, y)| format!("[{x}, {y}]")).collect();
            format!("{{extrusion: {{polygon: [{}], height: {height}}}}}", corners.join(", "))
        }),
    ]
}

proptest! {
    #[test]
    fn no_text_makes_the_loader_panic(text in any::<String>(), bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = Worlds::from_yaml(&text, &|_| Ok(bytes.clone()));
        let _ = Mesh::parse("a.stl", &bytes, [1.0; 3]);
        let _ = Mesh::parse("a.obj", &bytes, [1.0; 3]);
    }

    /// Files with random values are either loaded, and then all queries work, or the error is described.
    #[test]
    fn random_worlds(
        shapes in proptest::collection::vec((shape(), value(), value(), value()), 1..6),
        joint in (value(), value(), value(), value()),
        speed in -3.0..3.0_f64,
    ) {
        let bodies: String = shapes.iter().enumerate().map(|(at, (shape, x, y, z))| {
            format!("  - {{name: b{at}, xyz: [{x}, {y}, {z}], rpy: [{z}, {x}, {y}], shapes: [{shape}]}}\n")
        }).collect();
        let (a, alpha, d, upper) = joint;
        let robot = &shapes[0].0;
        let text = format!("worlds:
- name: A
  bodies:
{bodies}  arms:
  - {{name: arm, convention: craig, joints: [{{name: j, type: revolute, a: {a}, alpha: {alpha}, d: {d}, lower: -1, upper: {upper}, link: [{robot}]}}]}}
  wheeled_robots:
  - {{name: cart, wheel_radius: 0.1, body: [{robot}], supports: [[0.1, 0], [0, {a}], [0, -0.1]]}}
  lasers: [{{name: laser, on: cart, model: lms100, xyz: [{a}, 0, 0.5], rpy: [0, {alpha}, 0]}}]
  ultrasonics: [{{name: sonar, on: cart, xyz: [0, {a}, 0.5]}}]
  landmarks: [{{name: mark, id: 1, xyz: [1, {a}, {d}]}}]
");
        if let Ok(mut worlds) = Worlds::from_yaml(&text, &|_| Err(String::new())) {
            let _ = worlds.world(None).unwrap().collisions();
            let _ = worlds.place_m_robot(None, "cart", [0.0, 0.0, 3.0], speed).unwrap();
            let _ = worlds.move_m_robot(None, "cart", [speed, speed], 0.3).unwrap();
            let _ = worlds.check_robot_joints(None, "arm", &[0.0]);
            let ranges = worlds.laser_data(None, "laser").unwrap();
            prop_assert!(ranges.iter().all(|range| (0.0..=20.0).contains(range)));
            let range = worlds.ultrasonic(None, "sonar").unwrap();
            prop_assert!((0.05..=3.0).contains(&range));
            prop_assert!(worlds.laser_landmarks(None, "laser").unwrap().len() <= 1);
            prop_assert!(worlds.distance(None, "b0", "cart").unwrap() >= 0.0);
            for part in worlds.world(None).unwrap().parts() {
                let triangles = part.shapes.iter().map(|shape: &super::super::Shape| match &shape.geometry {
                    Geometry::Extrusion { .. } => shape.geometry.triangles().len(),
                    _ => 1,
                });
                prop_assert!(triangles.sum::<usize>() > 0 || part.shapes.is_empty());
            }
        }
    }
}

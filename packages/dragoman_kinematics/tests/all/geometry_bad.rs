//! Invalid descriptions: each gets its error, and mutated text never panics.

use crate::common::urdf;
use dragoman_kinematics::state::Tree;
use dragoman_kinematics::{Model, ModelError, Robot, RobotSettings};
use proptest::prelude::*;

const CROOKED: &str = include_str!("../data/crooked.urdf");
const TABLE: &str = include_str!("../data/ranger_mk1.yaml");

fn urdf_error(from: &str, to: &str) -> ModelError {
    assert!(CROOKED.contains(from), "{from}");
    Model::from_urdf(&CROOKED.replace(from, to), None, Some("camera")).unwrap_err()
}

fn table_error(from: &str, to: &str) -> ModelError {
    assert!(TABLE.contains(from), "{from}");
    Model::from_dh_yaml(&TABLE.replacen(from, to, 1)).unwrap_err()
}

/// The description is refused with this reason, which names the line.
#[track_caller]
fn assert_urdf_refused(from: &str, to: &str, reason: &str) {
    let at = CROOKED.find(from).unwrap();
    let line = 1 + CROOKED[..at].matches('\n').count();
    assert_eq!(urdf_error(from, to).to_string(), format!("robot description, line {line}: {reason}"));
}

/// YAML files are refused with the place of such a number.
#[track_caller]
fn assert_refused_with_line(error: &ModelError, value: &str) {
    let ModelError::Yaml { reason } = error else { panic!("{error:?}") };
    assert!(
        reason.contains(&format!("{value} is not a plausible number for a robot")) && reason.contains("line"),
        "{reason}"
    );
}

#[test]
fn invalid_numbers_are_refused() {
    let reach = "joint reach: xyz=\"0.4 NaN 0\" of <origin> is not 3 numbers";
    assert_urdf_refused(r#"xyz="0.4 0 0""#, r#"xyz="0.4 NaN 0""#, reach);
    assert!(urdf_error(r#"rpy="0 1.3 0""#, r#"rpy="0 inf 0""#).to_string().contains("rpy=\"0 inf 0\""));
    for (from, to, value) in [("d: 0.2491", "d: .nan", "NaN"), ("a: 0.5589", "a: .inf", "inf")] {
        assert_refused_with_line(&table_error(from, to), value);
    }
    assert!(matches!(table_error("d: 0.2491", "d: many"), ModelError::Yaml { .. }));
}

#[test]
fn limits_and_rates() {
    let limits = |joint: &str, lower, upper| ModelError::Limits { joint: joint.to_owned(), lower, upper };
    let range = |to: &str| {
        let model =
            Model::from_urdf(&CROOKED.replace(r#"lower="-2.1" upper="2.2""#, to), None, Some("camera"));
        let lift = model.unwrap().joints().iter().find(|joint| joint.name == "lift").unwrap().clone();
        (lift.lower, lift.upper)
    };
    for none in [r#"lower="-1e9" upper="1e308""#, r#"lower="-inf" upper="inf""#] {
        assert_eq!(range(none), (f64::NEG_INFINITY, f64::INFINITY), "{none}");
    }
    assert_eq!(range(r#"lower="-2" upper="1e16""#), (-2.0, 1e5));
    let reason = "joint lift: limits 2.5 to 2.2 enclose no range";
    assert_urdf_refused(r#"lower="-2.1" upper="2.2""#, r#"lower="2.5" upper="2.2""#, reason);
    assert_eq!(table_error("upper: 1.6", "upper: -3"), limits("joint_3", -2.35, -3.0));
    assert_refused_with_line(&table_error("upper: 1.6", "upper: .nan"), "NaN");
    assert!(matches!(table_error("upper: 1.6, ", ""), ModelError::Limits { .. }));
    assert!(matches!(table_error("upper: 1.6", "upper: 1e9"), ModelError::Limits { .. }));
    assert!(matches!(
        table_error("velocity: 0.07", "velocity: 0"),
        ModelError::Rate { field: "velocity", .. }
    ));
    assert!(matches!(table_error("acceleration: 0.5", "acceleration: -1"), ModelError::Rate { .. }));
    assert!(matches!(
        urdf_error(r#"velocity="1.5""#, r#"velocity="-1.5""#),
        ModelError::Rate { value: -1.5, .. }
    ));
}

#[test]
fn axes_types_and_mimics() {
    for axis in ["0 0 0", "1e300 1e300 0"] {
        let error = urdf_error(r#"xyz="0.2 -0.5 2.0""#, &format!("xyz=\"{axis}\""));
        assert!(
            error.to_string().contains("joint turn: axis ") && error.to_string().contains(" no direction")
        );
    }
    let error = urdf_error(r#"type="continuous""#, r#"type="floating""#);
    assert_eq!(error, ModelError::JointType { joint: "roll".to_owned(), kind: "floating".to_owned() });
    assert!(matches!(table_error("revolute", "helical"), ModelError::Yaml { .. }));
    let error = Model::from_urdf(CROOKED, None, Some("finger_b")).unwrap_err();
    assert_eq!(error, ModelError::Mimic { joint: "grip_b".to_owned(), source_joint: "grip_a".to_owned() });
    // It is not a joint of the arm.
    let missing = CROOKED.replace(r#"mimic joint="grip_a""#, r#"mimic joint="grip_x""#);
    assert_eq!(
        Model::from_urdf(&missing, None, Some("camera")),
        Model::from_urdf(CROOKED, None, Some("camera"))
    );
}

#[test]
fn links_that_do_not_form_a_tree_are_refused() {
    let refused = |from: &str, to: &str, reason: &str| {
        let error = urdf_error(from, to).to_string();
        assert!(error.starts_with("robot description, line ") && error.contains(reason), "{error}");
    };
    let boom = r#"child link="boom""#;
    refused(boom, r#"child link="bloom""#, "joint lift: there is no link bloom, its child");
    refused(boom, r#"child link="turret""#, "joint lift: link turret has two parents, by joint turn as well");
    refused(r#"parent link="turret"/><child"#, r#"parent link="camera"/><child"#, "a circle of joints");
    refused(r#"<parent link="world"/>"#, r#"<parent link="camera"/>"#, "a circle of joints");
    let world = r#"<link name="world"/>"#;
    refused(world, &format!("{world}<link name=\"moon\"/>"), "link moon has no parent, nor has link world");
    refused(r#"<link name="head"/>"#, r#"<link name="boom"/>"#, "link boom is already there, in line ");
    assert!(matches!(table_error("joint_2", "joint_1"), ModelError::DuplicateName { .. }));
}

#[test]
fn base_and_tip() {
    let tips = Model::from_urdf(CROOKED, None, None).unwrap_err();
    assert!(matches!(&tips, ModelError::AmbiguousTip { candidates } if candidates.len() == 3), "{tips}");
    let upwards = Model::from_urdf(CROOKED, Some("head"), Some("boom")).unwrap_err();
    assert!(matches!(upwards, ModelError::NotConnected { .. }));
    let unknown = Model::from_urdf(CROOKED, Some("Head"), None).unwrap_err();
    assert!(matches!(unknown, ModelError::Missing { .. }));
    assert_eq!(Model::from_urdf(CROOKED, Some("head"), Some("camera")).unwrap_err(), ModelError::NoJoints);
    assert_eq!(Model::from_urdf(CROOKED, Some("head"), Some("head")).unwrap_err(), ModelError::NoJoints);
    assert_eq!(
        Model::from_urdf("<robot><link name='a'/></robot>", None, None).unwrap_err(),
        ModelError::NoJoints
    );
}

#[test]
fn too_few_joints_too_many_joints_and_invalid_text_are_refused() {
    assert_eq!(Model::from_dh_yaml("joints: []").unwrap_err(), ModelError::NoJoints);
    let row = |i| format!("  - {{name: j{i}, type: revolute, a: 0.1, alpha: 0, d: 0, theta: 0}}\n");
    let of = |n: usize| format!("joints:\n{}", (0..n).map(row).collect::<String>());
    assert_eq!(Model::from_dh_yaml(&of(13)).unwrap_err(), ModelError::TooManyJoints { count: 13, most: 12 });
    for n in 1..=12 {
        let robot = Robot::new(&Model::from_dh_yaml(&of(n)).unwrap()).unwrap();
        assert!((robot.forward(&[]).translation.x - 0.1 * n as f64).abs() < 1e-12);
    }
    for text in ["", "no", "joints: 3", "joints:\n  - {}", "<robot>", "\u{0}"] {
        assert!(matches!(Model::from_dh_yaml(text), Err(ModelError::Yaml { .. })), "{text}");
        assert!(Model::from_urdf(text, None, None).is_err(), "{text}");
        assert!(RobotSettings::from_yaml(text).is_err(), "{text}");
    }
    let links = |count| (0..count).map(|i| format!("<link name='l{i}'/>")).collect::<String>();
    let error =
        Model::from_urdf(&format!("<robot name='a'>{}</robot>", links(1001)), None, None).unwrap_err();
    assert_eq!(error.to_string(), "robot description, line 1: 1001 links, at most 1000 are supported");
    let model = Model::from_dh_yaml(TABLE).unwrap();
    let short = model.with_accelerations(&[1.0; 5]).unwrap_err();
    assert_eq!(short, ModelError::WrongLength { field: "acceleration", expected: 6, got: 5 });
}

#[test]
fn settings_must_fit() {
    let xml = urdf("ranger_mk1.urdf");
    let text = |home: &str| {
        format!(
            "{{urdf: x, base_link: base_link, tip_link: tool0, home: {home}, acceleration: [1, 1, 1, 1, 1, 1]}}"
        )
    };
    let of = |home| RobotSettings::from_yaml(&text(home)).unwrap().model(&xml);
    assert!(of("[0, 0, 0, 0, 1, 0]").is_ok());
    assert!(matches!(of("[0, 0, 0]"), Err(ModelError::WrongLength { field: "home", .. })));
    let error = RobotSettings::from_yaml(&text("[0, 0, 0, .inf, 1, 0]")).unwrap_err();
    assert_refused_with_line(&error, "home[3]: inf");
}

/// Replaces a stretch of `text` and cuts the tail now and then.
fn mutate(text: &str, cuts: &[(prop::sample::Index, usize, String)]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for (place, length, insert) in cuts {
        let from = place.index(characters.len() + 1);
        let to = (from + length).min(characters.len());
        characters.splice(from..to, insert.chars());
    }
    characters.into_iter().collect()
}

fn cuts() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, String)>> {
    let insert = prop_oneof![
        Just(String::new()),
        "[-0-9.eE]{0,6}",
        "[<>/\"={}: ,a-z&*!\\n-]{0,4}",
        Just("NaN".to_owned()),
        Just("1e999".to_owned()),
        Just("camera".to_owned()),
        Just("joint_1".to_owned()),
        any::<String>(),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, insert), 1..4)
}

/// The result of a parser must be usable.
fn exercise(model: Result<Model, ModelError>) {
    match model {
        Ok(model) => {
            let robot = Robot::new(&model).unwrap();
            let pose = robot.forward(&vec![0.1; robot.joint_count()]);
            assert!(pose.translation.vector.iter().all(|value| value.is_finite()));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutated_urdf_never_panics(cuts in cuts()) {
        let text = mutate(CROOKED, &cuts);
        exercise(Model::from_urdf(&text, None, Some("camera")));
        if let Ok(mut tree) = Tree::from_urdf(&text) {
            prop_assert_eq!(tree.moving(|_| None), []);
            prop_assert!(tree.moving(|_| Some(0.1)).len() >= tree.joint_names().count());
        }
    }

    #[test]
    fn mutated_tables_never_panic(cuts in cuts()) {
        exercise(Model::from_dh_yaml(&mutate(TABLE, &cuts)));
    }

    #[test]
    fn any_text_is_refused_or_read(text in any::<String>()) {
        exercise(Model::from_urdf(&text, None, None));
        exercise(Model::from_dh_yaml(&text));
    }
}

use super::*;

fn types() -> Types {
    Types::new(vec![Box::new(Builtin::default())])
}

fn names(structure: &Structure) -> Vec<&str> {
    structure.fields.iter().map(|field| field.name.as_str()).collect()
}

#[test]
fn every_definition_of_this_build_is_a_type() {
    let types = types();
    for name in Builtin::names() {
        let known = match name.split('/').nth(1) {
            Some("msg") => types.message(name).map(|_| ()),
            Some("srv") => types.service(name).map(|_| ()),
            _ => types.action(name).map(|_| ()),
        };
        assert_eq!(known, Ok(()), "{name}");
    }
}

#[test]
fn definitions_are_those_of_the_distribution() {
    let of = |distribution: &str| Types::new(vec![Box::new(Builtin::of(distribution))]);
    let feedback = |distribution: &str, action: &str| {
        let [_, _, feedback] = of(distribution).action(action).unwrap();
        feedback
    };
    for (distribution, has_index) in
        [("humble", false), ("jazzy", false), ("kilted", true), ("lyrical", true)]
    {
        let fields = feedback(distribution, "control_msgs/FollowJointTrajectory");
        assert_eq!(names(&fields).contains(&"index"), has_index, "{distribution}");
        assert_eq!(names(&fields).last() == Some(&"multi_dof_index"), has_index, "{distribution}");
    }
    assert_eq!(names(&feedback("kilted", "nav2_msgs/FollowPath")), ["distance_to_goal", "speed"]);
    assert_eq!(names(&feedback("lyrical", "nav2_msgs/FollowPath")), ["tracking_feedback"]);
    let event = |distribution: &str| of(distribution).message("lifecycle_msgs/TransitionEvent").unwrap();
    assert_eq!(names(&event("kilted"))[0], "timestamp");
    assert_eq!(names(&event("lyrical"))[0], "stamp");
}

#[test]
fn short_and_full_names_are_the_same_type() {
    let types = types();
    let twist = types.message("geometry_msgs/Twist").unwrap();
    assert_eq!(twist, types.message("geometry_msgs/msg/Twist").unwrap());
    assert_eq!((twist.name.as_str(), names(&twist)), ("geometry_msgs/msg/Twist", vec!["linear", "angular"]));
    let [request, response] = types.service("std_srvs/SetBool").unwrap();
    assert_eq!((names(&request), names(&response)), (vec!["data"], vec!["success", "message"]));
}

#[test]
fn actions_consist_of_messages() {
    let types = types();
    let [goal, result, feedback] = types.action("test_msgs/Fibonacci").unwrap();
    assert_eq!(
        (names(&goal), names(&result), names(&feedback)),
        (vec!["order"], vec!["sequence"], vec!["sequence"])
    );
    let send = types.part("test_msgs/action/Fibonacci_SendGoal_Request").unwrap();
    assert_eq!(names(&send), ["goal_id", "goal"]);
    assert_eq!(
        names(&types.part("test_msgs/action/Fibonacci_FeedbackMessage").unwrap()),
        ["goal_id", "feedback"]
    );
}

#[test]
fn unknown_and_hostile_names_are_refused() {
    let types = types();
    for name in ["", "Twist", "a/b/c/d", "geometry_msgs/srv/Twist"] {
        assert!(matches!(types.message(name), Err(SchemaError::Name { .. })), "{name}");
    }
    for name in
        ["../msg/Twist", "geometry_msgs/msg/..", "geometry_msgs/msg/Twi st", "/etc/passwd", "a\0/msg/B"]
    {
        assert!(types.message(name).is_err(), "{name}");
    }
    assert!(matches!(types.message("geometry_msgs/msg/Nothing"), Err(SchemaError::Unknown { .. })));
}

#[test]
fn lines_of_definitions() {
    let text = "# comment\nint32 X = -0x10 # constant\nstring NAME=\"a # b\"\nfloat64[9] k\nstring<=10[<=5] texts\n\
                geometry_msgs/Point[] points\nint8[] few [1, -2]\nstring greeting 'hello, world'\nbool on true\n";
    let definition = parse(text).unwrap();
    let constants: Vec<_> = definition.constants.iter().map(|constant| &constant.value).collect();
    assert_eq!(constants, [&serde_json::json!(-16), &serde_json::json!("a # b")]);
    let fields: Vec<_> = definition
        .fields
        .iter()
        .map(|f| (f.name.as_str(), f.type_name.as_str(), f.shape, f.max_text))
        .collect();
    let expected = [
        ("k", "float64", Shape::Array(9), None),
        ("texts", "string", Shape::Sequence(Some(5)), Some(10)),
        ("points", "geometry_msgs/Point", Shape::Sequence(None), None),
        ("few", "int8", Shape::Sequence(None), None),
        ("greeting", "string", Shape::Single, None),
        ("on", "bool", Shape::Single, None),
    ];
    assert_eq!(fields, expected);
    let defaults: Vec<_> = definition.fields.iter().filter_map(|field| field.default.clone()).collect();
    assert_eq!(defaults, [serde_json::json!([1, -2]), "hello, world".into(), true.into()]);
    for bad in
        ["int32", "int32[ x", "int32[-1] x", "int32<=3 x", "int32 x y", "int32 =5", "a/b/c/d x", "../x y"]
    {
        assert_eq!(parse(bad).unwrap_err().line, 1, "{bad}");
    }
}

#[test]
fn schemas_have_every_nested_type_once() {
    let types = types();
    let line = "=".repeat(80);
    let expected = format!(
        "std_msgs/Header header\nVector3 vector\n{line}\nMSG: std_msgs/Header\nbuiltin_interfaces/Time stamp\n\
         string frame_id\n{line}\nMSG: builtin_interfaces/Time\nint32 sec\nuint32 nanosec\n{line}\n\
         MSG: geometry_msgs/Vector3\nfloat64 x\nfloat64 y\nfloat64 z\n"
    );
    assert_eq!(types.schema("geometry_msgs/msg/Vector3Stamped").unwrap(), expected);
    assert_eq!(types.schema("std_srvs/srv/SetBool_Response").unwrap(), "bool success\nstring message\n");
    assert_eq!(types.schema("std_srvs/srv/Trigger_Request").unwrap(), "");
    assert_eq!(types.schema("none/msg/Such"), Err(SchemaError::Unknown { name: "none/msg/Such".to_owned() }));
}

#[test]
fn sections_are_separated_by_dashes() {
    let text = "a\n---\nb\nc\n---\n";
    let sections: Vec<_> = (0..4).map(|index| definition::section(text, index)).collect();
    assert_eq!(sections, [Some("a\n"), Some("b\nc\n"), Some(""), None]);
    assert_eq!(definition::section("---", 1), Some(""));
}

/// A package whose types contain each other, or nest without end.
struct Endless;

impl Source for Endless {
    fn definition(&self, _: &str, _: &str, name: &str) -> Option<std::borrow::Cow<'static, str>> {
        Some(format!("{name}x inner\n").into())
    }
}

#[test]
fn endless_types_are_refused() {
    let types = Types::new(vec![Box::new(Endless)]);
    assert!(matches!(types.message("a/B"), Err(SchemaError::Depth { .. })));
}

//! Fields of messages of ROS from those of a machine, and back.

use dragoman_protocol::Protocol;
use dragoman_protocol::codec::Values;
use dragoman_protocol::model::Side;
use dragoman_types::schema::{Builtin, Types};

use super::*;

const TEXT: &str = "
protocol: meter
title: A meter
source: a test
link: { serial: 9600 }
frame:
  cut: { line: \"\\n\" }
  fields: [{ name: command, type: u8, is: code }, { name: data, is: body }]
messages:
  - name: state
    code: 1
    from: server
    meaning: what it measures
    fields:
      - { name: temperature, type: u8, unit: K, scale: 0.5, offset: 250 }
      - { name: fault, type: u8, codes: fault }
      - { name: levels, type: 'u8[2]' }
      - { name: name, type: 'text[2]' }
      - { name: late, type: u8, optional: true }
types:
  - { name: fault, codes: { none: 0, hot: 1 } }
";

fn types() -> Types {
    Types::new(vec![Box::new(Builtin::default())])
}

/// The message of ROS with these fields, as JSON.
fn mapped(kind: &str, settings: &[(&str, &str)]) -> Result<Value, String> {
    let codec = Codec::new(Protocol::read(TEXT).unwrap()).unwrap();
    let mut values = Values::default();
    let frame = [1, 100, 1, 3, 4, b'a', b'b'];
    let message = codec.decode(&frame, Side::Server, None, &mut values).unwrap();
    let settings =
        settings.iter().map(|(name, value)| ((*name).to_owned(), Setting::Text((*value).to_owned())));
    let structure = types().message(kind).unwrap();
    let frame = Setting::Text("base".to_owned());
    let frame = has_header(&structure).then_some(&frame);
    let to = ToRos::new(
        &codec,
        message,
        Arc::clone(&structure),
        &settings.collect(),
        [None, frame],
        &Constants::default(),
    )?;
    let data = to.message(&codec, message, &values, Duration::from_secs(5))?.unwrap();
    Ok(serde_json::from_str(&json::from_cdr(&structure, &data).unwrap()).unwrap())
}

#[test]
fn fields_of_ros_are_made_of_those_of_the_machine() {
    let message = mapped("sensor_msgs/Temperature", &[("temperature", "temperature - 273.15")]).unwrap();
    assert_eq!(message["header"]["frame_id"], "base");
    assert_eq!(message["header"]["stamp"]["sec"], 5);
    assert!((message["temperature"].as_f64().unwrap() - 26.85).abs() < 1e-9);
    for (kind, field, value, expected) in [
        ("std_msgs/String", "data", "fault", serde_json::json!("hot")),
        ("std_msgs/String", "data", "name", serde_json::json!("ab")),
        ("std_msgs/String", "data", "'it'", serde_json::json!("it")),
        ("std_msgs/Bool", "data", "fault == 1", serde_json::json!(true)),
        ("std_msgs/Int32", "data", "temperature / 7", serde_json::json!(43)),
        ("std_msgs/Float32MultiArray", "data", "levels", serde_json::json!([3.0, 4.0])),
        ("std_msgs/Float64", "data", "levels[1]", serde_json::json!(4.0)),
        ("std_msgs/Float64MultiArray", "data[2]", "fault * 2", serde_json::json!([0.0, 0.0, 2.0])),
    ] {
        assert_eq!(mapped(kind, &[(field, value)]).unwrap()["data"], expected, "{kind}: {value}");
    }
    let covariances = [("position_covariance[0]", "fault * 4"), ("position_covariance[8]", "9")];
    let fix = mapped("sensor_msgs/NavSatFix", &[covariances[0], covariances[1], ("altitude", "late")]);
    let fix = fix.unwrap();
    assert_eq!(fix["position_covariance"], serde_json::json!([4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0]));
    // Missing: NaN, which is null in JSON.
    assert_eq!((&fix["altitude"], &fix["latitude"]), (&Value::Null, &serde_json::json!(0.0)));
    for (kind, field, value, expected) in [
        (
            "sensor_msgs/NavSatFix",
            "position_covariance[9]",
            "1",
            "position_covariance has 9 elements, from position_covariance[0] on",
        ),
        ("std_msgs/Float64", "data[0]", "1", "data is not a list"),
        ("std_msgs/UInt8MultiArray", "data[0]", "1", "data is binary data: it can only be set whole"),
        ("std_msgs/Float64MultiArray", "data[x]", "1", "'data[x]' is not a name or name[number]"),
        ("std_msgs/Float64MultiArray", "data[9999]", "1", "data[9999]: the list has fewer elements"),
        ("std_msgs/String", "dat", "fault", "std_msgs/msg/String has no field dat; did you mean 'data'?"),
        ("std_msgs/Float64", "data", "'it'", "data: it is a number, not a text"),
        ("std_msgs/Float64", "data", "faults", "data: there is no field faults; did you mean 'fault'?"),
        (
            "geometry_msgs/Twist",
            "linear",
            "fault",
            "linear has the type geometry_msgs/msg/Vector3: name one of its fields",
        ),
    ] {
        assert_eq!(mapped(kind, &[(field, value)]).unwrap_err(), expected, "{kind}: {value}");
    }
}

#[test]
fn fields_of_ros_have_names_in_terms() {
    let types = types();
    let value = |kind: &str, message: Value, text: &str| {
        let structure = types.message(kind).unwrap();
        let mut paths = Vec::new();
        let term = Term::read(
            &Setting::Text(text.to_owned()),
            &Constants::default(),
            &mut RosNames::new(&structure, &mut paths),
        )?;
        let data = json::to_cdr(&structure, &message).unwrap();
        let value: Value = serde_json::from_str(&json::from_cdr(&structure, &data).unwrap()).unwrap();
        term.compute(&RosMessage { value: &value, paths: &paths }).map_err(|error| error.to_string())
    };
    let twist = serde_json::json!({ "linear": { "x": 0.5 }, "angular": { "z": 1.0 } });
    let real = |real| Ok(Computed::Number(Number::Real(real)));
    assert_eq!(value("geometry_msgs/Twist", twist.clone(), "linear.x - 0.25 * angular.z"), real(0.25));
    assert_eq!(
        value("geometry_msgs/Twist", twist, "linear.w").unwrap_err(),
        "geometry_msgs/msg/Vector3 has no field w; known: x, y, z"
    );
    let text = serde_json::json!({ "data": "abc" });
    assert_eq!(value("std_msgs/String", text, "data"), Ok(Computed::Text(b"abc".to_vec())));
    let list = serde_json::json!({ "data": [1.5, 2.5] });
    assert_eq!(value("std_msgs/Float64MultiArray", list.clone(), "data[1]"), real(2.5));
    let whole = Computed::List(vec![Number::Real(1.5), Number::Real(2.5)]);
    assert_eq!(value("std_msgs/Float64MultiArray", list, "data"), Ok(whole));
    let bytes = serde_json::json!({ "data": [1, 2] });
    let whole = Computed::List(vec![Number::Whole(1), Number::Whole(2)]);
    assert_eq!(value("std_msgs/UInt8MultiArray", bytes, "data"), Ok(whole));
    assert_eq!(
        value("std_msgs/Float64", serde_json::json!({ "data": null }), "data"),
        Err("the result is not finite".to_owned())
    );
}

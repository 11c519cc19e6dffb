//! Configuration files of servers.

use dragoman_bridge::player::server::config_file::{
    ConfigError, ConfigFile, DeviceName, MAX_DEPTH, Problem, Value,
};
use proptest::prelude::*;

fn parse(text: &str) -> Result<ConfigFile, ConfigError> {
    ConfigFile::parse(text, |name| Err(format!("no file {name}")))
}

fn error(text: &str) -> String {
    parse(text).expect_err("an error").to_string()
}

fn texts(values: &[Value]) -> Vec<&str> {
    values.iter().map(Value::text).collect()
}

fn device(name: &str) -> Result<DeviceName, ConfigError> {
    let file = parse(&format!("driver (name \"d\" provides [\"{name}\"])"))?;
    Ok(file.drivers()?[0].provides[0].clone())
}

/// Names of drivers with their devices.
fn shown(file: &ConfigFile) -> Vec<String> {
    let devices = |names: &[DeviceName]| {
        let shown = names.iter().map(|name| format!("{}:{}", name.interface, name.index));
        shown.collect::<Vec<_>>().join(" ")
    };
    let drivers = file.drivers().expect("drivers");
    let shown = drivers.iter().map(|driver| {
        format!("{}: {} from {}", driver.name, devices(&driver.provides), devices(&driver.requires))
    });
    shown.collect()
}

#[test]
fn drivers_with_devices_and_options() {
    let file = parse(
        "# two drivers\n\
         unit_length \"cm\"\n\
         plugin \"libother\"\n\
         driver\n(\n  name \"base\" provides [\"odometry:::position2d:0\" \"6666:sonar:1\"]\n\
         \tmax_speed 50 angles [90 -45.5]\t# degrees\n  fast yes\n  pose[0] [1 2]\n)\n\
         driver(name \"planner\"requires [ \"position2d:0\" ])\r\n\
         alwayson 1",
    )
    .expect("a file");
    assert_eq!(shown(&file), ["base: position2d:0 sonar:1 from ", "planner:  from position2d:0"]);
    let drivers = file.drivers().unwrap();
    let options = drivers[0].options;
    assert_eq!(options.kind(), "driver");
    assert_eq!(options.place().to_string(), "line 4, column 1");
    assert_eq!(options.value("max_speed").unwrap().length(file.units()), Ok(0.5));
    let angle = options.values("angles")[1].angle(file.units()).unwrap();
    assert!((angle + 45.5_f64.to_radians()).abs() < 1e-12);
    assert_eq!(options.value("fast").unwrap().flag(), Ok(true));
    assert_eq!(file.sections()[0].value("alwayson").unwrap().integer(), Ok(1));
    assert!(options.value("port").is_none() && options.values("port").is_empty());
    let unread = file.unread();
    let unread: Vec<_> =
        unread.iter().map(|one| format!("{} {:?} {}", one.option, one.index, one.place)).collect();
    assert_eq!(
        unread,
        [
            "plugin None line 3, column 8",
            "angles Some(0) line 7, column 23",
            "pose[0] Some(0) line 9, column 12",
            "pose[0] Some(1) line 9, column 14",
        ]
    );
    assert_eq!(texts(file.plugins()), ["libother"]);
}

#[test]
fn names_of_devices() {
    let full = device("odometry:robot.local:6665:position2d:3").unwrap();
    assert_eq!((full.key.as_deref(), full.host.as_deref()), (Some("odometry"), Some("robot.local")));
    assert_eq!((full.port, full.interface.as_str(), full.index), (Some(6665), "position2d", 3));
    let short = device("laser:0").unwrap();
    assert_eq!((&short.key, &short.host, short.port), (&None, &None, None));
    assert_eq!(device("6665:laser:0 ").unwrap().port, Some(6665));
    let host = device(":192.168.1.15:6665:dio:0").unwrap();
    assert_eq!((host.key, host.host.as_deref()), (None, Some("192.168.1.15")));
    let key = device("odometry:::position2d:0").unwrap();
    assert!(key.is("position2d", None) && key.is("position2d", Some("odometry")));
    assert!(!key.is("position2d", Some("other")) && !key.is("laser", None) && !short.is("laser", Some("x")));
    for wrong in
        ["", "laser", "laser:", ":0", "laser:-1", "laser:70000", "x:laser:0", "70000:laser:0", "a:b:c:1:d:0"]
    {
        let error = device(wrong).expect_err(wrong);
        assert_eq!(error.place.to_string(), "line 1, column 28");
        assert!(matches!(error.problem, Problem::Unexpected { found, .. } if found == wrong));
    }
}

#[test]
fn definitions_are_copied_and_changed() {
    let file = parse(
        "define laser driver ( name \"sick\" provides [\"laser:0\" \"laser:1\"] port \"/dev/ttyS0\" )\n\
         define far laser ( port \"/dev/ttyS1\" )\n\
         define laser driver ( name \"the first one is valid\" )\n\
         far ( provides [\"laser:7\"] baud 9600 )\n\
         laser ( )",
    )
    .expect("a file");
    // An element that is not given again stays, as in the original.
    assert_eq!(shown(&file), ["sick: laser:7 laser:1 from ", "sick: laser:0 laser:1 from "]);
    let drivers = file.drivers().unwrap();
    assert_eq!(drivers[0].options.value("port").unwrap().text(), "/dev/ttyS1");
    assert_eq!(drivers[1].options.value("port").unwrap().text(), "/dev/ttyS0");
    assert_eq!(drivers[0].options.place().line, 4);
}

#[test]
fn files_are_included() {
    let include = |name: &str| match name {
        "lasers.inc" => Ok("driver ( name \"sick\"\n include \"options.inc\" )".to_owned()),
        "options.inc" => Ok("port 7\nprovides [\"laser:0\"]\n".to_owned()),
        "wrong.inc" => Ok("\n  driver )".to_owned()),
        "itself.inc" => Ok("include \"itself.inc\"".to_owned()),
        "twice.inc" => Ok("include \"empty.inc\"\n".repeat(2000)),
        "empty.inc" => Ok(String::new()),
        _ => Err("not found".to_owned()),
    };
    let file = ConfigFile::parse("include \"lasers.inc\"\nspeed 1", include).expect("a file");
    assert_eq!(shown(&file), ["sick: laser:0 from "]);
    let port = file.drivers().unwrap()[0].options.value("port").unwrap();
    assert_eq!((port.integer(), port.place().to_string()), (Ok(7), "options.inc, line 1, column 6".into()));
    assert_eq!(file.sections()[0].value("speed").unwrap().place().line, 2);

    let error = |text: &str| ConfigFile::parse(text, include).expect_err("an error");
    assert_eq!(
        error("\ninclude \"none.inc\"").to_string(),
        "line 2, column 1: including \"none.inc\" failed: not found"
    );
    assert_eq!(
        error("include \"wrong.inc\"").to_string(),
        "wrong.inc, line 2, column 10: \")\" instead of a value, [ or ("
    );
    assert_eq!(error("include \"itself.inc\"").problem, Problem::TooDeep);
    assert_eq!(error("include \"twice.inc\"").problem, Problem::TooLong);
    assert!(matches!(error("include options.inc").problem, Problem::Unexpected { .. }));
    assert!(matches!(error("include").problem, Problem::Unexpected { .. }));
}

#[test]
fn errors_have_places() {
    for (text, expected) in [
        ("a 1\n  b ?", "line 2, column 5: unexpected character '?'"),
        ("a \"text\nb 1", "line 1, column 3: the quote is not closed"),
        ("driver (\n name \"x\"", "line 1, column 8: the bracket is not closed"),
        ("driver ( name \"x\" a [1 2", "line 1, column 21: the bracket is not closed"),
        ("driver ( a 1 )", "line 1, column 1: a driver without a name"),
        ("a[ 1 ]", "line 1, column 6: \"]\" instead of the name of a section or an option"),
        ("a b", "line 1, column 3: \"b\" instead of a value, [ or ("),
        ("a [1 (2)]", "line 1, column 6: \"(\" instead of a value or ]"),
        ("driver ( 1 )", "line 1, column 10: \"1\" instead of an option or )"),
        ("\u{e4} 1", "line 1, column 1: unexpected character '\u{e4}'"),
        ("12", "line 1, column 1: \"12\" instead of the name of a section or an option"),
        ("a", "line 1, column 1: \"the end of the file\" instead of a value, [ or ("),
        ("define", "line 1, column 1: \"the end of the file\" instead of the name of a definition"),
        ("define a b", "line 1, column 10: \"the end of the file\" instead of ("),
        ("define a b (", "line 1, column 12: the bracket is not closed"),
        ("plugin 7", "line 1, column 8: \"7\" instead of a library's name in quotes"),
        ("unit_length \"miles\"", "line 1, column 13: \"miles\" instead of m, cm or mm"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
    let wrong = parse("a 1.2.3 b \"x\" c 7").unwrap();
    let value = |name| wrong.sections()[0].value(name).unwrap();
    assert_eq!(
        value("a").number().unwrap_err().to_string(),
        "line 1, column 3: \"1.2.3\" instead of a number"
    );
    assert_eq!(value("b").flag().unwrap_err().to_string(), "line 1, column 11: \"x\" instead of yes or no");
    assert!(value("a").integer().is_err() && value("c").flag().is_err());
    assert_eq!(value("c").number(), Ok(7.0));
}

/// Files and definitions that contain themselves, or double at each level, end in an error.
#[test]
fn growth_is_limited() {
    assert_eq!(parse("define a a ( ) a ( )").unwrap_err().problem, Problem::TooDeep);
    let nested = |depth: usize| "s (".repeat(depth) + &")".repeat(depth);
    assert!(parse(&nested(MAX_DEPTH)).is_ok());
    assert_eq!(parse(&nested(MAX_DEPTH + 1)).unwrap_err().problem, Problem::TooDeep);
    assert_eq!(parse(&nested(50_000)).unwrap_err().problem, Problem::TooDeep);
    let mut doubling = "define d0 s ( x 1 )\n".to_owned();
    for level in 1..15 {
        let below = format!("d{} ( ) ", level - 1).repeat(8);
        doubling += &format!("define d{level} s ( {below})\n");
    }
    assert_eq!(parse(&(doubling + "d14 ( )")).unwrap_err().problem, Problem::TooLong);
    assert_eq!(parse(&"a 1 ".repeat(200_000)).unwrap_err().problem, Problem::TooLong);
}

/// Text that is often close to a file.
fn text() -> impl Strategy<Value = String> {
    let pieces = [
        "driver",
        "define",
        "include",
        "plugin",
        "name",
        "provides",
        "requires",
        "a",
        "b",
        "(",
        ")",
        "[",
        "]",
        "\"",
        "\"laser:0\"",
        "\"x\"",
        "1",
        "-2.5",
        "yes",
        "#",
        "\n",
        "\r\n",
        " ",
        "unit_length",
        "\"mm\"",
        "\u{e4}",
        "driver ( name \"x\" ",
    ];
    let piece =
        prop_oneof![12 => prop::sample::select(pieces.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,3}"];
    proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    /// Any text is a file, or an error at a place that it has.
    #[test]
    fn any_text_is_parsed_or_refused(text in text(), included in text()) {
        match ConfigFile::parse(&text, |_| Ok(included.clone())) {
            Ok(file) => {
                prop_assert!(file.drivers().is_ok());
                for value in file.sections().iter().flat_map(|section| section.values("a")) {
                    let _ = (value.number(), value.integer(), value.flag());
                }
                prop_assert!(file.unread().iter().all(|one| one.option != "a"));
            }
            Err(error) => {
                let source = if error.place.file.is_empty() { &text } else { &included };
                let lines = source.replace("\r\n", "\n").matches(['\n', '\r']).count() + 1;
                prop_assert!((1..=lines).contains(&(error.place.line as usize)), "{}", error);
            }
        }
    }
}

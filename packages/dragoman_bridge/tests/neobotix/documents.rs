//! Documents as programs write them, and errors in invalid ones.

use dragoman_bridge::neobotix::documents::{
    Condition, Document, Map, MapItem, MotionAction, MoveTarget, OutputState, Program, Roadmap, Step,
    TargetPlace, Wait, WaitEvent, WriteError,
};

const MAP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE map SYSTEM "map.dtd">
<map Version="1.0">
  <layer index="0">
    <workarea><point x="0" y="0"/><point x="8000" y="0"/><point x="8000" y="6000.5"/><point x="0" y="6000"/></workarea>
    <line><point x="0" y="0"/><point x="8000" y="0"/></line>
    <circle><center x="4000" y="3000"/><radius r="250"/></circle>
    <auxline><point x="1" y="1"/><point x="2" y="1"/></auxline>
    <linemapped><point x="1" y="1"/><point x="2" y="1"/></linemapped>
    <auxlinemapped><point x="1" y="1"/><point x="2" y="1"/></auxlinemapped>
    <reflmark><point x="-10" y="100"/><point x="-10" y="150"/></reflmark>
    <prohibit><point x="5000" y="0"/><point x="6000" y="0"/><point x="6000" y="1000"/></prohibit>
    <hiddenpolygon><point x="0" y="0"/><point x="1" y="0"/><point x="0" y="1"/></hiddenpolygon>
    <hiddenlabel text="Lager &amp; Küche"><point x="100" y="200"/></hiddenlabel>
    <elevator door="left"><point x="1" y="2"/></elevator>
  </layer>
  <layer index="1" floor="upper"/>
</map>
"#;

const ROADMAP: &str = r#"<roadmap version="1.0">
  <stations>
    <station id="1" name="dock" angle="90"><point x="1000" y="500"/></station>
    <station id="2" name="bench" angle="-45.5"><point x="5000" y="2500"/></station>
  </stations>
  <edges>
    <edge startstation="1" endstation="2"><point x="1000" y="2500"/><point x="3000" y="2500"/></edge>
    <edge startstation="2" endstation="1"><points><point x="3000" y="2500"/></points></edge>
  </edges>
</roadmap>
"#;

const PROGRAM: &str = r#"<program version="1.0">
  <task name="round" id="1" priority="5" version="1.0">
    <load map="hall.map" roadmap="hall.rm"/>
    <label name="again"/>
    <motion><settarget><station name="bench"/></settarget></motion>
    <wait timeoutlabel="late" timeout="60000"><target/></wait>
    <ioevent><digitalout D1="1" D2="0" D12="-1"/></ioevent>
    <motion><settarget><coord x="100" y="-200.5" angle="180"/></settarget></motion>
    <wait><delay amount="500"/></wait>
    <goto label="again" condition="TrackingEnabled"/>
    <label name="late"/>
    <log type="error" message="not there &lt;in time&gt;"/>
    <motion stop="1"/>
  </task>
  <task name="guard" id="2" priority="1">
    <parameter><set key="SurveillanceModeEnabled" value="true"/></parameter>
    <surveillance><grab filename="shot" grabscan="true" grabimage="false" autoobservation="true"/></surveillance>
    <surveillance><movecamera position="pan=10"/></surveillance>
    <audio><speak text="Halt!"/></audio>
    <audio><play filename="siren.wav"/></audio>
    <turnhead angle="45"/>
    <motion><moveto onErrorTask="round"><trackedperson/></moveto></motion>
    <motion><moveto><trackedball/></moveto></motion>
    <motion><moveto><trackedmovingobject/></moveto></motion>
    <motion><moveto><chargingstation/></moveto></motion>
    <wait for="any"><collision/><movingobject/><person/><ball/><lostlocalization/></wait>
    <wait><movingobjects/><lostlocalisation/></wait>
    <wait><infrared direction="front"/><radar direction="left"/></wait>
    <wait><date day="24" month="12" year="2026" hour="18" minute="0" second="0"/></wait>
    <wait><userevent id="door"/><random min="100" max="200"/><batterycharge limit="80"/></wait>
    <goto label="end" condition="false"/>
    <label name="end"/>
  </task>
</program>
"#;

fn read<T: Document>(text: &str) -> T {
    T::read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

/// The text without blanks between elements.
fn compact(text: &str) -> String {
    let body = text.split_once("?>").map_or(text, |(_, rest)| rest);
    body.lines().map(str::trim).filter(|line| !line.starts_with("<!DOCTYPE")).collect()
}

#[test]
fn a_map_is_read_and_written_without_loss() {
    let map: Map = read(MAP);
    assert_eq!((map.version.number.as_deref(), map.layers.len()), (Some("1.0"), 2));
    let layer = &map.layers[0];
    let MapItem::Workarea(area) = &layer.items[0] else { panic!("{:?}", layer.items[0]) };
    assert_eq!((area.points.len(), area.points[2].x_mm, area.points[2].y_mm), (4, 8000.0, 6000.5));
    let MapItem::Circle(circle) = &layer.items[2] else { panic!("{:?}", layer.items[2]) };
    assert_eq!((circle.center.x_mm, circle.radius.r_mm), (4000.0, 250.0));
    let MapItem::HiddenLabel(label) = &layer.items[9] else { panic!("{:?}", layer.items[9]) };
    assert_eq!((label.text.as_str(), label.point.y_mm), ("Lager & Küche", 200.0));
    // Unknown elements of a newer platform are kept.
    let MapItem::Unknown(elevator) = &layer.items[10] else { panic!("{:?}", layer.items[10]) };
    assert_eq!((elevator.name.as_str(), elevator.position.line), ("elevator", 15));
    assert_eq!(compact(&map.write().unwrap()), compact(MAP));
    assert_eq!(read::<Map>(&map.write().unwrap()), map);
}

#[test]
fn a_roadmap_is_read_and_written_without_loss() {
    let roadmap: Roadmap = read(ROADMAP);
    assert!(roadmap.version.is_other_case);
    let station = roadmap.station("bench").expect("a station");
    assert_eq!((station.id.as_str(), station.angle_deg, station.point.x_mm), ("2", -45.5, 5000.0));
    let ways: Vec<Vec<f64>> =
        roadmap.edges.edges.iter().map(|edge| edge.way().map(|point| point.x_mm).collect()).collect();
    assert_eq!(ways, [vec![1000.0, 3000.0], vec![3000.0]]);
    assert_eq!(compact(&roadmap.write().unwrap()), compact(ROADMAP));
}

#[test]
fn a_program_is_read_and_written_without_loss() {
    let program: Program = read(PROGRAM);
    let [round, guard] = &program.tasks[..] else { panic!("two tasks") };
    assert_eq!((round.name.as_str(), round.priority, guard.priority), ("round", Some(5), Some(1)));
    let Step::Motion(motion) = &round.steps[2] else { panic!("{:?}", round.steps[2]) };
    let Some(MotionAction::SetTarget(target)) = &motion.action else { panic!("{motion:?}") };
    assert!(matches!(&target.place, Some(TargetPlace::Station(station)) if station.name == "bench"));
    let Step::Wait(Wait { timeout_label, timeout_ms, events, .. }) = &round.steps[3] else {
        panic!("no wait")
    };
    assert_eq!((timeout_label.as_deref(), *timeout_ms), (Some("late"), Some(60_000)));
    assert!(matches!(events[..], [WaitEvent::Target(_)]));
    let Step::IoEvent(event) = &round.steps[4] else { panic!("{:?}", round.steps[4]) };
    let outputs = event.digital_out.outputs.0;
    assert_eq!(outputs[..3], [OutputState::On, OutputState::Off, OutputState::Unchanged]);
    let Step::Goto(goto) = &round.steps[7] else { panic!("{:?}", round.steps[7]) };
    assert_eq!(goto.condition, Some(Condition::Parameter("TrackingEnabled".to_owned())));
    let Step::Motion(motion) = &guard.steps[6] else { panic!("{:?}", guard.steps[6]) };
    let Some(MotionAction::MoveTo(follow)) = &motion.action else { panic!("{motion:?}") };
    assert!(matches!(follow.target, Some(MoveTarget::TrackedPerson(_))));
    assert!(guard.steps.iter().all(|step| !matches!(step, Step::Unknown(_))));
    // Outputs that are not named are written as unchanged; everything else stays the same.
    let unnamed = |number: usize| format!(" D{number}=\"-1\"");
    let outputs: String = (3..12).map(unnamed).collect();
    let expected = PROGRAM.replace(" D12", &format!("{outputs} D12"));
    assert_eq!(compact(&program.write().unwrap()), compact(&expected));
    assert_eq!(program.check_stations(&read(ROADMAP)), []);
}

/// The problems of a document, with their places.
fn problems<T: Document>(text: &str) -> Vec<String> {
    match T::parse(text.as_bytes()) {
        Err(error) => vec![error.to_string()],
        Ok(document) => {
            let errors = document.check();
            assert_eq!(T::read(text.as_bytes()).err(), errors.first().cloned());
            errors.iter().map(ToString::to_string).collect()
        }
    }
}

#[test]
fn invalid_maps_are_refused_with_line_and_column() {
    for (text, expected) in [
        ("<roadmap/>", "line 1, column 1: the document is a <roadmap>; a <map> is needed"),
        ("<map>x</map>", "line 1, column 1: <map> has text in it"),
        ("<map>\n <layer index='one'/>\n</map>", "line 2, column 9: index=\"one\" is not a whole number"),
        (
            "<map><layer>\n<line><point x='1' y='nan'/><point x='1' y='2'/></line></layer></map>",
            "line 2, column 20: y=\"nan\" is not a number",
        ),
        (
            "<map><layer>\n<line><point x='1' y='1e999'/><point x='1' y='2'/></line></layer></map>",
            "line 2, column 20: y=\"1e999\" is not a number",
        ),
        (
            "<map><layer>\n<line><point x='1'/><point x='1' y='2'/></line></layer></map>",
            "line 2, column 7: <point> has no attribute 'y'",
        ),
        (
            "<map><layer>\n<line><point x='1' y='2'/></line></layer></map>",
            "line 2, column 1: <line> needs exactly two <point>; it has 1",
        ),
        (
            "<map><layer>\n <circle><center x='1' y='2'/></circle></layer></map>",
            "line 2, column 2: <circle> needs exactly one <radius>; it has 0",
        ),
        (
            "<map><layer>\n<line><point x='1' y='2'/><point x='1' y='2'/></line></layer></map>",
            "line 2, column 1: the two ends are the same point",
        ),
        (
            "<map><layer>\n<circle><center x='1' y='2'/><radius r='0'/></circle></layer></map>",
            "line 2, column 30: the radius in mm is 0, which is not between",
        ),
        (
            "<map><layer>\n<prohibit><point x='1' y='2'/><point x='1' y='3'/></prohibit></layer></map>",
            "line 2, column 1: <prohibit> needs at least three <point>; it has 2",
        ),
        (
            "<map><layer>\n<workarea><point x='0' y='0'/><point x='1' y='1'/><point x='2' y='2'/></workarea></layer></map>",
            "line 2, column 1: the points are collinear and enclose no area",
        ),
        ("<map><layer index='1'/>\n<layer index='1'/></map>", "line 2, column 1: layer '1' occurs twice"),
        (
            "<map><layer>\n<hiddenlabel text=''><point x='3e9' y='2'/></hiddenlabel></layer></map>",
            "line 2, column 22: a coordinate in mm is 3000000000, which is not between -2147483647 and 2147483647",
        ),
    ] {
        let found = problems::<Map>(text);
        assert!(found.len() == 1 && found[0].starts_with(expected), "{text}\n{found:?}");
    }
    let area = "<workarea><point x='0' y='0'/><point x='1' y='0'/><point x='1' y='1'/></workarea>";
    let found = problems::<Map>(&format!("<map><layer>{area}\n{area}</layer></map>"));
    assert_eq!(found, ["line 2, column 1: area 'workarea' occurs twice"]);
}

#[test]
fn inconsistent_roadmaps_are_refused_with_line_and_column() {
    let text = "<roadmap><stations>
<station id='1' name='a' angle='0'><point x='0' y='0'/></station>
<station id='1' name='b' angle='0'><point x='0' y='0'/></station>
<station id='2' name='a' angle='400'><point x='0' y='0'/></station>
<station id='3' name='' angle='0'><point x='0' y='0'/></station>
</stations><edges>
<edge startstation='1' endstation='9'/>
</edges></roadmap>";
    let expected = [
        "line 3, column 1: station with the id '1' occurs twice",
        "line 4, column 1: station 'a' occurs twice",
        "line 5, column 1: station has no name",
        "line 4, column 1: an angle in degrees is 400, which is not between -360 and 360",
        "line 7, column 1: there is no station with the id '9'",
    ];
    assert_eq!(problems::<Roadmap>(text), expected);
    let missing = "<roadmap>\n<stations/></roadmap>";
    let expected = ["line 1, column 1: <roadmap> needs exactly one <edges>; it has 0"];
    assert_eq!(problems::<Roadmap>(missing), expected);
}

#[test]
fn inconsistent_programs_are_refused_with_line_and_column() {
    let text = "<program>
<task name='a' id='1'>
<goto label='nowhere'/>
<wait timeoutlabel='nowhere' timeout='5'/>
<wait/>
<label name='x'/><label name='x'/>
<parameter><set key='IpoRotvel' value='fast'/></parameter>
<parameter><set key='Colour' value='1'/></parameter>
<goto label='x' condition='IpoRotvel'/>
<motion><moveto onErrorTask='c'><trackedball/></moveto></motion>
<motion/>
<audio><sing/></audio>
<dance/>
<wait><earthquake/></wait>
<wait><date day='31' month='4'/><random min='5' max='4'/></wait>
</task>
<task name='a' id='1'/>
</program>";
    let expected = [
        "line 17, column 1: task 'a' occurs twice",
        "line 17, column 1: task with the id '1' occurs twice",
        "line 6, column 18: label 'x' occurs twice",
        "line 3, column 1: there is no label 'nowhere'",
        "line 4, column 1: there is no label 'nowhere'",
        "line 5, column 1: the wait has neither an event nor a time limit",
        "line 7, column 12: IpoRotvel = 'fast': DOUBLE is needed",
        "line 8, column 12: there is no parameter 'Colour'",
        "line 9, column 1: there is no Boolean parameter 'IpoRotvel'",
        "line 10, column 9: there is no task 'c'",
        "line 11, column 1: <motion> needs one <settarget or moveto>; it has 0",
        "line 12, column 8: <sing> is not known",
        "line 13, column 1: <dance> is not known",
        "line 14, column 7: <earthquake> is not known",
        "line 15, column 7: the date does not exist",
        "line 15, column 33: the minimum time in ms is 5, which is not between 0 and 4",
    ];
    assert_eq!(problems::<Program>(text), expected);
    let values = "<program><task name='a'>\n<ioevent><digitalout D1='2'/></ioevent></task></program>";
    assert_eq!(problems::<Program>(values), ["line 2, column 22: D1=\"2\" is not -1, 0 or 1"]);
}

#[test]
fn stations_missing_in_the_roadmap_are_reported() {
    let program: Program = read(PROGRAM);
    let roadmap = Roadmap::default();
    let errors: Vec<String> = program.check_stations(&roadmap).iter().map(ToString::to_string).collect();
    assert_eq!(errors, ["line 5, column 24: there is no station 'bench'"]);
}

#[test]
fn what_could_not_be_read_again_is_not_written() {
    let mut map: Map = read(MAP);
    let MapItem::HiddenLabel(label) = &mut map.layers[0].items[9] else { panic!("no label") };
    label.text = "a\u{1}".to_owned();
    let character = WriteError::Character {
        element: "hiddenlabel".to_owned(),
        attribute: "text".to_owned(),
        character: '\u{1}',
    };
    assert_eq!(map.write(), Err(character));
    let MapItem::HiddenLabel(label) = &mut map.layers[0].items[9] else { panic!("no label") };
    label.text.clear();
    label.point.x_mm = f64::NAN;
    assert_eq!(map.check().len(), 1);
    let number = WriteError::NotFinite { element: "point".to_owned(), attribute: "x".to_owned() };
    assert_eq!(map.write(), Err(number));
}

/// Bombs of entities, of depth, of width, of attributes are refused.
#[test]
fn entity_and_depth_bombs_are_refused() {
    let deep = "<map>".repeat(100_000);
    let wide = format!("<map>{}</map>", "<layer/>".repeat(400_000));
    let attributes: String = (0..100_000).map(|index| format!(" a{index}=''")).collect();
    let entities = "<!DOCTYPE map [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;'>]><map Version='&b;'/>";
    for (text, expected) in [
        (deep.as_str(), "elements nested deeper than 32"),
        (&wide, "more than 300000 elements"),
        (&format!("<map{attributes}/>"), "more than 64 attributes"),
        (entities, "a document type with declarations"),
    ] {
        let error = Map::read(text.as_bytes()).expect_err("a bomb").to_string();
        assert!(error.ends_with(expected), "{error}");
    }
}

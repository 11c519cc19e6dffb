//! Worlds of Apolo: files in the form that its library and its users write, and any other text.

use proptest::prelude::*;

use super::super::Worlds;
use super::super::import::{self, Counts, ImportError};
use super::{load, near};

fn no_files(name: &str) -> Result<Vec<u8>, String> {
    Err(format!("no {name}"))
}

fn import(text: &str) -> import::Import {
    import::world(text.as_bytes(), &no_files, "").unwrap()
}

/// Line and beginning of every note.
fn notes(import: &import::Import) -> Vec<(usize, &str)> {
    import.notes.iter().map(|note| (note.line, note.text.as_str())).collect()
}

/// A room of 8 m x 6 m, 2 m high; its floor has a notch. A robot with sensors, in the form of the files for a course.
const ROOM: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<root>
  <!-- a room -- with a robot -->
  <World>
    <WorldInfo name="a course">
      <RegisterNumber number="23454"/>
      <RegisterNumber number="22354"/>
    </WorldInfo>
    <FaceSetPart name="Sala">
      <face>
        <vertex>
          {-4.000000 , -3.000000, 0}
          {4.000000 , -3.000000, 0}
          {4.000000 , 3.000000, 0}
          {3.000000 , 3.000000, 0}
          {3.000000 , 2.000000, 0}
          {2.000000 , 2.000000, 0}
          {2.000000 , 3.000000, 0}
          {-4.000000 , 3.000000, 0}
        </vertex>
        <colour r="0.2" g="0.2" b="1"/>
      </face>
      <face>
        <vertex> {0 , 0, 0} {0, 2, 0} {6, 2, 0} {6, 0, 0} </vertex>
        <orientation>{1.570796 , 0.000000, 1.570796}</orientation>
        <position>{4.000000 , -3.000000, 0}</position>
        <colour r="0.2" g="0.2"/>
      </face>
      <face>
        <vertex>{0,0,0}{8,0,0}{8,2,0}{0,2,0}</vertex>
        <orientation>{1.570796,0,0}</orientation>
        <position>{-4,3,0}</position>
      </face>
    </FaceSetPart>
    <Pioneer3ATSim name="Marvin">
      <orientation>	{0,0,0.5} </orientation>
      <position>	{-1,0.5,0}	</position>
      <odometry seconds="-842150451" microseconds="-842150451"/>
    </Pioneer3ATSim>
    <LMS100Sim name="LMS100" linkTo="$Marvin$">
      <position>	{0.1,0,0.4} </position>
      <colour r="0" g="1" b="0"/>
    </LMS100Sim>
    <UltrasonicSensor name = "uc0" linkTo="$Marvin$">
      <orientation>	{0,-0.1,0}	</orientation>
      <position>	{0.2,0,0.2}	</position>
    </UltrasonicSensor>
    <UltrasonicSensor conusAngle="0.2" maxRange="6" minRange="0" error="0" name="ul1" id="3" linkTo="$Marvin$">
      <orientation>{6.93889e-18,-0.1,0.7}</orientation>
    </UltrasonicSensor>
    <LandMark  name ="LM1" mark_id="1">
      <position> {3.9,1.0,0.2}	</position>
    </LandMark>
    <LandMark mark_id="1"><position>{-3.9,-2,0.2}</position></LandMark>
    <LandMark mark_id="70000"/>
    <AdeptOneSim name="SCARA" id="7"/>
  </World>
</root>
"#;

#[test]
fn a_room_of_a_course() {
    let import = import(ROOM);
    assert_eq!(import.counts, Counts { bodies: 1, robots: 1, sensors: 3, landmarks: 2 });
    assert_eq!(
        notes(&import),
        [
            (54, "LandMark 1 has the mark_id 1 of LM1: lasers cannot distinguish them"),
            (55, "<LandMark> is not taken: its mark_id is not a number from 0 to 65535"),
            (56, "<AdeptOneSim> \"SCARA\" is not taken: there is nothing like it in a world file"),
        ]
    );
    let mut worlds = load(&import.yaml);
    // It stands where it would fall.
    let [x, y, z, yaw] = worlds.location_m_robot(None, "Marvin").unwrap();
    assert_eq!([x, y, z, yaw.to_degrees().round()], [-1.0, 0.5, 0.0, 29.0]);
    assert!(worlds.place_m_robot(None, "Marvin", [0.0; 3], 0.0).unwrap());
    near(worlds.location_m_robot(None, "Marvin").unwrap()[2], 0.0, 1e-9);
    assert!(!worlds.place_m_robot(None, "Marvin", [2.5, 2.6, 0.0], 0.0).unwrap(), "no floor");
    assert!(!worlds.place_m_robot(None, "Marvin", [3.9, 0.0, 0.0], 0.0).unwrap(), "a wall");
    // The wheels reach 0.27 m to the side.
    assert!(worlds.place_m_robot(None, "Marvin", [-2.0, 2.72, 0.0], 0.0).unwrap());
    assert!(!worlds.place_m_robot(None, "Marvin", [-2.0, 2.74, 0.0], 0.0).unwrap());
    assert!(worlds.place_m_robot(None, "Marvin", [0.0; 3], 0.0).unwrap());

    // The standard deviations of this course's numbers; see `import/noise.rs`.
    let mut errors = [0.0_f64; 3];
    for _ in 0..2000 {
        errors[0] += (worlds.laser_data(None, "LMS100").unwrap()[270] - 3.9).powi(2);
        let seen = worlds.laser_landmarks(None, "LMS100").unwrap();
        assert_eq!(seen.iter().map(|seen| seen.id).collect::<Vec<_>>(), [1]);
        errors[1] += (seen[0].distance - (3.8_f64 * 3.8 + 1.0 + 0.04).sqrt()).powi(2);
        errors[2] += (seen[0].angle - 1.0_f64.atan2(3.8)).powi(2);
    }
    for (sum, expected) in errors.into_iter().zip([0.00314, 0.01578, 0.02003]) {
        let deviation = (sum / 2000.0).sqrt();
        assert!((deviation / expected - 1.0).abs() < 0.06, "{deviation}, {expected}");
    }
    let yaml = &import.yaml;
    assert!(yaml.contains("odometry_noise: { distance: 0.045790547"), "{yaml}");
    for figures in [
        "half_angle: 0.174532925\n        min_range: 0.05\n        max_range: 3\n",
        "half_angle: 0.2\n        min_range: 0.0001\n        max_range: 6\n",
    ] {
        assert!(yaml.contains(figures), "{yaml}");
    }
    assert_eq!(worlds.all_ultrasonics(None, "Marvin").unwrap().len(), 2);
}

#[test]
fn parts_are_where_apolo_has_them() {
    let import = import(
        r#"<root><World>
<PrismaticPart height="2" name="post" id="0">
  <position>{1,0,0.5}</position>
  <colour r="0.5" g="0"/>
  <face><vertex>{0,0,0}{0.2,0,0}{0.2,0.2,0}{0,0.2,0}{0,0,0}</vertex></face>
</PrismaticPart>
<CylindricalPart height="0.5" radius="0.1" name="can"><orientation>{1.5708,-0,0}</orientation></CylindricalPart>
<SpherePart radius="0.2" name="ball"><position>{0,0,3}</position></SpherePart>
<ComposedEntity name="shelf" id="4">
  <orientation>{0,0,1.570796326794897}</orientation>
  <position>{10,0,0}</position>
  <PrismaticPart height="1" name="leg"><position>{1,0,0}</position>
    <face><vertex>{0,0,0}{0.1,0,0}{0.1,0.1,0}{0,0.1,0}</vertex></face></PrismaticPart>
  <ComposedEntity><position>{0,0,1}</position>
    <SpherePart radius="0.1"><position>{1,0,0}</position></SpherePart></ComposedEntity>
  <SimpleJoint axis="Z_AXIS"/>
</ComposedEntity>
<MeshPart name="wedge"><position>{0,5,0}</position>
  <vertex>{0,0,0}{1,0,0}{0,1,0}{0,0,1}</vertex>
  <TMEdge>{0,1,0}</TMEdge>
  <TMTriangle><vertex_normal/><vertex_face>{0,2,1}{0,1,3}{1,2,3}{2,0,3}</vertex_face></TMTriangle></MeshPart>
<SpherePart radius="0.1" name="upon" linkTo="$shelf$"><position>{1,1,0}</position></SpherePart>
<SpherePart name="ghost" intersectable="false"/>
<SpherePart name="turned"><orientation>{0,-1,0}{1,0,0}{0,0,1}</orientation><position>{1 , 2}</position></SpherePart>
</World></root>"#,
    );
    let names = ["post", "can", "ball", "shelf", "wedge", "upon", "turned"];
    assert_eq!(import.counts.bodies, names.len());
    let mut worlds = load(&import.yaml);
    let mut distance = |x: f64, y: f64, z: f64, name: &str| {
        worlds.place_xyz(None, "ball", [x, y, z]).unwrap();
        worlds.distance(None, "ball", name).unwrap()
    };
    near(distance(1.1, 0.1, 3.5, "post"), 0.8, 1e-6);
    // Apolo's cylinders go up from their frame; this one lies along -y.
    near(distance(0.0, -1.0, 0.0, "can"), 0.3, 1e-5);
    near(distance(0.0, 1.0, 0.0, "can"), 0.8, 1e-5);
    // The shelf is turned: its leg is at (9.9..10, 1..1.1), the sphere on it at (10, 1, 1).
    near(distance(9.95, 1.6, 0.5, "shelf"), 0.3, 1e-6);
    near(distance(10.0, 1.0, 1.5, "shelf"), 0.2, 1e-6);
    near(distance(0.0, 4.0, 0.0, "wedge"), 0.8, 1e-6);
    assert_eq!(
        worlds.location(None, "upon").unwrap()[..3].iter().map(|value| value.round()).collect::<Vec<_>>(),
        [9.0, 1.0, 0.0]
    );
    near(worlds.location(None, "turned").unwrap()[5], std::f64::consts::FRAC_PI_2, 1e-8);
    assert!(import.yaml.contains("color: [0.5, 0, 1, 1]"), "{}", import.yaml);
    let texts: Vec<&str> = import.notes.iter().map(|note| note.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "<SimpleJoint>: not taken, a body has no such part",
            "a body is linked to a body: it stays when that is moved",
            "nothing touches or senses it (intersectable): not taken",
            "the position is not {x, y, z}: the origin instead",
        ]
    );
    assert_eq!(import.notes[0].line, 16);
}

#[test]
fn names_are_unique_and_links_are_resolved() {
    let import = import(
        r#"<root>
<World>
<SpherePart name="Prism"/>
<SpherePart name="prism"/>
<SpherePart/><SpherePart/>
<SpherePart name="map"/>
<LMS200Sim name="early" linkTo="9"/>
<Pioneer3ATSim name="Rover" id="9" odometryNoise="0.04"/>
<SpherePart name="box" linkTo="$Rover$"><position>{0,0,0.5}</position></SpherePart>
<UltrasonicSensor name="on box" linkTo="$box$"><position>{0.1,0,0}</position></UltrasonicSensor>
<UltrasonicSensor name="on ball" linkTo="$Prism$"/>
<LMS100Sim linkTo="$nobody$"/>
<LMS100Sim linkToTcp="$Arm$.tcp[0]"/>
<SpherePart name="a" linkTo="$b$"/>
<SpherePart name="b" linkTo="$a$"/>
<LandMark mark_id="3" linkTo="$Rover$"/>
<PatrolbotSim><orientation>{0.5,0,0}</orientation></PatrolbotSim>
</World>
<World/>
</root>"#,
    );
    let lines: Vec<usize> = import.notes.iter().map(|note| note.line).collect();
    assert_eq!(lines, [4, 6, 9, 12, 13, 14, 15, 16, 17, 19], "{:?}", import.notes);
    let mut worlds = load(&import.yaml);
    for name in ["Prism", "prism 2", "SpherePart", "SpherePart 2", "map 2", "LandMark 3", "PatrolbotSim"] {
        worlds.location(None, name).unwrap();
    }
    // The sensor is on the robot, where the sphere is that it was on.
    let sensor = worlds.location(None, "on box").unwrap();
    assert_eq!(sensor[..3], [0.1, 0.0, 0.5]);
    worlds.place_xyz(None, "Rover", [1.0, 0.0, 0.0]).unwrap();
    near(worlds.location(None, "on box").unwrap()[0], 1.1, 1e-12);
    near(worlds.location(None, "early").unwrap()[0], 1.0, 1e-12);
    worlds.place_xyz(None, "Prism", [0.0, 7.0, 0.0]).unwrap();
    near(worlds.location(None, "on ball").unwrap()[1], 7.0, 1e-12);
    assert_eq!(worlds.laser_data(None, "early").unwrap().len(), 181);
    // A variance, of both.
    assert!(import.yaml.contains("odometry_noise: { distance: 0.2, heading: 0.2 }"), "{}", import.yaml);
}

#[test]
fn meshes_are_files_beside_the_world() {
    let stl = b"solid\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n".to_vec();
    let files =
        |name: &str| if name == "data/ship.stl" { Ok(stl.clone()) } else { Err("missing".to_owned()) };
    let text = br#"<MeshPart name="Pinta" stl_file="data\ship.stl"/>"#;
    let import = import::world(text, &files, "").unwrap();
    Worlds::from_yaml(&import.yaml, &files).unwrap();
    let elsewhere = import::world(text, &files, "/home/user/").unwrap();
    assert!(elsewhere.yaml.contains("mesh: { file: \"/home/user/data/ship.stl\" }"), "{}", elsewhere.yaml);
    let missing = import::world(br#"<MeshPart stl_file="x.stl"/>"#, &files, "").unwrap();
    assert_eq!(missing.notes[0].text, "not taken: x.stl: missing");
}

#[test]
fn what_is_not_read_is_named_once() {
    let text = "<World>
<SpherePart name='a' raduis='2'><postion>{1,0,0}</postion></SpherePart>
<SpherePart name='b' raduis='2' radius='0.5' radius='1'><position>{1,0,0}</position><position>{2,0,0}</position></SpherePart>
<SpherPart name='c'/>
<FaceSetPart name='d'><face shade='x'><vertex>{0,0,0}{1,0,0}{0,1,0}</vertex><colour r='red'/></face><texture/></FaceSetPart>
<ComposedEntity name='e'><SpherePart tint='1'/><SpherePart/></ComposedEntity>
<LMS100Sim name='f'><driver/></LMS100Sim>
</World>";
    let import = import(text);
    assert_eq!(
        notes(&import),
        [
            (2, "'raduis' of <SpherePart> (2 times) is not read here: left out; did you mean 'radius'?"),
            (2, "<postion> in <SpherePart> is not read here: left out; did you mean 'position'?"),
            (3, "a second 'radius' of <SpherePart> is left out"),
            (3, "a second <position> in <SpherePart> is left out"),
            (
                4,
                "<SpherPart> \"c\" is not taken: there is nothing like it in a world file; did you mean <SpherePart>?"
            ),
            (5, "r=\"red\" of <colour> is not a number: 1 instead"),
            (5, "'shade' of <face> is not read here: left out"),
            (5, "<texture> in <FaceSetPart> is not read here: left out"),
            (6, "'tint' of <SpherePart> is not read here: left out"),
            (7, "<driver> in <LMS100Sim> is not read here: left out"),
        ]
    );
    let import = self::import("<World><SpherePart name='a' radius=2 /></World>");
    assert!(
        import.notes[0].text.starts_with("an attribute of <SpherePart> is left out: "),
        "{:?}",
        import.notes
    );
}

#[test]
fn any_encoding() {
    let text = "<?xml version='1.0' encoding='utf-16'?>\r\n<World><SpherePart name='Mu\u{f1}oz'/></World>";
    let wide: Vec<u8> = [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let marked = [b"\xef\xbb\xbf", text.replace("utf-16", "UTF-8").as_bytes()].concat();
    let latin = text.replace("utf-16", "ISO-8859-1").chars().map(|letter| letter as u8).collect();
    for bytes in [wide, marked, latin] {
        let import = import::world(&bytes, &no_files, "").unwrap();
        assert!(import.notes.is_empty(), "{:?}", import.notes);
        load(&import.yaml).location(None, "Mu\u{f1}oz").unwrap();
    }
    let import = import::world(b"<World>\n<SpherePart name='Mu\xf1oz'/></World>", &no_files, "").unwrap();
    assert_eq!(notes(&import), [(2, "this is not UTF-8: read as Windows-1252")]);
    load(&import.yaml).location(None, "Mu\u{f1}oz").unwrap();
}

#[test]
fn files_without_a_world() {
    let error = |text: &str| import::world(text.as_bytes(), &no_files, "").unwrap_err();
    assert_eq!(error(""), ImportError::NoWorld);
    assert_eq!(error("worlds: [{name: A}]"), ImportError::NoWorld);
    assert_eq!(error("<root><thing/></root>"), ImportError::NoWorld);
    for (text, line) in [("<root>\n<World>\n</root>", 3), ("<root>\n<World>", 2), ("\n<World", 2)] {
        assert!(
            matches!(error(text), ImportError::Syntax { line: at, .. } if at == line),
            "{:?}",
            error(text)
        );
    }
    // Without UTF-8, and with a name that YAML has to quote.
    let import = import::world(
        b"<World><!-- a\xf1o --><SpherePart name=\"a&quot;\xf1: [\\ &#9;\"/></World>",
        &no_files,
        "",
    );
    let mut worlds = load(&import.unwrap().yaml);
    worlds.location(None, "a\"\u{f1}: [\\").unwrap();
}

/// A number, valid or not.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => (-9.0..9.0_f64).prop_map(|value| format!("{value:.3}")),
        2 => (-9..9_i32).prop_map(|value| value.to_string()),
        1 => prop_oneof![Just("1e5"), Just("-1e300"), Just("nan"), Just("1e-7"), Just("x"), Just("")].prop_map(str::to_owned),
    ]
}

fn triples(most: usize) -> impl Strategy<Value = String> {
    let triple = (number(), number(), number()).prop_map(|(a, b, c)| format!("{{{a},{b} , {c}}}"));
    proptest::collection::vec(triple, 0..most).prop_map(|triples| triples.concat())
}

/// An element with any children.
fn element() -> impl Strategy<Value = String> {
    let names = prop_oneof![
        Just("FaceSetPart"),
        Just("PrismaticPart"),
        Just("CylindricalPart"),
        Just("SpherePart"),
        Just("MeshPart"),
        Just("ComposedEntity"),
        Just("Pioneer3ATSim"),
        Just("PatrolbotSim"),
        Just("WheeledBaseSim"),
        Just("LMS100Sim"),
        Just("LMS200Sim"),
        Just("UltrasonicSensor"),
        Just("LandMark"),
        Just("WorldInfo"),
        Just("RobotSim"),
        Just("face"),
    ];
    let place = (prop::option::of(triples(2)), prop::option::of(triples(4)));
    let own = (0..6_u8, prop::option::of(0..6_u8), [number(), number(), number()]);
    let leaf = (names, own, place, triples(8)).prop_map(|(name, (id, link, values), place, vertex)| {
        let [a, b, c] = values;
        let link = link.map(|to| format!(" linkTo=\"$n{to}$\"")).unwrap_or_default();
        let position = place.0.map(|text| format!("<position>{text}</position>")).unwrap_or_default();
        let orientation = place.1.map(|text| format!("<orientation>{text}</orientation>")).unwrap_or_default();
        let face = format!("<face>{position}{orientation}<vertex>{vertex}</vertex><colour r=\"{a}\"/></face>");
        let mesh = format!("<vertex>{vertex}</vertex><TMTriangle><vertex_face>{{0,1,2}}{{0,2,{a}}}</vertex_face></TMTriangle>");
        let inside = if name == "MeshPart" { mesh } else { face };
        format!("<{name} name=\"n{id}\" id=\"{id}\" height=\"{a}\" radius=\"{b}\" mark_id=\"{id}\" maxRange=\"{a}\" \
                 minRange=\"{b}\" conusAngle=\"{c}\" odometryNoise=\"{c}\"{link}>{position}{orientation}{inside}")
    });
    proptest::collection::vec(leaf, 1..4).prop_map(|nested| {
        let ends: String = nested
            .iter()
            .rev()
            .map(|start| {
                let name = start.trim_start_matches('<').split(' ').next().unwrap_or_default();
                format!("</{name}>\n")
            })
            .collect();
        nested.concat() + &ends
    })
}

proptest! {
    #[test]
    fn no_text_makes_the_import_panic(text in any::<String>(), bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        for text in [text.as_bytes(), &bytes] {
            let _ = import::world(text, &|_| Ok(bytes.clone()), "");
            let _ = import::world(&[b"<World>".as_slice(), text, b"</World>".as_slice()].concat(), &no_files, "");
        }
    }

    /// For any file, the imported world file loads, and all its queries work.
    #[test]
    fn what_is_imported_loads(elements in proptest::collection::vec(element(), 1..8)) {
        let text = format!("<root><World>{}</World></root>", elements.concat());
        let import = import::world(text.as_bytes(), &no_files, "").unwrap();
        let loaded = Worlds::from_yaml(&import.yaml, &no_files);
        let mut worlds = match loaded {
            Ok(worlds) => worlds,
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{}\n{text}", import.yaml))),
        };
        let world = worlds.world(None).unwrap();
        let counts = Counts {
            bodies: world.objects().iter().filter(|object| object.kind() == super::super::ObjectKind::Body).count(),
            robots: world.objects().iter().filter(|object| object.kind() == super::super::ObjectKind::Wheeled).count(),
            sensors: world.lasers().count() + world.ultrasonics().count(),
            landmarks: world.landmarks().len(),
        };
        prop_assert_eq!(counts, import.counts);
        let lasers: Vec<String> = world.lasers().map(str::to_owned).collect();
        for laser in lasers {
            worlds.laser_data(None, &laser).unwrap();
            worlds.laser_landmarks(None, &laser).unwrap();
        }
    }
}

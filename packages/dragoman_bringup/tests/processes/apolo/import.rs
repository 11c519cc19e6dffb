//! `dragoman world import`, and the lab with the world that it writes: exit codes, output, and one real
//! process of Apolo's world that is there and moves.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::apolo::{FALSE, TRUE, request};
use crate::common::{Lab, domain};

/// A room of 8 m x 8 m with a robot, in the form of the files for a course.
const ROOM: &str = r#"<root><World>
<FaceSetPart name="Sala">
  <face><vertex>{-4,-4,0}{4,-4,0}{4,4,0}{-4,4,0}</vertex></face>
  <face><vertex>{0,0,0}{0,2,0}{8,2,0}{8,0,0}</vertex>
    <orientation>{1.570796, 0, 1.570796}</orientation><position>{4,-4,0}</position></face>
</FaceSetPart>
<Pioneer3ATSim name="Marvin"/>
<LMS100Sim name="LMS100" linkTo="$Marvin$"><position>{0.1,0,0.4}</position></LMS100Sim>
<UltrasonicSensor name="uc0" maxRange="6" linkTo="$Marvin$"><position>{0.2,0,0.3}</position></UltrasonicSensor>
<LandMark name="LM1" mark_id="7"><position>{3.9,1,0.4}</position></LandMark>
<AdeptOneSim name="SCARA"/>
</World></root>"#;

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("import_{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn import(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    let Output { status, stdout, stderr } =
        command.args(["world", "import"]).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn a_world_of_apolo_is_imported_and_runs() {
    let folder = folder();
    let (xml, yaml) = (folder.join("room.xml"), folder.join("room.yaml"));
    std::fs::write(&xml, ROOM).unwrap();
    let _ = std::fs::remove_file(&yaml);
    let (xml, yaml) = (xml.to_str().unwrap(), yaml.to_str().unwrap());
    let (status, shown, notes) = import(&[xml]);
    assert_eq!(status, Some(0), "{notes}");
    let first = format!("{yaml}: 1 bodies, 1 robots, 2 sensors, 1 landmarks\n");
    assert!(shown.starts_with(&first), "{shown}");
    let expected =
        format!("{xml}:11: <AdeptOneSim> \"SCARA\" is not taken: there is nothing like it in a world file\n");
    assert_eq!(notes, expected);

    let lab = Lab::start_with(domain(), &["up", "--only", "apolo", "--world", yaml], &[]);
    let mut client = lab.apolo();
    assert_eq!(client.ask(&request(b'p', "World 1", &["Marvin"], &[0.0, 0.0, 0.0, 0.0])), TRUE);
    let [x, y, z, heading] = client.values(b'g', "Marvin")[..] else { panic!("four values") };
    assert!([x, y, z, heading].iter().all(|value| value.abs() < 1e-9), "{x} {y} {z} {heading}");
    assert!((client.values(b'l', "LMS100")[270] - 3.9).abs() < 1e-3);
    assert!((client.values(b'u', "uc0")[0] - 3.8).abs() < 1e-3);
    let [(7, angle, distance)] = client.landmarks("LMS100")[..] else { panic!("one landmark") };
    assert!((angle - 1.0_f64.atan2(3.8)).abs() < 1e-9 && (distance - 1.0_f64.hypot(3.8)).abs() < 1e-9);
    assert_eq!(client.ask(&request(b'm', "", &["Marvin"], &[0.5, 0.0, -1.0])), TRUE);
    assert_eq!(client.values(b'o', "Marvin"), [-0.5, 0.0, 0.0]);
    assert_eq!(client.ask(&request(b'p', "", &["Marvin"], &[3.9, 0.0, 0.0, 0.0])), FALSE);
}

#[test]
fn a_world_file_is_not_overwritten_by_accident() {
    let folder = folder();
    let (xml, yaml) = (folder.join("twice.xml"), folder.join("once.yaml"));
    std::fs::write(&xml, ROOM).unwrap();
    std::fs::write(&yaml, "mine").unwrap();
    let (xml, yaml) = (xml.to_str().unwrap(), yaml.to_str().unwrap());
    let (status, _, error) = import(&[xml, "--output", yaml]);
    assert_eq!(status, Some(1));
    assert!(error.contains("use --force"), "{error}");
    assert_eq!(std::fs::read_to_string(yaml).unwrap(), "mine");
    assert_eq!(import(&[xml, "--output", yaml, "--force"]).0, Some(0));
    let (status, printed, _) = import(&[xml, "--output", "-"]);
    assert_eq!((status, printed), (Some(0), std::fs::read_to_string(yaml).unwrap()));

    std::fs::write(xml, "<root>\n<World>\n</root>").unwrap();
    let (status, _, error) = import(&[xml]);
    assert_eq!(status, Some(1));
    assert!(error.contains("line 3"), "{error}");
    let (status, _, error) = import(&["/none/such.xml"]);
    assert_eq!(status, Some(1));
    assert!(error.contains("/none/such.xml"), "{error}");
}

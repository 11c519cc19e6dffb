//! Every example of the Apolo port manual, byte by byte: sizes, answers, requests without answer.

use super::assert_near;
use crate::common::Lab;
use crate::common::apolo::{FALSE, TRUE, request};

/// The output of the manual's example of `apoloGetLocation`.
#[allow(clippy::approx_constant, reason = "as printed")]
const PIEZA: [f64; 6] = [-0.25, 0.2, 0.06, 1.5708, 0.6912, 0.9425];

#[test]
fn every_example() {
    let lab = Lab::only("apolo");
    let mut client = lab.apolo();

    // apoloCheckRobotJoints('Puma560',[0.5 0.23 -0.1],'world1')
    let asked = request(b'j', "world1", &["Puma560"], &[0.5, 0.23, -0.1]);
    assert_eq!((asked.len(), &asked[..14]), (47, &b"aa\x2f\0j\x07world1\0\x08"[..]));
    assert_eq!(client.ask(&asked), FALSE, "no colisiona");
    // Down into the table below it.
    assert_eq!(client.ask(&request(b'j', "world1", &["Puma560"], &[0.0, -1.5, -1.5])), TRUE, "colisiona");

    // apoloGetLocation('pieza')
    let answer = client.ask(b"aa\x0d\0G\0\x06pieza\0");
    assert_eq!((answer.len(), &answer[..7]), (55, &b"aa\x37\0D\x06\0"[..]));
    assert_near(&client.values(b'G', "pieza"), &PIEZA);

    // apoloGetLocationMRobot('Neo')
    let answer = client.ask(b"aa\x0b\0g\0\x04Neo\0");
    assert_eq!((answer.len(), &answer[..7]), (39, &b"aa\x27\0D\x04\0"[..]));

    // apoloPlaceMRobot('Pioneer3AT',[0.7 0.7 0],0.23)
    assert_eq!(client.ask(&request(b'p', "", &["Pioneer3AT"], &[0.7, 0.7, 0.0, 0.23])), TRUE, "ans = 1");
    assert_near(&client.values(b'g', "Pioneer3AT"), &[0.7, 0.7, 0.0, 0.23]);
    // Beyond the floor, and into the column: it does not move.
    assert_eq!(client.ask(&request(b'p', "", &["Pioneer3AT"], &[70.0, 0.7, 0.0, 0.0])), FALSE);
    assert_eq!(client.ask(&request(b'p', "", &["Pioneer3AT"], &[3.0, 2.0, 0.0, 0.0])), FALSE);
    assert_near(&client.values(b'g', "Pioneer3AT"), &[0.7, 0.7, 0.0, 0.23]);

    // apoloMoveMRobot('Pioneer3AT',[0.1 0.0],0.1), apoloUpdate
    assert_eq!(client.ask(&request(b'm', "", &["Pioneer3AT"], &[0.1, 0.0, 0.1])), TRUE);
    client.silent(b"aa\x06\0U\0");
    let (sin, cos) = 0.23_f64.sin_cos();
    assert_near(&client.values(b'g', "Pioneer3AT"), &[0.7 + 0.01 * cos, 0.7 + 0.01 * sin, 0.0, 0.23]);
    assert_eq!(client.ask(&request(b'm', "", &["Pioneer3AT"], &[2.0, 0.0, 60.0])), FALSE, "no floor there");

    // apoloPlace('pieza',[1 1 1],[0.5 0 0])
    client.silent(&request(b'P', "", &["pieza"], &[1.0, 1.0, 1.0, 0.5, 0.0, 0.0]));
    assert_near(&client.values(b'G', "pieza"), &[1.0, 1.0, 1.0, 0.5, 0.0, 0.0]);

    // apoloPlaceXYZ('Pioneer3AT',1,1,1)
    client.silent(&request(b'P', "", &["Pioneer3AT"], &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]));
    assert_near(&client.values(b'G', "Pioneer3AT"), &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);

    // apoloSetRobotJoints('Puma560',[0.5 0.23 -0.1],'world1')
    client.silent(&request(b'J', "world1", &["Puma560"], &[0.5, 0.23, -0.1]));

    // apoloUpdate('World1'), apoloUpdate
    client.silent(b"aa\x0d\0U\x07World1\0");
    client.silent(b"aa\x06\0U\0");
}

/// The original takes the position and the heading of any thing.
#[test]
fn a_thing_without_wheels_has_a_position_and_a_heading() {
    let lab = Lab::only("apolo");
    let mut client = lab.apolo();
    client.silent(&request(b'P', "", &["pieza"], &[1.0, 1.25, 1.0, 0.0, 0.0, 0.5]));
    assert_near(&client.values(b'g', "pieza"), &[1.0, 1.25, 1.0, 0.5]);
    let [arm, place] = [b'g', b'G'].map(|letter| client.values(letter, "Puma560"));
    assert_near(&arm[..3], &place[..3]);
    assert_eq!(client.ask(&request(b'g', "", &["nobody"], &[])), FALSE);
}

#[test]
fn what_later_programs_need() {
    let lab = Lab::only("apolo");
    let mut client = lab.apolo();
    assert_eq!(client.ask(&request(b'p', "", &["Marvin"], &[0.0, 0.0, 0.0, 0.0])), TRUE);
    client.silent(&request(b'R', "", &["Marvin"], &[0.0, 0.0, 0.0]));
    assert_eq!(client.ask(&request(b'm', "", &["Marvin"], &[0.5, 0.1, 0.5])), TRUE);
    assert_near(&client.values(b'g', "Marvin"), &[0.25 * 0.05_f64.cos(), 0.25 * 0.05_f64.sin(), 0.0, 0.05]);
    let odometry = client.values(b'o', "Marvin");
    assert!((odometry[0] - 0.25).abs() < 0.05 && (odometry[2] - 0.05).abs() < 0.01, "{odometry:?}");
    client.silent(&request(b'R', "", &["Marvin"], &[1.0, 2.0, 3.0]));
    assert_near(&client.values(b'o', "Marvin"), &[1.0, 2.0, 3.0]);
    // A negative time drives back. The heading that was set does not turn the odometry.
    assert_eq!(client.ask(&request(b'm', "", &["Marvin"], &[0.5, 0.0, -0.4])), TRUE);
    let odometry = client.values(b'o', "Marvin");
    assert!((odometry[0] - 0.8).abs() < 0.02, "{odometry:?}");
    assert_near(&odometry[1..], &[2.0, 3.0]);
    // It does not know that the robot is placed, until it moves.
    let [x, y, ..] = client.values(b'g', "Marvin")[..] else { panic!("four values") };
    assert_eq!(client.ask(&request(b'p', "", &["Marvin"], &[x - 1.0, y, 0.0, 0.05])), TRUE);
    assert_eq!(client.values(b'o', "Marvin"), odometry);
    assert_eq!(client.ask(&request(b'm', "", &["Marvin"], &[0.0, 0.0, 0.1])), TRUE);
    let jumped = client.values(b'o', "Marvin");
    let expected = [odometry[0] - 0.05_f64.cos(), 2.0 + 0.05_f64.sin()];
    assert!((jumped[0] - expected[0]).abs() < 0.1 && (jumped[1] - expected[1]).abs() < 0.02, "{jumped:?}");

    let scan = client.values(b'l', "LMS100");
    assert_eq!(scan.len(), 541);
    assert!(scan.iter().all(|range| (0.0..=20.0).contains(range)), "{scan:?}");
    for (id, angle, distance) in client.landmarks("LMS100") {
        let mark = client.values(b'G', &format!("LM{id}"));
        let laser = client.values(b'G', "LMS100");
        let (x, y) = (mark[0] - laser[0], mark[1] - laser[1]);
        // Six standard deviations of the noise.
        assert!((distance - x.hypot(y)).abs() < 0.085, "{id}");
        assert!((angle - (y.atan2(x) - laser[5])).sin().abs() < 0.105, "{id}");
    }
    assert!(!client.landmarks("LMS100").is_empty());
    assert_eq!(client.values(b'u', "uc0").len(), 1);
    assert_eq!(client.values(b'd', "Marvin").len(), 3);

    // The tool carries the object.
    client.silent(&request(b'L', "World 1", &["Puma560", "pieza"], &[]));
    let before = client.values(b'G', "pieza");
    client.silent(&request(b'J', "", &["Puma560"], &[1.0]));
    assert_ne!(client.values(b'G', "pieza"), before);
}

#[test]
fn unknown_names_and_wrong_values_fail_and_change_nothing() {
    let lab = Lab::only("apolo");
    let mut client = lab.apolo();
    for letter in *b"GgolBud" {
        assert_eq!(client.ask(&request(letter, "", &["nobody"], &[])), FALSE);
        assert_eq!(client.ask(&request(letter, "World 2", &["Pioneer3AT"], &[])), FALSE);
    }
    let before = client.values(b'g', "Neo");
    for bad in [f64::NAN, f64::INFINITY, 1e300] {
        assert_eq!(client.ask(&request(b'm', "", &["Neo"], &[0.1, 0.0, bad])), FALSE);
        assert_eq!(client.ask(&request(b'p', "", &["Neo"], &[bad, 0.0, 0.0, 0.0])), FALSE);
        client.silent(&request(b'P', "", &["Neo"], &[bad, 0.0, 0.0, 0.0, 0.0, 0.0]));
    }
    assert_eq!(client.ask(&request(b'm', "", &["pieza"], &[0.1, 0.0, 0.1])), FALSE, "it has no wheels");
    assert_eq!(client.ask(&request(b'j', "", &["Puma560"], &[0.0; 7])), TRUE, "it has six joints");
    assert_eq!(client.ask(&request(b'j', "", &["Puma560"], &[50.0])), TRUE, "it cannot be there");
    assert_eq!(client.ask(&request(b'j', "", &["Puma560"], &[f64::NAN])), TRUE);
    assert_eq!(client.ask(&request(b'j', "", &["Neo"], &[0.0])), TRUE, "it is no arm");
    assert_eq!(client.ask(&request(b'j', "", &["nobody"], &[0.0])), FALSE);
    assert_eq!(client.values(b'g', "Neo"), before);
}

#[test]
fn a_world_from_a_file() {
    let folder = crate::common::Folder::new();
    let file = folder.0.join("own_world.yaml");
    let world = "
worlds:
  - name: Attic
    bodies:
      - { name: floor, xyz: [0, 0, -0.05], shapes: [{ box: [4, 4, 0.1] }] }
      - { name: trunk, xyz: [1, 0, 0.2], shapes: [{ box: [0.4, 0.4, 0.4] }] }
";
    std::fs::write(&file, world).unwrap();
    let lab = Lab::start_with(0, &["up", "--only", "apolo", "--world", file.to_str().unwrap()], &[]);
    assert!(lab.banner.iter().any(|line| line.starts_with("Attic")), "{:?}", lab.banner);
    let mut client = lab.apolo();
    assert_near(&client.values(b'G', "trunk"), &[1.0, 0.0, 0.2, 0.0, 0.0, 0.0]);
    assert_eq!(client.ask(&request(b'G', "", &["pieza"], &[])), FALSE);

    std::fs::write(&file, world.replace("box: [4, 4, 0.1]", "box: [4, 4]")).unwrap();
    for (path, named) in [(file.to_str().unwrap(), "line"), ("/none/such.yaml", "/none/such.yaml")] {
        let refused = Lab::try_start(1, &[], 1, &["up", "--only", "apolo", "--world", path], &[]);
        let error = refused.err().expect("it is refused");
        assert!(error.contains(path) && error.contains(named), "{error}");
    }
}

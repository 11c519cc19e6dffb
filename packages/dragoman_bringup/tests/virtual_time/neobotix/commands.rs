//! Every command once, every reply field by field, and documents that are returned unchanged.

use std::time::Duration;

use super::Site;
use crate::common::neobotix::{CONNECT, GET_MAP, GET_POSITION, NeobotixClient, SET_MAP, ints, texts};
use crate::host::now;

const ROADMAP: &str = "<roadmap Version=\"1.0\"><stations><station id=\"s\" name=\"here\" angle=\"90\"><point x=\"100\" y=\"0\"/></station></stations><edges/></roadmap>";
const PROGRAM: &str = "<program version=\"1.0\"><task name=\"t\" id=\"1\" priority=\"1\" version=\"1.0\"><wait><delay amount=\"10\"/></wait></task></program>";

/// The lab's map, with a non-ASCII comment.
fn map() -> String {
    let lab = include_str!("../../../../../launch/config/neobotix/map.xml");
    let own = lab.replacen("<!--", "<!-- \u{e4}\u{20ac}", 1);
    assert_ne!(own, lab);
    own
}

/// In order of their numbers, except START and EXIT. The platform is ready, and started in a mode without motion.
fn without_answer() -> Vec<Vec<u8>> {
    let file = |number| texts(number, &["none"]);
    vec![
        vec![0],
        vec![1],
        vec![2],
        vec![0],
        vec![2],
        vec![3, 1, 1],
        [&ints(4, &[0, 3])[..], &[1]].concat(),
        ints(5, &[3]),
        vec![6],
        ints(7, &[0x181]),
        ints(8, &[0x181]),
        [&ints(9, &[0x181])[..], b"01234567"].concat(),
        vec![12],
        vec![13],
        vec![14],
        ints(15, &[0]),
        ints(19, &[2, 0, 0, 0, 100, 0, 0]),
        texts(20, &["middle"]),
        ints(21, &[0, 0, 0]),
        ints(22, &[1000, 0, 0]),
        ints(23, &[100, 100]),
        ints(24, &[100, 0]),
        texts(25, &["mine", &map()]),
        vec![27],
        vec![28],
        vec![29],
        vec![30],
        vec![31],
        texts(32, &["mine", ROADMAP]),
        vec![34],
        vec![35],
        ints(36, &[4500, 3800, -90_000]),
        texts(37, &["IpoRotvel", "0.5"]),
        texts(40, &[PROGRAM]),
        vec![42],
        vec![43],
        texts(44, &["Guten Tag"]),
        file(45),
        file(46),
        ints(47, &[45]),
        ints(48, &[1000]),
        texts(49, &["home"]),
        vec![51],
        vec![52],
        vec![53],
        vec![54],
        ints(55, &[1000, 1000, 2]),
        ints(55, &[1000, 1000, 5]),
        vec![56],
        vec![57],
        ints(58, &[1]),
        vec![11],
    ]
}

#[test]
fn every_command_is_taken_and_every_reply_is_whole() {
    let mut site = Site::new();
    for client in
        [&mut NeobotixClient::new(site.lab.neobotix[0]), &mut NeobotixClient::bare(site.lab.neobotix[1])]
    {
        let before = site.truth();
        // Data of the base must have been received.
        let end = now() + Duration::from_secs(60);
        while client.status().operation != 0 {
            assert!(now() < end, "it is not initialized");
            client.order(&[CONNECT]);
            client.order(&[2]);
        }
        for order in without_answer() {
            client.silent(&order);
        }
        let status = client.status();
        assert_eq!((status.operation, status.digital_out), (1, 0b1000), "{status:?}");
        client.silent(&[14]);
        client.silent(&[16]);
        client.until("the ultrasonic sensors are off", |status| status.ultrasonic == [10_000; 16]);
        // None of these moved the platform: its mode allows no motion.
        let moved = site.truth().iter().zip(before).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(moved < 0.01, "{moved}");
        replies(client);
        // CLOSE_SOCKET frees the port.
        client.order(&[17]);
        client.is_hung_up_on();
    }
    NeobotixClient::next(site.lab.neobotix[0]);
    // SAVE_MAP, SAVE_ROADMAP and SAVE_PROGRAM, and nothing else.
    let files = ["StartupDocuments.dat", "maps/mine.xml", "programs/program.xml", "roadmaps/mine.xml"]
        .map(|file| site.folder.0.join(file));
    assert_eq!(site.files(), files);
}

/// All ten.
#[track_caller]
fn replies(client: &mut NeobotixClient) {
    for is_deleting in [0, 1] {
        let mut messages = client.ask(&[10, is_deleting]);
        assert_eq!(messages.int(), 0);
        messages.end();
    }
    let status = client.status();
    assert_eq!((status.mode, status.operation, status.ultrasonic), (0, 3, [10_000; 16]), "{status:?}");
    assert!(status.path.is_empty() && !status.is_colliding && status.lights == [false; 2], "{status:?}");
    for (number, document) in [(GET_MAP, map().as_str()), (33, ROADMAP)] {
        let mut reply = client.ask(&[number]);
        assert_eq!((reply.byte(), reply.text().as_str(), reply.text().as_str()), (4, document, "mine"));
        reply.end();
    }
    let mut program = client.ask(&[41]);
    assert_eq!(program.text(), PROGRAM);
    program.end();

    let mut parameter = client.ask(&texts(38, &["IpoRotvel"]));
    assert_eq!((parameter.text().as_str(), parameter.text().as_str()), ("IpoRotvel", "0.5"));
    assert_eq!(parameter.ints(), [2, 2, 0, 10]);
    parameter.end();
    // An unknown key is returned with an empty value.
    let mut unknown = client.ask(&texts(38, &["IpoRot"]));
    assert_eq!((unknown.text().as_str(), unknown.text().as_str(), unknown.ints()), ("IpoRot", "", [0; 4]));
    unknown.end();
    let mut all = client.ask(&[39]);
    let count = all.int();
    let keys: Vec<String> = (0..count)
        .map(|_| {
            let (key, value) = (all.text(), all.text());
            let [category, kind, minimum, maximum] = all.ints();
            assert!((0..=10).contains(&category) && (0..=2).contains(&kind) && minimum <= maximum, "{key}");
            assert!(!value.is_empty(), "{key}");
            key
        })
        .collect();
    all.end();
    assert!(keys.len() == 94 && keys.iter().any(|key| key == "UltraSonic16Angle"), "{keys:?}");

    let mut debug = client.ask(&[50]);
    assert_eq!((debug.list::<8>().len(), debug.flag()), (0, false), "gates, mapping mode");
    assert_eq!(debug.list::<3>(), Vec::<[i32; 3]>::new(), "path");
    for [kind, color, ..] in debug.list::<9>() {
        assert!((0..=18).contains(&kind) && (20..=30).contains(&color));
    }
    let variables: Vec<_> = (0..debug.int()).map(|_| (debug.int(), debug.text())).collect();
    assert!(variables.contains(&(0, "mapping: false".to_owned())), "{variables:?}");
    assert_eq!([debug.int(), debug.int(), debug.int()], [0; 3], "clusters");
    let lines: Vec<_> = (0..debug.int()).map(|_| debug.text()).collect();
    let expected = "CMD_GET_PLTF_PARAM: there is no parameter 'IpoRot'";
    assert!(lines.iter().any(|line| line == expected), "{lines:?}");
    let [receive_time, _, _, _, received, sent, asked, answered, _, _] = debug.ints();
    assert!(receive_time == 0 && [received, sent, asked, answered].iter().all(|rate| *rate >= 0));
    let [forward, .., optocoupler] = debug.ints::<5>();
    assert!((0..=1500).contains(&forward) && optocoupler == 0, "safe velocities: {forward}, {optocoupler}");
    debug.check();

    let mut camera = client.ask(&[59]);
    assert_eq!((camera.text(), camera.text()), (String::new(), String::new()));
    camera.end();
    let mut position = client.ask(&[GET_POSITION]);
    let [x, y] = position.ints();
    assert!((x - 4500).abs() < 50 && (y - 3800).abs() < 50, "{x} {y}");
    let [angle, translation, rotation] = [position.double(), position.double(), position.double()];
    assert!((angle + std::f64::consts::FRAC_PI_2).abs() < 0.05, "{angle}");
    assert!(translation.abs() < 10.0 && rotation.abs() < 0.01, "{translation} {rotation}");
    position.end();
}

/// The lab's documents, and a large one, are returned as they were sent.
#[test]
fn documents_are_returned_unchanged() {
    let site = Site::new();
    let client = &mut NeobotixClient::new(site.lab.neobotix[0]);
    client.order(&[CONNECT]);
    for (get, set) in [(GET_MAP, SET_MAP), (33, 32)] {
        let mut reply = client.ask(&[get]);
        let (characters, document, name) = (reply.byte(), reply.text(), reply.text());
        reply.end();
        assert_eq!((usize::from(characters), name.as_str()), (name.len(), "lab"));
        assert!(document.contains("Version=\"1.0\""));
        let other = document.replacen("<!--", "<!-- another,", 1);
        client.order(&texts(set, &["other", &other]));
        let mut reply = client.ask(&[get]);
        assert_eq!((reply.byte(), reply.text(), reply.text()), (5, other, "other".to_owned()));
        reply.end();
    }
    let program = client.ask(&[41]).text();
    assert!(program.contains("<task name=\"round\""), "{program}");
    let other = program.replacen("<!--", "<!-- another,", 1);
    client.order(&texts(40, &[&other]));
    assert_eq!(client.ask(&[41]).text(), other);

    let line = "<line><point x=\"1\" y=\"2\"/><point x=\"3\" y=\"4\"/></line>\n";
    let large = format!("<map Version=\"1.0\"><layer index=\"0\">{}</layer></map>", line.repeat(2000));
    client.order(&texts(SET_MAP, &["large", &large]));
    let mut reply = client.ask(&[GET_MAP]);
    assert!((reply.byte(), reply.text()) == (5, large), "another map");
}

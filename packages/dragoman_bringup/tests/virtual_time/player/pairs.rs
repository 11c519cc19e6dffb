//! An answer means that the next question sees what was set, also if both came in one packet.

use std::io::Write;

use super::{Folder, Lab, PlayerClient, header};
use dragoman_bridge::player::wire::common::{Point3d, Pose2d, Pose3d};
use dragoman_bridge::player::wire::{
    Device, INTERFACES, Message, MessageKind, Xdr, localize, log, properties, simulation,
};

/// Requests that set a value which no request of their interface returns, or which a device in ROS always refuses.
const WITHOUT_QUESTION: [(&str, &str, &str); 13] = [
    ("power", "SET_CHARGING_POLICY", "refused"),
    ("position2d", "SET_ODOMETRY", "shown by data"),
    ("laser", "SET_CONFIG", "the answer is the configuration of the scanner, which stays as it is"),
    ("laser", "SET_FILTER", "refused"),
    ("camera", "SET_SOURCE", "refused"),
    ("log", "SET_FILE_NAME", "shown by nothing"),
    ("actarray", "SET_SPEED", "shown by nothing"),
    ("actarray", "SET_ACCELERATION", "refused"),
    ("limb", "SET_POSE", "a command"),
    ("limb", "SET_POSITION", "a command"),
    ("limb", "SET_SPEED", "shown by nothing"),
    ("imu", "SET_DATA_KIND", "shown by data"),
    ("ranger", "SET_CONFIG", "the answer is the configuration of the sensor, which stays as it is"),
];

/// A request, as bytes.
fn request(device: Device, subtype: u8, body: &impl Xdr) -> Vec<u8> {
    header(device, MessageKind::Request, subtype, &body.to_bytes())
}

/// Sends both in one packet; the answer to the second.
#[track_caller]
fn pair(client: &mut PlayerClient, set: Vec<u8>, get: Vec<u8>) -> Message {
    client.stream.write_all(&[set, get].concat()).unwrap();
    let mut answers = Vec::new();
    while answers.len() < 2 {
        let message = client.receive();
        if matches!(message.header.kind, MessageKind::Acknowledge | MessageKind::Refuse) {
            assert_eq!(message.header.kind, MessageKind::Acknowledge, "{:?}", message.header);
            answers.push(message);
        }
    }
    answers.remove(1)
}

#[test]
fn what_was_set_is_in_the_next_answer() {
    let Folder(folder) = &Folder::new();
    let parameter = format!("recorder:folder:={}", folder.display());
    let lab = Lab::start_with(0, &["up"], &["-p", &parameter]);
    let mut client = PlayerClient::connect(lab.player);
    let [world, place, recorder] =
        [&simulation::INTERFACE, &localize::INTERFACE, &log::INTERFACE].map(|interface| interface.device(0));
    for device in [world, place, recorder] {
        client.subscribe(device);
    }
    let mut tried = Vec::new();

    let name = || "pieza".to_owned();
    for x in [1.5, 2.0, 1.0] {
        let pose = Pose2d { x, y: 1.0, yaw: 0.0 };
        let position = Point3d { x, y: 1.0, z: 0.5 };
        let plane = simulation::NamedPose2d { name: name(), pose };
        let pose = Pose3d { position, ..Pose3d::default() };
        let space = simulation::NamedPose3d { name: name(), pose, time: 0.0 };
        let sets = [
            request(world, simulation::SET_POSE2D.subtype, &plane),
            request(world, simulation::SET_POSE3D.subtype, &space),
        ];
        for set in sets {
            let asked = simulation::NamedPose2d { name: name(), ..Default::default() };
            let get = request(world, simulation::GET_POSE2D.subtype, &asked);
            let shown = pair(&mut client, set.clone(), get);
            assert_eq!(simulation::GET_POSE2D.answer(&shown.body).unwrap().pose.x, x);
            let asked = simulation::NamedPose3d { name: name(), ..Default::default() };
            let get = request(world, simulation::GET_POSE3D.subtype, &asked);
            let shown = pair(&mut client, set, get);
            assert_eq!(simulation::GET_POSE3D.answer(&shown.body).unwrap().pose.position.x, x);
        }
    }
    tried.extend(["SET_POSE2D", "SET_POSE3D"].map(|row| ("simulation", row)));

    // The pose on the map is known.
    client.granted(place, localize::GET_PARTICLES.subtype, &());
    let there = client.granted(place, localize::GET_PARTICLES.subtype, &());
    let there = localize::GET_PARTICLES.answer(&there).unwrap().mean;
    for shift in [0.2, -0.2, 0.1] {
        let mean = Pose2d { x: there.x + shift, ..there.clone() };
        let estimate = localize::Estimate { mean: mean.clone(), covariance: [0.0; 6] };
        let set = request(place, localize::SET_POSE.subtype, &estimate);
        let shown = pair(&mut client, set, request(place, localize::GET_PARTICLES.subtype, &()));
        let shown = localize::GET_PARTICLES.answer(&shown.body).unwrap().mean;
        // Its own localization begins at once.
        assert!((shown.x - mean.x).abs() < 0.1, "{shown:?} instead of {mean:?}");
    }
    tried.push(("localize", "SET_POSE"));

    for (subtype, on) in [
        (log::SET_WRITE_STATE.subtype, true),
        (log::SET_WRITE_STATE.subtype, false),
        (log::SET_READ_STATE.subtype, true),
        (log::SET_READ_STATE.subtype, false),
    ] {
        if subtype == log::SET_WRITE_STATE.subtype && on {
            client.granted(recorder, log::SET_FILE_NAME.subtype, &"pairs".to_owned());
        }
        let set = request(recorder, subtype, &on);
        let shown = pair(&mut client, set, request(recorder, log::GET_STATE.subtype, &()));
        assert_eq!(log::GET_STATE.answer(&shown.body).unwrap().enabled, on, "{subtype} {on}");
        crate::common::sleep(std::time::Duration::from_secs(1));
    }
    tried.extend(["SET_WRITE_STATE", "SET_READ_STATE"].map(|row| ("log", row)));

    // A new row is in one of the lists. Devices in ROS have no properties, so those of every interface are refused.
    assert!(properties::INTERFACE.messages.iter().any(|row| row.name.starts_with("SET_")));
    for interface in INTERFACES.into_iter().filter(|interface| interface.name != "simulation") {
        for row in interface.messages.iter().filter(|row| row.name.starts_with("SET_")) {
            let is_listed =
                WITHOUT_QUESTION.iter().any(|(of, name, _)| (*of, *name) == (interface.name, row.name));
            let is_tried = tried.contains(&(interface.name, row.name));
            assert!(is_listed != is_tried, "{} {}", interface.name, row.name);
        }
    }
}

//! Every example of the Apolo port manual, byte by byte: sizes, answers, and commands without an answer.

use std::net::{IpAddr, Ipv4Addr};

use dragoman_bridge::BridgeError;
use dragoman_bridge::apolo::node::{ServerParameters, start_server};

use crate::apolo_node::client::{FALSE, TRUE, doubles, frame, request};
use crate::apolo_node::fake_world::PIEZA;
use crate::apolo_node::lab::{Lab, context, until};

#[test]
fn check_robot_joints() {
    let lab = Lab::start(&[]);
    let mut client = lab.client();
    let asked = request(b'j', "world1", &["Puma560"], &[0.5, 0.23, -0.1]);
    assert_eq!(asked.len(), 5 + 8 + 9 + 1 + 24);
    assert_eq!(client.ask(&asked), FALSE, "no colisiona");
    assert_eq!(lab.world.lock().unwrap().joints, [0.5, 0.23, -0.1], "the arm is where it was checked");
    assert_eq!(client.ask(&request(b'j', "world1", &["Puma560"], &[1.5])), TRUE, "colisiona");
    assert_eq!(lab.world.lock().unwrap().joints, [1.5, 0.23, -0.1]);
    assert_eq!(lab.world.lock().unwrap().asked[0], "check_robot_joints \"world1\" \"Puma560\"");
}

#[test]
fn get_location() {
    let lab = Lab::start(&[]);
    let answer = lab.client().ask(b"aa\x0d\0G\0\x06pieza\0");
    assert_eq!(answer, doubles(&PIEZA));
    assert_eq!((answer.len(), answer[4]), (55, b'D'));
}

#[test]
fn get_location_of_a_wheeled_robot() {
    let lab = Lab::start(&[]);
    let answer = lab.client().ask(b"aa\x0b\0g\0\x04Neo\0");
    assert_eq!(answer, doubles(&[1.0, 2.0, 0.1, 0.5]));
    assert_eq!((answer.len(), answer[4]), (39, b'D'));
}

#[test]
fn move_and_update() {
    let lab = Lab::start(&[]);
    let mut client = lab.client();
    assert_eq!(client.ask(&request(b'm', "", &["Pioneer3AT"], &[0.1, 0.0, 0.1])), TRUE);
    assert_eq!(client.silent(&request(b'U', "World1", &[], &[])), 1.5);
    assert_eq!(client.silent(&request(b'U', "", &[], &[])), 1.5);
    assert_eq!(lab.world.lock().unwrap().updates, 2);
    let at = client.ask(&request(b'g', "", &["Pioneer3AT"], &[]));
    assert_eq!(at, doubles(&[0.1 * 0.1, 0.0, 0.0, 0.0]));
    // Into the wall: it does not move.
    assert_eq!(client.ask(&request(b'm', "", &["Pioneer3AT"], &[2.0, 0.0, 10.0])), FALSE);
    assert_eq!(client.ask(&request(b'g', "", &["Pioneer3AT"], &[])), at);
}

#[test]
fn place() {
    let lab = Lab::start(&[]);
    let mut client = lab.client();
    assert_eq!(client.silent(&request(b'P', "", &["pieza"], &[1.0, 1.0, 1.0, 0.5, 0.0, 0.0])), 1.5);
    let location = request(b'G', "", &["pieza"], &[]);
    assert_eq!(client.ask(&location), doubles(&[1.0, 1.0, 1.0, 0.5, 0.0, 0.0]));
    // apoloPlaceXYZ is the same frame, with roll, pitch and yaw zero.
    assert_eq!(client.silent(&request(b'P', "", &["Pioneer3AT"], &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0])), 1.5);
    let answer = client.ask(&request(b'G', "", &["Pioneer3AT"], &[]));
    assert_eq!(answer, doubles(&[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]));
}

#[test]
fn place_a_wheeled_robot() {
    let lab = Lab::start(&[]);
    let mut client = lab.client();
    assert_eq!(client.ask(&request(b'p', "", &["Pioneer3AT"], &[0.7, 0.7, 0.0, 0.23])), TRUE);
    assert_eq!(client.ask(&request(b'g', "", &["Pioneer3AT"], &[])), doubles(&[0.7, 0.7, 0.0, 0.23]));
    assert_eq!(client.ask(&request(b'p', "", &["Pioneer3AT"], &[70.0, 0.7, 0.0, 0.23])), FALSE);
}

#[test]
fn set_robot_joints() {
    let lab = Lab::start(&[]);
    assert_eq!(lab.client().silent(&request(b'J', "world1", &["Puma560"], &[0.5, 0.23, -0.1])), 1.5);
    assert_eq!(lab.world.lock().unwrap().joints, [0.5, 0.23, -0.1]);
}

#[test]
fn what_later_programs_need() {
    let lab = Lab::start(&[]);
    let mut client = lab.client();
    client.ask(&request(b'm', "", &["Pioneer3AT"], &[0.5, 0.1, 0.5]));
    let odometry = client.ask(&request(b'o', "", &["Pioneer3AT"], &[]));
    assert_eq!(odometry, doubles(&[0.25 * 0.05_f64.cos(), 0.25 * 0.05_f64.sin(), 0.05]));
    assert_eq!(client.silent(&request(b'R', "", &["Pioneer3AT"], &[1.0, 2.0, 3.0])), 1.5);
    assert_eq!(client.ask(&request(b'o', "", &["Pioneer3AT"], &[])), doubles(&[1.0, 2.0, 3.0]));
    let scan = client.ask(&request(b'l', "", &["LMS100"], &[]));
    assert_eq!(scan.len(), 4335);
    assert_eq!(scan, doubles(&(0..541).map(|beam| 0.01 * f64::from(beam)).collect::<Vec<_>>()));
    let marks = client.ask(&request(b'B', "", &["LMS100"], &[]));
    let bytes: Vec<u8> = [
        &[2, 0, 1, 0][..],
        &(-0.5_f64).to_le_bytes(),
        &2.0_f64.to_le_bytes(),
        &[44, 1],
        &0.25_f64.to_le_bytes(),
        &4.5_f64.to_le_bytes(),
    ]
    .concat();
    assert_eq!(marks, frame(b'b', &bytes));
    assert_eq!(client.ask(&request(b'u', "", &["uc0"], &[])), doubles(&[1.5]));
    assert_eq!(client.ask(&request(b'd', "", &["Pioneer3AT"], &[])), doubles(&[1.5, 2.5]));
    assert_eq!(client.silent(&request(b'L', "World 1", &["Puma560", "pieza"], &[])), 1.5);
    assert_eq!(lab.world.lock().unwrap().links, [("Puma560".to_owned(), "pieza".to_owned())]);
}

#[test]
fn unknown_names_and_wrong_values_are_no() {
    let lab = Lab::start(&[]);
    let mut client = lab.client();
    for letter in *b"GgolBud" {
        assert_eq!(client.ask(&request(letter, "", &["nobody"], &[])), FALSE);
        assert_eq!(client.ask(&request(letter, "World 2", &["Pioneer3AT"], &[])), FALSE);
    }
    assert_eq!(client.ask(&request(b'j', "", &["Puma560"], &[0.0; 4])), TRUE, "it has three joints");
    assert_eq!(client.ask(&request(b'j', "", &["nobody"], &[0.0])), FALSE);
    assert_eq!(client.ask(&request(b'm', "", &["pieza"], &[0.1, 0.0, 0.1])), FALSE, "it has no wheels");
    let before = lab.world.lock().unwrap().asked.len();
    assert_eq!(client.ask(&request(b'm', "", &["Neo"], &[f64::NAN, 0.0, 0.1])), FALSE);
    assert_eq!(lab.world.lock().unwrap().asked.len(), before, "the world gets no call");
    for letter in *b"PJRUL" {
        let values = if letter == b'P' { vec![0.0; 6] } else { vec![0.0; 3] };
        assert_eq!(client.silent(&request(letter, "", &["nobody", "nothing"], &values)), 1.5);
    }
}

#[test]
fn options_restore_the_behaviour_of_the_original_and_its_first_clients() {
    let lab = Lab::start(&["silent_on_unknown:=true", "move_reply:=false", "size_base:=255"]);
    let mut client = lab.client();
    assert_eq!(client.silent(&request(b'G', "", &["nobody"], &[])), 1.5);
    assert_eq!(client.silent(&request(b'm', "", &["Pioneer3AT"], &[0.1, 0.0, 0.1])), 1.5);
    client.send(&request(b'l', "", &["LMS100"], &[]));
    let mut head = [0; 4335];
    std::io::Read::read_exact(&mut client.stream, &mut head).unwrap();
    assert_eq!(head[..7], *b"aa\0\x11D\x1f\x02");
}

#[test]
fn a_port_in_use_is_an_error_that_names_it() {
    let lab = Lab::start(&[]);
    let context = context(&[]);
    let error = start_server(&context, "/other", IpAddr::V4(Ipv4Addr::LOCALHOST)).unwrap_err();
    assert!(matches!(error, BridgeError::Bind { address, .. } if address == lab.address));
    let text = error.to_string();
    assert!(text.contains("cannot open TCP port 127.0.0.1:") && text.contains("in use"), "{text}");
}

/// Clients see the end of the connection, and the port is free again.
#[test]
fn it_closes_cleanly() {
    let lab = Lab::start(&[]);
    let mut client = lab.client();
    client.ask(&request(b'u', "", &["uc0"], &[]));
    let Lab { nodes, address, simulated, .. } = lab;
    drop(nodes);
    assert_eq!(std::io::Read::read(&mut client.stream, &mut [0; 10]).unwrap_or(0), 0);
    let again = context(&[]);
    until("the port is free", || start_server(&again, "/apolo", address.ip()).is_ok());
    drop((client, again, simulated));
}

/// A question after an unanswered command, both to a service that does not answer, is answered within MATLAB's timeout.
#[test]
fn a_matlab_program_waits_for_longer_than_two_calls_take() {
    let ours = ServerParameters::default().service_timeout.as_secs_f64();
    let theirs = include_str!("../../../dragoman_clients/matlab/apolo/private/apoloLink.m")
        .split_once("timeout = ")
        .unwrap()
        .1
        .split([',', ';', ' '])
        .next()
        .unwrap();
    let theirs: f64 = theirs.parse().unwrap();
    assert!(2.0 * ours < theirs, "{ours} s and {theirs} s");
}

//! Client, server side, ROS, client side, second lab: the answers equal those of a single lab.

use std::time::Duration;

use super::assert_near;
use crate::common::apolo::{ApoloClient, FALSE, request};
use crate::common::{Lab, sleep, until};

/// The requests sent to both; a request without answer is followed by one with an answer.
fn script(client: &mut ApoloClient) -> Vec<Vec<u8>> {
    let requests = [
        request(b'G', "", &["pieza"], &[]),
        request(b'g', "World 1", &["Neo"], &[]),
        request(b'm', "", &["Neo"], &[-0.1, 0.2, 0.1]),
        request(b'm', "", &["Neo"], &[2.0, 0.0, 60.0]),
        request(b'U', "", &[], &[]),
        request(b'o', "", &["Neo"], &[]),
        request(b'R', "", &["Neo"], &[0.1, 0.2, 0.3]),
        request(b'o', "", &["Neo"], &[]),
        request(b'l', "", &["LMS100"], &[]),
        request(b'B', "", &["LMS100"], &[]),
        request(b'u', "", &["uc0"], &[]),
        request(b'd', "", &["Marvin"], &[]),
        request(b'p', "", &["Pioneer3AT"], &[0.7, 0.7, 0.0, 0.23]),
        request(b'p', "", &["Pioneer3AT"], &[70.0, 0.7, 0.0, 0.23]),
        request(b'P', "", &["pieza"], &[1.0, 1.0, 1.0, 0.5, 0.0, 0.0]),
        request(b'G', "", &["pieza"], &[]),
        request(b'J', "world1", &["Puma560"], &[0.5, 0.23, -0.1]),
        request(b'j', "world1", &["Puma560"], &[0.0, -1.5, -1.5]),
        request(b'L', "", &["Puma560", "pieza"], &[]),
        request(b'j', "world1", &["Puma560"], &[0.5, 0.23, -0.1]),
        request(b'G', "", &["pieza"], &[]),
        request(b'G', "", &["nobody"], &[]),
    ];
    let mut answers = Vec::new();
    for request in requests {
        client.send(&request);
        if !b"PJURL".contains(&request[4]) {
            answers.push(client.answer());
        }
    }
    answers
}

#[test]
fn a_chain_answers_as_a_lab_alone() {
    // The noise is the same in both: the world's random seed.
    let world = ["up", "--only", "apolo"];
    let alone = Lab::start_with(0, &world, &[]);
    let second = Lab::start_with(1, &world, &["-p", "apolo:port:=12345"]);
    let expected = script(&mut alone.apolo());

    let between = 2;
    let server = second.apolo.to_string();
    let bridge = Lab::start_with(between, &["apolo", "--server", &server], &[]);
    let front =
        Lab::start_with(between, &["up", "--only", "apolo", "--bridge-only"], &["-p", "apolo:port:=12346"]);
    let mut client = front.apolo();
    let location = request(b'G', "", &["pieza"], &[]);
    until("the chain is closed", || client.ask(&location) != FALSE);
    assert_eq!(bridge.output(), format!("Apolo at {server} appears in /apolo\nready\n"));
    assert_eq!(script(&mut client), expected);

    // The robot of the second lab moved.
    let moved = second.apolo().values(b'G', "Pioneer3AT");
    assert_near(&moved, &[0.7, 0.7, 0.0, 0.0, 0.0, 0.23]);
}

/// Neither start order makes a circle: the client side is refused if a world is running, and a lab if the client side
/// is.
#[test]
fn a_world_and_a_client_side_are_refused_in_one_domain() {
    let lab = Lab::only("apolo");
    let server = lab.apolo.to_string();
    let client_side = ["apolo", "--server", &server];
    let refused = |arguments: &[&str], domain: u16| {
        let error = match Lab::try_start(1, &[], domain, arguments, &["-p", "apolo:port:=12345"]) {
            Err(error) => error,
            // It was ready before it discovered the other.
            Ok(started) => started.ended().0.unwrap_err(),
        };
        assert!(error.contains("in a circle"), "{arguments:?}: {error}");
    };
    // The older goes on: a lab is ready in the instant in which it starts.
    sleep(Duration::from_millis(1));
    refused(&client_side, lab.domain);
    let between = lab.domain + 1;
    let _bridge = Lab::start_with(between, &client_side, &[]);
    refused(&["up", "--console", "off"], between);
    // The first to start stays.
    assert_ne!(lab.apolo().ask(&request(b'G', "", &["pieza"], &[])), FALSE);
}

//! Many requests of a client that discovery never finds: other clients are still answered. Only real discovery leaves a client
//! without a reader: on virtual time there is none. How long answers take meanwhile: `benches/figures`.

use std::time::{Duration, Instant};

use crate::common::apolo::{ApoloClient, request};
use crate::common::beside::Beside;
use crate::common::strangers::{client_without_reader, goal, list};
use crate::common::{Answer, Lab, domain};

/// Time between two requests of a good client.
const PERIOD: Duration = Duration::from_millis(20);

/// Asks until `flood` has no more work. The clients give up if an answer is missing.
fn asked_during(mut flood: impl FnMut(Duration) -> bool, mut ask: impl FnMut()) {
    let start = Instant::now();
    while flood(start.elapsed()) {
        ask();
        std::thread::sleep(PERIOD);
    }
}

#[test]
fn requests_of_clients_that_are_never_found_silence_nobody() {
    let lab = Lab::start_with(domain(), &["up"], &["-p", "arm31:port:=0"]);
    let mut stranger = Beside::new(lab.domain);
    let goals = client_without_reader(&mut stranger.node, "/ranger/set_joint_goal");
    let lists = client_without_reader(&mut stranger.node, "/apolo/world/list_parameters");
    let client = lab.client();
    let mut sent = 0;
    asked_during(
        |time| {
            while f64::from(sent) < time.as_secs_f64() * 12.0 {
                goals.publish(&goal()).unwrap();
                sent += 1;
            }
            sent < 60
        },
        || {
            let answer = client.ask("ST", [0.0; 7], 0);
            assert!(matches!(answer, Answer::Values([b'T', b'S'], ..)), "{answer:?}");
        },
    );
    let mut apolo = ApoloClient::new(lab.apolo);
    let location = request(b'G', "", &["pieza"], &[]);
    sent = 0;
    asked_during(
        |time| {
            while f64::from(sent) < (time.as_secs_f64() / 0.6).min(1.0) * 500.0 {
                lists.publish(&list()).unwrap();
                sent += 1;
            }
            time < Duration::from_secs(3)
        },
        || {
            apolo.ask(&location);
        },
    );
}

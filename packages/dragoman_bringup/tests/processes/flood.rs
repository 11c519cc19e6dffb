//! Many requests of a client that discovery never finds: other clients are still answered. Only real discovery leaves a client
//! without a reader: on virtual time there is none. How long answers take meanwhile: `benches/figures`. And many connections
//! to a program that may open few files.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::apolo::{ApoloClient, request};
use crate::common::beside::Beside;
use crate::common::neobotix::NeobotixClient;
use crate::common::player::PlayerClient;
use crate::common::undiscovered::{client_without_reader, goal, list};
use crate::common::{ArmReply, Lab, domain, program};

/// Time between two requests of a good client.
const PERIOD: Duration = Duration::from_millis(20);

/// Sends requests until `flood` has no more work. The clients fail if an answer is missing.
fn asked_during(mut flood: impl FnMut(Duration) -> bool, mut ask: impl FnMut()) {
    let start = Instant::now();
    while flood(start.elapsed()) {
        ask();
        std::thread::sleep(PERIOD);
    }
}

#[test]
fn requests_of_undiscovered_clients_do_not_block_others() {
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
            assert!(matches!(answer, ArmReply::Values([b'T', b'S'], ..)), "{answer:?}");
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

/// Connects, and sends requests as long as they are answered.
fn connections(server: SocketAddr) -> Vec<ApoloClient> {
    let question = request(b'G', "", &["pieza"], &[]);
    let connect = || {
        let mut client = ApoloClient::new(server);
        // The server closes the connection of a client that it refuses: then one of these fails.
        let is_served = client.stream.write_all(&question).is_ok()
            && client.stream.read(&mut [0; 1]).is_ok_and(|read| read > 0);
        is_served.then_some(client)
    };
    std::iter::from_fn(connect).take(300).collect()
}

#[test]
fn with_few_files_no_protocol_takes_the_connections_of_another() {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -n 256; exec \"$0\" \"$@\""]).arg(program());
    let lab = Lab::start_as(command, domain(), &["up"], &["-p", "arm31:port:=0"]);
    let taken = connections(lab.apolo);
    assert!((70..=80).contains(&taken.len()), "{} of about 80", taken.len());
    // Others are served.
    NeobotixClient::new(lab.neobotix[0]).status();
    PlayerClient::connect(lab.player);
    let answer = lab.client().ask("ST", [0.0; 7], 0);
    assert!(matches!(answer, ArmReply::Values([b'T', b'S'], ..)), "{answer:?}");
    let page = std::net::TcpStream::connect(lab.console).unwrap();
    (&page).write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut begin = [0; 12];
    (&page).read_exact(&mut begin).unwrap();
    assert_eq!(begin, *b"HTTP/1.1 200");
    // The next clients get the connections that these have closed.
    let count = taken.len();
    drop(taken);
    crate::common::until("as many are served again", || connections(lab.apolo).len() >= count);
}

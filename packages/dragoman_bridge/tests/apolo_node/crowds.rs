//! Many clients, and clients that behave badly.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use crate::apolo_node::client::{ApoloClient, FALSE, TRUE, doubles, request};
use crate::apolo_node::lab::{Lab, context, until};
use crate::common::{Simulated, sleep};
use dragoman_bridge::apolo::node::start_server;
use dragoman_time::{now, since};

/// What the simulated network takes for a question and its answer.
const THERE_AND_BACK: Duration = Duration::from_micros(100);

#[test]
fn a_thousand_clients() {
    let lab = Lab::start(&[]);
    let mut clients: Vec<ApoloClient> = (0..1000).map(|_| lab.client()).collect();
    for (number, client) in clients.iter_mut().enumerate() {
        client.send(&request(b'P', "", &["pieza"], &[number as f64, 0.0, 0.0, 0.0, 0.0, 0.0]));
        client.send(&request(b'G', "", &["Neo"], &[]));
    }
    let expected = doubles(&[1.0, 2.0, 0.1, 0.0, 0.0, 0.5]);
    for client in &mut clients {
        assert_eq!(client.answer(), expected);
    }
    let world = lab.world.lock().unwrap();
    assert_eq!(world.asked.iter().filter(|asked| asked.starts_with("place ")).count(), 1000);
}

#[test]
fn a_client_above_the_limit_is_refused() {
    let lab = Lab::start(&["max_connections:=2"]);
    let ask = |client: &mut ApoloClient| client.ask(&request(b'u', "", &["uc0"], &[]));
    let (mut first, mut second) = (lab.client(), lab.client());
    ask(&mut first);
    ask(&mut second);
    let mut third = lab.client();
    let _ = third.stream.write_all(&request(b'u', "", &["uc0"], &[]));
    assert_eq!(third.stream.read(&mut [0; 10]).unwrap_or(0), 0);
    assert_eq!(ask(&mut first), doubles(&[1.5]));
    drop(second);
    until("a connection is free again", || {
        let mut fourth = lab.client();
        let sent = fourth.stream.write_all(&request(b'u', "", &["uc0"], &[]));
        sent.is_ok() && fourth.stream.read(&mut [0; 10]).is_ok_and(|len| len > 0)
    });
}

/// It requests scans until all buffers are full, and never reads one.
#[test]
fn a_client_that_never_reads_delays_no_other() {
    let lab = Lab::start(&[]);
    let mut never_reading = lab.client();
    never_reading.stream.set_nonblocking(true).unwrap();
    let scan = request(b'l', "", &["LMS100"], &[]);
    let (mut sent, mut rest) = (0, &scan[..]);
    let mut is_full = false;
    // Permanently full: the server has stopped reading because its answers are not read.
    loop {
        match never_reading.stream.write(rest) {
            Ok(len) => {
                sent += len;
                rest = if len == rest.len() { &scan } else { &rest[len..] };
                is_full = false;
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                if is_full {
                    break;
                }
                is_full = true;
                sleep(Duration::from_millis(500));
            }
        }
        assert!(sent < 10 << 20, "{sent} bytes were accepted without a limit");
    }
    let asked = lab.world.lock().unwrap().asked.len();
    let mut other = lab.client();
    for _ in 0..100 {
        assert_eq!(other.ask(&request(b'u', "", &["uc0"], &[])), doubles(&[1.5]));
    }
    sleep(Duration::from_millis(100));
    assert_eq!(
        lab.world.lock().unwrap().asked.len(),
        asked + 100,
        "requests of the client that does not read are not processed"
    );
    // As soon as it reads, it gets all its answers, from the first.
    never_reading.stream.set_nonblocking(false).unwrap();
    for _ in 0..asked {
        assert_eq!(never_reading.answer().len(), 4335);
    }
}

#[test]
fn frames_cut_at_every_byte() {
    let lab = Lab::start(&[]);
    let frame = request(b'm', "World 1", &["Pioneer3AT"], &[0.0, 0.0, 0.1]);
    let mut client = lab.client();
    client.stream.set_nodelay(true).unwrap();
    for cut in 0..=frame.len() {
        client.send(&frame[..cut]);
        sleep(Duration::from_millis(1));
        assert_eq!(client.ask(&frame[cut..]), TRUE, "cut at {cut}");
    }
    for byte in &frame {
        client.send(&[*byte]);
    }
    assert_eq!(client.answer(), TRUE);
}

#[test]
fn wrong_sizes_lose_no_other_request() {
    let lab = Lab::start(&[]);
    let mut client = lab.client();
    let good = request(b'u', "", &["uc0"], &[]);
    for size in 0..5_u8 {
        client.send(&[b'a', b'a', size, 0, b'U', 0]);
        assert_eq!(client.ask(&good), doubles(&[1.5]), "size {size}");
    }
    for size in [[200, 0], [0, 1], [255, 255]] {
        let mut beyond = good.clone();
        beyond[2..4].copy_from_slice(&size);
        assert_eq!(client.ask(&beyond), doubles(&[1.5]), "size {size:?}");
        assert_eq!(client.ask(&good), doubles(&[1.5]));
    }
    let mut short = request(b'm', "", &["Neo"], &[0.0; 3]);
    short[2] = 20;
    short.truncate(20);
    assert_eq!(client.ask(&short), FALSE);
    assert_eq!(client.ask(&[&b"garbage aaa aa\x05\0Z"[..], &good].concat()), doubles(&[1.5]));
}

/// A client that closes its direction gets its answers; one that vanishes has no effect on others.
#[test]
fn clients_that_leave() {
    let lab = Lab::start(&[]);
    let mut client = lab.client();
    client.send(&request(b'u', "", &["uc0"], &[]).repeat(10));
    client.stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut all = Vec::new();
    client.stream.read_to_end(&mut all).unwrap();
    assert_eq!(all, doubles(&[1.5]).repeat(10));
    for _ in 0..50 {
        lab.client().send(&request(b'l', "", &["LMS100"], &[]).repeat(50));
    }
    assert_eq!(lab.client().ask(&request(b'u', "", &["uc0"], &[])), doubles(&[1.5]));
}

/// Without a simulation, questions are answered no after the time limit.
#[test]
fn without_a_world_questions_are_no() {
    let _simulated = Simulated::present();
    let context = context(&["service_timeout:=0.2"]);
    let server = start_server(&context, "/apolo", [127, 0, 0, 1].into()).unwrap();
    let address = server.address;
    dragoman_time::spawn(server.node);
    let mut clients: Vec<ApoloClient> = (0..20).map(|_| ApoloClient::new(address)).collect();
    let start = now();
    for client in &mut clients {
        client.send(&request(b'G', "", &["Neo"], &[]));
    }
    for client in &mut clients {
        assert_eq!(client.answer(), FALSE);
    }
    // All wait at the same time, also those for which the service's queue has no room.
    assert_eq!(since(start), Duration::from_millis(200) + THERE_AND_BACK);
    assert_eq!(
        clients[0].ask(&request(b'j', "", &["Puma560"], &[0.0])),
        TRUE,
        "unknown whether it is free of collisions"
    );
    assert_eq!(since(start), 2 * (Duration::from_millis(200) + THERE_AND_BACK));
}

//! Hostile clients at one port, and a normal one at the other.

use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use super::Site;
use crate::common::neobotix::{
    GET_MAP, GET_POSITION, GET_STATUS, HEADER, NeobotixClient, SET_MAP, message, texts,
};

/// Allowed memory growth of a lab under attack, KiB: some messages of 16 MB, which take about twice as much while they
/// grow.
const MAX_GROWTH_KIB: u64 = 192 << 10;
/// Times 16 MB, which is more.
const ROUNDS: u32 = 24;

#[test]
fn hostile_clients_are_refused_without_effect() {
    let mut site = Site::new("hostile");
    let [quiet, attacked] = [site.lab.neobotix[0], site.lab.neobotix[1]];
    let client = &mut NeobotixClient::new(quiet);
    let map = client.ask(&[GET_MAP]).text_after_byte();
    let (place, memory) = (site.truth(), site.lab.resident_kib());

    // Lengths of no valid message.
    for bytes in [
        &[0xff; 8][..],
        &[0, 0, 0, 0],
        &[0x01, 0, 0, 1, 18],
        &[&HEADER[..], &[0xff; 4]].concat(),
        &[&HEADER[..], &HEADER].concat(),
        &[&HEADER[..], &[0; 4]].concat(),
    ] {
        let mut hostile = NeobotixClient::next(attacked);
        hostile.send(bytes);
        hostile.is_hung_up_on();
        client.status();
    }
    // Half a header, half a length, half a message; then nothing.
    for part in [&HEADER[..2], &[&HEADER[..], &[0, 0]].concat(), &[0, 0, 0, 9, 23, 0, 0]] {
        NeobotixClient::next(attacked).send(part);
        client.status();
    }
    // Byte by byte.
    let mut slow = NeobotixClient::next(attacked);
    for byte in message(&HEADER, &[GET_STATUS]).chunks(1) {
        slow.send(byte);
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(slow.reply()[0], GET_STATUS);

    // A second client of a port is refused at once, and the first one continues.
    let begin = Instant::now();
    for _ in 0..20 {
        let mut second = NeobotixClient::new(attacked);
        second.send(&message(&HEADER, &[GET_POSITION]));
        second.is_hung_up_on();
    }
    println!("20 second clients were refused within {:?}", begin.elapsed());
    slow.status();

    // Unknown command numbers, and commands that are too long or too short: skipped without losing synchronization.
    for number in (60..=73).chain(75..=255) {
        slow.order(&[number, 1, 2, 3]);
    }
    for data in [&[18, 0][..], &[14, 1], &[15, 0, 0, 0], &[23, 0, 0, 0, 100], &[15, 0, 0, 0, 9], &[3, 9, 1]] {
        slow.silent(data);
    }
    // Documents that try to exhaust the memory or the stack.
    let entities: String = (1..20)
        .map(|level| format!("<!ENTITY e{level} \"{}\">", format!("&e{};", level - 1).repeat(10)))
        .collect();
    let bomb = format!("<!DOCTYPE map [<!ENTITY e0 \"lol\">{entities}]><map Version=\"1.0\">&e19;</map>");
    let file = "<!DOCTYPE map [<!ENTITY f SYSTEM \"file:///etc/passwd\">]><map Version=\"1.0\">&f;</map>";
    let deep = format!("<map Version=\"1.0\">{}", "<layer>".repeat(200_000));
    let flat = format!("<map Version=\"1.0\"><layer index=\"0\">{}</layer></map>", "<a/>".repeat(2_000_000));
    for document in [&bomb, file, &deep, &flat, "", "\0", "<map"] {
        slow.silent(&texts(SET_MAP, &["bomb", document]));
    }
    assert!(client.ask(&[GET_MAP]).text_after_byte() == map, "the map is another one");
    // Names that point outside the data folder, and invalid names.
    for name in ["../../evil", "/tmp/evil", "..", "a\0b", "a/b", "\\\\host\\evil", &"x".repeat(1 << 20)] {
        slow.silent(&texts(SET_MAP, &[name, "<map Version=\"1.0\"><layer index=\"0\"/></map>"]));
        for order in [&[28][..], &[27], &texts(45, &[name]), &texts(46, &[name])] {
            slow.silent(order);
        }
    }
    assert_eq!(site.files(), Vec::<std::path::PathBuf>::new());
    slow.order(&texts(SET_MAP, &["lab", &map]));
    drop(slow);

    // A client that sends requests and never reads.
    let deaf = NeobotixClient::next(attacked);
    let questions = message(&HEADER, &[39]).repeat(1000);
    deaf.stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
    let stuck = loop {
        if let Err(error) = (&deaf.stream).write_all(&questions) {
            break error;
        }
    };
    assert!(matches!(stuck.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{stuck}");
    for _ in 0..20 {
        client.status();
    }
    drop(deaf);
    // A client that announces 16 MB and sends half of it, and a document of 8 MB: repetitions cost no more than the
    // first time.
    let long = [&HEADER[..], &[1, 0, 0, 0, 25], &vec![0; 8 << 20]].concat();
    for _ in 0..ROUNDS {
        NeobotixClient::next(attacked).send(&long);
        NeobotixClient::next(attacked).silent(&texts(SET_MAP, &["bomb", &flat]));
        client.status();
    }

    let mut last = NeobotixClient::next(attacked);
    assert_eq!(last.status().operation, client.status().operation);
    client.stream.set_nonblocking(true).unwrap();
    assert!(client.stream.read(&mut [0]).is_err(), "nothing was said that was not asked for");
    assert!(site.truth().iter().zip(place).all(|(a, b)| (a - b).abs() < 0.01), "it was moved");
    // A late reply of a loaded machine may still be on its way.
    let end = Instant::now() + Duration::from_secs(60);
    let grown = || site.lab.resident_kib().saturating_sub(memory);
    while grown() > MAX_GROWTH_KIB {
        assert!(Instant::now() < end, "the lab has grown by {} KiB", grown());
        std::thread::sleep(Duration::from_millis(100));
    }
    println!("the lab has grown by {} KiB, of {} MB that were sent", grown(), 16 * ROUNDS);
}

#[test]
fn a_taken_port_is_named_with_the_option_that_changes_it() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_dragoman"))
        .args(["up", "--console", "off", "--domain", &crate::common::domain().to_string(), "--ros-args"])
        .args(["-p", "arm31:port:=0", "-p", "apolo:port:=0", "-p", "player:port:=0"])
        .args(["-p", &format!("neobotix:ports:=[{port},0]")])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        error.contains(&port.to_string()) && error.contains("--bind") && error.contains("neobotix:ports"),
        "{error}"
    );
}

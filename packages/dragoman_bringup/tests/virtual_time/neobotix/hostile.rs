//! Hostile clients at one port, and a normal one at the other.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use super::Site;
use crate::common::neobotix::{
    GET_MAP, GET_POSITION, GET_STATUS, HEADER, NeobotixClient, SET_MAP, message, texts,
};
use crate::host::{now, sleep};
use dragoman_time::since;

#[test]
fn hostile_clients_are_refused_without_effect() {
    let mut site = Site::new();
    let [quiet, attacked] = [site.lab.neobotix[0], site.lab.neobotix[1]];
    let client = &mut NeobotixClient::new(quiet);
    let map = client.ask(&[GET_MAP]).text_after_byte();
    let place = site.truth();

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
        sleep(Duration::from_millis(5));
    }
    assert_eq!(slow.reply()[0], GET_STATUS);

    // A second client of a port is refused at once, and the first one continues.
    let begin = now();
    for _ in 0..20 {
        let mut second = NeobotixClient::new(attacked);
        second.send(&message(&HEADER, &[GET_POSITION]));
        second.is_hung_up_on();
    }
    // Each after the linger of 20 ms, in which the end reaches it, and the time on the network.
    assert_eq!(since(begin), 20 * Duration::from_micros(20_050));
    // Also long after it has sent something.
    sleep(Duration::from_secs(60));
    let mut second = NeobotixClient::new(attacked);
    second.is_hung_up_on();
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
    let mut unread = NeobotixClient::next(attacked);
    let questions = message(&HEADER, &[39]).repeat(1000);
    unread.stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
    let stuck = loop {
        if let Err(error) = unread.stream.write_all(&questions) {
            break error;
        }
    };
    assert!(matches!(stuck.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{stuck}");
    for _ in 0..20 {
        client.status();
    }
    drop(unread);
    // A client that announces 16 MB and sends half of it, and a document of 8 MB: repetitions cost no more than the
    // first time.
    let long = [&HEADER[..], &[1, 0, 0, 0, 25], &vec![0; 8 << 20]].concat();
    for _ in 0..2 {
        NeobotixClient::next(attacked).send(&long);
        NeobotixClient::next(attacked).silent(&texts(SET_MAP, &["bomb", &flat]));
        client.status();
    }

    let mut last = NeobotixClient::next(attacked);
    assert_eq!(last.status().operation, client.status().operation);
    client.stream.set_nonblocking(true).unwrap();
    assert!(client.stream.read(&mut [0]).is_err(), "nothing was said that was not asked for");
    assert!(site.truth().iter().zip(place).all(|(a, b)| (a - b).abs() < 0.01), "it was moved");
}

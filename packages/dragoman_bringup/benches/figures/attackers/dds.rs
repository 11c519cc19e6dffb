//! Peers on the network.

use std::net::Ipv4Addr;

use crate::attacker::Attack;
use crate::common::beside::Beside;
use crate::common::undiscovered::{client_without_reader, goal, list};
use crate::packets::endpoints;
use crate::peer::Peer;
use crate::wire::{Message, SPDP_READER, SPDP_WRITER, announcement, guid, made_up};

/// A peer whose identifiers depend on the seed.
fn met(attack: &mut Attack) -> Peer {
    const LOCALHOST: Ipv4Addr = Ipv4Addr::LOCALHOST;
    let number = attack.random.rand_range(0..10_000) * 100_000;
    let peer = Peer::new(number, LOCALHOST, LOCALHOST, attack.means.domain);
    peer.meet();
    peer
}

/// Sends packets that no library sends.
pub(super) fn packets(attack: &mut Attack, send: fn(&Peer)) {
    let peer = met(attack);
    attack.is_complete();
    send(&peer);
    attack.sent(1);
}

/// Participants whose topics have names of `bytes`. They announce their end.
pub(super) fn long_names(attack: &mut Attack) {
    const TOPICS: u32 = 100;
    let peer = met(attack);
    let participants = peer.number + 1..peer.number + 1 + attack.means.count.div_ceil(TOPICS);
    for prefix in participants.clone().map(made_up) {
        peer.send(&announcement(prefix, peer.address, 100));
    }
    for prefix in participants.clone().map(made_up) {
        for number in 1..=TOPICS {
            let mut name =
                format!("rt/{}_{number}", u32::from_be_bytes([prefix[8], prefix[9], prefix[10], prefix[11]]));
            name.extend(std::iter::repeat_n('x', attack.means.bytes.saturating_sub(name.len())));
            peer.send(&endpoints(prefix, std::iter::once((number, name))));
            attack.sent(1);
        }
    }
    attack.is_complete();
    attack.stay();
    for prefix in participants.map(made_up) {
        let key = guid(prefix, [0, 0, 1, 0xc1]);
        peer.send(&Message::from(prefix).dispose(SPDP_READER, SPDP_WRITER, 2, key));
    }
}

/// Requests to the arm of a client that discovery never finds.
pub(super) fn goals_without_reader(attack: &mut Attack) {
    let mut beside = Beside::new(attack.means.domain);
    let goals = client_without_reader(&mut beside.node, "/ranger/set_joint_goal");
    attack.is_complete();
    while attack.goes_on() {
        goals.publish(&goal()).unwrap();
        attack.sent(1);
    }
}

/// Requests to the world of a client that discovery never finds.
pub(super) fn lists_without_reader(attack: &mut Attack) {
    let mut beside = Beside::new(attack.means.domain);
    let lists = client_without_reader(&mut beside.node, "/apolo/world/list_parameters");
    attack.is_complete();
    for _ in 0..attack.means.count {
        lists.publish(&list()).unwrap();
        attack.sent(1);
    }
}

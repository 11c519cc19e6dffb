//! The attackers by their names. Those of [`legacy`] use the protocols of old programs, those of [`web`] rosbridge and
//! HTTP, those of [`dds`] RTPS.

mod dds;
mod legacy;
mod web;

use crate::attacker::Attack;
use crate::packets;

type Act = fn(&mut Attack);

pub(crate) const ATTACKERS: &[(&str, Act)] = &[
    ("apolo-unread", legacy::apolo_clients_without_reading),
    ("datagrams", legacy::datagrams),
    ("maps", legacy::maps),
    ("player-subscribers", legacy::player_subscribers),
    ("web-calls", web::calls),
    ("web-fragments", web::fragments),
    ("web-publishers", web::publishers),
    ("web-subscriptions", web::subscriptions),
    ("web-visits", web::visits),
    ("downloads", web::downloads_of_a_fifo),
    ("goals-without-reader", dds::goals_without_reader),
    ("lists-without-reader", dds::lists_without_reader),
    ("long-names", dds::long_names),
    ("fragment-zero", |attack| dds::packets(attack, packets::fragment_zero)),
    ("heartbeat", |attack| dds::packets(attack, packets::heartbeat_of_many)),
    ("gap", |attack| dds::packets(attack, packets::gap_of_many)),
    ("fragment-of-4-gb", |attack| dds::packets(attack, packets::fragment_of_an_unknown_writer)),
    ("restarts", |attack| dds::packets(attack, packets::restarts_of_a_peer)),
    ("participants", |attack| dds::packets(attack, packets::false_participants)),
];

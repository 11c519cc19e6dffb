//! Whatever a server sends, in whatever pieces: no panic, bounded buffers, every call ends once.

use std::collections::BTreeSet;

use dragoman_bridge::CallId;
use proptest::prelude::*;

use super::*;

#[derive(Debug, Clone)]
enum Step {
    Bytes(Vec<u8>),
    /// A message of any device, kind and body.
    Message(u16, u8, u8, u32, Vec<u8>),
    Call(u8),
    Velocity(f64),
    Pass(u64),
    Lose,
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..120);
    prop_oneof![
        1 => bytes().prop_map(Step::Bytes),
        8 => (0..70_u16, 1..7_u8, 0..12_u8, 0..9_u32, bytes())
            .prop_map(|(interface, kind, subtype, number, body)| {
                Step::Message(interface, kind, subtype, number, body)
            }),
        2 => (1..7_u8).prop_map(Step::Call),
        1 => any::<f64>().prop_map(Step::Velocity),
        2 => (0..20_000_u64).prop_map(Step::Pass),
        1 => Just(Step::Lose),
    ]
}

proptest! {
    #[test]
    fn nothing_from_a_server_panics(steps in prop::collection::vec(step(), 0..60), answers in any::<bool>()) {
        let mut server = Server::with_base();
        server.devices.extend(INTERFACES.iter().map(|interface| interface.device(0)));
        if !answers {
            server.ignores.push((SERVER, player::SUBSCRIBE.subtype));
        }
        let mut fixture = ClientFixture::new(server);
        let mut open = BTreeSet::new();
        for (number, step) in steps.into_iter().enumerate() {
            match step {
                Step::Bytes(bytes) => fixture.receive(&bytes),
                Step::Message(interface, kind, subtype, sequence, body) => {
                    let address = Address { device: Device { interface, index: 0 }, ..Address::default() };
                    let kind = MessageKind::from_code(kind).unwrap();
                    let mut bytes = Vec::new();
                    Header { address, kind, subtype, timestamp: f64::NAN, sequence }
                        .write_message(&body, &mut bytes);
                    fixture.receive(&bytes);
                }
                Step::Call(subtype) => {
                    open.insert(number as u64);
                    let ask = RequestMessage::<(), ()>::new(subtype);
                    fixture.client.handle_call(fixture.now, CallId(number as u64), BASE, &ask, &());
                    fixture.settle();
                }
                Step::Velocity(x) => {
                    let velocity = common::Pose2d { x, ..Default::default() };
                    let sent = fixture.client.handle_velocity(fixture.now, BASE, velocity);
                    prop_assert!(x.is_finite() || sent.is_err());
                    fixture.settle();
                }
                Step::Pass(ms) => fixture.pass(ms as u32 * MS),
                Step::Lose => {
                    fixture.client.handle_disconnected(fixture.now, "lost");
                    fixture.settle();
                }
            }
            for event in fixture.take() {
                if let ClientEvent::Result { id, .. } = event {
                    prop_assert!(open.remove(&id.0), "{id:?} ends twice");
                }
            }
            // What is due is done at once, and is not due again.
            fixture.pass(Duration::ZERO);
            let due = fixture.client.poll_timeout();
            prop_assert!(due.is_none_or(|due| due > fixture.now), "due again");
        }
        fixture.is_there = false;
        fixture.client.handle_disconnected(fixture.now, "over");
        fixture.settle();
        for event in fixture.take() {
            if let ClientEvent::Result { id, .. } = event {
                prop_assert!(open.remove(&id.0), "{id:?} ends twice");
            }
        }
        prop_assert!(open.is_empty(), "{open:?} never end");
    }
}

//! Any frame at any time.

use proptest::prelude::*;

use super::*;

/// Mostly frames of the drive's services, with any data.
fn frame() -> impl Strategy<Value = Frame> {
    let known = [0x000_u16, 0x080, 0x0e5, 0x265, 0x365, 0x465, 0x665, 0x665, 0x77f];
    let id = prop_oneof![4 => prop::sample::select(known.to_vec()), 1 => 0_u16..0x800];
    let text =
        prop::sample::select(vec![*b"MO", *b"BG", *b"JV", *b"PA", *b"UM", *b"TC", *b"MP", *b"QP", *b"PT"]);
    let request = (text, 0_u8..8, prop_oneof![Just(0_u8), Just(0x80)], -3_i32..2000);
    let data = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..=8),
        request.prop_map(|([a, b], index, flag, value)| {
            let [c, d, e, f] = value.to_le_bytes();
            vec![a, b, index, flag, c, d, e, f]
        }),
    ];
    (id, data).prop_map(|(id, data)| Frame::standard(id, &data).unwrap())
}

fn switches_on(frame: &Frame) -> bool {
    matches!(frame.standard_id(), Some(0x265 | 0x365)) && frame.data().starts_with(b"MO")
}

/// Events are in the future, and they end.
fn run(fixture: &mut Fixture, time: Duration) {
    fixture.run_for(time);
    assert!(fixture.drive.poll_timeout().is_none_or(|due| due > fixture.now));
    fixture.sent.clear();
}

proptest! {
    #[test]
    fn no_frame_moves_a_drive_whose_motor_is_off(
        frames in prop::collection::vec((frame(), 0_u64..20_000), 1..200)
    ) {
        let mut fixture = Fixture::set_up();
        for (frame, wait) in frames {
            if !switches_on(&frame) {
                fixture.drive.handle_frame(fixture.now, &frame);
            }
            run(&mut fixture, us(wait));
            prop_assert!(!fixture.drive.status().is_motor_on());
            prop_assert_eq!(fixture.drive.shaft_counts(), 0.0);
        }
    }

    #[test]
    fn no_frames_panic_or_make_the_shaft_faster_than_its_limit(
        frames in prop::collection::vec((frame(), 0_u64..20_000), 1..200)
    ) {
        let mut fixture = Fixture::enabled();
        for (frame, wait) in frames {
            fixture.drive.handle_frame(fixture.now, &frame);
            run(&mut fixture, us(wait));
            prop_assert!(fixture.drive.velocity().abs() <= 510_000.0, "{}", fixture.drive.velocity());
        }
    }

    #[test]
    fn the_polling_times_have_no_effect(waits in prop::collection::vec(1_u64..5_000, 1..100)) {
        let motion = |looks: &[u64]| {
            let mut fixture = Fixture::enabled();
            fixture.drive.record();
            fixture.set(Command::new(b"PA"), 30_000).unwrap();
            fixture.get(Command::BEGIN).unwrap();
            let end = fixture.now + ms(400);
            for look in looks {
                fixture.now = (fixture.now + us(*look)).min(end);
                fixture.drive.handle_timeout(fixture.now);
                fixture.collect();
            }
            fixture.run_until(end);
            fixture.counts()
        };
        prop_assert_eq!(motion(&waits), motion(&[]));
    }
}

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
fn run(bench: &mut Bench, time: Duration) {
    bench.run_for(time);
    assert!(bench.drive.poll_timeout().is_none_or(|due| due > bench.now));
    bench.sent.clear();
}

proptest! {
    #[test]
    fn no_frame_moves_a_drive_whose_motor_is_off(
        frames in prop::collection::vec((frame(), 0_u64..20_000), 1..200)
    ) {
        let mut bench = Bench::set_up();
        for (frame, wait) in frames {
            if !switches_on(&frame) {
                bench.drive.handle_frame(bench.now, &frame);
            }
            run(&mut bench, us(wait));
            prop_assert!(!bench.drive.status().is_motor_on());
            prop_assert_eq!(bench.drive.shaft_counts(), 0.0);
        }
    }

    #[test]
    fn no_frames_panic_or_make_the_shaft_faster_than_its_limit(
        frames in prop::collection::vec((frame(), 0_u64..20_000), 1..200)
    ) {
        let mut bench = Bench::enabled();
        for (frame, wait) in frames {
            bench.drive.handle_frame(bench.now, &frame);
            run(&mut bench, us(wait));
            prop_assert!(bench.drive.velocity().abs() <= 510_000.0, "{}", bench.drive.velocity());
        }
    }

    #[test]
    fn the_polling_times_have_no_effect(waits in prop::collection::vec(1_u64..5_000, 1..100)) {
        let motion = |looks: &[u64]| {
            let mut bench = Bench::enabled();
            bench.drive.record();
            bench.set(Command::new(b"PA"), 30_000).unwrap();
            bench.get(Command::BEGIN).unwrap();
            let end = bench.now + ms(400);
            for look in looks {
                bench.now = (bench.now + us(*look)).min(end);
                bench.drive.handle_timeout(bench.now);
                bench.collect();
            }
            bench.run_until(end);
            bench.counts()
        };
        prop_assert_eq!(motion(&waits), motion(&[]));
    }
}

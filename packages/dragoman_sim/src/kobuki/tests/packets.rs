//! Content and timing of packets.

use dragoman_base::kobuki::wire::DockSignals;

use super::*;

#[test]
fn packets_come_every_20_ms_with_all_that_the_real_ones_have() {
    let mut bench = Bench::new();
    bench.run(ms(1000));
    assert_eq!(bench.packets.len(), 50);
    for pair in bench.packets.windows(2) {
        let [a, b] = pair else { continue };
        let stamps = [a, b].map(|packet| packet.core.expect("core").timestamp_ms);
        assert_eq!(stamps[1].wrapping_sub(stamps[0]), 20);
    }
    for packet in &bench.packets {
        assert!(packet.dock_ir.is_some() && packet.inertia.is_some() && packet.cliffs.is_some());
        assert!(packet.currents.is_some() && packet.inputs.is_some());
        let samples = packet.gyro.expect("gyro").readings().len();
        assert!((2..=3).contains(&samples), "{samples}");
        assert!(packet.hardware.is_none() && packet.gains.is_none());
    }
}

#[test]
fn the_time_stamp_wraps() {
    let mut bench = Bench::new();
    bench.run(ms(65_540));
    assert_eq!(bench.core().timestamp_ms, 4);
}

#[test]
fn what_is_asked_for_is_in_the_next_packet_once() {
    let mut bench = Bench::new();
    bench.send(&Command::RequestExtra(RequestFlags::from_bits_retain(0x0b)));
    bench.send(&Command::RequestControllerGains(GainsRequest::default()));
    bench.run(ms(20));
    let packet = bench.last();
    assert_eq!(packet.hardware.expect("hardware").to_string(), "1.0.4");
    assert_eq!(packet.firmware.expect("firmware").to_string(), "1.2.0");
    assert_eq!(packet.unique_id.expect("unique id").to_string(), "98434864-959859523-1126263088");
    assert_eq!(packet.gains.expect("gains").to_string(), "gains: default, P 100, I 0.1, D 2");
    bench.run(ms(20));
    assert!(bench.last().hardware.is_none() && bench.last().gains.is_none());
}

#[test]
fn encoders_count_with_their_wrap() {
    let mut bench = Bench::new();
    bench.drive(-300, 0, ms(1000));
    let angle = bench.kobuki.wheel_angles().left;
    let ticks = (angle * 2_578.333_869_740_464 / std::f64::consts::TAU).floor();
    assert_eq!(f64::from(bench.core().left_encoder_ticks), 65_536.0 + ticks);
    // 11.7 ticks per mm.
    let way_mm = -angle * 35.0;
    assert!((-ticks / way_mm - 11.7).abs() < 0.03, "{ticks} ticks, {way_mm} mm");
    bench.drive(700, 0, ms(12_000));
    let angle = bench.kobuki.wheel_angles().right;
    let ticks = (angle * 2_578.333_869_740_464 / std::f64::consts::TAU).floor();
    assert!(ticks > 65_536.0);
    assert_eq!(f64::from(bench.core().right_encoder_ticks), ticks % 65_536.0);
}

#[test]
fn sensors_are_the_bits_of_the_protocol() {
    let mut bench = Bench::new();
    bench.kobuki.inputs = Inputs {
        bumpers: Row { left: true, center: false, right: true },
        cliff_adc: Row { left: 1, center: 4095, right: 9999 },
        wheel_drops: Wheels { left: true, right: false },
        buttons: [false, true, true],
        dock_ir: Row {
            left: DockSignals::NEAR_LEFT,
            center: DockSignals::NEAR_CENTER,
            right: DockSignals::FAR_RIGHT,
        },
        digital: [true, false, false, true],
        analog: [0, 1, 4095, 60_000],
        ..Inputs::default()
    };
    bench.run(ms(20));
    let core = bench.core();
    let bits = [core.bumpers.bits(), core.cliffs.bits(), core.wheel_drops.bits(), core.buttons.bits()];
    assert_eq!(bits, [5, 4, 2, 6]);
    let packet = bench.last();
    let cliff = packet.cliffs.expect("cliffs");
    assert_eq!((cliff.right, cliff.center, cliff.left), (4095, 4095, 1));
    let dock = packet.dock_ir.expect("dock IR");
    assert_eq!((dock.right.bits(), dock.center.bits(), dock.left.bits()), (32, 2, 1));
    let inputs = packet.inputs.expect("inputs");
    assert_eq!((inputs.digital.bits(), inputs.analog), (9, [0, 1, 4095, 4095]));
}

#[test]
fn the_heading_is_the_gyros_and_begins_at_boot() {
    let mut bench = Bench::new();
    bench.drive(115, 1, ms(2500));
    let heading = bench.kobuki.pose().heading.to_degrees();
    let inertia = bench.inertia();
    assert!(
        (f64::from(inertia.angle_centidegrees) / 100.0 - heading).abs() < 0.01,
        "{} {heading}",
        inertia.angle_centidegrees
    );
    assert!(
        (f64::from(inertia.rate_centidegrees_per_s) / 100.0 - 57.3).abs() < 0.1,
        "{}",
        inertia.rate_centidegrees_per_s
    );
    // The sensor's units; it is mounted rotated by a quarter turn.
    let raw = bench.last().gyro.expect("gyro");
    assert_eq!(raw.readings().last(), Some(&[0, 0, 6548]));
    // Further, beyond half a turn.
    bench.drive(115, 1, ms(1500));
    let heading = bench.kobuki.pose().heading.to_degrees();
    assert!((-150.0..-120.0).contains(&heading), "{heading}");
    assert!((f64::from(bench.inertia().angle_centidegrees) / 100.0 - heading).abs() < 0.01);
    bench.run(ms(2000));
    let standing = bench.kobuki.pose();
    bench.kobuki.reset();
    bench.run(ms(1000));
    assert_eq!((bench.inertia().angle_centidegrees, bench.core().left_encoder_ticks), (0, 0));
    assert_eq!(bench.kobuki.pose(), standing);
}

#[test]
fn the_gyros_noise_is_small_and_depends_on_the_seed() {
    let headings = |seed| {
        let mut bench = Bench::with(KobukiSettings { seed, ..KobukiSettings::default() });
        bench.run(ms(60_000));
        bench
            .packets
            .iter()
            .map(|packet| packet.inertia.expect("inertia").angle_centidegrees)
            .collect::<Vec<_>>()
    };
    assert_eq!(headings(1), headings(1));
    assert_ne!(headings(1), headings(2));
    let drifts: Vec<f64> =
        (0..8).map(|seed| f64::from(*headings(seed).last().expect("one")) / 100.0).collect();
    assert!(drifts.iter().all(|drift| drift.abs() < 3.0), "{drifts:?} degrees in a minute");
    assert!(drifts.iter().any(|drift| drift.abs() > 0.05), "{drifts:?} degrees in a minute");
}

#[test]
fn leds_outputs_and_power_are_bits_of_one_word() {
    let mut bench = Bench::new();
    assert_eq!(bench.kobuki.external_power(), [true; 4]);
    bench.send(&Command::SetOutputs(Outputs::from_bits_retain(0x0200 | 0x0c00 | 0x0050 | 0x0005)));
    assert_eq!(bench.kobuki.leds(), [LedColor::Green, LedColor::Orange]);
    assert_eq!(bench.kobuki.external_power(), [true, false, true, false]);
    assert_eq!(bench.kobuki.digital_outputs(), [true, false, true, false]);
    bench.events.clear();
    bench.run(ms(20));
    let lines: Vec<String> = bench.events.iter().map(ToString::to_string).collect();
    let expected = [
        "led1 green",
        "led2 orange",
        "output 0 on",
        "output 2 on",
        "external power 5V off",
        "external power 12V1.5A off",
    ];
    assert_eq!(lines, expected);
    bench.send(&Command::SetOutputs(Outputs::from_bits_retain(0x0100)));
    assert_eq!(bench.kobuki.leds(), [LedColor::Red, LedColor::Black]);
}

#[test]
fn sounds_are_notes_one_after_the_other() {
    let mut bench = Bench::new();
    bench.run(ms(1000));
    assert!(bench.events.contains(&Event::Sound(SoundSequence::On)), "it reports that it is on");
    assert_eq!(bench.kobuki.sounding(), None);
    // 440 Hz for 200 ms, then the double.
    bench.send(&Command::Sound(Sound { period_2_75_us: 826, duration_ms: 200 }));
    bench.send(&Command::Sound(Sound { period_2_75_us: 413, duration_ms: 100 }));
    let sounding = |bench: &mut Bench, after| {
        bench.run(ms(after));
        bench.kobuki.sounding().map_or(0.0, |note| note.frequency)
    };
    assert!((sounding(&mut bench, 100) - 440.0).abs() < 1.0);
    assert!((sounding(&mut bench, 150) - 880.0).abs() < 1.0);
    assert_eq!(sounding(&mut bench, 100), 0.0);
    bench.send(&Command::SoundSequence(SoundSequence::Error));
    assert!(sounding(&mut bench, 20) > 0.0);
    // Melody 200 does not exist.
    bench.kobuki.handle_bytes(bench.now, &[0xaa, 0x55, 0x03, 0x04, 0x01, 200, 0x06 ^ 200]);
    bench.run(ms(1000));
    assert_eq!(bench.events.iter().filter(|event| matches!(event, Event::Sound(_))).count(), 2);
}

#[test]
fn gains_are_kept_until_those_of_the_factory_are_wanted() {
    let mut bench = Bench::new();
    let user = ControllerGains { kind: 1, p_thousandths: 50_000, i_thousandths: 200, d_thousandths: 1_000 };
    bench.send(&Command::SetControllerGains(user));
    bench.send(&Command::RequestControllerGains(GainsRequest::default()));
    bench.run(ms(20));
    assert_eq!(bench.last().gains, Some(user));
    bench.send(&Command::SetControllerGains(ControllerGains { kind: 0, ..user }));
    bench.send(&Command::RequestControllerGains(GainsRequest::default()));
    bench.run(ms(20));
    assert_eq!(bench.last().gains, Some(ControllerGains::DEFAULT));
}

#[test]
fn the_battery_falls_with_load_and_rises_on_a_charger() {
    let mut bench = Bench::new();
    bench.kobuki.set_battery(14.5);
    bench.run(ms(20));
    assert_eq!((bench.core().battery_decivolts, bench.core().charger.0), (145, 0));
    bench.run(ms(1_800_000));
    let rested = bench.core().battery_decivolts;
    assert!((135..=144).contains(&rested), "{rested}");
    bench.drive(700, 0, ms(600_000));
    assert!(bench.core().battery_decivolts < rested);
    for (source, charging, charged) in [(ChargerSource::Docking, 6, 2), (ChargerSource::Adapter, 22, 18)] {
        bench.kobuki.set_battery(16.0);
        bench.kobuki.inputs.charger = Some(source);
        bench.run(ms(20));
        assert_eq!(bench.core().charger.0, charging);
        bench.run(ms(3_600_000));
        assert_eq!((bench.core().charger.0, bench.core().battery_decivolts), (charged, 165));
        bench.kobuki.inputs.charger = None;
        bench.run(ms(20));
        assert_eq!(bench.core().charger.0, 0);
    }
    assert_eq!(
        bench.events.iter().filter(|event| **event == Event::Sound(SoundSequence::Recharge)).count(),
        2
    );
}

#[test]
fn it_says_nothing_while_it_boots_or_is_silent() {
    let mut bench = Bench::new();
    bench.run(ms(100));
    bench.packets.clear();
    bench.kobuki.silence(ms(500));
    bench.run(ms(500));
    assert!(bench.packets.is_empty());
    bench.run(ms(100));
    assert_eq!(bench.packets.len(), 5);
    bench.drive(200, 0, ms(500));
    bench.packets.clear();
    bench.kobuki.reset();
    bench.send(&speed(200, 0));
    bench.run(ms(200));
    assert!(bench.packets.is_empty());
    bench.run(ms(300));
    assert_eq!(bench.core().timestamp_ms, 300);
    assert_eq!(bench.kobuki.twist(), Twist::ZERO, "commands during the boot are lost");
}

#[test]
fn commands_are_found_between_garbage_in_pieces_of_any_size() {
    let bytes = {
        let mut bytes = vec![0x00, 0xaa, 0x55, 0x03];
        bytes.extend(encode(&Command::SetOutputs(Outputs::from_bits_retain(0x01f0))));
        bytes.extend([0xaa, 0xaa]);
        bytes.extend(encode(&speed(100, 0)));
        bytes
    };
    for size in 1..bytes.len() {
        let mut bench = Bench::new();
        // Until the end of a corrupted length.
        for _ in 0..3 {
            for piece in bytes.chunks(size) {
                bench.kobuki.handle_bytes(bench.now, piece);
                bench.run(ms(1));
            }
        }
        bench.run(ms(300));
        assert_eq!(bench.kobuki.leds(), [LedColor::Red, LedColor::Black], "pieces of {size}");
        assert!(bench.kobuki.twist().linear > 0.09, "pieces of {size}");
    }
}

#[test]
fn a_damaged_line_loses_packets_and_no_more() {
    let mut bench = Bench::new();
    bench.kobuki.corrupt(0.5);
    for _ in 0..20 {
        bench.kobuki.garbage(100);
        bench.run(ms(500));
    }
    let found = bench.packets.len();
    assert!((100..400).contains(&found), "{found} of 500");
    assert!(bench.packets.iter().all(|packet| packet.core.is_none_or(|core| core.battery_decivolts > 150)));
}

#[test]
fn the_oldest_waiting_packets_are_lost_first() {
    let mut bench = Bench::new();
    bench.kobuki.handle_timeout(bench.now + ms(60_000));
    let waiting: Vec<_> = std::iter::from_fn(|| bench.kobuki.poll_transmit()).collect();
    assert_eq!(waiting.len(), 16);
    let mut bytes = waiting.last().expect("a packet").as_slice();
    let packet = Packet::of(bench.decoder.next(&mut bytes).expect("whole"));
    assert_eq!(packet.core.expect("core").timestamp_ms, 60_000);
}

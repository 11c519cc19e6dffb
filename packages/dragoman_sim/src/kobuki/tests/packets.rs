//! Content and timing of packets.

use dragoman_base::kobuki::wire::DockSignals;

use super::*;

#[test]
fn packets_come_every_20_ms_with_all_that_the_real_ones_have() {
    let mut fixture = Fixture::new();
    fixture.run(ms(1000));
    assert_eq!(fixture.packets.len(), 50);
    for pair in fixture.packets.windows(2) {
        let [a, b] = pair else { continue };
        let stamps = [a, b].map(|packet| packet.core.expect("core").timestamp_ms);
        assert_eq!(stamps[1].wrapping_sub(stamps[0]), 20);
    }
    for packet in &fixture.packets {
        assert!(packet.dock_ir.is_some() && packet.inertia.is_some() && packet.cliffs.is_some());
        assert!(packet.currents.is_some() && packet.inputs.is_some());
        let samples = packet.gyro.expect("gyro").readings().len();
        assert!((2..=3).contains(&samples), "{samples}");
        assert!(packet.hardware.is_none() && packet.gains.is_none());
    }
}

#[test]
fn the_time_stamp_wraps() {
    let mut fixture = Fixture::new();
    fixture.run(ms(65_540));
    assert_eq!(fixture.core().timestamp_ms, 4);
}

#[test]
fn requested_data_is_in_the_next_packet_once() {
    let mut fixture = Fixture::new();
    fixture.send(&Command::RequestExtra(RequestFlags::from_bits_retain(0x0b)));
    fixture.send(&Command::RequestControllerGains(GainsRequest::default()));
    fixture.run(ms(20));
    let packet = fixture.last();
    assert_eq!(packet.hardware.expect("hardware").to_string(), "1.0.4");
    assert_eq!(packet.firmware.expect("firmware").to_string(), "1.2.0");
    assert_eq!(packet.unique_id.expect("unique id").to_string(), "98434864-959859523-1126263088");
    assert_eq!(packet.gains.expect("gains").to_string(), "gains: default, P 100, I 0.1, D 2");
    fixture.run(ms(20));
    assert!(fixture.last().hardware.is_none() && fixture.last().gains.is_none());
}

#[test]
fn encoders_count_with_their_wrap() {
    let mut fixture = Fixture::new();
    fixture.drive(-300, 0, ms(1000));
    let angle = fixture.kobuki.wheel_angles().left;
    let ticks = (angle * 2_578.333_869_740_464 / std::f64::consts::TAU).floor();
    assert_eq!(f64::from(fixture.core().left_encoder_ticks), 65_536.0 + ticks);
    // 11.7 ticks per mm.
    let way_mm = -angle * 35.0;
    assert!((-ticks / way_mm - 11.7).abs() < 0.03, "{ticks} ticks, {way_mm} mm");
    fixture.drive(700, 0, ms(12_000));
    let angle = fixture.kobuki.wheel_angles().right;
    let ticks = (angle * 2_578.333_869_740_464 / std::f64::consts::TAU).floor();
    assert!(ticks > 65_536.0);
    assert_eq!(f64::from(fixture.core().right_encoder_ticks), ticks % 65_536.0);
}

#[test]
fn sensors_are_the_bits_of_the_protocol() {
    let mut fixture = Fixture::new();
    fixture.kobuki.inputs = Inputs {
        bumpers: FrontSensors { left: true, center: false, right: true },
        cliff_adc: FrontSensors { left: 1, center: 4095, right: 9999 },
        wheel_drops: Wheels { left: true, right: false },
        buttons: [false, true, true],
        dock_ir: FrontSensors {
            left: DockSignals::NEAR_LEFT,
            center: DockSignals::NEAR_CENTER,
            right: DockSignals::FAR_RIGHT,
        },
        digital: [true, false, false, true],
        analog: [0, 1, 4095, 60_000],
        ..Inputs::default()
    };
    fixture.run(ms(20));
    let core = fixture.core();
    let bits = [core.bumpers.bits(), core.cliffs.bits(), core.wheel_drops.bits(), core.buttons.bits()];
    assert_eq!(bits, [5, 4, 2, 6]);
    let packet = fixture.last();
    let cliff = packet.cliffs.expect("cliffs");
    assert_eq!((cliff.right, cliff.center, cliff.left), (4095, 4095, 1));
    let dock = packet.dock_ir.expect("dock IR");
    assert_eq!((dock.right.bits(), dock.center.bits(), dock.left.bits()), (32, 2, 1));
    let inputs = packet.inputs.expect("inputs");
    assert_eq!((inputs.digital.bits(), inputs.analog), (9, [0, 1, 4095, 4095]));
}

#[test]
fn the_heading_is_the_gyros_and_begins_at_boot() {
    let mut fixture = Fixture::new();
    fixture.drive(115, 1, ms(2500));
    let heading = fixture.kobuki.pose().heading.to_degrees();
    let inertia = fixture.inertia();
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
    let raw = fixture.last().gyro.expect("gyro");
    assert_eq!(raw.readings().last(), Some(&[0, 0, 6548]));
    // Further, beyond half a turn.
    fixture.drive(115, 1, ms(1500));
    let heading = fixture.kobuki.pose().heading.to_degrees();
    assert!((-150.0..-120.0).contains(&heading), "{heading}");
    assert!((f64::from(fixture.inertia().angle_centidegrees) / 100.0 - heading).abs() < 0.01);
    fixture.run(ms(2000));
    let standing = fixture.kobuki.pose();
    fixture.kobuki.reset();
    fixture.run(ms(1000));
    assert_eq!((fixture.inertia().angle_centidegrees, fixture.core().left_encoder_ticks), (0, 0));
    assert_eq!(fixture.kobuki.pose(), standing);
}

#[test]
fn the_gyros_noise_is_small_and_depends_on_the_seed() {
    let headings = |seed| {
        let mut fixture = Fixture::with(KobukiSettings { seed, ..KobukiSettings::default() });
        fixture.run(ms(60_000));
        fixture
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
    let mut fixture = Fixture::new();
    assert_eq!(fixture.kobuki.external_power(), [true; 4]);
    fixture.send(&Command::SetOutputs(Outputs::from_bits_retain(0x0200 | 0x0c00 | 0x0050 | 0x0005)));
    assert_eq!(fixture.kobuki.leds(), [LedColor::Green, LedColor::Orange]);
    assert_eq!(fixture.kobuki.external_power(), [true, false, true, false]);
    assert_eq!(fixture.kobuki.digital_outputs(), [true, false, true, false]);
    fixture.events.clear();
    fixture.run(ms(20));
    let lines: Vec<String> = fixture.events.iter().map(ToString::to_string).collect();
    let expected = [
        "led1 green",
        "led2 orange",
        "output 0 on",
        "output 2 on",
        "external power 5V off",
        "external power 12V1.5A off",
    ];
    assert_eq!(lines, expected);
    fixture.send(&Command::SetOutputs(Outputs::from_bits_retain(0x0100)));
    assert_eq!(fixture.kobuki.leds(), [LedColor::Red, LedColor::Black]);
}

#[test]
fn sounds_are_notes_one_after_the_other() {
    let mut fixture = Fixture::new();
    fixture.run(ms(1000));
    assert!(fixture.events.contains(&Event::Sound(SoundSequence::On)), "it reports that it is on");
    assert_eq!(fixture.kobuki.sounding(), None);
    // 440 Hz for 200 ms, then the double.
    fixture.send(&Command::Sound(Sound { period_2_75_us: 826, duration_ms: 200 }));
    fixture.send(&Command::Sound(Sound { period_2_75_us: 413, duration_ms: 100 }));
    let sounding = |fixture: &mut Fixture, after| {
        fixture.run(ms(after));
        fixture.kobuki.sounding().map_or(0.0, |note| note.frequency)
    };
    assert!((sounding(&mut fixture, 100) - 440.0).abs() < 1.0);
    assert!((sounding(&mut fixture, 150) - 880.0).abs() < 1.0);
    assert_eq!(sounding(&mut fixture, 100), 0.0);
    fixture.send(&Command::SoundSequence(SoundSequence::Error));
    assert!(sounding(&mut fixture, 20) > 0.0);
    // Melody 200 does not exist.
    fixture.kobuki.handle_bytes(fixture.now, &[0xaa, 0x55, 0x03, 0x04, 0x01, 200, 0x06 ^ 200]);
    fixture.run(ms(1000));
    assert_eq!(fixture.events.iter().filter(|event| matches!(event, Event::Sound(_))).count(), 2);
}

#[test]
fn gains_are_kept_until_those_of_the_factory_are_requested() {
    let mut fixture = Fixture::new();
    let user = ControllerGains { kind: 1, p_thousandths: 50_000, i_thousandths: 200, d_thousandths: 1_000 };
    fixture.send(&Command::SetControllerGains(user));
    fixture.send(&Command::RequestControllerGains(GainsRequest::default()));
    fixture.run(ms(20));
    assert_eq!(fixture.last().gains, Some(user));
    fixture.send(&Command::SetControllerGains(ControllerGains { kind: 0, ..user }));
    fixture.send(&Command::RequestControllerGains(GainsRequest::default()));
    fixture.run(ms(20));
    assert_eq!(fixture.last().gains, Some(ControllerGains::DEFAULT));
}

#[test]
fn the_battery_falls_with_load_and_rises_on_a_charger() {
    let mut fixture = Fixture::new();
    fixture.kobuki.set_battery(14.5);
    fixture.run(ms(20));
    assert_eq!((fixture.core().battery_decivolts, fixture.core().charger.0), (145, 0));
    fixture.run(ms(1_800_000));
    let rested = fixture.core().battery_decivolts;
    assert!((135..=144).contains(&rested), "{rested}");
    fixture.drive(700, 0, ms(600_000));
    assert!(fixture.core().battery_decivolts < rested);
    for (source, charging, charged) in [(ChargerSource::Docking, 6, 2), (ChargerSource::Adapter, 22, 18)] {
        fixture.kobuki.set_battery(16.0);
        fixture.kobuki.inputs.charger = Some(source);
        fixture.run(ms(20));
        assert_eq!(fixture.core().charger.0, charging);
        fixture.run(ms(3_600_000));
        assert_eq!((fixture.core().charger.0, fixture.core().battery_decivolts), (charged, 165));
        fixture.kobuki.inputs.charger = None;
        fixture.run(ms(20));
        assert_eq!(fixture.core().charger.0, 0);
    }
    assert_eq!(
        fixture.events.iter().filter(|event| **event == Event::Sound(SoundSequence::Recharge)).count(),
        2
    );
}

#[test]
fn it_sends_nothing_while_it_boots_or_is_silent() {
    let mut fixture = Fixture::new();
    fixture.run(ms(100));
    fixture.packets.clear();
    fixture.kobuki.silence(ms(500));
    fixture.run(ms(500));
    assert!(fixture.packets.is_empty());
    fixture.run(ms(100));
    assert_eq!(fixture.packets.len(), 5);
    fixture.drive(200, 0, ms(500));
    fixture.packets.clear();
    fixture.kobuki.reset();
    fixture.send(&speed(200, 0));
    fixture.run(ms(200));
    assert!(fixture.packets.is_empty());
    fixture.run(ms(300));
    assert_eq!(fixture.core().timestamp_ms, 300);
    assert_eq!(fixture.kobuki.twist(), Twist::ZERO, "commands during the boot are lost");
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
        let mut fixture = Fixture::new();
        // Until the end of a corrupted length.
        for _ in 0..3 {
            for piece in bytes.chunks(size) {
                fixture.kobuki.handle_bytes(fixture.now, piece);
                fixture.run(ms(1));
            }
        }
        fixture.run(ms(300));
        assert_eq!(fixture.kobuki.leds(), [LedColor::Red, LedColor::Black], "pieces of {size}");
        assert!(fixture.kobuki.twist().linear > 0.09, "pieces of {size}");
    }
}

#[test]
fn a_damaged_line_loses_packets_and_no_more() {
    let mut fixture = Fixture::new();
    fixture.kobuki.corrupt(0.5);
    for _ in 0..20 {
        fixture.kobuki.garbage(100);
        fixture.run(ms(500));
    }
    let found = fixture.packets.len();
    assert!((100..400).contains(&found), "{found} of 500");
    assert!(fixture.packets.iter().all(|packet| packet.core.is_none_or(|core| core.battery_decivolts > 150)));
}

#[test]
fn the_oldest_waiting_packets_are_lost_first() {
    let mut fixture = Fixture::new();
    fixture.kobuki.handle_timeout(fixture.now + ms(60_000));
    let waiting: Vec<_> = std::iter::from_fn(|| fixture.kobuki.poll_transmit()).collect();
    assert_eq!(waiting.len(), 16);
    let mut bytes = waiting.last().expect("a packet").as_slice();
    let packet = Packet::of(fixture.decoder.next(&mut bytes).expect("whole"));
    assert_eq!(packet.core.expect("core").timestamp_ms, 60_000);
}

use proptest::prelude::*;

use super::*;

/// A frame of these bytes, with checksum.
fn framed(payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    frame::encode(&mut bytes, |out| out.extend_from_slice(payload)).unwrap();
    bytes
}

fn payloads(decoder: &mut Decoder, mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut payloads = Vec::new();
    while let Some(payload) = decoder.next(&mut bytes) {
        payloads.push(payload.to_vec());
    }
    assert!(bytes.is_empty());
    payloads
}

/// Checks that a sub-payload and its bytes convert into each other.
fn feedback(expected: &[u8], feedback: Feedback) {
    let mut bytes = Vec::new();
    feedback.encode(&mut bytes);
    assert_eq!(bytes, expected);
    assert_eq!(Feedback::read(expected).collect::<Vec<_>>(), [Ok(feedback)]);
}

fn command(expected: &[u8], command: Command) {
    let mut bytes = Vec::new();
    command.encode(&mut bytes);
    assert_eq!(bytes, expected);
    assert_eq!(Command::read(expected).collect::<Vec<_>>(), [Ok(command)]);
}

#[test]
fn core_sensors() {
    let core = CoreSensors {
        timestamp_ms: 0x1234,
        bumpers: Bumpers::RIGHT | Bumpers::LEFT,
        wheel_drops: WheelDrops::LEFT,
        cliffs: Cliffs::CENTER,
        left_encoder_ticks: 0xfffe,
        right_encoder_ticks: 0x0102,
        left_pwm: -2,
        right_pwm: 3,
        buttons: Buttons::B1,
        charger: Charger::ADAPTER_CHARGING,
        battery_decivolts: 0xa5,
        overcurrents: Overcurrents::RIGHT,
    };
    let bytes = [1, 15, 0x34, 0x12, 5, 2, 2, 0xfe, 0xff, 2, 1, 0xfe, 3, 2, 0x16, 0xa5, 2];
    feedback(&bytes, Feedback::Core(core));
    assert_eq!(
        core.to_string(),
        "core: 4660 ms, bumpers right, left, wheel drops left, cliffs center, encoders 65534 258, pwm -2 3, \
         buttons b1, charging at the adapter, 16.5 V, overcurrent right"
    );
}

#[test]
fn charger_byte() {
    assert_eq!(Charger(0x00).charging(), Charging::Discharging);
    assert_eq!(Charger(0x02).charging(), Charging::Charged);
    assert_eq!(Charger(0x16).charging(), Charging::Charging);
    assert!(Charger(0x12).is_adapter() && !Charger(0x06).is_adapter());
    assert_eq!(Charger(0x04).charging(), Charging::Discharging, "an unknown state");
}

#[test]
fn other_sensors() {
    let near = DockSignals::NEAR_CENTER;
    let ir = DockIr { right: near, center: near | DockSignals::FAR_CENTER, left: DockSignals::empty() };
    feedback(&[3, 3, 2, 0x0a, 0], Feedback::DockIr(ir));
    let inertia = Inertia { angle_centidegrees: -9000, rate_centidegrees_per_s: 150, reserved: [7, 8, 9] };
    feedback(&[4, 7, 0xd8, 0xdc, 0x96, 0, 7, 8, 9], Feedback::Inertia(inertia));
    assert!((inertia.angle() + std::f64::consts::FRAC_PI_2).abs() < 1e-12);
    assert!((inertia.rate() - 1.5_f64.to_radians()).abs() < 1e-12);
    let cliffs = CliffReadings { right: 0x0102, center: 0x0304, left: 0x0506 };
    feedback(&[5, 6, 2, 1, 4, 3, 6, 5], Feedback::Cliffs(cliffs));
    let currents = WheelCurrents { left_centiamperes: 12, right_centiamperes: 34 };
    feedback(&[6, 2, 12, 34], Feedback::Currents(currents));
    assert_eq!(currents.to_string(), "currents: left 0.12 A, right 0.34 A");
    let digital = DigitalInputs::INPUT_0 | DigitalInputs::INPUT_3;
    let input = GeneralPurposeInput { digital, analog: [4095, 0, 1, 2], reserved: [0, 0, 9] };
    feedback(&[16, 16, 9, 0, 0xff, 0x0f, 0, 0, 1, 0, 2, 0, 0, 0, 0, 0, 9, 0], Feedback::Input(input));
    assert!((input.volts()[0] - 3.3).abs() < 1e-12);
}

#[test]
fn raw_gyro_is_turned_into_the_base_s_axes() {
    let gyro = RawGyro::new(5, &[[1, -2, 3], [4, 5, 100]]).unwrap();
    let bytes = [13, 14, 5, 6, 1, 0, 0xfe, 0xff, 3, 0, 4, 0, 5, 0, 100, 0];
    feedback(&bytes, Feedback::RawGyro(gyro));
    let rates: Vec<_> = gyro.rates().collect();
    let digit = 0.00875_f64.to_radians();
    for (rate, expected) in rates.iter().zip([[2.0, 1.0, 3.0], [-5.0, 4.0, 100.0]]) {
        for (rate, expected) in rate.iter().zip(expected) {
            assert!((rate - digit * expected).abs() < 1e-12);
        }
    }
    assert_eq!(RawGyro::new(0, &[[0; 3]; MAX_GYRO_READINGS + 1]), None);
    assert_eq!(RawGyro::decode(&[0, 3, 0, 0, 0, 0]), None, "fewer words than it says");
    assert_eq!(RawGyro::decode(&[0, 2, 0, 0, 0, 0]), None, "no whole reading");
}

#[test]
fn versions_and_identity() {
    let hardware = HardwareVersion(Version::new(1, 0, 4));
    feedback(&[10, 4, 4, 0, 1, 0], Feedback::HardwareVersion(hardware));
    let firmware = FirmwareVersion(Version::new(1, 2, 0));
    feedback(&[11, 4, 0, 2, 1, 0], Feedback::FirmwareVersion(firmware));
    let early = FirmwareVersion(Version::Decimal(123));
    feedback(&[11, 2, 123, 0], Feedback::FirmwareVersion(early));
    assert_eq!([hardware.to_string(), firmware.to_string(), early.to_string()], ["1.0.4", "1.2.0", "1.0.0"]);
    assert_eq!(HardwareVersion(Version::Decimal(123)).parts(), None, "that is a version of firmware");
    let id = UniqueDeviceId([98434864, 959859523, 1126263088]);
    let words = [19, 12, 0x30, 0xff, 0xdd, 0x05, 0x43, 0x4b, 0x36, 0x39, 0x30, 0x69, 0x21, 0x43];
    feedback(&words, Feedback::UniqueDeviceId(id));
}

#[test]
fn gains_go_both_ways() {
    let gains = [0xa0, 0x86, 1, 0, 100, 0, 0, 0, 0xd0, 7, 0, 0];
    feedback(&[&[21, 13, 0][..], &gains].concat(), Feedback::ControllerGains(ControllerGains::DEFAULT));
    let user = ControllerGains { kind: 1, ..ControllerGains::DEFAULT };
    command(&[&[13, 13, 1][..], &gains].concat(), Command::SetControllerGains(user));
    command(&[14, 1, 0], Command::RequestControllerGains(GainsRequest::default()));
    assert_eq!(user.to_string(), "gains: user's, P 100, I 0.1, D 2");
}

#[test]
fn commands() {
    command(
        &[1, 4, 0x9c, 0xff, 0xe8, 0x03],
        Command::BaseControl(BaseControl { speed_mm_per_s: -100, radius_mm: 1000 }),
    );
    let sound = Sound { period_2_75_us: 826, duration_ms: 200 };
    command(&[3, 3, 0x3a, 0x03, 200], Command::Sound(sound));
    assert!((sound.frequency() - 440.0).abs() < 0.5);
    command(&[4, 1, 6], Command::SoundSequence(SoundSequence::CleaningEnd));
    assert_eq!(Command::decode(4, &[7]), Err(DecodeError::Value { id: 4, value: 7 }));
    let all = RequestFlags::all();
    command(&[9, 2, 0x0b, 0], Command::RequestExtra(all));
    let outputs = Outputs::default() | Outputs::LED_1_GREEN | Outputs::LED_2 | Outputs::OUTPUT_1;
    command(&[12, 2, 0xf2, 0x0e], Command::SetOutputs(outputs));
    assert_eq!(Outputs::default().bits(), 0x00f0);
}

#[test]
fn base_control_follows_the_formula() {
    let control = |linear, angular| {
        let BaseControl { speed_mm_per_s, radius_mm } = BaseControl::from_velocities(linear, angular);
        (speed_mm_per_s, radius_mm)
    };
    assert_eq!(control(0.3, 0.0), (300, 0));
    assert_eq!(control(-0.3, 0.00009), (-300, 0));
    assert_eq!(control(0.0, 1.0), (115, 1));
    assert_eq!(control(0.0, -1.0), (-115, 1));
    assert_eq!(control(0.00005, 1.0), (115, 1));
    assert_eq!(control(0.0009, 1.0), (115, 1), "a radius of 0.9 mm");
    assert_eq!(control(0.5, 1.0), (615, 500));
    assert_eq!(control(0.5, -1.0), (615, -500));
    assert_eq!(control(-0.5, 1.0), (-615, -500));
    assert_eq!(control(-0.0012, 1.0), (-116, -2), "not -1, which would turn the other way");
    assert_eq!(control(0.5, 0.001), (500, 32767));
    assert_eq!(control(1e9, 0.0), (32767, 0));
    assert_eq!(control(-1e9, -1e3), (-32768, 32767));
    assert_eq!(control(f64::NAN, 1.0), (0, 0));
    assert_eq!(control(1.0, f64::INFINITY), (0, 0));
}

#[test]
fn unknown_sub_payloads_are_skipped_and_truncated_ones_reported() {
    let payload = [200, 2, 9, 9, 6, 2, 1, 1, 6, 1, 0, 3, 3, 0, 0];
    assert_eq!(
        Feedback::read(&payload).collect::<Vec<_>>(),
        [
            Err(DecodeError::Unknown { id: 200, length: 2 }),
            Ok(Feedback::Currents(WheelCurrents { left_centiamperes: 1, right_centiamperes: 1 })),
            Err(DecodeError::Length { id: 6, length: 1 }),
            Err(DecodeError::Truncated { id: 3, declared: 3, present: 2 }),
        ]
    );
    assert_eq!(Feedback::read(&[6]).collect::<Vec<_>>(), [Err(DecodeError::NoLength { id: 6 })]);
}

#[test]
fn a_frame_is_header_length_payload_checksum() {
    let mut bytes = Vec::new();
    let stop = Command::BaseControl(BaseControl { speed_mm_per_s: 100, radius_mm: 0 });
    stop.encode_frame(&mut bytes);
    assert_eq!(bytes, [0xaa, 0x55, 6, 1, 4, 100, 0, 0, 0, 6 ^ 1 ^ 4 ^ 100]);
    let length = frame::encode(&mut bytes, |out| out.extend_from_slice(&[0; 256])).unwrap_err();
    assert_eq!(length, frame::PayloadLength { length: 256 });
    assert!(frame::encode(&mut bytes, |_| ()).is_err());
    assert_eq!(bytes.len(), 10, "as before");
}

#[test]
fn a_false_header_neither_swallows_nor_delays_a_frame() {
    let good = framed(&[6, 2, 1, 1]);
    for false_header in
        [&[0xaa, 0x55, 0xff][..], &[0xaa, 0x55], &[0xaa], &[0xaa, 0x55, 0], &[0xaa, 0x55, 4, 6]]
    {
        let mut decoder = Decoder::new();
        let bytes = [false_header, &good].concat();
        assert_eq!(payloads(&mut decoder, &bytes), [[6, 2, 1, 1]], "{false_header:x?}");
        let Statistics { frames, skipped_bytes, .. } = decoder.statistics();
        assert_eq!((frames, skipped_bytes), (1, false_header.len() as u64));
    }
}

#[test]
fn a_wrong_checksum_costs_one_frame() {
    let good = framed(&[6, 2, 1, 1]);
    for position in 0..good.len() {
        let mut wrong = good.clone();
        wrong[position] ^= 0x10;
        let mut decoder = Decoder::new();
        assert_eq!(payloads(&mut decoder, &[&wrong[..], &good, &good].concat()).len(), 2, "at {position}");
        assert_eq!(decoder.statistics().skipped_bytes, wrong.len() as u64);
    }
    let mut decoder = Decoder::new();
    let mut wrong = good;
    wrong[4] ^= 1;
    assert!(payloads(&mut decoder, &wrong).is_empty());
    assert_eq!(decoder.statistics().checksum_errors, 1);
}

#[test]
fn an_unfinished_frame_is_forgotten_with_the_connection() {
    let good = framed(&[6, 2, 1, 1]);
    let mut decoder = Decoder::new();
    assert!(payloads(&mut decoder, &good[..5]).is_empty());
    decoder.clear();
    assert_eq!(payloads(&mut decoder, &good).len(), 1);
    assert_eq!(decoder.statistics(), Statistics { frames: 1, checksum_errors: 0, skipped_bytes: 5 });
}

/// A payload of complete sub-payloads, of known and unknown ids.
fn some_payload() -> impl Strategy<Value = Vec<u8>> {
    let part = (any::<u8>(), proptest::collection::vec(any::<u8>(), 1..20))
        .prop_map(|(id, data)| [&[id, data.len() as u8][..], &data].concat());
    proptest::collection::vec(part, 1..10).prop_map(|parts| parts.concat())
}

/// Data lengths of sub-payloads.
const LENGTHS: [usize; 11] = [1, 2, 3, 4, 6, 7, 8, 12, 13, 15, 16];

fn some_data() -> impl Strategy<Value = (u8, Vec<u8>)> {
    let gyro = (any::<u8>(), 0..=MAX_GYRO_READINGS).prop_flat_map(|(frame_id, count)| {
        proptest::collection::vec(any::<u8>(), 6 * count)
            .prop_map(move |words| (RawGyro::ID, [&[frame_id, 3 * count as u8][..], &words].concat()))
    });
    let other = (0_u8..24, proptest::sample::select(&LENGTHS[..])).prop_flat_map(|(id, length)| {
        proptest::collection::vec(any::<u8>(), length).prop_map(move |data| (id, data))
    });
    prop_oneof![1 => gyro, 10 => other]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 500, ..ProptestConfig::default() })]

    #[test]
    fn what_is_decoded_encodes_to_the_same_bytes((id, data) in some_data()) {
        let whole = [&[id, data.len() as u8][..], &data].concat();
        let mut again = Vec::new();
        if let Ok(feedback) = Feedback::decode(id, &data) {
            feedback.encode(&mut again);
            prop_assert_eq!(&again, &whole);
        }
        again.clear();
        if let Ok(command) = Command::decode(id, &data) {
            command.encode(&mut again);
            prop_assert_eq!(&again, &whole);
        }
    }

    #[test]
    fn pieces_of_any_length_give_the_same_frames(
        parts in proptest::collection::vec((some_payload(), proptest::collection::vec(any::<u8>(), 0..8)), 1..6),
        cuts in proptest::collection::vec(1_usize..60, 1..20),
    ) {
        let stream: Vec<u8> = parts.iter().flat_map(|(payload, garbage)| [garbage.clone(), framed(payload)].concat()).collect();
        let mut whole = Decoder::new();
        let expected = payloads(&mut whole, &stream);
        let (mut pieces, mut found, mut rest) = (Decoder::new(), Vec::new(), &stream[..]);
        for cut in cuts.iter().cycle() {
            let (piece, others) = rest.split_at((*cut).min(rest.len()));
            found.extend(payloads(&mut pieces, piece));
            rest = others;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(pieces.statistics(), whole.statistics());
    }

    #[test]
    fn after_garbage_every_frame_arrives_at_once(
        garbage in proptest::collection::vec(prop_oneof![Just(0xaa_u8), Just(0x55), any::<u8>()], 0..600),
        parts in proptest::collection::vec(some_payload(), 1..5),
    ) {
        let mut decoder = Decoder::new();
        payloads(&mut decoder, &garbage);
        for payload in parts {
            let arrived = payloads(&mut decoder, &framed(&payload));
            // The invalid bytes may form a frame with bytes of this one, with one checksum in 256.
            let accident = arrived.first().is_some_and(|first| *first != payload);
            prop_assert!(accident || arrived == [payload]);
        }
    }

    #[test]
    fn every_byte_is_accounted_for(bytes in proptest::collection::vec(prop_oneof![Just(0xaa_u8), Just(0x55), 0..6_u8], 0..700)) {
        let mut decoder = Decoder::new();
        let taken: usize = payloads(&mut decoder, &bytes).iter().map(|payload| payload.len() + 4).sum();
        decoder.clear();
        prop_assert_eq!(decoder.statistics().skipped_bytes as usize + taken, bytes.len());
    }

    #[test]
    fn velocities_come_back_from_the_command(linear in -0.7..0.7_f64, angular in -3.0..3.0_f64) {
        let control = BaseControl::from_velocities(linear, angular);
        let (again_linear, again_angular) = control.velocities();
        // Half a mm/s of the outer wheel and, near the spot, half a millimetre of radius.
        prop_assert!((again_linear - linear).abs() < 0.004, "{control}: {again_linear} instead of {linear}");
        prop_assert!((again_angular - angular).abs() < 0.03, "{control}: {again_angular} instead of {angular}");
    }
}

use proptest::prelude::*;

use super::table::{self, Block, Control, Identity, Measurement, REGISTERS, TABLE_LENGTH, signed, to_signed};
use super::*;

fn packets(mut bytes: &[u8], decoder: &mut Decoder) -> Vec<(u8, u8, Vec<u8>)> {
    let mut found = Vec::new();
    while let Some(packet) = decoder.next(&mut bytes) {
        found.push((packet.id, packet.kind, packet.parameters.to_vec()));
    }
    found
}

fn encoded(instruction: &Instruction<'_>, id: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    instruction.encode(&mut bytes, id).unwrap();
    bytes
}

/// The examples of the manufacturer's manuals.
#[test]
fn packets_are_those_of_the_manuals() {
    let cases: [(Instruction<'_>, u8, &[u8]); 6] = [
        (Instruction::Ping, 1, &[0xff, 0xff, 0x01, 0x02, 0x01, 0xfb]),
        (
            Instruction::Read { address: 0x2b, length: 1 },
            1,
            &[0xff, 0xff, 0x01, 0x04, 0x02, 0x2b, 0x01, 0xcc],
        ),
        (
            Instruction::Write { address: 0x0e, data: &[0xff, 0x01] },
            0,
            &[0xff, 0xff, 0x00, 0x05, 0x03, 0x0e, 0xff, 0x01, 0xe9],
        ),
        (
            Instruction::Write { address: 0x18, data: &[1, 1] },
            0,
            &[0xff, 0xff, 0x00, 0x05, 0x03, 0x18, 0x01, 0x01, 0xdd],
        ),
        (
            Instruction::RegWrite { address: 0x1e, data: &[0xf4, 0x01] },
            1,
            &[0xff, 0xff, 0x01, 0x05, 0x04, 0x1e, 0xf4, 0x01, 0xe2],
        ),
        (Instruction::Action, BROADCAST, &[0xff, 0xff, 0xfe, 0x02, 0x05, 0xfa]),
    ];
    for (instruction, id, bytes) in cases {
        assert_eq!(encoded(&instruction, id), bytes, "{instruction:?}");
        let mut rest = bytes;
        let mut decoder = Decoder::default();
        let packet = decoder.next(&mut rest).unwrap();
        assert_eq!((packet.id, Instruction::decode(&packet)), (id, Ok(instruction)));
    }
    let mut answer = Vec::new();
    Status { id: 1, errors: ErrorFlags::empty(), parameters: &[0x20] }.encode(&mut answer).unwrap();
    assert_eq!(answer, [0xff, 0xff, 0x01, 0x03, 0x00, 0x20, 0xdb]);
}

#[test]
fn several_servos_are_written_at_once() {
    let mut bytes = Vec::new();
    sync_write_words(&mut bytes, table::GOAL_POSITION.address, [(1, 0x0010), (2, 0x0220)]).unwrap();
    assert_eq!(bytes[..5], [0xff, 0xff, 0xfe, 0x0a, 0x83]);
    assert_eq!(bytes[5..13], [0x1e, 0x02, 0x01, 0x10, 0x00, 0x02, 0x20, 0x02]);
    let mut rest = bytes.as_slice();
    let mut decoder = Decoder::default();
    let packet = decoder.next(&mut rest).unwrap();
    let Ok(Instruction::SyncWrite(write)) = Instruction::decode(&packet) else { panic!("{packet:?}") };
    let entries: Vec<_> = write.entries().collect();
    assert_eq!(entries, [(1, [0x10, 0].as_slice()), (2, [0x20, 2].as_slice())]);
    let words = |count: u8| (0..count).map(|id| (id, 1));
    assert!(sync_write_words(&mut Vec::new(), 30, words(83)).is_ok());
    let mut none = Vec::new();
    assert_eq!(sync_write_words(&mut none, 30, words(84)), Err(PacketLength { parameters: 254 }));
    assert!(none.is_empty());
}

#[test]
fn packets_that_are_not_instructions_are_refused() {
    let decode = |kind, parameters| Instruction::decode(&Packet { id: 1, kind, parameters });
    assert_eq!(decode(6, &[]), Err(DecodeError::Unknown(6)), "the reset to the factory's settings");
    assert_eq!(decode(2, &[1]), Err(DecodeError::Length { kind: 2, parameters: 1 }));
    assert_eq!(decode(3, &[30]), Err(DecodeError::Length { kind: 3, parameters: 1 }));
    assert_eq!(decode(0x83, &[30, 2, 1, 0]), Err(DecodeError::Length { kind: 0x83, parameters: 4 }));
    assert_eq!(decode(0x83, &[30, 0, 1]), Err(DecodeError::Length { kind: 0x83, parameters: 3 }));
}

#[test]
fn registers_are_apart_and_blocks_begin_with_them() {
    for pair in REGISTERS.windows(2) {
        assert!(pair[0].address + pair[0].size <= pair[1].address, "{pair:?}");
    }
    let last = REGISTERS.last().unwrap();
    assert_eq!(usize::from(last.address + last.size), TABLE_LENGTH);
    let mut bytes = [0; TABLE_LENGTH];
    for (register, value) in [
        (table::MODEL_NUMBER, 310_u16),
        (table::FIRMWARE_VERSION, 36),
        (table::CW_ANGLE_LIMIT, 100),
        (table::CCW_ANGLE_LIMIT, 4000),
        (table::MAX_TORQUE, 1000),
        (table::STATUS_RETURN_LEVEL, 2),
        (table::TORQUE_ENABLE, 1),
        (table::GOAL_POSITION, 2048),
        (table::MOVING_SPEED, 146),
        (table::TORQUE_LIMIT, 1023),
        (table::PRESENT_POSITION, 2047),
        (table::PRESENT_SPEED, 0x405),
        (table::PRESENT_LOAD, 0x100),
        (table::PRESENT_VOLTAGE, 121),
        (table::PRESENT_TEMPERATURE, 41),
    ] {
        let at = usize::from(register.address);
        let value = value.to_le_bytes();
        bytes[at..at + usize::from(register.size)].copy_from_slice(&value[..usize::from(register.size)]);
    }
    fn block<B: Block>(table: &[u8]) -> B {
        B::decode(&table[usize::from(B::ADDRESS)..][..usize::from(B::LENGTH)]).unwrap()
    }
    let identity: Identity = block(&bytes);
    assert_eq!(Model::from_number(identity.model_number), Some(Model::Mx64));
    let limits = (identity.cw_limit_ticks, identity.ccw_limit_ticks);
    assert_eq!((identity.firmware, limits), (36, (100, 4000)));
    assert_eq!((identity.max_torque, identity.status_return_level), (1000, 2));
    let control: Control = block(&bytes);
    let expected = Control { torque_enable: true, goal_ticks: 2048, moving_speed: 146, torque_limit: 1023 };
    assert_eq!(control, expected);
    let measurement: Measurement = block(&bytes);
    assert_eq!((measurement.position_ticks, measurement.speed, measurement.load), (2047, -5, 256));
    assert_eq!((measurement.decivolts, measurement.celsius), (121, 41));
    assert_eq!(Measurement::decode(&bytes[..7]), None);
}

#[test]
fn units_are_those_of_the_models() {
    for (model, turn, ticks) in [(Model::Ax12, 300.0, 1024.0), (Model::Mx28, 360.0, 4096.0)] {
        assert!((model.radians_per_tick() * ticks - f64::to_radians(turn)).abs() < 1e-12);
    }
    // 100 degrees a second.
    assert_eq!((100_f64.to_radians() / Model::Mx64.speed_unit()).round(), 146.0);
    assert_eq!((100_f64.to_radians() / Model::Ax12.speed_unit()).round(), 150.0);
    assert_eq!(Model::ALL.map(|model| Model::from_number(model.number())), Model::ALL.map(Some));
    assert_eq!(Model::from_number(0), None);
}

#[test]
fn a_packet_inside_a_false_one_is_found_at_once() {
    // A header that announces 200 bytes, and an answer of the usual kind.
    let mut bytes = vec![0x17, 0xff, 0xff, 0x05, 0xc8, 0x00];
    Status { id: 3, errors: ErrorFlags::OVERLOAD, parameters: &[1, 2] }.encode(&mut bytes).unwrap();
    let mut decoder = Decoder::default();
    assert_eq!(packets(&bytes, &mut decoder), [(3, 32, vec![1, 2])]);
    assert_eq!(decoder.statistics().skipped_bytes, 6);
    // With a bound it is not a packet.
    let mut decoder = Decoder::up_to(32);
    assert_eq!(packets(&bytes[..6], &mut decoder), []);
    assert_eq!(decoder.statistics().skipped_bytes, 6);
}

fn parameters() -> impl Strategy<Value = Vec<u8>> {
    // Without two consecutive ff bytes, which would look like a header.
    proptest::collection::vec(any::<u8>(), 0..=packet::MAX_PARAMETERS).prop_map(|mut bytes| {
        for at in 1..bytes.len() {
            if bytes[at - 1] == 0xff && bytes[at] == 0xff {
                bytes[at] = 0;
            }
        }
        bytes
    })
}

proptest! {
    #[test]
    fn packets_are_found_in_pieces_and_garbage(
        sent in proptest::collection::vec((0..=BROADCAST, 0..=0xfe_u8, parameters()), 1..5),
        // Not a header: the longer packet it announces could hide a valid one.
        garbage in proptest::collection::vec(0..=0xfe_u8, 0..20),
        piece in 1_usize..40,
    ) {
        let mut bytes = Vec::new();
        for (id, kind, parameters) in &sent {
            bytes.extend_from_slice(&garbage);
            packet::encode(&mut bytes, *id, *kind, |out| out.extend_from_slice(parameters)).unwrap();
        }
        let mut decoder = Decoder::default();
        let mut found = Vec::new();
        for piece in bytes.chunks(piece) {
            found.extend(packets(piece, &mut decoder));
        }
        prop_assert_eq!(&found, &sent);
        prop_assert_eq!(decoder.statistics().skipped_bytes, (garbage.len() * sent.len()) as u64);
    }

    #[test]
    fn any_bytes_are_settled_and_a_packet_behind_them_is_found(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let mut decoder = Decoder::up_to(32);
        for (_, _, parameters) in packets(&bytes, &mut decoder) {
            prop_assert!(parameters.len() <= 32);
        }
        // As a master does before each request.
        decoder.clear();
        let answer = encoded(&Instruction::Read { address: 36, length: 8 }, 7);
        prop_assert_eq!(packets(&answer, &mut decoder), [(7, 2, vec![36, 8])]);
    }

    #[test]
    fn whatever_arrives_is_an_instruction_or_is_refused(kind: u8, parameters in proptest::collection::vec(any::<u8>(), 0..40)) {
        let packet = Packet { id: 1, kind, parameters: &parameters };
        if let Ok(instruction) = Instruction::decode(&packet) {
            let bytes = encoded(&instruction, 1);
            let id = if kind == 0x83 { BROADCAST } else { 1 };
            prop_assert_eq!(packets(&bytes, &mut Decoder::up_to(40)).len() <= 1, true);
            prop_assert_eq!(&bytes[..5], &[0xff, 0xff, id, parameters.len() as u8 + 2, kind]);
            prop_assert_eq!(&bytes[5..bytes.len() - 1], parameters.as_slice());
        }
        let status = Status::new(&packet);
        prop_assert_eq!(status.errors.bits(), kind & 0x7f);
    }

    #[test]
    fn signed_numbers_return(value in -1023_i16..=1023) {
        prop_assert_eq!(signed(to_signed(value)), value);
    }
}

//! Interprets the input as bytes received on a line of Dynamixel servos. Codec checks: no panic; a decoded packet
//! encodes to the same bytes. Driver checks, with the bytes as answers and time and commands in between: no panic, one
//! request at a time, a bounded number of bytes and events, deadlines that pass, finite values.
//!
//! Each driver event is a byte with its kind (low three bits) and its length or index (the others), followed by its
//! data.

#![no_main]

use std::time::Duration;

use dragoman_arm::dynamixel::driver::{Config, Driver};
use dragoman_arm::dynamixel::wire::table::{Block, Control, Identity, Measurement};
use dragoman_arm::dynamixel::wire::{BROADCAST, Decoder, Instruction, Status};
use libfuzzer_sys::fuzz_target;

fn codec(mut input: &[u8]) {
    let mut decoder = Decoder::default();
    while let Some(packet) = decoder.next(&mut input) {
        assert!(packet.id <= BROADCAST);
        let status = Status::new(&packet);
        if packet.kind < 0x80 {
            let mut bytes = Vec::new();
            status.encode(&mut bytes).expect("it came in a packet");
            assert_eq!(&bytes[5..bytes.len() - 1], packet.parameters);
            assert_eq!((bytes[2], bytes[4]), (packet.id, packet.kind));
        }
        if let Ok(instruction) = Instruction::decode(&packet) {
            let mut bytes = Vec::new();
            instruction.encode(&mut bytes, packet.id).expect("it came in a packet");
            assert_eq!(&bytes[5..bytes.len() - 1], packet.parameters);
            if let Instruction::SyncWrite(write) = instruction {
                let entries: usize = write.entries().map(|(_, data)| data.len() + 1).sum();
                assert_eq!(entries + 2, packet.parameters.len());
            }
        }
    }
}

fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = input.split_at(len.min(input.len()));
    *input = tail;
    head
}

/// The servo that the driver addresses, and how many bytes it requests.
fn asked(said: &[u8]) -> Option<(u8, usize)> {
    let (mut decoder, mut said) = (Decoder::default(), said);
    let mut asked = None;
    while let Some(packet) = decoder.next(&mut said) {
        let length = match Instruction::decode(&packet).expect("it is ours") {
            Instruction::Read { length, .. } => usize::from(length),
            _ => 0,
        };
        if packet.id != BROADCAST {
            asked = Some((packet.id, length));
        }
    }
    asked
}

fuzz_target!(|input: &[u8]| {
    codec(input);
    let mut driver = Driver::new(Config::widowx()).expect("a valid configuration");
    let mut now = Duration::ZERO;
    driver.handle_connected(now);
    let mut input = input;
    let mut question = None;
    while let [operation, ..] = *input {
        take(&mut input, 1);
        let argument = operation >> 3;
        let joint = usize::from(argument % 7);
        match operation & 7 {
            0 => {
                let mut bytes = take(&mut input, usize::from(argument));
                while driver.handle_bytes(now, &mut bytes) {}
            }
            1 | 2 => {
                // The awaited answer.
                let Some((id, length)) = question else { continue };
                let mut parameters = take(&mut input, length).to_vec();
                parameters.resize(length, 0);
                let known = [Identity::LENGTH, Control::LENGTH, Measurement::LENGTH, 0];
                assert!(known.contains(&(length as u8)));
                if length == usize::from(Identity::LENGTH) && operation & 7 == 2 {
                    // A real servo model.
                    parameters[..2].copy_from_slice(&29_u16.to_le_bytes());
                    parameters[6..10].copy_from_slice(&[0, 0, 0xff, 0x0f]);
                    parameters[16] = 2;
                }
                let errors = if argument > 24 { argument } else { 0 };
                let mut answer = vec![0xff, 0xff, id, length as u8 + 2, errors];
                answer.extend(parameters);
                let sum = answer[2..].iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
                answer.push(!sum);
                let mut bytes = answer.as_slice();
                while driver.handle_bytes(now, &mut bytes) {}
            }
            3 => now += Duration::from_millis(1 << (argument % 11)),
            4 => {
                let [low, high, ..] = *take(&mut input, 2) else { break };
                let position = f64::from(i16::from_le_bytes([low, high])) / 8000.0;
                drop(driver.command(now, joint, if argument == 31 { f64::NAN } else { position }));
            }
            5 => drop(driver.set_speed(now, joint, f64::from(argument) / 8.0 - 0.5)),
            6 => match argument / 7 {
                0 => drop(driver.relax(now, joint)),
                1 => drop(driver.enable(now, joint, false)),
                2 => drop(driver.enable(now, joint, true)),
                _ => driver.stop(),
            },
            _ => match argument % 4 {
                0 => driver.handle_disconnected(now),
                1 => driver.handle_connected(now),
                _ => now = now.saturating_sub(Duration::from_millis(100)),
            },
        }
        driver.handle_timeout(now);
        let said = driver.poll_transmit();
        assert!(said.len() < 600, "{} bytes at once", said.len());
        question = asked(said).or(question);
        let state = driver.state();
        if let Some(deadline) = driver.poll_timeout() {
            assert!(state.is_connected && deadline > now && deadline < now + Duration::from_secs(1));
        }
        for motion in state.joints.iter().filter_map(|joint| joint.motion) {
            assert!(motion.position.is_finite() && motion.velocity.is_finite() && motion.effort.is_finite());
        }
        assert!(std::iter::from_fn(|| driver.poll_event()).count() <= 256);
    }
});

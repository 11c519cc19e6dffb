//! Any bytes, times and inputs for the simulated servos of a WidowX.
//!
//! Input: a sequence of steps, one operation byte each (low three bits: kind; the others: variant or duration),
//! followed by its data. Checked: no panic, the codec decodes all answers, they come from the servos and their number
//! is bounded, joints keep to their limits and speeds, and all values are finite.

#![no_main]

use std::time::Duration;

use dragoman_arm::dynamixel::widowx::JOINTS;
use dragoman_arm::dynamixel::wire::{Decoder, packet};
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::{Widowx, WidowxSettings};
use libfuzzer_sys::fuzz_target;

fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = input.split_at(len.min(input.len()));
    *input = tail;
    head
}

fn check(arm: &mut Widowx, is_clean: bool) {
    let sent: Vec<Vec<u8>> = std::iter::from_fn(|| arm.poll_transmit()).collect();
    assert!(sent.len() <= 16, "{} answers at once", sent.len());
    for answer in &sent {
        let (mut decoder, mut bytes) = (Decoder::default(), answer.as_slice());
        let found = decoder.next(&mut bytes).is_some();
        assert!(!is_clean || (found && bytes.is_empty()), "{answer:02x?}");
    }
    let (positions, velocities) = (arm.positions(), arm.velocities());
    for ((design, position), velocity) in JOINTS.iter().zip(positions).zip(velocities) {
        let [low, high] = design.limits;
        assert!((low..=high).contains(&position), "{} at {position}", design.name);
        assert!(velocity.abs() < 100.0, "{} with {velocity} rad/s", design.name);
    }
    assert!(arm.torques().into_iter().all(|torque| torque.abs() <= 6.0));
    assert!(std::iter::from_fn(|| arm.poll_event()).count() <= 256);
}

fuzz_target!(|input: &[u8]| {
    let mut arm = Widowx::new(WidowxSettings { is_held: input.len() % 2 == 0, ..WidowxSettings::default() });
    let (mut input, mut now, mut is_clean) = (input, Duration::ZERO, true);
    while let [operation, ..] = *input {
        take(&mut input, 1);
        let argument = operation >> 3;
        match operation & 7 {
            0 => arm.handle_bytes(now, take(&mut input, usize::from(argument))),
            1 => {
                // An id, an instruction and its parameters, in a packet.
                let [id, kind, parameters @ ..] = take(&mut input, usize::from(argument) + 2) else { break };
                let mut bytes = Vec::new();
                packet::encode(&mut bytes, *id, *kind, |out| out.extend_from_slice(parameters))
                    .expect("they are few");
                arm.handle_bytes(now, &bytes);
            }
            2 => {
                now += Duration::from_millis(1 << (argument % 12));
                arm.handle_timeout(now);
            }
            3 => {
                let [value, scale] = *take(&mut input, 2) else { break };
                let value = f64::from_bits(u64::from(value) << 55 | u64::from(scale) << 48);
                match argument % 6 {
                    5 => arm.inputs.gripper_stop = Some(value),
                    joint => arm.inputs.load[usize::from(joint)] = value,
                }
            }
            4 => match argument % 4 {
                0 => arm.reset(None),
                1 => arm.reset(Some(usize::from(argument) % 7)),
                2 => arm.silence(Some(usize::from(argument) % 7), Duration::from_millis(50)),
                _ => arm.set_temperature(usize::from(argument) % 7, f64::from(argument) * 5.0),
            },
            5 => {
                is_clean = false;
                arm.garbage(usize::from(argument) * 8);
            }
            6 => {
                is_clean = false;
                arm.corrupt(0.5);
            }
            _ => arm.inputs.gripper_stop = None,
        }
        check(&mut arm, is_clean);
    }
});

//! Drives a group with random events: frames, bus faults, elapsed time, user requests. Checks: no panic, finite
//! set-points, no more frames than drives can be sent, time that never goes back.
//!
//! Each event is a kind byte, two argument bytes, a length byte and that many data bytes, eight at most.

#![no_main]

use std::time::Duration;

use dragoman_arm::driver::{AxisConfig, DriveKind, Group, GroupConfig};
use dragoman_io::can::{BusFault, Frame, Received};
use libfuzzer_sys::fuzz_target;

const FAULTS: [BusFault; 6] =
    [BusFault::Passive, BusFault::BusOff, BusFault::Active, BusFault::Down, BusFault::Up, BusFault::Overrun];

fuzz_target!(|input: &[u8]| {
    let cia402 = AxisConfig { kind: DriveKind::Cia402, ..AxisConfig::whistle(2, 1000.0, 0.0) };
    let axes = vec![AxisConfig::whistle(1, -1000.0, 1.0), cia402, AxisConfig::suppressed(0.5)];
    let mut now = Duration::ZERO;
    let mut group = Group::new(now, GroupConfig { axes, ..GroupConfig::default() }).expect("a valid group");
    let mut rest = input;
    while let [what, low, high, length, data @ ..] = rest {
        let (data, after) = data.split_at(data.len().min(usize::from(*length % 9)));
        rest = after;
        let argument = u16::from_le_bytes([*low, *high]);
        let position = f64::from(argument) / 1000.0;
        match what % 8 {
            0 | 1 => {
                // Every other frame comes from one of our drives.
                let id =
                    if what % 2 == 0 { argument & 0x7ff } else { (argument & 0x780) | 1 + (argument & 1) };
                let frame = Frame::standard(id, data).expect("11 bits and eight bytes");
                group.handle_received(now, &Received::Frame(frame));
            }
            2 => group
                .handle_received(now, &Received::Fault(FAULTS[usize::from(argument) % FAULTS.len()].clone())),
            3 => now += Duration::from_micros(u64::from(argument)),
            4 => drop(group.enable()),
            5 => {
                let sent = (argument % 4 > 0).then(|| now + Duration::from_micros(u64::from(argument)));
                drop(group.command(now, sent, &[position; 3]));
            }
            6 => drop(group.command_joint(now, usize::from(*low % 4), position)),
            _ => match argument % 5 {
                0 => group.disable(now),
                1 => group.halt(),
                2 => drop(group.recover()),
                3 => drop(group.relax(usize::from(*length % 4))),
                _ => drop(group.recalibrate(&[position; 3])),
            },
        }
        group.handle_timeout(now);
        let mut frames = 0;
        while group.poll_transmit().is_some() {
            group.handle_sent();
            frames += 1;
        }
        assert!(frames < 1000, "{frames} frames at once");
        assert!(group.reference().setpoint().iter().all(|setpoint| setpoint.is_finite()));
        assert!(group.positions().all(f64::is_finite));
        while group.poll_event().is_some() {}
    }
});

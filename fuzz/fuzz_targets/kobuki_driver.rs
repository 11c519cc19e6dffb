//! Drives a Kobuki's driver with random events: bytes of the line, frames with random sensor values, time, commands,
//! connections. Checks: no panic, finite poses, a standstill command after the timeout.
//!
//! Each event is a kind byte, an argument byte, and its data.

#![no_main]

use std::time::Duration;

use dragoman_base::kobuki::driver::{Config, Driver, Led, LedColor};
use dragoman_base::kobuki::wire::{CoreSensors, SoundSequence, frame};
use dragoman_geometry::limits::{AxisLimits, Limits};
use dragoman_geometry::{Pose, Twist};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let limits = Limits {
        linear: AxisLimits { acceleration: Some(0.3), deceleration: Some(0.36), ..Limits::KOBUKI.linear },
        angular: AxisLimits { acceleration: Some(3.5), deceleration: Some(4.2), ..Limits::KOBUKI.angular },
    };
    let config = Config { limits, motors_off_on_wheel_drop: true, ..Config::default() };
    let mut driver = Driver::new(config).expect("valid options");
    let mut now = Duration::ZERO;
    driver.handle_connected(now);
    let mut rest = input;
    while let [what, argument, data @ ..] = rest {
        rest = data;
        let value = f64::from(*argument) / 100.0 - 1.0;
        match what % 12 {
            0 => {
                let (mut bytes, after) = data.split_at(data.len().min(usize::from(*argument)));
                rest = after;
                while driver.handle_bytes(now, &mut bytes) {}
            }
            1 | 2 => {
                let Some((sensors, after)) = data.split_first_chunk::<15>() else { break };
                rest = after;
                let mut bytes = Vec::new();
                let core = CoreSensors::decode(sensors).expect("15 bytes");
                frame::encode(&mut bytes, |out| core.encode(out)).expect("short");
                let mut bytes = &bytes[..];
                while driver.handle_bytes(now, &mut bytes) {}
            }
            3 => now += Duration::from_millis(u64::from(*argument)),
            4 => now = Duration::from_secs(u64::from(*argument)),
            5 => drop(driver.command(now, Twist::new(value, -value)).map(<[u8]>::len)),
            6 => driver.handle_connected(now),
            7 => driver.handle_disconnected(now),
            8 => drop(driver.set_motor_power(argument % 2 == 0)),
            9 => driver.set_led(Led::One, LedColor::from_number(argument % 4).expect("four")),
            10 => drop(driver.set_odometry(Pose::new(value, 0.0, value))),
            _ => drop(SoundSequence::from_number(*argument).map(|sequence| driver.play_sequence(sequence))),
        }
        driver.handle_timeout(now);
        driver.poll_transmit();
        while driver.poll_event().is_some() {}
        let state = driver.state();
        assert!(state.pose.is_finite() && state.twist.is_finite());
    }
    driver.handle_timeout(now + Duration::from_secs(1));
    assert!(driver.state().standstill.is_some());
});

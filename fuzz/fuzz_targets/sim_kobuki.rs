//! Any bytes, times and inputs for a simulated Kobuki.
//!
//! Input: a sequence of steps, one operation byte each (low three bits: kind; the others: variant or duration),
//! followed by its data. Checked: no panic, the codec decodes all packets, their number is bounded, wheels keep to the
//! limits, the watchdog stops them in any case, encoders agree with the wheels.

#![no_main]

use std::time::Duration;

use dragoman_base::kobuki::wire::{BaseControl, Command, Decoder, Feedback, frame};
use dragoman_base::odometry::WheelGeometry;
use dragoman_geometry::Twist;
use dragoman_sim::kobuki::{Inputs, MAX_SPEED, MAX_TURN_RATE, Noise, WATCHDOG, Wheels};
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::{Kobuki, KobukiSettings};
use libfuzzer_sys::fuzz_target;

/// More than the maximum number of waiting packets.
const MANY: usize = 20;

fn take<'a>(input: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (head, tail) = input.split_at(len.min(input.len()));
    *input = tail;
    head
}

struct Fixture {
    kobuki: Kobuki,
    now: Duration,
    decoder: Decoder,
    /// Whether all bytes on the line are from the simulated Kobuki.
    is_clean: bool,
    ticks: Wheels<u16>,
    booted: Duration,
    zero: Wheels<f64>,
}

impl Fixture {
    fn run_for(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now = self.kobuki.poll_timeout().min(end);
            if self.now > self.booted && self.zero.left.is_nan() {
                self.kobuki.handle_timeout(self.booted);
                self.zero = self.kobuki.wheel_angles();
            }
            self.kobuki.handle_timeout(self.now);
            self.check();
        }
    }

    fn check(&mut self) {
        let sent: Vec<_> = std::iter::from_fn(|| self.kobuki.poll_transmit()).collect();
        assert!(sent.len() < MANY, "{} packets at once", sent.len());
        assert!(std::iter::from_fn(|| self.kobuki.poll_event()).count() <= 256);
        for packet in &sent {
            let mut bytes = packet.as_slice();
            while let Some(payload) = self.decoder.next(&mut bytes) {
                for part in Feedback::read(payload) {
                    assert!(part.is_ok() || !self.is_clean, "{part:?}");
                    if let (Ok(Feedback::Core(core)), true) = (part, self.is_clean) {
                        self.ticks =
                            Wheels { left: core.left_encoder_ticks, right: core.right_encoder_ticks };
                    }
                }
            }
        }
        let WheelGeometry { separation, radius, .. } = WheelGeometry::KOBUKI;
        let limit = (MAX_SPEED + MAX_TURN_RATE * separation / 2.0) / radius * 1.000_001;
        let rates = self.kobuki.wheel_rates();
        assert!(rates.left.abs() <= limit && rates.right.abs() <= limit, "{rates:?}");
        let pose = self.kobuki.pose();
        assert!(pose.x.is_finite() && pose.y.is_finite() && pose.heading.is_finite());
        assert!((11.0..17.0).contains(&self.kobuki.battery_volts()));
    }

    fn send(&mut self, payload: &[u8]) {
        let mut bytes = Vec::new();
        if frame::encode(&mut bytes, |place| place.extend_from_slice(payload)).is_ok() {
            self.kobuki.handle_bytes(self.now, &bytes);
        }
    }

    fn reset(&mut self) {
        self.kobuki.reset();
        self.booted = self.now + KobukiSettings::default().boot_time;
        self.zero.left = f64::NAN;
    }
}

fuzz_target!(|input: &[u8]| {
    let mut input = input;
    let kobuki = Kobuki::new(KobukiSettings { noise: Noise::Typical, ..KobukiSettings::default() });
    let mut fixture = Fixture {
        kobuki,
        now: Duration::ZERO,
        decoder: Decoder::new(),
        is_clean: true,
        ticks: Wheels { left: 0, right: 0 },
        booted: KobukiSettings::default().boot_time,
        zero: Wheels { left: f64::NAN, right: 0.0 },
    };
    fixture.run_for(Duration::from_millis(220));
    while let [operation, ..] = *input {
        take(&mut input, 1);
        let argument = operation >> 3;
        match operation & 7 {
            0 => fixture.kobuki.handle_bytes(fixture.now, take(&mut input, usize::from(argument))),
            1 => fixture.send(take(&mut input, usize::from(argument))),
            2 => {
                let [speed_low, speed, radius_low, radius] = *take(&mut input, 4) else { break };
                let control = BaseControl {
                    speed_mm_per_s: i16::from_le_bytes([speed_low, speed]),
                    radius_mm: i16::from_le_bytes([radius_low, radius]),
                };
                let mut bytes = Vec::new();
                Command::BaseControl(control).encode_frame(&mut bytes);
                fixture.kobuki.handle_bytes(fixture.now, &bytes);
                fixture.run_for(Duration::from_millis(u64::from(argument) * 8));
            }
            3 | 4 => fixture.run_for(Duration::from_millis(1 << (argument % 10))),
            5 => {
                let inputs = &mut fixture.kobuki.inputs;
                inputs.stalled = Wheels { left: argument & 1 != 0, right: argument & 2 != 0 };
                inputs.wheel_drops.left = argument & 4 != 0;
                inputs.bumpers.center = argument & 8 != 0;
            }
            6 => {
                let [a, b, ..] = *take(&mut input, 16) else { break };
                let value = |byte: u8| f64::from_bits(u64::from(byte) << 55 | u64::from(argument) << 50);
                fixture.kobuki.inputs.motion = Some(Twist::new(value(a), value(b)));
            }
            _ => match argument & 7 {
                0 => fixture.reset(),
                1 => fixture.kobuki.silence(Duration::from_millis(100)),
                2 => {
                    fixture.is_clean = false;
                    fixture.kobuki.garbage(usize::from(argument) * 8);
                }
                3 => {
                    fixture.is_clean = false;
                    fixture.kobuki.corrupt(0.5);
                }
                4 => fixture.kobuki.set_battery(f64::from(argument)),
                5 => fixture.kobuki.inputs.motion = None,
                _ => fixture.kobuki.inputs = Inputs::default(),
            },
        }
        fixture.check();
    }
    fixture.kobuki.inputs = Inputs::default();
    fixture.run_for(WATCHDOG + Duration::from_millis(1200));
    assert_eq!(fixture.kobuki.wheel_rates(), Wheels { left: 0.0, right: 0.0 });
    fixture.run_for(Duration::from_millis(200));
    if fixture.is_clean {
        let angles = fixture.kobuki.wheel_angles();
        let ticks = |angle: f64, zero: f64| {
            let WheelGeometry { radius, ticks_per_metre, .. } = WheelGeometry::KOBUKI;
            ((angle - zero) * (ticks_per_metre * radius)).floor() as i64 as u16
        };
        assert_eq!(fixture.ticks.left, ticks(angles.left, fixture.zero.left));
        assert_eq!(fixture.ticks.right, ticks(angles.right, fixture.zero.right));
    }
});

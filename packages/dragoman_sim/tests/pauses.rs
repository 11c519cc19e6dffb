//! A square with a simulated Kobuki while the processes of the driver and of the base are suspended at random, as on
//! a busy machine, on virtual time. The line between them is a pseudo-terminal as that of `dragoman device kobuki`: it
//! holds 4095 bytes, and if they are not read, all of them are lost for the next packet.

use std::f64::consts::FRAC_PI_2;
use std::time::Duration;

use dragoman_base::kobuki::driver::{Config, Driver, KobukiState};
use dragoman_geometry::{Twist, wrap_angle};
use dragoman_sim::kobuki::Noise;
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::{Kobuki, KobukiSettings};
use oorandom::Rand64;

const TERMINAL: usize = 4095;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// A process that runs for `runs` on average, and then is suspended for up to `pauses`.
struct Process {
    runs: f64,
    pauses: f64,
    is_suspended: bool,
    until: Duration,
}

impl Process {
    fn new(runs: f64, pauses: f64) -> Self {
        Self { runs, pauses, is_suspended: false, until: ms(1000) }
    }

    fn is_suspended(&mut self, now: Duration, random: &mut Rand64) -> bool {
        if now < ms(1000) || self.pauses == 0.0 {
            return false;
        }
        if now >= self.until {
            self.is_suspended = !self.is_suspended;
            let most = if self.is_suspended { self.pauses } else { 2.0 * self.runs };
            self.until = now + Duration::from_secs_f64(most * random.rand_float());
        }
        self.is_suspended
    }
}

struct Lab {
    driver: Driver,
    kobuki: Kobuki,
    now: Duration,
    random: Rand64,
    host: Process,
    device: Process,
    to_host: Vec<u8>,
    to_device: Vec<u8>,
    /// How often the terminal was full.
    flushed: usize,
}

impl Lab {
    fn new(seed: u64, host: Process, device: Process) -> Self {
        let config = Config { feedback_timeout: ms(1000), ..Config::default() };
        let mut driver = Driver::new(config).unwrap();
        driver.handle_connected(Duration::ZERO);
        Self {
            driver,
            kobuki: Kobuki::new(KobukiSettings { noise: Noise::None, ..KobukiSettings::default() }),
            now: Duration::ZERO,
            random: Rand64::new(seed.into()),
            host,
            device,
            to_host: Vec::new(),
            to_device: Vec::new(),
            flushed: 0,
        }
    }

    fn step(&mut self) {
        self.now += ms(1);
        if !self.device.is_suspended(self.now, &mut self.random) {
            self.kobuki.handle_timeout(self.now);
            self.kobuki.handle_bytes(self.now, &std::mem::take(&mut self.to_device));
            while let Some(packet) = self.kobuki.poll_transmit() {
                if self.to_host.len() + packet.len() > TERMINAL {
                    self.to_host.clear();
                    self.flushed += 1;
                }
                self.to_host.extend(packet);
            }
        }
        if !self.host.is_suspended(self.now, &mut self.random) {
            let bytes = std::mem::take(&mut self.to_host);
            let mut rest = bytes.as_slice();
            while self.driver.handle_bytes(self.now, &mut rest) {}
            self.driver.handle_timeout(self.now);
            self.to_device.extend(self.driver.poll_transmit());
        }
    }

    /// Drives by its odometry until `error` is below 2 mm or mrad. The base takes whole mm/s: 4 mrad/s would be none.
    fn approach(&mut self, error: impl Fn([f64; 3]) -> f64, twist: impl Fn(f64) -> Twist) {
        let end = self.now + Duration::from_secs(1200);
        loop {
            for _ in 0..20 {
                self.step();
            }
            if self.host.is_suspended {
                continue;
            }
            let pose = self.driver.state().pose;
            let error = error([pose.x, pose.y, pose.heading]);
            let is_there = error.abs() < 0.002;
            let twist = if is_there { Twist::ZERO } else { twist(3.0 * error) };
            if let Ok(bytes) = self.driver.command(self.now, twist) {
                self.to_device.extend(bytes);
            }
            if is_there {
                (0..300).for_each(|_| self.step());
                return;
            }
            assert!(self.now < end, "{error} is left");
        }
    }

    /// Drives the square; returns how far the odometry is from the true pose, m.
    fn square(&mut self) -> f64 {
        (0..500).for_each(|_| self.step());
        for side in 0..4 {
            let begin = self.driver.state().pose;
            let heading = wrap_angle(f64::from(side) * FRAC_PI_2);
            let left = move |[x, y, _]: [f64; 3]| {
                2.0 - ((x - begin.x) * heading.cos() + (y - begin.y) * heading.sin())
            };
            self.approach(left, |speed| Twist::new(speed.clamp(-0.5, 0.5), 0.0));
            let next = wrap_angle(heading + FRAC_PI_2);
            self.approach(
                |[_, _, now]| wrap_angle(next - now),
                |rate| Twist::new(0.0, rate.clamp(-2.0, 2.0)),
            );
        }
        (0..2000).for_each(|_| self.step());
        let (odometry, truth) = (self.driver.state().pose, self.kobuki.pose());
        (odometry.x - truth.x).hypot(odometry.y - truth.y)
    }
}

/// Drives squares; all must end where the base is, without a restart of the base being seen.
#[track_caller]
fn squares(host: f64, device: f64, lost: f64) {
    let mut flushed = 0;
    for seed in 0..10 {
        println!(
            "seed {seed}, pauses of the driver up to {host} s, of the base {device} s, {lost} of packets lost"
        );
        let mut lab = Lab::new(seed, Process::new(2.0, host), Process::new(2.0, device));
        lab.kobuki.corrupt(lost);
        let error = lab.square();
        let KobukiState { clock_jumps, encoder_jumps, .. } = lab.driver.state();
        assert_eq!((clock_jumps, encoder_jumps), (0, 0), "{error} m");
        // Two ticks, and a hundredth of a degree of heading over 3 m.
        assert!(error < 0.001, "{error} m");
        flushed += lab.flushed;
    }
    println!("{flushed} times the terminal was full");
    assert!(host < 1.0 || flushed > 0);
}

#[test]
fn pauses_of_the_driver_and_of_the_base_lose_no_distance() {
    squares(0.3, 0.3, 0.0);
    squares(1.0, 1.0, 0.0);
    squares(0.0, 3.0, 0.0);
}

/// What remains in the terminal is neither the next packet nor in time.
#[test]
fn pauses_in_which_the_terminal_overflows_lose_no_distance() {
    squares(1.3, 0.0, 0.0);
    squares(2.0, 0.0, 0.0);
    squares(3.0, 0.0, 0.0);
}

#[test]
fn lost_packets_lose_no_distance() {
    squares(0.0, 0.0, 0.3);
    squares(1.0, 1.0, 0.3);
}

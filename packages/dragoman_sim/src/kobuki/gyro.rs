//! The gyro, an L3G4200D, and the heading that the firmware computes from it.

use std::collections::VecDeque;

use oorandom::Rand64;

use crate::chassis::TICK_S;

/// Time between two samples, ms: nominally 100 Hz, a little faster, so that a packet has two or three.
const SAMPLE_TICKS: u64 = 9;
/// Degrees per second of a digit.
const DEGREES_PER_DIGIT: f64 = 0.00875;
/// Maximum number of samples kept for a packet.
const MAX_SAMPLES: usize = 8;

/// Noise of the gyro.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Noise {
    /// Exact measurements.
    None,
    /// Noise and bias on the raw samples only: the heading and its rate are exact, as in the simulator of the TurtleBot
    /// thesis (table 4.3).
    Raw,
    /// As the real gyro, also on the heading: 0.05 degrees/s of noise per sample, and a bias that depends on the seed
    /// (0.01 degrees/s, standard deviations).
    #[default]
    Typical,
}

const SAMPLE_DEVIATION: f64 = 0.05;
const BIAS_DEVIATION: f64 = 0.01;

#[derive(Debug, Clone)]
pub(super) struct Gyro {
    random: Rand64,
    noise: Noise,
    /// Bias about x, y, z of the robot, degrees/s.
    bias: [f64; 3],
    error: [f64; 3],
    /// True rate about z, degrees/s.
    rate: f64,
    /// Heading since the start, degrees.
    heading: f64,
    samples: VecDeque<[i16; 3]>,
    /// Sample counter.
    pub(super) frame: u8,
}

impl Gyro {
    pub(super) fn new(noise: Noise, seed: u64) -> Self {
        let mut random = Rand64::new(seed.into());
        let bias = [0; 3].map(|_| normal(&mut random) * BIAS_DEVIATION);
        let error = [0.0; 3];
        let mut gyro =
            Self { random, noise, bias, error, rate: 0.0, heading: 0.0, samples: VecDeque::new(), frame: 0 };
        gyro.set_noise(noise);
        gyro
    }

    pub(super) fn set_noise(&mut self, noise: Noise) {
        self.noise = noise;
        self.error = match noise {
            Noise::None => [0.0; 3],
            Noise::Raw | Noise::Typical => self.bias,
        };
    }

    /// Simulates one millisecond with a turn rate of `rate`, rad/s.
    pub(super) fn step(&mut self, tick: u64, rate: f64) {
        self.rate = rate.to_degrees();
        self.heading += (self.rate + self.heading_error()) * TICK_S;
        if tick.is_multiple_of(SAMPLE_TICKS) {
            if self.noise != Noise::None {
                self.error = self.bias.map(|bias| bias + normal(&mut self.random) * SAMPLE_DEVIATION);
            }
            let [x, y, z] = self.error;
            // The sensor is mounted rotated by a quarter turn.
            let digits = [y, -x, self.rate + z].map(|degrees| (degrees / DEGREES_PER_DIGIT).round() as i16);
            if self.samples.len() == MAX_SAMPLES {
                self.samples.pop_front();
            }
            self.samples.push_back(digits);
            self.frame = self.frame.wrapping_add(1);
        }
    }

    /// The samples since the last call, in the sensor's units.
    pub(super) fn take_samples(&mut self) -> Vec<[i16; 3]> {
        self.samples.drain(..).collect()
    }

    /// Heading since the start, in hundredths of a degree within half a turn to either side.
    pub(super) fn angle(&self) -> i16 {
        ((self.heading + 180.0).rem_euclid(360.0) * 100.0 - 18_000.0).round() as i16
    }

    /// Turn rate, hundredths of a degree per second.
    pub(super) fn angle_rate(&self) -> i16 {
        ((self.rate + self.heading_error()) * 100.0).round() as i16
    }

    /// Error of the turn rate that the firmware integrates to the heading, degrees/s.
    fn heading_error(&self) -> f64 {
        if self.noise == Noise::Typical { self.error[2] } else { 0.0 }
    }

    /// Restart of the firmware: the heading is reset to zero.
    pub(super) fn restart(&mut self) {
        self.heading = 0.0;
        self.frame = 0;
        self.samples.clear();
    }
}

/// A normally distributed value (Box and Muller).
fn normal(random: &mut Rand64) -> f64 {
    let (radius, angle) = (1.0 - random.rand_float(), random.rand_float() * std::f64::consts::TAU);
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}

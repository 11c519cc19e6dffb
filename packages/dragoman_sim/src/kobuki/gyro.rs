//! The gyro, an L3G4200D, and the heading that the firmware gets from it.

use std::collections::VecDeque;

use oorandom::Rand64;

use crate::chassis::TICK_S;

/// Milliseconds between two samples: nominally 100 Hz, a little faster, so that a packet has two or three.
const SAMPLE_TICKS: u64 = 9;
/// Degrees per second of a digit.
const DEGREES_PER_DIGIT: f64 = 0.00875;
/// Most samples that are kept for a packet.
const MAX_SAMPLES: usize = 8;

/// How exact the gyro is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Noise {
    /// It tells what is.
    None,
    /// Like the real one: 0.05 degrees/s of noise per sample, and a rate at rest that differs from one seed to the other
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
    /// Degrees per second about x, y, z of the machine.
    bias: [f64; 3],
    error: [f64; 3],
    /// About z, without error, degrees per second.
    rate: f64,
    /// Degrees since the start.
    heading: f64,
    samples: VecDeque<[i16; 3]>,
    /// Counts samples.
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
            Noise::Typical => self.bias,
        };
    }

    /// One millisecond in which the machine turned with `rate`, rad/s.
    pub(super) fn step(&mut self, tick: u64, rate: f64) {
        self.rate = rate.to_degrees();
        self.heading += (self.rate + self.error[2]) * TICK_S;
        if tick.is_multiple_of(SAMPLE_TICKS) {
            if self.noise == Noise::Typical {
                self.error = self.bias.map(|bias| bias + normal(&mut self.random) * SAMPLE_DEVIATION);
            }
            let [x, y, z] = self.error;
            // The sensor is mounted a quarter of a turn round.
            let digits = [y, -x, self.rate + z].map(|degrees| (degrees / DEGREES_PER_DIGIT).round() as i16);
            if self.samples.len() == MAX_SAMPLES {
                self.samples.pop_front();
            }
            self.samples.push_back(digits);
            self.frame = self.frame.wrapping_add(1);
        }
    }

    /// The samples since the last call, as the sensor gives them.
    pub(super) fn take_samples(&mut self) -> Vec<[i16; 3]> {
        self.samples.drain(..).collect()
    }

    /// Heading since the start, in hundredths of a degree within half a turn to either side.
    pub(super) fn angle(&self) -> i16 {
        ((self.heading + 180.0).rem_euclid(360.0) * 100.0 - 18_000.0).round() as i16
    }

    /// Hundredths of a degree per second.
    pub(super) fn angle_rate(&self) -> i16 {
        ((self.rate + self.error[2]) * 100.0).round() as i16
    }

    /// The firmware starts: its heading is zero.
    pub(super) fn restart(&mut self) {
        self.heading = 0.0;
        self.frame = 0;
        self.samples.clear();
    }
}

/// A value of the normal distribution (Box and Muller).
fn normal(random: &mut Rand64) -> f64 {
    let (radius, angle) = (1.0 - random.rand_float(), random.rand_float() * std::f64::consts::TAU);
    (-2.0 * radius.ln()).sqrt() * angle.cos()
}

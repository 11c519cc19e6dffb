//! The gyro's heading, relative to its first reading.

use dragoman_geometry::wrap_angle;

/// The gyro's heading, relative to its first reading or to the last reset of the odometry (protocols: Kobuki). It
/// continues across a lost connection or a restart of the base, which change the gyro's zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Heading {
    last: Option<f64>,
    heading: f64,
}

impl Heading {
    /// Takes a reading of the gyro, rad.
    pub(super) fn update(&mut self, reading: f64) {
        if let Some(last) = self.last.replace(reading) {
            self.heading = wrap_angle(self.heading + wrap_angle(reading - last));
        }
    }

    /// The next reading has another zero than the last.
    pub(super) fn interrupt(&mut self) {
        self.last = None;
    }

    /// Sets the present heading to 0.
    pub(super) fn reset(&mut self) {
        self.heading = 0.0;
    }

    /// The heading, rad, -pi to pi.
    pub(super) fn heading(&self) -> f64 {
        self.heading
    }
}

#[cfg(test)]
mod tests {
    use super::Heading;

    #[test]
    fn it_counts_from_the_first_reading_over_turns_resets_and_restarts() {
        let mut heading = Heading::default();
        let mut after = |readings: &[f64]| {
            readings.iter().for_each(|reading| heading.update(*reading));
            (heading.heading() * 1e6).round() / 1e6
        };
        assert_eq!(after(&[2.0]), 0.0);
        assert_eq!(after(&[2.5, 3.0]), 1.0);
        // Across half a turn, where the gyro wraps.
        assert_eq!(after(&[-3.083185]), 1.2);
        heading.interrupt();
        heading.update(0.0);
        heading.update(0.1);
        assert!((heading.heading() - 1.3).abs() < 1e-5);
        heading.reset();
        heading.update(-0.1);
        assert!((heading.heading() + 0.2).abs() < 1e-9);
    }
}

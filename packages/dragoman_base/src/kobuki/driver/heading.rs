//! The gyro's heading, relative to its first reading.

use dragoman_geometry::wrap_angle;

/// The gyro's heading, relative to its first reading or to where the odometry was reset (protocols: Kobuki). It goes on where a
/// lost connection or a restart of the base has moved the gyro's zero.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Heading {
    last: Option<f64>,
    heading: f64,
}

impl Heading {
    /// The gyro reads this, rad.
    pub(super) fn update(&mut self, reading: f64) {
        if let Some(last) = self.last.replace(reading) {
            self.heading = wrap_angle(self.heading + wrap_angle(reading - last));
        }
    }

    /// The next reading has nothing to do with the last.
    pub(super) fn interrupt(&mut self) {
        self.last = None;
    }

    /// Counts from here.
    pub(super) fn reset(&mut self) {
        self.heading = 0.0;
    }

    /// rad, -pi to pi.
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
        // Over half a turn, where the gyro begins anew.
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

//! The protocol's units as those of ROS, and back.
//!
//! What is asked for is refused where the protocol has no number for it; what is told is brought to the nearest number there is, and a
//! value that is not finite to 0.

use crate::neobotix::call::Inexpressible;

/// A thousandth: of a metre, a radian or a second.
pub(super) const MILLI: f64 = 1e-3;

/// Thousandths of a degree as radians.
pub(super) fn from_mdeg(angle_mdeg: i32) -> f64 {
    (f64::from(angle_mdeg) * MILLI).to_radians()
}

/// Whole numbers of `unit`.
pub(super) fn asked(field: &'static str, value: f64, unit: f64) -> Result<i32, Inexpressible> {
    let count = (value / unit).round();
    // The bounds are exact as doubles.
    if (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&count) {
        Ok(count as i32)
    } else {
        Err(Inexpressible { field, value })
    }
}

/// Thousandths of a degree.
pub(super) fn asked_mdeg(field: &'static str, angle: f64) -> Result<i32, Inexpressible> {
    asked(field, angle.to_degrees(), MILLI)
}

/// The nearest whole number of `unit`; 0 for what is none.
pub(super) fn told(value: f64, unit: f64) -> i32 {
    (value / unit).round() as i32
}

/// Thousandths of a degree.
pub(super) fn told_mdeg(angle: f64) -> i32 {
    told(angle.to_degrees(), MILLI)
}

/// The first elements; what is missing has its default.
pub(super) fn first<T: Copy + Default, const COUNT: usize>(values: &[T]) -> [T; COUNT] {
    let mut all = [T::default(); COUNT];
    all.iter_mut().zip(values).for_each(|(place, value)| *place = *value);
    all
}

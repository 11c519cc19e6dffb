//! The protocol's units as those of ROS, and back.
//!
//! Requests are refused if the protocol cannot represent a value; published values are clamped to the protocol's range,
//! and values that are not finite become 0.

use crate::neobotix::call::OutOfRange;

/// Unit of lengths (m), angles (rad) and times (s).
pub(super) const MILLI: f64 = 1e-3;

/// Converts thousandths of a degree to radians.
pub(super) fn from_mdeg(angle_mdeg: i32) -> f64 {
    (f64::from(angle_mdeg) * MILLI).to_radians()
}

/// Whole number of `unit` for a request.
pub(super) fn asked(field: &'static str, value: f64, unit: f64) -> Result<i32, OutOfRange> {
    let count = (value / unit).round();
    // The bounds are exact as doubles.
    if (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&count) {
        Ok(count as i32)
    } else {
        Err(OutOfRange { field, value })
    }
}

/// Thousandths of a degree for a request.
pub(super) fn asked_mdeg(field: &'static str, angle: f64) -> Result<i32, OutOfRange> {
    asked(field, angle.to_degrees(), MILLI)
}

/// The nearest whole number of `unit` for a reply; 0 for NaN.
pub(super) fn rounded(value: f64, unit: f64) -> i32 {
    (value / unit).round() as i32
}

/// Thousandths of a degree for a reply.
pub(super) fn rounded_mdeg(angle: f64) -> i32 {
    rounded(angle.to_degrees(), MILLI)
}

/// The first elements, padded with the default.
pub(super) fn first<T: Copy + Default, const COUNT: usize>(values: &[T]) -> [T; COUNT] {
    let mut all = [T::default(); COUNT];
    all.iter_mut().zip(values).for_each(|(place, value)| *place = *value);
    all
}

//! Limits of worlds, whether they come from a file or from requests.

/// Maximum coordinate and size, m.
pub(crate) const MAX_SIZE: f64 = 1e4;
/// Minimum size of a shape, m.
pub(crate) const MIN_SIZE: f64 = 1e-4;
/// Maximum angle, rad; larger ones have no accuracy left.
pub(crate) const MAX_ANGLE: f64 = 1e5;
/// Maximum number of corners of a polygon.
pub(crate) const MAX_CORNERS: usize = 500;

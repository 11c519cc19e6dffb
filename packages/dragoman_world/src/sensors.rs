//! Models of sensors, independent of a world.

pub(crate) mod camera;
pub(crate) mod range;

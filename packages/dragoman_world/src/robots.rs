//! Models of robots, independent of a world.

pub(crate) mod arm;
pub(crate) mod wheeled;

//! Worlds from files: YAML, and shapes and arms from URDF.
//!
//! | file | holds |
//! | --- | --- |
//! | [`import`] | worlds of the simulator Apolo as YAML |
//! | `build.rs` | worlds from a world file |
//! | `urdf.rs` | shapes and arms from URDF |
//! | `format.rs` | the world file: its fields |

pub(crate) mod build;
mod format;
pub mod import;
mod urdf;

/// Finds a file used by a world file: a description or a mesh. The error is the reason why it was not found.
pub type Files<'a> = &'a dyn Fn(&str) -> Result<Vec<u8>, String>;

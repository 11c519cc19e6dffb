//! Shapes, and the place of all solids.
//!
//! | file | holds |
//! | --- | --- |
//! | `scene.rs` | all solids, with a tree of bounding boxes |
//! | `shapes.rs` | shapes as solids of parry3d; only this file converts to it |
//! | `mesh.rs`, `polygon.rs` | triangle meshes from STL and OBJ files; polygons |

mod mesh;
pub(crate) mod polygon;
pub(crate) mod scene;
mod shapes;

pub use mesh::Mesh;
pub use shapes::{Geometry, pose};
pub(crate) use shapes::{Pose, Solid, Vector, to_parry, vector};

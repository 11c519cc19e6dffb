//! Cameras for depth and colour: their views at one time, and images of the views.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | `Camera`: a camera of a world |
//! | `view.rs` | [`View`]: a copy of a camera's view, independent of the world; its images |
//! | `raster.rs` | triangles as pixels |
//! | `surface.rs` | shapes as triangles |
//! | `figures.rs` | [`CameraFigures`] |

mod figures;
mod raster;
mod surface;
mod view;

pub use figures::CameraFigures;
pub(crate) use figures::optical_frame;
pub(crate) use surface::Surface;
pub(crate) use view::Seen;
pub use view::{ColorImage, DepthImage, View};

use nalgebra::Vector3;

use super::range::{Mount, Publication};
use crate::noise::Noise;

/// A camera of a world: a depth camera, and a colour camera with the same orientation.
pub(crate) struct Camera {
    pub(crate) name: String,
    /// Pose of the depth camera: x ahead, y left, z up.
    pub(crate) mount: Mount,
    /// Position of the colour camera in that frame.
    pub(crate) color_offset: Vector3<f64>,
    pub(crate) figures: CameraFigures,
    /// Standard deviation at a depth of 1 m, m; it grows with the square of the depth.
    pub(crate) deviation: f64,
    pub(crate) noise: Noise,
    pub(crate) sees_carrier: bool,
    pub(crate) publication: Publication,
}

//! Cameras for depth and colour: their poses, views at one time, and images of the views.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`CameraFigures`], and the views of a world's cameras |
//! | `view.rs` | [`View`]: a copy of a camera's view, independent of the world; its images |
//! | `surface.rs` | shapes as triangles |
//! | `raster.rs` | triangles as pixels |

mod raster;
mod surface;
mod view;

pub(crate) use surface::Surface;
pub use view::{ColorImage, DepthImage, View};

use std::sync::Arc;

use nalgebra::{Isometry3, UnitQuaternion, Vector3};

use super::WorldError;
use super::noise::Noise;
use super::sensor::{Mount, Publication};
use super::state::{Named, World, wrong_kind};
use view::Seen;

/// Parameters of a camera. Angles in rad, ranges in m along the optical axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CameraFigures {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// From the left edge of the picture to the right.
    pub horizontal_angle: f64,
    /// From the upper edge of the picture to the lower.
    pub vertical_angle: f64,
    /// Minimum measured depth.
    pub min_range: f64,
    /// Maximum measured depth.
    pub max_range: f64,
}

impl CameraFigures {
    /// Microsoft Kinect: 640 x 480 pixels, 57 x 43 degrees, 0.4 to 4.5 m (TurtleBot thesis, 2.1).
    pub const KINECT: Self = Self {
        width: 640,
        height: 480,
        horizontal_angle: 57.0 * std::f64::consts::PI / 180.0,
        vertical_angle: 43.0 * std::f64::consts::PI / 180.0,
        min_range: 0.4,
        max_range: 4.5,
    };
    /// Position of the Kinect's colour camera in the frame of its depth camera (x ahead, y left), m.
    pub(crate) const KINECT_COLOR_OFFSET: [f64; 3] = [0.0, -0.025, 0.0];

    /// Focal lengths along a row and a column, pixels.
    pub fn focal_lengths(&self) -> [f64; 2] {
        let length = |pixels: usize, angle: f64| pixels as f64 / 2.0 / (angle / 2.0).tan();
        [length(self.width, self.horizontal_angle), length(self.height, self.vertical_angle)]
    }

    /// Grey value of a depth in m, near is bright (TurtleBot thesis, 5.3): 255 at the minimum range, 0 at the maximum
    /// and where nothing was measured. The thesis does not give the limits; these are the Kinect's range.
    pub fn grey(&self, depth: f32) -> u8 {
        let share = (self.max_range - f64::from(depth)) / (self.max_range - self.min_range);
        // NaN becomes 0.
        (255.0 * share.clamp(0.0, 1.0)).round() as u8
    }

    /// Where the optical axis meets the image, pixels; the centre of the first pixel is (0, 0).
    pub fn principal_point(&self) -> [f64; 2] {
        [self.width, self.height].map(|pixels| (pixels as f64 - 1.0) / 2.0)
    }
}

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

impl World {
    /// Names of the cameras.
    pub fn cameras(&self) -> impl Iterator<Item = &str> {
        self.cameras.iter().map(|camera| camera.name.as_str())
    }

    /// The parameters of a camera.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn camera_figures(&self, name: &str) -> Result<CameraFigures, WorldError> {
        self.camera(name).map(|(_, camera)| camera.figures)
    }

    /// Position of the colour camera in the frame of the depth camera (x ahead, y left, z up), m.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn color_offset(&self, name: &str) -> Result<[f64; 3], WorldError> {
        self.camera(name).map(|(_, camera)| camera.color_offset.into())
    }

    /// Updates `view` with a camera's current view, as [`super::Worlds::view`], reusing its memory.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn look(&mut self, name: &str, view: &mut View) -> Result<(), WorldError> {
        let (at, camera) = self.camera(name)?;
        // Of the optical frame: x right, y down, z ahead.
        let pose = self.mounted(&camera.mount) * optical_frame();
        let to_camera = pose.inverse();
        let carrier = camera.mount.object.filter(|_| !camera.sees_carrier);
        let unseen = carrier.and_then(|at| self.objects.get(at)).map_or(0..0, |object| object.parts.clone());
        view.begin(camera.figures, optical_frame().inverse() * camera.color_offset, to_camera.rotation);
        let parts = self.parts.iter().zip(&self.surfaces).enumerate();
        for (_, (part, surfaces)) in parts.filter(|(at, _)| !unseen.contains(at)) {
            let to_camera = to_camera * part.pose;
            view.extend(part.shapes.iter().zip(surfaces).map(|(shape, surface)| Seen {
                surface: Arc::clone(surface),
                to_camera: to_camera * shape.pose,
                color: shape.color,
            }));
        }
        if let Some(camera) = self.cameras.get_mut(at).filter(|camera| camera.deviation > 0.0) {
            view.set_noise(camera.deviation, camera.noise.clone());
            // The next view has different noise.
            camera.noise.skip();
        }
        Ok(())
    }

    fn camera(&self, name: &str) -> Result<(usize, &Camera), WorldError> {
        match self.named(name)? {
            Named::Camera(at) => self.cameras.get(at).map(|camera| (at, camera)),
            _ => None,
        }
        .ok_or_else(|| wrong_kind(name, "a camera"))
    }

    /// Triangulates all shapes, if there is a camera.
    pub(crate) fn cover(&mut self) {
        let surfaces = |part: &super::Part| {
            part.shapes.iter().map(|shape| Arc::new(Surface::new(&shape.geometry))).collect()
        };
        if !self.cameras.is_empty() {
            self.surfaces = self.parts.iter().map(surfaces).collect();
        }
    }
}

/// The optical frame in the camera's frame (REP 103): x right, y down, z ahead.
pub(crate) fn optical_frame() -> Isometry3<f64> {
    let turn = -std::f64::consts::FRAC_PI_2;
    let rotation = UnitQuaternion::from_euler_angles(turn, 0.0, turn);
    Isometry3::from_parts(nalgebra::Translation3::identity(), rotation)
}

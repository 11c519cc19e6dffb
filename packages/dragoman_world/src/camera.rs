//! Cameras that measure depth and colour: where they are, what they see at one moment, and pictures of that.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`CameraFigures`], and what a world's cameras see |
//! | `view.rs` | [`View`]: what a camera sees, apart from the world; its pictures |
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

/// The figures of a camera. Angles in rad, ranges in m along the optical axis.
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
    /// Least depth that is measured.
    pub min_range: f64,
    /// Greatest depth that is measured.
    pub max_range: f64,
}

impl CameraFigures {
    /// Microsoft Kinect: 640 x 480 pixels, 57 x 43 degrees, 0.4 to 4.5 m (seed 003, section 2.1).
    pub const KINECT: Self = Self {
        width: 640,
        height: 480,
        horizontal_angle: 57.0 * std::f64::consts::PI / 180.0,
        vertical_angle: 43.0 * std::f64::consts::PI / 180.0,
        min_range: 0.4,
        max_range: 4.5,
    };
    /// Where the Kinect's colour camera is from the one for depth, in the latter's frame (x ahead, y left), m.
    pub(crate) const KINECT_COLOR_OFFSET: [f64; 3] = [0.0, -0.025, 0.0];

    /// Focal lengths along a row and a column, pixels.
    pub fn focal_lengths(&self) -> [f64; 2] {
        let length = |pixels: usize, angle: f64| pixels as f64 / 2.0 / (angle / 2.0).tan();
        [length(self.width, self.horizontal_angle), length(self.height, self.vertical_angle)]
    }

    /// Where the optical axis meets the picture, pixels; the middle of the first pixel is (0, 0).
    pub fn principal_point(&self) -> [f64; 2] {
        [self.width, self.height].map(|pixels| (pixels as f64 - 1.0) / 2.0)
    }
}

/// A camera of a world: one for depth, and one for colour that looks the same way.
pub(crate) struct Camera {
    pub(crate) name: String,
    /// Of the camera for depth: x ahead, y left, z up.
    pub(crate) mount: Mount,
    /// Where the camera for colour is, in that frame.
    pub(crate) color_offset: Vector3<f64>,
    pub(crate) figures: CameraFigures,
    /// Standard deviation of a depth of 1 m, m; it grows with the square of the depth.
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

    /// The figures of a camera.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn camera_figures(&self, name: &str) -> Result<CameraFigures, WorldError> {
        self.camera(name).map(|(_, camera)| camera.figures)
    }

    /// Where a camera's camera for colour is, in the frame of that for depth (x ahead, y left, z up), m.
    ///
    /// # Errors
    /// Unknown names, another kind of object.
    pub fn color_offset(&self, name: &str) -> Result<[f64; 3], WorldError> {
        self.camera(name).map(|(_, camera)| camera.color_offset.into())
    }

    /// Notes in `view` what a camera sees now, as [`super::Worlds::view`] does, in the memory that `view` has already.
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
            // The next view has other noise.
            camera.noise.skip();
        }
        Ok(())
    }

    fn camera(&self, name: &str) -> Result<(usize, &Camera), WorldError> {
        match self.named(name)? {
            Named::Camera(at) => self.cameras.get(at).map(|camera| (at, camera)),
            _ => None,
        }
        .ok_or_else(|| wrong_kind(name, "camera"))
    }

    /// Makes triangles of all shapes, where there is a camera.
    pub(crate) fn cover(&mut self) {
        let surfaces = |part: &super::Part| {
            part.shapes.iter().map(|shape| Arc::new(Surface::new(&shape.geometry))).collect()
        };
        if !self.cameras.is_empty() {
            self.surfaces = self.parts.iter().map(surfaces).collect();
        }
    }
}

/// The optical frame in that of the camera (REP 103): x right, y down, z ahead.
pub(crate) fn optical_frame() -> Isometry3<f64> {
    let turn = -std::f64::consts::FRAC_PI_2;
    let rotation = UnitQuaternion::from_euler_angles(turn, 0.0, turn);
    Isometry3::from_parts(nalgebra::Translation3::identity(), rotation)
}

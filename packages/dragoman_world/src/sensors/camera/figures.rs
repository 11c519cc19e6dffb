//! Parameters of a camera, and its optical frame.

use nalgebra::{Isometry3, UnitQuaternion};

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

/// The optical frame in the camera's frame (REP 103): x right, y down, z ahead.
pub(crate) fn optical_frame() -> Isometry3<f64> {
    let turn = -std::f64::consts::FRAC_PI_2;
    let rotation = UnitQuaternion::from_euler_angles(turn, 0.0, turn);
    Isometry3::from_parts(nalgebra::Translation3::identity(), rotation)
}

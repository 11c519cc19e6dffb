//! Depth images: positions of their points, and the vision line of the TurtleBot thesis, 5.3.

/// Horizontal field of view of the Kinect, rad: 57 degrees (TurtleBot thesis, 2.1).
pub const HORIZONTAL_FIELD: f64 = 57.0 * std::f64::consts::PI / 180.0;
/// Vertical field of view of the Kinect, rad: 43 degrees.
const VERTICAL_FIELD: f64 = 43.0 * std::f64::consts::PI / 180.0;
/// Minimum range of the Kinect, m (TurtleBot thesis, 2.1).
pub const MIN_RANGE: f64 = 0.4;
/// Maximum range of the Kinect, m.
pub const MAX_RANGE: f64 = 4.5;

/// A depth image, or some rows of one.
#[derive(Debug, Clone, PartialEq)]
pub struct DepthImage {
    /// Pixels in a row.
    pub width: usize,
    /// Rows of the whole image.
    pub height: usize,
    /// The available rows with their numbers, 0 at the top; each of `width` distances along the optical axis, m, NaN or
    /// 0 if nothing was measured.
    pub rows: Vec<(usize, Vec<f32>)>,
}

/// Distance between the rows that a program uses.
const ROW_STEP: usize = 16;

/// The rows that a program uses of an image with this height, including the middle one.
pub fn sampled_rows(height: usize) -> impl Iterator<Item = usize> {
    (height / 2 % ROW_STEP..height).step_by(ROW_STEP)
}

/// Position of the camera on the robot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CameraMount {
    /// Ahead of the centre between the wheels, m.
    pub x: f64,
    /// To the left, m.
    pub y: f64,
    /// Above the floor, m.
    pub z: f64,
}

impl CameraMount {
    /// The Kinect's depth camera in `urdf/turtlebot2_widowx.urdf`.
    pub const KINECT: Self = Self { x: -0.0365, y: 0.0125, z: 0.316 };
}

/// A point in the robot's frame, m: x ahead, y left, z above the floor.
pub type Point = [f64; 3];

impl DepthImage {
    /// The middle row, or the available row next to it.
    pub fn vision_line(&self) -> Option<&[f32]> {
        let middle = self.height / 2;
        let nearest = self.rows.iter().min_by_key(|(row, _)| row.abs_diff(middle));
        nearest.map(|(_, line)| line.as_slice())
    }

    /// The points of every `step`-th column, from all available rows.
    pub fn columns(&self, mount: CameraMount, step: usize) -> impl Iterator<Item = Column> + '_ {
        let (centre_x, centre_y) = (self.width as f64 / 2.0, self.height as f64 / 2.0);
        // Focal lengths along a row and a column.
        let focal_x = centre_x / (HORIZONTAL_FIELD / 2.0).tan();
        let focal_y = centre_y / (VERTICAL_FIELD / 2.0).tan();
        (0..self.width).step_by(step.max(1)).map(move |column| {
            let across = (centre_x - (column as f64 + 0.5)) / focal_x;
            let points = self.rows.iter().filter_map(move |(row, line)| {
                let depth = f64::from(*line.get(column)?);
                // Written such that NaN is skipped.
                if !(MIN_RANGE..=MAX_RANGE).contains(&depth) {
                    return None;
                }
                let up = (centre_y - (*row as f64 + 0.5)) / focal_y;
                Some([mount.x + depth, mount.y + depth * across, mount.z + depth * up])
            });
            Column { bearing: across.atan(), points: points.collect() }
        })
    }
}

/// One column of a depth image.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its direction from the camera, rad, counterclockwise from straight ahead.
    pub bearing: f64,
    /// Its points, in the robot's frame.
    pub points: Vec<Point>,
}

/// Grey value of a depth in m, as in the thesis: 255 at the minimum range, 0 at the maximum and where nothing was
/// measured. The simulator's depth images are linear in the depth between its clipping planes; we use the Kinect's
/// range for them.
pub fn grey(depth: f64) -> f64 {
    if !depth.is_finite() || depth <= 0.0 {
        return 0.0;
    }
    255.0 * ((MAX_RANGE - depth) / (MAX_RANGE - MIN_RANGE)).clamp(0.0, 1.0)
}

/// The depth of a [grey] value, m; NaN for 0, where nothing was measured.
pub fn depth_of_grey(grey: u8) -> f64 {
    if grey == 0 { f64::NAN } else { MAX_RANGE - f64::from(grey) / 255.0 * (MAX_RANGE - MIN_RANGE) }
}

/// Angle of a column from straight ahead, rad, as the thesis estimates it: linear over the image.
pub fn column_angle(column: usize, width: usize) -> f64 {
    let half = width as f64 / 2.0;
    (half - (column as f64 + 0.5)) * HORIZONTAL_FIELD / 2.0 / half
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grey_is_255_near_and_0_far_or_unknown() {
        assert_eq!([grey(0.4), grey(0.2), grey(4.5), grey(9.0)], [255.0, 255.0, 0.0, 0.0]);
        assert_eq!([grey(f64::NAN), grey(0.0), grey(f64::INFINITY)], [0.0; 3]);
        // The threshold of the thesis, 120, is 2.57 m.
        assert!((grey(2.5706) - 120.0).abs() < 0.01);
    }

    #[test]
    fn a_wall_ahead_is_a_plane_of_points() {
        let rows = [100, 240, 400].map(|row| (row, vec![2.0_f32; 640]));
        let image = DepthImage { width: 640, height: 480, rows: rows.to_vec() };
        let mount = CameraMount { x: -0.1, y: 0.0, z: 0.3 };
        let columns: Vec<Column> = image.columns(mount, 639).collect();
        let [left, right] = columns.as_slice() else { panic!("{columns:?}") };
        assert!(
            (left.bearing - HORIZONTAL_FIELD / 2.0).abs() < 0.002
                && (left.bearing + right.bearing).abs() < 1e-12
        );
        for point in &left.points {
            assert!((point[0] - 1.9).abs() < 1e-6 && (point[1] - 2.0 * left.bearing.tan()).abs() < 1e-6);
        }
        let heights: Vec<f64> = left.points.iter().map(|point| point[2]).collect();
        assert!(heights[0] > 0.5 && (heights[1] - 0.3).abs() < 0.01 && heights[2] < 0.0, "{heights:?}");
    }

    #[test]
    fn unmeasured_pixels_give_no_points() {
        let line = vec![f32::NAN, 0.0, 0.3, 5.0, f32::INFINITY, 1.0];
        let image = DepthImage { width: 6, height: 1, rows: vec![(0, line)] };
        let mount = CameraMount { x: 0.0, y: 0.0, z: 0.3 };
        let counts: Vec<usize> = image.columns(mount, 1).map(|column| column.points.len()).collect();
        assert_eq!(counts, [0, 0, 0, 0, 0, 1]);
    }
}

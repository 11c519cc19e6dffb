//! Rasterization of triangles, with the inverse depth ("nearness") of each pixel, which is linear in the image.
//!
//! Frames are optical: x right, y down, z ahead. A pixel belongs to the triangle that contains its centre, and a pixel
//! on an edge to one of the two adjacent triangles, so surfaces have no holes.

use std::ops::Range;

use nalgebra::{Isometry3, Point3, Vector3};

use super::figures::CameraFigures;
use super::surface::Surface;

/// Minimum depth that is drawn, m.
const NEAR: f64 = 0.02;

/// Projection of directions to image positions; the first pixel reaches from 0 to 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lens {
    width: usize,
    height: usize,
    focal: [f64; 2],
    middle: [f64; 2],
    /// Surfaces completely beyond this are not drawn, m.
    far: f64,
}

/// A corner in the camera's frame, and its position in the image.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corner {
    place: Point3<f64>,
    /// Not set for corners that are too near.
    pixel: [f64; 2],
}

/// The target of drawing.
pub(super) trait Canvas {
    /// The next spans belong to a surface with this normal, of any length, towards the camera.
    fn face(&mut self, normal: &Vector3<f64>);
    /// Adjacent pixels, numbered over all rows: the first has this nearness, 1/m, each further one `step` more.
    fn span(&mut self, pixels: Range<usize>, first: f32, step: f32);
}

impl Lens {
    pub(super) fn new(figures: &CameraFigures, far: f64) -> Self {
        let middle = [figures.width, figures.height].map(|pixels| pixels as f64 / 2.0);
        Self { width: figures.width, height: figures.height, focal: figures.focal_lengths(), middle, far }
    }

    /// Draws a surface. `corners` is reused memory.
    pub(super) fn draw(
        &self,
        surface: &Surface,
        pose: &Isometry3<f64>,
        corners: &mut Vec<Corner>,
        canvas: &mut impl Canvas,
    ) {
        if self.misses(&(pose * surface.centre), surface.radius) {
            return;
        }
        let (turn, shift) = (pose.rotation.to_rotation_matrix(), pose.translation);
        corners.clear();
        corners.extend(surface.corners.iter().map(|corner| self.corner(shift * (turn * corner))));
        for triangle in &surface.triangles {
            if let [Some(a), Some(b), Some(c)] = triangle.map(|at| corners.get(at as usize)) {
                self.triangle([*a, *b, *c], surface.closed, canvas);
            }
        }
    }

    /// Whether a sphere is outside of the image.
    fn misses(&self, centre: &Point3<f64>, radius: f64) -> bool {
        let beside = |off: f64, focal: f64, middle: f64| {
            // Distance from the plane through the camera and the edge of the image.
            (focal * off.abs() - middle * centre.z) / focal.hypot(middle) > radius
        };
        centre.z + radius < NEAR
            || centre.z - radius > self.far
            || beside(centre.x, self.focal[0], self.middle[0])
            || beside(centre.y, self.focal[1], self.middle[1])
    }

    fn corner(&self, place: Point3<f64>) -> Corner {
        let along = |off: f64, focal: f64, middle: f64| focal * off / place.z + middle;
        let x = along(place.x, self.focal[0], self.middle[0]);
        let y = along(place.y, self.focal[1], self.middle[1]);
        Corner { place, pixel: [x, y] }
    }

    fn triangle(&self, corners: [Corner; 3], is_closed: bool, canvas: &mut impl Canvas) {
        let [a, b, c] = corners.map(|corner| corner.place);
        let normal = (b - a).cross(&(c - a));
        // Signed distance of the camera from the triangle's plane, times the normal's length; negative in front of it.
        let distance = normal.dot(&a.coords);
        if distance >= 0.0 && is_closed {
            return;
        }
        // A point of the plane in direction (x, y, 1) has nearness (normal . direction) / distance.
        let across = normal.x / (self.focal[0] * distance);
        let down = normal.y / (self.focal[1] * distance);
        let level = normal.z / distance - across * self.middle[0] - down * self.middle[1];
        if !(across + down + level).is_finite() {
            return;
        }
        let pixels = corners.map(|corner| corner.pixel);
        let plane = [level, across, down];
        if corners.iter().all(|corner| corner.place.z >= NEAR) {
            canvas.face(&if distance > 0.0 { -normal } else { normal });
            self.fill(&pixels, plane, canvas);
        } else if corners.iter().any(|corner| corner.place.z >= NEAR) {
            canvas.face(&if distance > 0.0 { -normal } else { normal });
            let mut clipped = [[0.0; 2]; 4];
            let mut count = 0;
            let mut add = |pixel: [f64; 2]| {
                if let Some(place) = clipped.get_mut(count) {
                    *place = pixel;
                    count += 1;
                }
            };
            let [first, second, third] = &corners;
            for (from, to) in [(first, second), (second, third), (third, first)] {
                if from.place.z >= NEAR {
                    add(from.pixel);
                }
                // From inside outwards: both triangles at an edge get the same point.
                match (from.place.z >= NEAR, to.place.z >= NEAR) {
                    (true, false) => add(self.crossing(&from.place, &to.place).pixel),
                    (false, true) => add(self.crossing(&to.place, &from.place).pixel),
                    _ => {}
                }
            }
            self.fill(clipped.get(..count).unwrap_or_default(), plane, canvas);
        }
    }

    /// Where an edge from `within` to `outside` crosses the minimum depth.
    fn crossing(&self, within: &Point3<f64>, outside: &Point3<f64>) -> Corner {
        let share = (within.z - NEAR) / (within.z - outside.z);
        let place = within + (outside - within) * share;
        self.corner(Point3::new(place.x, place.y, NEAR))
    }

    /// Draws a convex polygon of at most four corners; `plane` is the nearness at the image's corner and its increase
    /// per pixel, to the right and downwards.
    fn fill(&self, polygon: &[[f64; 2]], [level, across, down]: [f64; 3], canvas: &mut impl Canvas) {
        let mut edges = [Edge::default(); 4];
        let (mut left, mut right, mut top, mut bottom) =
            (f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY);
        let followers = polygon.iter().cycle().skip(1);
        for (edge, (from, to)) in edges.iter_mut().zip(polygon.iter().zip(followers)) {
            *edge = Edge::new(*from, *to);
            (left, right) = (left.min(from[0]), right.max(from[0]));
            (top, bottom) = (top.min(from[1]), bottom.max(from[1]));
        }
        if right < 0.0 || left > self.width as f64 {
            return;
        }
        let edges = edges.get(..polygon.len()).unwrap_or_default();
        for row in from_middle(top)..from_middle(bottom).min(self.height) {
            let y = row as f64 + 0.5;
            let (mut left, mut right) = (f64::INFINITY, f64::NEG_INFINITY);
            for edge in edges.iter().filter(|edge| edge.top <= y && y < edge.bottom) {
                let x = edge.x + (y - edge.top) * edge.slope;
                (left, right) = (left.min(x), right.max(x));
            }
            let (first, end) = (from_middle(left), from_middle(right).min(self.width));
            if first < end {
                let nearness = level + across * (first as f64 + 0.5) + down * y;
                let row = row * self.width;
                canvas.span(row + first..row + end, nearness as f32, across as f32);
            }
        }
    }
}

/// An edge from top to bottom, independent of its orientation: both adjacent triangles compute the same.
#[derive(Debug, Clone, Copy, Default)]
struct Edge {
    top: f64,
    bottom: f64,
    /// x at the top.
    x: f64,
    /// Increase of x per row.
    slope: f64,
}

impl Edge {
    fn new(from: [f64; 2], to: [f64; 2]) -> Self {
        let (above, below) = if from[1] <= to[1] { (from, to) } else { (to, from) };
        // A horizontal edge is never used: there is no row between top and bottom.
        let slope = (below[0] - above[0]) / (below[1] - above[1]);
        Self { top: above[1], bottom: below[1], x: above[0], slope }
    }
}

/// The first pixel whose centre is not left of this position; at least 0.
fn from_middle(place: f64) -> usize {
    let off = (place - 0.5).max(0.0);
    let whole = off as usize;
    whole + usize::from(off > whole as f64)
}

//! Segments, polygons and footprints in the plane.

use crate::{Point, Pose, heading, transform};

/// A straight line between two points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Start point.
    pub a: Point,
    /// End point.
    pub b: Point,
}

impl Segment {
    /// A segment between these points, m.
    pub fn new(a: Point, b: Point) -> Self {
        Self { a, b }
    }

    /// The segments of a chain of points, m.
    pub fn chain(points: &[Point]) -> impl DoubleEndedIterator<Item = Self> + Clone + '_ {
        points.iter().zip(points.iter().skip(1)).map(|(&a, &b)| Self { a, b })
    }

    /// Its length, m.
    pub fn length(&self) -> f64 {
        (self.b - self.a).norm()
    }

    /// Its direction, from the first point to the second, rad.
    pub fn heading(&self) -> f64 {
        heading(self.a, self.b)
    }

    /// Whether all values are finite.
    pub fn is_finite(&self) -> bool {
        [self.a, self.b].iter().all(is_finite)
    }

    /// The parameter of the nearest point of the segment, as a fraction of the way from `a` to `b`, 0 to 1.
    pub fn nearest_part(&self, point: Point) -> f64 {
        let way = self.b - self.a;
        let square = way.norm_squared();
        if square > 0.0 { ((point - self.a).dot(&way) / square).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The point at this fraction of the way.
    pub fn at(&self, part: f64) -> Point {
        self.a + (self.b - self.a) * part
    }

    /// The distance to a point, m.
    pub fn distance(&self, point: Point) -> f64 {
        (point - self.at(self.nearest_part(point))).norm()
    }

    /// Whether the two have a point in common.
    pub fn crosses(&self, other: &Self) -> bool {
        let side = |segment: &Self, point: Point| (segment.b - segment.a).perp(&(point - segment.a));
        let [a, b] = [side(self, other.a), side(self, other.b)];
        let [c, d] = [side(other, self.a), side(other, self.b)];
        if a * b < 0.0 && c * d < 0.0 {
            return true;
        }
        // Touching, or on one line.
        let on = |segment: &Self, point: Point| segment.distance(point) <= 1e-12;
        on(self, other.a) || on(self, other.b) || on(other, self.a) || on(other, self.b)
    }
}

/// Whether all values are finite.
pub fn is_finite(point: &Point) -> bool {
    point.x.is_finite() && point.y.is_finite()
}

/// An area with at least three corners, in either orientation.
#[derive(Debug, Clone, PartialEq)]
pub struct Polygon {
    corners: Vec<Point>,
}

/// Error in the corners of an area.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolygonError {
    /// Fewer than three.
    #[error("an area needs at least three corners, not {0}")]
    TooFewCorners(usize),
    /// A corner is not finite.
    #[error("corner {0} is not finite")]
    NotFinite(usize),
}

impl Polygon {
    /// An area with these corners, m.
    ///
    /// # Errors
    /// Fewer than three, or one that is not finite.
    pub fn new(corners: Vec<Point>) -> Result<Self, PolygonError> {
        if corners.len() < 3 {
            return Err(PolygonError::TooFewCorners(corners.len()));
        }
        match corners.iter().position(|corner| !is_finite(corner)) {
            Some(corner) => Err(PolygonError::NotFinite(corner)),
            None => Ok(Self { corners }),
        }
    }

    /// The corners, m.
    pub fn corners(&self) -> &[Point] {
        &self.corners
    }

    /// The edges, from each corner to the next.
    pub fn edges(&self) -> impl Iterator<Item = Segment> + '_ {
        let ends = self.corners.iter().cycle().skip(1);
        self.corners.iter().zip(ends).map(|(&a, &b)| Segment::new(a, b))
    }

    /// Whether a point is inside; points on the edge may count as either.
    pub fn contains(&self, point: Point) -> bool {
        self.edges().fold(false, |inside, edge| {
            let crossing = (edge.a.y > point.y) != (edge.b.y > point.y)
                && point.x < (edge.b.x - edge.a.x) * (point.y - edge.a.y) / (edge.b.y - edge.a.y) + edge.a.x;
            inside != crossing
        })
    }

    /// Whether the two have a point in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.corners.first().is_some_and(|&corner| other.contains(corner))
            || other.corners.first().is_some_and(|&corner| self.contains(corner))
            || self.edges().any(|edge| other.edges().any(|against| edge.crosses(&against)))
    }
}

/// The outline of the platform, relative to its centre of rotation: a rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Footprint {
    /// Distance from the centre of rotation to the front, m.
    pub front: f64,
    /// Distance to the rear, m.
    pub rear: f64,
    /// Distance to either side, m.
    pub side: f64,
}

impl Footprint {
    /// Enlarged by this much on all sides, m.
    pub fn grown(&self, margin: f64) -> Self {
        Self { front: self.front + margin, rear: self.rear + margin, side: self.side + margin }
    }

    /// Whether it contains a point of the platform's frame.
    pub fn contains(&self, point: Point) -> bool {
        point.x < self.front && point.x > -self.rear && point.y.abs() < self.side
    }

    /// Radius of the smallest circle about the centre of rotation that contains it, m: the space to turn on the spot.
    pub fn outer_radius(&self) -> f64 {
        self.front.max(self.rear).hypot(self.side)
    }

    /// The polygon it covers with the platform at this pose.
    pub fn at(&self, pose: Pose) -> Polygon {
        let corners = [
            Point::new(self.front, self.side),
            Point::new(-self.rear, self.side),
            Point::new(-self.rear, -self.side),
            Point::new(self.front, -self.side),
        ];
        Polygon { corners: corners.iter().map(|&corner| transform(pose, corner)).collect() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn segments_cross_or_are_some_distance_from_a_point() {
        let segment = |x1, y1, x2, y2| Segment::new(Point::new(x1, y1), Point::new(x2, y2));
        let ground = segment(0.0, 0.0, 4.0, 0.0);
        assert!(
            ground.crosses(&segment(1.0, -1.0, 1.0, 1.0)) && ground.crosses(&segment(2.0, 0.0, 9.0, 0.0))
        );
        for ([x1, y1, x2, y2], distance) in
            [([1.0, 0.5, 3.0, 2.0], 0.5), ([7.0, 4.0, 9.0, 9.0], 5.0), ([5.0, 0.0, 9.0, 0.0], 1.0)]
        {
            assert!(!ground.crosses(&segment(x1, y1, x2, y2)));
            assert_eq!(ground.distance(Point::new(x1, y1)), distance);
        }
    }

    #[test]
    fn areas_contain_points_and_overlap() {
        let corners = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [2.0, 1.0], [0.0, 4.0]];
        let area = Polygon::new(corners.map(Point::from).to_vec()).unwrap();
        assert!(area.contains(Point::new(1.0, 1.0)) && area.contains(Point::new(3.9, 3.0)));
        assert!(!area.contains(Point::new(2.0, 2.0)) && !area.contains(Point::new(-1.0, 1.0)));
        let inner = Polygon::new([[0.5, 0.5], [1.0, 0.5], [1.0, 1.0]].map(Point::from).to_vec()).unwrap();
        let notch = Polygon::new([[2.0, 1.5], [2.2, 2.0], [1.8, 2.0]].map(Point::from).to_vec()).unwrap();
        assert!(area.overlaps(&inner) && inner.overlaps(&area) && !area.overlaps(&notch));
        assert_eq!(Polygon::new(vec![Point::origin(); 2]), Err(PolygonError::TooFewCorners(2)));
        let corners = vec![Point::origin(), Point::new(f64::NAN, 0.0), Point::origin()];
        assert_eq!(Polygon::new(corners), Err(PolygonError::NotFinite(1)));
    }

    proptest! {
        #[test]
        fn a_footprint_covers_the_same_points_everywhere(values in prop::array::uniform5(-3.0..3.0_f64)) {
            let [x, y, heading, u, v] = values;
            let footprint = Footprint { front: 1.0, rear: 0.5, side: 0.7 };
            let pose = Pose::new(x, y, heading);
            let covered = footprint.at(pose).contains(transform(pose, Point::new(u, v)));
            prop_assert_eq!(covered, footprint.contains(Point::new(u, v)));
        }
    }
}

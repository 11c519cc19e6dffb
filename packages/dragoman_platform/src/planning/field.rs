//! Distance to the next obstacle for every square of a grid.

use dragoman_geometry::{Point, Polygon, Segment};

use crate::settings::PlanningSettings;

/// Distances to the nearest marked square, between the squares' centres.
#[derive(Debug, Clone)]
pub struct DistanceField {
    origin: Point,
    resolution: f64,
    width: usize,
    height: usize,
    /// Distances in m, row by row.
    distances: Vec<f32>,
}

/// Marks squares before the distances are computed.
#[derive(Debug)]
pub(crate) struct Marker {
    field: DistanceField,
}

impl DistanceField {
    /// A grid around these points, with a margin, m; the squares are larger than in the settings if there would be too
    /// many. `mark` marks the obstacles.
    pub(crate) fn new(
        points: impl Iterator<Item = Point>,
        margin: f64,
        settings: &PlanningSettings,
        mark: impl FnOnce(&mut Marker),
    ) -> Self {
        let none = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
        let [left, bottom, right, top] = points.fold(none, |[left, bottom, right, top], point| {
            [left.min(point.x), bottom.min(point.y), right.max(point.x), top.max(point.y)]
        });
        let empty = left > right;
        let (origin, size) = if empty {
            (Point::origin(), [0.0; 2])
        } else {
            let sides = [right - left + 2.0 * margin, top - bottom + 2.0 * margin];
            (Point::new(left - margin, bottom - margin), sides)
        };
        let most = settings.max_cells.max(16) as f64;
        let resolution =
            settings.resolution.max((size[0] * size[1] / most).sqrt()).max(size[0].max(size[1]) / most);
        let [width, height] = size.map(|side| (side / resolution).ceil() as usize);
        let field =
            Self { origin, resolution, width, height, distances: vec![f32::INFINITY; width * height] };
        let mut marker = Marker { field };
        mark(&mut marker);
        let mut field = marker.field;
        field.spread();
        field
    }

    /// Whether a point is within the grid.
    pub fn covers(&self, point: Point) -> bool {
        self.square(point).is_some()
    }

    /// The corner with the smallest coordinates, and width and height, m.
    pub(crate) fn area(&self) -> (Point, [f64; 2]) {
        (self.origin, [self.width, self.height].map(|count| count as f64 * self.resolution))
    }

    /// Distance from the centre of the point's square to the nearest marked one, m; infinite outside, or if nothing is
    /// marked.
    pub fn distance(&self, point: Point) -> f64 {
        self.square(point).map_or(f64::INFINITY, |square| f64::from(self.distances[square]))
    }

    /// Maximum error of a distance, m: half a square's diagonal at each end.
    pub fn tolerance(&self) -> f64 {
        self.resolution * std::f64::consts::SQRT_2
    }

    /// Adds an obstacle; distances beyond `reach`, m, are not updated.
    pub(crate) fn stamp(&mut self, point: Point, reach: f64) {
        let place = (point - self.origin) / self.resolution;
        let cells = reach / self.resolution;
        let range = |middle: f64, count: usize| {
            let first = (middle - cells).floor().clamp(0.0, count as f64);
            let last = (middle + cells).ceil().clamp(0.0, count as f64);
            first as usize..last as usize
        };
        for y in range(place.y, self.height) {
            for x in range(place.x, self.width) {
                let away = (x as f64 + 0.5 - place.x).hypot(y as f64 + 0.5 - place.y) * self.resolution;
                let distance = &mut self.distances[y * self.width + x];
                if away < reach {
                    *distance = distance.min(away as f32);
                }
            }
        }
    }

    pub(super) fn square(&self, point: Point) -> Option<usize> {
        let place = (point - self.origin) / self.resolution;
        let (x, y) = (place.x, place.y);
        let inside = x >= 0.0 && y >= 0.0 && x < self.width as f64 && y < self.height as f64;
        // Where a number is not negative, the conversion is `floor`, which is a call of the C library.
        inside.then(|| y as usize * self.width + x as usize)
    }

    pub(super) fn middle(&self, square: usize) -> Point {
        let (x, y) = (square % self.width, square / self.width);
        self.origin + dragoman_geometry::Vector::new(x as f64 + 0.5, y as f64 + 0.5) * self.resolution
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn resolution(&self) -> f64 {
        self.resolution
    }

    pub(super) fn distances(&self) -> &[f32] {
        &self.distances
    }

    /// Felzenszwalb and Huttenlocher's exact distance transform: columns, then rows.
    fn spread(&mut self) {
        let (width, height) = (self.width, self.height);
        let mut squares: Vec<f64> = self
            .distances
            .iter()
            .map(|&distance| if distance == 0.0 { 0.0 } else { f64::INFINITY })
            .collect();
        let mut line = Parabolas::default();
        for x in 0..width {
            line.spread(&mut squares, x, width, height);
        }
        for y in 0..height {
            line.spread(&mut squares, y * width, 1, width);
        }
        for (distance, square) in self.distances.iter_mut().zip(squares) {
            *distance = (square.sqrt() * self.resolution) as f32;
        }
    }
}

/// The lower envelope of parabolas over one row of squares.
#[derive(Debug, Default)]
struct Parabolas {
    values: Vec<f64>,
    /// Position of each parabola, and where it begins to be the lowest.
    lowest: Vec<(usize, f64)>,
}

impl Parabolas {
    fn spread(&mut self, squares: &mut [f64], first: usize, stride: usize, count: usize) {
        self.values.clear();
        self.values.extend((0..count).map(|index| squares[first + index * stride]));
        self.lowest.clear();
        for (at, &value) in self.values.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            let mut from = f64::NEG_INFINITY;
            while let Some(&(before, begins)) = self.lowest.last() {
                let (a, b) = (at as f64, before as f64);
                from = (value + a * a - self.values[before] - b * b) / (2.0 * (a - b));
                if from > begins {
                    break;
                }
                self.lowest.pop();
                from = f64::NEG_INFINITY;
            }
            self.lowest.push((at, from));
        }
        let mut lowest = self.lowest.iter().copied().peekable();
        let Some((mut stands, _)) = lowest.next() else {
            return;
        };
        for index in 0..count {
            while let Some((next, _)) = lowest.next_if(|&(_, from)| from <= index as f64) {
                stands = next;
            }
            let away = index as f64 - stands as f64;
            squares[first + index * stride] = away * away + self.values[stands];
        }
    }
}

impl Marker {
    /// Marks all squares that a line passes.
    pub(crate) fn mark(&mut self, line: &Segment) {
        let count = (line.length() / self.field.resolution * 2.0).ceil().max(1.0);
        for part in 0..=count as usize {
            if let Some(square) = self.field.square(line.at(part as f64 / count)) {
                self.field.distances[square] = 0.0;
            }
        }
    }

    /// Marks all squares whose centre is inside the area, or outside.
    pub(crate) fn fill(&mut self, area: &Polygon, inside: bool) {
        let width = self.field.width.max(1);
        let mut crossings = Vec::new();
        for (row, squares) in self.field.distances.chunks_mut(width).enumerate() {
            let y = self.field.origin.y + (row as f64 + 0.5) * self.field.resolution;
            crossings.clear();
            crossings.extend(
                area.edges()
                    .filter(|edge| (edge.a.y > y) != (edge.b.y > y))
                    .map(|edge| edge.a.x + (edge.b.x - edge.a.x) * (y - edge.a.y) / (edge.b.y - edge.a.y)),
            );
            for (column, distance) in squares.iter_mut().enumerate() {
                let x = self.field.origin.x + (column as f64 + 0.5) * self.field.resolution;
                let within = crossings.iter().filter(|&&crossing| crossing > x).count() % 2 == 1;
                if within == inside {
                    *distance = 0.0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::settings::Settings;

    proptest! {
        #[test]
        fn distances_are_those_to_the_nearest_line(
            ends in prop::collection::vec((-3.0..3.0_f64, -3.0..3.0_f64), 2..8),
            place in (-3.0..3.0_f64, -3.0..3.0_f64),
            stamped in (-3.0..3.0_f64, -3.0..3.0_f64),
        ) {
            let ends: Vec<Point> = ends.into_iter().map(|(x, y)| Point::new(x, y)).collect();
            let lines: Vec<Segment> = ends.windows(2).map(|pair| Segment::new(pair[0], pair[1])).collect();
            let corners = [Point::new(-3.0, -3.0), Point::new(3.0, 3.0)];
            let points = ends.iter().chain(&corners).copied();
            let mut field = DistanceField::new(points, 1.0, &Settings::default().planning, |marker| {
                lines.iter().for_each(|line| marker.mark(line));
            });
            let place = Point::new(place.0, place.1);
            let exact = lines.iter().map(|line| line.distance(place)).fold(f64::INFINITY, f64::min);
            prop_assert!((field.distance(place) - exact).abs() <= field.tolerance() + 1e-6);
            let stamped = Point::new(stamped.0, stamped.1);
            field.stamp(stamped, 20.0);
            let exact = exact.min((place - stamped).norm());
            prop_assert!((field.distance(place) - exact).abs() <= field.tolerance() + 1e-6);
        }

        #[test]
        fn areas_are_filled(corners in prop::collection::vec((-2.0..2.0_f64, -2.0..2.0_f64), 3..7)) {
            let corners: Vec<Point> = corners.into_iter().map(|(x, y)| Point::new(x, y)).collect();
            let area = Polygon::new(corners.clone()).unwrap();
            for inside in [true, false] {
                let settings = Settings::default().planning;
                let field = DistanceField::new(corners.iter().copied(), 1.0, &settings, |marker| {
                    marker.fill(&area, inside);
                });
                for square in (0..field.distances.len()).step_by(37) {
                    let marked = area.contains(field.middle(square)) == inside;
                    prop_assert_eq!(field.distances[square] == 0.0, marked);
                }
            }
        }
    }

    #[test]
    fn huge_and_empty_fields_are_bounded() {
        let settings = Settings::default().planning;
        let corners = [Point::new(-1e5, -1e5), Point::new(1e5, 1e5)];
        let field = DistanceField::new(corners.into_iter(), 1.0, &settings, |_| {});
        assert!(field.distances.len() < settings.max_cells + 5000, "{}", field.distances.len());
        let thin = [Point::new(-1e5, 0.0), Point::new(1e5, 0.0)];
        let field = DistanceField::new(thin.into_iter(), 0.001, &settings, |_| {});
        assert!(field.distances.len() <= 2 * settings.max_cells, "{}", field.distances.len());
        let field = DistanceField::new(std::iter::empty(), 1.0, &settings, |_| {});
        assert!(field.distance(Point::origin()).is_infinite());
    }
}

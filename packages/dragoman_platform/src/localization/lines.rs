//! The map's lines with a spatial index.

use std::collections::BTreeMap;

use dragoman_geometry::{Point, Segment};

/// Maximum distance between a line and its points, m.
pub(super) const GATE: f64 = 0.6;
/// Approximate maximum number of squares that all lines pass.
const MAX_SQUARES: f64 = 200_000.0;

/// Lines by the squares of a raster.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    lines: Vec<Segment>,
    side: f64,
    squares: BTreeMap<[i32; 2], Vec<u32>>,
}

impl Lines {
    /// Lines without a length are omitted: they have no direction.
    pub(crate) fn new(lines: &[Segment]) -> Self {
        let lines: Vec<Segment> = lines.iter().filter(|line| line.length() > 1e-3).copied().collect();
        let length: f64 = lines.iter().map(Segment::length).sum();
        let side = (length / MAX_SQUARES).max(1.0);
        let mut squares: BTreeMap<[i32; 2], Vec<u32>> = BTreeMap::new();
        for (index, line) in lines.iter().enumerate() {
            let count = (line.length() / side * 2.0).ceil().max(1.0);
            for part in 0..=count as usize {
                let place = line.at(part as f64 / count);
                // A step is half a square, and the gate less than one: the eight adjacent squares hold all lines within
                // the gate.
                let [x, y] = square(place, side);
                for (dx, dy) in (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy))) {
                    let here = squares.entry([x.saturating_add(dx), y.saturating_add(dy)]).or_default();
                    if here.last() != Some(&(index as u32)) {
                        here.push(index as u32);
                    }
                }
            }
        }
        Self { lines, side, squares }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether a line crosses the segment.
    pub(super) fn is_crossed(&self, way: &Segment) -> bool {
        self.lines.iter().any(|line| line.crosses(way))
    }

    /// The nearest line that has the point beside it, and its distance, m, if within the gate.
    pub(super) fn nearest(&self, point: Point) -> Option<(&Segment, f64)> {
        let near = self.squares.get(&square(point, self.side))?;
        let lines = near.iter().filter_map(|&index| self.lines.get(index as usize));
        let distances = lines.map(|line| (line, line.distance(point)));
        let (line, distance) = distances.min_by(|a, b| a.1.total_cmp(&b.1))?;
        (distance < GATE).then_some((line, distance))
    }
}

fn square(point: Point, side: f64) -> [i32; 2] {
    [point.x, point.y].map(|coordinate| (coordinate / side).floor() as i32)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_nearest_line_is_found(
            ends in prop::collection::vec((-5.0..5.0_f64, -5.0..5.0_f64), 2..12),
            place in (-6.0..6.0_f64, -6.0..6.0_f64),
        ) {
            let ends: Vec<Point> = ends.into_iter().map(|(x, y)| Point::new(x, y)).collect();
            let all: Vec<Segment> = ends.windows(2).map(|pair| Segment::new(pair[0], pair[1])).collect();
            let place = Point::new(place.0, place.1);
            let exact = all.iter().map(|line| line.distance(place)).fold(f64::INFINITY, f64::min);
            let lines = Lines::new(&all);
            match lines.nearest(place) {
                Some((line, distance)) => {
                    prop_assert!((distance - exact).abs() < 1e-9 && (line.distance(place) - exact).abs() < 1e-9);
                }
                None => prop_assert!(exact >= GATE),
            }
        }
    }
}

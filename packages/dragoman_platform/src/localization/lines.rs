//! The map's lines with a spatial index.

use std::ops::ControlFlow;

use dragoman_geometry::{Point, Segment, Vector};

/// Maximum distance between a line and its points, m.
pub(super) const GATE: f64 = 0.6;
/// Approximate maximum number of squares that all lines pass.
const MAX_SQUARES: f64 = 200_000.0;
/// Maximum number of lines that are looked at for a point: the time for a scan has a bound in every map.
const MAX_LINES: usize = 16;
/// How often a square with more lines is cut into quarters.
const CUTS: i32 = 3;
/// Distance from a square up to which a segment counts as passing it, m: more than the errors of rounding.
const MARGIN: f64 = 1e-6;

/// Lines by the squares of a raster. A few large vectors: many small pieces, each on a page of its own, would keep all the
/// memory that was needed to read a large map.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    lines: Vec<Segment>,
    side: f64,
    /// Those with lines, and the number of what they hold, sorted.
    squares: Vec<([i32; 2], usize)>,
    content: Vec<Content>,
    /// Lines by their places in the list, for `content`.
    near: Vec<u32>,
}

/// What a square holds.
#[derive(Debug, Clone, Copy)]
enum Content {
    /// The lines `near[start..end]` may be the nearest ones to its points: in the smallest squares those that are nearest
    /// to the middle, if there are more than [`MAX_LINES`].
    Lines { start: usize, end: usize },
    /// Its quarters, row by row, are `content[first..first + 4]`.
    Quarters { first: usize },
}

impl Lines {
    /// Lines without a length are omitted: they have no direction.
    pub(crate) fn new(lines: &[Segment]) -> Self {
        let lines: Vec<Segment> = lines.iter().filter(|line| line.length() > 1e-3).copied().collect();
        let length: f64 = lines.iter().map(Segment::length).sum();
        let side = (length / MAX_SQUARES).max(1.0);
        let mut passed: Vec<([i32; 2], u32)> = Vec::new();
        for (index, line) in (0..).zip(&lines) {
            let count = (line.length() / side * 2.0).ceil().max(1.0);
            for part in 0..=count as usize {
                let place = line.at(part as f64 / count);
                // A step is half a square, and the gate less than one: the eight adjacent squares hold all lines within
                // the gate.
                let [x, y] = square(place, side);
                let around = (-1..=1).flat_map(|dx| (-1..=1).map(move |dy| (dx, dy)));
                passed.extend(around.map(|(dx, dy)| ([x.saturating_add(dx), y.saturating_add(dy)], index)));
            }
        }
        passed.sort_unstable();
        passed.dedup();
        let mut all = Self { lines, side, ..Self::default() };
        for here in passed.chunk_by(|(a, _), (b, _)| a == b) {
            let place = here[0].0;
            let corner = Point::from(place.map(f64::from)) * side;
            let here: Vec<u32> = here.iter().map(|(_, index)| *index).collect();
            let content = all.content_of(corner, side, CUTS, &here);
            all.squares.push((place, all.content.len()));
            all.content.push(content);
        }
        all.squares.shrink_to_fit();
        all.content.shrink_to_fit();
        all.near.shrink_to_fit();
        all
    }

    /// What a square holds; `here`: the lines that may be the nearest to any of its points.
    fn content_of(&mut self, corner: Point, side: f64, cuts: i32, here: &[u32]) -> Content {
        if here.len() <= MAX_LINES {
            return self.add(here.iter().copied());
        }
        if cuts == 0 {
            let mut near = distances(here, corner + Vector::repeat(side / 2.0), &self.lines);
            near.select_nth_unstable_by(MAX_LINES, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            return self.add(near.into_iter().take(MAX_LINES).map(|(_, index)| index));
        }
        let (half, first) = (side / 2.0, self.content.len());
        self.content.extend([Content::Lines { start: 0, end: 0 }; 4]);
        for (place, (row, column)) in (first..).zip([(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)]) {
            let corner = corner + Vector::new(column, row) * half;
            let mut near = distances(here, corner + Vector::repeat(half / 2.0), &self.lines);
            // A line that is so much farther from the middle than the nearest one can be the nearest to a corner.
            let nearest = near.iter().map(|(distance, _)| *distance).fold(f64::INFINITY, f64::min);
            near.retain(|(distance, _)| *distance <= nearest + half * std::f64::consts::SQRT_2);
            let here: Vec<u32> = near.into_iter().map(|(_, index)| index).collect();
            self.content[place] = self.content_of(corner, half, cuts - 1, &here);
        }
        Content::Quarters { first }
    }

    fn add(&mut self, lines: impl Iterator<Item = u32>) -> Content {
        let start = self.near.len();
        self.near.extend(lines);
        Content::Lines { start, end: self.near.len() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Whether a line crosses the segment.
    pub(super) fn is_crossed(&self, way: &Segment) -> bool {
        let side = self.side / 2.0_f64.powi(CUTS);
        // Most maps have few lines; to look into a square takes about as long as to look at eight.
        if 8.0 * way.length() / side > self.lines.len() as f64 {
            return self.lines.iter().any(|line| line.crosses(way));
        }
        let look = |part: [i32; 2]| {
            let middle = Point::from(part.map(|number| (f64::from(number) + 0.5) * side));
            let crossed = self.near(middle).any(|line| line.crosses(way));
            if crossed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        passed(way, side, look).is_break()
    }

    /// The nearest line that has the point beside it, and its distance, m, if within the gate.
    pub(super) fn nearest(&self, point: Point) -> Option<(&Segment, f64)> {
        let distances = self.near(point).map(|line| (line, line.distance(point)));
        let (line, distance) = distances.min_by(|a, b| a.1.total_cmp(&b.1))?;
        (distance < GATE).then_some((line, distance))
    }

    /// The lines that may be the nearest one to this point.
    fn near(&self, point: Point) -> impl Iterator<Item = &Segment> {
        let place = square(point, self.side);
        // Where in the square, 0 to 1.
        let mut part = [point.x / self.side - f64::from(place[0]), point.y / self.side - f64::from(place[1])];
        let found = self.squares.binary_search_by_key(&place, |(place, _)| *place);
        let mut content = found.ok().and_then(|found| self.content.get(self.squares[found].1));
        while let Some(Content::Quarters { first }) = content {
            let [column, row] = part.map(|coordinate| usize::from(coordinate >= 0.5));
            part = part.map(|coordinate| 2.0 * coordinate - if coordinate >= 0.5 { 1.0 } else { 0.0 });
            content = self.content.get(first + 2 * row + column);
        }
        let near = match content {
            Some(Content::Lines { start, end }) => &self.near[*start..*end],
            _ => &[],
        };
        near.iter().map(|&index| &self.lines[index as usize])
    }
}

fn square(point: Point, side: f64) -> [i32; 2] {
    [point.x, point.y].map(|coordinate| (coordinate / side).floor() as i32)
}

/// The distances of these lines from a point, m.
fn distances(indices: &[u32], point: Point, lines: &[Segment]) -> Vec<(f64, u32)> {
    indices.iter().map(|&index| (lines[index as usize].distance(point), index)).collect()
}

/// Calls `visit` with all squares that a segment passes, column by column.
fn passed<B>(way: &Segment, side: f64, mut visit: impl FnMut([i32; 2]) -> ControlFlow<B>) -> ControlFlow<B> {
    let number = |coordinate: f64| (coordinate / side).floor() as i32;
    let (from, to) = if way.a.x <= way.b.x { (way.a, way.b) } else { (way.b, way.a) };
    let slope = if to.x > from.x { (to.y - from.y) / (to.x - from.x) } else { 0.0 };
    for column in number(from.x - MARGIN)..=number(to.x + MARGIN) {
        let start = f64::from(column) * side - MARGIN;
        let end = start + side + 2.0 * MARGIN;
        // Where the segment enters and leaves the column; a steep one may begin or end in it.
        let at = |x: f64| from.y + slope * (x - from.x);
        let enters = if start <= from.x { from.y } else { at(start) };
        let leaves = if end >= to.x { to.y } else { at(end) };
        let [low, high] = [enters.min(leaves), enters.max(leaves)];
        for row in number(low - MARGIN)..=number(high + MARGIN) {
            visit([column, row])?;
        }
    }
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn crossed_lines_are_found(
            lines in prop::collection::vec(((-20..140_i32, -20..140_i32), (-8..=8_i32, -8..=8_i32)), 2..400),
            way in [(-20..140_i32, -20..140_i32), (-20..140_i32, -20..140_i32)],
        ) {
            // Corners of squares, and places between them. Dense enough for quarters, but never more lines in the smallest
            // square than are looked at.
            let point = |(x, y)| Point::new(f64::from(x), f64::from(y)) / 16.0;
            let line = |&((x, y), (dx, dy))| Segment::new(point((x, y)), point((x + dx, y + dy)));
            let all: Vec<Segment> = lines.iter().map(line).collect();
            let way = Segment::new(point(way[0]), point(way[1]));
            let expected = all.iter().any(|line| line.length() > 1e-3 && line.crosses(&way));
            prop_assert_eq!(Lines::new(&all).is_crossed(&way), expected);
        }

        #[test]
        fn the_nearest_line_is_found(
            ends in prop::collection::vec((-5.0..5.0_f64, -5.0..5.0_f64), 2..60),
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

    /// For a map of random lines, or of an attacker, the computing time is bounded.
    #[test]
    fn the_number_of_lines_examined_for_a_point_is_bounded() {
        let heights = (0..20_000).map(|number| f64::from(number) * 5e-6);
        let all: Vec<Segment> =
            heights.map(|height| Segment::new(Point::new(0.0, height), Point::new(0.5, height))).collect();
        let lines = Lines::new(&all);
        for point in [[0.1, 0.02], [0.3, 0.05], [0.9, 0.9]].map(Point::from) {
            assert!((1..=MAX_LINES).contains(&lines.near(point).count()), "{point}");
        }
        // The nearest ones to the middle of the smallest square, 62.5 mm.
        let (_, distance) = lines.nearest(Point::new(0.1, 0.06)).unwrap();
        assert!(distance < 0.003, "{distance}");
    }
}

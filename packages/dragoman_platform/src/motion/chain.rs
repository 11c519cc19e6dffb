//! Chains of points: progress along a chain, and its rest.

use dragoman_geometry::{Point, Segment};

/// Progress along a chain of points, m: never back, and not to a later part that passes the same place.
pub(super) fn progress(chain: &[Point], place: Point, before: f64) -> f64 {
    /// Maximum progress in one call, m.
    const AHEAD: f64 = 3.0;
    let mut at = 0.0;
    let mut nearest = (f64::INFINITY, before);
    for segment in Segment::chain(chain) {
        let length = segment.length();
        if at + length >= before && at <= before + AHEAD {
            let here = (at + segment.nearest_part(place) * length).clamp(before, before + AHEAD);
            let part = if length > 0.0 { (here - at) / length } else { 0.0 };
            let away = (segment.at(part.clamp(0.0, 1.0)) - place).norm();
            if away < nearest.0 {
                nearest = (away, here);
            }
        }
        at += length;
    }
    nearest.1
}

/// The rest of a chain of points.
pub(super) fn after(chain: &[Point], along: f64) -> Vec<Point> {
    let mut at = 0.0;
    for (index, segment) in Segment::chain(chain).enumerate() {
        let length = segment.length();
        if at + length > along {
            let place = segment.at(((along - at) / length).max(0.0));
            return std::iter::once(place).chain(chain.iter().skip(index + 1).copied()).collect();
        }
        at += length;
    }
    chain.last().copied().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_of_a_chain_begins_at_the_platform() {
        let chain = [[0.0, 0.0], [4.0, 0.0], [4.0, 3.0]].map(Point::from);
        let along = progress(&chain, Point::new(2.5, 0.3), 1.0);
        assert!((along - 2.5).abs() < 1e-9);
        assert_eq!(after(&chain, along), [[2.5, 0.0], [4.0, 0.0], [4.0, 3.0]].map(Point::from));
        assert_eq!(after(&chain, 9.0), [chain[2]]);
        // Never back.
        assert_eq!(progress(&chain, Point::new(1.0, 0.0), 2.5), 2.5);
    }

    #[test]
    fn a_chain_that_returns_to_a_place_is_not_cut_short() {
        let chain = [[0.0, 0.0], [10.0, 0.0], [10.0, 0.2], [0.0, 0.2]].map(Point::from);
        let along = progress(&chain, Point::new(1.0, 0.15), 0.5);
        assert!((along - 1.0).abs() < 1e-9, "{along}");
    }
}

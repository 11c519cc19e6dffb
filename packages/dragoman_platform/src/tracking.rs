//! Moving objects in the laser's scans (PlatformCtrl guide, 5.9: `TrackingEnabled`). Points that belong to no line of
//! the map are grouped into clusters; a cluster that comes forward counts as moving.

use std::time::Duration;

use dragoman_geometry::{Point, Vector};

/// Points farther apart than this belong to different clusters, m.
const GAP: f64 = 0.25;
/// Minimum number of points of a cluster.
const MIN_POINTS: usize = 3;
/// Maximum extent of a cluster, m; larger ones are furniture.
const MAX_EXTENT: f64 = 1.2;
/// Maximum distance of a cluster from its last position, m.
const REACH: f64 = 0.5;
/// Period over which the motion is measured.
const WINDOW: Duration = Duration::from_millis(1000);
/// Distance within the window from which on a cluster moves, m; the visible side of a resting object varies by less.
const MOVED: f64 = 0.25;
/// A cluster that is not seen for this long is removed.
const REMOVE_AFTER: Duration = Duration::from_millis(1000);
/// Maximum number of clusters.
const MAX_TRACKS: usize = 64;

/// A cluster of the scan that moves: a person, a ball or another robot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MovingObject {
    /// Its number; it is kept while the object is seen.
    pub number: i32,
    /// Its position in the map, m.
    pub place: Point,
}

#[derive(Debug, Clone)]
struct Track {
    number: i32,
    place: Point,
    seen: Duration,
    /// Where and since when the motion is measured.
    from: (Duration, Point),
    is_moving: bool,
}

/// Clusters that are followed from scan to scan.
#[derive(Debug, Clone, Default)]
pub struct Tracker {
    tracks: Vec<Track>,
    numbers: i32,
}

impl Tracker {
    /// Takes a scan: its points that belong to no line of the map, in the map, in their order around the laser.
    pub fn update(&mut self, now: Duration, points: &[Point]) {
        for place in clusters(points) {
            let away = |track: &Track| (track.place - place).norm();
            let free = self.tracks.iter_mut().filter(|track| track.seen != now && away(track) <= REACH);
            if let Some(track) = free.min_by(|a, b| away(a).total_cmp(&away(b))) {
                track.go_on(now, place);
            } else if self.tracks.len() < MAX_TRACKS {
                self.numbers = self.numbers.checked_add(1).unwrap_or(1);
                let (number, seen, from) = (self.numbers, now, (now, place));
                self.tracks.push(Track { number, place, seen, from, is_moving: false });
            }
        }
        self.tracks.retain(|track| now.saturating_sub(track.seen) <= REMOVE_AFTER);
    }

    /// Removes all clusters.
    pub fn clear(&mut self) {
        self.tracks.clear();
    }

    /// The clusters that move.
    pub fn moving(&self) -> impl Iterator<Item = MovingObject> + '_ {
        let moving = self.tracks.iter().filter(|track| track.is_moving);
        moving.map(|track| MovingObject { number: track.number, place: track.place })
    }
}

impl Track {
    fn go_on(&mut self, now: Duration, place: Point) {
        (self.place, self.seen) = (place, now);
        let (since, from) = self.from;
        if (place - from).norm() >= MOVED {
            self.is_moving = true;
            self.from = (now, place);
        } else if now.saturating_sub(since) >= WINDOW {
            self.is_moving = false;
            self.from = (now, place);
        }
    }
}

/// Centres of the groups of points that are neighbours.
fn clusters(points: &[Point]) -> impl Iterator<Item = Point> + '_ {
    let groups = points.chunk_by(|a, b| (a - b).norm() <= GAP);
    groups
        .filter(|group| match group {
            [first, .., last] => group.len() >= MIN_POINTS && (first - last).norm() <= MAX_EXTENT,
            _ => false,
        })
        .map(|group| {
            let sum = group.iter().map(|point| point.coords).sum::<Vector>();
            Point::from(sum / group.len() as f64)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A leg of 10 cm at this place.
    fn leg(x: f64, y: f64) -> [Point; 5] {
        [-0.05, -0.025, 0.0, 0.025, 0.05].map(|part| Point::new(x, y + part))
    }

    fn scan(tracker: &mut Tracker, tenth: u32, legs: &[[f64; 2]]) -> Vec<MovingObject> {
        let points: Vec<Point> = legs.iter().flat_map(|&[x, y]| leg(x, y)).collect();
        tracker.update(Duration::from_millis(100) * tenth, &points);
        tracker.moving().collect()
    }

    #[test]
    fn walking_legs_are_moving_and_standing_ones_are_not() {
        let mut tracker = Tracker::default();
        let mut found = Vec::new();
        for tenth in 0..10 {
            // 0.5 m/s, beside something that stands.
            found = scan(&mut tracker, tenth, &[[2.0 + 0.05 * f64::from(tenth), 1.0], [2.0, -1.0]]);
        }
        let [MovingObject { number: 1, place }] = found[..] else { panic!("{found:?}") };
        assert!((place - Point::new(2.45, 1.0)).norm() < 1e-9, "{place}");
        // It stops, and after some time it does not move any more.
        for tenth in 10..35 {
            found = scan(&mut tracker, tenth, &[[2.5, 1.0], [2.0, -1.0]]);
        }
        assert_eq!(found, []);
        // Gone.
        assert_eq!(scan(&mut tracker, 60, &[]), []);
        assert!(tracker.tracks.is_empty());
    }

    #[test]
    fn walls_and_single_points_are_not_clusters() {
        let wall: Vec<Point> = (0..40).map(|part| Point::new(f64::from(part) * 0.05, 3.0)).collect();
        assert_eq!(clusters(&wall).count(), 0);
        assert_eq!(clusters(&[Point::new(1.0, 1.0), Point::new(2.0, 1.0)]).count(), 0);
        assert_eq!(clusters(&leg(1.0, 1.0)).count(), 1);
    }
}

//! Recently seen obstacles, in the frame of the odometry: the camera sees only ahead, 57 degrees wide and not nearer
//! than 0.4 m, so an obstacle leaves its view just when the robot passes it.

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_geometry::Pose;

/// Edge of a cell, m.
const CELL: f64 = 0.04;
/// Time after which a cell that is not seen again is deleted.
const KEEP: Duration = Duration::from_secs(40);
/// Distance from the robot beyond which cells are deleted, m.
const RADIUS: f64 = 4.0;
/// A cell is free if the camera measures this much beyond it, m.
const SEEN_THROUGH: f64 = 0.15;

/// Occupied cells of the plane.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    cells: BTreeMap<(i32, i32), Duration>,
}

/// A direction of view from the camera, and its free length, m.
#[derive(Debug, Clone, Copy)]
pub(super) struct View {
    pub(super) bearing: f64,
    pub(super) free: f64,
}

impl Memory {
    /// Marks this position in the odometry's frame as occupied.
    pub(super) fn mark(&mut self, [x, y]: [f64; 2], now: Duration) {
        self.cells.insert(((x / CELL).floor() as i32, (y / CELL).floor() as i32), now);
    }

    /// Deletes cells that are old, far away, or seen through from `camera`. `views` are ordered from left to right.
    pub(super) fn remove_outdated(&mut self, camera: Pose, views: &[View], now: Duration) {
        self.cells.retain(|&cell, seen| {
            let [x, y] = centre(cell);
            let (away_x, away_y) = (x - camera.x, y - camera.y);
            let range = away_x.hypot(away_y);
            if now.saturating_sub(*seen) > KEEP || range > RADIUS {
                return false;
            }
            let bearing = dragoman_geometry::wrap_angle(away_y.atan2(away_x) - camera.heading);
            let next = views.partition_point(|view| view.bearing > bearing);
            // Between two views that both reach beyond it.
            let is_through = |view: Option<&View>| view.is_some_and(|view| view.free > range + SEEN_THROUGH);
            let looked_through = next > 0 && is_through(views.get(next - 1)) && is_through(views.get(next));
            *seen == now || !looked_through
        });
    }

    /// The occupied positions, in the frame of `robot`.
    pub(super) fn around(&self, robot: Pose) -> Vec<[f64; 2]> {
        let (sin, cos) = robot.heading.sin_cos();
        let places = self.cells.keys().map(|&cell| {
            let [x, y] = centre(cell);
            let (x, y) = (x - robot.x, y - robot.y);
            [x * cos + y * sin, y * cos - x * sin]
        });
        let mut places: Vec<[f64; 2]> = places.collect();
        // From behind the robot to ahead of it.
        places.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        places
    }
}

fn centre((column, row): (i32, i32)) -> [f64; 2] {
    [column, row].map(|index| (f64::from(index) + 0.5) * CELL)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn views(free: f64) -> Vec<View> {
        (-10..=10).rev().map(|step| View { bearing: f64::from(step) * 0.05, free }).collect()
    }

    #[test]
    fn a_beacon_out_of_view_is_kept_and_a_removed_one_is_deleted() {
        let mut memory = Memory::default();
        let now = Duration::from_secs(1);
        memory.mark([1.0, 0.0], now);
        memory.mark([0.0, 0.5], now);
        let later = Duration::from_secs(2);
        memory.remove_outdated(Pose::ORIGIN, &views(0.9), later);
        assert_eq!(memory.around(Pose::ORIGIN).len(), 2);
        memory.remove_outdated(Pose::ORIGIN, &views(3.0), later);
        let left = memory.around(Pose::new(0.0, 0.5, std::f64::consts::FRAC_PI_2));
        assert!(matches!(left.as_slice(), [[x, y]] if x.abs() < 0.05 && y.abs() < 0.05), "{left:?}");
    }

    #[test]
    fn old_and_far_places_are_dropped() {
        let mut memory = Memory::default();
        memory.mark([1.0, 0.0], Duration::ZERO);
        memory.remove_outdated(Pose::ORIGIN, &[], KEEP);
        assert_eq!(memory.around(Pose::ORIGIN).len(), 1);
        memory.remove_outdated(Pose::new(6.0, 0.0, 0.0), &[], KEEP);
        assert!(memory.around(Pose::ORIGIN).is_empty());
        memory.mark([1.0, 0.0], Duration::ZERO);
        memory.remove_outdated(Pose::ORIGIN, &[], KEEP + Duration::from_secs(1));
        assert!(memory.around(Pose::ORIGIN).is_empty());
    }
}

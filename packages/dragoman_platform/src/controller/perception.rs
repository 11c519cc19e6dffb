//! Perception: obstacles, moving objects, and whether the laser measures.

use std::time::Duration;

use dragoman_geometry::{Point, Pose, transform};

use super::Event;
use crate::motion::obstacles::{self, Obstacles, Scan};
use crate::planning::field::DistanceField;
use crate::settings::Settings;
use crate::tracking::Tracker;

#[derive(Debug, Default)]
pub(super) struct Perception {
    pub(super) obstacles: Obstacles,
    pub(super) tracker: Tracker,
    /// Whether the laser was silent in the last cycle.
    pub(super) blind: bool,
}

impl Perception {
    /// Follows moving objects: points of the scan, seen from `pose`, that the lines of the map do not explain.
    pub(super) fn track(&mut self, now: Duration, scan: Scan<'_>, pose: Pose, lines: &DistanceField) {
        let in_map = scan.points.iter().map(|&point| transform(pose, point));
        let strange: Vec<Point> =
            in_map.filter(|&point| lines.distance(point) >= obstacles::EXPLAINED).collect();
        self.tracker.update(now, &strange);
    }

    /// The laser is monitored while the platform is connected.
    pub(super) fn watch_laser(
        &mut self,
        now: Duration,
        connected: bool,
        settings: &Settings,
    ) -> Option<Event> {
        let blind = connected && self.obstacles.is_blind(now, settings);
        let was_blind = std::mem::replace(&mut self.blind, blind);
        (blind != was_blind).then_some(if blind { Event::LaserSilent } else { Event::LaserFound })
    }
}

//! What the sensors see, and have seen.

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_base::motion::{Pose, wrap_angle};

use crate::geometry::{Point, direction, heading, inverse_transform, position, transform};
use crate::planning::field::DistanceField;
use crate::settings::{Settings, UltrasonicSettings};

/// One measurement of a laser.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scan<'a> {
    /// Where the laser is, in the platform's frame, m.
    pub origin: Point,
    /// What it hit, in the platform's frame, m, counterclockwise about the origin. Beams that hit nothing are left out.
    pub points: &'a [Point],
}

/// Squares in which obstacles are remembered, m.
const CELL: f64 = 0.05;
/// Most squares.
const MAX_CELLS: usize = 20_000;
/// A point no farther from a line of the map is the line, m.
const EXPLAINED: f64 = 0.15;
/// What is this much farther away than an obstacle was shows that it is gone, m.
const GONE: f64 = 0.15;
/// Sectors about the laser.
const SECTORS: usize = 720;
/// What is farther away is not remembered, m.
const HORIZON: f64 = 8.0;

/// What is in the way now, and what was, where the map has nothing.
#[derive(Debug, Clone, Default)]
pub struct Obstacles {
    /// In the platform's frame.
    seen: Vec<Point>,
    /// By the numbers of the square in the map: when it was seen last.
    remembered: BTreeMap<[i32; 2], Duration>,
    /// An obstacle that somebody set, in the map.
    placed: Option<Point>,
}

impl Obstacles {
    /// Takes what the sensors measured; a laser that has measured nothing anew leaves what it saw. `ultrasonics`: ranges in m by number,
    /// NaN where there is none. `lines`: how far it is to the next line of the map; without one all points are obstacles.
    pub fn update(
        &mut self,
        now: Duration,
        pose: Pose,
        scan: Option<Scan<'_>>,
        ultrasonics: &[f64],
        lines: Option<&DistanceField>,
        settings: &Settings,
    ) {
        let memory = settings.planning.memory;
        // Where the platform stands there is nothing.
        self.remembered.retain(|&cell, seen| {
            let under = || settings.footprint.contains(inverse_transform(pose, centre(cell)));
            now.saturating_sub(*seen) <= memory && !under()
        });
        self.seen.clear();
        if let Some(scan) = scan {
            self.forget_gone(pose, scan);
            self.seen.extend_from_slice(scan.points);
        }
        let sensors = settings.ultrasonics.iter().zip(ultrasonics);
        self.seen.extend(sensors.flat_map(|(sensor, &range)| echoes(sensor, range)));
        for &point in &self.seen {
            if point.coords.norm() > HORIZON || settings.footprint.contains(point) {
                continue;
            }
            let place = transform(pose, point);
            let explained = lines.is_some_and(|lines| lines.distance(place) < EXPLAINED);
            if !explained && self.remembered.len() < MAX_CELLS {
                self.remembered.insert(cell(place), now);
            }
        }
        if let Some(placed) = self.placed {
            self.seen.extend(rim(placed).map(|point| inverse_transform(pose, point)));
        }
    }

    /// Sets an obstacle by hand, in the map, or takes it away.
    pub fn place(&mut self, obstacle: Option<Point>) {
        self.placed = obstacle;
    }

    /// Forgets what was seen before: the platform is somewhere else, or has another map.
    pub fn clear(&mut self) {
        self.remembered.clear();
        self.seen.clear();
    }

    /// What the sensors see, in the platform's frame, m.
    pub fn seen(&self) -> &[Point] {
        &self.seen
    }

    /// What is in the way where the map has nothing, in the map, m.
    pub fn remembered(&self) -> impl Iterator<Item = Point> + '_ {
        let cells = self.remembered.keys().map(|&cell| centre(cell));
        cells.chain(self.placed.into_iter().flat_map(rim))
    }

    /// Forgets what the laser looks past.
    fn forget_gone(&mut self, pose: Pose, scan: Scan<'_>) {
        let mut ranges = [0.0_f64; SECTORS];
        for &point in scan.points {
            let range = &mut ranges[sector(heading(scan.origin, point))];
            *range = range.max((point - scan.origin).norm());
        }
        let laser = transform(pose, scan.origin);
        self.remembered.retain(|&cell, _| {
            let place = centre(cell);
            let range = (place - laser).norm();
            let angle = wrap_angle(heading(laser, place) - pose.heading);
            let half = (CELL / 2.0).atan2(range);
            let sides = [angle - half, angle, angle + half];
            sides.iter().any(|&side| ranges[sector(side)] <= range + GONE)
        });
    }
}

fn cell(place: Point) -> [i32; 2] {
    [place.x, place.y].map(|coordinate| (coordinate / CELL).round() as i32)
}

fn centre([x, y]: [i32; 2]) -> Point {
    Point::new(f64::from(x), f64::from(y)) * CELL
}

fn sector(angle: f64) -> usize {
    let part = (angle / std::f64::consts::TAU).rem_euclid(1.0);
    ((part * SECTORS as f64) as usize).min(SECTORS - 1)
}

/// An obstacle set by hand is as thick as a leg.
fn rim(centre: Point) -> impl Iterator<Item = Point> {
    (0..8).map(move |part| centre + direction(f64::from(part) * std::f64::consts::FRAC_PI_4) * 0.1)
}

/// Where the echo may have come from: the middle and the rims of the cone.
fn echoes(sensor: &UltrasonicSettings, range: f64) -> impl Iterator<Item = Point> + use<> {
    let UltrasonicSettings { pose, range: most, cone } = *sensor;
    let parts =
        if range.is_finite() && (0.0..most).contains(&range) { [-0.5, 0.0, 0.5].as_slice() } else { &[] };
    parts.iter().map(move |part| position(pose) + direction(pose.heading + part * cone) * range)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn scan(points: &[Point]) -> Option<Scan<'_>> {
        Some(Scan { origin: Point::new(0.4, 0.0), points })
    }

    #[test]
    fn what_is_seen_is_remembered_until_it_is_gone_or_old() {
        let settings = Settings::default();
        let mut obstacles = Obstacles::default();
        let pose = Pose::new(1.0, 2.0, std::f64::consts::FRAC_PI_2);
        let thing = [Point::new(2.0, 0.0)];
        obstacles.update(SECOND, pose, scan(&thing), &[], None, &settings);
        let remembered: Vec<Point> = obstacles.remembered().collect();
        assert_eq!(remembered.len(), 1);
        assert!((remembered[0] - Point::new(1.0, 4.0)).norm() < CELL);
        // Looking elsewhere.
        obstacles.update(SECOND * 2, pose, scan(&[Point::new(0.0, 2.0)]), &[], None, &settings);
        assert_eq!(obstacles.remembered().count(), 2);
        // Looking past it.
        let behind = [-0.01, 0.0, 0.01].map(|y| Point::new(4.0, y * 4.0));
        obstacles.update(SECOND * 3, pose, scan(&behind), &[], None, &settings);
        assert!(obstacles.remembered().all(|point| (point - remembered[0]).norm() > 0.5));
        obstacles.update(SECOND * 60, pose, None, &[], None, &settings);
        assert_eq!(obstacles.remembered().count(), 0);
    }

    #[test]
    fn ultrasonic_sensors_see_points_within_their_range() {
        let sensor = UltrasonicSettings { pose: Pose::new(0.45, 0.0, 0.0), range: 2.0, cone: 0.2 };
        let settings = Settings { ultrasonics: vec![sensor; 3], ..Settings::default() };
        let mut obstacles = Obstacles::default();
        obstacles.update(SECOND, Pose::ORIGIN, None, &[0.5, 2.0, f64::NAN], None, &settings);
        assert_eq!(obstacles.seen().len(), 3);
        assert!((obstacles.seen()[1] - Point::new(0.95, 0.0)).norm() < 1e-9);
        obstacles.place(Some(Point::new(3.0, 0.0)));
        obstacles.update(SECOND, Pose::ORIGIN, None, &[], None, &settings);
        assert_eq!(obstacles.seen().len(), 8);
    }
}

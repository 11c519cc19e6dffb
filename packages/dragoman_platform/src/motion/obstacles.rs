//! Sensed obstacles, current and remembered.

use std::collections::BTreeMap;
use std::time::Duration;

use dragoman_geometry::{
    Point, Pose, direction, heading, inverse_transform, position, transform, wrap_angle,
};

use crate::planning::field::DistanceField;
use crate::settings::{Settings, UltrasonicSettings};

/// One measurement of a laser.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scan<'a> {
    /// Position of the laser, in the platform's frame, m.
    pub origin: Point,
    /// Points hit, in the platform's frame, m, counterclockwise around the origin. Beams that hit nothing are omitted.
    pub points: &'a [Point],
}

/// Inputs of one cycle.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'a> {
    /// Time since the start.
    pub now: Duration,
    /// Pose in the map.
    pub pose: Pose,
    /// Pose by odometry.
    pub odometry: Pose,
    /// The laser's scan since the last cycle; `None`: the last scan stays valid.
    pub scan: Option<Scan<'a>>,
    /// Ranges of the ultrasonic sensors by number, m; NaN if absent.
    pub ultrasonics: &'a [f64],
    /// Whether the pose is known; if not, nothing is remembered.
    pub known: bool,
}

/// Side of the squares in which obstacles are remembered, m.
const CELL: f64 = 0.05;
/// Maximum number of squares.
const MAX_CELLS: usize = 20_000;
/// Maximum distance from a line of the map of points that belong to it, m.
pub(crate) const EXPLAINED: f64 = 0.15;
/// A point this much beyond an obstacle shows that the obstacle is gone, m.
const GONE: f64 = 0.15;
/// Number of sectors around the laser.
const SECTORS: usize = 720;
/// Maximum range of remembered obstacles, m.
const HORIZON: f64 = 8.0;

/// Current and remembered obstacles that are not in the map.
#[derive(Debug, Clone, Default)]
pub struct Obstacles {
    /// The last scan, in the odometry frame: the platform has moved since.
    scanned: Vec<Point>,
    scanned_at: Option<Duration>,
    /// In the platform's frame; first those of the laser.
    seen: Vec<Point>,
    /// Number of the laser's points in `seen`, and of those of laser and ultrasonic sensors.
    counts: [usize; 2],
    /// Time of the last detection, by the indices of the square in the map.
    remembered: BTreeMap<[i32; 2], Duration>,
    /// A manually placed obstacle, in the map.
    placed: Option<Point>,
}

impl Obstacles {
    /// Takes the sensors' measurements. `lines`: distance to the next line of the map.
    pub fn update(&mut self, sight: &Sight<'_>, lines: &DistanceField, settings: &Settings) {
        let Sight { now, pose, odometry, scan, ultrasonics, known } = *sight;
        let memory = settings.planning.memory;
        // Points under the platform are ignored.
        self.remembered.retain(|&cell, seen| {
            let under = || settings.footprint.contains(inverse_transform(pose, centre(cell)));
            now.saturating_sub(*seen) <= memory && !under()
        });
        if let Some(scan) = scan {
            self.remove_gone(pose, scan);
            self.scanned.clear();
            self.scanned.extend(scan.points.iter().map(|&point| transform(odometry, point)));
            self.scanned_at = Some(now);
        }
        self.seen.clear();
        self.seen.extend(self.scanned.iter().map(|&point| inverse_transform(odometry, point)));
        let by_laser = self.seen.len();
        let sensors = settings.ultrasonics.iter().zip(ultrasonics);
        self.seen.extend(sensors.flat_map(|(sensor, &range)| echoes(sensor, range)));
        self.counts = [by_laser, self.seen.len()];
        for &point in &self.seen {
            if !known || point.coords.norm() > HORIZON || settings.footprint.contains(point) {
                continue;
            }
            let place = transform(pose, point);
            if lines.distance(place) >= EXPLAINED && self.remembered.len() < MAX_CELLS {
                self.remembered.insert(cell(place), now);
            }
        }
        if let Some(placed) = self.placed {
            self.seen.extend(rim(placed).map(|point| inverse_transform(pose, point)));
        }
    }

    /// Whether there is a laser and its last scan is older than the timeout, or there never was one.
    pub fn is_blind(&self, now: Duration, settings: &Settings) -> bool {
        let timeout = settings.collision.scan_timeout;
        settings.has_laser && self.scanned_at.is_none_or(|scanned| now.saturating_sub(scanned) > timeout)
    }

    /// Places an obstacle manually, in the map, or removes it.
    pub fn place(&mut self, obstacle: Option<Point>) {
        self.placed = obstacle;
    }

    /// Deletes the remembered obstacles: the platform is somewhere else, or has another map.
    pub fn clear(&mut self) {
        self.remembered.clear();
    }

    /// Points seen by the sensors, in the platform's frame, m.
    pub fn seen(&self) -> &[Point] {
        &self.seen
    }

    /// Points seen by the laser and by the ultrasonic sensors, in the platform's frame, m.
    pub fn by_sensor(&self) -> (&[Point], &[Point]) {
        let [laser, both] = self.counts;
        (self.seen.get(..laser).unwrap_or_default(), self.seen.get(laser..both).unwrap_or_default())
    }

    /// Obstacles that are not in the map, in the map, m.
    pub fn remembered(&self) -> impl Iterator<Item = Point> + '_ {
        let cells = self.remembered.keys().map(|&cell| centre(cell));
        cells.chain(self.placed.into_iter().flat_map(rim))
    }

    /// Removes obstacles if the laser measures beyond them.
    fn remove_gone(&mut self, pose: Pose, scan: Scan<'_>) {
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

/// Points on the rim of a manually placed obstacle, which is as thick as a leg.
fn rim(centre: Point) -> impl Iterator<Item = Point> {
    (0..8).map(move |part| centre + direction(f64::from(part) * std::f64::consts::FRAC_PI_4) * 0.1)
}

/// Possible origins of the echo: the middle and the rims of the cone.
fn echoes(sensor: &UltrasonicSettings, range: f64) -> impl Iterator<Item = Point> + use<> {
    let UltrasonicSettings { pose, range: most, cone, .. } = *sensor;
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

    fn sight<'a>(seconds: u32, pose: Pose, scan: Option<Scan<'a>>, ultrasonics: &'a [f64]) -> Sight<'a> {
        Sight { now: SECOND * seconds, pose, odometry: pose, scan, ultrasonics, known: true }
    }

    fn no_lines(settings: &Settings) -> DistanceField {
        DistanceField::new(std::iter::empty(), 0.0, &settings.planning, |_| {})
    }

    #[test]
    fn what_is_seen_is_remembered_until_it_is_gone_or_old() {
        let settings = Settings::default();
        let mut obstacles = Obstacles::default();
        let lines = no_lines(&settings);
        let pose = Pose::new(1.0, 2.0, std::f64::consts::FRAC_PI_2);
        let thing = [Point::new(2.0, 0.0)];
        obstacles.update(&sight(1, pose, scan(&thing), &[]), &lines, &settings);
        let remembered: Vec<Point> = obstacles.remembered().collect();
        assert_eq!(remembered.len(), 1);
        assert!((remembered[0] - Point::new(1.0, 4.0)).norm() < CELL);
        // Facing elsewhere.
        obstacles.update(&sight(2, pose, scan(&[Point::new(0.0, 2.0)]), &[]), &lines, &settings);
        assert_eq!(obstacles.remembered().count(), 2);
        // Measuring beyond it.
        let behind = [-0.01, 0.0, 0.01].map(|y| Point::new(4.0, y * 4.0));
        obstacles.update(&sight(3, pose, scan(&behind), &[]), &lines, &settings);
        assert!(obstacles.remembered().all(|point| (point - remembered[0]).norm() > 0.5));
        obstacles.update(&sight(4, pose, scan(&[]), &[]), &lines, &settings);
        obstacles.update(&sight(60, pose, None, &[]), &lines, &settings);
        assert_eq!(obstacles.remembered().count(), 0);
    }

    #[test]
    fn between_two_scans_the_last_one_holds() {
        let settings = Settings::default();
        let mut obstacles = Obstacles::default();
        let lines = no_lines(&settings);
        // Before the first scan it is blind, unless it has no laser.
        assert!(obstacles.is_blind(SECOND, &settings));
        assert!(!obstacles.is_blind(SECOND, &Settings { has_laser: false, ..Settings::default() }));
        obstacles.update(&sight(1, Pose::ORIGIN, scan(&[Point::new(2.0, 0.0)]), &[]), &lines, &settings);
        let ahead = Pose::new(0.5, 0.0, std::f64::consts::FRAC_PI_2);
        obstacles.update(&sight(2, ahead, None, &[]), &lines, &settings);
        assert!((obstacles.seen()[0] - Point::new(0.0, -1.5)).norm() < 1e-9);
        assert!(!obstacles.is_blind(SECOND * 2, &settings) && obstacles.is_blind(SECOND * 3, &settings));
    }

    #[test]
    fn ultrasonic_sensors_see_points_within_their_range() {
        let sensor =
            UltrasonicSettings { pose: Pose::new(0.45, 0.0, 0.0), height: 0.2, range: 2.0, cone: 0.2 };
        let settings = Settings { ultrasonics: vec![sensor; 3], ..Settings::default() };
        let mut obstacles = Obstacles::default();
        let lines = no_lines(&settings);
        obstacles.update(&sight(1, Pose::ORIGIN, None, &[0.5, 2.0, f64::NAN]), &lines, &settings);
        assert_eq!(obstacles.seen().len(), 3);
        assert!((obstacles.seen()[1] - Point::new(0.95, 0.0)).norm() < 1e-9);
        obstacles.place(Some(Point::new(3.0, 0.0)));
        obstacles.update(&sight(1, Pose::ORIGIN, None, &[]), &lines, &settings);
        assert_eq!(obstacles.seen().len(), 8);
    }
}

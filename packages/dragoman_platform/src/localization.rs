//! Where the platform is in the map: its odometry, corrected by what the laser sees of the map's lines.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Localizer`]: tracking, noticing that it is lost, finding itself |
//! | `lines.rs` | the map's lines, by place |
//! | `matching.rs` | a pose that fits a scan to the lines: iterated least squares with the odometry's prediction |
//! | `search.rs` | poses on the whole map, or about one, that explain a scan |
//!
//! A platform that was put somewhere, or is lost, tries poses of a raster with the scan; the best are fitted, and followed until one explains the
//! scans clearly better than all others.

mod lines;
mod matching;
mod search;

use dragoman_geometry::{Point, Pose, Segment, compose, position, transform, wrap_angle};
use dragoman_neobotix::map::Map;
use nalgebra::Matrix3;

use crate::motion::obstacles::Scan;
use crate::planning::field::DistanceField;
use crate::settings::LocalizationSettings;
pub(crate) use lines::Lines;
use search::Search;

/// Hypotheses that are followed, at most.
const MAX_HYPOTHESES: usize = 8;
/// Nearer than this two hypotheses are one, m and rad.
const SAME: [f64; 2] = [0.2, 0.15];
/// By how much the best has to explain more than the next, as a part of the points.
const LEAD: f64 = 0.06;
/// The odometry does not go farther in one cycle, m; beyond, somebody has set it.
const JUMP: f64 = 1.0;
/// Fewer points than this tell nothing.
const LEAST_POINTS: usize = 15;
/// What a new part counts against those before.
const SMOOTHING: f64 = 0.2;
/// Points of a scan for which it is looked whether the laser could see them.
const RAYS: usize = 40;
/// A point this much behind a line of the map is hidden by it, m.
const BEHIND: f64 = 0.2;
/// Scans that have to confirm a place.
const CONFIRMATIONS: u32 = 8;
/// Scans after which hypotheses that are all alike are given up for a new search.
const PATIENCE: u32 = 200;

/// Where the platform may be.
#[derive(Debug, Clone)]
struct Hypothesis {
    pose: Pose,
    /// Of x, y, m, and heading, rad.
    covariance: Matrix3<f64>,
    /// The part of the points that it explains less the part that contradicts it, smoothed.
    quality: f64,
}

/// How uncertain a pose is, as `CMD_GET_STATUS` tells it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Uncertainty {
    /// Standard deviation in the direction in which it is greatest, m.
    pub major: f64,
    /// Across, m.
    pub minor: f64,
    /// The direction in which it is greatest, in the map, rad.
    pub axis: f64,
    /// Standard deviation of the heading, rad.
    pub heading: f64,
}

#[derive(Debug)]
enum State {
    /// There is one place where it can be.
    Tracking,
    /// Places are looked for.
    Searching(Box<Search>),
    /// There are some.
    Choosing { scans: u32 },
}

/// Follows where the platform is.
#[derive(Debug)]
pub struct Localizer {
    lines: Lines,
    /// The best first; one at least.
    hypotheses: Vec<Hypothesis>,
    state: State,
    lost: bool,
    /// Whether there ever was a scan: without a laser nobody searches.
    sees: bool,
}

impl Localizer {
    /// Here, without a map.
    pub fn new(pose: Pose) -> Self {
        let hypothesis = Hypothesis { pose, covariance: Matrix3::zeros(), quality: 1.0 };
        Self {
            lines: Lines::default(),
            hypotheses: vec![hypothesis],
            state: State::Tracking,
            lost: false,
            sees: false,
        }
    }

    /// Another map; the platform is looked for about where it was.
    pub fn set_map(&mut self, map: &Map, settings: &LocalizationSettings) {
        self.set_lines(Lines::new(&map.lines), settings);
    }

    /// The same, of lines that are in order already.
    pub(crate) fn set_lines(&mut self, lines: Lines, settings: &LocalizationSettings) {
        self.lines = lines;
        self.place(self.pose(), settings);
    }

    /// Another map, of lines that the platform finds itself; where it is does not change.
    pub fn map_from(&mut self, lines: impl Iterator<Item = Segment>) {
        self.lines = Lines::new(&lines.collect::<Vec<_>>());
        self.hypotheses.truncate(1);
        self.state = State::Tracking;
        self.lost = false;
    }

    /// The platform is about here: within the search's radius and angle of the settings.
    pub fn place(&mut self, pose: Pose, settings: &LocalizationSettings) {
        let deviations =
            [settings.search_radius, settings.search_radius, settings.search_angle].map(|most| most / 2.0);
        self.set(pose, deviations);
        if !self.lines.is_empty() && settings.local {
            self.state = State::Searching(Box::new(Search::about(pose, settings)));
        }
    }

    /// The platform is here, with these standard deviations of x, y, m, and heading, rad; somebody else looks after it.
    pub fn set(&mut self, pose: Pose, deviations: [f64; 3]) {
        let covariance = Matrix3::from_diagonal(&deviations.map(|deviation| deviation * deviation).into());
        self.hypotheses = vec![Hypothesis { pose, covariance, quality: 1.0 }];
        self.state = State::Tracking;
        self.lost = false;
    }

    /// Goes on by what the odometry says: `step` is the way since the last time, in the platform's frame.
    pub fn predict(&mut self, step: Pose, settings: &LocalizationSettings) {
        let length = step.x.hypot(step.y);
        if length > JUMP || !step.is_finite() {
            return;
        }
        for hypothesis in &mut self.hypotheses {
            hypothesis.predict(step, length, settings);
        }
        if let State::Searching(search) = &mut self.state {
            search.moved(step);
        }
    }

    /// Corrects by a scan. `field`: how far it is to the next line, everywhere in the map. Some ten milliseconds of work at most; a search goes on
    /// with the next scan.
    pub fn correct(&mut self, scan: Scan<'_>, field: &DistanceField, settings: &LocalizationSettings) {
        if self.lines.is_empty() || !settings.local {
            return;
        }
        self.sees = true;
        let (origin, points) = (scan.origin, thinned(scan.points, settings.max_points));
        if points.len() < LEAST_POINTS {
            return;
        }
        match &mut self.state {
            State::Tracking => {
                let Some(hypothesis) = self.hypotheses.first_mut() else {
                    return;
                };
                hypothesis.correct(origin, &points, &self.lines, settings);
                if hypothesis.quality < settings.lost_below {
                    self.lost = true;
                    self.state = State::Searching(Box::new(Search::about(hypothesis.pose, settings)));
                }
            }
            State::Searching(search) => {
                let Some(found) = search.go_on(&points, field) else {
                    return;
                };
                let everywhere = search.is_everywhere();
                let within = search.area(settings);
                self.choose_from(found, within, (origin, &points), settings);
                if self.hypotheses_are_good(settings) {
                    self.state = State::Choosing { scans: 0 };
                } else if everywhere || !settings.global {
                    self.lost = true;
                    self.state = State::Searching(Box::new(Search::about(self.pose(), settings)));
                } else {
                    self.lost = true;
                    self.state = State::Searching(Box::new(Search::everywhere(field)));
                }
            }
            State::Choosing { scans } => {
                *scans += 1;
                let (patient, confirmed) = (*scans < PATIENCE, *scans >= CONFIRMATIONS);
                for hypothesis in &mut self.hypotheses {
                    hypothesis.correct(origin, &points, &self.lines, settings);
                }
                self.sort();
                if !patient || !self.hypotheses_are_good(settings) {
                    self.lost = true;
                    self.state = State::Searching(Box::new(Search::everywhere(field)));
                } else if confirmed {
                    self.choose(settings);
                }
            }
        }
    }

    /// Corrects by a scan of which there may be little or nothing in the map yet.
    pub fn follow(&mut self, scan: Scan<'_>, settings: &LocalizationSettings) {
        let points = thinned(scan.points, settings.max_points);
        if let Some(hypothesis) = self.hypotheses.first_mut()
            && !self.lines.is_empty()
            && settings.local
        {
            hypothesis.correct(scan.origin, &points, &self.lines, settings);
        }
    }

    /// Where the platform is most likely, in the map.
    pub fn pose(&self) -> Pose {
        self.hypotheses.first().map_or(Pose::ORIGIN, |hypothesis| hypothesis.pose)
    }

    /// All places where it may be, the most likely first.
    pub fn candidates(&self) -> impl Iterator<Item = Pose> + '_ {
        self.hypotheses.iter().map(|hypothesis| hypothesis.pose)
    }

    /// The covariance of x, y, m, and heading, rad.
    pub fn covariance(&self) -> Matrix3<f64> {
        self.hypotheses.first().map_or(Matrix3::zeros(), |hypothesis| hypothesis.covariance)
    }

    /// The same in the form of the status.
    pub fn uncertainty(&self) -> Uncertainty {
        let covariance = self.covariance();
        let [xx, yy, xy] = [covariance[(0, 0)], covariance[(1, 1)], covariance[(0, 1)]];
        let middle = (xx + yy) / 2.0;
        let spread = ((xx - yy) / 2.0).hypot(xy);
        Uncertainty {
            major: (middle + spread).max(0.0).sqrt(),
            minor: (middle - spread).max(0.0).sqrt(),
            axis: (2.0 * xy).atan2(xx - yy) / 2.0,
            heading: covariance[(2, 2)].max(0.0).sqrt(),
        }
    }

    /// Whether nobody knows where the platform is.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Whether the platform has just been put somewhere, or is lost, and looks where it is. Without a laser it is where it was put.
    pub fn is_searching(&self) -> bool {
        self.sees && !matches!(self.state, State::Tracking)
    }

    /// Fits what a search has found to the scan. `within`: what is farther from this pose, m and rad, was not meant.
    fn choose_from(
        &mut self,
        found: Vec<Pose>,
        within: Option<(Pose, [f64; 2])>,
        (origin, points): (Point, &[Point]),
        settings: &LocalizationSettings,
    ) {
        let Some(last) = self.hypotheses.first().cloned() else {
            return;
        };
        let mut fitted: Vec<Hypothesis> = Vec::new();
        for pose in found {
            let mut hypothesis = Hypothesis { pose, covariance: search::covariance(), quality: 0.0 };
            hypothesis.quality = hypothesis.fit(origin, points, &self.lines, settings);
            if within.is_none_or(|(centre, reach)| is_near(centre, hypothesis.pose, reach)) {
                fitted.push(hypothesis);
            }
        }
        self.hypotheses = fitted;
        self.sort();
        if !self.hypotheses_are_good(settings) {
            self.hypotheses = vec![last];
        }
    }

    fn hypotheses_are_good(&self, settings: &LocalizationSettings) -> bool {
        self.hypotheses.first().is_some_and(|best| best.quality >= settings.found_above)
    }

    /// The best first; what is the same is one, what is much worse is none.
    fn sort(&mut self) {
        self.hypotheses.sort_by(|a, b| b.quality.total_cmp(&a.quality));
        let best = self.hypotheses.first().map_or(0.0, |best| best.quality);
        let mut kept: Vec<Hypothesis> = Vec::new();
        for hypothesis in self.hypotheses.drain(..) {
            let wanted =
                hypothesis.quality > best - 0.25 && !kept.iter().any(|other| other.is_same(&hypothesis));
            if kept.is_empty() || (wanted && kept.len() < MAX_HYPOTHESES) {
                kept.push(hypothesis);
            }
        }
        self.hypotheses = kept;
    }

    /// Takes the best if it is clearly the best.
    fn choose(&mut self, settings: &LocalizationSettings) {
        let next = self.hypotheses.get(1).map_or(0.0, |next| next.quality);
        if self
            .hypotheses
            .first()
            .is_some_and(|best| best.quality >= settings.found_above && best.quality > next + LEAD)
        {
            self.hypotheses.truncate(1);
            self.state = State::Tracking;
            self.lost = false;
        }
    }
}

impl Hypothesis {
    fn predict(&mut self, step: Pose, length: f64, settings: &LocalizationSettings) {
        let before = self.pose;
        self.pose = compose(before, step);
        let (dx, dy) = (self.pose.x - before.x, self.pose.y - before.y);
        // How the new pose depends on the old one.
        let carry = Matrix3::new(1.0, 0.0, -dy, 0.0, 1.0, dx, 0.0, 0.0, 1.0);
        let way = (settings.distance_noise * length).powi(2);
        let turn = (settings.turn_noise * step.heading).powi(2) + (settings.drift_noise * length).powi(2);
        self.covariance =
            carry * self.covariance * carry.transpose() + Matrix3::from_diagonal(&[way, way, turn].into());
    }

    fn correct(&mut self, origin: Point, points: &[Point], lines: &Lines, settings: &LocalizationSettings) {
        let fit = matching::fit(self.pose, self.covariance, points, lines, settings);
        (self.pose, self.covariance) = (fit.pose, fit.covariance);
        let quality = fit.explained - self.contradicted(origin, points, lines);
        self.quality += SMOOTHING * (quality - self.quality);
    }

    /// From far away: several times, more exactly each time. How good it is then.
    fn fit(
        &mut self,
        origin: Point,
        points: &[Point],
        lines: &Lines,
        settings: &LocalizationSettings,
    ) -> f64 {
        let mut explained = 0.0;
        for _ in 0..4 {
            let fit = matching::fit(self.pose, self.covariance, points, lines, settings);
            self.pose = fit.pose;
            explained = fit.explained;
            self.covariance = fit.covariance * 4.0;
        }
        self.covariance /= 4.0;
        explained - self.contradicted(origin, points, lines)
    }

    /// The part of the points that the laser could not see from there, because a line of the map is before them.
    fn contradicted(&self, origin: Point, points: &[Point], lines: &Lines) -> f64 {
        let looked_at = thinned(points, RAYS);
        let from = transform(self.pose, origin);
        let hidden = looked_at.iter().filter(|&&point| {
            let way = transform(self.pose, point) - from;
            let length = way.norm();
            length > BEHIND && lines.is_crossed(&Segment::new(from, from + way * (1.0 - BEHIND / length)))
        });
        hidden.count() as f64 / looked_at.len().max(1) as f64
    }

    fn is_same(&self, other: &Self) -> bool {
        is_near(self.pose, other.pose, SAME)
    }
}

fn is_near(a: Pose, b: Pose, [away, turned]: [f64; 2]) -> bool {
    (position(a) - position(b)).norm() < away && wrap_angle(a.heading - b.heading).abs() < turned
}

/// At most so many points, evenly.
fn thinned(points: &[Point], most: usize) -> Vec<Point> {
    let step = points.len().div_ceil(most.max(1)).max(1);
    points.iter().step_by(step).copied().collect()
}

#[cfg(test)]
mod tests;

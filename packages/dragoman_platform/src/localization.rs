//! The platform's pose in the map: odometry, corrected by matching laser scans with the map's lines.
//!
//! | file | holds |
//! | --- | --- |
//! | this one | [`Localizer`]: tracking, detecting that localization is lost, global search |
//! | `lines.rs` | the map's lines with a spatial index |
//! | `matching.rs` | fitting a pose to a scan: iterated least squares with the odometry's prediction |
//! | `search.rs` | poses on the whole map, or around a given one, that explain a scan |
//!
//! After the pose was set or lost, poses of a raster are compared with the scan; the best are fitted and tracked until
//! one explains the scans clearly better than all others.

mod lines;
mod matching;
mod search;

use std::sync::Arc;

use dragoman_geometry::{Point, Pose, Segment, compose, position, transform, wrap_angle};
use dragoman_neobotix::map::Map;
use nalgebra::Matrix3;

use crate::motion::obstacles::Scan;
use crate::planning::field::DistanceField;
use crate::settings::LocalizationSettings;
pub(crate) use lines::Lines;
use search::Search;

/// Maximum number of tracked hypotheses.
const MAX_HYPOTHESES: usize = 8;
/// Hypotheses closer than this are merged, m and rad.
const SAME: [f64; 2] = [0.2, 0.15];
/// Minimum lead of the best hypothesis over the next, as a fraction of the points.
const LEAD: f64 = 0.06;
/// Maximum motion of the odometry in one cycle, m; a larger change means that it was reset.
const JUMP: f64 = 1.0;
/// Minimum number of points for a match.
const MIN_POINTS: usize = 15;
/// Weight of a new value in the moving average.
const SMOOTHING: f64 = 0.2;
/// Number of scan points that are checked for visibility.
const RAYS: usize = 40;
/// A point this much behind a line of the map is hidden by it, m.
const BEHIND: f64 = 0.2;
/// Number of scans that have to confirm a pose.
const CONFIRMATIONS: u32 = 8;
/// Number of scans after which equally good hypotheses are discarded for a new search.
const MAX_CHOOSING_SCANS: u32 = 200;

/// A possible pose.
#[derive(Debug, Clone)]
struct Hypothesis {
    pose: Pose,
    /// Of x, y, m, and heading, rad.
    covariance: Matrix3<f64>,
    /// Fraction of the points that it explains minus the fraction that contradicts it, smoothed.
    quality: f64,
}

/// Uncertainty of a pose, as in `CMD_GET_STATUS`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Uncertainty {
    /// Standard deviation along the major axis, m.
    pub major: f64,
    /// Standard deviation along the minor axis, m.
    pub minor: f64,
    /// Direction of the major axis, in the map, rad.
    pub axis: f64,
    /// Standard deviation of the heading, rad.
    pub heading: f64,
}

#[derive(Debug)]
enum SearchState {
    /// There is exactly one hypothesis.
    Tracking,
    /// A search is running.
    Searching(Box<Search>),
    /// There are several hypotheses.
    Choosing { scans: u32 },
}

/// Estimates the platform's pose.
#[derive(Debug)]
pub struct Localizer {
    lines: Arc<Lines>,
    /// The best first; never empty.
    hypotheses: Vec<Hypothesis>,
    state: SearchState,
    lost: bool,
    /// Whether there ever was a scan: without a laser there is no search.
    sees: bool,
}

impl Localizer {
    /// At this pose, without a map.
    pub fn new(pose: Pose) -> Self {
        let hypothesis = Hypothesis { pose, covariance: Matrix3::zeros(), quality: 1.0 };
        Self {
            lines: Arc::default(),
            hypotheses: vec![hypothesis],
            state: SearchState::Tracking,
            lost: false,
            sees: false,
        }
    }

    /// Sets another map; the platform is searched around its last pose.
    pub fn set_map(&mut self, map: &Map, settings: &LocalizationSettings) {
        self.set_lines(Arc::new(Lines::new(&map.lines)), settings);
    }

    /// The same with preprocessed lines.
    pub(crate) fn set_lines(&mut self, lines: Arc<Lines>, settings: &LocalizationSettings) {
        self.lines = lines;
        self.place(self.pose(), settings);
    }

    /// Sets a map of lines that the platform extracted itself; the pose does not change.
    pub fn map_from(&mut self, lines: impl Iterator<Item = Segment>) {
        self.lines = Arc::new(Lines::new(&lines.collect::<Vec<_>>()));
        self.hypotheses.truncate(1);
        self.state = SearchState::Tracking;
        self.lost = false;
    }

    /// Sets an approximate pose: the platform is within the search radius and angle of the settings.
    pub fn place(&mut self, pose: Pose, settings: &LocalizationSettings) {
        let deviations =
            [settings.search_radius, settings.search_radius, settings.search_angle].map(|most| most / 2.0);
        self.set(pose, deviations);
        if !self.lines.is_empty() && settings.local {
            self.state = SearchState::Searching(Box::new(Search::about(pose, settings)));
        }
    }

    /// Sets the pose from an external localization, with these standard deviations of x, y, m, and heading, rad.
    pub fn set(&mut self, pose: Pose, deviations: [f64; 3]) {
        let covariance = Matrix3::from_diagonal(&deviations.map(|deviation| deviation * deviation).into());
        self.hypotheses = vec![Hypothesis { pose, covariance, quality: 1.0 }];
        self.state = SearchState::Tracking;
        self.lost = false;
    }

    /// Predicts the pose by odometry: `step` is the motion since the last call, in the platform's frame.
    pub fn predict(&mut self, step: Pose, settings: &LocalizationSettings) {
        let length = step.x.hypot(step.y);
        if length > JUMP || !step.is_finite() {
            return;
        }
        for hypothesis in &mut self.hypotheses {
            hypothesis.predict(step, length, settings);
        }
        if let SearchState::Searching(search) = &mut self.state {
            search.moved(step);
        }
    }

    /// Corrects the pose by a scan. `field`: distance to the next line, everywhere in the map. Takes at most some ten
    /// milliseconds; a search continues with the next scan.
    pub fn correct(&mut self, scan: Scan<'_>, field: &DistanceField, settings: &LocalizationSettings) {
        if self.lines.is_empty() || !settings.local {
            return;
        }
        self.sees = true;
        let (origin, points) = (scan.origin, thinned(scan.points, settings.max_points));
        if points.len() < MIN_POINTS {
            return;
        }
        match &mut self.state {
            SearchState::Tracking => {
                let Some(hypothesis) = self.hypotheses.first_mut() else {
                    return;
                };
                hypothesis.correct(origin, &points, &self.lines, settings);
                if hypothesis.quality < settings.lost_below {
                    self.lost = true;
                    self.state = SearchState::Searching(Box::new(Search::about(hypothesis.pose, settings)));
                }
            }
            SearchState::Searching(search) => {
                let Some(found) = search.go_on(&points, field) else {
                    return;
                };
                let everywhere = search.is_everywhere();
                let within = search.area(settings);
                self.choose_from(found, within, (origin, &points), settings);
                if self.hypotheses_are_good(settings) {
                    self.state = SearchState::Choosing { scans: 0 };
                } else if everywhere || !settings.global {
                    self.lost = true;
                    self.state = SearchState::Searching(Box::new(Search::about(self.pose(), settings)));
                } else {
                    self.lost = true;
                    self.state = SearchState::Searching(Box::new(Search::everywhere(field)));
                }
            }
            SearchState::Choosing { scans } => {
                *scans += 1;
                let (patient, confirmed) = (*scans < MAX_CHOOSING_SCANS, *scans >= CONFIRMATIONS);
                for hypothesis in &mut self.hypotheses {
                    hypothesis.correct(origin, &points, &self.lines, settings);
                }
                self.sort();
                if !patient || !self.hypotheses_are_good(settings) {
                    self.lost = true;
                    self.state = SearchState::Searching(Box::new(Search::everywhere(field)));
                } else if confirmed {
                    self.choose(settings);
                }
            }
        }
    }

    /// Corrects the pose by a scan that may hardly be in the map yet.
    pub fn follow(&mut self, scan: Scan<'_>, settings: &LocalizationSettings) {
        let points = thinned(scan.points, settings.max_points);
        if let Some(hypothesis) = self.hypotheses.first_mut()
            && !self.lines.is_empty()
            && settings.local
        {
            hypothesis.correct(scan.origin, &points, &self.lines, settings);
        }
    }

    /// The most likely pose, in the map.
    pub fn pose(&self) -> Pose {
        self.hypotheses.first().map_or(Pose::ORIGIN, |hypothesis| hypothesis.pose)
    }

    /// All possible poses, the most likely first.
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

    /// Whether localization is lost.
    pub fn is_lost(&self) -> bool {
        self.lost
    }

    /// Whether the pose was just set, or is lost, and a search is running. Without a laser the pose is as it was set.
    pub fn is_searching(&self) -> bool {
        self.sees && !matches!(self.state, SearchState::Tracking)
    }

    /// Fits the results of a search to the scan. `within`: results farther from this pose, m and rad, are discarded.
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

    /// Sorts, the best first; merges equal hypotheses and removes those that are much worse.
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

    /// Chooses the best if it is clearly the best.
    fn choose(&mut self, settings: &LocalizationSettings) {
        let next = self.hypotheses.get(1).map_or(0.0, |next| next.quality);
        if self
            .hypotheses
            .first()
            .is_some_and(|best| best.quality >= settings.found_above && best.quality > next + LEAD)
        {
            self.hypotheses.truncate(1);
            self.state = SearchState::Tracking;
            self.lost = false;
        }
    }
}

impl Hypothesis {
    fn predict(&mut self, step: Pose, length: f64, settings: &LocalizationSettings) {
        let before = self.pose;
        self.pose = compose(before, step);
        let (dx, dy) = (self.pose.x - before.x, self.pose.y - before.y);
        // Derivative of the new pose with respect to the old one.
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

    /// Fits from far away, in several steps of increasing accuracy; returns the quality.
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

    /// The fraction of the points that the laser could not see from there, because a line of the map hides them.
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

/// At most `most` points, evenly distributed.
fn thinned(points: &[Point], most: usize) -> Vec<Point> {
    let step = points.len().div_ceil(most.max(1)).max(1);
    points.iter().step_by(step).copied().collect()
}

#[cfg(test)]
mod tests;

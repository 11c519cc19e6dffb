//! Round corners, and the fastest motion along a path within the limits of speed and acceleration.
//!
//! Source: Pham and Pham, "A new approach to time-optimal path parameterization based on reachability analysis", IEEE
//! Transactions on Robotics 34 (2018). Corners are rounded by parabolas, as there is no motion through a corner without a
//! stop.

use super::PlanningError;
use super::check::Checker;

/// Intervals of the path parameter per straight piece and per corner.
const INTERVALS: usize = 24;
/// How often a corner that would touch something is made half as round.
const HALVINGS: u32 = 6;
/// Slopes below this have no part in a limit.
const FLAT: f64 = 1e-12;

/// A point of a motion.
#[derive(Debug, Clone, PartialEq)]
pub struct TrajectoryPoint {
    /// Time since its begin, s.
    pub time: f64,
    /// Joint positions, rad or m.
    pub position: Vec<f64>,
    /// Their velocities, per second.
    pub velocity: Vec<f64>,
    /// Their accelerations, per second squared.
    pub acceleration: Vec<f64>,
}

/// A motion in time, at rest at both ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trajectory {
    /// Its points, in the order of time.
    pub points: Vec<TrajectoryPoint>,
}

impl Trajectory {
    /// Its duration, s.
    pub fn duration(&self) -> f64 {
        self.points.last().map_or(0.0, |point| point.time)
    }
}

/// The fastest motion along a path with rounded corners, sampled every `period`, s.
///
/// `limits` are the maximum velocity and acceleration of each joint. `rounding` is the longest part of an edge that a
/// corner takes, rad or m in joint space; a corner that would touch something becomes less round, at last not at all: the
/// arm then stops there.
///
/// # Errors
/// [`PlanningError::NoLimit`].
pub fn time(
    checker: &mut Checker<'_>,
    path: &[Vec<f64>],
    limits: &[[f64; 2]],
    rounding: f64,
    period: f64,
) -> Result<Trajectory, PlanningError> {
    let joints = checker.robot.joints();
    for (index, joint) in joints.iter().enumerate() {
        let given = limits.get(index).copied().unwrap_or([f64::INFINITY; 2]);
        for (limit, value) in ["velocity", "acceleration"].into_iter().zip(given) {
            if !(value.is_finite() && value > 0.0) {
                return Err(PlanningError::NoLimit { joint: joint.name.clone(), limit });
            }
        }
    }
    let count = joints.len();
    let mut motion = Motion { points: Vec::new(), begin: 0.0 };
    // Between two stops, one motion.
    for pieces in pieces(checker, path, rounding) {
        let (grid, speeds) = profile(&pieces, limits);
        motion.sample(&pieces, &grid, &speeds, period);
    }
    let mut points = motion.points;
    if points.is_empty() {
        let still = vec![0.0; count];
        let position = path.first().cloned().unwrap_or_else(|| still.clone());
        points.push(TrajectoryPoint { time: 0.0, position, velocity: still.clone(), acceleration: still });
    }
    Ok(Trajectory { points })
}

/// A piece of a path: `a + b s + c s^2 / 2`, for s from 0 to `length`; the slope at its ends has length 1.
struct Piece {
    a: Vec<f64>,
    b: Vec<f64>,
    c: Vec<f64>,
    length: f64,
}

impl Piece {
    fn straight(from: &[f64], to: &[f64]) -> Option<Self> {
        let length = distance(from, to);
        let b = from.iter().zip(to).map(|(a, b)| (b - a) / length).collect();
        (length > 1e-9).then(|| Self { a: from.to_vec(), b, c: vec![0.0; from.len()], length })
    }

    /// From `from` to `to`, which are equally far from the corner.
    fn corner(from: &[f64], corner: &[f64], to: &[f64]) -> Self {
        let reach = distance(from, corner);
        let length = 2.0 * reach;
        let b: Vec<f64> = from.iter().zip(corner).map(|(a, b)| (b - a) / reach).collect();
        let out = corner.iter().zip(to).map(|(a, b)| (b - a) / reach);
        let c = b.iter().zip(out).map(|(before, after)| (after - before) / length).collect();
        Self { a: from.to_vec(), b, c, length }
    }

    fn position(&self, s: f64) -> Vec<f64> {
        let along = self.a.iter().zip(&self.b).zip(&self.c);
        along.map(|((a, b), c)| a + b * s + c * s * s / 2.0).collect()
    }

    fn slope(&self, s: f64) -> impl Iterator<Item = f64> + '_ {
        self.b.iter().zip(&self.c).map(move |(b, c)| b + c * s)
    }

    fn is_free(&self, checker: &mut Checker<'_>) -> bool {
        // A slope changes evenly: it is steepest at an end.
        let steepest = self.slope(0.0).zip(self.slope(self.length)).map(|(a, b)| a.abs().max(b.abs()));
        let rates: Vec<f64> = steepest.map(|slope| slope * self.length).collect();
        // The ends are on edges, between their samples.
        checker.collision(&self.a).is_none()
            && checker.is_way_free(&rates, false, |share, between| {
                let s = self.length * share;
                for (((value, a), b), c) in between.iter_mut().zip(&self.a).zip(&self.b).zip(&self.c) {
                    *value = a + b * s + c * s * s / 2.0;
                }
            })
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

fn between(from: &[f64], to: &[f64], share: f64) -> Vec<f64> {
    from.iter().zip(to).map(|(a, b)| a + (b - a) * share).collect()
}

/// The pieces of a path between its stops.
fn pieces(checker: &mut Checker<'_>, path: &[Vec<f64>], rounding: f64) -> Vec<Vec<Piece>> {
    let mut parts = Vec::new();
    let mut part = Vec::new();
    let Some(mut begin) = path.first().cloned() else { return parts };
    for corner in path.windows(3) {
        let [before, at, after] = [&corner[0], &corner[1], &corner[2]];
        let (incoming, outgoing) = (distance(before, at), distance(at, after));
        let mut reach = rounding.min(incoming / 2.0).min(outgoing / 2.0);
        let mut rounded = None;
        for _ in 0..HALVINGS {
            if reach < 1e-6 {
                break;
            }
            let (enter, leave) =
                (between(at, before, reach / incoming), between(at, after, reach / outgoing));
            let piece = Piece::corner(&enter, at, &leave);
            if piece.is_free(checker) {
                rounded = Some((enter, piece, leave));
                break;
            }
            reach /= 2.0;
        }
        match rounded {
            Some((enter, piece, leave)) => {
                part.extend(Piece::straight(&begin, &enter));
                part.push(piece);
                begin = leave;
            }
            None => {
                part.extend(Piece::straight(&begin, at));
                parts.push(std::mem::take(&mut part));
                begin.clone_from(at);
            }
        }
    }
    if let Some(end) = path.last() {
        part.extend(Piece::straight(&begin, end));
    }
    parts.push(part);
    parts.retain(|part| !part.is_empty());
    parts
}

/// An interval of the path parameter: its piece, and where in it.
struct Interval {
    piece: usize,
    from: f64,
    to: f64,
}

/// A bound `slope * x + offset` of the acceleration along the path, where x is the squared speed.
#[derive(Clone, Copy)]
struct Bound {
    slope: f64,
    offset: f64,
}

/// What the limits allow in an interval.
struct Allowed {
    lower: Vec<Bound>,
    upper: Vec<Bound>,
    /// Maximum squared speed at its begin.
    square: f64,
}

impl Allowed {
    fn of(piece: &Piece, interval: &Interval, limits: &[[f64; 2]]) -> Self {
        let width = interval.to - interval.from;
        let mut allowed = Self { lower: Vec::new(), upper: Vec::new(), square: f64::INFINITY };
        let ends = [(interval.from, 0.0), (interval.to, 2.0 * width)];
        for (at, (s, ahead)) in ends.into_iter().enumerate() {
            for ((slope, curve), [velocity, acceleration]) in piece.slope(s).zip(&piece.c).zip(limits) {
                if at == 0 && slope.abs() > FLAT {
                    allowed.square = allowed.square.min((velocity / slope).powi(2));
                }
                // slope * u + curve * (x + ahead * u) is within the acceleration, with the path acceleration u.
                allowed.limit(slope + curve * ahead, *curve, *acceleration);
            }
        }
        allowed
    }

    /// |a u + b x| <= c.
    fn limit(&mut self, a: f64, b: f64, c: f64) {
        if a.abs() > FLAT {
            let (slope, offset) = (-b / a, c / a.abs());
            self.upper.push(Bound { slope, offset });
            self.lower.push(Bound { slope, offset: -offset });
        } else if b.abs() > FLAT {
            self.square = self.square.min(c / b.abs());
        }
    }

    /// The maximum squared speed from which one of at most `next` can be reached over `width`.
    fn controllable(&self, next: f64, width: f64) -> f64 {
        let mut square = self.square;
        // x + 2 width u is within 0 to next.
        let brake = Bound { slope: -1.0 / (2.0 * width), offset: 0.0 };
        let reach = Bound { slope: brake.slope, offset: next / (2.0 * width) };
        for upper in self.upper.iter().chain([&reach]) {
            for lower in self.lower.iter().chain([&brake]) {
                // lower(x) <= upper(x)
                let slope = lower.slope - upper.slope;
                if slope > FLAT {
                    square = square.min((upper.offset - lower.offset) / slope);
                }
            }
        }
        square.max(0.0)
    }

    /// The maximum acceleration at this squared speed that leads to at most `next`.
    fn fastest(&self, square: f64, next: f64, width: f64) -> f64 {
        let reach = (next - square) / (2.0 * width);
        self.upper.iter().map(|bound| bound.slope * square + bound.offset).fold(reach, f64::min)
    }
}

/// The intervals of a motion, and the squared speeds at their ends.
fn profile(pieces: &[Piece], limits: &[[f64; 2]]) -> (Vec<Interval>, Vec<f64>) {
    let mut grid = Vec::with_capacity(pieces.len() * INTERVALS);
    for (piece, known) in pieces.iter().enumerate() {
        let at = |step: usize| known.length * step as f64 / INTERVALS as f64;
        grid.extend((0..INTERVALS).map(|step| Interval { piece, from: at(step), to: at(step + 1) }));
    }
    let allowed: Vec<Allowed> =
        grid.iter().map(|interval| Allowed::of(&pieces[interval.piece], interval, limits)).collect();
    // Backwards: from which speeds the rest can be driven.
    let mut controllable = vec![0.0; grid.len() + 1];
    for index in (0..grid.len()).rev() {
        let width = grid[index].to - grid[index].from;
        controllable[index] = allowed[index].controllable(controllable[index + 1], width);
    }
    // Forwards: as fast as possible.
    let mut squares = vec![0.0; grid.len() + 1];
    for index in 0..grid.len() {
        let width = grid[index].to - grid[index].from;
        let fastest = allowed[index].fastest(squares[index], controllable[index + 1], width);
        squares[index + 1] = (squares[index] + 2.0 * width * fastest).clamp(0.0, controllable[index + 1]);
    }
    (grid, squares)
}

struct Motion {
    points: Vec<TrajectoryPoint>,
    /// Time at which the next part begins, s.
    begin: f64,
}

impl Motion {
    /// Adds samples of a part between two stops.
    fn sample(&mut self, pieces: &[Piece], grid: &[Interval], squares: &[f64], period: f64) {
        let mut time = self.begin;
        // Time of the next sample since the begin of this part.
        let mut count = 0_u32;
        let due = |count: u32| self.begin + f64::from(count) * period;
        let mut points = Vec::new();
        let mut last = None;
        for (index, interval) in grid.iter().enumerate() {
            let width = interval.to - interval.from;
            let (from, to) = (squares[index].sqrt(), squares[index + 1].sqrt());
            let acceleration = (squares[index + 1] - squares[index]) / (2.0 * width);
            let duration = 2.0 * width / (from + to).max(1e-9);
            let piece = &pieces[interval.piece];
            let point = |at: f64, since: f64| {
                let s = (interval.from + from * since + acceleration * since * since / 2.0).min(interval.to);
                let speed = (from + acceleration * since).max(0.0);
                let curves = piece.c.iter();
                TrajectoryPoint {
                    time: at,
                    position: piece.position(s),
                    velocity: piece.slope(s).map(|slope| slope * speed).collect(),
                    acceleration: piece
                        .slope(s)
                        .zip(curves)
                        .map(|(slope, curve)| slope * acceleration + curve * speed * speed)
                        .collect(),
                }
            };
            while due(count) < time + duration {
                let at = due(count);
                points.push(point(at, at - time));
                count += 1;
            }
            time += duration;
            last = Some(point(time, duration));
        }
        if let Some(mut last) = last {
            last.velocity.fill(0.0);
            last.acceleration.fill(0.0);
            // Two points at nearly one time would be a jump.
            if points.last().is_some_and(|point: &TrajectoryPoint| last.time - point.time < period / 10.0) {
                points.pop();
            }
            points.push(last);
        }
        // A stop is the end of one part and the begin of the next.
        let known = usize::from(!self.points.is_empty());
        self.points.extend(points.into_iter().skip(known));
        self.begin = time;
    }
}

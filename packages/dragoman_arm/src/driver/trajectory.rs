//! A joint trajectory and its interpolation, as `control_msgs/FollowJointTrajectory` gives it.

/// A point of a trajectory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Point {
    /// Time from the trajectory's start, s.
    pub time: f64,
    /// Positions, one per joint, rad or m.
    pub position: Vec<f64>,
    /// Velocities, one per joint, or none.
    pub velocity: Vec<f64>,
    /// Accelerations, one per joint, or none; only with velocities.
    pub acceleration: Vec<f64>,
}

/// Tolerance of a joint; `None` where any deviation is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Tolerance {
    /// Of the position, rad or m.
    pub position: Option<f64>,
    /// Of the velocity, rad/s or m/s.
    pub velocity: Option<f64>,
}

/// The tolerances of a trajectory, one per joint each.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Tolerances {
    /// During the motion.
    pub path: Vec<Tolerance>,
    /// At the end.
    pub goal: Vec<Tolerance>,
    /// Allowed delay of reaching the goal, s; 0: no limit.
    pub goal_time: f64,
}

/// Why a trajectory is refused before anything moves.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum TrajectoryError {
    /// No points.
    #[error("the trajectory has no points")]
    Empty,
    /// A point with the wrong number of values.
    #[error("point {point} has {given} {what}; the arm has {joints} joints")]
    WrongLength {
        /// Index of the point.
        point: usize,
        /// Kind of the values: positions, velocities or accelerations.
        what: &'static str,
        /// Number of given values.
        given: usize,
        /// Expected number.
        joints: usize,
    },
    /// NaN or infinite.
    #[error("point {point} holds a value that is not finite")]
    NotFinite {
        /// Index of the point.
        point: usize,
    },
    /// A point that is not later than the one before.
    #[error("point {point} is at {time} s, not later than the point before")]
    NotLater {
        /// Index of the point.
        point: usize,
        time: f64,
    },
    /// A joint would have to move too fast.
    #[error("joint {joint} would move at {velocity:.3} to point {point}; it may at {limit:.3}")]
    TooFast {
        /// Index of the point.
        point: usize,
        /// Index of the joint.
        joint: usize,
        /// The required average velocity, per second.
        velocity: f64,
        /// The joint's limit.
        limit: f64,
    },
}

/// A validated trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    points: Vec<Point>,
    /// Number of points before the given ones: the arm's position, unless a point is given for it.
    added: usize,
    /// The segment of the last sample: samples come in order of time.
    segment: usize,
}

impl Trajectory {
    /// Checks `points` for an arm that is at `start` and moves at most at `max_velocity`.
    ///
    /// # Errors
    /// The first error in the points.
    pub fn new(points: Vec<Point>, start: &[f64], max_velocity: &[f64]) -> Result<Self, TrajectoryError> {
        if points.is_empty() {
            return Err(TrajectoryError::Empty);
        }
        let at_start =
            Point { position: start.to_vec(), velocity: vec![0.0; start.len()], ..Point::default() };
        for (index, point) in points.iter().enumerate() {
            check_values(index, point, start.len())?;
            let before = index.checked_sub(1).and_then(|before| points.get(before));
            if point.time < 0.0 || before.is_some_and(|before| before.time >= point.time) {
                return Err(TrajectoryError::NotLater { point: index, time: point.time });
            }
            check_velocity(index, before.unwrap_or(&at_start), point, max_velocity)?;
        }
        let mut all = Vec::with_capacity(points.len() + 1);
        // A first point at time 0 is the arm's position, as checked above.
        if points.first().is_some_and(|first| first.time > 0.0) {
            all.push(at_start);
        }
        let added = all.len();
        all.extend(points);
        Ok(Self { points: all, added, segment: 0 })
    }

    /// Its duration, s.
    pub fn duration(&self) -> f64 {
        self.points.last().map_or(0.0, |last| last.time)
    }

    /// Writes the positions at `time` to `position`: linear between points without velocities, cubic with velocities,
    /// quintic with accelerations as well; the last point's after the end.
    pub fn sample(&mut self, time: f64, position: &mut [f64]) {
        let after = |index: usize| self.points.get(index + 1);
        if self.points.get(self.segment).is_some_and(|from| time < from.time) {
            self.segment = 0;
        }
        while after(self.segment).is_some_and(|next| next.time <= time) {
            self.segment += 1;
        }
        let Some(from) = self.points.get(self.segment) else { return };
        match after(self.segment) {
            Some(to) => interpolate(from, to, time, position),
            None => position.copy_from_slice(&from.position),
        }
    }

    /// Index, among the given points, of the one that follows the last sample; of the last point after the end.
    pub fn next_point(&self) -> usize {
        (self.segment + 1).min(self.points.len() - 1) - self.added
    }

    /// The last point's positions.
    pub fn goal(&self) -> &[f64] {
        self.points.last().map_or(&[], |last| &last.position)
    }
}

fn check_values(index: usize, point: &Point, joints: usize) -> Result<(), TrajectoryError> {
    let lists = [
        ("positions", &point.position, false),
        ("velocities", &point.velocity, true),
        ("accelerations", &point.acceleration, true),
    ];
    for (what, values, optional) in lists {
        if values.len() != joints && !(optional && values.is_empty()) {
            return Err(TrajectoryError::WrongLength { point: index, what, given: values.len(), joints });
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(TrajectoryError::NotFinite { point: index });
        }
    }
    if point.time.is_finite() { Ok(()) } else { Err(TrajectoryError::NotFinite { point: index }) }
}

/// Tolerance of a first point at time 0, rad or m.
const AT_ONCE: f64 = 1e-3;

fn check_velocity(index: usize, from: &Point, to: &Point, limits: &[f64]) -> Result<(), TrajectoryError> {
    let joints = from.position.iter().zip(&to.position).zip(limits).enumerate();
    for (joint, ((from_position, to_position), limit)) in joints {
        let (way, time) = ((to_position - from_position).abs(), to.time - from.time);
        if way > limit * time * 1.000_001 && (time > 0.0 || way > AT_ONCE) {
            let velocity = way / time;
            return Err(TrajectoryError::TooFast { point: index, joint, velocity, limit: *limit });
        }
    }
    Ok(())
}

/// Hermite interpolation of the order that the two points allow.
fn interpolate(from: &Point, to: &Point, time: f64, position: &mut [f64]) {
    let span = to.time - from.time;
    let s = (time - from.time) / span;
    for (joint, out) in position.iter_mut().enumerate() {
        let value = |list: &[f64]| list.get(joint).copied();
        let (Some(p0), Some(p1)) = (value(&from.position), value(&to.position)) else { continue };
        let way = p1 - p0;
        *out = match (value(&from.velocity), value(&to.velocity)) {
            (Some(v0), Some(v1)) => {
                let (v0, v1) = (v0 * span, v1 * span);
                match (value(&from.acceleration), value(&to.acceleration)) {
                    (Some(a0), Some(a1)) => {
                        p0 + quintic(way, [v0, v1], [a0 * span * span, a1 * span * span], s)
                    }
                    _ => p0 + s * (v0 + s * (3.0 * way - 2.0 * v0 - v1 + s * (v0 + v1 - 2.0 * way))),
                }
            }
            _ => p0 + way * s,
        };
    }
}

/// The distance covered at `s` by a polynomial that covers `way` from 0 to 1 with these derivatives at the ends.
fn quintic(way: f64, [v0, v1]: [f64; 2], [a0, a1]: [f64; 2], s: f64) -> f64 {
    let c3 = 10.0 * way - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1;
    let c4 = -15.0 * way + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1;
    let c5 = 6.0 * way - 3.0 * (v0 + v1) - 0.5 * a0 + 0.5 * a1;
    s * (v0 + s * (0.5 * a0 + s * (c3 + s * (c4 + s * c5))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn point(time: f64, position: f64, velocity: &[f64], acceleration: &[f64]) -> Point {
        Point {
            time,
            position: vec![position],
            velocity: velocity.to_vec(),
            acceleration: acceleration.to_vec(),
        }
    }

    fn at(trajectory: &mut Trajectory, time: f64) -> f64 {
        let mut position = [f64::NAN];
        trajectory.sample(time, &mut position);
        position[0]
    }

    #[test]
    fn points_without_velocities_are_joined_by_lines() {
        let points = vec![point(1.0, 2.0, &[], &[]), point(3.0, 0.0, &[], &[])];
        let mut trajectory = Trajectory::new(points, &[0.0], &[10.0]).unwrap();
        for (time, expected) in [(0.0, 0.0), (0.5, 1.0), (1.0, 2.0), (2.5, 0.5), (3.0, 0.0), (9.0, 0.0)] {
            assert!((at(&mut trajectory, time) - expected).abs() < 1e-12, "{time}");
        }
        assert_eq!(trajectory.duration(), 3.0);
        assert_eq!(at(&mut trajectory, 0.5), 1.0, "time may go back");
    }

    #[test]
    fn the_next_point_is_one_of_the_given_ones() {
        let next = |first: f64, times: &[f64]| -> Vec<usize> {
            let points =
                vec![point(first, 0.0, &[], &[]), point(2.0, 0.5, &[], &[]), point(3.0, 1.0, &[], &[])];
            let mut trajectory = Trajectory::new(points, &[0.0], &[1.0]).unwrap();
            assert_eq!(trajectory.next_point(), if first > 0.0 { 0 } else { 1 }, "before the first sample");
            let next = times.iter().map(|time| {
                at(&mut trajectory, *time);
                trajectory.next_point()
            });
            next.collect()
        };
        assert_eq!(next(1.0, &[0.0, 0.9, 1.0, 1.9, 2.0, 2.9, 3.0, 9.0]), [0, 0, 1, 1, 2, 2, 2, 2]);
        // A point at time 0 is where the arm is.
        assert_eq!(next(0.0, &[0.0, 1.9, 2.0, 9.0]), [1, 1, 2, 2]);
        let mut only = Trajectory::new(vec![point(0.0, 0.0, &[], &[])], &[0.0], &[1.0]).unwrap();
        at(&mut only, 5.0);
        assert_eq!(only.next_point(), 0);
    }

    #[test]
    fn errors_in_trajectories_are_named() {
        let refused = |points: Vec<Point>| Trajectory::new(points, &[0.0], &[1.0]).unwrap_err().to_string();
        assert_eq!(refused(vec![]), "the trajectory has no points");
        assert_eq!(
            refused(vec![point(1.0, 0.5, &[], &[]), point(1.0, 0.5, &[], &[])]),
            "point 1 is at 1 s, not later than the point before"
        );
        assert_eq!(refused(vec![point(1.0, f64::NAN, &[], &[])]), "point 0 holds a value that is not finite");
        assert_eq!(
            refused(vec![point(1.0, 5.0, &[], &[])]),
            "joint 0 would move at 5.000 to point 0; it may at 1.000"
        );
        assert!(refused(vec![point(0.0, 0.5, &[], &[])]).contains("joint 0 would move at inf"));
        assert_eq!(
            refused(vec![point(1.0, 0.5, &[0.0, 0.0], &[])]),
            "point 0 has 2 velocities; the arm has 1 joints"
        );
    }

    proptest! {
        #[test]
        fn positions_velocities_and_accelerations_are_met_at_the_points(
            (p0, p1, v0, v1) in (-3.0..3.0_f64, -3.0..3.0_f64, -1.0..1.0_f64, -1.0..1.0_f64),
            (a0, a1) in (-1.0..1.0_f64, -1.0..1.0_f64),
            span in 0.5..5.0_f64,
        ) {
            for accelerations in [None, Some((a0, a1))] {
                let list = |value: f64| if accelerations.is_some() { vec![value] } else { vec![] };
                let points = vec![
                    point(0.0, p0, &[v0], &list(a0)),
                    point(span, p1, &[v1], &list(a1)),
                ];
                let mut trajectory = Trajectory::new(points, &[p0], &[100.0]).unwrap();
                let h = 1e-5;
                prop_assert!((at(&mut trajectory, 0.0) - p0).abs() < 1e-9);
                prop_assert!((at(&mut trajectory, span) - p1).abs() < 1e-9);
                let first = (at(&mut trajectory, h) - at(&mut trajectory, 0.0)) / h;
                let last = (at(&mut trajectory, span - 1e-12) - at(&mut trajectory, span - h)) / h;
                prop_assert!((first - v0).abs() < 1e-2 && (last - v1).abs() < 1e-2, "{first} {last}");
                if accelerations.is_some() {
                    let h = 1e-4;
                    let second = (at(&mut trajectory, 2.0 * h) - 2.0 * at(&mut trajectory, h)
                        + at(&mut trajectory, 0.0)) / (h * h);
                    prop_assert!((second - a0).abs() < 0.5, "{second}");
                }
            }
        }
    }
}

//! Where a base is, and how fast, from what it measures.

use std::collections::VecDeque;
use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_protocol::model::bridge::Since;

/// Velocities are those over so much time, so that a message that is late is no peak.
const WINDOW: Duration = Duration::from_millis(300);

/// Where a base is, and how fast, from what it measures.
#[derive(Debug, Default)]
pub(super) struct BaseMotion {
    pub(super) pose: Pose,
    /// Ways of the wheels in the last message, m.
    ways: Option<[f64; 2]>,
    /// Ways ahead and angles since the start, with their times, oldest first.
    recent: VecDeque<(Duration, [f64; 2])>,
    total: [f64; 2],
}

/// The shorter way round, if a counter begins again after `overflow`.
fn shorter(way: f64, overflow: Option<f64>) -> f64 {
    match overflow.filter(|overflow| *overflow > 0.0) {
        Some(overflow) => way - overflow * (way / overflow).round(),
        None => way,
    }
}

impl BaseMotion {
    pub(super) fn reset(&mut self) {
        self.ways = None;
        self.recent.clear();
    }

    /// Takes the ways of two wheels, m; `overflow` is the way after which their counters begin again.
    pub(super) fn differential(
        &mut self,
        now: Duration,
        ways: [f64; 2],
        since: Since,
        overflow: Option<f64>,
        separation: f64,
    ) {
        let [left, right] = match since {
            Since::Last => ways,
            Since::Start => {
                let before = self.ways.replace(ways).unwrap_or(ways);
                let mut steps = [0.0; 2];
                for (step, (way, before)) in steps.iter_mut().zip(ways.iter().zip(before)) {
                    *step = shorter(way - before, overflow);
                }
                steps
            }
        };
        let (ahead, turn) = ((left + right) / 2.0, (right - left) / separation);
        // The heading in the middle of the step.
        let heading = self.pose.heading + turn / 2.0;
        let (x, y) = (self.pose.x + ahead * heading.cos(), self.pose.y + ahead * heading.sin());
        self.pose = Pose::new(x, y, self.pose.heading + turn);
        self.moved(now, [ahead, turn]);
    }

    /// Takes a pose that the machine keeps; `overflow` is the way after which its position begins again.
    pub(super) fn measured(&mut self, now: Duration, pose: Pose, overflow: Option<f64>) {
        let [dx, dy] = [pose.x - self.pose.x, pose.y - self.pose.y].map(|way| shorter(way, overflow));
        let pose = match overflow {
            None => pose,
            Some(_) => Pose::new(self.pose.x + dx, self.pose.y + dy, pose.heading),
        };
        let turn = pose.heading - self.pose.heading;
        let turn = turn.sin().atan2(turn.cos());
        let heading = self.pose.heading + turn / 2.0;
        let ahead = dx * heading.cos() + dy * heading.sin();
        let is_first = self.recent.is_empty();
        self.pose = pose;
        self.moved(now, if is_first { [0.0; 2] } else { [ahead, turn] });
    }

    fn moved(&mut self, now: Duration, [ahead, turn]: [f64; 2]) {
        let [way, angle] = self.total;
        self.total = [way + ahead, angle + turn];
        self.recent.push_back((now, self.total));
        while self.recent.len() > 2
            && self.recent.get(1).is_some_and(|(time, _)| now.saturating_sub(*time) >= WINDOW)
        {
            self.recent.pop_front();
        }
    }

    /// Velocities ahead, m/s, and about the vertical axis, rad/s.
    pub(super) fn velocities(&self) -> [f64; 2] {
        let (Some((first, before)), Some((last, now))) = (self.recent.front(), self.recent.back()) else {
            return [0.0; 2];
        };
        let seconds = last.saturating_sub(*first).as_secs_f64();
        let [[way, angle], [way_before, angle_before]] = [*now, *before];
        if seconds > 0.0 {
            [(way - way_before) / seconds, (angle - angle_before) / seconds]
        } else {
            [0.0; 2]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_of_wheels_become_poses_and_velocities() {
        let mut motion = BaseMotion::default();
        let time = |step: u32| Duration::from_millis(100) * step;
        // A quarter of a circle to the left with a radius of 1 m, wheels 0.5 m apart, in ten steps.
        let quarter = std::f64::consts::FRAC_PI_2;
        for step in 0..=10 {
            let part = quarter * f64::from(step) / 10.0;
            motion.differential(time(step), [0.75 * part, 1.25 * part], Since::Start, None, 0.5);
        }
        assert!(
            (motion.pose.x - 1.0).abs() < 0.01 && (motion.pose.y - 1.0).abs() < 0.01,
            "{:?}",
            motion.pose
        );
        assert!((motion.pose.heading - quarter).abs() < 1e-9);
        let [linear, angular] = motion.velocities();
        assert!((linear - quarter).abs() < 1e-9 && (angular - quarter).abs() < 1e-9, "{linear} {angular}");
    }

    #[test]
    fn counters_begin_again() {
        let mut motion = BaseMotion::default();
        for (step, way) in [3.9, 0.1, 0.3, 3.8].into_iter().enumerate() {
            let now = Duration::from_millis(100 * step as u64);
            motion.differential(now, [way, way], Since::Start, Some(4.0), 0.5);
        }
        // 0.2 ahead, 0.2 ahead, 0.5 back.
        assert!((motion.pose.x + 0.1).abs() < 1e-9, "{:?}", motion.pose);
    }

    #[test]
    fn positions_begin_again() {
        let mut motion = BaseMotion::default();
        // -0.1, 0.2, 0.4, 2.35, 4.3, as a counter of 4 m has them.
        for (step, x) in [3.9, 0.2, 0.4, 2.35, 0.3].into_iter().enumerate() {
            let now = Duration::from_millis(100 * step as u64);
            motion.measured(now, Pose::new(x, 0.0, 0.0), Some(4.0));
            if step == 0 {
                assert!((motion.pose.x + 0.1).abs() < 1e-9, "{:?}", motion.pose);
            }
        }
        assert!((motion.pose.x - 4.3).abs() < 1e-9, "{:?}", motion.pose);
    }

    #[test]
    fn a_late_message_is_no_peak() {
        let mut motion = BaseMotion::default();
        let mut fastest: f64 = 0.0;
        for step in 0..50_u32 {
            // The answer of every tenth step is 40 ms late.
            let late = if step % 10 == 9 { 40 } else { 0 };
            let now = Duration::from_millis(u64::from(step) * 50 + late);
            motion.measured(now, Pose::new(0.02 * f64::from(step), 0.0, 0.0), None);
            fastest = fastest.max(motion.velocities()[0]);
        }
        assert!(fastest < 0.48, "{fastest} m/s instead of 0.4");
    }
}

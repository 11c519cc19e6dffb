//! The poses of the last seconds: what a sensor saw some time ago was seen from where the platform was then.

use std::collections::VecDeque;

use dragoman_geometry::Pose;
use dragoman_ros::builtin_interfaces::msg::Time;
use dragoman_ros::times::Seconds;

/// Maximum number of poses: 2 s at 50 Hz.
const MAX_POSES: usize = 100;
/// Difference from the nearest known time up to which its pose is taken, s.
const NEAR: f64 = 0.3;

/// Poses and their times, s, oldest first.
#[derive(Default)]
pub(super) struct History(VecDeque<(f64, Pose)>);

impl History {
    /// Adds the current pose.
    pub(super) fn push(&mut self, now: &Time, pose: Pose) {
        if self.0.len() == MAX_POSES {
            self.0.pop_front();
        }
        self.0.push_back((now.seconds(), pose));
    }

    /// The pose at this time; the last one for a time that is unknown, e.g. of another clock.
    pub(super) fn at(&self, stamp: &Time) -> Option<Pose> {
        let wanted = stamp.seconds();
        let away = |(time, _): &&(f64, Pose)| (time - wanted).abs();
        let nearest = self.0.iter().min_by(|a, b| away(a).total_cmp(&away(b)));
        let near = nearest.filter(|one| away(one) <= NEAR);
        near.or(self.0.back()).map(|(_, pose)| *pose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_measurements_get_the_pose_of_their_time() {
        let time = |tenths: i32| Time { sec: 100 + tenths / 10, nanosec: (tenths % 10) as u32 * 100_000_000 };
        let pose = |tenths: i32| Pose::new(f64::from(tenths), 0.0, 0.0);
        let mut history = History::default();
        assert_eq!(history.at(&time(3)), None);
        (0..150).for_each(|tenths| history.push(&time(tenths), pose(tenths)));
        assert_eq!(history.at(&time(120)), Some(pose(120)));
        // Too old, of another clock, without a time.
        for stamp in [time(10), Time { sec: 7, nanosec: 0 }, Time::default()] {
            assert_eq!(history.at(&stamp), Some(pose(149)));
        }
    }
}

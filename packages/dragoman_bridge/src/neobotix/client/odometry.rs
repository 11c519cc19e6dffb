//! Odometry of a platform that reports only its localized pose.

use std::time::Duration;

use dragoman_geometry::{Pose, Twist, compose, relative, wrap_angle};

/// Maximum difference between two poses of a platform at rest, m and rad.
const SLACK: f64 = 0.1;
/// Delay of answers, which come in bursts.
const DELAY: Duration = Duration::from_millis(200);

/// Converts poses in the map to odometry, which begins at its own origin and continues without jumps when the platform
/// corrects its pose or gets a new one. Then the pose of that origin in the map changes.
///
/// A step counts as a jump if it is more than 0.1 m or rad longer than a step at twice the velocity.
#[derive(Debug, Clone, Default)]
pub struct Odometry {
    last: Option<Last>,
}

#[derive(Debug, Clone, Copy)]
struct Last {
    when: Duration,
    pose: Pose,
    twist: Twist,
    /// Origin of the odometry, in the map.
    origin: Pose,
}

impl Odometry {
    /// Takes a reported pose in the map and the velocity; returns the pose in the odometry frame.
    pub fn update(&mut self, now: Duration, pose: Pose, twist: Twist) -> Pose {
        let origin = match self.last {
            None => pose,
            Some(last) if last.jumps(now, pose, twist) => {
                let known = relative(last.origin, last.pose);
                compose(pose, relative(known, Pose::ORIGIN))
            }
            Some(last) => last.origin,
        };
        self.last = Some(Last { when: now, pose, twist, origin });
        relative(origin, pose)
    }

    /// Origin of the odometry, in the map; `None` before the first pose.
    pub fn origin(&self) -> Option<Pose> {
        self.last.map(|last| last.origin)
    }
}

impl Last {
    fn jumps(&self, now: Duration, pose: Pose, twist: Twist) -> bool {
        let time = (now.saturating_sub(self.when) + DELAY).as_secs_f64();
        let step = relative(self.pose, pose);
        let allowed = |a: f64, b: f64| SLACK + 2.0 * a.abs().max(b.abs()) * time;
        step.x.hypot(step.y) > allowed(self.twist.linear, twist.linear)
            || wrap_angle(step.heading).abs() > allowed(self.twist.angular, twist.angular)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: Pose, b: Pose) -> bool {
        (a.x - b.x).hypot(a.y - b.y) < 1e-9 && wrap_angle(a.heading - b.heading).abs() < 1e-9
    }

    #[test]
    fn it_begins_at_its_own_origin_and_does_not_jump() {
        let mut now = Duration::ZERO;
        let mut odometry = Odometry::default();
        assert_eq!(odometry.origin(), None);
        let ahead = Twist::new(1.0, 0.0);
        let start = Pose::new(4.0, 3.0, std::f64::consts::FRAC_PI_2);
        assert!(near(odometry.update(now, start, ahead), Pose::ORIGIN));
        now += Duration::from_millis(100);
        let next = Pose::new(4.0, 3.1, std::f64::consts::FRAC_PI_2);
        assert!(near(odometry.update(now, next, ahead), Pose::new(0.1, 0.0, 0.0)));
        // The platform gets a new pose: the odometry stays, its origin changes.
        now += Duration::from_millis(100);
        assert!(near(odometry.update(now, Pose::new(0.0, 0.0, 0.0), ahead), Pose::new(0.1, 0.0, 0.0)));
        assert!(near(odometry.origin().unwrap(), Pose::new(-0.1, 0.0, 0.0)));
        // A burst: two answers at the same time.
        assert!(near(odometry.update(now, Pose::new(0.1, 0.0, 0.0), ahead), Pose::new(0.2, 0.0, 0.0)));
        // Turned by hand.
        let turned = odometry.update(now, Pose::new(0.1, 0.0, 2.0), ahead);
        assert!(near(turned, Pose::new(0.2, 0.0, 0.0)), "{turned:?}");
        // After a long gap the change is a jump unless the velocity explains it.
        now += Duration::from_secs(10);
        let unseen = odometry.update(now, Pose::new(5.1, 0.0, 2.0), ahead);
        assert!((unseen.x - 0.2).hypot(unseen.y) > 4.9, "{unseen:?}");
    }
}

//! Maximum speed towards sensed obstacles. The safety field that has to be free is the area that the platform sweeps
//! until it stops: it grows with speed, and bends with the path.

use dragoman_geometry::{Footprint, Point, Pose, Twist, Vector, direction, inverse_transform};

use crate::settings::Settings;

/// Maximum motion of any point of the platform between two checked poses, m.
const STEP: f64 = 0.04;
/// Maximum number of checked poses.
const MAX_STEPS: usize = 150;
/// Below this speed the platform counts as standing, m/s and rad/s.
const STANDSTILL: f64 = 0.02;

/// The permitted motion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowance {
    /// Along the same path as wanted, and not faster.
    pub twist: Twist,
    /// Whether an obstacle requires a stop.
    pub blocked: bool,
}

/// Limits the wanted velocity, with these points around the platform, in its frame, m. Points under the platform are
/// its own parts.
pub fn allow(wanted: Twist, points: &[Point], settings: &Settings) -> Allowance {
    let free = Allowance { twist: wanted, blocked: false };
    let [braking, turn_braking] = settings.decelerations();
    let stopping = stopping(wanted, braking, turn_braking);
    if !settings.collision.enabled || stopping <= 0.0 {
        return free;
    }
    let reaction = settings.collision.reaction_time.as_secs_f64();
    let Some(time) = time_to_collision(wanted, points, settings, reaction + stopping) else {
        return free;
    };
    // At a fraction `k` of the velocity, the platform covers `k * reaction` until the brakes act and
    // `k^2 * stopping / 2` until it stops, as times at full velocity.
    let part = if reaction + stopping / 2.0 <= time {
        1.0
    } else {
        ((reaction * reaction + 2.0 * stopping * time).sqrt() - reaction) / stopping
    };
    let twist = wanted.times(part);
    if twist.speed() < STANDSTILL && twist.angular.abs() < STANDSTILL {
        let moving = wanted.speed() >= STANDSTILL || wanted.angular.abs() >= STANDSTILL;
        return Allowance {
            twist: if time > 0.0 && !moving { wanted } else { Twist::ZERO },
            blocked: time <= 0.0 || moving,
        };
    }
    Allowance { twist, blocked: false }
}

/// Pose after braking from this velocity, relative to the current pose.
pub(crate) fn pose_standing(twist: Twist, settings: &Settings) -> Pose {
    let [braking, turn_braking] = settings.decelerations();
    let stopping = stopping(twist, braking, turn_braking);
    pose_after(twist, settings.collision.reaction_time.as_secs_f64() + stopping / 2.0)
}

/// Time until the platform stops, with all axes braking together, s.
fn stopping(twist: Twist, braking: f64, turn_braking: f64) -> f64 {
    let translation = twist.linear.abs().max(twist.lateral.abs());
    (translation / braking).max(twist.angular.abs() / turn_braking)
}

/// Area that has to be free, in the platform's frame: farther from the platform in the direction of motion.
struct Field {
    front: f64,
    rear: f64,
    left: f64,
    right: f64,
}

impl Field {
    fn new(twist: Twist, settings: &Settings) -> Self {
        let (collision, body) = (&settings.collision, settings.footprint);
        // The larger margin applies only in the direction of motion, so that the platform can turn on the spot in
        // narrow places.
        let margin = |drives: bool| if drives { collision.min_distance } else { collision.side_distance };
        Self {
            front: body.front + margin(twist.linear > 0.0),
            rear: body.rear + margin(twist.linear < 0.0),
            left: body.side + margin(twist.lateral > 0.0),
            right: body.side + margin(twist.lateral < 0.0),
        }
    }

    fn contains(&self, point: Point) -> bool {
        point.x < self.front && point.x > -self.rear && point.y < self.left && point.y > -self.right
    }

    fn outer_radius(&self) -> f64 {
        self.front.max(self.rear).hypot(self.left.max(self.right))
    }
}

/// Time at this velocity until the first point is too near, s; `None` if beyond the horizon. 0 if one is already too
/// near and comes nearer.
fn time_to_collision(twist: Twist, points: &[Point], settings: &Settings, horizon: f64) -> Option<f64> {
    let body = settings.footprint;
    let field = Field::new(twist, settings);
    let reach = field.outer_radius();
    let fastest = twist.speed() + twist.angular.abs() * reach;
    let steps = ((fastest * horizon / STEP).ceil() as usize).clamp(1, MAX_STEPS);
    let step = horizon / steps as f64;
    let far = reach + twist.speed() * horizon;
    let near: Vec<Point> =
        points.iter().copied().filter(|point| point.coords.norm() < far && !body.contains(*point)).collect();
    let first = pose_after(twist, step);
    let mut ahead = Vec::with_capacity(near.len());
    for point in near {
        if !field.contains(point) {
            ahead.push(point);
        } else if distance(&body, inverse_transform(first, point)) < distance(&body, point) - 1e-6 {
            return Some(0.0);
        }
    }
    (1..=steps).map(|count| count as f64 * step).find_map(|time| {
        let there = pose_after(twist, time);
        let hit = ahead.iter().any(|&point| field.contains(inverse_transform(there, point)));
        // The previous step was free.
        hit.then_some(time - step)
    })
}

/// Pose after this time, relative to the current pose.
fn pose_after(twist: Twist, time: f64) -> Pose {
    let turn = twist.angular * time;
    let half = turn / 2.0;
    let chord = if half.abs() < 1e-9 { time } else { time * half.sin() / half };
    let along = direction(half) * chord;
    let place = along * twist.linear + Vector::new(-along.y, along.x) * twist.lateral;
    Pose::new(place.x, place.y, turn)
}

/// Distance from the rim of the footprint, m.
fn distance(body: &Footprint, point: Point) -> f64 {
    let ahead = (point.x - body.front).max(-body.rear - point.x).max(0.0);
    ahead.hypot((point.y.abs() - body.side).max(0.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ahead(linear: f64, x: f64) -> Allowance {
        allow(Twist::new(linear, 0.0), &[Point::new(x, 0.1)], &Settings::default())
    }

    #[test]
    fn the_field_grows_with_the_speed() {
        // Front at 0.45 m, 0.15 m margin; 0.5 m of braking and 0.1 m of reaction at 1 m/s.
        assert_eq!(ahead(1.0, 1.3).twist.linear, 1.0);
        let slower = ahead(1.0, 0.9).twist.linear;
        assert!((0.5..0.8).contains(&slower), "{slower}");
        assert_eq!(ahead(0.3, 0.9).twist.linear, 0.3);
        assert_eq!(ahead(0.3, 0.59), Allowance { twist: Twist::ZERO, blocked: true });
        // Away from it, and past it.
        assert_eq!(ahead(-1.0, 0.59).twist.linear, -1.0);
        let beside = allow(Twist::new(1.0, 0.0), &[Point::new(0.9, 0.34)], &Settings::default());
        assert_eq!(beside.twist.linear, 1.0);
        // Its own parts.
        assert_eq!(ahead(1.0, 0.3).twist.linear, 1.0);
    }

    #[test]
    fn the_field_bends_with_the_way() {
        let point = [Point::new(0.95, 0.0)];
        let settings = Settings::default();
        assert!(allow(Twist::new(0.8, 0.0), &point, &settings).twist.linear < 0.8);
        assert_eq!(allow(Twist::new(0.8, 1.0), &[Point::new(1.3, -0.2)], &settings).twist.linear, 0.8);
        // A corner swings out while the platform turns on the spot.
        let beside = [Point::new(0.3, 0.4)];
        assert!(allow(Twist::new(0.0, 1.0), &beside, &settings).twist.angular < 0.9);
        let off = Settings {
            collision: crate::settings::CollisionSettings { enabled: false, ..settings.collision },
            ..settings
        };
        assert_eq!(allow(Twist::new(0.8, 0.0), &point, &off).twist.linear, 0.8);
    }

    /// Drives for three seconds as wanted, limited in every cycle by the allowance and the drives. Returns the point
    /// that was touched, if any, with the pose.
    fn drive(wanted: Twist, points: &[Point]) -> Option<(Point, Pose)> {
        let settings = Settings::default();
        let clear: Vec<Point> =
            points.iter().copied().filter(|&p| !settings.footprint.grown(0.02).contains(p)).collect();
        let mut ramp = dragoman_geometry::limits::Ramp::new(settings.limits).unwrap();
        let mut pose = Pose::ORIGIN;
        for _ in 0..150 {
            let seen: Vec<Point> = clear.iter().map(|&point| inverse_transform(pose, point)).collect();
            if let Some(&touched) = seen.iter().find(|&&point| settings.footprint.contains(point)) {
                return Some((touched, pose));
            }
            let allowed = allow(wanted, &seen, &settings).twist;
            let twist = ramp.step_along(allowed, std::time::Duration::from_millis(20));
            pose = dragoman_geometry::compose(pose, pose_after(twist, 0.02));
        }
        None
    }

    #[test]
    fn sideways_motion_stops_for_what_is_at_the_side() {
        let settings = Settings::default();
        let left =
            |lateral: f64, y: f64| allow(Twist::planar(0.0, lateral, 0.0), &[Point::new(0.1, y)], &settings);
        // Side at 0.3 m, 0.15 m margin; at 1 m/s, 0.1 m of reaction and 0.5 m of braking.
        assert_eq!(left(1.0, 1.1).twist.lateral, 1.0);
        let slower = left(1.0, 0.8).twist.lateral;
        assert!((0.4..0.9).contains(&slower), "{slower}");
        assert_eq!(left(0.3, 0.44), Allowance { twist: Twist::ZERO, blocked: true });
        // Away from it, and to the right.
        assert_eq!(left(-0.3, 0.44).twist.lateral, -0.3);
        assert_eq!(left(-0.3, -0.44), Allowance { twist: Twist::ZERO, blocked: true });
        // Ahead it passes what is at its side.
        let ahead = allow(Twist::new(0.5, 0.0), &[Point::new(0.6, 0.44)], &settings);
        assert_eq!(ahead.twist.linear, 0.5);
    }

    /// With an angular velocity that rises faster than the linear one, the rear would swing into the point.
    #[test]
    fn a_point_beside_the_arc_is_not_touched_when_starting() {
        let point = Point::new(-0.16721296159982119, -0.41784094669426425);
        assert_eq!(drive(Twist::new(0.900485853628524, 0.7319340571220081), &[point]), None);
    }

    proptest! {
        /// A platform that keeps within the allowance in every cycle, with the drives' limits, touches nothing.
        #[test]
        fn nothing_is_touched(
            points in prop::collection::vec((-3.0..3.0_f64, -3.0..3.0_f64), 1..40),
            linear in -1.0..1.0_f64,
            lateral in prop_oneof![Just(0.0), -1.0..1.0_f64],
            angular in -1.0..1.0_f64,
        ) {
            let points: Vec<Point> = points.into_iter().map(|(x, y)| Point::new(x, y)).collect();
            prop_assert_eq!(drive(Twist::planar(linear, lateral, angular), &points), None);
        }
    }
}

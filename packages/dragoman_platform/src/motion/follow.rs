//! Following a curve, and turning on the spot.

use dragoman_geometry::limits::Limits;
use dragoman_geometry::{Pose, Segment, Twist, direction, position, relative, wrap_angle};

use super::curve::{Curve, Sample};
use crate::settings::{InterpolationSettings, MotionSettings, Settings};

/// Range of the search for the nearest sample, back and ahead along the curve, m: a curve may cross itself.
const WINDOW: [f64; 2] = [0.3, 1.0];
/// Minimum speed, m/s; otherwise the last centimetre would take forever.
const MIN_SPEED: f64 = 0.03;
/// The gains are full up to this speed, m/s.
const FULL_GAIN_SPEED: f64 = 0.4;
/// Remaining distance below which the platform brakes to a stop, m.
const ARRIVED: f64 = 0.003;

/// Follows one curve.
#[derive(Debug, Clone)]
pub struct Follower {
    curve: Curve,
    speeds: Vec<f64>,
    /// The settings of the speeds.
    settings: (InterpolationSettings, Limits),
    /// The sample before the nearest place.
    index: usize,
}

/// The command, and the progress.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tracking {
    /// Wanted velocity.
    pub twist: Twist,
    /// The reference on the curve.
    pub reference: Sample,
    /// Distance from the reference, m; positive to the left.
    pub offset: f64,
    /// Remaining length of the curve, m; negative beyond its end.
    pub remaining: f64,
    /// Whether the end was reached.
    pub arrived: bool,
}

impl Follower {
    /// Starts at the beginning of the curve.
    pub fn new(curve: Curve, settings: &Settings) -> Self {
        let in_force = (settings.interpolation, settings.limits);
        Self { speeds: curve.speeds(settings), settings: in_force, curve, index: 0 }
    }

    /// The complete curve, including the part that was driven.
    pub fn curve(&self) -> &Curve {
        &self.curve
    }

    /// The rest of the curve, from the platform's position.
    pub fn rest(&self) -> &[Sample] {
        self.curve.samples().get(self.index..).unwrap_or_default()
    }

    /// One step with the platform at `pose`, at this speed, m/s. The law is that of Samson for unicycles: turn rate = v
    /// (curvature - offset gain * offset - heading gain * heading error), with the curvature of the parallel curve
    /// through the platform, and with gains per time rather than per distance at high speed.
    pub fn step(&mut self, pose: Pose, velocity: f64, settings: &Settings) -> Tracking {
        let in_force = (settings.interpolation, settings.limits);
        if self.settings != in_force {
            (self.speeds, self.settings) = (self.curve.speeds(settings), in_force);
        }
        let reference = self.nearest(pose);
        let back = if self.curve.reverse { std::f64::consts::PI } else { 0.0 };
        let along = direction(reference.heading);
        let away = position(pose) - reference.point;
        let offset = along.perp(&away);
        let wrong = wrap_angle(pose.heading + back - reference.heading);
        let end = self.curve.samples().last().copied().unwrap_or(reference);
        let last_part = end.at - reference.at < 1e-9;
        let remaining = if last_part { -direction(end.heading).dot(&away) } else { end.at - reference.at };
        if remaining <= ARRIVED {
            return Tracking { twist: Twist::ZERO, reference, offset, remaining, arrived: true };
        }
        let [fastest, _] = settings.speeds();
        if fastest == 0.0 {
            return Tracking { twist: Twist::ZERO, reference, offset, remaining, arrived: false };
        }
        // With a large heading error the platform turns before it drives.
        let speed = self.speed(reference.at).max(MIN_SPEED).min(fastest) * wrong.cos().max(0.1);
        let bend = reference.curvature * wrong.cos() / (1.0 - reference.curvature * offset).max(0.2);
        // The sine over the angle: an offset is corrected only while the platform faces along the curve.
        let sinc = if wrong.abs() < 1e-6 { 1.0 } else { wrong.sin() / wrong };
        let MotionSettings { offset_gain, heading_gain, .. } = settings.motion;
        // The drives need the same time for a turn at every speed: at high speed the correction per metre has to be
        // smaller.
        let turning = velocity.abs().max(MIN_SPEED);
        let soft = (FULL_GAIN_SPEED / turning).min(1.0);
        let angular =
            turning * (bend - offset_gain * soft * soft * offset * sinc - heading_gain * soft * wrong);
        let most = settings.limits.angular.velocity;
        let linear = if self.curve.reverse { -speed } else { speed };
        let twist = Twist::new(linear, angular.clamp(-most, most));
        Tracking { twist, reference, offset, remaining, arrived: false }
    }

    /// The nearest sample of the curve around the last one.
    fn nearest(&mut self, pose: Pose) -> Sample {
        let (samples, place) = (self.curve.samples(), position(pose));
        let at = samples[self.index].at;
        let pairs = samples.windows(2).enumerate();
        let near = pairs.filter(|(_, pair)| pair[1].at >= at - WINDOW[0] && pair[0].at <= at + WINDOW[1]);
        let nearest = near
            .map(|(index, pair)| {
                let segment = Segment::new(pair[0].point, pair[1].point);
                let part = segment.nearest_part(place);
                ((place - segment.at(part)).norm(), index, part)
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, index, part)) = nearest else {
            return samples[self.index];
        };
        self.index = index;
        let (a, b) = (samples[index], samples[index + 1]);
        Sample {
            point: a.point + (b.point - a.point) * part,
            heading: a.heading + wrap_angle(b.heading - a.heading) * part,
            curvature: a.curvature + (b.curvature - a.curvature) * part,
            at: a.at + (b.at - a.at) * part,
        }
    }

    /// Permitted speed at this position, m/s.
    fn speed(&self, at: f64) -> f64 {
        let samples = self.curve.samples();
        let (a, b) = (samples[self.index], samples[(self.index + 1).min(samples.len() - 1)]);
        let part = if b.at > a.at { (at - a.at) / (b.at - a.at) } else { 0.0 };
        let [slow, fast] = [self.speeds[self.index], self.speeds[(self.index + 1).min(samples.len() - 1)]];
        slow + (fast - slow) * part
    }
}

/// Turn rate towards a direction, rad/s; `None` if it is reached. It brakes in time.
pub fn turn(current: f64, target: f64, settings: &Settings) -> Option<f64> {
    let left = wrap_angle(target - current);
    if left.abs() < settings.motion.heading_tolerance / 2.0 {
        return None;
    }
    let [_, braking] = settings.decelerations();
    let [_, most] = settings.speeds();
    let rate = (2.0 * 0.5 * braking * left.abs()).sqrt().min(4.0 * left.abs()).max(0.01).min(most);
    Some(rate.copysign(left))
}

/// Velocity of an omnidirectional platform straight to a pose nearby, without turning towards it; `None` if it is
/// reached.
pub fn shift(pose: Pose, goal: Pose, settings: &Settings) -> Option<Twist> {
    let away = relative(pose, goal);
    let distance = away.x.hypot(away.y);
    let [most, _] = settings.speeds();
    let is_there = distance < settings.motion.position_tolerance / 2.0;
    let speed = if is_there { 0.0 } else { (2.0 * distance).max(MIN_SPEED).min(most) };
    let rate = turn(pose.heading, goal.heading, settings);
    if is_there && rate.is_none() {
        return None;
    }
    let part = if distance > 0.0 { speed / distance } else { 0.0 };
    Some(Twist::planar(away.x * part, away.y * part, rate.unwrap_or_default()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use dragoman_geometry::Point;
    use dragoman_geometry::limits::Ramp;

    use super::*;

    const STEP: Duration = Duration::from_millis(20);

    /// Drives along an exact arc.
    fn drive(pose: Pose, twist: Twist) -> Pose {
        let time = STEP.as_secs_f64();
        let middle = pose.heading + twist.angular * time / 2.0;
        let way = direction(middle) * (twist.linear * time);
        Pose::new(pose.x + way.x, pose.y + way.y, wrap_angle(pose.heading + twist.angular * time))
    }

    /// Follows a curve to its end; returns the maximum offset after the first metres, and the final pose.
    fn follow(curve: Curve, mut pose: Pose) -> (f64, Pose) {
        let settings = Settings::default();
        let mut ramp = Ramp::new(settings.limits).unwrap();
        let mut follower = Follower::new(curve, &settings);
        let mut greatest = 0.0_f64;
        for _ in 0..5000 {
            let tracking = follower.step(pose, ramp.velocity().linear, &settings);
            if tracking.reference.at > 2.5 {
                greatest = greatest.max(tracking.offset.abs());
            }
            if tracking.arrived && ramp.velocity() == Twist::ZERO {
                return (greatest, pose);
            }
            pose = drive(pose, ramp.step_along(tracking.twist, STEP));
        }
        panic!("not arrived, at {pose:?}");
    }

    #[test]
    fn a_path_with_bends_is_kept_within_centimetres() {
        let corners = [[0.0, 0.0], [3.0, 0.0], [3.0, 3.0], [6.0, 5.0], [6.0, 8.0]].map(Point::from);
        let curve = Curve::chain(&corners, 0.15, |_| true).remove(0);
        let end = curve.end().unwrap();
        let (offset, pose) = follow(curve, Pose::ORIGIN);
        assert!(offset < 0.03, "{offset}");
        assert!((position(pose) - position(end)).norm() < 0.01, "{pose:?}");
    }

    #[test]
    fn a_curve_is_entered_from_beside_and_driven_backwards() {
        let (offset, pose) =
            follow(Curve::straight(Point::origin(), Point::new(5.0, 0.0)), Pose::new(0.0, 0.2, 0.3));
        assert!(offset < 0.03 && (pose.x - 5.0).abs() < 0.01 && pose.y.abs() < 0.01, "{offset} {pose:?}");
        let mut curve = Curve::straight(Point::origin(), Point::new(5.0, 0.0));
        curve.reverse = true;
        let (_, pose) = follow(curve, Pose::new(0.0, 0.1, std::f64::consts::PI));
        assert!((pose.x - 5.0).abs() < 0.01 && pose.y.abs() < 0.01, "{pose:?}");
        assert!(wrap_angle(pose.heading - std::f64::consts::PI).abs() < 0.02, "{pose:?}");
    }

    #[test]
    fn an_omnidirectional_platform_corrects_its_pose_without_turning() {
        let settings = Settings::default();
        let (mut ramp, mut pose) = (Ramp::new(settings.limits).unwrap(), Pose::new(0.0, 0.05, 0.0));
        for _ in 0..500 {
            let twist = ramp.step_along(shift(pose, Pose::ORIGIN, &settings).unwrap_or_default(), STEP);
            assert_eq!(twist.angular, 0.0);
            let time = STEP.as_secs_f64();
            pose = Pose::new(pose.x + twist.linear * time, pose.y + twist.lateral * time, 0.0);
        }
        assert_eq!(ramp.velocity(), Twist::ZERO);
        assert!(position(pose).coords.norm() < settings.motion.position_tolerance, "{pose:?}");
    }

    #[test]
    fn turns_end_in_the_direction() {
        let settings = Settings::default();
        for target in [3.0, -2.0, 0.01, std::f64::consts::PI] {
            let (mut ramp, mut pose) = (Ramp::new(settings.limits).unwrap(), Pose::ORIGIN);
            let mut cycles = 0;
            loop {
                let rate = turn(pose.heading, target, &settings);
                let twist = ramp.step_along(Twist::new(0.0, rate.unwrap_or_default()), STEP);
                if rate.is_none() && twist == Twist::ZERO {
                    break;
                }
                pose = drive(pose, twist);
                cycles += 1;
                assert!(cycles < 1000, "{target} {pose:?}");
            }
            assert!(
                wrap_angle(pose.heading - target).abs() < settings.motion.heading_tolerance,
                "{target} {pose:?}"
            );
        }
    }
}

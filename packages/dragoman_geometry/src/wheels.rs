//! Kinematics of platforms on wheels: from a velocity to the wheels, and back. The omnidirectional ones can move
//! sideways (PlatformCtrl guide, 4.1: holonomic and non-holonomic platforms).
//!
//! ```text
//! differential       mecanum            steered
//!                    FL \\   // FR        (0) anywhere, e.g. front left
//!  L ||   || R
//!                    RL //   \\ RR        (1) anywhere, e.g. rear right
//! ```
//!
//! The rollers of Mecanum wheels touch the ground at 45 degrees to the wheels' axes, so that the rollers of the four
//! wheels point to the platform's middle.

use crate::{Point, Twist, Vector, wrap_angle};

/// Kind of the drives of a platform, with its dimensions, m.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Drives {
    /// Two driven wheels on one axis; left, right.
    Differential {
        /// Distance between the wheels.
        separation: f64,
    },
    /// Four Mecanum wheels; front left, front right, rear left, rear right.
    Mecanum {
        /// Distance between the front and the rear axis.
        length: f64,
        /// Distance between the left and the right wheels.
        width: f64,
    },
    /// Two wheels that are driven and steered.
    Steered {
        /// Their positions on the platform; not the same.
        positions: [Point; 2],
    },
}

/// State of a wheel.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Wheel {
    /// Speed of its rim, m/s.
    pub speed: f64,
    /// Steering angle, rad; 0: it rolls forward. Always 0 without steering.
    pub steering: f64,
}

impl Wheel {
    /// Velocity of its centre, in the platform's frame, if it does not slip, m/s.
    fn velocity(&self) -> Vector {
        crate::direction(self.steering) * self.speed
    }
}

impl Drives {
    /// Whether the platform can move sideways.
    pub fn is_omnidirectional(&self) -> bool {
        !matches!(self, Self::Differential { .. })
    }

    /// The twist that the drives can produce: without its lateral velocity if the platform cannot move sideways.
    #[must_use]
    pub fn possible(&self, twist: Twist) -> Twist {
        if self.is_omnidirectional() { twist } else { Twist { lateral: 0.0, ..twist } }
    }

    /// The wheels' states for a velocity of the platform. Steered wheels take the steering angle within a quarter turn
    /// of the one in `before`, and roll backwards if necessary; at standstill they keep it.
    pub fn wheels(&self, twist: Twist, before: &[Wheel]) -> Vec<Wheel> {
        let Twist { linear, lateral, angular } = self.possible(twist);
        let straight = |speed: f64| Wheel { speed, steering: 0.0 };
        match *self {
            Self::Differential { separation } => {
                let turn = angular * separation / 2.0;
                vec![straight(linear - turn), straight(linear + turn)]
            }
            Self::Mecanum { length, width } => {
                let turn = angular * (length + width) / 2.0;
                [
                    linear - lateral - turn,
                    linear + lateral + turn,
                    linear + lateral - turn,
                    linear - lateral + turn,
                ]
                .map(straight)
                .to_vec()
            }
            Self::Steered { positions } => positions
                .iter()
                .enumerate()
                .map(|(index, place)| {
                    let steering = before.get(index).map_or(0.0, |wheel| wheel.steering);
                    let velocity = Vector::new(linear - angular * place.y, lateral + angular * place.x);
                    let speed = velocity.norm();
                    if speed < 1e-9 {
                        return Wheel { speed: 0.0, steering };
                    }
                    let change = wrap_angle(velocity.y.atan2(velocity.x) - steering);
                    if change.abs() <= std::f64::consts::FRAC_PI_2 {
                        Wheel { speed, steering: wrap_angle(steering + change) }
                    } else {
                        let back = change - std::f64::consts::PI.copysign(change);
                        Wheel { speed: -speed, steering: wrap_angle(steering + back) }
                    }
                })
                .collect(),
        }
    }

    /// The platform's velocity of these wheels; of wheels that contradict each other, the least-squares fit. Missing
    /// wheels stand still.
    pub fn twist(&self, wheels: &[Wheel]) -> Twist {
        let speed = |index: usize| wheels.get(index).map_or(0.0, |wheel| wheel.speed);
        match *self {
            Self::Differential { separation } => {
                Twist::new((speed(0) + speed(1)) / 2.0, (speed(1) - speed(0)) / separation)
            }
            Self::Mecanum { length, width } => {
                let [fl, fr, rl, rr] = [0, 1, 2, 3].map(speed);
                Twist {
                    linear: (fl + fr + rl + rr) / 4.0,
                    lateral: (fr - fl + rl - rr) / 4.0,
                    angular: (fr - fl + rr - rl) / (2.0 * (length + width)),
                }
            }
            Self::Steered { positions } => {
                let velocity = |index: usize| wheels.get(index).copied().unwrap_or_default().velocity();
                let [first, second] = [0, 1].map(velocity);
                let between = positions[1] - positions[0];
                let angular = between.perp(&(second - first)) / between.norm_squared();
                let mean = (first + second) / 2.0;
                let centre = (positions[0].coords + positions[1].coords) / 2.0;
                Twist { linear: mean.x + angular * centre.y, lateral: mean.y - angular * centre.x, angular }
            }
        }
    }

    /// The velocity for the speeds of the right and the left wheels, as in `CMD_MOVE_VEL_WHEEL` (PlatformCtrl guide,
    /// 6.3). Steered drives count as two wheels at the ends of their sideways distance.
    pub fn twist_of_sides(&self, right: f64, left: f64) -> Twist {
        let separation = match *self {
            Self::Differential { separation } => separation,
            // Both wheels of a side turn at the same speed.
            Self::Mecanum { length, width } => length + width,
            Self::Steered { positions } => (positions[1] - positions[0]).norm(),
        };
        Twist::new((right + left) / 2.0, (right - left) / separation)
    }

    /// The twist, slower if a wheel would exceed this speed, m/s, on the same path.
    #[must_use]
    pub fn limited(&self, twist: Twist, most: f64) -> Twist {
        let twist = self.possible(twist);
        let fastest = self.wheels(twist, &[]).iter().map(|wheel| wheel.speed.abs()).fold(0.0, f64::max);
        if fastest > most { twist.times(most / fastest) } else { twist }
    }

    /// The wheels' states after this time on the way to those of `wanted`, if steering is limited to `rate`, rad/s. A
    /// wheel that does not point in its direction yet is slower.
    pub fn steer(&self, wanted: Twist, before: &[Wheel], rate: f64, time: f64) -> Vec<Wheel> {
        let wheels = self.wheels(wanted, before).into_iter().enumerate();
        wheels
            .map(|(index, wheel)| {
                let steering = before.get(index).map_or(0.0, |before| before.steering);
                let step = wrap_angle(wheel.steering - steering).clamp(-rate * time, rate * time);
                let reached = wrap_angle(steering + step);
                let left = wrap_angle(wheel.steering - reached);
                Wheel { speed: wheel.speed * left.cos().max(0.0), steering: reached }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::FRAC_PI_2;

    use super::*;

    /// Neobotix' MPO-500: wheels 0.5 m and 0.548 m apart.
    const MECANUM: Drives = Drives::Mecanum { length: 0.5, width: 0.548 };

    fn steered() -> Drives {
        Drives::Steered { positions: [Point::new(0.35, 0.2), Point::new(-0.35, -0.2)] }
    }

    fn speeds(drives: Drives, twist: Twist) -> Vec<f64> {
        drives.wheels(twist, &[]).iter().map(|wheel| wheel.speed).collect()
    }

    fn is_near(a: Twist, b: Twist) -> bool {
        [a.linear - b.linear, a.lateral - b.lateral, a.angular - b.angular]
            .iter()
            .all(|error| error.abs() < 1e-9)
    }

    /// Signs as in Neobotix' kinematics of the MPO-500.
    #[test]
    fn mecanum_wheels_turn_against_each_other_to_move_sideways() {
        assert_eq!(speeds(MECANUM, Twist::new(0.4, 0.0)), [0.4; 4]);
        assert_eq!(speeds(MECANUM, Twist::planar(0.0, 0.4, 0.0)), [-0.4, 0.4, 0.4, -0.4]);
        let turning = speeds(MECANUM, Twist::new(0.0, 1.0));
        for (speed, expected) in turning.iter().zip([-0.524, 0.524, -0.524, 0.524]) {
            assert!((speed - expected).abs() < 1e-12, "{turning:?}");
        }
    }

    #[test]
    fn steered_drives_turn_by_a_quarter_turn_at_most() {
        let wheels = steered().wheels(Twist::planar(0.0, 0.3, 0.0), &[]);
        assert!(wheels.iter().all(|wheel| (wheel.steering - FRAC_PI_2).abs() < 1e-9));
        assert!(wheels.iter().all(|wheel| (wheel.speed - 0.3).abs() < 1e-12));
        // Backwards: the same angle.
        let back = steered().wheels(Twist::new(-0.3, 0.0), &[]);
        assert!(back.iter().all(|wheel| wheel.steering == 0.0 && (wheel.speed + 0.3).abs() < 1e-12));
        // At standstill they stay.
        let still = steered().wheels(Twist::ZERO, &wheels);
        assert!(still.iter().all(|wheel| (wheel.steering - FRAC_PI_2).abs() < 1e-9 && wheel.speed == 0.0));
        // On the way from ahead to sideways, with 1 rad/s: half of it after 0.785 s, then slower by the cosine.
        let way = steered().steer(Twist::planar(0.0, 0.3, 0.0), &[], 1.0, FRAC_PI_2 / 2.0);
        for wheel in way {
            assert!((wheel.steering - FRAC_PI_2 / 2.0).abs() < 1e-9, "{wheel:?}");
            assert!((wheel.speed - 0.3 * 0.5_f64.sqrt()).abs() < 1e-9, "{wheel:?}");
        }
    }

    #[test]
    fn every_velocity_comes_back_from_the_wheels() {
        for drives in [MECANUM, steered(), Drives::Differential { separation: 0.5 }] {
            for (linear, lateral, angular) in
                [(0.5, -0.2, 0.7), (-1.0, 0.4, -0.1), (0.0, 0.0, 1.0), (0.1, 0.0, 0.0)]
            {
                let twist = Twist::planar(linear, lateral, angular);
                let back = drives.twist(&drives.wheels(twist, &[]));
                assert!(is_near(back, drives.possible(twist)), "{drives:?} {twist:?} {back:?}");
            }
        }
    }

    #[test]
    fn the_fastest_wheel_limits_all_of_them() {
        let twist = MECANUM.limited(Twist::planar(1.0, 1.0, 0.0), 1.0);
        assert!(is_near(twist, Twist::planar(0.5, 0.5, 0.0)), "{twist:?}");
        assert_eq!(MECANUM.limited(Twist::new(0.5, 0.0), 1.0), Twist::new(0.5, 0.0));
        let differential = Drives::Differential { separation: 0.5 };
        let twist = differential.limited(Twist::planar(1.0, 3.0, 2.0), 1.2);
        assert!(is_near(twist, Twist::new(0.8, 1.6)), "{twist:?}");
        assert!(is_near(differential.twist_of_sides(0.3, 0.1), Twist::new(0.2, 0.4)));
    }
}

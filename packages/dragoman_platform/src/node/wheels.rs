//! The angles of the wheels: from the measured velocity, with parameters `kinematics`, `DistWheels` and `RadiusWheel`.

use std::time::{Duration, Instant};

use dragoman_geometry::Twist;
use dragoman_geometry::wheels::Wheel;
use dragoman_ros::sensor_msgs::msg::JointState;

use super::state::NodeState;
use crate::settings::{Kinematics, Settings};

/// Longer gaps between two measurements are not bridged.
const MAX_GAP: Duration = Duration::from_secs(1);

/// State of the wheels.
#[derive(Default)]
pub(super) struct Wheels {
    measured: Option<Instant>,
    wheels: Vec<Wheel>,
    /// Angles, rad.
    angles: Vec<f64>,
}

impl Wheels {
    /// Takes a measured velocity.
    pub(super) fn roll(&mut self, now: Instant, twist: Twist, settings: &Settings) {
        let passed =
            self.measured.replace(now).map_or(Duration::ZERO, |before| now.saturating_duration_since(before));
        self.wheels = settings.drives().wheels(twist, &self.wheels);
        self.angles.resize(self.wheels.len(), 0.0);
        if passed <= MAX_GAP {
            let time = passed.as_secs_f64() / settings.wheel_radius;
            self.angles.iter_mut().zip(&self.wheels).for_each(|(angle, wheel)| *angle += wheel.speed * time);
        }
    }

    fn joints(&self, kinematics: Kinematics) -> (Vec<&'static str>, Vec<f64>) {
        let steering = self.wheels.iter().map(|wheel| wheel.steering);
        match kinematics {
            Kinematics::Differential => (vec!["wheel_left_joint", "wheel_right_joint"], self.angles.clone()),
            Kinematics::Mecanum => {
                let names = [
                    "wheel_front_left_joint",
                    "wheel_front_right_joint",
                    "wheel_back_left_joint",
                    "wheel_back_right_joint",
                ];
                (names.to_vec(), self.angles.clone())
            }
            Kinematics::Steered => {
                let names =
                    ["wheel_front_joint", "wheel_back_joint", "steering_front_joint", "steering_back_joint"];
                (names.to_vec(), self.angles.iter().copied().chain(steering).collect())
            }
        }
    }
}

impl NodeState {
    /// The wheels as a message; `None` before the first measurement.
    pub(super) fn wheel_states(&self) -> Option<JointState> {
        self.wheels.measured?;
        let (names, position) = self.wheels.joints(self.platform.settings().kinematics);
        let name = names.into_iter().map(str::to_owned).collect();
        let mut message = JointState { name, position, ..Default::default() };
        message.header.stamp = self.stamp();
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wheels_turn_by_the_way_over_their_radius() {
        let mut wheels = Wheels::default();
        let mut settings = Settings::default();
        let start = Instant::now();
        wheels.roll(start, Twist::new(0.25, 0.0), &settings);
        wheels.roll(start + Duration::from_millis(500), Twist::new(0.25, 0.0), &settings);
        // 0.125 m with a radius of 0.125 m.
        let (names, angles) = wheels.joints(Kinematics::Differential);
        assert_eq!(names, ["wheel_left_joint", "wheel_right_joint"]);
        assert!(angles.iter().all(|angle| (angle - 1.0).abs() < 1e-9), "{angles:?}");
        // A smaller wheel turns more, the left one back.
        settings.wheel_radius = 0.05;
        wheels.roll(start + Duration::from_secs(1), Twist::new(0.0, 0.4), &settings);
        let (_, angles) = wheels.joints(Kinematics::Differential);
        assert!(angles[0].abs() < 1e-9 && (angles[1] - 2.0).abs() < 1e-9, "{angles:?}");
        // A gap is not bridged.
        wheels.roll(start + Duration::from_secs(60), Twist::new(0.4, 0.0), &settings);
        assert!((wheels.angles[1] - 2.0).abs() < 1e-9);
        settings.kinematics = Kinematics::Steered;
        wheels.roll(start + Duration::from_secs(60), Twist::planar(0.0, 0.3, 0.0), &settings);
        let (names, angles) = wheels.joints(Kinematics::Steered);
        assert_eq!(names.len(), angles.len());
        assert!((angles[2] - std::f64::consts::FRAC_PI_2).abs() < 1e-9, "{angles:?}");
    }
}

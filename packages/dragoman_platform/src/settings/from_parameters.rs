//! Converts parameters of PlatformCtrl to settings.

use dragoman_neobotix::parameters::{Parameters, Value};

use super::Settings;

impl Settings {
    /// Applies the parameters that determine how the platform moves; other settings are unchanged. The node uses the
    /// other parameters itself.
    pub fn apply(&mut self, parameters: &Parameters) {
        let number = |key: &str| parameters.value(key).map_or(0.0, Value::as_f64);
        let flag = |key| parameters.flag(key);
        let metres = |key: &str| number(key) / 1000.0;

        let (length, axis) = (metres("PltfLength"), metres("DistPltfCenterToWheelAxis"));
        self.footprint.front = length / 2.0 - axis;
        self.footprint.rear = length / 2.0 + axis;
        self.wheel_separation = metres("DistWheels");
        self.wheel_radius = metres("RadiusWheel");
        self.collision.enabled = flag("CollCheckEnabled");
        self.collision.min_distance = metres("CollLaserMinDist");
        self.interpolation.linear_velocity = metres("IpoTransVel");
        self.interpolation.angular_velocity = number("IpoRotvel");
        self.interpolation.start_turn = flag("StartTurnEnabled");
        self.interpolation.end_turn = flag("EndTurnEnabled");
        self.motion.offset_gain = number("PathFollowParam1");
        self.motion.heading_gain = number("PathFollowParam2");
        self.motion.stabilization = flag("PositionStabilizationEnabled");
        self.planning.enabled = flag("PlanningEnabled");
        self.tracking = flag("TrackingEnabled");
        self.localization.local = flag("LocalLocalization");
        self.localization.global = flag("GlobalLocalization");
        self.mapping.min_scan_line = metres("MinLineLenAux");
        self.mapping.min_map_line = metres("MinLineLenMap");
        // mm^2, the variance.
        self.mapping.max_deviation = number("LineExtractMaxCov").max(0.0).sqrt() / 1000.0;
        for (index, sensor) in self.ultrasonics.iter_mut().enumerate() {
            let key = |end: &str| format!("UltraSonic{}{end}", index + 1);
            sensor.pose.x = metres(&key("X"));
            sensor.pose.y = metres(&key("Y"));
            sensor.height = metres(&key("Z"));
            sensor.pose.heading = number(&key("Angle")).to_radians();
        }
    }
}

#[cfg(test)]
mod tests {
    use dragoman_geometry::{Pose, Twist};
    use dragoman_neobotix::parameters::{Declaration, declaration, declarations};

    use super::*;
    use crate::settings::UltrasonicSettings;

    /// The parameters' defaults equal those of the controller.
    #[test]
    fn defaults_are_those_of_the_controller() {
        let mut settings = Settings::default();
        settings.apply(&Parameters::default());
        assert_eq!(settings, Settings::default());
    }

    /// Every value between the minimum and maximum in the reply to CMD_GET_PLTF_PARAM is accepted, for any other
    /// parameters.
    #[test]
    fn every_value_from_minimum_to_maximum_is_accepted() {
        let ultrasonics =
            vec![UltrasonicSettings { pose: Pose::ORIGIN, height: 0.0, range: 2.0, cone: 0.5 }; 16];
        let base = Settings { ultrasonics, ..Settings::default() };
        let extremes = |one: &Declaration| [one.minimum, one.maximum].map(|value| value.to_string());
        let mut pairs: Vec<[(&str, String); 2]> = Vec::new();
        for one in declarations() {
            for value in extremes(one) {
                for length in extremes(declaration("PltfLength").unwrap()) {
                    pairs.push([("PltfLength", length), (one.key, value.clone())]);
                }
            }
        }
        for pair in pairs {
            let mut parameters = Parameters::default();
            for (key, value) in &pair {
                parameters.set(key, value).unwrap();
            }
            let mut settings = base.clone();
            settings.apply(&parameters);
            assert_eq!(settings.check(), Ok(()), "{pair:?}");
        }
    }

    #[test]
    fn parameters_are_in_force_in_si_units() {
        let ultrasonics =
            vec![UltrasonicSettings { pose: Pose::ORIGIN, height: 0.0, range: 2.0, cone: 0.5 }; 2];
        let mut settings = Settings { ultrasonics, ..Settings::default() };
        let mut parameters = Parameters::default();
        for (key, value) in [
            ("IpoTransVel", "250"),
            ("DistPltfCenterToWheelAxis", "100"),
            ("PlanningEnabled", "false"),
            ("UltraSonic2Angle", "180"),
            ("UltraSonic2Z", "350"),
            ("LineExtractMaxCov", "100"),
            ("RadiusWheel", "50"),
        ] {
            parameters.set(key, value).unwrap();
        }
        settings.apply(&parameters);
        assert_eq!(settings.interpolation.linear_velocity, 0.25);
        // 16 rad/s of wheels with a radius of 0.05 m.
        assert!((settings.drivable(Twist::new(1.5, 0.0)).linear - 0.8).abs() < 1e-12);
        assert!(
            (settings.footprint.front - 0.35).abs() < 1e-12 && (settings.footprint.rear - 0.55).abs() < 1e-12
        );
        assert!(!settings.planning.enabled);
        assert_eq!(settings.ultrasonics.last().unwrap().pose.heading, std::f64::consts::PI);
        assert_eq!(settings.ultrasonics.last().unwrap().height, 0.35);
        assert!((settings.mapping.max_deviation - 0.01).abs() < 1e-12);
        settings.check().unwrap();
    }
}

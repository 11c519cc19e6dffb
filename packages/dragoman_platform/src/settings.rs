//! All settings with their defaults: the parameters of the PlatformCtrl guide, 5.9, that determine how the platform
//! moves, in SI units. Comments give the names of the guide's parameters.

mod from_parameters;

use std::time::Duration;

use dragoman_geometry::limits::{AxisLimits, LimitError, Limits};
use dragoman_geometry::wheels::Drives;
use dragoman_geometry::{Point, Pose, Twist};

use dragoman_geometry::Footprint;
use dragoman_text::number;

/// Settings of a platform: its dimensions and drives, and how it moves.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Settings {
    /// Footprint of the platform: `PltfLength` and related parameters.
    pub footprint: Footprint,
    /// Kind of the drives.
    pub kinematics: Kinematics,
    /// Distance between the centres of the left and the right wheels, m: `DistWheels`.
    pub wheel_separation: f64,
    /// Distance between the front and the rear wheels of omnidirectional drives, m.
    pub wheel_base: f64,
    /// Radius of the wheels, m: `RadiusWheel`.
    pub wheel_radius: f64,
    /// Maximum angular velocity of a wheel, rad/s.
    pub max_wheel_rate: f64,
    /// Limits of speed and acceleration, in every mode.
    pub limits: Limits,
    /// Time after which a velocity command expires.
    pub watchdog: Duration,
    /// Time that the drives need after the emergency stop is released.
    pub emergency_reset_time: Duration,
    /// Stopping for obstacles.
    pub collision: CollisionSettings,
    /// Interpolation of paths.
    pub interpolation: InterpolationSettings,
    /// Path following and tolerances.
    pub motion: MotionSettings,
    /// Whether an external navigator drives to goals; the controller then only provides the targets.
    pub is_delegated: bool,
    /// Planning around obstacles and prohibited areas.
    pub planning: PlanningSettings,
    /// Localization in the map.
    pub localization: LocalizationSettings,
    pub mapping: MappingSettings,
    /// Track moving objects with the laser: `TrackingEnabled`.
    pub tracking: bool,
    /// Whether there is a laser. The platform counts as blind until it has measured; without a laser it never does.
    pub has_laser: bool,
    /// The ultrasonic sensors, in the order of their numbers; at most 16.
    pub ultrasonics: Vec<UltrasonicSettings>,
}

/// Kind of a platform's drives (PlatformCtrl guide, 4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kinematics {
    /// Two driven wheels.
    Differential,
    /// Four Mecanum wheels.
    Mecanum,
    /// Two steered drives: one front left, one rear right.
    Steered,
}

impl Kinematics {
    /// All kinds, by their names as parameters.
    pub const NAMES: [(&'static str, Self); 3] =
        [("differential", Self::Differential), ("mecanum", Self::Mecanum), ("steered", Self::Steered)];
}

/// Stopping for obstacles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollisionSettings {
    /// `CollCheckEnabled`.
    pub enabled: bool,
    /// Distance from an obstacle ahead at which the platform stops, m: `CollLaserMinDist`.
    pub min_distance: f64,
    /// Minimum distance from obstacles at the side, m.
    pub side_distance: f64,
    /// Time between detection and braking.
    pub reaction_time: Duration,
    /// Age of the last scan at which the platform stops.
    pub scan_timeout: Duration,
}

/// Interpolation of paths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InterpolationSettings {
    /// Speed on a straight path, m/s: `IpoTransVel`.
    pub linear_velocity: f64,
    /// Turn rate, rad/s: `IpoRotvel`.
    pub angular_velocity: f64,
    /// Turn on the spot at the start; if false, start with a curve: `StartTurnEnabled`.
    pub start_turn: bool,
    /// Turn on the spot at the goal; if false, end with a curve: `EndTurnEnabled`.
    pub end_turn: bool,
    /// Maximum lateral acceleration, m/s^2.
    pub lateral_acceleration: f64,
    /// Maximum deviation from the path at a rounded corner, m. Sharper corners are turned on the spot.
    pub corner_deviation: f64,
}

/// Path following and tolerances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MotionSettings {
    /// Gain for lateral errors, 1/m^2: `PathFollowParam1`.
    pub offset_gain: f64,
    /// Gain for heading errors, 1/m: `PathFollowParam2`.
    pub heading_gain: f64,
    /// Correct the pose at the goal: `PositionStabilizationEnabled`.
    pub stabilization: bool,
    /// Tolerance for reaching a position, m.
    pub position_tolerance: f64,
    /// Tolerance for reaching a direction, rad.
    pub heading_tolerance: f64,
    /// Distance from the path at which the platform plans a new one, m.
    pub path_tolerance: f64,
}

/// Planning around obstacles and prohibited areas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanningSettings {
    /// `PlanningEnabled`.
    pub enabled: bool,
    /// Free margin around the platform, m.
    pub clearance: f64,
    /// How long to wait for an obstacle on a given path to disappear.
    pub obstacle_wait: Duration,
    /// How long an obstacle that is no longer seen is remembered.
    pub memory: Duration,
    /// Minimum time between two plans.
    pub interval: Duration,
    /// Side of the planning grid's squares, m.
    pub resolution: f64,
    /// Maximum number of squares; larger grids get larger squares.
    pub max_cells: usize,
    /// Maximum number of expanded squares per plan.
    pub max_expansions: usize,
}

impl PlanningSettings {
    /// Whether both settings give the same grid for a map.
    pub(crate) fn has_grid_of(&self, other: &Self) -> bool {
        (self.resolution, self.max_cells) == (other.resolution, other.max_cells)
    }
}

/// Localization in the map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalizationSettings {
    /// Correct the odometry with the laser: `LocalLocalization`.
    pub local: bool,
    /// Search the whole map when lost; if false, only around the last known pose: `GlobalLocalization`.
    pub global: bool,
    /// Standard deviation of a laser point, m.
    pub range_deviation: f64,
    /// Standard deviation of the odometry's distance, relative.
    pub distance_noise: f64,
    /// Standard deviation of the odometry's rotation, relative.
    pub turn_noise: f64,
    /// Standard deviation of the rotation per distance, rad/m.
    pub drift_noise: f64,
    /// Maximum number of scan points used.
    pub max_points: usize,
    /// Localization is lost below this fraction of explained points.
    pub lost_below: f64,
    /// A pose that was found is accepted above this fraction.
    pub found_above: f64,
    /// Search radius around the last known position, m.
    pub search_radius: f64,
    /// Search range around the last known heading, rad.
    pub search_angle: f64,
}

/// How lines of scans are extracted and merged to lines of a map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MappingSettings {
    /// Minimum length of a line of a scan, m: `MinLineLenAux`.
    pub min_scan_line: f64,
    /// Minimum length of a line of a map, m: `MinLineLenMap`.
    pub min_map_line: f64,
    /// Maximum distance of a point from its line, m.
    pub max_offset: f64,
    /// Maximum standard deviation of an extracted line's position, m: the root of `LineExtractMaxCov`.
    pub max_deviation: f64,
    /// Distance at which points belong to different objects, m per metre of range, in addition to 0.1 m.
    pub gap: f64,
    /// Maximum distance between lines that are merged, m.
    pub merge_distance: f64,
    /// Maximum angle between lines that are merged, rad.
    pub merge_angle: f64,
}

/// Mounting and range of an ultrasonic sensor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UltrasonicSettings {
    /// Pose on the platform; it measures along its x axis.
    pub pose: Pose,
    /// Height above the ground, m. Obstacles are checked in the plane; the sensor's transform has it.
    pub height: f64,
    /// Maximum range, m; longer measurements count as free.
    pub range: f64,
    /// Opening angle, rad.
    pub cone: f64,
}

/// An invalid setting.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum SettingsError {
    /// A limit of speed or acceleration is invalid.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A value is out of range.
    #[error("{name} is {}; it has to be from {least} to {most}", number(*.value))]
    OutOfRange {
        /// Name of the setting.
        name: &'static str,
        value: f64,
        /// Minimum.
        least: f64,
        /// Maximum.
        most: f64,
    },
    /// More ultrasonic sensors than channels.
    #[error("there are {0} ultrasonic sensors; the maximum is 16")]
    TooManyUltrasonics(usize),
}

impl Settings {
    /// Checks that all values are finite and in range.
    ///
    /// # Errors
    /// The first invalid setting.
    pub fn check(&self) -> Result<(), SettingsError> {
        self.limits.check()?;
        let axes = [("linear", self.limits.linear), ("angular", self.limits.angular)];
        for (axis, limits) in axes {
            for (limit, value) in
                [("acceleration", limits.acceleration), ("deceleration", limits.deceleration)]
            {
                if value.is_none() {
                    return Err(LimitError { axis, limit, value: f64::INFINITY }.into());
                }
            }
        }
        if self.ultrasonics.len() > 16 {
            return Err(SettingsError::TooManyUltrasonics(self.ultrasonics.len()));
        }
        let Self { footprint, interpolation, motion, planning, localization, mapping, collision, .. } = self;
        let ranges = [
            // The centre of rotation may be outside of the platform.
            ("front", footprint.front, -100.0, 100.0),
            ("rear", footprint.rear, -100.0, 100.0),
            ("length", footprint.front + footprint.rear, 0.001, 200.0),
            ("side", footprint.side, 0.01, 100.0),
            ("wheel separation", self.wheel_separation, 0.01, 100.0),
            ("wheel base", self.wheel_base, 0.01, 100.0),
            ("wheel radius", self.wheel_radius, 0.001, 100.0),
            ("wheel rate", self.max_wheel_rate, 0.01, 1000.0),
            ("watchdog", self.watchdog.as_secs_f64(), 0.01, 60.0),
            ("emergency reset time", self.emergency_reset_time.as_secs_f64(), 0.0, 60.0),
            ("min distance", collision.min_distance, 0.0, 10.0),
            ("side distance", collision.side_distance, 0.0, 10.0),
            ("reaction time", collision.reaction_time.as_secs_f64(), 0.0, 10.0),
            ("scan timeout", collision.scan_timeout.as_secs_f64(), 0.05, 60.0),
            ("linear velocity", interpolation.linear_velocity, 0.0, 20.0),
            ("angular velocity", interpolation.angular_velocity, 0.0, 20.0),
            ("lateral acceleration", interpolation.lateral_acceleration, 0.01, 100.0),
            ("corner deviation", interpolation.corner_deviation, 0.0, 10.0),
            ("offset gain", motion.offset_gain, 0.0, 1000.0),
            ("heading gain", motion.heading_gain, 0.0, 1000.0),
            ("position tolerance", motion.position_tolerance, 0.001, 10.0),
            ("heading tolerance", motion.heading_tolerance, 0.001, 1.0),
            ("path tolerance", motion.path_tolerance, 0.01, 100.0),
            ("clearance", planning.clearance, 0.0, 10.0),
            ("resolution", planning.resolution, 0.005, 10.0),
            ("range deviation", localization.range_deviation, 1e-4, 10.0),
            ("distance noise", localization.distance_noise, 0.0, 10.0),
            ("turn noise", localization.turn_noise, 0.0, 10.0),
            ("drift noise", localization.drift_noise, 0.0, 10.0),
            ("lost below", localization.lost_below, 0.0, 1.0),
            ("found above", localization.found_above, 0.0, 1.0),
            ("search radius", localization.search_radius, 0.0, 100.0),
            ("search angle", localization.search_angle, 0.0, std::f64::consts::PI),
            ("min scan line", mapping.min_scan_line, 0.01, 100.0),
            ("min map line", mapping.min_map_line, 0.01, 100.0),
            ("max offset", mapping.max_offset, 1e-4, 10.0),
            ("max deviation", mapping.max_deviation, 1e-5, 10.0),
            ("gap", mapping.gap, 0.0, 10.0),
            ("merge distance", mapping.merge_distance, 1e-4, 10.0),
            ("merge angle", mapping.merge_angle, 1e-4, 1.5),
        ];
        let ultrasonics = self.ultrasonics.iter().flat_map(|sensor| {
            let UltrasonicSettings { pose, height, range, cone } = *sensor;
            [
                ("ultrasonic x", pose.x, -100.0, 100.0),
                ("ultrasonic y", pose.y, -100.0, 100.0),
                ("ultrasonic z", height, -100.0, 100.0),
                ("ultrasonic angle", pose.heading, -10.0, 10.0),
                ("ultrasonic range", range, 0.0, 100.0),
                ("ultrasonic cone", cone, 0.0, std::f64::consts::PI),
            ]
        });
        let mut ranges = ranges.into_iter().chain(ultrasonics);
        match ranges.find(|(_, value, least, most)| !(least..=most).contains(&value)) {
            Some((name, value, least, most)) => Err(SettingsError::OutOfRange { name, value, least, most }),
            None => Ok(()),
        }
    }

    /// The drives, with their dimensions.
    pub fn drives(&self) -> Drives {
        let (length, width) = (self.wheel_base, self.wheel_separation);
        match self.kinematics {
            Kinematics::Differential => Drives::Differential { separation: width },
            Kinematics::Mecanum => Drives::Mecanum { length, width },
            Kinematics::Steered => {
                let place = Point::new(length / 2.0, width / 2.0);
                Drives::Steered { positions: [place, -place] }
            }
        }
    }

    /// Whether a motion has the same path with both settings. All others are in force on the running motion.
    pub(crate) fn has_paths_of(&self, other: &Self) -> bool {
        let paths = |settings: &Self| {
            let InterpolationSettings { start_turn, end_turn, .. } = settings.interpolation;
            (settings.footprint, settings.planning.enabled, start_turn, end_turn)
        };
        paths(self) == paths(other)
    }

    /// Speeds of motions by itself, m/s and rad/s.
    pub(crate) fn speeds(&self) -> [f64; 2] {
        let Self { interpolation, limits, .. } = self;
        [
            interpolation.linear_velocity.min(limits.linear.velocity),
            interpolation.angular_velocity.min(limits.angular.velocity),
        ]
    }

    /// The twist that the drives can produce, slower on the same path if a wheel would turn too fast.
    pub(crate) fn drivable(&self, twist: Twist) -> Twist {
        self.drives().limited(twist, self.max_wheel_rate * self.wheel_radius)
    }

    /// Decelerations, m/s^2 and rad/s^2.
    pub(crate) fn decelerations(&self) -> [f64; 2] {
        [self.limits.linear, self.limits.angular].map(|axis| axis.deceleration.unwrap_or(1.0))
    }
}

impl Default for Settings {
    /// The Neobotix platform of the default lab, 0.9 m by 0.6 m; velocities as in the PlatformCtrl guide, 5.9.
    fn default() -> Self {
        let axis = |velocity, acceleration, deceleration| AxisLimits {
            velocity,
            acceleration: Some(acceleration),
            deceleration: Some(deceleration),
        };
        Self {
            footprint: Footprint { front: 0.45, rear: 0.45, side: 0.3 },
            kinematics: Kinematics::Differential,
            wheel_separation: 0.5,
            wheel_base: 0.5,
            wheel_radius: 0.125,
            max_wheel_rate: 16.0,
            limits: Limits { linear: axis(1.5, 0.6, 1.0), angular: axis(1.0, 2.0, 2.0) },
            watchdog: Duration::from_secs(1),
            emergency_reset_time: Duration::from_millis(500),
            collision: CollisionSettings {
                enabled: true,
                min_distance: 0.15,
                side_distance: 0.03,
                reaction_time: Duration::from_millis(100),
                scan_timeout: Duration::from_secs(1),
            },
            interpolation: InterpolationSettings {
                linear_velocity: 1.0,
                angular_velocity: 0.6,
                start_turn: true,
                end_turn: true,
                lateral_acceleration: 0.5,
                corner_deviation: 0.15,
            },
            motion: MotionSettings {
                offset_gain: 12.0,
                heading_gain: 6.0,
                stabilization: true,
                position_tolerance: 0.01,
                heading_tolerance: 0.5_f64.to_radians(),
                path_tolerance: 0.4,
            },
            is_delegated: false,
            planning: PlanningSettings {
                enabled: true,
                clearance: 0.1,
                obstacle_wait: Duration::from_secs(3),
                memory: Duration::from_secs(20),
                interval: Duration::from_millis(500),
                resolution: 0.05,
                max_cells: 1_000_000,
                max_expansions: 400_000,
            },
            localization: LocalizationSettings {
                local: true,
                global: true,
                range_deviation: 0.02,
                distance_noise: 0.03,
                turn_noise: 0.03,
                drift_noise: 0.01,
                max_points: 181,
                lost_below: 0.35,
                found_above: 0.6,
                search_radius: 0.8,
                search_angle: 0.6,
            },
            mapping: MappingSettings {
                min_scan_line: 0.25,
                min_map_line: 0.4,
                max_offset: 0.03,
                max_deviation: 0.02,
                gap: 0.1,
                merge_distance: 0.08,
                merge_angle: 0.1,
            },
            tracking: false,
            has_laser: true,
            ultrasonics: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_settings_are_named() {
        assert_eq!(Settings::default().check(), Ok(()));
        let mut wrong = Settings::default();
        wrong.motion.position_tolerance = f64::NAN;
        let text = wrong.check().unwrap_err().to_string();
        assert_eq!(text, "position tolerance is NaN; it has to be from 0.001 to 10");
        let mut wrong = Settings::default();
        wrong.limits.linear.deceleration = None;
        assert!(matches!(wrong.check(), Err(SettingsError::Limit(_))));
    }
}

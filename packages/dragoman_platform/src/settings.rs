//! All that can be set, with its defaults: the parameters of seed 002, section 5.9, that decide how the platform moves, in SI units. The
//! parameters' names there are in the comments.

mod from_parameters;

use std::time::Duration;

use dragoman_geometry::Pose;
use dragoman_geometry::limits::{AxisLimits, LimitError, Limits};

use dragoman_geometry::Footprint;

/// Everything that can be set.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What the platform covers: `PltfLength` and its like.
    pub footprint: Footprint,
    /// Between the driven wheels' middles, m: `DistWheels`.
    pub wheel_separation: f64,
    /// How fast the platform may be in every mode, and how fast that may change.
    pub limits: Limits,
    /// How long a velocity command holds.
    pub watchdog: Duration,
    /// How long the drives need once the emergency stop is released.
    pub emergency_reset_time: Duration,
    /// Stopping for obstacles.
    pub collision: CollisionSettings,
    /// What paths are made of.
    pub interpolation: InterpolationSettings,
    /// How paths and goals are kept.
    pub motion: MotionSettings,
    /// Whether another navigator drives to goals; the controller then only tells where to.
    pub is_delegated: bool,
    /// Ways round obstacles and prohibited areas.
    pub planning: PlanningSettings,
    /// Finding oneself on the map.
    pub localization: LocalizationSettings,
    /// Making maps.
    pub mapping: MappingSettings,
    /// The ultrasonic sensors, in the order of their numbers; 16 at most.
    pub ultrasonics: Vec<UltrasonicSettings>,
}

/// Stopping for obstacles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CollisionSettings {
    /// `CollCheckEnabled`.
    pub enabled: bool,
    /// How far from an obstacle ahead the platform stands still, m: `CollLaserMinDist`.
    pub min_distance: f64,
    /// How near one may pass at the side, m.
    pub side_distance: f64,
    /// Between seeing and braking.
    pub reaction_time: Duration,
    /// A laser that has not measured for so long stops the platform.
    pub scan_timeout: Duration,
}

/// What paths are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InterpolationSettings {
    /// Speed on a straight path, m/s: `IpoTransVel`.
    pub linear_velocity: f64,
    /// Turn rate, rad/s: `IpoRotvel`.
    pub angular_velocity: f64,
    /// Turn towards the path on the spot before it; otherwise begin with a curve: `StartTurnEnabled`.
    pub start_turn: bool,
    /// Turn at the goal on the spot; otherwise end with a curve: `EndTurnEnabled`.
    pub end_turn: bool,
    /// Most acceleration across the path, m/s^2.
    pub lateral_acceleration: f64,
    /// How far the corner of a path may be cut, m. Corners that are too sharp for that are turned on the spot.
    pub corner_deviation: f64,
}

/// How paths and goals are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MotionSettings {
    /// How hard an offset to the side is steered against, 1/m^2: `PathFollowParam1`.
    pub offset_gain: f64,
    /// How hard a wrong direction is steered against, 1/m: `PathFollowParam2`.
    pub heading_gain: f64,
    /// Correct the posture at the goal: `PositionStabilizationEnabled`.
    pub stabilization: bool,
    /// When a place is reached, m.
    pub position_tolerance: f64,
    /// When a direction is reached, rad.
    pub heading_tolerance: f64,
    /// Farther from its path than this the platform looks for a new one, m.
    pub path_tolerance: f64,
}

/// Ways round obstacles and prohibited areas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlanningSettings {
    /// `PlanningEnabled`.
    pub enabled: bool,
    /// What is left free about the platform, m.
    pub clearance: f64,
    /// How long to wait for an obstacle on a given path to go away.
    pub patience: Duration,
    /// How long an obstacle that is not seen any more is remembered.
    pub memory: Duration,
    /// Least time between two plans.
    pub interval: Duration,
    /// Side of the squares that plans are looked for in, m.
    pub resolution: f64,
    /// Most squares of a plan's grid; beyond, the squares grow.
    pub max_cells: usize,
    /// Most squares that are looked at for one plan.
    pub max_expansions: usize,
}

/// Finding oneself on the map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LocalizationSettings {
    /// Correct the odometry with the laser: `LocalLocalization`.
    pub local: bool,
    /// Look on the whole map when lost; otherwise about where it was last known: `GlobalLocalization`.
    pub global: bool,
    /// Standard deviation of a laser point, m.
    pub range_deviation: f64,
    /// Standard deviation of the odometry's way, relative to it.
    pub distance_noise: f64,
    /// Standard deviation of the odometry's turn, relative to it.
    pub turn_noise: f64,
    /// Standard deviation of the turn by way, rad/m.
    pub drift_noise: f64,
    /// Points of a scan that are looked at, at most.
    pub max_points: usize,
    /// Below this part of explained points the platform counts as lost.
    pub lost_below: f64,
    /// Above it a place that was found counts.
    pub found_above: f64,
    /// How far about the last known place it is looked for, m.
    pub search_radius: f64,
    /// How far about the last known heading, rad.
    pub search_angle: f64,
}

/// Making maps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MappingSettings {
    /// Shortest line of a scan, m: `MinLineLenAux`.
    pub min_scan_line: f64,
    /// Shortest line of a map, m: `MinLineLenMap`.
    pub min_map_line: f64,
    /// How far a point may be from its line, m.
    pub max_offset: f64,
    /// Greatest standard deviation of an extracted line's place, m: the root of `LineExtractMaxCov`.
    pub max_deviation: f64,
    /// Points farther apart than this belong to different things, m, for each metre of range and on top of 0.1 m.
    pub gap: f64,
    /// Lines no farther apart than this are one, m.
    pub merge_distance: f64,
    /// Lines no more crooked than this are one, rad.
    pub merge_angle: f64,
}

/// Where an ultrasonic sensor is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UltrasonicSettings {
    /// On the platform; it looks along its x axis.
    pub pose: Pose,
    /// Greatest range, m; what is beyond is nothing.
    pub range: f64,
    /// Opening angle, rad.
    pub cone: f64,
}

/// A setting that makes no sense.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A limit is none.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// Out of range.
    #[error("{name} is {value}; it has to be from {least} to {most}")]
    OutOfRange {
        /// Which setting.
        name: &'static str,
        /// What it is.
        value: f64,
        /// The least that makes sense.
        least: f64,
        /// The most.
        most: f64,
    },
    /// More ultrasonic sensors than there are channels.
    #[error("there are {0} ultrasonic sensors; 16 at most")]
    TooManyUltrasonics(usize),
}

impl Settings {
    /// Checks that everything can be counted with.
    ///
    /// # Errors
    /// The first setting that makes no sense.
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
            ("front", footprint.front, 0.01, 100.0),
            ("rear", footprint.rear, 0.01, 100.0),
            ("side", footprint.side, 0.01, 100.0),
            ("wheel separation", self.wheel_separation, 0.01, 100.0),
            ("watchdog", self.watchdog.as_secs_f64(), 0.01, 60.0),
            ("emergency reset time", self.emergency_reset_time.as_secs_f64(), 0.0, 60.0),
            ("min distance", collision.min_distance, 0.0, 10.0),
            ("side distance", collision.side_distance, 0.0, 10.0),
            ("reaction time", collision.reaction_time.as_secs_f64(), 0.0, 10.0),
            ("scan timeout", collision.scan_timeout.as_secs_f64(), 0.05, 60.0),
            ("linear velocity", interpolation.linear_velocity, 0.01, 20.0),
            ("angular velocity", interpolation.angular_velocity, 0.01, 20.0),
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
            let UltrasonicSettings { pose, range, cone } = *sensor;
            [
                ("ultrasonic x", pose.x, -100.0, 100.0),
                ("ultrasonic y", pose.y, -100.0, 100.0),
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

    /// How hard the platform brakes, m/s^2 and rad/s^2.
    pub(crate) fn decelerations(&self) -> [f64; 2] {
        [self.limits.linear, self.limits.angular].map(|axis| axis.deceleration.unwrap_or(1.0))
    }
}

impl Default for Settings {
    /// The Neobotix platform of the default lab, 0.9 m by 0.6 m; velocities as in section 5.9.
    fn default() -> Self {
        let axis = |velocity, acceleration, deceleration| AxisLimits {
            velocity,
            acceleration: Some(acceleration),
            deceleration: Some(deceleration),
        };
        Self {
            footprint: Footprint { front: 0.45, rear: 0.45, side: 0.3 },
            wheel_separation: 0.5,
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
                patience: Duration::from_secs(3),
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
            ultrasonics: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_make_no_sense_are_named() {
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

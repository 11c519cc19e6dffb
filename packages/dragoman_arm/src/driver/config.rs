//! Configuration of a group of drives.

use std::f64::consts::TAU;
use std::time::Duration;

use canopen_rs::NodeId;

use crate::simpliq;

/// Protocol of a joint's drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DriveKind {
    /// Elmo SimplIQ with its binary interpreter.
    #[default]
    Whistle,
    /// CiA 402 with cyclic synchronous position.
    Cia402,
    /// No drive: the joint reports its commanded position (Ranger thesis, `elmoarm2.h`: "suppressed").
    Suppressed,
}

/// Kind of the cyclic set-points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ControlMode {
    /// Positions, interpolated by the drives.
    #[default]
    Position,
    /// Velocities.
    Velocity,
    /// Currents, in A.
    Torque,
    /// Positions, which a [`Controller`](super::Controller) on this computer follows with currents.
    Host,
}

impl ControlMode {
    /// The unit mode `UM` of a SimplIQ drive.
    pub fn unit_mode(self) -> i32 {
        match self {
            Self::Position => simpliq::commands::unit_mode::POSITION,
            Self::Velocity => simpliq::commands::unit_mode::SPEED,
            Self::Torque | Self::Host => simpliq::commands::unit_mode::TORQUE,
        }
    }
}

/// One joint and its drive.
#[derive(Debug, Clone, PartialEq)]
pub struct AxisConfig {
    /// Protocol of the drive.
    pub kind: DriveKind,
    /// Its node number, 1 to 127; not used where the joint is suppressed.
    pub node: u8,
    /// Encoder counts per rad (or m) of the joint; negative where the drive counts the other way.
    pub counts_per_unit: f64,
    /// The joint's position at 0 counts, rad or m.
    pub home: f64,
    /// Maximum commanded velocity of the joint, rad/s or m/s.
    pub max_velocity: f64,
    /// Maximum commanded current of the motor, A.
    pub max_current: f64,
    /// Deceleration of the joint when it is stopped during a motion, rad/s^2 or m/s^2.
    pub max_deceleration: f64,
    /// Torque of the joint per current of the motor, N m/A or N/A. Positive current moves the joint in the direction in
    /// which the drive counts.
    pub torque_per_ampere: f64,
    /// Inertia of the motor's rotor as seen by the joint, kg m^2 or kg.
    pub rotor_inertia: f64,
}

impl AxisConfig {
    /// A revolute joint with a Whistle that reports `counts_per_revolution` (negative allowed) and is at `home` at 0
    /// counts.
    pub fn whistle(node: u8, counts_per_revolution: f64, home: f64) -> Self {
        Self {
            kind: DriveKind::Whistle,
            node,
            counts_per_unit: counts_per_revolution / TAU,
            home,
            max_velocity: 1.0,
            max_current: 10.0,
            max_deceleration: 5.0,
            torque_per_ampere: 10.0,
            rotor_inertia: 0.0,
        }
    }

    /// A joint without drive.
    pub fn suppressed(home: f64) -> Self {
        Self { kind: DriveKind::Suppressed, ..Self::whistle(0, TAU, home) }
    }
}

/// A group of drives on one bus that move and stop together.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupConfig {
    /// The joints, base of the chain first.
    pub axes: Vec<AxisConfig>,
    /// Kind of the set-points.
    pub mode: ControlMode,
    /// Period of the set-points, in position loops of a SimplIQ drive (360 us each).
    pub sample_ratio: u16,
    /// Time by which set-points are sent before the drives reach them.
    pub lead: Duration,
    /// Our own node number; the drives monitor its heartbeat.
    pub master: u8,
    /// Period of our heartbeat.
    pub heartbeat: Duration,
    /// Time without our heartbeat after which the drives stop.
    pub heartbeat_loss: Duration,
    /// Timeout of the drives' cyclic reports.
    pub feedback_loss: Duration,
    /// Time for which a velocity or current command holds without being repeated.
    pub command_loss: Duration,
}

impl Default for GroupConfig {
    fn default() -> Self {
        Self {
            axes: Vec::new(),
            mode: ControlMode::Position,
            sample_ratio: 28,
            lead: Duration::from_millis(60),
            master: 127,
            heartbeat: Duration::from_millis(10),
            heartbeat_loss: Duration::from_millis(50),
            feedback_loss: Duration::from_millis(50),
            command_loss: Duration::from_millis(200),
        }
    }
}

/// Error in the configuration of a group.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum ConfigError {
    /// The group has no joint.
    #[error("the arm has no joints")]
    NoAxes,
    /// A node number outside the valid range.
    #[error("joint {joint}: node number {node} is not within 1 to 127")]
    Node {
        /// Index of the joint.
        joint: usize,
        /// Its node number.
        node: u8,
    },
    /// Two joints have the same node number, or a joint has that of the master.
    #[error("node number {node} is used twice")]
    DuplicateNode {
        /// The node number.
        node: u8,
    },
    /// An invalid value.
    #[error("joint {joint}: {name} is {value}")]
    Value {
        /// Index of the joint.
        joint: usize,
        /// Name of the value.
        name: &'static str,
        value: f64,
    },
    /// A suppressed or CiA 402 joint in a mode that it does not support.
    #[error("joint {joint}: only SimplIQ drives take velocities and currents")]
    Mode {
        /// Index of the joint.
        joint: usize,
    },
    /// A time that does not fit with the cycle.
    #[error("{name} of {value:?} does not fit with the cycle of {cycle:?}")]
    Time {
        /// Which time.
        name: &'static str,
        value: Duration,
        cycle: Duration,
    },
}

/// Used rows of a drive's queue; a power of two well above every lead.
pub const QUEUE_ROWS: u16 = 256;

impl GroupConfig {
    /// Period of the set-points.
    pub fn cycle(&self) -> Duration {
        simpliq::POSITION_LOOP * u32::from(self.sample_ratio)
    }

    /// Set-points sent ahead of the drives; even, because one frame carries two.
    pub fn lead_rows(&self) -> u16 {
        let rows = self.lead.as_nanos().div_ceil(self.cycle().as_nanos().max(1));
        u16::try_from(rows.next_multiple_of(2)).unwrap_or(u16::MAX).max(4)
    }

    /// Reports that may still come after a drive was silent for as long as allowed.
    pub(super) fn awaited_reports(&self) -> i32 {
        let cycles = self.feedback_loss.as_nanos().div_ceil(self.cycle().as_nanos().max(1));
        i32::try_from(cycles).unwrap_or(i32::MAX)
    }

    /// Checks all values.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.axes.is_empty() {
            return Err(ConfigError::NoAxes);
        }
        let mut nodes = vec![self.master];
        for (joint, axis) in self.axes.iter().enumerate() {
            axis.check(joint)?;
            if axis.kind != DriveKind::Whistle && self.mode != ControlMode::Position {
                return Err(ConfigError::Mode { joint });
            }
            if axis.kind != DriveKind::Suppressed {
                if nodes.contains(&axis.node) {
                    return Err(ConfigError::DuplicateNode { node: axis.node });
                }
                nodes.push(axis.node);
            }
        }
        let cycle = self.cycle();
        let time = |name, value| Err(ConfigError::Time { name, value, cycle });
        if cycle.is_zero() || cycle > Duration::from_millis(250) {
            return time("sample ratio", cycle);
        }
        if self.lead_rows() > QUEUE_ROWS / 4 {
            return time("lead", self.lead);
        }
        if self.feedback_loss < 2 * cycle {
            return time("feedback loss", self.feedback_loss);
        }
        if self.heartbeat.is_zero() || self.heartbeat_loss < 2 * self.heartbeat {
            return time("heartbeat loss", self.heartbeat_loss);
        }
        Ok(())
    }
}

impl AxisConfig {
    fn check(&self, joint: usize) -> Result<(), ConfigError> {
        if self.kind != DriveKind::Suppressed && NodeId::new(self.node).is_err() {
            return Err(ConfigError::Node { joint, node: self.node });
        }
        let positive = |value: f64| value.is_finite() && value > 0.0;
        // A drive counts with 32 bits.
        let countable = |counts: f64| positive(counts.abs()) && counts.abs() <= f64::from(u32::MAX);
        let values = [
            ("home", self.home, self.home.is_finite()),
            ("counts per unit", self.counts_per_unit, countable(self.counts_per_unit)),
            ("maximum velocity", self.max_velocity, positive(self.max_velocity)),
            ("maximum current", self.max_current, positive(self.max_current)),
            ("maximum deceleration", self.max_deceleration, positive(self.max_deceleration)),
            ("torque per ampere", self.torque_per_ampere, positive(self.torque_per_ampere)),
            ("rotor inertia", self.rotor_inertia, self.rotor_inertia == 0.0 || positive(self.rotor_inertia)),
        ];
        match values.iter().find(|(_, _, good)| !good) {
            Some((name, value, _)) => Err(ConfigError::Value { joint, name, value: *value }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn six() -> GroupConfig {
        let axes = (101..=106).map(|node| AxisConfig::whistle(node, -414_246.0, 0.0)).collect();
        GroupConfig { axes, ..GroupConfig::default() }
    }

    #[test]
    fn the_default_fits_a_bus_of_500_kilobits() {
        let config = six();
        config.check().unwrap();
        assert_eq!(config.cycle(), Duration::from_micros(10_080));
        assert_eq!(config.lead_rows(), 6);
    }

    #[test]
    fn invalid_values_are_named() {
        let broken = |change: fn(&mut GroupConfig)| {
            let mut config = six();
            change(&mut config);
            config.check().unwrap_err().to_string()
        };
        assert_eq!(broken(|config| config.axes.clear()), "the arm has no joints");
        assert_eq!(broken(|config| config.axes[2].node = 0), "joint 2: node number 0 is not within 1 to 127");
        assert_eq!(broken(|config| config.axes[2].node = 101), "node number 101 is used twice");
        assert_eq!(broken(|config| config.axes[2].node = 127), "node number 127 is used twice");
        assert_eq!(broken(|config| config.axes[1].home = f64::NAN), "joint 1: home is NaN");
        assert_eq!(broken(|config| config.axes[1].counts_per_unit = 0.0), "joint 1: counts per unit is 0");
        for counts in [1e300, f64::NAN, f64::INFINITY] {
            let mut config = six();
            config.axes[1].counts_per_unit = counts;
            let error = config.check().unwrap_err().to_string();
            assert!(error.starts_with("joint 1: counts per unit is "), "{error}");
        }
        assert!(broken(|config| config.sample_ratio = 0).contains("sample ratio"));
        assert!(broken(|config| config.lead = Duration::from_secs(60)).contains("lead"));
    }
}

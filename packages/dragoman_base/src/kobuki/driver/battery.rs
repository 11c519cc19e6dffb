//! The battery.

use crate::kobuki::wire::{Charging, CoreSensors};

/// Voltage thresholds of the battery.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BatteryConfig {
    /// Voltage of the full battery, V.
    pub full: f64,
    /// Voltage up to which it is low, V.
    pub low: f64,
    /// Voltage up to which it is nearly empty, and the base may switch off, V.
    pub dangerous: f64,
}

impl Default for BatteryConfig {
    fn default() -> Self {
        Self { full: 16.5, low: 14.0, dangerous: 13.2 }
    }
}

/// Charge level of the battery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names of some variants say it")]
pub enum BatteryLevel {
    /// Nearly empty.
    Dangerous,
    Low,
    /// Between low and full.
    Healthy,
    /// Fully charged.
    Full,
}

/// Charge of the battery and what charges it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Battery {
    /// Voltage, V.
    pub voltage: f64,
    /// Charge derived from the voltage, 0 to 1: 1 when full, 0.05 at the dangerous voltage.
    pub fraction: f64,
    /// Charge level.
    pub level: BatteryLevel,
    /// Whether it is being charged.
    pub charging: Charging,
    /// Whether it is charged by the adapter (`true`) or the docking station; `None` when it is not charged.
    pub adapter: Option<bool>,
}

impl Battery {
    pub(super) fn new(core: &CoreSensors, config: &BatteryConfig) -> Self {
        let voltage = f64::from(core.battery_decivolts) / 10.0;
        let charging = core.charger.charging();
        let fraction = 0.05 + 0.95 * (voltage - config.dangerous) / (config.full - config.dangerous);
        let level = match charging {
            Charging::Charged => BatteryLevel::Full,
            _ if voltage > config.low => BatteryLevel::Healthy,
            _ if voltage > config.dangerous => BatteryLevel::Low,
            _ => BatteryLevel::Dangerous,
        };
        Self {
            voltage,
            fraction: fraction.clamp(0.0, 1.0),
            level,
            charging,
            adapter: (charging != Charging::Discharging).then_some(core.charger.is_adapter()),
        }
    }
}

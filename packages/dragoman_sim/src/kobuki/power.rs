//! Battery and charger.

use super::inputs::ChargerSource;
use crate::chassis::TICK_S;
use dragoman_base::kobuki::wire::Charger;

/// Capacity of the small battery, As: 2.2 Ah.
const CAPACITY: f64 = 2.2 * 3600.0;
/// Current of the electronics, A.
const IDLE_CURRENT: f64 = 0.4;
/// Charging current in addition to the consumption, A.
const CHARGE_CURRENT: f64 = 1.5;
/// Resistance of the battery, ohm.
const RESISTANCE: f64 = 0.12;

/// Charge as a fraction, and open-circuit voltage, V. The limits of the levels are those of the driver: 16.5 full, 14.0
/// low, 13.2 dangerous.
const CURVE: [(f64, f64); 6] =
    [(0.0, 12.0), (0.05, 13.2), (0.2, 14.0), (0.5, 14.8), (0.9, 16.2), (1.0, 16.5)];

/// Range of settable battery voltages, V.
pub const BATTERY_RANGE: std::ops::RangeInclusive<f64> = 12.0..=16.5;

#[derive(Debug, Clone, Copy)]
pub(super) struct Battery {
    /// Charge as a fraction of the capacity.
    charge: f64,
    /// Current out of the battery, A.
    current: f64,
    pub(super) charger: Charger,
}

impl Battery {
    pub(super) fn new(volts: f64) -> Self {
        let mut battery = Self { charge: 1.0, current: IDLE_CURRENT, charger: Charger::DISCHARGING };
        battery.set(volts);
        battery
    }

    /// Sets the charge that corresponds to a terminal voltage, V.
    pub(super) fn set(&mut self, volts: f64) {
        let open = volts + self.current * RESISTANCE;
        self.charge = interpolate(CURVE.iter().map(|(charge, volts)| (*volts, *charge)), open);
    }

    pub(super) fn volts(&self) -> f64 {
        interpolate(CURVE.iter().copied(), self.charge) - self.current * RESISTANCE
    }

    /// Simulates one millisecond with this motor current, A.
    pub(super) fn step(&mut self, motors: f64, source: Option<ChargerSource>) {
        let is_full = self.charge >= 1.0;
        (self.charger, self.current) = match source {
            None => (Charger::DISCHARGING, IDLE_CURRENT + motors),
            Some(ChargerSource::Docking) if is_full => (Charger::DOCK_CHARGED, 0.0),
            Some(ChargerSource::Docking) => (Charger::DOCK_CHARGING, -CHARGE_CURRENT),
            Some(ChargerSource::Adapter) if is_full => (Charger::ADAPTER_CHARGED, 0.0),
            Some(ChargerSource::Adapter) => (Charger::ADAPTER_CHARGING, -CHARGE_CURRENT),
        };
        self.charge = (self.charge - self.current * TICK_S / CAPACITY).clamp(0.0, 1.0);
    }
}

/// Piecewise linear interpolation at `at` with ascending abscissas; constant beyond the ends.
fn interpolate(points: impl Iterator<Item = (f64, f64)>, at: f64) -> f64 {
    let mut last: Option<(f64, f64)> = None;
    for (x, y) in points {
        match last {
            Some((x0, y0)) if at < x => return y0 + (y - y0) * (at - x0).max(0.0) / (x - x0),
            _ => last = Some((x, y)),
        }
    }
    last.map_or(0.0, |(_, y)| y)
}

//! The battery of the lab's platform.

use std::time::Duration;

use dragoman_ros::sensor_msgs::msg::BatteryState;

const CHARGING: u8 = BatteryState::POWER_SUPPLY_STATUS_CHARGING as u8;
const DISCHARGING: u8 = BatteryState::POWER_SUPPLY_STATUS_DISCHARGING as u8;

/// A lead-acid battery of 24 V and 60 Ah.
pub(super) struct Battery {
    /// Charge, Ah.
    charge: f64,
    /// Current out of the battery, A; negative while it is charged.
    current: f64,
}

impl Battery {
    /// Capacity, Ah.
    const CAPACITY: f64 = 60.0;
    /// Voltage at rest, empty and full, V.
    const VOLTAGE: [f64; 2] = [22.0, 25.6];
    /// Current at rest and while driving, A.
    const CURRENT: [f64; 2] = [3.0, 9.0];

    /// Current of the charging station, A.
    const CHARGER: f64 = 12.0;

    /// A full battery.
    pub(super) fn new() -> Self {
        Self { charge: Self::CAPACITY, current: Self::CURRENT[0] }
    }

    /// Discharges it for this time.
    pub(super) fn use_up(&mut self, time: Duration, moves: bool) {
        let [rest, drives] = Self::CURRENT;
        self.current = if moves { drives } else { rest };
        self.charge = (self.charge - self.current * time.as_secs_f64() / 3600.0).max(0.0);
    }

    /// Charges it for this time.
    pub(super) fn charge(&mut self, time: Duration) {
        self.current = Self::CURRENT[0] - Self::CHARGER;
        self.charge = (self.charge - self.current * time.as_secs_f64() / 3600.0).min(Self::CAPACITY);
    }

    /// Its state, without stamp.
    pub(super) fn state(&self) -> BatteryState {
        let part = self.charge / Self::CAPACITY;
        let [empty, full] = Self::VOLTAGE;
        BatteryState {
            voltage: (empty + (full - empty) * part) as f32,
            temperature: f32::NAN,
            current: -self.current as f32,
            charge: self.charge as f32,
            capacity: Self::CAPACITY as f32,
            design_capacity: Self::CAPACITY as f32,
            percentage: part as f32,
            power_supply_status: if self.current < 0.0 { CHARGING } else { DISCHARGING },
            power_supply_health: BatteryState::POWER_SUPPLY_HEALTH_GOOD as u8,
            power_supply_technology: BatteryState::POWER_SUPPLY_TECHNOLOGY_UNKNOWN as u8,
            present: true,
            ..Default::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_battery_is_used_up_faster_while_it_drives_and_charged_at_the_station() {
        let hour = Duration::from_secs(3600);
        let mut battery = Battery::new();
        assert_eq!((battery.state().percentage, battery.state().voltage), (1.0, 25.6));
        battery.use_up(hour, false);
        assert!((battery.charge - 57.0).abs() < 1e-9);
        battery.use_up(hour, true);
        assert!((battery.charge - 48.0).abs() < 1e-9 && battery.state().current == -9.0);
        assert_eq!(battery.state().power_supply_status, DISCHARGING);
        battery.charge(hour);
        assert!((battery.charge - 57.0).abs() < 1e-9 && battery.state().current == 9.0);
        assert_eq!(battery.state().power_supply_status, CHARGING);
        battery.charge(hour);
        assert_eq!(battery.state().percentage, 1.0);
        battery.use_up(hour * 100, true);
        assert_eq!((battery.state().percentage, battery.state().voltage), (0.0, 22.0));
    }
}

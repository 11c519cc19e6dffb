//! Changes, each reported once.

use std::collections::VecDeque;

use super::state::Sensors;
use super::{Battery, BatteryConfig, BatteryLevel};
use crate::kobuki::wire::{
    Bumpers, Buttons, Charging, CliffReadings, Cliffs, ControllerGains, CoreSensors, DigitalInputs,
    WheelDrops,
};

/// Position of a bumper or a cliff sensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they say it")]
pub enum Side {
    Left,
    Center,
    Right,
}

/// One of the two driven wheels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "they say it")]
pub enum Wheel {
    Left,
    Right,
}

/// A change of the battery, as in `kobuki_ros_interfaces/msg/PowerSystemEvent`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PowerEvent {
    /// Charging has ended.
    Unplugged,
    /// The adapter charges it.
    PluggedToAdapter,
    /// The docking station charges it.
    PluggedToDock,
    /// It is full.
    ChargeCompleted,
    /// It has become low.
    BatteryLow,
    /// It has become dangerously low.
    BatteryCritical,
}

/// A change. Changes of the base are reported once, when they are received, relative to the last report, also across a
/// lost connection.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum Event {
    /// A bumper was pressed or released.
    Bumper {
        side: Side,
        /// Whether it is pressed now.
        pressed: bool,
    },
    /// A cliff sensor has detected or lost a cliff.
    Cliff {
        side: Side,
        /// Whether it detects a cliff (no floor).
        cliff: bool,
        /// Its reading, counts; 0 if the base does not report it.
        reading: u16,
    },
    /// A wheel has dropped or was raised.
    WheelDrop {
        wheel: Wheel,
        /// Whether it is dropped now.
        dropped: bool,
    },
    /// A button was pressed or released.
    Button {
        /// 0 to 2.
        button: u8,
        /// Whether it is pressed now.
        pressed: bool,
    },
    Power(PowerEvent),
    /// Digital inputs have changed; the present state of all of them.
    Input(DigitalInputs),
    /// Feedback of the base started or stopped.
    Robot {
        /// Whether feedback arrives.
        online: bool,
    },
    /// All versions and the unique id are known.
    Identified,
    /// The gains of the base's controller were received.
    Gains(ControllerGains),
    /// The motors were switched on or off, by a command or a dropped wheel.
    MotorPower {
        /// Whether they are on.
        on: bool,
    },
    /// The last command expired while the base was moving; it was stopped.
    CommandExpired,
}

/// Hysteresis of a battery level: the voltage must rise by this much before the level is reported again, as it varies
/// under load and while charging. V.
const BATTERY_HYSTERESIS: f64 = 0.3;

/// The last reported state.
#[derive(Debug, Clone)]
pub(super) struct Edges {
    core: CoreSensors,
    inputs: DigitalInputs,
    level: BatteryLevel,
}

/// Nothing pressed, no wheel dropped, no cliff, not charging, a healthy battery.
impl Default for Edges {
    fn default() -> Self {
        Self { core: CoreSensors::default(), inputs: DigitalInputs::default(), level: BatteryLevel::Healthy }
    }
}

impl Edges {
    pub(super) fn update(&mut self, sensors: &Sensors, config: &BatteryConfig, events: &mut VecDeque<Event>) {
        if let Some(core) = &sensors.core {
            let readings = sensors.cliffs.unwrap_or_default();
            self.contacts(core, &readings, events);
            self.power(core, config, events);
            self.core = *core;
        }
        if let Some(input) = sensors.input
            && input.digital != self.inputs
        {
            self.inputs = input.digital;
            events.push_back(Event::Input(self.inputs));
        }
    }

    fn contacts(&self, core: &CoreSensors, readings: &CliffReadings, events: &mut VecDeque<Event>) {
        let changed = self.core.buttons ^ core.buttons;
        for (button, flag) in [(0, Buttons::B0), (1, Buttons::B1), (2, Buttons::B2)] {
            if changed.contains(flag) {
                events.push_back(Event::Button { button, pressed: core.buttons.contains(flag) });
            }
        }
        let changed = self.core.bumpers ^ core.bumpers;
        let bumpers =
            [(Side::Left, Bumpers::LEFT), (Side::Center, Bumpers::CENTER), (Side::Right, Bumpers::RIGHT)];
        for (side, flag) in bumpers {
            if changed.contains(flag) {
                events.push_back(Event::Bumper { side, pressed: core.bumpers.contains(flag) });
            }
        }
        let changed = self.core.cliffs ^ core.cliffs;
        let cliffs = [
            (Side::Left, Cliffs::LEFT, readings.left),
            (Side::Center, Cliffs::CENTER, readings.center),
            (Side::Right, Cliffs::RIGHT, readings.right),
        ];
        for (side, flag, reading) in cliffs {
            if changed.contains(flag) {
                events.push_back(Event::Cliff { side, cliff: core.cliffs.contains(flag), reading });
            }
        }
        let changed = self.core.wheel_drops ^ core.wheel_drops;
        for (wheel, flag) in [(Wheel::Left, WheelDrops::LEFT), (Wheel::Right, WheelDrops::RIGHT)] {
            if changed.contains(flag) {
                events.push_back(Event::WheelDrop { wheel, dropped: core.wheel_drops.contains(flag) });
            }
        }
    }

    fn power(&mut self, core: &CoreSensors, config: &BatteryConfig, events: &mut VecDeque<Event>) {
        let battery = Battery::new(core, config);
        let charging = battery.charging;
        if charging != self.core.charger.charging() {
            events.push_back(Event::Power(match (charging, battery.adapter) {
                (Charging::Discharging, _) => PowerEvent::Unplugged,
                (Charging::Charged, _) => PowerEvent::ChargeCompleted,
                (Charging::Charging, Some(true)) => PowerEvent::PluggedToAdapter,
                (Charging::Charging, _) => PowerEvent::PluggedToDock,
            }));
        }
        if battery.level < self.level {
            self.level = battery.level;
            match battery.level {
                BatteryLevel::Dangerous => events.push_back(Event::Power(PowerEvent::BatteryCritical)),
                BatteryLevel::Low => events.push_back(Event::Power(PowerEvent::BatteryLow)),
                BatteryLevel::Healthy | BatteryLevel::Full => {}
            }
        } else {
            let rested = CoreSensors {
                battery_decivolts: core.battery_decivolts.saturating_sub((BATTERY_HYSTERESIS * 10.0) as u8),
                ..*core
            };
            self.level = self.level.max(Battery::new(&rested, config).level);
        }
    }
}

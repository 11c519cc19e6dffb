//! Sub-payload 1: data of every frame.

use std::fmt;

use bitflags::bitflags;

use super::{display_flags, put};

bitflags! {
    /// Bumpers that are pressed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Bumpers: u8 {
        /// The right one.
        const RIGHT = 0x01;
        /// The one in front.
        const CENTER = 0x02;
        /// The left one.
        const LEFT = 0x04;
    }

    /// Wheels that have dropped: the base was lifted.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct WheelDrops: u8 {
        /// The right one.
        const RIGHT = 0x01;
        /// The left one.
        const LEFT = 0x02;
    }

    /// Cliff sensors that detect no floor.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Cliffs: u8 {
        /// The right one.
        const RIGHT = 0x01;
        /// The one in front.
        const CENTER = 0x02;
        /// The left one.
        const LEFT = 0x04;
    }

    /// Buttons that are pressed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Buttons: u8 {
        /// Button B0.
        const B0 = 0x01;
        /// Button B1.
        const B1 = 0x02;
        /// Button B2.
        const B2 = 0x04;
    }

    /// Wheels whose motor draws too much current.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct Overcurrents: u8 {
        /// The left one.
        const LEFT = 0x01;
        /// The right one.
        const RIGHT = 0x02;
    }
}
display_flags!(Bumpers, WheelDrops, Cliffs, Buttons, Overcurrents);

/// Charging state of the battery.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Charging {
    /// Not charged: neither dock nor adapter.
    Discharging,
    /// Full, at dock or adapter.
    Charged,
    /// At dock or adapter.
    Charging,
}

/// The byte about charging: state in the low four bits, the source in bit 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Charger(pub u8);

impl Charger {
    /// Nothing plugged in.
    pub const DISCHARGING: Self = Self(0x00);
    /// Full, at the docking station.
    pub const DOCK_CHARGED: Self = Self(0x02);
    /// Being charged at the docking station.
    pub const DOCK_CHARGING: Self = Self(0x06);
    /// Full, at the adapter.
    pub const ADAPTER_CHARGED: Self = Self(0x12);
    /// Being charged at the adapter.
    pub const ADAPTER_CHARGING: Self = Self(0x16);

    /// The charging state; unknown states count as discharging.
    pub fn charging(self) -> Charging {
        match self.0 & 0x0f {
            0x02 => Charging::Charged,
            0x06 => Charging::Charging,
            _ => Charging::Discharging,
        }
    }

    /// Whether the adapter, not the docking station, supplies the current.
    pub fn is_adapter(self) -> bool {
        self.0 & 0x10 != 0
    }
}

impl fmt::Display for Charger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = if self.is_adapter() { "adapter" } else { "dock" };
        match self.charging() {
            Charging::Discharging => f.write_str("discharging"),
            Charging::Charged => write!(f, "charged at the {source}"),
            Charging::Charging => write!(f, "charging at the {source}"),
        }
    }
}

/// Data of every frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct CoreSensors {
    /// The base's clock; wraps every 65.536 s.
    pub timestamp_ms: u16,
    /// Bumpers that are pressed.
    pub bumpers: Bumpers,
    /// Wheels that have dropped.
    pub wheel_drops: WheelDrops,
    /// Cliff sensors that detect no floor.
    pub cliffs: Cliffs,
    /// The left wheel's encoder; wraps.
    pub left_encoder_ticks: u16,
    /// The right wheel's encoder; wraps.
    pub right_encoder_ticks: u16,
    /// The left motor's duty cycle in the base's units; negative: backwards.
    pub left_pwm: i8,
    /// The right motor's duty cycle.
    pub right_pwm: i8,
    /// Buttons that are pressed.
    pub buttons: Buttons,
    /// Charging state and source.
    pub charger: Charger,
    /// The battery's voltage, 0.1 V.
    pub battery_decivolts: u8,
    /// Wheels whose motor draws too much current.
    pub overcurrents: Overcurrents,
}

impl CoreSensors {
    /// Number of the sub-payload.
    pub const ID: u8 = 1;

    /// Reads the sub-payload's data; `None` unless it has 15 bytes.
    pub fn decode(data: &[u8]) -> Option<Self> {
        let [
            t0,
            t1,
            bumper,
            drop,
            cliff,
            l0,
            l1,
            r0,
            r1,
            left_pwm,
            right_pwm,
            buttons,
            charger,
            battery,
            over,
        ] = *<&[u8; 15]>::try_from(data).ok()?;
        Some(Self {
            timestamp_ms: u16::from_le_bytes([t0, t1]),
            bumpers: Bumpers::from_bits_retain(bumper),
            wheel_drops: WheelDrops::from_bits_retain(drop),
            cliffs: Cliffs::from_bits_retain(cliff),
            left_encoder_ticks: u16::from_le_bytes([l0, l1]),
            right_encoder_ticks: u16::from_le_bytes([r0, r1]),
            left_pwm: left_pwm.cast_signed(),
            right_pwm: right_pwm.cast_signed(),
            buttons: Buttons::from_bits_retain(buttons),
            charger: Charger(charger),
            battery_decivolts: battery,
            overcurrents: Overcurrents::from_bits_retain(over),
        })
    }

    /// Appends the sub-payload.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let [t0, t1] = self.timestamp_ms.to_le_bytes();
        let [l0, l1] = self.left_encoder_ticks.to_le_bytes();
        let [r0, r1] = self.right_encoder_ticks.to_le_bytes();
        #[rustfmt::skip]
        put(out, Self::ID, [
            t0, t1, self.bumpers.bits(), self.wheel_drops.bits(), self.cliffs.bits(), l0, l1, r0, r1,
            self.left_pwm.cast_unsigned(), self.right_pwm.cast_unsigned(), self.buttons.bits(), self.charger.0,
            self.battery_decivolts, self.overcurrents.bits(),
        ]);
    }
}

impl fmt::Display for CoreSensors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "core: {} ms, bumpers {}, wheel drops {}, cliffs {}, encoders {} {}, pwm {} {}, buttons {}, {}, {}.{} V, overcurrent {}",
            self.timestamp_ms,
            self.bumpers,
            self.wheel_drops,
            self.cliffs,
            self.left_encoder_ticks,
            self.right_encoder_ticks,
            self.left_pwm,
            self.right_pwm,
            self.buttons,
            self.charger,
            self.battery_decivolts / 10,
            self.battery_decivolts % 10,
            self.overcurrents
        )
    }
}

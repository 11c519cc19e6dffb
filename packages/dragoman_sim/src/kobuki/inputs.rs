//! Inputs of the robot from the world and the user.

use dragoman_base::kobuki::wire::DockSignals;
use dragoman_geometry::Twist;

use crate::chassis::Wheels;

/// One value per sensor of a front row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct FrontSensors<T> {
    /// Left in the direction of travel.
    pub left: T,
    /// Centre.
    pub center: T,
    pub right: T,
}

/// Power source of the charger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargerSource {
    /// Docking station.
    Docking,
    /// Adapter plug.
    Adapter,
}

/// A/D value of a cliff sensor above the floor. The converter has 12 bits; this value and [`CLIFF_THRESHOLD`] are ours,
/// since the manufacturer publishes none.
pub const CLIFF_ADC_FLOOR: u16 = 1800;
/// A/D value of a cliff sensor beyond an edge.
pub const CLIFF_ADC_EDGE: u16 = 300;
/// Below this value a cliff sensor reports a cliff.
pub const CLIFF_THRESHOLD: u16 = 800;
/// Maximum A/D value.
pub const ADC_MAX: u16 = 4095;

/// Inputs of the sensors. Changes take effect at the next millisecond.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    /// Pressed bumpers.
    pub bumpers: FrontSensors<bool>,
    /// A/D values of the cliff sensors, 0 to [`ADC_MAX`]; below [`CLIFF_THRESHOLD`] is a cliff.
    pub cliff_adc: FrontSensors<u16>,
    /// Hanging wheels. While a wheel hangs, the wheels do not move the chassis.
    pub wheel_drops: Wheels<bool>,
    /// Pressed buttons.
    pub buttons: [bool; 3],
    /// Signals of the docking station at the receivers.
    pub dock_ir: FrontSensors<DockSignals>,
    /// Digital inputs, high or low.
    pub digital: [bool; 4],
    /// Analog inputs, 0 to [`ADC_MAX`].
    pub analog: [u16; 4],
    /// Power source of the charger.
    pub charger: Option<ChargerSource>,
    /// Blocked wheels.
    pub stalled: Wheels<bool>,
    /// The chassis' velocity, if it does not follow from the wheels: zero against a wall (the wheels slip), other
    /// values while it is carried. Values that are not finite count as zero.
    pub motion: Option<Twist>,
}

impl Default for Inputs {
    fn default() -> Self {
        let floor = CLIFF_ADC_FLOOR;
        Self {
            bumpers: FrontSensors::default(),
            cliff_adc: FrontSensors { left: floor, center: floor, right: floor },
            wheel_drops: Wheels::default(),
            buttons: [false; 3],
            dock_ir: FrontSensors::default(),
            digital: [false; 4],
            analog: [0; 4],
            charger: None,
            stalled: Wheels::default(),
            motion: None,
        }
    }
}

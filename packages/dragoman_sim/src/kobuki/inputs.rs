//! What the world and the user do to the machine.

use dragoman_base::kobuki::wire::DockSignals;
use dragoman_geometry::Twist;

use crate::chassis::Wheels;

/// One value per sensor of a row at the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Row<T> {
    /// Left in the direction of travel.
    pub left: T,
    /// In the middle.
    pub center: T,
    /// Right.
    pub right: T,
}

/// What the battery is charged from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChargerSource {
    /// The docking station.
    Docking,
    /// The adapter's plug.
    Adapter,
}

/// A/D converter's value of a cliff sensor that sees the floor. The converter has 12 bits; this value and
/// [`CLIFF_THRESHOLD`] are ours, the makers tell none.
pub const CLIFF_ADC_FLOOR: u16 = 1800;
/// A/D converter's value of a cliff sensor beyond an edge.
pub const CLIFF_ADC_EDGE: u16 = 300;
/// Below it a cliff sensor tells a cliff.
pub const CLIFF_THRESHOLD: u16 = 800;
/// The highest value of the A/D converters.
pub const ADC_MAX: u16 = 4095;

/// What the machine's sensors meet. Plain data: set what you like, it counts from the next millisecond on.
#[derive(Debug, Clone, PartialEq)]
pub struct Inputs {
    /// Pressed bumpers.
    pub bumpers: Row<bool>,
    /// A/D converter's values of the cliff sensors, 0 to [`ADC_MAX`]; below [`CLIFF_THRESHOLD`] it is a cliff.
    pub cliff_adc: Row<u16>,
    /// Wheels that hang down. The chassis does not move by its wheels while one does.
    pub wheel_drops: Wheels<bool>,
    /// Pressed buttons.
    pub buttons: [bool; 3],
    /// What the receivers see of the docking station's light.
    pub dock_ir: Row<DockSignals>,
    /// Digital inputs, high or low.
    pub digital: [bool; 4],
    /// Analog inputs, 0 to [`ADC_MAX`].
    pub analog: [u16; 4],
    /// What the battery is charged from.
    pub charger: Option<ChargerSource>,
    /// Wheels that something holds.
    pub stalled: Wheels<bool>,
    /// How the chassis really moves, where that is not as its wheels turn: zero against a wall (the wheels slip), anything else
    /// where it is carried. Values that are not finite count as zero.
    pub motion: Option<Twist>,
}

impl Default for Inputs {
    fn default() -> Self {
        let floor = CLIFF_ADC_FLOOR;
        Self {
            bumpers: Row::default(),
            cliff_adc: Row { left: floor, center: floor, right: floor },
            wheel_drops: Wheels::default(),
            buttons: [false; 3],
            dock_ir: Row::default(),
            digital: [false; 4],
            analog: [0; 4],
            charger: None,
            stalled: Wheels::default(),
            motion: None,
        }
    }
}

//! Calibration: joint offsets and Denavit-Hartenberg parameters of an arm from measured tool positions (Ranger thesis,
//! 4.1 to 4.4), encoder counts from arcs, and which poses to measure.
//!
//! | file | holds |
//! | --- | --- |
//! | `table.rs` | [`DhTable`]: a robot as a table whose entries can be estimated |
//! | `rigid.rs` | [`align`]: the measuring frame, by Kabsch's and Umeyama's method |
//! | `check.rs` | refuses measurements that cannot be used, before anything is computed |
//! | `fit.rs` | [`fit`]: the estimate, its accuracy, parameters that cannot be distinguished |
//! | `descent.rs` | Levenberg-Marquardt with bounds and robust weights |
//! | `simplex.rs` | Nelder-Mead, as in the Ranger thesis |
//! | `accuracy.rs` | [`accuracy`]: the errors of a description, without an estimate |
//! | `plan.rs` | [`plan`]: poses that determine the parameters best |
//! | `arcs.rs` | [`arcs`]: encoder counts per radian |
//!
//! Only the position of the tool is measured. The frame of the measuring device in the base frame is known, or
//! estimated together with the parameters. Metres and radians.

mod accuracy;
pub mod arcs;
mod check;
mod descent;
mod fit;
mod plan;
pub(crate) mod rigid;
mod simplex;
mod table;

pub use accuracy::{Accuracy, accuracy};
pub use fit::{Estimate, Fit, FitOptions, Held, Loss, MeasuringFrame, Method, Stage, Statistics, fit};
pub use plan::{Plan, PlanError, PlanOptions, is_way_allowed, plan};
pub use rigid::{Alignment, align};
pub use table::{DhRow, DhTable, Entry, Layout, Parameter};

use nalgebra::Point3;

/// A pose of the arm, and where its tool was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    /// Reported joint positions, base first, rad or m.
    pub joints: Vec<f64>,
    /// Measured tool position, in the frame of the measuring device, m.
    pub point: Point3<f64>,
}

/// Measurements or options that cannot be used. Rows count from 1.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub enum CalibrationError {
    /// A row with another number of joints.
    #[error("measurement {row} has {got} joint positions; the arm has {expected} joints")]
    Joints {
        /// Number of the measurement.
        row: usize,
        /// Its joint positions.
        got: usize,
        /// Joints of the arm.
        expected: usize,
    },
    /// NaN or infinity.
    #[error("measurement {row}: {name} is {value}")]
    NotFinite {
        /// Number of the measurement.
        row: usize,
        /// Column.
        name: String,
        value: f64,
    },
    /// A joint position that the arm cannot have.
    #[error(
        "measurement {row}: {joint} is {value}, outside its limits {lower} to {upper}{}",
        if *.degrees { "; joint positions are in radians, are these degrees?" } else { "" }
    )]
    OutsideLimits {
        /// Number of the measurement.
        row: usize,
        /// Name of the joint.
        joint: String,
        /// Its position, rad or m.
        value: f64,
        /// Lower limit, rad or m.
        lower: f64,
        /// Upper limit, rad or m.
        upper: f64,
        /// Whether degrees would fit.
        degrees: bool,
    },
    /// Fewer different poses than the parameters need.
    #[error(
        "{poses} different poses ({measurements} measurements) do not determine {parameters} parameters{}: at least \
         {needed} are needed, better {}",
        if *.frame { " and the measuring frame" } else { "" }, 3 * .needed
    )]
    TooFewPoses {
        /// Different poses.
        poses: usize,
        measurements: usize,
        /// Parameters to estimate.
        parameters: usize,
        /// Whether the measuring frame is estimated, too.
        frame: bool,
        /// Minimum number of different poses.
        needed: usize,
    },
    /// All positions, measured or computed, lie on a line or in a point.
    #[error(
        "the {which} positions lie on a line: the measuring frame cannot be found; measure poses in all directions"
    )]
    OnALine {
        /// `measured` or `computed`.
        which: &'static str,
    },
    /// The measured positions have another unit than metres.
    #[error("the measured positions are {factor:.4} times as large as the computed ones{guess}")]
    Unit {
        /// Measured by computed size.
        factor: f64,
        /// The unit that it suggests.
        guess: &'static str,
    },
    /// The measuring frame is left-handed.
    #[error("the measured positions are mirrored: two columns are exchanged, or one has the wrong sign")]
    Mirrored,
    /// The measurements are not those of this arm.
    #[error(
        "the measurements do not fit this arm: the mean error is {:.1} mm at best, {:.1} mm before; check the order \
         and the units of the columns, and the robot", .after * 1e3, .before * 1e3
    )]
    DoesNotFit {
        /// Mean error of the description, m.
        before: f64,
        /// Mean error of the best fit, m.
        after: f64,
    },
    /// A parameter that the table does not have, or one that is given twice.
    #[error("there is no parameter {name}; this arm has {known}")]
    Unknown {
        name: String,
        /// Names of all parameters.
        known: String,
    },
    /// A start value or a bound that is not a usable number.
    #[error("{name}: {value} is not a usable value")]
    Value {
        /// What it is for.
        name: String,
        value: f64,
    },
    /// No parameter is left to estimate.
    #[error("nothing to estimate: {reason}")]
    Nothing {
        /// Why.
        reason: String,
    },
    /// The optimizer failed.
    #[error("the optimization failed: {reason}")]
    Failed {
        /// What it reported.
        reason: String,
    },
}

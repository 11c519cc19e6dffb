//! Parameters as fields of a struct.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::{Declaration, Range};
use crate::ParameterValue;

/// The parameters of a node, or a group of them that several nodes have. [`parameters!`](crate::parameters!) implements
/// it; parameters whose names are known at run time only implement it themselves.
pub trait ParameterSet: Clone + Send + Sync + 'static {
    /// The declarations; the values of `self` are the defaults.
    fn declarations(&self) -> Vec<Declaration>;

    /// Takes over the values of these parameters.
    fn update(&mut self, values: &Values);

    /// Refuses values that do not go together, before they are taken over. Each of them has passed its declaration.
    ///
    /// # Errors
    /// The reason, for the user.
    fn check(&self, _values: &Values) -> Result<(), String> {
        Ok(())
    }
}

/// A node that has only the parameters of every node.
impl ParameterSet for () {
    fn declarations(&self) -> Vec<Declaration> {
        Vec::new()
    }

    fn update(&mut self, _values: &Values) {}
}

/// The values of a node's parameters by name, each of its declared type and range.
#[derive(Clone, Debug, Default)]
pub struct Values(pub(super) BTreeMap<Cow<'static, str>, ParameterValue>);

impl Values {
    /// Copies the value of a parameter to its field.
    pub fn copy<T: Field>(&self, name: &str, field: &mut T) {
        // Values of other types do not pass the declaration.
        if let Some(value) = self.0.get(name).and_then(T::from_value) {
            *field = value;
        }
    }
}

/// The type of a field that is a parameter.
pub trait Field: Sized {
    /// Type of bounds, in which only values of the field's type can be written.
    type Bounds: Into<Range>;
    /// The range of a parameter without bounds.
    const ANY: Range = Range::Any;

    /// The value in ROS.
    fn to_value(&self) -> ParameterValue;

    /// The value of the field; `None` for a value of another type.
    fn from_value(value: &ParameterValue) -> Option<Self>;
}

/// A value that can be written as default of a field of type `T`.
pub trait Initial<T> {
    /// The value of the field.
    fn initial(self) -> T;
}

impl<T> Initial<T> for T {
    fn initial(self) -> T {
        self
    }
}

impl Initial<String> for &str {
    fn initial(self) -> String {
        self.to_owned()
    }
}

/// A time in seconds.
impl Initial<Duration> for f64 {
    fn initial(self) -> Duration {
        Duration::from_secs_f64(self)
    }
}

impl<T: Initial<U>, U, const N: usize> Initial<Vec<U>> for [T; N] {
    fn initial(self) -> Vec<U> {
        self.into_iter().map(T::initial).collect()
    }
}

macro_rules! fields {
    ($($type:ty, $variant:ident, $bounds:ty;)*) => {$(
        impl Field for $type {
            type Bounds = $bounds;

            fn to_value(&self) -> ParameterValue {
                ParameterValue::$variant(self.clone())
            }

            fn from_value(value: &ParameterValue) -> Option<Self> {
                match value {
                    ParameterValue::$variant(value) => Some(value.clone()),
                    _ => None,
                }
            }
        }
    )*};
}

fields! {
    bool, Bool, Infallible;
    f64, Double, RangeInclusive<f64>;
    String, String, &'static [&'static str];
    Vec<bool>, BoolArray, Infallible;
    Vec<i64>, IntegerArray, RangeInclusive<i64>;
    Vec<f64>, DoubleArray, RangeInclusive<f64>;
    Vec<String>, StringArray, Infallible;
}

impl From<Infallible> for Range {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

macro_rules! integers {
    ($($type:ty, $any:expr;)*) => {$(
        impl Field for $type {
            type Bounds = RangeInclusive<$type>;
            const ANY: Range = $any;

            fn to_value(&self) -> ParameterValue {
                ParameterValue::Integer(i64::try_from(*self).unwrap_or(i64::MAX))
            }

            fn from_value(value: &ParameterValue) -> Option<Self> {
                match value {
                    ParameterValue::Integer(value) => Self::try_from(*value).ok(),
                    _ => None,
                }
            }
        }

        impl From<RangeInclusive<$type>> for Range {
            fn from(range: RangeInclusive<$type>) -> Self {
                let bound = |bound: &$type| i64::try_from(*bound).unwrap_or(i64::MAX);
                Self::Integer { from: bound(range.start()), to: bound(range.end()) }
            }
        }
    )*};
}

integers! {
    i64, Range::Any;
    i32, Range::Integer { from: i32::MIN as i64, to: i32::MAX as i64 };
    u16, Range::Integer { from: 0, to: u16::MAX as i64 };
    u32, Range::Integer { from: 0, to: u32::MAX as i64 };
    usize, Range::Integer { from: 0, to: i64::MAX };
}

/// In seconds.
impl Field for Duration {
    type Bounds = RangeInclusive<f64>;
    const ANY: Range = Range::Double { from: 0.0, to: 1e9 };

    fn to_value(&self) -> ParameterValue {
        self.as_secs_f64().to_value()
    }

    fn from_value(value: &ParameterValue) -> Option<Self> {
        f64::from_value(value).and_then(|seconds| Self::try_from_secs_f64(seconds).ok())
    }
}

/// `None` is the value 0, or the empty text.
impl<T: Field + Clone + Default + PartialEq> Field for Option<T> {
    type Bounds = T::Bounds;
    const ANY: Range = T::ANY;

    fn to_value(&self) -> ParameterValue {
        self.clone().unwrap_or_default().to_value()
    }

    fn from_value(value: &ParameterValue) -> Option<Self> {
        T::from_value(value).map(|value| Some(value).filter(|value| *value != T::default()))
    }
}

/// The text of doc comments, as [`parameters!`](crate::parameters!) joins their lines.
#[doc(hidden)]
pub const fn text(lines: &'static str) -> &'static str {
    lines.trim_ascii()
}

/// Declares a struct whose fields are the parameters of a node, or a group of parameters for several nodes.
///
/// The doc comment of a field is the description that users see, with the unit. Then come the field, its name in ROS if
/// that differs (`as "..."`), its type, its default, its bounds (`in`), and `settable` if it may change while the node
/// runs. A field without a default has the default of its type. Groups come first.
///
/// ```
/// use std::time::Duration;
///
/// use dragoman_ros::parameters::{ParameterSet, Range};
///
/// dragoman_ros::parameters! {
///     /// The parameters of whatever moves.
///     pub struct MotionParameters {
///         /// Maximum speed, m/s.
///         max_velocity as "linear.max_velocity": f64 = 0.5, in 0.01..=20.0, settable;
///     }
/// }
///
/// dragoman_ros::parameters! {
///     /// The parameters of a cart.
///     pub struct CartParameters {
///         ..motion: MotionParameters;
///         /// Serial port, for example /dev/ttyUSB0; empty: simulated.
///         device_port: Option<String>;
///         /// Rate of the odometry, Hz.
///         rate: u32 = 50, in 1..=1000;
///         /// Time for which a velocity command holds, s.
///         timeout: Duration = 0.6, in 0.05..=10.0;
///         /// Frame of the cart.
///         frame: String = "base_footprint";
///     }
/// }
///
/// // The values of a struct are the defaults: those of this robot differ in one.
/// let defaults = CartParameters { rate: 20, ..CartParameters::default() };
/// assert_eq!(defaults.motion.max_velocity, 0.5);
/// assert_eq!(defaults.timeout, Duration::from_millis(600));
/// let declarations = defaults.declarations();
/// let names: Vec<&str> = declarations.iter().map(|declared| &*declared.name).collect();
/// assert_eq!(names, ["linear.max_velocity", "device_port", "rate", "timeout", "frame"]);
/// assert_eq!(declarations[2].description, "Rate of the odometry, Hz.");
/// assert_eq!(declarations[2].range, Range::Integer { from: 1, to: 1000 });
/// assert!(declarations[2].read_only && !declarations[0].read_only);
/// ```
///
/// [`NodeTasks::declare`](crate::tasks::NodeTasks::declare) declares them for a node:
/// `let parameters = tasks.declare(defaults)?`, then `parameters.read().motion.max_velocity`.
#[macro_export]
macro_rules! parameters {
    (
        $(#[$meta:meta])*
        $vis:vis struct $set:ident {
            $(..$group:ident: $group_type:ty $(= $group_default:expr)?;)*
            $(
                $(#[doc = $text:literal])+
                $field:ident $(as $name:literal)?: $type:ty $(= $default:expr)?
                $(, in $bounds:expr)? $(, settable $($never:lifetime)?)?;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $set {
            $(#[allow(missing_docs, reason = "the group has a description")] $vis $group: $group_type,)*
            $($(#[doc = $text])+ $vis $field: $type,)*
        }

        impl Default for $set {
            fn default() -> Self {
                Self {
                    $($group: $crate::parameters!(@default $($group_default)?),)*
                    $($field: $crate::parameters!(@default $($default)?),)*
                }
            }
        }

        impl $crate::parameters::ParameterSet for $set {
            fn declarations(&self) -> Vec<$crate::parameters::Declaration> {
                let mut all = Vec::new();
                $(all.extend($crate::parameters::ParameterSet::declarations(&self.$group));)*
                $(all.push({
                    let text = $crate::parameters::text(concat!($($text),+));
                    let name = $crate::parameters!(@name $field $($name)?);
                    $crate::parameters::Declaration::new(name, &self.$field, text)
                        $(.within::<<$type as $crate::parameters::Field>::Bounds>($bounds))?
                        $(.settable() $($never)?)?
                });)*
                all
            }

            fn update(&mut self, values: &$crate::parameters::Values) {
                $($crate::parameters::ParameterSet::update(&mut self.$group, values);)*
                $(values.copy($crate::parameters!(@name $field $($name)?), &mut self.$field);)*
            }

            fn check(&self, _values: &$crate::parameters::Values) -> Result<(), String> {
                $($crate::parameters::ParameterSet::check(&self.$group, _values)?;)*
                Ok(())
            }
        }
    };
    (@default) => { Default::default() };
    (@default $default:expr) => { $crate::parameters::Initial::initial($default) };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $name:literal) => { $name };
}

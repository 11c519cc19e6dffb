//! Parameter values, in r2r's form.

/// The value of a ROS parameter.
#[derive(Debug, PartialEq, Clone)]
#[allow(missing_docs)]
pub enum ParameterValue {
    NotSet,
    Bool(bool),
    Integer(i64),
    Double(f64),
    String(String),
    BoolArray(Vec<bool>),
    ByteArray(Vec<u8>),
    IntegerArray(Vec<i64>),
    DoubleArray(Vec<f64>),
    StringArray(Vec<String>),
}

/// A parameter has another type than requested.
#[derive(Debug, thiserror::Error)]
#[error("got `{actual_type_name}`, expected `{expected_type_name}`")]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct WrongParameterType {
    /// The requested type.
    pub expected_type_name: &'static str,
    pub actual_type_name: &'static str,
}

macro_rules! conversions {
    ($($ty:ty, $name:literal, $variant:ident;)*) => {$(
        impl TryFrom<ParameterValue> for $ty {
            type Error = WrongParameterType;
            fn try_from(value: ParameterValue) -> Result<Self, WrongParameterType> {
                match value {
                    ParameterValue::$variant(value) => Ok(value),
                    other => {
                        Err(WrongParameterType { expected_type_name: $name, actual_type_name: other.type_name() })
                    }
                }
            }
        }
    )*};
}

conversions! {
    bool, "boolean", Bool;
    i64, "integer", Integer;
    f64, "double", Double;
    String, "string", String;
    Vec<bool>, "boolean array", BoolArray;
    Vec<u8>, "byte array", ByteArray;
    Vec<i64>, "integer array", IntegerArray;
    Vec<f64>, "double array", DoubleArray;
    Vec<String>, "string array", StringArray;
}

impl ParameterValue {
    /// The type's name as `ros2 param` prints it.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::NotSet => "not set",
            Self::Bool(_) => "boolean",
            Self::Integer(_) => "integer",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::BoolArray(_) => "boolean array",
            Self::ByteArray(_) => "byte array",
            Self::IntegerArray(_) => "integer array",
            Self::DoubleArray(_) => "double array",
            Self::StringArray(_) => "string array",
        }
    }
}

/// A parameter of a node: the value from the command line.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs, reason = "the names of some fields say it")]
pub struct Parameter {
    pub value: ParameterValue,
    pub description: &'static str,
}

impl Parameter {
    /// A parameter without description.
    pub fn new(value: ParameterValue) -> Self {
        Self { value, description: "" }
    }
}

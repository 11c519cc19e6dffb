//! Values of parameters as JSON: `rcl_interfaces/ParameterValue` has a field for each type.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// The fields of `rcl_interfaces/ParameterValue` by its type code, from 1.
const FIELDS: [&str; 9] = [
    "bool_value",
    "integer_value",
    DOUBLE,
    "string_value",
    BYTES,
    "bool_array_value",
    "integer_array_value",
    DOUBLES,
    "string_array_value",
];
const DOUBLE: &str = "double_value";
const BYTES: &str = "byte_array_value";
const DOUBLES: &str = "double_array_value";

/// The field of a `ParameterValue` that counts.
fn field(parameter: &Value) -> Option<&'static str> {
    let code = usize::try_from(parameter.get("type")?.as_u64()?).ok()?;
    FIELDS.get(code.checked_sub(1)?).copied()
}

/// The field of a `ParameterValue` that its `type` selects; `None` if it is not set.
pub fn value_of_parameter(parameter: &Value) -> Option<Value> {
    parameter.get(field(parameter)?).cloned()
}

/// A `ParameterValue`. `old`, the present one, decides whether `2` is an integer, and what `[]` is.
pub fn parameter_of_value(value: &Value, old: &Value) -> Option<Value> {
    let old = field(old);
    let has_floats = |values: &[Value]| values.iter().any(Value::is_f64);
    let field = match value {
        Value::Bool(_) => "bool_value",
        Value::Number(_) if value.is_f64() || old == Some(DOUBLE) => DOUBLE,
        Value::Number(_) => "integer_value",
        Value::String(_) => "string_value",
        Value::Array(values) => match values.first() {
            None => old.filter(|old| old.ends_with("_array_value"))?,
            Some(Value::Bool(_)) => "bool_array_value",
            Some(Value::String(_)) => "string_array_value",
            Some(Value::Number(_)) if has_floats(values) || old == Some(DOUBLES) => DOUBLES,
            Some(Value::Number(_)) if old == Some(BYTES) => BYTES,
            Some(Value::Number(_)) => "integer_array_value",
            Some(_) => return None,
        },
        Value::Null | Value::Object(_) => return None,
    };
    Some(of_field(field, value))
}

fn of_field(field: &str, value: &Value) -> Value {
    let code = FIELDS.iter().position(|known| *known == field).map_or(0, |index| index + 1);
    json!({ "type": code, field: value })
}

/// The value of a `ParameterValue` and its type in Foxglove's protocol, which distinguishes types that JSON does not.
pub fn foxglove_of_parameter(parameter: &Value) -> Option<(Value, Option<&'static str>)> {
    let value = value_of_parameter(parameter)?;
    Some(match field(parameter)? {
        DOUBLE => (value, Some("float64")),
        DOUBLES => (value, Some("float64_array")),
        BYTES => {
            let byte = |value: &Value| value.as_u64().and_then(|byte| u8::try_from(byte).ok());
            let bytes: Vec<u8> = value.as_array()?.iter().map(byte).collect::<Option<_>>()?;
            (STANDARD.encode(bytes).into(), Some("byte_array"))
        }
        _ => (value, None),
    })
}

/// A `ParameterValue` of a client of Foxglove's protocol. No value means that the parameter is to be removed.
pub fn parameter_of_foxglove(value: Option<&Value>, kind: Option<&str>, old: &Value) -> Option<Value> {
    let Some(value) = value else { return Some(json!({ "type": 0 })) };
    match kind {
        None => parameter_of_value(value, old),
        Some("float64") => value.is_number().then(|| of_field(DOUBLE, value)),
        Some("float64_array") => {
            value.as_array()?.iter().all(Value::is_number).then(|| of_field(DOUBLES, value))
        }
        Some("byte_array") => {
            let bytes = STANDARD.decode(value.as_str()?).ok()?;
            Some(of_field(BYTES, &bytes.into_iter().map(Value::from).collect()))
        }
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_values_of_json() {
        let of_type = |code: u64| json!({ "type": code });
        for (value, old, field) in [
            (json!(true), of_type(1), "bool_value"),
            (json!(2), of_type(2), "integer_value"),
            (json!(2), of_type(3), "double_value"),
            (json!("x"), of_type(0), "string_value"),
            (json!([1, 2.5]), of_type(0), "double_array_value"),
            (json!([1]), of_type(8), "double_array_value"),
            (json!([1]), of_type(5), "byte_array_value"),
            (json!([]), of_type(9), "string_array_value"),
        ] {
            let parameter = parameter_of_value(&value, &old).unwrap();
            assert!(parameter.get(field).is_some(), "{value} {parameter}");
            assert_eq!(value_of_parameter(&parameter), Some(value));
        }
        assert_eq!(parameter_of_value(&json!(null), &json!(null)), None);
        assert_eq!(parameter_of_value(&json!([]), &of_type(2)), None);
        assert_eq!(value_of_parameter(&json!({ "type": 0 })), None);
    }

    #[test]
    fn foxglove_names_types_that_json_does_not_have() {
        for (value, kind, parameter) in [
            (json!(2), None, json!({ "type": 2, "integer_value": 2 })),
            (json!(2.5), Some("float64"), json!({ "type": 3, "double_value": 2.5 })),
            (
                json!([1.5, 2.0]),
                Some("float64_array"),
                json!({ "type": 8, "double_array_value": [1.5, 2.0] }),
            ),
            (json!("AQI="), Some("byte_array"), json!({ "type": 5, "byte_array_value": [1, 2] })),
        ] {
            assert_eq!(foxglove_of_parameter(&parameter), Some((value.clone(), kind)));
            assert_eq!(parameter_of_foxglove(Some(&value), kind, &json!({})), Some(parameter));
        }
        assert_eq!(parameter_of_foxglove(None, None, &json!({})), Some(json!({ "type": 0 })));
        for (value, kind) in [(json!("x"), "float64"), (json!("?"), "byte_array"), (json!(1), "own")] {
            assert_eq!(parameter_of_foxglove(Some(&value), Some(kind), &json!({})), None);
        }
    }
}

//! Conversions of every type, compared with the structures that `dragoman_ros` generates.

#![cfg(feature = "node")]

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use dragoman_console::cbor;
use dragoman_ros::{Distribution, WrappedTypesupport};
use dragoman_types::json;
use dragoman_types::schema::{Builtin, ElementType, Field, Primitive, Shape, Structure, Types};
use proptest::prelude::*;
use serde_json::{Map, Value};

/// That whose messages this process has.
fn distribution() -> Distribution {
    Distribution::from_variables(|name| std::env::var(name).ok())
}

fn types() -> Types {
    Types::new(vec![Box::new(Builtin::of(distribution().name()))])
}

/// Numbers that follow from a seed (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    fn float(&mut self) -> f64 {
        let value = f64::from_bits(self.next());
        if value.is_finite() { value } else { 0.5 }
    }
}

fn structure_value(structure: &Structure, random: &mut Random) -> Value {
    let fields = structure.fields.iter().map(|field| (field.name.clone(), field_value(field, random)));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn field_value(field: &Field, random: &mut Random) -> Value {
    let count = match field.shape {
        Shape::Single => return value(field, random),
        Shape::Array(count) => count,
        Shape::Sequence(most) => random.below(4).min(most.unwrap_or(usize::MAX)),
    };
    if let ElementType::Primitive(Primitive::Uint8 | Primitive::Char) = field.kind {
        let bytes: Vec<u8> = (0..count).map(|_| random.next() as u8).collect();
        return STANDARD.encode(bytes).into();
    }
    (0..count).map(|_| value(field, random)).collect()
}

#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]
fn value(field: &Field, random: &mut Random) -> Value {
    let primitive = match &field.kind {
        ElementType::Structure(structure) => return structure_value(structure, random),
        ElementType::Primitive(primitive) => *primitive,
    };
    let bits = random.next();
    match primitive {
        Primitive::Bool => (bits & 1 == 1).into(),
        Primitive::Byte | Primitive::Char | Primitive::Uint8 => (bits as u8).into(),
        Primitive::Int8 => (bits as i8).into(),
        Primitive::Int16 => (bits as i16).into(),
        Primitive::Uint16 => (bits as u16).into(),
        Primitive::Int32 => (bits as i32).into(),
        Primitive::Uint32 => (bits as u32).into(),
        Primitive::Int64 => (bits as i64).into(),
        Primitive::Uint64 => bits.into(),
        Primitive::Float32 => {
            let value = f32::from_bits(bits as u32);
            serde_json::from_str(
                &serde_json::to_string(&if value.is_finite() { value } else { 0.1 }).unwrap(),
            )
            .unwrap()
        }
        Primitive::Float64 => random.float().into(),
        Primitive::String | Primitive::WString => {
            let text =
                ["", "a", "äöü", "line\nend \"quoted\"", "x".repeat(40).as_str()][random.below(5)].to_owned();
            let most = field.max_text.unwrap_or(usize::MAX);
            text.chars()
                .scan(0, |length, c| {
                    *length += c.len_utf8();
                    (*length <= most).then_some(c)
                })
                .collect::<String>()
                .into()
        }
    }
}

/// A random message is unchanged by all conversions, and equals that of the generated structure.
fn check<T: WrappedTypesupport>(types: &Types, name: &str, seed: u64) {
    let structure = types.part(name).unwrap();
    let value = structure_value(&structure, &mut Random(seed));
    let data = json::to_cdr(&structure, &value).unwrap();
    let generated = T::from_serialized_bytes(&data).unwrap();
    // Structures do not have what only Humble has.
    if distribution() != Distribution::Humble {
        assert_eq!(generated.to_serialized_bytes().unwrap(), data, "{name}: {value}");
    }
    let text = json::from_cdr(&structure, &data).unwrap();
    let back: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json::to_cdr(&structure, &back).unwrap(), data, "{name}: {text}");
    let binary = cbor::from_cdr(&structure, &data).unwrap();
    let back = cbor::to_json(&binary).unwrap();
    assert_eq!(json::to_cdr(&structure, &back).unwrap(), data, "{name}: {back}");
}

#[test]
fn defaults_are_those_of_the_structures() {
    let types = types();
    let mut count = 0;
    macro_rules! check_default {
        ($type:ty, $name:expr) => {
            let structure = types.part($name).unwrap();
            let expected = <$type>::default().to_serialized_bytes().unwrap();
            assert_eq!(json::default_cdr(&structure).unwrap(), expected, "{}", $name);
            count += 1;
        };
    }
    dragoman_types::every_type!(check_default);
    assert!(count > 250, "{count}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn messages_of_every_type_are_unchanged_by_all_conversions(seed: u64) {
        let types = types();
        macro_rules! check_random {
            ($type:ty, $name:expr) => {
                check::<$type>(&types, $name, seed);
            };
        }
        dragoman_types::every_type!(check_random);
    }

    #[test]
    fn any_bytes_are_converted_or_refused(data in proptest::collection::vec(any::<u8>(), 0..200), big: bool) {
        let types = types();
        let data = [&[0, u8::from(!big), 0, 0], data.as_slice()].concat();
        for name in Builtin::names().filter(|name| name.contains("/msg/")) {
            let structure = types.message(name).unwrap();
            let text = json::from_cdr(&structure, &data);
            let binary = cbor::from_cdr(&structure, &data);
            prop_assert_eq!(text.is_ok(), binary.is_ok(), "{}", name);
            if let Ok(text) = text {
                let value: Value = serde_json::from_str(&text).unwrap();
                // Text with NUL is refused on the way in.
                let again = json::to_cdr(&structure, &value);
                prop_assert!(again.is_ok() || text.contains("\\u0000") || text.contains("null"), "{}: {}", name, text);
            }
        }
    }

    #[test]
    fn any_cbor_is_read_or_refused(data in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = cbor::to_json(&data);
    }

    #[test]
    fn any_json_is_converted_or_refused(value in any_json()) {
        let types = types();
        for name in ["geometry_msgs/Twist", "sensor_msgs/Image", "std_msgs/String", "nav_msgs/Odometry", "std_msgs/Empty"] {
            let structure = types.message(name).unwrap();
            if let Ok(data) = json::to_cdr(&structure, &value) {
                prop_assert!(json::from_cdr(&structure, &data).is_ok());
            }
        }
    }
}

/// Objects whose keys are names of fields.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    let key = prop_oneof![
        Just("linear"),
        Just("x"),
        Just("data"),
        Just("header"),
        Just("stamp"),
        Just("sec"),
        Just("pose")
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::hash_map(key.clone(), inner, 0..6).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

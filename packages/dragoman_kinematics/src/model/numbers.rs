//! Checks the numbers of a robot's file in place, so that an error names the line.

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::ModelError;

/// The maximum plausible number in a robot's file: counts of an encoder have 32 bits.
const LARGEST: f64 = 4_294_967_296.0;

/// Checks that all numbers of a YAML text are finite and plausible.
///
/// # Errors
/// The first invalid number, with its place; text that is not YAML.
pub(super) fn check(text: &str) -> Result<(), ModelError> {
    dragoman_text::yaml::strict::<Numbers>(text)
        .map(|_| ())
        .map_err(|error| ModelError::Yaml { reason: error.to_string() })
}

/// Any value; only its numbers are checked.
struct Numbers;

impl<'de> Deserialize<'de> for Numbers {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Numbers {
    type Value = Self;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a description of a robot")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self, E> {
        // Written so that NaN fails.
        if value.abs() <= LARGEST {
            return Ok(self);
        }
        Err(E::custom(format!(
            "{value:e} is not a plausible number for a robot: it must be within -{LARGEST} to {LARGEST}"
        )))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self, E> {
        self.visit_f64(value as f64)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self, E> {
        self.visit_f64(value as f64)
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_none<E: Error>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Self, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_entry::<IgnoredAny, Self>()?.is_some() {}
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use crate::{Model, RobotSettings};

    #[test]
    fn implausible_numbers_are_refused_with_their_line() {
        let settings = |acceleration: &str, velocity: &str, counts: &str| {
            let text = format!(
                "urdf: a.urdf\nbase_link: a\ntip_link: b\nhome: [0]\nacceleration: [{acceleration}]\n\
                 motion:\n  joint:\n    max_velocity: [{velocity}]\ndrives:\n  node_ids: [1]\n  \
                 counts_per_revolution: [{counts}]\n"
            );
            RobotSettings::from_yaml(&text).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(settings("0.5", "0.1", "-414246.0"), Ok(()));
        for (given, line, reason) in [
            (settings(".inf", "0.1", "100"), "line 5", "inf is not a plausible number for a robot"),
            (settings("0.5", ".nan", "100"), "line 8", "NaN is not a plausible number for a robot"),
            (settings("0.5", "0.1", "1e300"), "line 11", "1e300 is not a plausible number for a robot"),
        ] {
            let error = given.unwrap_err();
            assert!(error.contains(line) && error.contains(reason), "{error}");
        }
        let table = "joints:\n- {name: swing, type: revolute, a: 0, alpha: 0, d: 0.1, theta: 0,\n   acceleration: .inf}\n";
        let error = Model::from_dh_yaml(table).unwrap_err().to_string();
        assert!(error.contains("line 3"), "{error}");
    }
}

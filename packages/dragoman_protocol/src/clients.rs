//! Generates the wire layer of clients in other languages from a description. The result is committed in
//! `dragoman_clients`.

pub mod cpp;
pub mod python;

use crate::model::{Field, Interface, Protocol, Type, Value};
use crate::rust::{sentence, sorted, variant};

/// Names and other differences of a client. Types are written as `interface.type`, or as `type` outside of interfaces;
/// fields as `interface.type.field` or `type.field`.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClientNames<'a> {
    /// Types with another name; by default the name begins with that of the interface.
    pub types: &'a [(&'a str, &'a str)],
    /// Fields with another name.
    pub fields: &'a [(&'a str, &'a str)],
    /// Types that are written by hand, with their names.
    pub by_hand: &'a [(&'a str, &'a str)],
    /// Codes for which the client has a name for 0: unknown.
    pub unknown: &'a [&'a str],
    /// Codes with the names of the protocol's document, without this prefix, instead of the names of the description.
    pub texts: &'a [(&'a str, &'a str)],
    /// Fields whose structure has no class in the client: they are replaced by the structure's fields.
    pub flat: &'a [&'a str],
}

fn find<'a>(pairs: &[(&str, &'a str)], key: &str) -> Option<&'a str> {
    pairs.iter().find(|(name, _)| *name == key).map(|(_, found)| *found)
}

/// The types of an interface, or those of the protocol.
struct Scope<'a> {
    protocol: &'a Protocol,
    interface: Option<&'a Interface>,
    names: &'a ClientNames<'a>,
}

impl<'a> Scope<'a> {
    /// The scopes of these interfaces; an empty name stands for the types outside of interfaces.
    fn all(protocol: &'a Protocol, names: &'a ClientNames<'a>, interfaces: &[&str]) -> Vec<Self> {
        let of = |name: &&str| {
            let interface = protocol.interfaces.iter().find(|one| one.name == **name);
            (name.is_empty() || interface.is_some()).then_some(Self { protocol, interface, names })
        };
        interfaces.iter().filter_map(of).collect()
    }

    fn types(&self) -> &'a [Type] {
        self.interface.map_or(&self.protocol.types, |interface| &interface.types)
    }

    /// The type with this name in this scope, and its name in [`ClientNames`].
    fn find(&self, name: &str) -> (Option<&'a Type>, String) {
        let own = self.interface.and_then(|interface| {
            let found = interface.types.iter().find(|one| one.name == name)?;
            Some((Some(found), format!("{}.{name}", interface.name)))
        });
        own.unwrap_or_else(|| (self.protocol.types.iter().find(|one| one.name == name), name.to_owned()))
    }

    fn is_by_hand(&self, name: &str) -> bool {
        find(self.names.by_hand, &self.find(name).1).is_some()
    }

    /// The name of a type in the client.
    fn class(&self, name: &str) -> String {
        let (_, key) = self.find(name);
        let other = find(self.names.by_hand, &key).or_else(|| find(self.names.types, &key));
        other.map_or_else(
            || match key.split_once('.') {
                Some((interface, _)) if !name.starts_with(interface) => variant(interface) + &variant(name),
                _ => variant(name),
            },
            str::to_owned,
        )
    }

    /// The fields of a structure with their names in the client; flat structures are replaced by their fields.
    fn fields(&self, one: &Type) -> Vec<(String, &'a Field)> {
        let (found, key) = self.find(&one.name);
        let mut fields = Vec::new();
        for field in found.map_or(&[][..], |one| &one.fields) {
            let path = format!("{key}.{}", field.name);
            if self.names.flat.contains(&path.as_str()) {
                let inner = self.find(&field.kind().base.to_string()).0;
                fields.extend(inner.into_iter().flat_map(|inner| self.fields(inner)));
            } else {
                let name = find(self.names.fields, &path).unwrap_or_else(|| without_unit(&field.name));
                fields.push((name.to_owned(), field));
            }
        }
        fields
    }

    /// Names and numbers of codes, by number.
    fn codes(&self, one: &'a Type) -> Vec<(String, &'a Value)> {
        let beginning = find(self.names.texts, &self.find(&one.name).1);
        let name = |name: &str, value: &Value| match (beginning, value.text()) {
            (Some(beginning), Some(text)) => text.strip_prefix(beginning).unwrap_or(text).to_lowercase(),
            _ => name.to_owned(),
        };
        sorted(one).into_iter().map(|(given, value)| (name(given, value), value)).collect()
    }

    /// Whether 0 is unknown.
    fn has_unknown(&self, one: &Type) -> bool {
        self.names.unknown.contains(&self.find(&one.name).1.as_str())
    }
}

/// The name of a field whose value is in SI units.
fn without_unit(name: &str) -> &str {
    let units = [
        "_e4",
        "_mm_per_s",
        "_mrad_per_s",
        "_rad_per_s",
        "_cdeg_per_s",
        "_per_s",
        "_mm",
        "_mdeg",
        "_deg",
        "_rad",
        "_s",
    ];
    units.iter().fold(name, |name, unit| name.strip_suffix(unit).unwrap_or(name))
}

/// The SI unit of a field, and the number on the wire that is 1 in this unit; 1 if the units are the same.
fn per_unit(field: &Field) -> (&'static str, &str) {
    match field.unit.as_str() {
        "mm" => ("1000", "m"),
        "mm/s" => ("1000", "m/s"),
        "mrad/s" => ("1000", "rad/s"),
        "mdeg" => ("1000 * DEGREE", "rad"),
        "deg" => ("DEGREE", "rad"),
        "cdeg/s" => ("100 * DEGREE", "rad/s"),
        _ if field.name.ends_with("_e4") => ("10000", ""),
        unit => ("1", unit),
    }
}

/// The meaning of a field, with its SI unit; empty if the name is sufficient.
fn explained(name: &str, field: &Field) -> String {
    let unit = per_unit(field).1;
    let meaning = if field.meaning.is_empty() && !unit.is_empty() { name } else { &field.meaning };
    let parts: Vec<&str> = [meaning, unit].into_iter().filter(|part| !part.is_empty()).collect();
    sentence(&parts.join(", "))
}

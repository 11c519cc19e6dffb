//! Types with another wire format in other distributions than Jazzy. The format is selected at serialization.
//!
//! The structure of such a type has Jazzy's fields and those that later distributions have added, so that node code can set
//! them all.

use std::collections::BTreeMap;
use std::fmt::Write;

use roslibrust_codegen::FieldInfo;

use crate::Distribution;
use crate::emit::{fixed_length, identifier, rust_type, structures, write_fields};

/// The fields of all structures in other distributions than Jazzy.
pub(crate) struct Formats<'a>(Vec<Fields<'a>>);

/// The fields of all structures in a distribution, by `package/kind/Name`.
struct Fields<'a> {
    variant: &'static str,
    is_later: bool,
    of: BTreeMap<String, &'a [FieldInfo]>,
}

/// A format of a type, and the distributions that have it.
struct Format<'a> {
    /// Variants of `Distribution`.
    variants: Vec<&'static str>,
    fields: &'a [FieldInfo],
}

/// How the distributions serialize a type.
pub(crate) struct FormatsOf<'a> {
    /// The fields of the structure.
    pub(crate) structure: Vec<FieldInfo>,
    in_jazzy: &'a [FieldInfo],
    others: Vec<Format<'a>>,
}

impl<'a> Formats<'a> {
    pub(crate) fn new(others: &'a [Distribution]) -> Self {
        let fields = |other: &'a Distribution| Fields {
            variant: other.variant,
            is_later: other.is_later,
            of: structures(&other.definitions).collect(),
        };
        Self(others.iter().map(fields).collect())
    }

    /// The formats of a type, if there are others than Jazzy's.
    pub(crate) fn of<'b>(&'b self, type_name: &str, in_jazzy: &'b [FieldInfo]) -> Option<FormatsOf<'b>> {
        let (mut structure, mut others) = (in_jazzy.to_vec(), Vec::<Format<'b>>::new());
        for distribution in &self.0 {
            let fields = distribution.of.get(type_name).copied().unwrap_or(in_jazzy);
            if is_same(fields, in_jazzy) {
                continue;
            }
            match others.iter_mut().find(|format| is_same(format.fields, fields)) {
                Some(format) => format.variants.push(distribution.variant),
                None => others.push(Format { variants: vec![distribution.variant], fields }),
            }
            for field in fields.iter().filter(|_| distribution.is_later) {
                if structure.iter().all(|own| own.field_name != field.field_name) {
                    structure.push(field.clone());
                }
            }
        }
        (!others.is_empty()).then_some(FormatsOf { structure, in_jazzy, others })
    }
}

fn is_same(a: &[FieldInfo], b: &[FieldInfo]) -> bool {
    let form =
        |field: &FieldInfo| (field.field_name.clone(), rust_type(field), field.field_type.array_info.clone());
    a.iter().map(form).eq(b.iter().map(form))
}

/// Writes `Serialize` and `Cdr` of structure `rust_name`, depending on the distribution. A field that is missing on one side
/// has its type's default on the other; fixed arrays of another length are truncated or padded.
pub(crate) fn dispatch(out: &mut String, rust_name: &str, formats: &FormatsOf<'_>) -> std::fmt::Result {
    let mut arms: Vec<(String, &[FieldInfo])> = Vec::new();
    for format in &formats.others {
        let variants: Vec<String> =
            format.variants.iter().map(|variant| format!("Distribution::{variant}")).collect();
        arms.push((variants.join(" | "), format.fields));
    }
    // Those with Jazzy's format.
    arms.push(("_".to_owned(), formats.in_jazzy));

    writeln!(
        out,
        "const _: () = {{
         use crate::distribution::Distribution;
         impl Serialize for {rust_name} {{
             fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> ::std::result::Result<S::Ok, S::Error> {{
                 match Distribution::current() {{"
    )?;
    for (variants, fields) in &arms {
        writeln!(out, "{variants} => {{")?;
        serialized(out, rust_name, fields, &formats.structure)?;
        writeln!(out, "}}")?;
    }
    writeln!(
        out,
        "}} }} }}
         impl crate::cdr::Cdr for {rust_name} {{
             fn write(&self, out: &mut crate::cdr::Output) {{
                 match Distribution::current() {{"
    )?;
    for (variants, fields) in &arms {
        writeln!(out, "{variants} => {{")?;
        written(out, fields, &formats.structure)?;
        writeln!(out, "}}")?;
    }
    writeln!(
        out,
        "}} }}
             fn read(input: &mut crate::cdr::Input<'_>) -> Self {{
                 match Distribution::current() {{"
    )?;
    for (variants, fields) in &arms {
        writeln!(out, "{variants} => {{")?;
        read(out, fields, &formats.structure)?;
        writeln!(out, "}}")?;
    }
    writeln!(out, "}} }} }} }};")
}

/// Where the values of a field come from, or go to, that a format has.
enum Place {
    /// The structure's field of this name.
    Field(String),
    /// The structure's field, an array with another number of elements.
    OtherLength(String),
    /// The structure has no such field.
    Nowhere,
}

impl Place {
    fn of(field: &FieldInfo, structure: &[FieldInfo]) -> Self {
        let name = identifier(&field.field_name);
        let Some(own) = structure.iter().find(|own| own.field_name == field.field_name) else {
            return Self::Nowhere;
        };
        assert_eq!(rust_type(own), rust_type(field), "{name} is no array of another length");
        if fixed_length(own) == fixed_length(field) { Self::Field(name) } else { Self::OtherLength(name) }
    }

    /// An expression of the value in the format.
    fn value(&self, field: &FieldInfo) -> String {
        match self {
            Self::Field(name) => format!("self.{name}"),
            Self::OtherLength(name) => resized(&format!("self.{name}.clone()"), field),
            Self::Nowhere => default_of(field),
        }
    }
}

/// `value` of an array field, with the field's number of elements.
fn resized(value: &str, field: &FieldInfo) -> String {
    let length = fixed_length(field).unwrap_or_default();
    format!("{{ let mut array = {value}; array.resize({length}, Default::default()); array }}")
}

fn default_of(field: &FieldInfo) -> String {
    let value = format!("<{}>::default()", rust_type(field));
    if fixed_length(field).is_some() { resized(&value, field) } else { value }
}

fn serialized(
    out: &mut String,
    rust_name: &str,
    fields: &[FieldInfo],
    structure: &[FieldInfo],
) -> std::fmt::Result {
    let count = fields.len().max(1);
    const FIELD: &str = "::serde::ser::SerializeStruct::serialize_field";
    writeln!(
        out,
        "let mut structure = ::serde::Serializer::serialize_struct(serializer, {rust_name:?}, {count})?;"
    )?;
    for field in fields {
        let value = Place::of(field, structure).value(field);
        writeln!(out, "{FIELD}(&mut structure, {:?}, &{value})?;", identifier(&field.field_name))?;
    }
    if fields.is_empty() {
        writeln!(out, "{FIELD}(&mut structure, \"structure_needs_at_least_one_member\", &0u8)?;")?;
    }
    writeln!(out, "::serde::ser::SerializeStruct::end(structure)")
}

fn written(out: &mut String, fields: &[FieldInfo], structure: &[FieldInfo]) -> std::fmt::Result {
    for field in fields {
        match (Place::of(field, structure), fixed_length(field)) {
            (Place::Field(_), _) => write_fields(out, std::slice::from_ref(field))?,
            (place, Some(length)) => {
                writeln!(out, "{{ let array = {}; out.array(&array, {length}); }}", place.value(field))?;
            }
            (place, None) => writeln!(out, "crate::cdr::Cdr::write(&{}, out);", place.value(field))?,
        }
    }
    if fields.is_empty() {
        writeln!(out, "crate::cdr::Cdr::write(&0u8, out);")?;
    }
    Ok(())
}

/// All fields of the format in their order, then the structure.
fn read(out: &mut String, fields: &[FieldInfo], structure: &[FieldInfo]) -> std::fmt::Result {
    let mut given = Vec::new();
    for field in fields {
        let value = match fixed_length(field) {
            Some(length) => format!("input.array({length})"),
            None => "crate::cdr::Cdr::read(input)".to_owned(),
        };
        writeln!(out, "let read_{}: {} = {value};", field.field_name, rust_type(field))?;
        given.push(field.field_name.as_str());
    }
    if fields.is_empty() {
        writeln!(out, "let _: u8 = crate::cdr::Cdr::read(input);")?;
    }
    writeln!(out, "Self {{")?;
    for own in structure {
        let name = &own.field_name;
        let value = if !given.contains(&name.as_str()) {
            default_of(own)
        } else if let Some(Place::OtherLength(..)) =
            fields.iter().find(|field| field.field_name == *name).map(|field| Place::of(field, structure))
        {
            resized(&format!("read_{name}"), own)
        } else {
            format!("read_{name}")
        };
        writeln!(out, "{}: {value},", identifier(name))?;
    }
    if structure.is_empty() {
        writeln!(out, "structure_needs_at_least_one_member: 0,")?;
    }
    writeln!(out, "}}")
}

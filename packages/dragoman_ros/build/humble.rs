//! Types with a different wire format in Humble: node code uses Jazzy's, and the format is selected at serialization.

use std::collections::BTreeMap;
use std::fmt::Write;

use roslibrust_codegen::{ArrayType, FieldInfo};

use crate::emit::{codec, fields, identifier, read_fields, rust_type, write_fields};

/// The fields of all structures in Humble, by `package/kind/Name`.
pub(crate) struct Humble<'a>(BTreeMap<String, &'a [FieldInfo]>);

impl<'a> Humble<'a> {
    pub(crate) fn new(structures: impl Iterator<Item = (String, &'a [FieldInfo])>) -> Self {
        Self(structures.collect())
    }

    /// Humble's fields of a type, if they are not `in_jazzy`.
    pub(crate) fn other_than(&self, type_name: &str, in_jazzy: &[FieldInfo]) -> Option<&'a [FieldInfo]> {
        let in_humble = self.0.get(type_name)?;
        let form = |field: &FieldInfo| {
            (field.field_name.clone(), rust_type(field), field.field_type.array_info.clone())
        };
        in_humble.iter().map(form).ne(in_jazzy.iter().map(form)).then_some(*in_humble)
    }
}

/// Writes `Serialize` and `Cdr` of structure `rust_name`, depending on the distribution. Fields missing on one
/// side get their default on the other; fixed arrays of another length are truncated or padded.
pub(crate) fn dispatch(
    out: &mut String,
    rust_name: &str,
    in_jazzy: &[FieldInfo],
    in_humble: &[FieldInfo],
) -> std::fmt::Result {
    writeln!(
        out,
        "const _: () = {{
         use crate::embedded::distribution::Distribution;
         #[derive(Serialize)] struct InHumble {{"
    )?;
    fields(out, in_humble)?;
    writeln!(out, "}}")?;
    codec(out, "InHumble", in_humble)?;
    writeln!(out, "impl {rust_name} {{ fn in_humble(&self) -> InHumble {{ InHumble {{")?;
    converted(out, "self", in_jazzy, in_humble)?;
    writeln!(
        out,
        "}} }} }}
         impl Serialize for {rust_name} {{
             fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> ::std::result::Result<S::Ok, S::Error> {{
                 match Distribution::current() {{
                     Distribution::Jazzy => Self::serialize(self, serializer),
                     Distribution::Humble => self.in_humble().serialize(serializer),
                 }} }} }}
         impl crate::cdr::Cdr for {rust_name} {{
             fn write(&self, out: &mut crate::cdr::Output) {{
                 match Distribution::current() {{
                     Distribution::Jazzy => {{"
    )?;
    write_fields(out, in_jazzy)?;
    writeln!(
        out,
        "}}
                     Distribution::Humble => self.in_humble().write(out),
                 }} }}
             fn read(input: &mut crate::cdr::Input<'_>) -> Self {{
                 match Distribution::current() {{
                     Distribution::Jazzy => Self {{"
    )?;
    read_fields(out, in_jazzy)?;
    writeln!(
        out,
        "}},
                     Distribution::Humble => {{
                         let received = InHumble::read(input);
                         Self {{"
    )?;
    converted(out, "received", in_humble, in_jazzy)?;
    writeln!(out, "}} }} }} }} }} }};")
}

/// Writes the fields `to` of a structure from variable `source`, which has the fields `from`.
fn converted(out: &mut String, source: &str, from: &[FieldInfo], to: &[FieldInfo]) -> std::fmt::Result {
    for field in to {
        let name = identifier(&field.field_name);
        let Some(given) = from.iter().find(|given| given.field_name == field.field_name) else {
            writeln!(out, "{name}: Default::default(),")?;
            continue;
        };
        assert_eq!(rust_type(given), rust_type(field), "{name} is no array of another length");
        match field.field_type.array_info {
            ArrayType::FixedLength(length) => writeln!(
                out,
                "{name}: {{ let mut array = {source}.{name}.clone(); array.resize({length}, Default::default()); array }},"
            )?,
            _ => writeln!(out, "{name}: {source}.{name}.clone(),")?,
        }
    }
    if to.is_empty() {
        writeln!(out, "structure_needs_at_least_one_member: 0,")?;
    }
    Ok(())
}

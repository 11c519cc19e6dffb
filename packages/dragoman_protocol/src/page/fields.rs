//! Tables of fields.

use std::fmt;

use crate::codec::show::rounded;
use crate::generate::one_line;
use crate::kind::{Base, Count};
use crate::model::{ByteOrder, Field, FieldRole, Protocol};
use crate::rust::{line, sorted};

/// Where a field begins: a number of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Offset(usize);

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A row of a table.
#[derive(Debug, Clone, Default)]
pub(super) struct Row {
    /// Empty: it varies.
    pub(super) offset: String,
    pub(super) name: String,
    pub(super) kind: String,
    pub(super) unit: String,
    pub(super) scale: String,
    pub(super) range: String,
    pub(super) content: String,
}

pub(super) struct Rows {
    pub(super) rows: Vec<Row>,
    /// Where they end, if their sizes are fixed.
    pub(super) end: Option<Offset>,
}

/// Bytes of fields, if their number is fixed.
pub(super) fn size(fields: &[Field]) -> Option<usize> {
    fields.iter().try_fold(0_usize, |sum, field| sum.checked_add(field.size()?))
}

/// The rows of fields. `begin`: the offset of the first one.
pub(super) fn rows(protocol: &Protocol, fields: &[Field], begin: Option<Offset>) -> Rows {
    let mut end = begin.filter(|_| protocol.encoding.separator().is_none());
    let mut rows = Vec::new();
    let mut shared: Option<(Offset, &Field)> = None;
    for field in fields {
        let size = bytes(protocol, field, 0);
        let begin = match shared.filter(|(_, before)| field.shares_with(before)) {
            Some((begin, _)) => Some(begin),
            None => {
                let begin = field.at.map(Offset).filter(|_| protocol.encoding.separator().is_none()).or(end);
                let is_fixed = field.when.is_empty() && !field.optional;
                end = begin
                    .zip(size.filter(|_| is_fixed))
                    .and_then(|(begin, size)| begin.0.checked_add(size))
                    .map(Offset);
                begin
            }
        };
        shared = begin.map(|begin| (begin, field));
        rows.push(row(protocol, field, begin));
    }
    Rows { rows, end }
}

/// Bytes of a field, also of one whose type is a structure.
fn bytes(protocol: &Protocol, field: &Field, depth: usize) -> Option<usize> {
    let kind = field.kind();
    let Base::Named(name) = &kind.base else { return field.size() };
    let one = protocol.types.iter().find(|one| one.name == *name)?;
    if depth > crate::codec::MAX_NESTING {
        return None;
    }
    let mut sum = 0_usize;
    let mut before: Option<&Field> = None;
    for field in &one.fields {
        if !before.is_some_and(|before| field.shares_with(before)) {
            sum = sum.checked_add(bytes(protocol, field, depth + 1)?)?;
        }
        if field.optional || !field.when.is_empty() {
            return None;
        }
        before = Some(field);
    }
    match kind.count {
        None => Some(sum),
        Some(Count::Fixed(count)) => sum.checked_mul(count),
        Some(_) => None,
    }
}

fn row(protocol: &Protocol, field: &Field, begin: Option<Offset>) -> Row {
    let kind = field.kind();
    let mut content = Vec::new();
    if !field.meaning.is_empty() {
        content.push(field.meaning.clone());
    }
    match field.is {
        Some(FieldRole::Code) => content.push("the code".to_owned()),
        Some(FieldRole::Size) => content.push("the size".to_owned()),
        Some(FieldRole::Checksum) => {
            let name = field.algorithm.as_deref().unwrap_or_default();
            let bytes = match &field.over {
                None => "all bytes before it".to_owned(),
                Some(over) => match (&over.from, &over.to) {
                    (Some(from), Some(to)) => format!("the bytes from `{from}` to `{to}`"),
                    (Some(from), None) => format!("the bytes from `{from}` up to it"),
                    (None, Some(to)) => format!("the bytes up to `{to}`"),
                    (None, None) => "all bytes before it".to_owned(),
                },
            };
            content.push(format!("check sum of {bytes}: {name}"));
        }
        Some(FieldRole::Address) => content.push("the address".to_owned()),
        Some(FieldRole::Sequence) => content.push("a number that an answer repeats".to_owned()),
        Some(FieldRole::Computed) => content.push("computed; it has no bytes".to_owned()),
        Some(FieldRole::Body) | None => {}
    }
    match (field.expression(), &field.value) {
        (Some(expression), _) => content.push(format!("`{}`", expression.trim())),
        (None, Some(value)) => content.push(format!("always `{value}`")),
        (None, None) => {}
    }
    if let Some(order) = field.order.filter(|order| *order != protocol.order) {
        let which = if order == ByteOrder::Big { "most" } else { "least" };
        content.push(format!("the {which} significant byte comes first"));
    }
    if let Some(base) = field.base.filter(|base| *base != 10) {
        content.push(format!("digits of base {base}"));
    }
    if let Some(decimals) = field.decimals {
        content.push(format!("{decimals} digits behind the decimal point"));
    }
    if let Some(digits) = field.digits {
        content.push(format!("at least {digits} digits"));
    }
    if let Some(pad) = &field.pad {
        let bytes: Vec<String> = pad.bytes().iter().map(|byte| format!("`{byte:02x}`")).collect();
        content.push(format!("filled with {}", bytes.join(" ")));
    }
    if let Some(encoding) = field.encoding {
        content.push(format!("{encoding:?}").to_lowercase());
    }
    if field.empty.is_some() {
        content.push("missing if its word is empty".to_owned());
    }
    let when = field.when.values().map(|(name, value)| format!("if `{name}` is {value}"));
    content.extend(when);
    content.extend(field.when.expression().map(|condition| format!("if `{}` is not 0", condition.trim())));
    if field.optional {
        content.push("may be missing".to_owned());
    }
    let bits = field.bits.map(|[lowest, count]| match count {
        1 => format!(", bit {lowest}"),
        _ => format!(", bits {lowest} to {}", lowest.saturating_add(count).saturating_sub(1)),
    });
    let name =
        if let Base::Named(name) = &kind.base { format!("[{kind}](#{name})") } else { kind.to_string() };
    let scale = match (field.scale, field.offset) {
        (None, None) => String::new(),
        (scale, None) => format!("{}", scale.unwrap_or(1.0)),
        (scale, Some(offset)) => format!("{}, offset {offset}", scale.unwrap_or(1.0)),
    };
    Row {
        offset: begin.map(|begin| begin.to_string()).unwrap_or_default(),
        name: field.name.clone(),
        kind: name + &bits.unwrap_or_default(),
        unit: field.unit.clone(),
        scale,
        range: range(protocol, field),
        content: content.join("; "),
    }
}

/// Values that a field can have: those of its numbers, or the names of its numbers.
fn range(protocol: &Protocol, field: &Field) -> String {
    if field.value.is_some() || field.is.is_some() || field.is_text_number() {
        return String::new();
    }
    let codes = field.codes.as_ref().and_then(|name| protocol.types.iter().find(|one| one.name == *name));
    if let Some(codes) = codes {
        let names = sorted(codes).into_iter().map(|(name, value)| format!("{} {name}", value.code()));
        let names: Vec<String> = names.collect();
        let name = &codes.name;
        // A long list stands at its type.
        return if names.len() <= 8 { names.join(", ") } else { format!("[{name}](#{name})") };
    }
    let (bits, is_signed) = match field.kind().base {
        Base::Unsigned(bits) => (bits, false),
        Base::Signed(bits) => (bits, true),
        _ => return String::new(),
    };
    let bits = field.bits.map_or(bits, |[_, count]| count.clamp(1, 64));
    let [low, high]: [i128; 2] =
        if is_signed { [-(1 << (bits - 1)), (1 << (bits - 1)) - 1] } else { [0, (1 << bits) - 1] };
    if field.scale.is_none() && field.offset.is_none() {
        return format!("{low} to {high}");
    }
    let scale = [field.scale.unwrap_or(1.0), field.offset.unwrap_or(0.0)];
    #[allow(clippy::cast_precision_loss, reason = "for people")]
    let mut ends = [low, high].map(|end| rounded(end as f64 * scale[0] + scale[1], scale));
    ends.sort_by(f64::total_cmp);
    format!("{} to {}", ends[0], ends[1])
}

/// The name of a column, and its cell in a row.
type Column = (&'static str, fn(&Row) -> String);

/// A table without the columns that nothing is in.
pub(super) fn table(rows: &[Row], out: &mut String) {
    if rows.is_empty() {
        return;
    }
    let columns: [Column; 7] = [
        ("offset", |row| row.offset.clone()),
        ("field", |row| format!("`{}`", row.name)),
        ("type", |row| row.kind.clone()),
        ("unit", |row| row.unit.clone()),
        ("scale", |row| row.scale.clone()),
        ("values", |row| row.range.clone()),
        ("meaning", |row| row.content.clone()),
    ];
    let used: Vec<_> =
        columns.iter().filter(|(_, cell)| rows.iter().any(|row| !cell(row).is_empty())).collect();
    let joined = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
    line(out, "");
    line(out, &joined(used.iter().map(|(name, _)| (*name).to_owned()).collect()));
    line(out, &joined(used.iter().map(|_| "---".to_owned()).collect()));
    for row in rows {
        let cells = used.iter().map(|(_, cell)| one_line(&cell(row)).replace('|', "\\|"));
        line(out, &joined(cells.collect()));
    }
}

//! Decoders in C.

use super::encode::{counted, has_size};
use super::{Emitter, Place, capacity_name, has_count, shifted, text};
use crate::codec::plan::{Part, PartCount, PartForm, PartKind, PartNumber, PartRole, Planned};
use crate::model::{Code, Counted};
use crate::rust::line;

impl Emitter<'_> {
    pub(super) fn decoder(&self, one: &Planned<'_>, out: &mut String) {
        let plan = self.plan;
        let cut = &self.codec.protocol().frame.cut;
        let place = Place::message(self, one);
        let (name, asked) = (&one.name, self.asked(one));
        line(
            out,
            &format!(
                "\nstatic inline bool NAME_{name}_decode({asked}const uint8_t *frame, size_t size, NAME_{name} *message) {{"
            ),
        );
        place.line(out, "WIRE_reader in = {frame, size, 0, 0, true};");
        let size = has_size(&plan.head);
        if let Some(part) = size {
            place.line(out, &format!("uint64_t {}_size = 0;", part.name));
            if counted(part) == Some(Counted::Rest) {
                place.line(out, &format!("size_t after_{} = 0;", part.name));
            }
        }
        place.line(out, "memset(message, 0, sizeof *message);");
        let [start, end] = plan.marks;
        if !start.is_empty() || !end.is_empty() {
            let (start_size, end_size) = (start.len(), end.len());
            let mut wrong = vec![format!("size < {}", start_size + end_size)];
            if start_size > 0 {
                wrong.push(format!("memcmp(frame, {}, {start_size}) != 0", text(start)));
            }
            if end_size > 0 {
                wrong.push(format!("memcmp(frame + size - {end_size}, {}, {end_size}) != 0", text(end)));
            }
            self.refuse(&wrong.join(" || "), &place, out);
            place.line(out, &format!("in.bytes += {start_size};"));
            place.line(out, &format!("in.size -= {};", start_size + end_size));
        }
        if let Some(most) = cut.datagram {
            let least = cut.least.unwrap_or(most);
            let least = if least > 0 { format!("in.size < {least} || ") } else { String::new() };
            self.refuse(&format!("{least}in.size > {most}"), &place, out);
        }
        let all = cut.datagram.map_or_else(|| "in.size".to_owned(), |size| size.to_string());
        let tail = plan.tail_size;
        if tail > 0 {
            self.refuse(&format!("{all} < {tail}"), &place, out);
            place.line(out, &format!("in.end = {all} - {tail};"));
        } else {
            place.line(out, &format!("in.end = {all};"));
        }
        self.read(one, &plan.head, &place, out);
        if let Some(part) = size {
            let name = &part.name;
            let expected = match counted(part) {
                Some(Counted::Body) => "in.end - in.at".to_owned(),
                Some(Counted::Rest) => format!("{all} - after_{name}"),
                _ => all.clone(),
            };
            self.refuse(&format!("!in.ok || {name}_size != {expected}"), &place, out);
        }
        self.read(one, &one.parts, &place, out);
        let rest = if cut.datagram.is_none() { " || in.at < in.end" } else { "" };
        self.refuse(&format!("!in.ok{rest}"), &place, out);
        if !plan.tail.is_empty() {
            place.line(out, "in.at = in.end;");
            place.line(out, &format!("in.end = {all};"));
            self.read(one, &plan.tail, &place, out);
        }
        place.line(out, "return in.ok;");
        line(out, "}");
    }

    fn refuse(&self, wrong: &str, place: &Place, out: &mut String) {
        place.line(out, &format!("if ({wrong}) {{"));
        place.line(out, "  return false;");
        place.line(out, "}");
    }

    fn read(&self, one: &Planned<'_>, parts: &[Part<'_>], place: &Place, out: &mut String) {
        for part in parts {
            let opens = !matches!(&part.kind, PartKind::Number(number) if number.bits.is_some_and(|bits| !bits.opens));
            let at = part.at.filter(|_| place.is_top && opens).map(|at| format!("in.at = {at};"));
            let mut conditions: Vec<String> = self.condition(part, place).into_iter().collect();
            // An optional field is there if the frame does not end in front of it.
            if let Some(at) = at.as_ref().filter(|_| part.is_optional) {
                let only = conditions.first().map(|one| format!("if ({one}) ")).unwrap_or_default();
                place.line(out, &format!("{only}{at}"));
            }
            if part.is_optional {
                conditions.push("in.at < in.end".to_owned());
            }
            if conditions.is_empty() {
                if let Some(at) = at {
                    place.line(out, &at);
                }
                self.read_field(one, part, place, out);
                continue;
            }
            place.line(out, &format!("if ({}) {{", conditions.join(" && ")));
            let inner = place.deeper();
            if let Some(at) = at.filter(|_| !part.is_optional) {
                inner.line(out, &at);
            }
            if part.is_optional {
                inner.line(out, &format!("{}has_{} = true;", place.path, part.name));
            }
            self.read_field(one, part, &inner, out);
            place.line(out, "}");
        }
    }

    fn read_field(&self, one: &Planned<'_>, part: &Part<'_>, place: &Place, out: &mut String) {
        let member = format!("{}{}", place.path, part.name);
        if let PartKind::Bytes { is_text, value, is_code } = &part.kind {
            let known = match (one.code(), value) {
                (Code::Text(code), _) if *is_code => Some(code.as_bytes()),
                (_, Some(value)) => Some(*value),
                _ => None,
            };
            match known {
                Some([]) => {}
                Some(known) => {
                    place.line(out, "{");
                    let inner = place.deeper();
                    inner.line(out, &format!("uint8_t known[{}];", known.len()));
                    inner.line(out, "WIRE_get_bytes(&in, known, sizeof known);");
                    self.refuse(
                        &format!("!in.ok || memcmp(known, {}, sizeof known) != 0", text(known)),
                        &inner,
                        out,
                    );
                    place.line(out, "}");
                }
                None => self.read_bytes(part, *is_text, &member, place, out),
            }
            return;
        }
        if part.count.is_none() {
            self.read_one(one, part, &member, place, out);
            return;
        }
        let is_rest = part.count == Some(PartCount::Rest);
        place.line(out, "{");
        let inner = place.deeper();
        inner.line(out, &format!("size_t i{};", place.depth));
        let count = if is_rest { String::new() } else { self.read_count(part, &member, &inner, out) };
        let variable = format!("i{}", place.depth);
        let goes_on =
            if is_rest { "in.at < in.end".to_owned() } else { format!("{variable} < (size_t){count}") };
        inner.line(out, &format!("for ({variable} = 0; {goes_on} && in.ok; {variable}++) {{"));
        let mut body = inner.deeper();
        body.depth += 1;
        if is_rest {
            self.refuse(&format!("{variable} >= {}", capacity_name(&place.constants, part)), &body, out);
        }
        self.read_one(one, part, &format!("{member}[{variable}]"), &body, out);
        inner.line(out, "}");
        if is_rest {
            inner.line(out, &format!("{member}_count = {variable};"));
        }
        place.line(out, "}");
    }

    /// Reads and checks the length of a list, and returns its expression.
    fn read_count(&self, part: &Part<'_>, member: &str, place: &Place, out: &mut String) -> String {
        let most = capacity_name(&place.constants, part);
        let count = match &part.count {
            Some(PartCount::Fixed(count)) => return count.to_string(),
            Some(PartCount::Of(reference)) => self.reference(reference, place),
            Some(PartCount::Prefixed { size, is_little }) => {
                place.line(out, &format!("const uint64_t count = WIRE_get(&in, {size}, {is_little});"));
                "count".to_owned()
            }
            _ => {
                place.line(out, "const size_t count = in.at < in.end ? in.end - in.at : 0;");
                "count".to_owned()
            }
        };
        // A count of eight bytes may be too large for size_t.
        let wide = if count == "count" { count.clone() } else { format!("(uint64_t){count}") };
        self.refuse(&format!("!in.ok || WIRE_exceeds({wide}, {most})"), place, out);
        if has_count(part) {
            place.line(out, &format!("{member}_count = (size_t)count;"));
        }
        count
    }

    fn read_bytes(&self, part: &Part<'_>, is_text: bool, member: &str, place: &Place, out: &mut String) {
        place.line(out, "{");
        let inner = place.deeper();
        let count = self.read_count(part, member, &inner, out);
        inner.line(out, &format!("WIRE_get_bytes(&in, {member}, (size_t){count});"));
        if is_text {
            inner.line(out, &format!("{member}[in.ok ? (size_t){count} : 0] = 0;"));
        }
        place.line(out, "}");
    }

    fn read_one(&self, one: &Planned<'_>, part: &Part<'_>, member: &str, place: &Place, out: &mut String) {
        match &part.kind {
            PartKind::Structure(index) => {
                let Some(structure) = self.plan.structures.get(*index) else { return };
                let constants = format!("{}_{}", self.upper, structure.name.to_uppercase());
                let inner = Place { path: format!("{member}."), constants, is_top: false, ..place.clone() };
                self.read(one, &structure.parts, &inner, out);
            }
            PartKind::Number(number) => self.read_number(one, part, number, member, place, out),
            PartKind::Bytes { .. } => {}
        }
    }

    fn read_number(
        &self,
        one: &Planned<'_>,
        part: &Part<'_>,
        number: &PartNumber<'_>,
        member: &str,
        place: &Place,
        out: &mut String,
    ) {
        let (size, little) = (number.size, number.is_little);
        let get = format!("WIRE_get(&in, {size}, {little})");
        let mut inner = place.clone();
        let mut raw = get.clone();
        if let Some(bits) = number.bits {
            inner.indent += 1;
            if bits.opens {
                place.line(out, "{");
                inner.line(out, &format!("const uint64_t raw = {get};"));
            }
            raw = format!("(raw >> {} & WIRE_mask({}))", bits.lowest, bits.count);
        }
        self.store(one, part, number, (&raw, member), &inner, out);
        if number.bits.is_some_and(|bits| bits.closes) {
            place.line(out, "}");
        }
    }

    fn store(
        &self,
        one: &Planned<'_>,
        part: &Part<'_>,
        number: &PartNumber<'_>,
        (raw, member): (&str, &str),
        place: &Place,
        out: &mut String,
    ) {
        let bits = number.bits.map_or(8 * number.size, |bits| bits.count as usize);
        let whole = match number.form {
            PartForm::Signed => format!("WIRE_extend({raw}, {bits})"),
            PartForm::Bool => format!("{raw} != 0"),
            PartForm::Float if number.size == 4 => format!("WIRE_float_of({raw})"),
            PartForm::Float => format!("WIRE_double_of({raw})"),
            PartForm::Unsigned => raw.to_owned(),
        };
        match number.role {
            PartRole::Size(counted) => {
                place.line(out, &format!("{}_size = {raw};", part.name));
                if counted == Counted::Rest {
                    place.line(out, &format!("after_{} = in.at;", part.name));
                }
            }
            PartRole::Checksum { name, skipped } => {
                place.line(out, "{");
                let inner = place.deeper();
                let is_there = if skipped == 0 { String::new() } else { format!("in.at >= {skipped} && ") };
                let count = shifted("in.at", '-', skipped);
                inner.line(out, &format!("const size_t count = {is_there}in.at <= in.size ? {count} : 0;"));
                let sum = self.sum(name, &shifted("in.bytes", '+', skipped), "count");
                inner.line(out, &format!("const uint64_t sum = {sum} & WIRE_mask({bits});"));
                self.refuse(&format!("{raw} != sum || !in.ok"), &inner, out);
                place.line(out, "}");
            }
            PartRole::Code => {
                if let Code::Number(code) = one.code() {
                    self.refuse(&format!("{raw} != UINT64_C({code}) || !in.ok"), place, out);
                }
            }
            PartRole::Constant(value) => {
                let literal = if number.form == PartForm::Signed { "INT64_C" } else { "UINT64_C" };
                self.refuse(&format!("{whole} != {literal}({value}) || !in.ok"), place, out);
            }
            PartRole::Value if number.is_strict => {
                place.line(out, "{");
                let inner = place.deeper();
                inner.line(out, &format!("const int64_t whole = (int64_t){whole};"));
                let codes = part.field.codes.as_deref().and_then(|name| self.codec.type_of(name));
                let known: Vec<String> = codes
                    .into_iter()
                    .flat_map(|one| one.codes.values())
                    .map(|value| format!("whole != INT64_C({})", value.code()))
                    .collect();
                let known = if known.is_empty() { "true".to_owned() } else { known.join(" && ") };
                self.refuse(&known, &inner, out);
                inner.line(out, &format!("{member} = {};", self.scaled(number, "whole", part)));
                place.line(out, "}");
            }
            PartRole::Value => place.line(out, &format!("{member} = {};", self.scaled(number, &whole, part))),
        }
    }

    fn scaled(&self, number: &PartNumber<'_>, whole: &str, part: &Part<'_>) -> String {
        match number.scale {
            // Adding 0 makes 0 of -0.
            Some([scale, 0.0]) if scale > 0.0 && number.form != PartForm::Float => {
                format!("(double){whole} * {scale:?}")
            }
            Some([scale, offset]) => format!("(double){whole} * {scale:?} + {}", super::real(offset)),
            None if number.form == PartForm::Bool => whole.to_owned(),
            None => format!("({}){whole}", self.member(part)),
        }
    }
}

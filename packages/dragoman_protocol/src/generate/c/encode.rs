//! Encoders in C.

use super::{Emitter, Place, capacity_name, shifted, text};
use crate::codec::plan::{Part, PartCount, PartForm, PartKind, PartNumber, PartRole, Planned};
use crate::model::{Code, Counted};
use crate::rust::line;

impl Emitter<'_> {
    pub(super) fn encoder(&self, one: &Planned<'_>, out: &mut String) {
        let plan = self.plan;
        let cut = &self.codec.protocol().frame.cut;
        let place = Place::message(self, one);
        let (name, asked) = (&one.name, self.asked(one));
        line(
            out,
            &format!(
                "\nstatic inline size_t NAME_{name}_encode({asked}const NAME_{name} *message, uint8_t *buffer, size_t size) {{"
            ),
        );
        place.line(out, "WIRE_writer out = {buffer, size, 0, true};");
        let begin = plan.marks[0].len();
        let has_size = has_size(&plan.head);
        if let Some(part) = has_size {
            place.line(out, &format!("size_t at_{} = 0;", part.name));
        }
        for (prefix, parts) in [("head", &plan.head), ("body", &one.parts), ("tail", &plan.tail)] {
            for part in parts.iter().filter(|part| part.checksum().is_some()) {
                place.line(out, &format!("size_t at_{prefix}_{} = SIZE_MAX;", part.name));
            }
        }
        if has_size.is_some_and(|part| counted(part) == Some(Counted::Body)) {
            place.line(out, "size_t body, body_end;");
        }
        place.line(out, "(void)message;");
        self.mark(plan.marks[0], &place, out);
        self.fields(one, &plan.head, "head", &place, out);
        let counts_body = has_size.is_some_and(|part| counted(part) == Some(Counted::Body));
        if counts_body {
            place.line(out, "body = out.at;");
        }
        self.fields(one, &one.parts, "body", &place, out);
        if counts_body {
            place.line(out, "body_end = out.at;");
        }
        if let Some(size) = cut.datagram {
            let room = (begin + size).saturating_sub(plan.tail_size);
            place.line(out, &format!("if (out.at > {room}) {{"));
            place.line(out, "  return 0;");
            place.line(out, "}");
            place.line(out, &format!("WIRE_pad(&out, {room});"));
        }
        if let Some((part, number)) = has_size.and_then(|part| Some((part, number(part)?))) {
            let value = match counted(part) {
                Some(Counted::Body) => "body_end - body".to_owned(),
                Some(Counted::Rest) => {
                    format!("{} - at_{} - {}", shifted("out.at", '+', plan.tail_size), part.name, number.size)
                }
                _ => shifted(&shifted("out.at", '+', plan.tail_size), '-', begin),
            };
            let (size, little) = (number.size, number.is_little);
            place.line(out, &format!("WIRE_patch(&out, at_{}, {value}, {size}, {little});", part.name));
        }
        self.write_sums("head", &plan.head, &place, out);
        self.write_sums("body", &one.parts, &place, out);
        self.fields(one, &plan.tail, "tail", &place, out);
        self.write_sums("tail", &plan.tail, &place, out);
        if let Some(most) = cut.most {
            place.line(out, &format!("if (out.at > {}) {{", begin.saturating_add(most)));
            place.line(out, "  return 0;");
            place.line(out, "}");
        }
        self.mark(plan.marks[1], &place, out);
        // A receiver would cut the frame at a mark within; the end may also begin in the content.
        let within = [(plan.marks[0], plan.marks[1].len()), (plan.marks[1], 1)];
        for (mark, behind) in within.into_iter().filter(|(mark, _)| !mark.is_empty()) {
            let (bytes, size) = (shifted("buffer", '+', begin), shifted("out.at", '-', begin + behind));
            let call = format!("WIRE_contains({bytes}, {size}, {}, {})", text(mark), mark.len());
            place.line(out, &format!("if (!out.ok || {call}) {{"));
            place.line(out, "  return 0;");
            place.line(out, "}");
        }
        place.line(out, "return out.ok ? out.at : 0;");
        line(out, "}");
    }

    fn mark(&self, mark: &[u8], place: &Place, out: &mut String) {
        if !mark.is_empty() {
            place.line(out, &format!("WIRE_put_bytes(&out, {}, {});", text(mark), mark.len()));
        }
    }

    fn write_sums(&self, prefix: &str, parts: &[Part<'_>], place: &Place, out: &mut String) {
        let begin = self.plan.marks[0].len();
        let sums = parts.iter().filter_map(|part| Some((part, part.checksum()?)));
        for (part, (PartNumber { size, is_little: little, .. }, name, skipped)) in sums {
            let at = format!("at_{prefix}_{}", part.name);
            place.line(out, &format!("if (out.ok && {at} != SIZE_MAX) {{"));
            let begin = begin + skipped;
            let sum = self.sum(name, &shifted("buffer", '+', begin), &shifted(&at, '-', begin));
            place.line(
                out,
                &format!("  WIRE_patch(&out, {at}, {sum} & WIRE_mask({}), {size}, {little});", 8 * size),
            );
            place.line(out, "}");
        }
    }

    /// `prefix`: the part of the frame, for the names of places.
    fn fields(&self, one: &Planned<'_>, parts: &[Part<'_>], prefix: &str, place: &Place, out: &mut String) {
        for part in parts {
            let mut conditions: Vec<String> = self.condition(part, place).into_iter().collect();
            if part.is_optional {
                conditions.push(format!("{}has_{}", place.path, part.name));
            }
            let is_conditional = !conditions.is_empty();
            if is_conditional {
                place.line(out, &format!("if ({}) {{", conditions.join(" && ")));
                self.go_to(part, &place.deeper(), out);
                self.field(one, part, prefix, &place.deeper(), out);
                place.line(out, "}");
            } else {
                self.go_to(part, place, out);
                self.field(one, part, prefix, place, out);
            }
        }
    }

    /// Fills with zeros up to the offset of a field.
    fn go_to(&self, part: &Part<'_>, place: &Place, out: &mut String) {
        let opens = number(part).is_none_or(|number| number.bits.is_none_or(|bits| bits.opens));
        let Some(at) = part.at.filter(|_| place.is_top && opens) else { return };
        let at = at + self.plan.marks[0].len();
        place.line(out, &format!("if (out.at > {at}) {{"));
        place.line(out, "  return 0;");
        place.line(out, "}");
        place.line(out, &format!("WIRE_pad(&out, {at});"));
    }

    fn field(&self, one: &Planned<'_>, part: &Part<'_>, prefix: &str, place: &Place, out: &mut String) {
        let member = format!("{}{}", place.path, part.name);
        if let PartKind::Bytes { is_text, value, is_code } = &part.kind {
            let known = match (one.code(), value) {
                (Code::Text(code), _) if *is_code => Some(code.as_bytes()),
                (_, Some(value)) => Some(*value),
                _ => None,
            };
            if let Some(known) = known {
                place.line(out, &format!("WIRE_put_bytes(&out, {}, {});", text(known), known.len()));
                return;
            }
            self.bytes(part, *is_text, &member, place, out);
            return;
        }
        if part.count.is_none() {
            self.single(one, part, &member, prefix, place, out);
            return;
        }
        let count = self.count(part, &member, place, out);
        let variable = format!("i{}", place.depth);
        place.line(out, "{");
        let mut inner = place.deeper();
        inner.line(out, &format!("size_t {variable};"));
        inner.line(
            out,
            &format!("for ({variable} = 0; {variable} < (size_t){count} && out.ok; {variable}++) {{"),
        );
        inner = inner.deeper();
        inner.depth += 1;
        self.single(one, part, &format!("{member}[{variable}]"), prefix, &inner, out);
        line(out, &format!("{}}}", "  ".repeat(inner.indent - 1)));
        place.line(out, "}");
    }

    /// Checks the length of a list, writes it in front, and returns its expression.
    fn count(&self, part: &Part<'_>, member: &str, place: &Place, out: &mut String) -> String {
        let (count, prefix) = match &part.count {
            Some(PartCount::Fixed(count)) => return count.to_string(),
            Some(PartCount::Of(reference)) => (self.reference(reference, place), None),
            Some(PartCount::Prefixed { size, is_little }) => {
                (format!("{member}_count"), Some((*size, *is_little)))
            }
            _ => (format!("{member}_count"), None),
        };
        place.line(
            out,
            &format!("if (WIRE_exceeds((uint64_t){count}, {})) {{", capacity_name(&place.constants, part)),
        );
        place.line(out, "  return 0;");
        place.line(out, "}");
        if let Some((size, is_little)) = prefix {
            place.line(
                out,
                &format!("WIRE_put(&out, WIRE_unsigned(&out, {count}, {}), {size}, {is_little});", 8 * size),
            );
        }
        count
    }

    fn bytes(&self, part: &Part<'_>, is_text: bool, member: &str, place: &Place, out: &mut String) {
        if !is_text {
            let count = self.count(part, member, place, out);
            place.line(out, &format!("WIRE_put_bytes(&out, {member}, (size_t){count});"));
            return;
        }
        let most = match &part.count {
            Some(PartCount::Fixed(count)) => count.to_string(),
            _ => capacity_name(&place.constants, part),
        };
        place.line(out, "{");
        let inner = place.deeper();
        inner.line(out, &format!("const size_t length = WIRE_length({member}, {most} + 1);"));
        let wrong = match &part.count {
            Some(PartCount::Of(reference)) => {
                format!("length != (size_t){}", self.reference(reference, place))
            }
            _ => format!("length > {most}"),
        };
        inner.line(out, &format!("if ({wrong}) {{"));
        inner.line(out, "  return 0;");
        inner.line(out, "}");
        if let Some(PartCount::Prefixed { size, is_little }) = part.count {
            inner.line(
                out,
                &format!("WIRE_put(&out, WIRE_unsigned(&out, length, {}), {size}, {is_little});", 8 * size),
            );
        }
        inner.line(out, &format!("WIRE_put_bytes(&out, {member}, length);"));
        if let Some(PartCount::Fixed(count)) = part.count {
            inner.line(
                out,
                &format!(
                    "if (out.ok) {{\n{0}  WIRE_pad(&out, out.at + ({count} - length));\n{0}}}",
                    "  ".repeat(inner.indent)
                ),
            );
        }
        place.line(out, "}");
    }

    fn single(
        &self,
        one: &Planned<'_>,
        part: &Part<'_>,
        member: &str,
        prefix: &str,
        place: &Place,
        out: &mut String,
    ) {
        match &part.kind {
            PartKind::Structure(index) => {
                let Some(structure) = self.plan.structures.get(*index) else { return };
                let constants = format!("{}_{}", self.upper, structure.name.to_uppercase());
                let inner = Place { path: format!("{member}."), constants, is_top: false, ..place.clone() };
                self.fields(one, &structure.parts, prefix, &inner, out);
            }
            PartKind::Number(number) => self.number(one, part, number, member, prefix, place, out),
            PartKind::Bytes { .. } => {}
        }
    }

    #[allow(clippy::too_many_arguments, reason = "where a number is")]
    fn number(
        &self,
        one: &Planned<'_>,
        part: &Part<'_>,
        number: &PartNumber<'_>,
        member: &str,
        prefix: &str,
        place: &Place,
        out: &mut String,
    ) {
        let bits = number.bits.map_or(8 * number.size, |bits| bits.count as usize);
        let value = match number.role {
            PartRole::Size(_) => {
                place.line(out, &format!("at_{} = out.at;", part.name));
                "0".to_owned()
            }
            PartRole::Checksum { .. } => {
                place.line(out, &format!("at_{prefix}_{} = out.at;", part.name));
                "0".to_owned()
            }
            PartRole::Code => match one.code() {
                Code::Number(code) => format!("UINT64_C({code})"),
                Code::Text(_) => "0".to_owned(),
            },
            PartRole::Constant(value) if value < 0 => {
                format!("((uint64_t)INT64_C({value}) & WIRE_mask({bits}))")
            }
            PartRole::Constant(value) => format!("UINT64_C({value})"),
            PartRole::Value => self.value(number, member, bits),
        };
        let (size, little) = (number.size, number.is_little);
        let Some(shared) = number.bits else {
            place.line(out, &format!("WIRE_put(&out, {value}, {size}, {little});"));
            return;
        };
        let mut inner = place.clone();
        if shared.opens {
            place.line(out, "{");
            inner.indent += 1;
            inner.line(out, "uint64_t raw = 0;");
        } else {
            inner.indent += 1;
        }
        inner.line(out, &format!("raw |= {value} << {};", shared.lowest));
        if shared.closes {
            inner.line(out, &format!("WIRE_put(&out, raw, {size}, {little});"));
            place.line(out, "}");
        }
    }

    /// The bits of a value.
    fn value(&self, number: &PartNumber<'_>, member: &str, bits: usize) -> String {
        let member = match number.scale {
            Some([scale, 0.0]) => format!("{member} / {}", super::real(scale)),
            Some([scale, offset]) => format!("({member} - {}) / {}", super::real(offset), super::real(scale)),
            None => member.to_owned(),
        };
        let is_signed = number.form == PartForm::Signed;
        match number.form {
            PartForm::Float if number.size == 4 => format!("WIRE_bits_of_float(&out, {member})"),
            PartForm::Float => format!("WIRE_bits_of_double({member})"),
            _ if number.scale.is_some() => format!("WIRE_rounded(&out, {member}, {is_signed}, {bits})"),
            PartForm::Bool => format!("(uint64_t)({member} ? 1 : 0)"),
            PartForm::Signed => format!("WIRE_signed(&out, {member}, {bits})"),
            PartForm::Unsigned if number.bits.is_none() && matches!(number.size, 1 | 2 | 4 | 8) => member,
            PartForm::Unsigned => format!("WIRE_unsigned(&out, {member}, {bits})"),
        }
    }
}

fn number<'p, 'a>(part: &'p Part<'a>) -> Option<&'p PartNumber<'a>> {
    if let PartKind::Number(number) = &part.kind { Some(number) } else { None }
}

/// The field of the size.
pub(super) fn has_size<'p, 'a>(head: &'p [Part<'a>]) -> Option<&'p Part<'a>> {
    head.iter().find(|part| counted(part).is_some())
}

/// What a size counts.
pub(super) fn counted(part: &Part<'_>) -> Option<Counted> {
    match number(part)?.role {
        PartRole::Size(counted) => Some(counted),
        _ => None,
    }
}

//! A C program that decodes and encodes the frames of its standard input with a generated header.

use std::fmt::Write as _;

use dragoman_protocol::model::{Answer, Field, FieldRole, Protocol};
use dragoman_protocol::{Base, Count};

const HEAD: &str = r#"
#include <stdio.h>
#include <stdlib.h>

static size_t bytes_of(const char *digits, uint8_t *bytes) {
  size_t count = 0;
  unsigned byte;
  while (digits[0] != 0 && digits[0] != '.' && sscanf(digits, "%2x", &byte) == 1) {
    bytes[count++] = (uint8_t)byte;
    digits += 2;
  }
  return count;
}

static inline void show_real(const char *path, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  printf("%s=%016llx ", path, (unsigned long long)bits);
}

static inline void show_bytes(const char *path, const void *bytes, size_t count) {
  size_t i;
  printf("%s=", path);
  for (i = 0; i < count; i++) {
    printf("%02x", ((const uint8_t *)bytes)[i]);
  }
  printf(" ");
}

int main(void) {
  static char name[100], client[100], asked_digits[10000], digits[10000], id[100], path[1000];
  static uint8_t frame[5000], asked_frame[5000], buffer[5000];
  size_t size, asked_size, i;
  (void)path;
  while (scanf("%99s %99s %9999s %9999s %99s", name, client, asked_digits, digits, id) == 5) {
    size = bytes_of(digits, frame);
    asked_size = asked_digits[0] == '-' ? 0 : bytes_of(asked_digits, asked_frame);
    (void)asked_size;
"#;

/// The program for a description.
pub(crate) fn program(protocol: &Protocol) -> String {
    let own = &protocol.name;
    let mut out = format!("#include \"{own}.h\"\n{HEAD}");
    for message in &protocol.messages {
        let mut all = vec![(message.name.clone(), &message.fields, false)];
        match &message.answer {
            None => {}
            Some(Answer::Fields(fields)) => {
                let asks = fields.iter().any(|field| {
                    let is_asked = |name: &String| {
                        !fields.iter().take_while(|one| one.name != field.name).any(|one| one.name == *name)
                    };
                    field.when.keys().any(is_asked)
                        || matches!(&field.kind().count, Some(Count::Of(name)) if is_asked(name))
                });
                all.push((format!("{}_answer", message.name), fields, asks));
            }
            Some(Answer::Named(name)) if name == "echo" => {
                all.push((format!("{}_answer", message.name), &message.fields, false));
            }
            Some(Answer::Named(name)) => {
                let fields = &protocol.types.iter().find(|one| one.name == *name).unwrap().fields;
                all.push((format!("{}_answer", message.name), fields, false));
            }
        }
        for (name, fields, asks) in all {
            let _ = writeln!(
                out,
                "    if (strcmp(name, \"{name}\") == 0) {{\n      static {own}_{name} message;"
            );
            let asked = if asks {
                let asked = &message.name;
                let _ = writeln!(
                    out,
                    "      static {own}_{asked} asked;\n      {own}_{asked}_decode(asked_frame, asked_size, &asked);"
                );
                "&asked, "
            } else {
                ""
            };
            let _ = writeln!(
                out,
                "      if (!{own}_{name}_decode({asked}frame, size, &message)) {{\n        puts(\"refused\");\n        continue;\n      }}"
            );
            let frame: Vec<Field> = protocol
                .frame
                .fields
                .iter()
                .filter(|field| !matches!(field.is, Some(FieldRole::Body | FieldRole::Size)))
                .cloned()
                .collect();
            show(protocol, &frame, "message.", "", 0, &mut out);
            show(protocol, fields, "message.", "", 0, &mut out);
            let _ =
                writeln!(out, "      size = {own}_{name}_encode({asked}&message, buffer, sizeof buffer);");
            let _ = writeln!(
                out,
                "      if (size > 0 && {own}_{name}_encode({asked}&message, buffer, size - 1) != 0) {{\n        puts(\"too small a buffer is enough\");\n      }}"
            );
            out += "      printf(\"- \");\n      for (i = 0; i < size; i++) {\n        printf(\"%02x\", buffer[i]);\n      }\n      printf(\"\\n\");\n      continue;\n    }\n";
        }
    }
    out + "    puts(\"there is no such message\");\n  }\n  return 0;\n}\n"
}

/// Prints fields. `path` is a format, whose arguments are the variables of loops.
fn show(protocol: &Protocol, fields: &[Field], access: &str, path: &str, depth: usize, out: &mut String) {
    for field in fields {
        if matches!(field.is, Some(FieldRole::Code | FieldRole::Checksum)) || field.value.is_some() {
            continue;
        }
        let name = &field.name;
        let end = if ["int", "register"].contains(&name.as_str()) { "_" } else { "" };
        let member = format!("{access}{name}{end}");
        let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        let kind = field.kind();
        let count = match &kind.count {
            None => None,
            Some(Count::Fixed(count)) => Some(count.to_string()),
            Some(Count::Of(name)) => {
                let is_here = fields.iter().any(|other| other.name == *name);
                Some(if is_here {
                    format!("(size_t){access}{name}")
                } else {
                    format!("(size_t)asked.{name}")
                })
            }
            Some(_) => Some(format!("{member}_count")),
        };
        match (&kind.base, count) {
            (Base::Text, _) => {
                print(&path, depth, &format!("show_bytes(path, {member}, strlen({member}))"), out)
            }
            (Base::Bytes, Some(count)) => {
                print(&path, depth, &format!("show_bytes(path, {member}, {count})"), out)
            }
            (_, None) => one(protocol, field, &member, &path, depth, out),
            (_, Some(count)) => {
                let _ = writeln!(out, "      for (size_t i{depth} = 0; i{depth} < {count}; i{depth}++) {{");
                one(protocol, field, &format!("{member}[i{depth}]"), &format!("{path}[%d]"), depth + 1, out);
                out.push_str("      }\n");
            }
        }
    }
}

fn one(protocol: &Protocol, field: &Field, member: &str, path: &str, depth: usize, out: &mut String) {
    let is_real = field.scale.is_some() || field.offset.is_some();
    match field.kind().base {
        Base::Named(name) => {
            let inner = &protocol.types.iter().find(|one| one.name == name).unwrap().fields;
            show(protocol, inner, &format!("{member}."), path, depth, out);
        }
        Base::Float(_) => print(path, depth, &format!("show_real(path, {member})"), out),
        _ if is_real => print(path, depth, &format!("show_real(path, {member})"), out),
        Base::Signed(_) => {
            print(path, depth, &format!("printf(\"%s=%lld \", path, (long long){member})"), out);
        }
        _ => print(path, depth, &format!("printf(\"%s=%llu \", path, (unsigned long long){member})"), out),
    }
}

fn print(path: &str, depth: usize, statement: &str, out: &mut String) {
    let variables: String = (0..depth).map(|depth| format!(", (int)i{depth}")).collect();
    let _ = writeln!(out, "      sprintf(path, \"{path}\"{variables});\n      {statement};");
}

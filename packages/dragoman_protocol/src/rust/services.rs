//! Generates the rows of a table of ROS services, and the answer formats of commands.
//!
//! The code of [`services`] and [`body_services`] calls `row` of the module that includes it, once per service.

use super::{NoRust, line, variant};
use crate::kind::Count;
use crate::model::{Answer, Field, Message, Protocol, Side};

/// A source file with `Command::answer`: an `AnswerFormat` of the module that includes it.
///
/// # Errors
/// An answer that is not a Boolean, numbers, or a list.
pub fn answers(protocol: &Protocol) -> Result<String, NoRust> {
    super::check(protocol, None)?;
    let mut out =
        "\nimpl Command {\n    /// What answers it.\n    pub const fn answer(self) -> AnswerFormat {\n"
            .to_owned();
    line(&mut out, "        match self {");
    for message in protocol.messages.iter().filter(|message| message.from == Side::Client) {
        let [answer, ..] = answered(message)?;
        line(&mut out, &format!("            Self::{} => AnswerFormat::{answer},", variant(&message.name)));
    }
    line(&mut out, "        }\n    }\n}");
    Ok(out)
}

/// The rows of a table, for commands whose fields are those of a service. The arguments of `row` are the name of the
/// service and conversions: call to request, request to call, response to outcome, outcome to response, response to its
/// field `found`.
///
/// # Errors
/// An answer that is not a Boolean, numbers, or a list; a type that is not one of a service.
pub fn services(protocol: &Protocol) -> Result<String, NoRust> {
    super::check(protocol, None)?;
    rows(protocol, |message, service, out| {
        let name = variant(&message.name);
        let [mut names, mut given, mut asked] = [const { Vec::new() }; 3];
        for field in &message.fields {
            let is_array = matches!(field.kind().count, Some(Count::Fixed(_)));
            let field = field.name.as_str();
            names.push(field.to_owned());
            given.push(if is_array { format!("{field}: {field}.into_ros()") } else { field.to_owned() });
            let value = format!("request.{field}");
            let value = if is_array { format!("Field::from_ros({value})") } else { value };
            asked.push(format!("{field}: {value}"));
        }
        let [names, given, asked] = [names.join(", "), given.join(", "), asked.join(", ")];
        let [_, outcome, response] = answered(message)?;
        let [from, to] = if answer(message).is_empty() { ["_"; 2] } else { ["response", "outcome"] };
        line(out, &format!("    row::<{service}::Service>(\n        Command::{name}.ros_name(),"));
        line(out, "        |call| match call {");
        line(
            out,
            &format!("            Request::{name} {{ {names} }} => Some({service}::Request {{ {given} }}),"),
        );
        line(out, "            _ => None,\n        },");
        line(out, &format!("        |request| Request::{name} {{ {asked} }},"));
        line(out, &format!("        |{from}| {outcome},"));
        line(out, &format!("        |{to}| {service}::Response {{ {response}..Default::default() }},"));
        line(out, "        |response| &mut response.found,\n    ),");
        Ok(())
    })
}

/// The `AnswerFormat`, the outcome for `response`, and the fields of the response for `outcome`.
fn answered(message: &Message) -> Result<[String; 3], NoRust> {
    let fields: Vec<(&str, String)> =
        answer(message).iter().map(|one| (one.name.as_str(), one.kind().to_string())).collect();
    let fields: Vec<(&str, &str)> = fields.iter().map(|(name, kind)| (*name, kind.as_str())).collect();
    let (answer, outcome, response) = match fields.as_slice() {
        [] => ("None", "Outcome::Done".to_owned(), String::new()),
        [(name, "bool")] => {
            ("Verdict", format!("Outcome::Verdict(response.{name})"), format!("{name}: verdict(&outcome), "))
        }
        [(name, "f64[u16]")] => {
            ("AnyDoubles", format!("Outcome::Values(response.{name})"), format!("{name}: values(outcome), "))
        }
        [(name, "land_mark[u16]")] => (
            "LandMarks",
            format!("Outcome::LandMarks(Field::from_ros(response.{name}))"),
            format!("{name}: land_marks(outcome).into_ros(), "),
        ),
        numbers => {
            let (mut count, mut values, mut response) = (0, Vec::new(), String::new());
            for (name, kind) in numbers {
                let (size, value, given) = match *kind {
                    "f64" => (1, format!("vec![response.{name}]"), format!("number(&outcome, {count})")),
                    "f64[3]" => (
                        3,
                        format!("<[f64; 3]>::from_ros(response.{name}).to_vec()"),
                        format!(
                            "{:?}.map(|place| number(&outcome, place)).into_ros()",
                            [count, count + 1, count + 2]
                        ),
                    ),
                    _ => {
                        let reason = format!("answer: {name}: {kind} has no Rust yet");
                        return Err(NoRust::new(&message.name, &reason));
                    }
                };
                count += size;
                values.push(value);
                response += &format!("{name}: {given}, ");
            }
            let outcome = format!("Outcome::Values([{}].concat())", values.join(", "));
            return Ok([format!("Doubles({count})"), outcome, response]);
        }
    };
    Ok([answer.to_owned(), outcome, response])
}

/// The rows of a table, for commands with a body and answers with one. The arguments of `row` are the kind of the
/// command and conversions: body to command and back, body of an answer to outcome and back.
///
/// # Errors
/// A type that is not one of a service.
pub fn body_services(protocol: &Protocol) -> Result<String, NoRust> {
    super::check(protocol, None)?;
    rows(protocol, |message, service, out| {
        let name = variant(&message.name);
        let [pattern, body, of] =
            if message.fields.is_empty() { ["", "()", "|()| "] } else { ["(body)", "body", ""] };
        line(out, &format!("    row::<{service}::Service, _, _>(\n        CommandKind::{name},"));
        line(out, &format!("        {of}Command::{name},\n        |command| match command {{"));
        line(out, &format!("            Command::{name}{pattern} => Ok({body}),"));
        line(out, "            other => Err(other),\n        },");
        if answer(message).is_empty() {
            line(out, "        |()| Outcome::Done,\n        |_| Some(()),\n    ),");
            return Ok(());
        }
        line(out, &format!("        |body| Outcome::Answered(Reply::{name}(body)),"));
        line(out, "        |outcome| match outcome {");
        line(out, &format!("            Outcome::Answered(Reply::{name}(body)) => Some(body),"));
        line(out, "            _ => None,\n        },\n    ),");
        Ok(())
    })
}

/// The output of `row` for each message with a service; its arguments are the message and the path of the service's
/// type.
fn rows(
    protocol: &Protocol,
    row: impl Fn(&Message, &str, &mut String) -> Result<(), NoRust>,
) -> Result<String, NoRust> {
    let mut out = format!("// Made of the description of the {}.\nvec![\n", protocol.title);
    for message in &protocol.messages {
        let Some(ros) = &message.ros else { continue };
        let [package, "srv", name] = ros.split('/').collect::<Vec<_>>()[..] else {
            return Err(NoRust::new(&message.name, &format!("{ros} is no type of a service")));
        };
        row(message, &format!("dragoman_ros::{package}::srv::{name}"), &mut out)?;
    }
    line(&mut out, "]");
    Ok(out)
}

fn answer(message: &Message) -> &[Field] {
    match &message.answer {
        Some(Answer::Fields(fields)) => fields,
        _ => &[],
    }
}

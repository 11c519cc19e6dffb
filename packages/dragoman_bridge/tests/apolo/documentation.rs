//! The tables of `docs/protocol-apolo.md` against the code.

use crate::documented::compare_table;
use dragoman_bridge::apolo::wire::{AnswerFormat, Command};

/// Written by `DRAGOMAN_UPDATE_REFERENCE=1 cargo test -p dragoman_bridge --test all apolo::documentation`.
#[test]
fn the_table_of_commands_is_the_code_s() {
    const HEAD: &str = "| request | answer | ROS service | meaning |\n| --- | --- | --- | --- |\n";
    let rows = Command::all().map(|command| {
        let answer = match command.answer() {
            AnswerFormat::None => "nothing".to_owned(),
            AnswerFormat::Verdict => "`T` or `F`".to_owned(),
            AnswerFormat::Doubles(count) => format!("`D`, {count}"),
            AnswerFormat::AnyDoubles => "`D`".to_owned(),
            AnswerFormat::LandMarks => "`b`".to_owned(),
        };
        format!("| `{command}` | {answer} | `{}` | {} |\n", command.ros_name(), command.meaning())
    });
    compare_table("protocol-apolo.md", HEAD, rows);
}

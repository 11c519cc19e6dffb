//! The tables of `docs/protocol-apolo.md` against the code.

use dragoman_bridge::apolo::wire::{AnswerFormat, Command};

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol-apolo.md"));

#[test]
fn the_table_of_commands_is_the_code_s() {
    for command in Command::all() {
        let answer = match command.answer() {
            AnswerFormat::None => "nothing".to_owned(),
            AnswerFormat::Verdict => "`T` or `F`".to_owned(),
            AnswerFormat::Doubles(count) => format!("`D`, {count}"),
            AnswerFormat::AnyDoubles => "`D`".to_owned(),
            AnswerFormat::LandMarks => "`b`".to_owned(),
        };
        let row = format!("| `{command}` | {answer} | `{}` | {} |", command.ros_name(), command.meaning());
        assert!(PAGE.contains(&row), "the page does not have the row\n{row}");
    }
}

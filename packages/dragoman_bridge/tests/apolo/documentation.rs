//! The tables of `docs/protocol-apolo.md` against the code.

use dragoman_bridge::apolo::wire::{Answer, Command};

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol-apolo.md"));

#[test]
fn the_table_of_commands_is_the_code_s() {
    for command in Command::all() {
        let answer = match command.answer() {
            Answer::None => "nothing".to_owned(),
            Answer::Verdict => "`T` or `F`".to_owned(),
            Answer::Doubles(count) => format!("`D`, {count}"),
            Answer::AnyDoubles => "`D`".to_owned(),
            Answer::LandMarks => "`b`".to_owned(),
        };
        let row = format!("| `{command}` | {answer} | `{}` | {} |", command.ros_name(), command.meaning());
        assert!(PAGE.contains(&row), "the page lacks the row\n{row}");
    }
}

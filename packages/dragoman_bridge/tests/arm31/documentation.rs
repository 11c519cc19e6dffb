//! The README's tables against the code.

use dragoman_bridge::arm31::wire::Command;

const README: &str = include_str!("../../README.md");

#[test]
fn the_table_of_commands_is_the_code_s() {
    for command in Command::all() {
        let reply = command.letters().swapped();
        let row = format!("| `{command}` | `{reply}` | `{}` | {} |", command.ros_name(), command.meaning());
        assert!(README.contains(&row), "README.md lacks the row\n{row}");
    }
}

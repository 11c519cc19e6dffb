//! The tables of `docs/protocol-31-byte.md` against the code.

use dragoman_bridge::arm31::wire::Command;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol-31-byte.md"));

#[test]
fn the_table_of_commands_is_the_code_s() {
    for command in Command::all() {
        let reply = command.letters().swapped();
        let row = format!("| `{command}` | `{reply}` | `{}` | {} |", command.ros_name(), command.meaning());
        assert!(PAGE.contains(&row), "the page does not have the row\n{row}");
    }
}

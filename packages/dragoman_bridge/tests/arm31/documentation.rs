//! The tables of `docs/protocol-31-byte.md` against the code.

use crate::documented::compare_table;
use dragoman_bridge::arm31::wire::Command;

/// Written by `DRAGOMAN_UPDATE_REFERENCE=1 cargo test -p dragoman_bridge --test all arm31::documentation`.
#[test]
fn the_table_of_commands_is_the_code_s() {
    const HEAD: &str = "| request | answer | ROS service or topic | meaning |\n| --- | --- | --- | --- |\n";
    let rows = Command::all().map(|command| {
        let reply = command.letters().swapped();
        format!("| `{command}` | `{reply}` | `{}` | {} |\n", command.ros_name(), command.meaning())
    });
    compare_table("protocol-31-byte.md", HEAD, rows);
}

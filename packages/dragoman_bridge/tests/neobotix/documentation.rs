//! The tables of `docs/protocol-neobotix.md` against the code.

use dragoman_bridge::neobotix::parameters::declarations;
use dragoman_bridge::neobotix::wire::CommandKind;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol-neobotix.md"));

#[test]
fn the_table_of_commands_is_the_code_s() {
    for kind in CommandKind::all() {
        let answer = if kind.is_answered() { "a reply" } else { "nothing" };
        let row = format!("| {} | `{kind}` | {answer} | {} |", kind.number(), kind.meaning());
        assert!(PAGE.contains(&row), "the page lacks the row\n{row}");
    }
}

#[test]
fn the_table_of_parameters_is_the_code_s() {
    for one in declarations().iter().filter(|one| !one.key.starts_with("UltraSonic")) {
        let (kind, unit) = (one.kind().to_string().to_lowercase(), one.unit);
        let range =
            if kind == "boolean" { "".to_owned() } else { format!("{} to {}", one.minimum, one.maximum) };
        let row = format!(
            "| `{}` | {} | {kind} | {} | {range} | {unit} | {} |",
            one.key, one.category, one.default, one.description
        );
        assert!(PAGE.contains(&row), "the page lacks the row\n{row}");
    }
}

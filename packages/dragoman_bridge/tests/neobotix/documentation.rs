//! The tables of `docs/protocol-neobotix.md` against the code.

use crate::documented::compare_table;
use dragoman_bridge::neobotix::parameters::declarations;
use dragoman_bridge::neobotix::wire::CommandKind;

/// Written by `DRAGOMAN_UPDATE_REFERENCE=1 cargo test -p dragoman_bridge --test all neobotix::documentation`.
#[test]
fn the_table_of_commands_is_the_code_s() {
    const HEAD: &str = "| number | command | answer | meaning |\n| --- | --- | --- | --- |\n";
    let rows = CommandKind::all().map(|kind| {
        let answer = if kind.is_answered() { "a reply" } else { "nothing" };
        format!("| {} | `{kind}` | {answer} | {} |\n", kind.number(), kind.meaning())
    });
    compare_table("protocol-neobotix.md", HEAD, rows);
}

/// Written by `DRAGOMAN_UPDATE_REFERENCE=1 cargo test -p dragoman_bridge --test all neobotix::documentation`.
#[test]
fn the_table_of_parameters_is_the_code_s() {
    const HEAD: &str = "| key | category | kind | default | range | unit | meaning | without effect, because |\n\
                        | --- | --- | --- | --- | --- | --- | --- | --- |\n";
    let rows = declarations().iter().filter(|one| !one.key.starts_with("UltraSonic")).map(|one| {
        let (kind, unit) = (one.kind().to_string().to_lowercase(), one.unit);
        let range =
            if kind == "boolean" { "".to_owned() } else { format!("{} to {}", one.minimum, one.maximum) };
        format!(
            "| `{}` | {} | {kind} | {} | {range} | {unit} | {} | {} |\n",
            one.key,
            one.category,
            one.default,
            one.description,
            one.without_effect.unwrap_or_default()
        )
    });
    compare_table("protocol-neobotix.md", HEAD, rows);
}

//! The tables of `docs/protocol-neobotix.md` against the code.

use dragoman_bridge::neobotix::parameters::declarations;
use dragoman_bridge::neobotix::wire::CommandKind;

const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol-neobotix.md"));

#[test]
fn the_table_of_commands_is_the_code_s() {
    for kind in CommandKind::all() {
        let answer = if kind.is_answered() { "a reply" } else { "nothing" };
        let row = format!("| {} | `{kind}` | {answer} | {} |", kind.number(), kind.meaning());
        assert!(PAGE.contains(&row), "the page does not have the row\n{row}");
    }
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
    let table = HEAD.to_owned() + &rows.collect::<String>();
    if std::env::var_os("DRAGOMAN_UPDATE_REFERENCE").is_some() {
        let begin = PAGE.find("| key | category |").expect("the table");
        let end = begin + PAGE[begin..].find("\n\n").expect("its end") + 1;
        let page = format!("{}{table}{}", &PAGE[..begin], &PAGE[end..]);
        std::fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/protocol-neobotix.md"), page)
            .unwrap();
        return;
    }
    assert!(PAGE.contains(&table), "the page does not have the table\n{table}");
}

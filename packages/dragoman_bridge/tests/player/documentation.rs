//! The table of messages in `docs/reference/player.md` against the code.

use dragoman_bridge::player::wire::{INTERFACES, Interface, MessageKind, properties};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/player.md");
/// The tables begin at this heading, and end with the page.
const BEGIN: &str = "## Messages of every interface\n";

fn table(heading: &str, interface: &Interface) -> String {
    let mut text = format!("{heading}\n\n| kind | number | name | meaning |\n| --- | --- | --- | --- |\n");
    for row in interface.messages {
        let kind = match row.kind {
            MessageKind::Data => "data",
            MessageKind::Command => "command",
            _ => "request",
        };
        text += &format!("| {kind} | {} | `{}` | {} |\n", row.subtype, row.name, row.meaning);
    }
    text
}

/// Written by `DRAGOMAN_UPDATE_REFERENCE=1 cargo test -p dragoman_bridge --test all player::documentation`.
#[test]
fn the_tables_of_messages_are_the_code_s() {
    let mut tables = vec![table(BEGIN.trim_end(), &properties::INTERFACE)];
    tables.extend(INTERFACES.iter().map(|interface| {
        let heading = format!("## Interface `{}`, {}", interface.name, interface.code);
        table(&heading, interface)
    }));
    let tables = tables.join("\n");
    let page = std::fs::read_to_string(PAGE).expect("the page");
    let begin = page.find(BEGIN).expect("the heading");
    if std::env::var_os("DRAGOMAN_UPDATE_REFERENCE").is_some() {
        std::fs::write(PAGE, page[..begin].to_owned() + &tables).unwrap();
        return;
    }
    assert!(page[begin..] == tables, "the page should have the tables\n{tables}");
}

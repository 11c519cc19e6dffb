//! Tables of the documentation that are made of the code.

/// Compares the table of a page that begins with `head`, two lines, with these rows. `DRAGOMAN_UPDATE_REFERENCE=1` writes
/// it.
#[track_caller]
pub(crate) fn compare_table(page: &str, head: &str, rows: impl Iterator<Item = String>) {
    let path = format!("{}/../../docs/{page}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let table = head.to_owned() + &rows.collect::<String>();
    if std::env::var_os("DRAGOMAN_UPDATE_REFERENCE").is_some() {
        let begin = text.find(head).expect("the table");
        let end = begin + text[begin..].find("\n\n").expect("its end") + 1;
        std::fs::write(&path, format!("{}{table}{}", &text[..begin], &text[end..])).unwrap();
        return;
    }
    assert!(text.contains(&(table.clone() + "\n")), "{page} does not have the table\n{table}");
}

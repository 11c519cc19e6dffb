//! Constants and default values of interface definitions as Rust expressions.

/// A Rust expression of type `rust_type` for the literal `text` as an interface definition writes it.
pub(crate) fn scalar(rust_type: &str, text: &str) -> String {
    let text = text.trim();
    match rust_type {
        "bool" => matches!(text, "true" | "True" | "1").to_string(),
        "::std::string::String" => format!("{}.to_owned()", string(text)),
        "f32" | "f64" => {
            let number =
                text.strip_prefix('.').map_or_else(|| text.to_owned(), |digits| format!("0.{digits}"));
            format!("{number} as {rust_type}")
        }
        _ => format!("{text} as {rust_type}"),
    }
}

/// The text of a string literal without its quotes, as a Rust string literal.
pub(crate) fn string(text: &str) -> String {
    let text = text.trim();
    let quoted = ['"', '\''].iter().any(|q| text.len() >= 2 && text.starts_with(*q) && text.ends_with(*q));
    format!("{:?}", if quoted { &text[1..text.len() - 1] } else { text })
}

/// A Rust `vec![..]` for an array literal `[a, b]`.
pub(crate) fn array(rust_type: &str, text: &str) -> String {
    let inner = text.trim().trim_start_matches('[').trim_end_matches(']');
    let items: Vec<_> = inner
        .split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(|item| scalar(rust_type, item))
        .collect();
    format!("vec![{}]", items.join(", "))
}

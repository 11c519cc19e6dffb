//! Names of a DBC file as they are in descriptions.

use std::collections::BTreeSet;

/// Maximum length of a name.
const MAX_NAME: usize = 100;

/// The name of the field of a signal: small letters, with underscores between words. `MotorSpeed` is `motor_speed`, `RPM2` is
/// `rpm2`; what is a function in expressions is followed by `_value`. Of two signals with the same one the second has a number
/// behind it.
pub fn field_name(signal: &str) -> String {
    let name = snake_case(signal);
    if ["min", "max", "abs"].contains(&name.as_str()) { name + "_value" } else { name }
}

/// A name in small letters, with underscores between words. It begins with a letter.
pub(super) fn snake_case(name: &str) -> String {
    let mut made = String::new();
    let mut letters = name.chars().peekable();
    let mut before = '_';
    while let Some(letter) = letters.next() {
        let begins_word = letter.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_digit()
                || before.is_ascii_uppercase() && letters.peek().is_some_and(char::is_ascii_lowercase));
        before = letter;
        let letter = if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
        if (begins_word || letter == '_') && !made.is_empty() && !made.ends_with('_') {
            made.push('_');
        }
        if letter != '_' {
            made.push(letter);
        }
        if made.len() >= MAX_NAME {
            break;
        }
    }
    let made = made.trim_end_matches('_');
    match made.chars().next() {
        None => "unnamed".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("n{made}"),
        Some(_) => made.to_owned(),
    }
}

/// Names, each of which is there once.
#[derive(Debug, Default)]
pub(super) struct Unique(BTreeSet<String>);

impl Unique {
    /// The name, with a number if it is taken.
    pub(super) fn name(&mut self, wanted: String) -> String {
        let mut name = wanted.clone();
        let mut number = 2;
        while self.0.contains(&name) {
            name = format!("{wanted}_{number}");
            number += 1;
        }
        self.0.insert(name.clone());
        name
    }

    /// The name, or the other one if it is taken.
    pub(super) fn name_or(&mut self, wanted: String, other: impl FnOnce() -> String) -> String {
        if self.0.contains(&wanted) { self.name(other()) } else { self.name(wanted) }
    }
}

/// A text within a mapping or list of YAML.
pub(super) fn quoted(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '%')
        && text.chars().all(|one| one.is_ascii_alphanumeric() || "_ /%.^*-".contains(one))
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"]
            .iter()
            .any(|word| word.eq_ignore_ascii_case(text))
        // A number such as 1e5 does not begin with a letter, but these do.
        && text.parse::<f64>().is_err();
    if is_plain {
        return text.to_owned();
    }
    let mut made = String::from("\"");
    for one in text.chars() {
        match one {
            '"' | '\\' => made.extend(['\\', one]),
            one if one.is_control() || matches!(one, '\u{2028}' | '\u{2029}' | '\u{feff}') => made.push(' '),
            one => made.push(one),
        }
    }
    made.push('"');
    made
}

/// A number as YAML reads it.
pub(super) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 {
        // Without a negative zero.
        format!("{:.0}", value + 0.0)
    } else {
        let text = format!("{value:?}");
        // YAML needs a point in front of an exponent.
        match text.split_once('e') {
            Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0e{exponent}"),
            _ => text,
        }
    }
}

/// A comment in one line, of at most so many characters.
pub(super) fn one_line(text: &str, most: usize) -> String {
    // Quotes have backslashes in front.
    let text = text.replace("\\\"", "\"");
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default().trim_end()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_snake_case() {
        for (name, expected) in [
            ("MotorSpeed", "motor_speed"),
            ("RPM", "rpm"),
            ("RPM2Left", "rpm2_left"),
            ("CANBusError", "can_bus_error"),
            ("motor_speed", "motor_speed"),
            ("Motor__Speed_", "motor_speed"),
            ("_x", "x"),
            ("4WD", "n4_wd"),
            ("Temp\u{b0}C", "temp_c"),
            ("", "unnamed"),
            ("__", "unnamed"),
        ] {
            assert_eq!(snake_case(name), expected, "{name}");
        }
        let mut unique = Unique::default();
        let names = ["a", "a", "a_2", "a"].map(|name| unique.name(name.to_owned()));
        assert_eq!(names, ["a", "a_2", "a_2_2", "a_3"]);
    }

    #[test]
    fn numbers_and_texts_are_those_of_yaml() {
        for (value, expected) in
            [(0.1, "0.1"), (1.0, "1"), (-0.0, "0"), (1e-7, "1.0e-7"), (-3000.0, "-3000"), (1e300, "1.0e300")]
        {
            assert_eq!(number(value), expected);
            assert_eq!(serde_norway::from_str::<f64>(expected).unwrap().to_bits(), (value + 0.0).to_bits());
        }
        for text in
            ["N m", "true", "1e5", "inf", "a: b", "\u{b0}C", "\"q\" \\ ", "", "%", "m/s^2", "- a", "x #y"]
        {
            assert_eq!(serde_norway::from_str::<String>(&quoted(text)).unwrap(), text);
            let list = format!("[{}]", quoted(text));
            assert_eq!(serde_norway::from_str::<Vec<String>>(&list).unwrap(), [text]);
        }
    }

    #[test]
    fn comments_become_one_line() {
        assert_eq!(one_line(" a\r\n  b\tc ", 99), "a b c");
        assert_eq!(one_line("\u{e4}\u{e4} \u{e4}", 3), "\u{e4}\u{e4}...");
    }
}

//! Suggests a known name for a misspelt one.

use strsim::osa_distance;

use crate::excerpt;

/// Maximum number of letters that are wrong, missing, superfluous or swapped in a name that resembles another. In short
/// names it is one: `cam` does not resemble `arm`, nor `planner` `player`.
const MAX_WRONG: usize = 2;
/// Letters of a name for each wrong one.
const LETTERS_PER_WRONG: usize = 4;
/// Maximum length of a name that is compared, letters: the work grows with their square, and clients choose the names.
const MAX_COMPARED: usize = 64;
/// Maximum number of names that a hint lists.
const MAX_LISTED: usize = 20;

/// The known name that resembles `given` most, or `None`. Capitals count as small letters.
pub fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = given.chars().count();
    if length > MAX_COMPARED {
        return None;
    }
    let most = (length / LETTERS_PER_WRONG).clamp(1, MAX_WRONG);
    let lower = given.to_lowercase();
    let alike = known.into_iter().filter(|name| name.chars().count().abs_diff(length) <= most);
    let distances = alike.map(|name| (osa_distance(&lower, &name.to_lowercase()), name));
    // A name with all letters wrong does not resemble another: `a` is not a misspelt `b`.
    distances.filter(|(distance, _)| *distance <= most && *distance < length).min().map(|(_, name)| name)
}

/// The end of a sentence about an unknown name: the known name that it resembles, else all known names.
pub fn hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(nearest) = nearest(given, known.iter().copied()) {
        return format!("; did you mean '{}'?", excerpt(nearest));
    }
    let listed: Vec<_> = known.iter().take(MAX_LISTED).map(|name| excerpt(name)).collect();
    match known.len() {
        0 => String::new(),
        1..=MAX_LISTED => format!("; known: {}", listed.join(", ")),
        more => format!("; known: {}, and {} more", listed.join(", "), more - MAX_LISTED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_resembles_is_found() {
        const KNOWN: [&str; 7] = ["lab", "laboratory", "corridor", "tracker", "arm", "player", "x"];
        for (given, expected) in [
            ("labb", Some("lab")),
            ("LAB", Some("lab")),
            ("labratory", Some("laboratory")),
            ("coridorr", Some("corridor")),
            ("tarcker", Some("tracker")),
            ("traker", Some("tracker")),
            ("amr", Some("arm")),
            ("cam", None),
            ("planner", None),
            ("al", None),
            ("", None),
            ("kitchen", None),
            ("z", None),
        ] {
            assert_eq!(nearest(given, KNOWN), expected, "{given}");
        }
        // Ten thousand million steps, if they were compared.
        let [long, longer] = ["x".repeat(100_000), "x".repeat(100_001)];
        assert_eq!(nearest(&long, [longer.as_str(), "lab"]), None);
    }

    #[test]
    fn a_hint_suggests_a_known_name_or_lists_all() {
        assert_eq!(hint("labb", ["lab", "corridor"]), "; did you mean 'lab'?");
        assert_eq!(hint("kitchen", ["lab", "corridor"]), "; known: lab, corridor");
        assert_eq!(hint("kitchen", []), "");
        let many: Vec<String> = (0..30).map(|number| format!("station {number}")).collect();
        let hint = hint("kitchen", many.iter().map(String::as_str));
        assert!(hint.ends_with("station 19, and 10 more"), "{hint}");
    }
}

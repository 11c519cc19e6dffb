//! Names of other systems as parts of ROS names, and names in namespaces.

/// Converts a name to one part of a topic or frame, in lower case: invalid characters become `_`, never two in a row,
/// and a leading digit gets one before it.
pub fn token(name: &str) -> String {
    let mut allowed = String::new();
    for letter in name.chars() {
        let letter = if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '_' };
        if allowed.is_empty() && letter.is_ascii_digit() {
            allowed.push('_');
        }
        if !(letter == '_' && allowed.ends_with('_')) {
            allowed.push(letter);
        }
    }
    allowed
}

/// `name`, relative or absolute, in `namespace`.
pub fn below(namespace: &str, name: &str) -> String {
    let parts = [namespace, name].map(|part| part.trim_matches('/'));
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_such_as_topics_allow() {
        for (name, expected) in [
            ("Pioneer3AT", "pioneer3at"),
            ("Ranger Mark I", "ranger_mark_i"),
            ("3 - rover", "_3_rover"),
            ("neobotix__platform", "neobotix_platform"),
            ("Añil", "a_il"),
        ] {
            assert_eq!(token(name), expected);
        }
    }

    #[test]
    fn a_namespace_stands_above_names() {
        let cases = [("/", "/ranger"), ("", "ranger"), ("left", "/ranger"), ("/left/", "/")];
        let names = cases.map(|(namespace, name)| below(namespace, name));
        assert_eq!(names, ["/ranger", "/ranger", "/left/ranger", "/left"]);
    }
}

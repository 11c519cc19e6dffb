//! Names of other systems as parts of ROS names, and names in namespaces.

use std::borrow::Cow;
use std::fmt::Write as _;

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

/// A joint's name as one part of a topic or service, such as `lift_joint` in `lift_joint/command`. A name that topics
/// allow stays as it is. Otherwise each byte (UTF-8) that is not allowed becomes `_x` and two hexadecimal digits:
/// `lift.joint` is `lift_x2ejoint`. At the beginning, where a digit is not allowed either, it is `x` and two digits:
/// `1_joint` is `x31_joint`. So does the first of two underscores, and text that looks like such a byte: different
/// names have different tokens.
pub fn joint_token(name: &str) -> Cow<'_, str> {
    let bytes = name.as_bytes();
    let is_digit = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let looks_escaped =
        |at: usize| matches!(bytes.get(at..at + 3), Some([b'x', digits @ ..]) if digits.iter().all(is_digit));
    // From the end: an underscore depends on what follows it.
    let mut is_escaped = false;
    let mut parts: Vec<(u8, bool)> = Vec::with_capacity(bytes.len());
    for (at, &byte) in bytes.iter().enumerate().rev() {
        is_escaped = match byte {
            b'a'..=b'z' | b'A'..=b'Z' => at == 0 && looks_escaped(0),
            b'0'..=b'9' => at == 0,
            b'_' => is_escaped || bytes.get(at + 1) == Some(&b'_') || looks_escaped(at + 1),
            _ => true,
        };
        parts.push((byte, is_escaped));
    }
    if !parts.iter().any(|(_, is_escaped)| *is_escaped) {
        return name.into();
    }
    let mut token = String::with_capacity(2 * bytes.len());
    for (byte, is_escaped) in parts.into_iter().rev() {
        if is_escaped {
            let mark = if token.is_empty() { "x" } else { "_x" };
            // Writing to a string does not fail.
            let _ = write!(token, "{mark}{byte:02x}");
        } else {
            token.push(byte.into());
        }
    }
    token.into()
}

/// The index of a joint in `names`, by its name or else by its [`joint_token`]: a client may know only the topics of
/// the joint.
pub fn find_joint(names: &[impl AsRef<str>], given: &str) -> Option<usize> {
    let by_name = names.iter().position(|name| name.as_ref() == given);
    by_name.or_else(|| names.iter().position(|name| joint_token(name.as_ref()) == given))
}

/// The name of a joint that was given by its name or by its [`joint_token`], where the names of the joints are not
/// known: a text that may be a token counts as one. A joint whose name looks like a token must be given by its token.
pub fn joint_name(given: &str) -> Cow<'_, str> {
    match unescaped(given) {
        Some(name) if joint_token(&name) == given => name.into(),
        _ => given.into(),
    }
}

/// `token` with the byte in place of each mark and its two digits. `None`: the result is not UTF-8.
fn unescaped(token: &str) -> Option<String> {
    let (mut bytes, mut rest) = (Vec::with_capacity(token.len()), token);
    while let Some(first) = rest.bytes().next() {
        let mark = if bytes.is_empty() { "x" } else { "_x" };
        let digits = rest.strip_prefix(mark).and_then(|rest| rest.get(..2));
        let byte = match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(escaped) => {
                rest = rest.get(mark.len() + 2..)?;
                escaped
            }
            None => {
                rest = rest.get(1..)?;
                first
            }
        };
        bytes.push(byte);
    }
    String::from_utf8(bytes).ok()
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
    fn joints_with_any_name_have_valid_topics() {
        for (name, expected) in [
            ("lift_joint", "lift_joint"),
            ("_hidden_", "_hidden_"),
            ("X2e_x2", "X2e_x2"),
            ("lift.joint", "lift_x2ejoint"),
            ("lift-joint", "lift_x2djoint"),
            ("lift joint", "lift_x20joint"),
            ("1_joint", "x31_joint"),
            ("lift__joint", "lift_x5f_joint"),
            ("lift_.joint", "lift_x5f_x2ejoint"),
            ("lift_x2ejoint", "lift_x5fx2ejoint"),
            ("x31_joint", "x7831_joint"),
            ("\u{fc}", "xc3_xbc"),
        ] {
            assert_eq!(joint_token(name), expected);
        }
    }

    #[test]
    fn joints_are_found_by_either_name() {
        let names = ["lift.joint", "lift_x2ejoint", "turn-joint"];
        for (given, place) in [
            ("lift.joint", Some(0)),
            ("lift_x2ejoint", Some(1)),
            ("turn_x2djoint", Some(2)),
            ("turn_joint", None),
        ] {
            assert_eq!(find_joint(&names, given), place, "{given}");
        }
    }

    #[test]
    fn unknown_joints_are_given_by_either_name() {
        for (given, name) in [
            ("lift_joint", "lift_joint"),
            ("lift.joint", "lift.joint"),
            ("lift_x2ejoint", "lift.joint"),
            ("x31_joint", "1_joint"),
            // No topic of a joint has these.
            ("lift_x61joint", "lift_x61joint"),
            ("lift_xffjoint", "lift_xffjoint"),
            ("lift_x5fx2ejoint", "lift_x2ejoint"),
        ] {
            assert_eq!(joint_name(given), name, "{given}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_two_joints_have_the_same_topics(one in "[ax2_.\u{fc}]{1,6}", other in "[ax2_.\u{fc}]{1,6}") {
            let [token, another] = [&one, &other].map(|name| joint_token(name));
            proptest::prop_assert_eq!(crate::names::check_token(&token), Ok(()));
            proptest::prop_assert_eq!(token == another, one == other);
        }

        #[test]
        fn the_name_can_be_read_off_the_topic(name in "[ax20f_.\u{fc}]{1,12}") {
            let token = joint_token(&name);
            let unescaped = unescaped(&token);
            proptest::prop_assert_eq!(unescaped.as_deref(), Some(&*name));
            let found = joint_name(&token);
            proptest::prop_assert_eq!(&found, &name);
        }

        #[test]
        fn any_text_names_one_joint(given in ".{0,12}") {
            let name = joint_name(&given);
            let token = joint_token(&name);
            proptest::prop_assert!(given == name || given == token);
        }
    }

    #[test]
    fn a_namespace_stands_above_names() {
        let cases = [("/", "/ranger"), ("", "ranger"), ("left", "/ranger"), ("/left/", "/")];
        let names = cases.map(|(namespace, name)| below(namespace, name));
        assert_eq!(names, ["/ranger", "/ranger", "/left/ranger", "/left"]);
    }
}

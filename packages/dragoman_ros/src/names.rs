//! Names of topics and services: the rules of ROS 2's design article "Topic and Service Names".

use crate::remapping::Rules;

/// Kind of a name; remapping rules and DDS prefixes differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    Topic,
    Service,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid topic name '{name}': {reason}")]
pub(crate) struct InvalidName {
    pub(crate) name: String,
    pub(crate) reason: &'static str,
}

/// Name and namespace of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeName {
    pub(crate) name: String,
    /// Begins with a slash; the root is `/`.
    pub(crate) namespace: String,
}

impl NodeName {
    pub(crate) fn fully_qualified(&self) -> String {
        if self.namespace == "/" {
            format!("/{}", self.name)
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }

    /// Resolves `name` for this node to an absolute name, before remapping.
    pub(crate) fn expand(&self, name: &str) -> Result<String, InvalidName> {
        let invalid = |reason| InvalidName { name: name.to_owned(), reason };
        if name.is_empty() {
            return Err(invalid("it is empty"));
        }
        let bare_namespace = self.namespace.trim_start_matches('/');
        let mut expanded = name
            .replace("{node}", &self.name)
            .replace("{ns}", bare_namespace)
            .replace("{namespace}", bare_namespace);
        if expanded.contains(['{', '}']) {
            return Err(invalid("only {node}, {ns} and {namespace} are substituted"));
        }
        if let Some(rest) = expanded.strip_prefix('~') {
            if !rest.is_empty() && !rest.starts_with('/') {
                return Err(invalid("'~' must be followed by '/'"));
            }
            expanded = format!("{}{rest}", self.fully_qualified());
        } else if !expanded.starts_with('/') {
            expanded = if self.namespace == "/" {
                format!("/{expanded}")
            } else {
                format!("{}/{expanded}", self.namespace)
            };
        }
        for token in expanded[1..].split('/') {
            check_token(token).map_err(invalid)?;
        }
        Ok(expanded)
    }

    /// Resolves `name` for this node to an absolute name, after remapping.
    pub(crate) fn resolve_name(
        &self,
        name: &str,
        kind: NameKind,
        rules: &Rules,
    ) -> Result<String, InvalidName> {
        let expanded = self.expand(name)?;
        match rules.remapped(self, &expanded, kind) {
            Some(replacement) => self.expand(&replacement),
            None => Ok(expanded),
        }
    }
}

/// Checks a part between two slashes.
pub(crate) fn check_token(token: &str) -> Result<(), &'static str> {
    if token.is_empty() {
        return Err("a part between two slashes is empty");
    }
    if token.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("a part begins with a digit");
    }
    if !token.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err("only letters, digits and underscores are allowed");
    }
    if token.contains("__") {
        return Err("two underscores in a row are reserved");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node() -> NodeName {
        NodeName { name: "kinematics".into(), namespace: "/ranger".into() }
    }

    #[test]
    fn names_expand_relative_to_the_node() {
        for (given, expanded) in [
            ("pose", "/ranger/pose"),
            ("/tf", "/tf"),
            ("~/reload", "/ranger/kinematics/reload"),
            ("~", "/ranger/kinematics"),
            ("{node}/in", "/ranger/kinematics/in"),
            ("/{ns}/x", "/ranger/x"),
        ] {
            assert_eq!(node().expand(given).unwrap(), expanded);
        }
    }

    #[test]
    fn bad_names_are_refused_with_the_rule() {
        for bad in ["", "a//b", "1st", "a b", "pose/", "{what}/x", "~x", "a__b", "grüße"] {
            assert!(node().expand(bad).is_err(), "{bad}");
        }
    }
}

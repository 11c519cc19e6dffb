//! Names of nodes, topics and services: the rules of ROS 2's design article "Topic and Service name mapping to DDS".

use super::arguments::{Arguments, RuleKind};
use super::error::{Error, Result};

/// What a name belongs to; remapping rules and DDS prefixes differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameKind {
    Topic,
    Service,
}

/// A node's place in the graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NodeName {
    pub(crate) name: String,
    /// Begins with a slash; the root is `/`.
    pub(crate) namespace: String,
}

impl NodeName {
    /// Checks `name` and `namespace` and applies the `__node` and `__ns` rules of the command line.
    pub(crate) fn resolve(name: &str, namespace: &str, arguments: &Arguments) -> Result<Self> {
        let invalid =
            |name: &str, reason: &str| Error::InvalidNodeName { name: name.into(), reason: reason.into() };
        let name = arguments.renamed(RuleKind::Node, name).unwrap_or_else(|| name.to_owned());
        check_token(&name).map_err(|reason| invalid(&name, reason))?;
        let namespace = arguments.renamed(RuleKind::Namespace, &name).unwrap_or_else(|| namespace.to_owned());
        let namespace = if namespace.starts_with('/') { namespace } else { format!("/{namespace}") };
        if namespace != "/" {
            for token in namespace[1..].split('/') {
                check_token(token).map_err(|reason| invalid(&namespace, reason))?;
            }
        }
        Ok(Self { name, namespace })
    }

    pub(crate) fn fully_qualified(&self) -> String {
        if self.namespace == "/" {
            format!("/{}", self.name)
        } else {
            format!("{}/{}", self.namespace, self.name)
        }
    }

    /// The absolute name that `name` means to this node, before remapping.
    pub(crate) fn expand(&self, name: &str) -> Result<String> {
        let invalid = |reason: &str| Error::InvalidTopicName { name: name.into(), reason: reason.into() };
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

    /// The absolute name that `name` means to this node after the command line's remapping.
    pub(crate) fn resolve_name(&self, name: &str, kind: NameKind, arguments: &Arguments) -> Result<String> {
        let expanded = self.expand(name)?;
        match arguments.remapped(self, &expanded, kind) {
            Some(replacement) => self.expand(&replacement),
            None => Ok(expanded),
        }
    }
}

fn check_token(token: &str) -> Result<(), &'static str> {
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

/// `pkg/msg/Type` as DDS knows it: `pkg::msg::dds_::Type_`.
pub(crate) fn dds_type(ros_type: &str) -> String {
    let mut parts: Vec<&str> = ros_type.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    format!("{}::dds_::{name}_", parts.join("::"))
}

/// The inverse of [`dds_type`]; none for types that are not ROS's.
pub(crate) fn ros_type(dds_type: &str) -> Option<String> {
    let (package, name) = dds_type.split_once("::dds_::")?;
    Some(format!("{}/{}", package.replace("::", "/"), name.strip_suffix('_')?))
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

    #[test]
    fn types_translate_both_ways() {
        assert_eq!(dds_type("std_srvs/srv/Trigger_Request"), "std_srvs::srv::dds_::Trigger_Request_");
        assert_eq!(ros_type("geometry_msgs::msg::dds_::Twist_").unwrap(), "geometry_msgs/msg/Twist");
        assert_eq!(ros_type("DDSPerftest"), None);
    }
}

//! Names of nodes, and of types in DDS: the rules of ROS 2's design article "Topic and Service name mapping to DDS".

use super::error::{Error, Result};
use crate::names::{InvalidName, NodeName, check_token};
use crate::remapping::{RuleKind, Rules};

impl NodeName {
    /// Checks `name` and `namespace` and applies the `__node` and `__ns` rules of the command line.
    pub(crate) fn resolve(name: &str, namespace: &str, rules: &Rules) -> Result<Self> {
        let invalid =
            |name: &str, reason: &str| Error::InvalidNodeName { name: name.into(), reason: reason.into() };
        let name = rules.renamed(RuleKind::Node, name).unwrap_or_else(|| name.to_owned());
        check_token(&name).map_err(|reason| invalid(&name, reason))?;
        let namespace = rules.renamed(RuleKind::Namespace, &name).unwrap_or_else(|| namespace.to_owned());
        let namespace = if namespace.starts_with('/') { namespace } else { format!("/{namespace}") };
        if namespace != "/" {
            for token in namespace[1..].split('/') {
                check_token(token).map_err(|reason| invalid(&namespace, reason))?;
            }
        }
        Ok(Self { name, namespace })
    }
}

impl From<InvalidName> for Error {
    fn from(InvalidName { name, reason }: InvalidName) -> Self {
        Self::InvalidTopicName { name, reason: reason.to_owned() }
    }
}

/// The DDS name of `pkg/msg/Type`: `pkg::msg::dds_::Type_`.
pub(crate) fn dds_type(ros_type: &str) -> String {
    let mut parts: Vec<&str> = ros_type.split('/').collect();
    let name = parts.pop().unwrap_or_default();
    format!("{}::dds_::{name}_", parts.join("::"))
}

/// The inverse of [`dds_type`]; `None` for types that are not ROS's.
pub(crate) fn ros_type(dds_type: &str) -> Option<String> {
    let (package, name) = dds_type.split_once("::dds_::")?;
    Some(format!("{}/{}", package.replace("::", "/"), name.strip_suffix('_')?))
}

/// ROS's prefix of a DDS topic and the name of the topic or service; `None` for topics that are not ROS's.
pub(crate) fn parts_of_topic(topic: &str) -> Option<(&'static str, &str)> {
    [("rt", ""), ("rr", "Reply"), ("rq", "Request")].into_iter().find_map(|(prefix, ending)| {
        let name = topic.strip_prefix(prefix)?.strip_suffix(ending)?;
        name.starts_with('/').then_some((prefix, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_translate_both_ways() {
        assert_eq!(dds_type("std_srvs/srv/Trigger_Request"), "std_srvs::srv::dds_::Trigger_Request_");
        assert_eq!(ros_type("geometry_msgs::msg::dds_::Twist_").unwrap(), "geometry_msgs/msg/Twist");
        assert_eq!(ros_type("DDSPerftest"), None);
    }
}

//! Remapping rules of the command line, `from:=to`, as rcl reads them.

use crate::names::{NameKind, NodeName};

/// The rules of a process, in their order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rules(Vec<Rule>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RuleKind {
    Node,
    Namespace,
    Topic,
    Service,
    TopicOrService,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    kind: RuleKind,
    /// The rule applies only to nodes of this name.
    node: Option<String>,
    from: String,
    to: String,
}

/// A text without `:=`, or with nothing on one side of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not of the form name:=value")]
pub(crate) struct NoRule(String);

/// The two sides of `:=`.
pub(crate) fn split_rule(text: &str) -> Result<(&str, &str), NoRule> {
    text.split_once(":=")
        .filter(|(from, to)| !from.is_empty() && !to.is_empty())
        .ok_or_else(|| NoRule(text.to_owned()))
}

impl Rules {
    /// The rules in a command line that the middleware accepts.
    pub(crate) fn accepted(arguments: impl IntoIterator<Item = String>) -> Self {
        let mut rules = Self::default();
        let (_, ros) = crate::command_line::split(arguments);
        let mut arguments = ros.into_iter();
        while let Some(argument) = arguments.next() {
            if matches!(argument.as_str(), "-r" | "--remap")
                && let Some(Err(error)) = arguments.next().map(|rule| rules.add(&rule))
            {
                tracing::debug!(%error, "remapping rule ignored");
            }
        }
        rules
    }

    /// Appends a rule.
    pub(crate) fn add(&mut self, text: &str) -> Result<(), NoRule> {
        let (from, to) = split_rule(text)?;
        let (kind, node, from) = if let Some(from) = from.strip_prefix("rostopic://") {
            (RuleKind::Topic, None, from)
        } else if let Some(from) = from.strip_prefix("rosservice://") {
            (RuleKind::Service, None, from)
        } else {
            let (node, from) = match from.split_once(':') {
                Some((node, from)) => (Some(node.to_owned()), from),
                None => (None, from),
            };
            let kind = match from {
                "__node" | "__name" => RuleKind::Node,
                "__ns" => RuleKind::Namespace,
                _ => RuleKind::TopicOrService,
            };
            (kind, node, from)
        };
        self.0.push(Rule { kind, node, from: from.to_owned(), to: to.to_owned() });
        Ok(())
    }

    /// The names that rules give to nodes.
    pub(crate) fn node_names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter(|rule| rule.kind == RuleKind::Node).map(|rule| rule.to.as_str())
    }

    /// The name or namespace from the first matching `__node` or `__ns` rule for node `name`. rcl applies it itself.
    #[cfg(not(feature = "r2r"))]
    pub(crate) fn renamed(&self, kind: RuleKind, name: &str) -> Option<String> {
        let mut rules = self.0.iter().filter(|rule| rule.kind == kind);
        rules.find(|rule| rule.node.as_deref().is_none_or(|node| node == name)).map(|rule| rule.to.clone())
    }

    /// The result of the first matching rule for the absolute name `expanded`.
    pub(crate) fn remapped(&self, node: &NodeName, expanded: &str, kind: NameKind) -> Option<String> {
        let wanted = match kind {
            NameKind::Topic => RuleKind::Topic,
            NameKind::Service => RuleKind::Service,
        };
        self.0
            .iter()
            .filter(|rule| rule.kind == wanted || rule.kind == RuleKind::TopicOrService)
            .filter(|rule| rule.node.as_deref().is_none_or(|name| name == node.name))
            .find(|rule| node.expand(&rule.from).is_ok_and(|from| from == expanded))
            .map(|rule| rule.to.clone())
    }
}

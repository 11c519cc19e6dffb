//! The existing arms, for a user who has named a missing one.

use std::collections::BTreeSet;

use dragoman_ros::{Context, Node, Result};
use dragoman_text::hint;

/// Topics that identify an arm, relative to its namespace.
pub(crate) mod sign {
    /// Of each arm that follows trajectories.
    pub(crate) const TRAJECTORIES: &str = "follow_joint_trajectory/_action/status";
    /// Of each arm with the motion node of the Ranger.
    pub(crate) const MOTION: &str = "motion_status";
}

/// The end of a sentence that says what is missing in `namespace`. It names the arms that there are, which are known by the topic
/// `sign`. If there are none, or if this arm is there, it says what to check.
pub(crate) fn whereabouts(context: &Context, namespace: &str, sign: &str) -> String {
    let absolute = format!("/{}", namespace.trim_matches('/'));
    let others = match search(context, sign) {
        Ok(arms) if !arms.contains(&absolute) => hint(&absolute, arms.iter().map(String::as_str)),
        _ => String::new(),
    };
    if others.is_empty() { ": is the arm running, and in this domain?".to_owned() } else { others }
}

/// Namespaces in which a topic of this name is published. A subscription, such as that of the user's program, does not
/// count as an arm.
fn search(context: &Context, sign: &str) -> Result<BTreeSet<String>> {
    // The caller's node may run in a task already, where it cannot be asked.
    let node = Node::create(context.clone(), "arm_search", "")?;
    let mut arms = BTreeSet::new();
    for topic in node.get_topic_names_and_types()?.into_keys() {
        let namespace = topic.strip_suffix(sign).and_then(|start| start.strip_suffix('/'));
        if let Some(namespace) = namespace.filter(|namespace| !namespace.is_empty())
            && !node.get_publishers_info_by_topic(&topic, false)?.is_empty()
        {
            arms.insert(namespace.to_owned());
        }
    }
    Ok(arms)
}

//! Checks that the links form a tree.

use std::collections::{BTreeMap, BTreeSet};

use crate::UrdfError;

/// Maximum number of links of a description. `k` frees a tree by recursion: 30,000 links in a row overflow a stack of 2 MiB.
const MAX_LINKS: usize = 1000;

/// Lines of the links and joints, in their order.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    pub(crate) links: Vec<usize>,
    pub(crate) joints: Vec<usize>,
}

/// Checks number and names of links and joints, and the tree; returns the root link.
pub(crate) fn check(robot: &urdf_rs::Robot, lines: &Lines) -> Result<String, UrdfError> {
    let error =
        |line: Option<&usize>, reason: String| Err(UrdfError { line: line.copied().unwrap_or(1), reason });
    if robot.links.len() > MAX_LINKS {
        let reason = format!("{} links, at most {MAX_LINKS} are supported", robot.links.len());
        return error(lines.links.get(MAX_LINKS), reason);
    }
    let mut links = BTreeMap::new();
    for (link, line) in robot.links.iter().zip(&lines.links) {
        if let Some(first) = links.insert(link.name.as_str(), line) {
            return error(Some(line), format!("link {} is already there, in line {first}", link.name));
        }
    }
    let mut names = BTreeMap::new();
    let mut parents = BTreeMap::new();
    let mut children: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (joint, line) in robot.joints.iter().zip(&lines.joints) {
        let name = &joint.name;
        if let Some(first) = names.insert(name.as_str(), line) {
            return error(Some(line), format!("joint {name} is already there, in line {first}"));
        }
        let (parent, child) = (joint.parent.link.as_str(), joint.child.link.as_str());
        for (role, link) in [("parent", parent), ("child", child)] {
            if !links.contains_key(link) {
                return error(Some(line), format!("joint {name}: there is no link {link}, its {role}"));
            }
        }
        if let Some(first) = parents.insert(child, name) {
            let reason = format!("joint {name}: link {child} has two parents, by joint {first} as well");
            return error(Some(line), reason);
        }
        children.entry(parent).or_default().push(child);
    }
    let mut roots =
        robot.links.iter().zip(&lines.links).filter(|(link, _)| !parents.contains_key(link.name.as_str()));
    let Some((root, _)) = roots.next() else {
        return match robot.links.first() {
            Some(link) => {
                error(lines.links.first(), format!("link {} is below itself: a circle of joints", link.name))
            }
            None => error(None, "there are no links".to_owned()),
        };
    };
    if let Some((second, line)) = roots.next() {
        let reason =
            format!("link {} has no parent, nor has link {}: a joint is missing", second.name, root.name);
        return error(Some(line), reason);
    }
    let mut reached = BTreeSet::from([root.name.as_str()]);
    let mut open = vec![root.name.as_str()];
    while let Some(link) = open.pop() {
        let below = children.get(link).map(Vec::as_slice).unwrap_or_default();
        reached.extend(below);
        open.extend(below);
    }
    let lost = robot.links.iter().zip(&lines.links).find(|(link, _)| !reached.contains(link.name.as_str()));
    match lost {
        Some((link, line)) => {
            error(Some(line), format!("link {} is below itself: a circle of joints", link.name))
        }
        None => Ok(root.name.clone()),
    }
}

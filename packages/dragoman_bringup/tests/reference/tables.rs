//! The pages of the reference, and their tables.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{COMMON, REPOSITORY};

/// A row of a table: the name without backticks, then the other cells as they are written.
pub(super) type TableRow = Vec<String>;

fn cells(line: &str) -> Option<TableRow> {
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    let mut row: TableRow = inner.split('|').map(|cell| cell.trim().to_owned()).collect();
    row[0] = row[0].replace('`', "");
    Some(row)
}

fn is_heading(line: &str, heading: &str) -> bool {
    line.starts_with('#') && line.trim_start_matches('#').trim().replace('`', "") == heading
}

/// The pages of the reference by their paths.
pub(super) type Pages = BTreeMap<PathBuf, String>;

pub(super) fn read_pages() -> Pages {
    let mut pages = Pages::new();
    for entry in std::fs::read_dir(format!("{REPOSITORY}/docs/reference")).unwrap() {
        let path = entry.unwrap().path();
        pages.insert(path.clone(), std::fs::read_to_string(path).unwrap());
    }
    pages
}

/// The rows below `heading` of the tables that begin with column `kind`.
pub(super) fn rows(pages: &Pages, heading: &str, kind: &str) -> Vec<TableRow> {
    let (mut found, mut here, mut table) = (Vec::new(), false, None);
    for line in pages.values().flat_map(|text| text.lines().chain(["#"])) {
        here = is_heading(line, heading) || here && !line.starts_with('#');
        let Some(row) = cells(line) else {
            table = None;
            continue;
        };
        match &table {
            None => table = Some(row[0].clone()),
            Some(head) if here && head == kind && !row[0].starts_with("---") => found.push(row),
            Some(_) => {}
        }
    }
    found
}

/// The page with other rows in the table of `kind` below `heading`.
pub(super) fn with_rows(text: &str, heading: &str, kind: &str, rows: &[TableRow]) -> String {
    let (mut lines, mut here, mut skipping) = (Vec::new(), false, false);
    for line in text.lines() {
        here = is_heading(line, heading) || here && !line.starts_with('#');
        skipping &= line.starts_with('|');
        if skipping {
            continue;
        }
        lines.push(line.to_owned());
        if here && line.starts_with(&format!("| {kind} |")) {
            skipping = true;
            lines.push(format!("|{}", " --- |".repeat(line.matches('|').count() - 1)));
            lines.extend(rows.iter().map(|row| format!("| `{}` | {} |", row[0], row[1..].join(" | "))));
        }
    }
    lines.join("\n") + "\n"
}

/// Names that stand for several: one for each joint of the lab's arms, for each robot of its world without another
/// driver, and so on.
const SEVERAL: [(&str, &[&str]); 6] = [
    ("<joint>", &["joint_1", "joint_2", "joint_3", "joint_4", "joint_5", "joint_6"]),
    (
        "<robot's joint>",
        &["arm_1_joint", "arm_2_joint", "arm_3_joint", "arm_4_joint", "arm_5_joint", "gripper_1_joint"],
    ),
    ("<robot>", &["marvin", "neo", "neobotix_platform", "pioneer3at", "romaa"]),
    ("<described robot>", &["neobotix_platform", "pioneer3at", "puma560", "ranger_mark_i", "romaa"]),
    ("<1 to 16>", &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"]),
    ("<robot with a laser>", &["marvin", "neobotix_platform"]),
];

pub(super) fn names(name: &str, node: &str) -> Vec<String> {
    let name = name.replace('~', node);
    match SEVERAL.iter().find(|(pattern, _)| name.contains(pattern)) {
        Some((pattern, all)) => all.iter().map(|one| name.replace(pattern, one)).collect(),
        None => vec![name],
    }
}

/// The rows of `kind` that a section omits: the parts of its actions, and those that all nodes with parameters share.
pub(super) fn implied(pages: &Pages, heading: &str, kind: &str) -> Vec<TableRow> {
    let mut all = Vec::new();
    for action in rows(pages, heading, "action") {
        let mut part = |of, name: &str, type_name: String, rest: &[&str]| {
            let head = [format!("{}/_action/{name}", action[0]), type_name];
            let row = head.into_iter().chain(rest.iter().map(|cell| (*cell).to_owned())).collect();
            all.extend((of == kind).then_some(row));
        };
        let (of, status) = (&action[1], "action_msgs/msg/GoalStatusArray".to_owned());
        part("service", "send_goal", format!("{of}_SendGoal"), &[]);
        part("service", "cancel_goal", "action_msgs/srv/CancelGoal".to_owned(), &[]);
        part("service", "get_result", format!("{of}_GetResult"), &[]);
        part("topic", "feedback", format!("{of}_FeedbackMessage"), &["publishes", "reliable, volatile"]);
        part("topic", "status", status, &["publishes", "reliable, transient local"]);
    }
    if !rows(pages, heading, "parameter").is_empty() {
        all.extend(rows(pages, COMMON, kind));
    }
    all
}

/// The first two policies of a cell: reliability and durability.
pub(super) fn policies(qos: &str) -> String {
    qos.split(", ").take(2).collect::<Vec<_>>().join(", ")
}

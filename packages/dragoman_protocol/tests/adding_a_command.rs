//! `docs/adding-a-command.md`: its diffs fit the files of the repository, and what they need is made of the descriptions.

use std::collections::BTreeSet;
use std::path::Path;

use dragoman_protocol::rust::{self, NoRust};
use dragoman_protocol::{Protocol, protocols};

const PAGE: &str = include_str!("../../../docs/adding-a-command.md");
const PROTOCOLS: [&str; 4] = ["arm31", "apolo", "neobotix", "player"];

/// The changes of a file.
struct Patch<'a> {
    path: &'a str,
    /// The lines of each hunk, with their first characters.
    hunks: Vec<Vec<&'a str>>,
}

impl<'a> Patch<'a> {
    /// Those of a block of the page.
    fn read(diff: &'a str) -> Vec<Self> {
        let mut patches: Vec<Self> = Vec::new();
        for line in diff.lines().filter(|line| !line.starts_with("--- ")) {
            if let Some(path) = line.strip_prefix("+++ b/") {
                patches.push(Self { path, hunks: Vec::new() });
                continue;
            }
            let patch = patches.last_mut().expect("a diff begins with the name of a file");
            if line.starts_with("@@ ") {
                patch.hunks.push(Vec::new());
            } else {
                patch.hunks.last_mut().expect("a hunk begins with its place").push(line);
            }
        }
        patches
    }

    fn added(&self) -> String {
        self.hunks.iter().flatten().filter_map(|line| line.strip_prefix('+')).collect::<Vec<_>>().join("\n")
    }

    /// The file with these changes.
    fn apply(&self) -> String {
        let path = Path::new("../..").join(self.path);
        let mut text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", self.path));
        for hunk in &self.hunks {
            let without = |mark: char| -> String {
                let lines = hunk.iter().filter(|line| !line.starts_with(mark));
                lines.map(|line| line.get(1..).unwrap_or_default().to_owned() + "\n").collect()
            };
            let (before, after) = (without('+'), without('-'));
            assert_eq!(text.matches(&before).count(), 1, "{} has one place for\n{before}", self.path);
            text = text.replacen(&before, &after, 1);
        }
        text
    }
}

fn is_description(patch: &Patch) -> bool {
    patch.path.starts_with("packages/dragoman_protocol/protocols/")
}

fn is_test(patch: &Patch) -> bool {
    patch.path.contains("/tests/")
}

/// All Rust that is made of a description.
fn emitted(text: &str) -> Result<String, NoRust> {
    let protocol = Protocol::read(text).unwrap();
    let others = [("address", "super::Address"), ("map_data", "super::MapData")];
    match protocol.name.as_str() {
        "player" => rust::interfaces(&protocol, &others),
        "neobotix" => Ok(rust::telegrams(&protocol, &["queue_entry"], &["status", "debug_data"])?
            + &rust::body_services(&protocol)?),
        _ => rust::requests(&protocol),
    }
}

fn words(text: &str) -> BTreeSet<&str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect()
}

#[test]
fn the_diffs_of_the_page_fit() {
    let blocks = PAGE.split("```diff\n").skip(1).map(|rest| rest.split_once("```").unwrap().0);
    let blocks: Vec<_> = blocks.map(Patch::read).collect();
    assert_eq!(blocks.len(), PROTOCOLS.len());
    let before = [protocols::ARM31, protocols::APOLO, protocols::NEOBOTIX, protocols::PLAYER];
    for ((protocol, before), patches) in PROTOCOLS.into_iter().zip(before).zip(blocks) {
        assert!(patches.len() <= 3, "{protocol}: a description, its behaviour, a test");
        let (mut description, mut behaviour, mut tests) = (None, String::new(), String::new());
        for patch in &patches {
            let after = patch.apply();
            match patch {
                patch if is_description(patch) => description = Some(after),
                patch if is_test(patch) => tests += &patch.added(),
                patch => behaviour += &patch.added(),
            }
        }
        assert!(!tests.is_empty(), "{protocol}: a test");
        let [before, after] =
            [before, &description.expect("a description")].map(|text| emitted(text).unwrap());
        let new: BTreeSet<_> = words(&after).difference(&words(&before)).copied().collect();
        assert!(!new.is_disjoint(&words(&behaviour)), "{protocol}: {new:?} have no behaviour");
    }
}

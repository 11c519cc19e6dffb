//! The pages of the documentation: marks of blocks of code, names in commands, links.

use std::path::{Path, PathBuf};

use super::REPOSITORY;

/// All pages: Markdown files outside of `target` and hidden folders.
fn markdown_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
        let is_ours = !["target", "node_modules"].contains(&name.as_str()) && !name.starts_with('.');
        if entry.file_type().unwrap().is_dir() && is_ours {
            markdown_files(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// The anchor that GitHub gives a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim_start_matches('#').trim().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        c => c.is_alphanumeric().then(|| c.to_ascii_lowercase()),
    });
    kept.collect()
}

/// Files of the repository with this ending, by their paths in it, without those that are built or fetched.
fn files(ending: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![PathBuf::from(REPOSITORY)];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
            let is_ours =
                !name.starts_with('.') && !["target", "node_modules", "fuzz"].contains(&name.as_str());
            if is_ours && entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if name.ends_with(ending) {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path.strip_prefix(REPOSITORY).unwrap().display().to_string(), text));
            }
        }
    }
    found
}

/// Above every block of code stands what shows that it works: `run: TEST` (or a file), a test that does what it says and
/// looks at the effect; `parsed`, its commands are compared with the command line and the lab's names; or `not here:
/// REASON`.
#[test]
fn every_block_of_code_has_a_mark() {
    let sources: String =
        [".rs", ".py", ".m"].into_iter().flat_map(files).map(|(_, text)| text + "\n").collect();
    let is_test = |name: &str| {
        let begins = ["fn ", "def ", "function "];
        begins.iter().any(|begin| sources.contains(&format!("{begin}{name}(")))
            || std::path::Path::new(REPOSITORY).join(name).is_file()
    };
    let mut faults = Vec::new();
    let mut blocks = 0;
    for (path, text) in files(".md") {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let mut is_open = false;
        for (at, _) in lines.iter().enumerate().filter(|(_, line)| line.starts_with("```")) {
            is_open = !is_open;
            if !is_open {
                continue;
            }
            blocks += 1;
            let above = at.checked_sub(1).map_or("", |above| lines[above]);
            let mark = above.strip_prefix("<!-- ").and_then(|mark| mark.strip_suffix(" -->"));
            let body: Vec<&str> =
                lines[at + 1..].iter().take_while(|line| !line.starts_with("```")).copied().collect();
            let commands = || body.iter().filter_map(|line| line.strip_prefix("$ "));
            let is_parsed = |command: &str| {
                ["dragoman ", "cargo run --release", "ros2 "].iter().any(|own| command.starts_with(own))
                    || command == "dragoman"
            };
            let is_right = match mark.and_then(|mark| mark.split_once(": ").or(Some((mark, "")))) {
                Some(("run", test)) => is_test(test),
                Some(("parsed", "")) => commands().any(is_parsed),
                Some(("not here", reason)) => !reason.is_empty(),
                _ => false,
            };
            if !is_right {
                faults.push(format!("{path}:{}: {above:?}", at + 1));
            }
        }
    }
    assert!(
        faults.is_empty() && blocks > 100,
        "{blocks} blocks; without a right mark:\n{}",
        faults.join("\n")
    );
}

/// Names in the documentation that the lab has only sometimes: each robot's and joint's own, those of other modes.
const SOMETIMES: [&str; 6] = [
    "/apolo/marvin/cmd_vel",
    "/ranger/learned_payload",
    "/player/cmd_vel",
    "/arm_2_joint/command",
    "/arm_2_joint/set_speed",
    "/arm_2_joint/relax",
];

/// A command of `ros2` that is copied from a page finds its topic or service, with its type.
#[test]
fn the_names_in_commands_of_ros_2_are_in_the_tables() {
    let tables: String = files(".md")
        .into_iter()
        .filter(|(path, _)| path.starts_with("docs/reference/"))
        .map(|(_, text)| text)
        .collect();
    let mut checked = 0;
    for (path, text) in files(".md") {
        for command in text.lines().map(str::trim).filter_map(|line| line.strip_prefix("$ ros2 ")) {
            let mut words = command.split('#').next().unwrap_or_default().split_whitespace();
            if !matches!(words.next(), Some("topic" | "service" | "action")) {
                continue;
            }
            let Some(name) = words.find(|word| word.starts_with('/')) else { continue };
            if SOMETIMES.contains(&name) {
                continue;
            }
            let row = match words.next().filter(|word| word.contains("/msg/") || word.contains("/srv/")) {
                Some(type_name) => format!("`{name}` | {type_name} |"),
                None => format!("`{name}`"),
            };
            assert!(tables.contains(&row), "{path}: {command}: the tables have no {row}");
            checked += 1;
        }
    }
    assert!(checked > 20, "{checked}");
}

/// A new user who copies a command from a page has to know how to get `dragoman`.
#[test]
fn pages_with_commands_say_how_to_get_the_command() {
    let folder = std::path::Path::new(REPOSITORY).join("docs");
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        let Some((above, _)) = text.split_once("\n$ dragoman ") else { continue };
        let is_said = above.contains("#the-command)") || above.contains("## The command");
        assert!(is_said, "{}: link commands.md#the-command above the first command", entry.path().display());
    }
}

#[test]
fn relative_links_have_a_target() {
    let mut files = Vec::new();
    markdown_files(Path::new(REPOSITORY), &mut files);
    let (mut checked, mut broken) = (0, Vec::new());
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link) {
            if link.contains("://") || link.contains(char::is_whitespace) {
                continue;
            }
            let (path, place) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { file.clone() } else { file.parent().unwrap().join(path) };
            let has_place = place.is_empty() || {
                let target = std::fs::read_to_string(&target).unwrap_or_default();
                target.lines().any(|line| line.starts_with('#') && anchor(line) == place)
            };
            checked += 1;
            if !target.exists() || !has_place {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
    }
    assert!(broken.is_empty() && checked > 100, "{checked} links; broken:\n{}", broken.join("\n"));
}

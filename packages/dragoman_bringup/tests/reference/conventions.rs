//! The packages: layers as in `docs/architecture.md`, and the map at the top of each `lib.rs`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::REPOSITORY;

/// The folders of `packages` with this file.
fn folders(file: &str) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(format!("{REPOSITORY}/packages")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path()).filter(|path| path.join(file).is_file());
    let mut packages: Vec<_> =
        paths.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path)).collect();
    packages.sort();
    packages
}

/// Those that are crates.
fn packages() -> Vec<(String, PathBuf)> {
    folders("Cargo.toml")
}

/// The layers of the picture, from the top. A row begins with the names of its packages.
fn layers() -> Vec<Vec<String>> {
    let page = std::fs::read_to_string(format!("{REPOSITORY}/docs/architecture.md")).unwrap();
    let (_, section) = page.split_once("\n## Packages\n").unwrap();
    let (_, picture) = section.split_once("```text\n").unwrap();
    let (picture, _) = picture.split_once("```").unwrap();
    let row = |line: &str| {
        line.split_whitespace().take_while(|word| word.starts_with("dragoman_")).map(str::to_owned).collect()
    };
    picture.lines().map(row).collect()
}

/// Our packages that a manifest names in sections that `counts` accepts.
fn dependencies(manifest: &str, counts: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut section = "";
    let mut found = BTreeSet::new();
    for line in manifest.lines() {
        if let Some(head) = line.strip_prefix('[') {
            section = head.trim_end_matches(']');
        } else if line.starts_with("dragoman_") && counts(section) {
            found.insert(line.split(['.', ' ', '=']).next().unwrap().to_owned());
        }
    }
    found
}

fn is_normal(section: &str) -> bool {
    section.ends_with("dependencies") && !section.ends_with("dev-dependencies")
}

#[test]
fn no_package_depends_on_one_beside_or_above_it() {
    let layers = layers();
    let packages = packages();
    let mut drawn: Vec<&String> = layers.iter().flatten().collect();
    drawn.sort();
    let all = folders("package.xml");
    assert_eq!(drawn, all.iter().map(|(name, _)| name).collect::<Vec<_>>(), "docs/architecture.md");
    let layer = |name: &str| layers.iter().position(|layer| layer.iter().any(|other| other == name));
    let mut arrows = 0;
    for (name, folder) in &packages {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        for dependency in dependencies(&manifest, is_normal) {
            // rustdds with patches, a folder of dragoman_ros.
            if dependency == "dragoman_rustdds" {
                assert_eq!(name, "dragoman_ros");
                continue;
            }
            arrows += 1;
            assert!(layer(&dependency).unwrap() > layer(name).unwrap(), "{name} depends on {dependency}");
        }
    }
    assert!(arrows > 30, "{arrows}");
}

#[test]
fn the_manifests_for_colcon_have_the_same_dependencies() {
    for (name, folder) in packages() {
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let ours: BTreeSet<String> = packages().into_iter().map(|(name, _)| name).collect();
        let wanted = dependencies(&manifest, is_normal);
        let package = std::fs::read_to_string(folder.join("package.xml")).unwrap();
        let given: BTreeSet<String> = package
            .lines()
            .filter_map(|line| line.trim().strip_prefix("<depend>")?.strip_suffix("</depend>"))
            .filter(|name| ours.contains(*name))
            .map(str::to_owned)
            .collect();
        let wanted: BTreeSet<String> = wanted.intersection(&ours).cloned().collect();
        assert_eq!(given, wanted, "{name}/package.xml");
    }
}

/// The rows of the map of a crate whose parts use only parts in rows below their own, from the top.
fn parts(lib: &str) -> Option<Vec<Vec<&str>>> {
    let (_, table) = lib.split_once("//! A part uses only parts in rows below its own:\n")?;
    let rows = table.lines().skip_while(|line| !line.starts_with("//! | --- ")).skip(1);
    let rows = rows.map_while(|line| line.strip_prefix("//! | ")?.split(" | ").next());
    Some(rows.map(|cell| cell.split('`').skip(1).step_by(2).collect()).collect())
}

/// The parts that follow `crate::`, also in braces.
fn used_parts(code: &str) -> Vec<&str> {
    let name = |path: &'_ str| path.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap().len();
    let mut used = Vec::new();
    for rest in code.split("crate::").skip(1) {
        let Some(list) = rest.strip_prefix('{') else {
            used.push(&rest[..name(rest)]);
            continue;
        };
        let (mut depth, mut begins) = (0, true);
        for (at, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => begins = true,
                _ if begins && !c.is_whitespace() => {
                    used.push(&list[at..at + name(&list[at..])]);
                    begins = false;
                }
                _ => {}
            }
        }
    }
    used
}

#[test]
fn the_parts_of_a_crate_use_only_parts_below_them() {
    let mut crates = 0;
    for (name, folder) in packages() {
        let src = folder.join("src");
        let Ok(lib) = std::fs::read_to_string(src.join("lib.rs")) else { continue };
        let Some(rows) = parts(&lib) else { continue };
        crates += 1;
        let row = |part: &str| rows.iter().position(|row| row.contains(&part));
        let mut files = Vec::new();
        sources(&src, &mut files);
        for file in files {
            let inside: Vec<_> = file.strip_prefix(&src).unwrap().to_str().unwrap().split('/').collect();
            let part = inside[0].trim_end_matches(".rs");
            if ["lib", "main"].contains(&part) {
                continue;
            }
            let own = row(part).unwrap_or_else(|| panic!("{name}: the map has no row for {part}"));
            let text = std::fs::read_to_string(&file).unwrap();
            let before_tests = text.split("mod tests {").next().unwrap();
            let code: String = code(before_tests).map(|(_, line)| format!("{line}\n")).collect();
            assert!(!code.contains(&"super::".repeat(inside.len())), "{}: begin at crate::", file.display());
            for used in used_parts(&code) {
                // What lib.rs exports is above all other parts.
                let is_below = row(used).map_or(own == 0, |row| row > own || used == part);
                assert!(is_below, "{}: {used} is not below {part}", file.display());
            }
        }
    }
    assert!(crates >= 2, "{crates}");
}

#[test]
fn the_map_of_each_crate_names_its_modules() {
    for (name, folder) in packages() {
        let root = ["src/lib.rs", "src/main.rs"].map(|file| folder.join(file));
        let root = root.iter().find(|path| path.is_file()).unwrap();
        let text = std::fs::read_to_string(root).unwrap();
        let map: String = text.lines().take_while(|line| line.starts_with("//!")).collect();
        let mut is_for_tests = false;
        let mut modules = 0;
        for line in text.lines() {
            let declared = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
            if let Some(module) = declared.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(';')) {
                modules += 1;
                let ways = ["`", ".rs`", "/`"].map(|end| format!("`{module}{end}"));
                let is_named = ways.iter().any(|way| map.contains(way));
                assert!(is_for_tests || is_named, "{}: the map lacks {module}", root.display());
            }
            is_for_tests = line == "#[cfg(test)]";
        }
        let files = std::fs::read_dir(folder.join("src")).unwrap().count();
        assert!(modules > 0 || files == 1, "{name}");
    }
}

/// Items that nodes must not use: the README of `dragoman_time` has the substitutes.
const FORBIDDEN: [&str; 24] = [
    "Instant::now",
    "SystemTime::now",
    ".elapsed()",
    "tokio::time",
    "tokio::spawn",
    "tokio::task",
    "tokio::net",
    "sync::watch",
    "futures_timer",
    "thread::sleep",
    "thread::spawn",
    "thread::Builder",
    "spawn_blocking",
    "HashMap",
    "HashSet",
    "RandomState",
    "new_v4",
    "Utc::now",
    "process::id",
    "env::var",
    "env::args",
    "temp_dir",
    "futures::select!",
    "block_in_place",
];

/// Files of `packages/*/src` that may use it, with the reason. A name that ends with a slash is a folder.
const EXCEPTIONS: [(&str, &str); 23] = [
    ("dragoman_time/src/", "the one place"),
    ("dragoman_io/src/net/", "the system's sockets"),
    ("dragoman_io/src/can/socketcan.rs", "a port of the system, with a thread of its own"),
    ("dragoman_ros/src/rcl.rs", "r2r only"),
    ("dragoman_ros/src/rcl/", "r2r only"),
    ("dragoman_ros/src/raw.rs", "r2r only: installed definitions"),
    ("dragoman_ros/src/startup.rs", "r2r only: the process starts itself again"),
    (
        "dragoman_ros/src/embedded/dds/network_writer.rs",
        "the network; a writer that keeps all blocks, as DDS defines",
    ),
    ("dragoman_ros/src/embedded/static_peers.rs", "the network: a thread of its socket"),
    ("dragoman_ros/src/distribution.rs", "the formats of messages are those of the process"),
    ("dragoman_ros/src/embedded/node.rs", "r2r's API: a map of topics, and `spin_once`"),
    ("dragoman_memory/src/lib.rs", "the memory of the process, which is no node's"),
    ("dragoman_bringup/src/fast.rs", "the terminal beside a simulation"),
    ("dragoman_bringup/src/fast/summary.rs", "the time of the simulation"),
    ("dragoman_console/src/node/topics.rs", "lets others have a turn, in real time only"),
    ("dragoman_tools/src/bridge/sniff.rs", "a command without ROS"),
    ("dragoman_tools/src/can.rs", "a command without ROS"),
    ("dragoman_tools/src/device/", "devices for other programs, on ports of the system"),
    ("dragoman_tools/src/station.rs", "a terminal and a joystick"),
    ("dragoman_tools/src/task/remote.rs", "reads standard input"),
    ("dragoman_tools/src/task.rs", "a command without ROS"),
    ("dragoman_tools/src/calibrate/measure.rs", "reads standard input"),
    ("dragoman_neobotix/src/program/same_programs.rs", "tests"),
];

/// The Rust files below a folder, without those of tests.
fn sources(folder: &std::path::Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && name != "tests" {
            sources(&path, found);
        } else if name.ends_with(".rs") && name != "tests.rs" && name != "testing.rs" {
            found.push(path);
        }
    }
}

/// The lines of a file before its tests, without comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let tests = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let code = text[..tests].lines().enumerate();
    code.map(|(number, line)| (number + 1, line.split("//").next().unwrap_or_default()))
}

#[test]
fn nodes_have_one_clock_and_one_source_of_random_numbers() {
    let mut wrong = Vec::new();
    let mut used = BTreeSet::new();
    for (name, folder) in packages() {
        let mut files = Vec::new();
        sources(&folder.join("src"), &mut files);
        for file in files {
            let inside = format!("{name}/{}", file.strip_prefix(&folder).unwrap().to_str().unwrap());
            let exception = EXCEPTIONS
                .iter()
                .find(|(place, _)| inside == *place || (place.ends_with('/') && inside.starts_with(place)));
            let text = std::fs::read_to_string(&file).unwrap();
            for (number, line) in code(&text) {
                let Some(found) = FORBIDDEN.iter().find(|word| line.contains(**word)) else { continue };
                match exception {
                    Some((place, _)) => {
                        used.insert(*place);
                    }
                    None => wrong.push(format!("{inside}:{number}: {found}")),
                }
            }
        }
    }
    assert!(wrong.is_empty(), "use dragoman_time (its README has a table):\n{}", wrong.join("\n"));
    let unused: Vec<_> = EXCEPTIONS.iter().filter(|(place, _)| !used.contains(place)).collect();
    assert!(unused.is_empty(), "no longer exceptions: {unused:?}");
}

#[test]
fn every_select_of_a_node_has_an_order() {
    let mut wrong = Vec::new();
    for (name, folder) in packages() {
        let mut files = Vec::new();
        sources(&folder.join("src"), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let lines: Vec<_> = code(&text).collect();
            for pair in lines.windows(2) {
                if pair[0].1.contains("tokio::select! {") && pair[1].1.trim() != "biased;" {
                    wrong.push(format!("{name}: {}:{}", file.display(), pair[0].0));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "without `biased;` the first branch depends on chance:\n{}", wrong.join("\n"));
}

#[test]
fn every_example_is_run_by_the_tests_and_named_in_the_readme() {
    let mut count = 0;
    for (name, folder) in packages() {
        let Ok(examples) = std::fs::read_dir(folder.join("examples")) else { continue };
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
        for example in examples.map(|entry| entry.unwrap().path()) {
            let example = example.file_stem().unwrap().to_str().unwrap();
            let target = format!("name = \"{example}\"\ntest = true\nharness = false\n");
            assert!(manifest.contains(&target), "{name}: Cargo.toml does not run the example {example}");
            assert!(readme.contains(example), "{name}: README.md does not name the example {example}");
            count += 1;
        }
    }
    assert!(count > 20, "{count}");
}

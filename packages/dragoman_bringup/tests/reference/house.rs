//! The packages: layers as in `docs/architecture.md`, and the map at the top of each `lib.rs`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::REPOSITORY;

/// The folders of `packages`.
fn packages() -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(format!("{REPOSITORY}/packages")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path()).filter(|path| path.join("Cargo.toml").is_file());
    let mut packages: Vec<_> =
        paths.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), path)).collect();
    packages.sort();
    packages
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
    assert_eq!(drawn, packages.iter().map(|(name, _)| name).collect::<Vec<_>>(), "docs/architecture.md");
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
        assert!(modules > 0, "{name}");
    }
}

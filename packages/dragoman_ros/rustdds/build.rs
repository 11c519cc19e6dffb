//! Takes the source of rustdds from cargo's registry and applies `patches/` to it, in order of their names.
//!
//! The library's source is not kept in this repository. A patch that does not apply stops the build: after an update of
//! rustdds, delete it if upstream contains it, else rebase it (README).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use diffy::patch_set::{FileOperation, ParseOptions, PatchSet};
use tinyjson::JsonValue;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=patches");
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap());
    let published = published(&manifest).join("src");
    let crate_root = PathBuf::from(env::var("OUT_DIR").unwrap());
    let patched = crate_root.join("src");
    // An earlier run may have created files that no patch creates now.
    if let Err(error) = fs::remove_dir_all(&patched) {
        assert_eq!(error.kind(), io::ErrorKind::NotFound, "{}: {error}", patched.display());
    }
    copy(&published, &patched).unwrap_or_else(|e| panic!("{} cannot be copied: {e}", published.display()));
    for patch in patches(&manifest.join("patches")) {
        if let Err(reason) = apply(&patch, &crate_root) {
            panic!("{} does not fit rustdds {VERSION}: {reason}", patch.display());
        }
    }
    adapt(&patched).unwrap();
}

/// The version in `Cargo.toml`.
const VERSION: &str = "0.15.1";

/// The patches in order of application.
fn patches(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut patches: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "patch"))
        .collect();
    patches.sort();
    patches
}

/// Applies one patch file, as `git format-patch` writes it, to the crate in `root`.
fn apply(patch: &Path, root: &Path) -> Result<(), String> {
    let text = fs::read_to_string(patch).map_err(|e| e.to_string())?;
    let mut changed = 0;
    for file in PatchSet::parse(&text, ParseOptions::gitdiff()) {
        let file = file.map_err(|e| e.to_string())?;
        let diff = file.patch().as_text().ok_or("a binary patch")?;
        let (path, before) = match file.operation().strip_prefix(1) {
            FileOperation::Create(path) => (path.into_owned(), String::new()),
            FileOperation::Modify { modified, .. } => {
                let path = modified.into_owned();
                let text = fs::read_to_string(root.join(&path)).map_err(|e| format!("{path}: {e}"))?;
                (path, text)
            }
            other => return Err(format!("{other:?}: only new and changed files are supported")),
        };
        let after = diffy::apply(&before, diff).map_err(|e| format!("{path}: {e}"))?;
        fs::write(root.join(&path), after).map_err(|e| format!("{path}: {e}"))?;
        changed += 1;
    }
    if changed == 0 {
        Err("it changes no file".to_owned())
    } else {
        Ok(())
    }
}

/// Makes the source a module that `src/lib.rs` includes: without its tests, which need further crates, without crate
/// attributes, and with macros found by path, which exported macros of an included file are not.
fn adapt(source: &Path) -> io::Result<()> {
    leave_out_tests(source)?;
    let result = source.join("dds/result.rs");
    let text = fs::read_to_string(&result)?
        .replace("#[cfg(feature = \"security\")]\n#[macro_export]", "#[macro_export]");
    let macros: Vec<&str> = text
        .split("#[macro_export]\nmacro_rules! ")
        .skip(1)
        .filter_map(|definition| definition.split_whitespace().next())
        .collect();
    let macros = macros.join(", ");
    fs::write(result, text.replace("#[macro_export]", "") + &format!("\npub(crate) use {{{macros}}};\n"))?;

    let root = fs::read_to_string(source.join("lib.rs"))?;
    let modules = root.find("mod polling;").expect("the first module of rustdds");
    fs::write(
        source.join("crate.rs"),
        format!("{}\npub(crate) use dds::result::{{{macros}}};\n", &root[modules..]),
    )
}

/// The folder of rustdds as published: in cargo's registry, or among vendored dependencies.
fn published(manifest: &Path) -> PathBuf {
    // Cargo downloads what is missing, and needs no network after `cargo fetch`.
    let metadata = metadata(manifest, &["--offline"]).or_else(|_| metadata(manifest, &[]));
    let metadata = metadata.unwrap_or_else(|reason| {
        panic!("the source of rustdds {VERSION} is missing; `cargo fetch` downloads it:\n{reason}")
    });
    folder(&metadata)
        .unwrap_or_else(|reason| panic!("rustdds {VERSION} is not found in `cargo metadata`: {reason}"))
}

/// What `cargo metadata` says about this workspace.
fn metadata(manifest: &Path, options: &[&str]) -> Result<String, String> {
    let output = Command::new(env::var("CARGO").unwrap())
        .args(["metadata", "--format-version", "1", "--locked"])
        .args(options)
        .arg("--manifest-path")
        .arg(manifest.join("Cargo.toml"))
        .output()
        .map_err(|error| format!("cargo does not start: {error}"))?;
    if output.status.success() {
        String::from_utf8(output.stdout).map_err(|error| error.to_string())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The folder of the manifest of rustdds.
fn folder(metadata: &str) -> Result<PathBuf, String> {
    type Object = HashMap<String, JsonValue>;
    fn text<'a>(object: &'a Object, key: &str) -> Option<&'a str> {
        object.get(key)?.get::<String>().map(String::as_str)
    }
    let metadata: JsonValue = metadata.parse().map_err(|error| format!("invalid JSON: {error}"))?;
    let packages = metadata.get::<Object>().and_then(|root| root.get("packages")?.get::<Vec<JsonValue>>());
    let manifest = packages
        .ok_or("no list of packages")?
        .iter()
        .filter_map(|package| package.get::<Object>())
        .find(|package| text(package, "name") == Some("rustdds") && text(package, "version") == Some(VERSION))
        .and_then(|package| text(package, "manifest_path"))
        .ok_or("it is not one of the packages")?;
    Ok(Path::new(manifest).parent().ok_or("its manifest has no folder")?.to_owned())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            // Not `fs::copy`: published files may be read-only.
            fs::write(target, fs::read(entry.path())?)?;
        }
    }
    Ok(())
}

fn leave_out_tests(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            leave_out_tests(&path)?;
        } else {
            let text = fs::read_to_string(&path)?;
            if text.contains("#[cfg(test)]") {
                fs::write(&path, text.replace("#[cfg(test)]", "#[cfg(any())]"))?;
            }
        }
    }
    Ok(())
}

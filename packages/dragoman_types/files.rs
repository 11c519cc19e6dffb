//! Files below folders, for this build script and that of `dragoman_console`.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// All files below `folders` by their path in it, with `/`. Files of later folders replace those of earlier ones.
pub(crate) fn files(folders: &[PathBuf]) -> Result<BTreeMap<String, PathBuf>, Box<dyn Error>> {
    let mut found = BTreeMap::new();
    for folder in folders {
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut open = vec![folder.clone()];
        while let Some(current) = open.pop() {
            if !current.is_dir() {
                continue;
            }
            for entry in fs::read_dir(&current)? {
                let path = entry?.path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    found.insert(name(folder, &path)?, path);
                }
            }
        }
    }
    Ok(found)
}

fn name(folder: &Path, file: &Path) -> Result<String, Box<dyn Error>> {
    let parts = file.strip_prefix(folder)?.components();
    let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
    Ok(parts.ok_or_else(|| format!("{} is not UTF-8", file.display()))?.join("/"))
}

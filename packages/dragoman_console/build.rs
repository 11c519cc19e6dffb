//! Writes to `$OUT_DIR`: `page.rs`, the files of the web page, and `urdf.rs`, the descriptions.

#[path = "../dragoman_types/files.rs"]
mod files;

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::fmt::Write;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use std::{env, fs};

use files::files;

fn main() -> Result<(), Box<dyn Error>> {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    fs::write(out.join("page.rs"), page(&files(&[manifest.join("page")])?)?)?;
    fs::write(out.join("urdf.rs"), urdf(&files(&[manifest.join("../../urdf")])?)?)?;
    Ok(())
}

/// Names and contents of descriptions, sorted by name.
fn urdf(files: &BTreeMap<String, PathBuf>) -> Result<String, Box<dyn Error>> {
    let mut out = String::from("const DESCRIPTIONS: &[(&str, &[u8])] = &[\n");
    for (name, path) in files.iter().filter(|(name, _)| name.ends_with(".urdf")) {
        writeln!(out, "    ({name:?}, include_bytes!({path:?})),")?;
    }
    out.push_str("];\n");
    Ok(out)
}

/// Path, ETag and contents, sorted by path.
fn page(files: &BTreeMap<String, PathBuf>) -> Result<String, Box<dyn Error>> {
    let mut out = String::from("const FILES: &[(&str, &str, &[u8])] = &[\n");
    for (name, path) in files {
        let mut hasher = DefaultHasher::new();
        fs::read(path)?.hash(&mut hasher);
        let tag = format!("\"{:016x}\"", hasher.finish());
        writeln!(out, "    ({name:?}, {tag:?}, include_bytes!({path:?})),")?;
    }
    out.push_str("];\n");
    Ok(out)
}

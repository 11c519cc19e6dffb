//! Writes to `$OUT_DIR`: `interfaces.rs`, the interface definitions by name, and `every_type.rs`, the types of
//! `dragoman_ros` for tests.

mod files;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write;
use std::path::PathBuf;
use std::{env, fs};

use files::files;

fn main() -> Result<(), Box<dyn Error>> {
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    println!("cargo::rerun-if-changed=build.rs");
    let standard = ["../dragoman_ros/interfaces", "../../msg", "../dragoman_ros/interfaces_at_run_time"];
    let jazzy = files(&standard.map(|folder| manifest.join(folder)))?;
    fs::write(out.join("every_type.rs"), every_type(&jazzy)?)?;
    let mut text = interfaces("JAZZY", &jazzy)?;
    for name in ["humble", "kilted", "lyrical"] {
        let own = files(&[manifest.join(format!("../dragoman_ros/interfaces_{name}"))])?;
        text.push_str(&interfaces(&name.to_uppercase(), &own)?);
    }
    fs::write(out.join("interfaces.rs"), text)?;
    Ok(())
}

/// `package/kind/Name` and the text, sorted by name.
fn interfaces(table: &str, files: &BTreeMap<String, PathBuf>) -> Result<String, Box<dyn Error>> {
    let mut by_name = BTreeMap::new();
    for (name, path) in files {
        let Some((stem, extension)) = name.rsplit_once('.') else { continue };
        if ["msg", "srv", "action"]
            .iter()
            .any(|kind| *kind == extension && stem.contains(&format!("/{kind}/")))
        {
            by_name.insert(stem, path);
        }
    }
    let mut out = format!("const {table}: &[(&str, &str)] = &[\n");
    for (name, path) in by_name {
        writeln!(out, "    ({name:?}, include_str!({path:?})),")?;
    }
    out.push_str("];\n");
    Ok(out)
}

/// A macro that calls another one with the path and the name of every type of `dragoman_ros`.
fn every_type(files: &BTreeMap<String, PathBuf>) -> Result<String, Box<dyn Error>> {
    let mut out =
        String::from("#[doc(hidden)]\n#[macro_export]\nmacro_rules! every_type { ($check:ident) => {\n");
    for name in files.keys().filter(|name| !name.starts_with("rosapi_msgs/")) {
        let Some((stem, kind)) = name.rsplit_once('.') else { continue };
        let parts: &[&str] = match kind {
            "msg" => &[""],
            "srv" => &["Request", "Response"],
            "action" => &["Goal", "Result", "Feedback"],
            _ => continue,
        };
        for part in parts {
            let path = stem.replace('/', "::");
            if part.is_empty() {
                writeln!(out, "    $check!(dragoman_ros::{path}, {stem:?});")?;
            } else {
                writeln!(out, "    $check!(dragoman_ros::{path}::{part}, \"{stem}_{part}\");")?;
            }
        }
    }
    out.push_str("}; }\n");
    Ok(out)
}

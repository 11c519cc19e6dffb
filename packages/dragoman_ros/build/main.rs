//! Generates `$OUT_DIR/interfaces.rs` from the interface definitions in `msg/` and `interfaces/`, which are Jazzy's, and from
//! those that are different in other distributions, in `interfaces_humble/`, `interfaces_kilted/` and `interfaces_lyrical/`. Of
//! those in `interfaces_at_run_time/` only the hashes are built in: their messages are converted without generated code.
//!
//! `roslibrust_codegen` parses the definitions and `hash.rs` computes their type hashes; `emit.rs` writes Rust in the
//! form of r2r, so that node code compiles with either. `formats.rs` adds the formats of other distributions, and
//! `definitions.rs` the texts for recorders.

mod definitions;
mod emit;
mod formats;
mod hash;
mod literal;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use roslibrust_codegen::{MessageFile, ServiceFile};

/// Messages, including those from `.action` files, and services.
type Definitions = (Vec<MessageFile>, Vec<ServiceFile>);

/// A distribution with other formats than Jazzy.
struct Distribution {
    /// Its variant of the crate's `Distribution`.
    variant: &'static str,
    /// Whether it is later than Jazzy: structures have the fields that it has added.
    is_later: bool,
    definitions: Definitions,
}

/// Variant of `Distribution`, whether it is later than Jazzy, and the folders of definitions that replace Jazzy's.
const OTHERS: [(&str, bool, &[&str]); 3] = [
    ("Humble", false, &["interfaces_humble"]),
    ("Kilted", true, &["interfaces_kilted"]),
    ("Lyrical", true, &["interfaces_kilted", "interfaces_lyrical"]),
];

fn main() -> Result<(), Box<dyn Error>> {
    choose_fields();
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let roots = [manifest.join("interfaces"), manifest.join("../../msg")];
    // colcon would mistake the staged packages for packages of its workspace.
    fs::write(out.join("COLCON_IGNORE"), "")?;
    let jazzy = read(&roots, &out.join("packages"))?;
    // Definitions of later folders replace those of earlier ones.
    let announced = [&roots[..], &[manifest.join("interfaces_at_run_time")]].concat();
    let announced = read(&announced, &out.join("packages_announced"))?;
    let mut others = Vec::new();
    for (variant, is_later, folders) in OTHERS {
        let own: Vec<PathBuf> = folders.iter().map(|folder| manifest.join(folder)).collect();
        let definitions = read(&[&roots[..], &own].concat(), &out.join(format!("packages_{variant}")))?;
        others.push(Distribution { variant, is_later, definitions });
    }
    fs::write(out.join("interfaces.rs"), emit::interfaces(&jazzy, &others, &announced)?)?;
    Ok(())
}

/// Which fields the messages have that not every distribution has. The embedded implementation has all of them; r2r
/// generates the messages of the sourced ROS.
fn choose_fields() {
    println!("cargo::rerun-if-env-changed=ROS_DISTRO");
    let name = env::var("ROS_DISTRO").unwrap_or_default();
    let of_r2r = env::var_os("CARGO_FEATURE_R2R").is_some();
    let is_humble = name == "humble";
    let is_lyrical = ["lyrical", "rolling"].contains(&name.as_str());
    for (cfg, holds) in [
        ("rcl_of_humble", of_r2r && is_humble),
        ("rcl_of_lyrical", of_r2r && is_lyrical),
        ("fields_of_kilted", !of_r2r || name == "kilted" || is_lyrical),
        ("fields_of_lyrical", !of_r2r || is_lyrical),
    ] {
        println!("cargo::rustc-check-cfg=cfg({cfg})");
        if holds {
            println!("cargo::rustc-cfg={cfg}");
        }
    }
}

/// Parses the packages below `roots`; `staging` is the folder for copies.
fn read(roots: &[PathBuf], staging: &Path) -> Result<Definitions, Box<dyn Error>> {
    if staging.exists() {
        fs::remove_dir_all(staging)?;
    }
    for root in roots {
        println!("cargo::rerun-if-changed={}", root.display());
        stage(root, staging)?;
    }
    let (mut messages, services, actions) =
        roslibrust_codegen::find_and_parse_ros_messages(&[staging.to_owned()])?;
    // The messages that the parser derives from actions are ROS 1's; in ROS 2 they have other names and contents.
    messages.retain(|message| message.path.extension().is_some_and(|extension| extension == "msg"));
    for action in actions {
        let parts =
            [("Goal", action.goal_type), ("Result", action.result_type), ("Feedback", action.feedback_type)];
        for (part, mut message) in parts {
            message.name = format!("{}_{part}", action.name);
            messages.push(message);
        }
    }
    Ok(roslibrust_codegen::resolve_dependency_graph(messages, services)?)
}

/// Copies the packages below `root` to `staging`, each with the manifest that the parser needs. The standard packages
/// are kept without manifests, because colcon would otherwise build them.
fn stage(root: &Path, staging: &Path) -> Result<(), Box<dyn Error>> {
    for package in fs::read_dir(root)? {
        let package = package?.path();
        let Some(name) = package.file_name().and_then(|n| n.to_str()).filter(|_| package.is_dir()) else {
            continue;
        };
        let target = staging.join(name);
        for kind in ["msg", "srv", "action"] {
            let source = package.join(kind);
            if !source.is_dir() {
                continue;
            }
            fs::create_dir_all(target.join(kind))?;
            for file in fs::read_dir(&source)? {
                let file = file?.path();
                println!("cargo::rerun-if-changed={}", file.display());
                if let Some(file_name) = file.file_name() {
                    fs::copy(&file, target.join(kind).join(file_name))?;
                }
            }
        }
        if target.is_dir() {
            let manifest = format!(
                "<package format=\"3\"><name>{name}</name><version>0.0.0</version>\
                 <buildtool_depend>ament_cmake</buildtool_depend><export><build_type>ament_cmake</build_type></export></package>"
            );
            fs::write(target.join("package.xml"), manifest)?;
        }
    }
    Ok(())
}

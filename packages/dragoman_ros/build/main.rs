//! Generates `$OUT_DIR/interfaces.rs` from the interface definitions in `msg/` and `interfaces/`, and Humble's
//! different formats from those in `interfaces_humble/`. Of those in `interfaces_at_run_time/` only the hashes are built in:
//! their messages are converted without generated code.
//!
//! `roslibrust_codegen` parses the definitions and `hash.rs` computes their type hashes; `emit.rs` writes Rust in the
//! form of r2r, so that node code compiles with either. `humble.rs` adds Humble's formats.

mod emit;
mod hash;
mod humble;
mod literal;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use roslibrust_codegen::{MessageFile, ServiceFile};

/// Messages, including those from `.action` files, and services.
type Definitions = (Vec<MessageFile>, Vec<ServiceFile>);

fn main() -> Result<(), Box<dyn Error>> {
    choose_rcl();
    let manifest = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let roots = [manifest.join("interfaces"), manifest.join("../../msg")];
    // colcon would mistake the staged packages for packages of its workspace.
    fs::write(out.join("COLCON_IGNORE"), "")?;
    let jazzy = read(&roots, &out.join("packages"))?;
    // Definitions of later folders replace those of earlier ones.
    let announced = [&roots[..], &[manifest.join("interfaces_at_run_time")]].concat();
    let announced = read(&announced, &out.join("packages_announced"))?;
    let [standard, ours] = roots;
    let roots_of_humble = [standard, manifest.join("interfaces_humble"), ours];
    let humble = read(&roots_of_humble, &out.join("packages_humble"))?;
    fs::write(out.join("interfaces.rs"), emit::interfaces(&jazzy, &humble, &announced)?)?;
    Ok(())
}

/// r2r generates the messages of the sourced ROS. `cfg(rcl_of_humble)`: they are Humble's.
fn choose_rcl() {
    println!("cargo::rustc-check-cfg=cfg(rcl_of_humble)");
    println!("cargo::rerun-if-env-changed=ROS_DISTRO");
    let is_humble = env::var("ROS_DISTRO").is_ok_and(|name| name == "humble");
    if is_humble && env::var_os("CARGO_FEATURE_R2R").is_some() {
        println!("cargo::rustc-cfg=rcl_of_humble");
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

//! Takes the source of rustdds from cargo's registry and mends what Dragoman cannot do without, until a release has it.
//!
//! A mend replaces one place. Whoever updates rustdds deletes those that upstream has by then: the build says which.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

struct Mend {
    file: &'static str,
    before: &'static str,
    after: &'static str,
}

const MENDS: [Mend; 3] = [
    // An `Option` is written with a byte before it that says whether there is something. Fragments of an answer, whose inline
    // QoS names the request, were therefore a byte too long, and no reader took them: no answer of more than a datagram arrived.
    Mend {
        file: "messages/submessages/data_frag.rs",
        before: "writer.write_value(&self.inline_qos)?;",
        after: "writer.write_value(self.inline_qos.as_ref().unwrap())?;",
    },
    // A process that is stopped and continued (Ctrl-Z and `fg`) gets EINTR from its waits. Both event loops ended with it.
    Mend {
        file: "rtps/dp_event_loop.rs",
        before: "Err(e) => {\n          error!(\"dp_event_loop poll failed",
        after: "Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,\n        Err(e) => {\n          error!(\"dp_event_loop poll failed",
    },
    Mend {
        file: "discovery/discovery.rs",
        before: "Err(e) => {\n          error!(\"Failed in waiting of poll in discovery.",
        after: "Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,\n        Err(e) => {\n          error!(\"Failed in waiting of poll in discovery.",
    },
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let published = published().join("src");
    let mended = PathBuf::from(env::var("OUT_DIR").unwrap()).join("src");
    copy(&published, &mended).unwrap_or_else(|e| panic!("{} cannot be copied: {e}", published.display()));
    for Mend { file, before, after } in MENDS {
        let path = mended.join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("rustdds has no {file}: {e}"));
        assert_eq!(text.matches(before).count(), 1, "rustdds' {file} has not one place like this:\n{before}");
        fs::write(&path, text.replace(before, after)).unwrap();
    }
    write_root(&mended).unwrap();
}

/// The root module as `src/lib.rs` includes it: without the attributes of a crate, and with macros that are found by path, as
/// exported ones of an included file are not.
fn write_root(source: &Path) -> io::Result<()> {
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

/// Where cargo keeps rustdds as published: in its registry's folder, or where the dependencies are vendored.
fn published() -> PathBuf {
    let metadata = Command::new(env::var("CARGO").unwrap())
        .args(["metadata", "--format-version", "1", "--locked", "--manifest-path"])
        .arg(PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap()).join("Cargo.toml"))
        .output()
        .expect("cargo runs");
    let told = String::from_utf8_lossy(&metadata.stderr);
    assert!(
        metadata.status.success(),
        "the source of rustdds is not there; `cargo fetch` brings it:\n{told}"
    );
    let metadata = String::from_utf8(metadata.stdout).unwrap();
    let (_, package) =
        metadata.split_once(r#"{"name":"rustdds","version":"0.15.1","#).expect("cargo knows rustdds");
    let (_, manifest) = package.split_once(r#""manifest_path":""#).unwrap();
    let (manifest, _) = manifest.split_once('"').unwrap();
    PathBuf::from(manifest.replace(r"\\", r"\")).parent().unwrap().to_owned()
}

/// The files without their tests, which need crates of their own.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::write(target, fs::read_to_string(entry.path())?.replace("#[cfg(test)]", "#[cfg(any())]"))?;
        }
    }
    Ok(())
}

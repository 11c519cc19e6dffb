//! Generates `$OUT_DIR/codes.rs` and `$OUT_DIR/telegrams.rs` from the description of PlatformCtrl's protocol.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use dragoman_protocol::{Protocol, protocols, rust};

fn main() -> Result<(), Box<dyn Error>> {
    // The descriptions are part of dragoman_protocol: cargo runs this again when they change.
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let protocol = Protocol::read(protocols::NEOBOTIX)?;
    fs::write(out.join("codes.rs"), rust::codes(&protocol))?;
    // A line of the log has a number that is not on the wire; the two large replies are boxed.
    let telegrams = rust::telegrams(&protocol, &["queue_entry"], &["status", "debug_data"])?;
    fs::write(out.join("telegrams.rs"), telegrams)?;
    Ok(())
}

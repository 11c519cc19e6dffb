//! Makes `$OUT_DIR/arm31.rs` of the description of the 31-byte protocol.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use dragoman_protocol::{Protocol, protocols, rust};

fn main() -> Result<(), Box<dyn Error>> {
    // The descriptions are part of dragoman_protocol: cargo runs this again when they change.
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("arm31.rs"), rust::requests(&Protocol::read(protocols::ARM31)?)?)?;
    Ok(())
}

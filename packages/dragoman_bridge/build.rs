//! Generates Rust from descriptions in `$OUT_DIR`: wire types, and the rows of services.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use dragoman_protocol::{Protocol, protocols, rust};

fn main() -> Result<(), Box<dyn Error>> {
    // The descriptions are part of dragoman_protocol: cargo runs this again when they change.
    println!("cargo::rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::write(out.join("arm31.rs"), rust::requests(&Protocol::read(protocols::ARM31)?)?)?;
    let apolo = Protocol::read(protocols::APOLO)?;
    fs::write(out.join("apolo.rs"), rust::requests(&apolo)? + &rust::answers(&apolo)?)?;
    fs::write(out.join("apolo_services.rs"), rust::services(&apolo)?)?;
    let neobotix = Protocol::read(protocols::NEOBOTIX)?;
    fs::write(out.join("neobotix_services.rs"), rust::body_services(&neobotix)?)?;
    // Written by hand: a device is one value in an address, and the cells of a tile are compressed.
    let others = [("address", "super::Address"), ("map_data", "super::MapData")];
    fs::write(out.join("player.rs"), rust::interfaces(&Protocol::read(protocols::PLAYER)?, &others)?)?;
    Ok(())
}

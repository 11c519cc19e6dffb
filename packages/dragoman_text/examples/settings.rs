//! Reads settings in YAML: what is unknown is left out with a note, what is misspelt is an error.
//!
//!     cargo run -p dragoman_text --example settings

use std::error::Error;

use dragoman_text::yaml;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Settings {
    port: u16,
    robot: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (settings, notes) = yaml::lenient::<Settings>("port: 5031\nrobot: ranger\ncolour: red\n")?;
    println!("port {} for {}", settings.port, settings.robot);
    notes.iter().for_each(|note| println!("note: {note}"));
    if let Err(error) = yaml::lenient::<Settings>("prot: 5031\nrobot: ranger\n") {
        println!("error: {error}");
    }
    Ok(())
}

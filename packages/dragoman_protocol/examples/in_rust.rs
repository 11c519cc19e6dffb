//! Generates Rust from a description, as a build script does.
//!
//!     cargo run -p dragoman_protocol --example in_rust

use std::error::Error;

use dragoman_protocol::{Protocol, rust};

const LAMP: &str = "
protocol: lamp
title: A lamp's protocol
source: its manual, page 3
link: { udp: 4000 }
frame:
  cut: { datagram: 12 }
  fields: [{ name: letter, type: 'text[1]', is: code }, { name: data, is: body }]
messages:
  - { name: dim, code: d, role: start, service: set_brightness, meaning: set the brightness, fields: [{ name: level, type: f32, unit: cd }], answer: echo }
  - { name: blow_out, code: b, meaning: switch off, answer: echo }
";

fn main() -> Result<(), Box<dyn Error>> {
    println!("{}", rust::requests(&Protocol::read(LAMP)?)?);
    Ok(())
}

//! Prints a summary of a description, one line per message.
//!
//!     cargo run -p dragoman_protocol --example describe -- packages/dragoman_protocol/machines/create2.yaml

use std::error::Error;

use dragoman_protocol::{Message, Protocol, protocols};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().find(|argument| argument.ends_with(".yaml"));
    let text = file.map_or_else(|| Ok(protocols::ARM31.to_owned()), std::fs::read_to_string)?;
    let protocol = Protocol::read(&text)?;
    println!("{} ({:?})", protocol.title, protocol.link);
    protocol.messages.iter().for_each(|message| show("", message));
    for interface in &protocol.interfaces {
        println!("{} {}: {}", interface.code, interface.name, interface.meaning);
        interface.messages.iter().for_each(|message| show("  ", message));
    }
    Ok(())
}

fn show(indent: &str, message: &Message) {
    let fields: Vec<String> =
        message.fields.iter().map(|field| format!("{}: {}", field.name, field.kind())).collect();
    println!("{indent}{:?} {}({}): {}", message.code, message.name, fields.join(", "), message.meaning);
}

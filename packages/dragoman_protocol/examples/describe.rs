//! Prints what a description says, in a few words per message.
//!
//!     cargo run -p dragoman_protocol --example describe -- packages/dragoman_protocol/strangers/create2.yaml

use std::error::Error;

use dragoman_protocol::{Message, Protocol};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("which description?")?;
    let protocol = Protocol::read(&std::fs::read_to_string(&path)?)?;
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

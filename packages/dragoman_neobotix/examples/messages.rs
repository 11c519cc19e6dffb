//! Messages of a client on TCP port 10000: their bytes and their content.
//!
//!     cargo run -p dragoman_neobotix --example messages

use std::error::Error;

use dragoman_neobotix::wire::{Command, Decoder, Framing, Message};

fn main() -> Result<(), Box<dyn Error>> {
    let mut stream = Vec::new();
    for command in [Command::ConnectToPltf, Command::InitPltf, Command::StopUltrasonic] {
        let bytes = command.encode(Framing::Header)?;
        println!("{command:?}: {bytes:02x?}");
        stream.extend(bytes);
    }
    // TCP may split it anywhere.
    let mut decoder = Decoder::<Command>::default();
    for part in stream.chunks(3) {
        decoder.push(part);
        while let Some(received) = decoder.next()? {
            println!("received: {:?}", received.message?);
        }
    }
    Ok(())
}

//! Frames of an arm's CAN bus in words.
//!
//!     cargo run -p dragoman_arm --example can_frames

use std::error::Error;

use dragoman_arm::describe::describe;
use dragoman_io::can::Frame;

fn main() -> Result<(), Box<dyn Error>> {
    for text in [
        "000#0100",
        "080#",
        "765#05",
        "365#50580000",
        "2E5#5058000000000000",
        "0E5#3081110000000000",
        "7FF#00",
    ] {
        let frame: Frame = text.parse()?;
        let description = describe(&frame);
        match description.service {
            Some(service) => println!("{frame}: {service:?}: {}", description.text),
            None => println!("{frame}: not CANopen"),
        }
    }
    Ok(())
}

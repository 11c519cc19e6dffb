//! Decodes the feedback of a Kobuki from the bytes of its serial line.
//!
//!     cargo run -p dragoman_base --example feedback

use std::error::Error;

use dragoman_base::kobuki::wire::{Decoder, Feedback, FirmwareVersion, Version, frame};

fn main() -> Result<(), Box<dyn Error>> {
    // Noise, then a frame with the version of the firmware, then one that is damaged.
    let mut line = vec![0x00, 0xaa, 0x17];
    let version = Feedback::FirmwareVersion(FirmwareVersion(Version::new(1, 2, 0)));
    for damage in [0, 1] {
        frame::encode(&mut line, |payload| version.encode(payload))?;
        if let Some(checksum) = line.last_mut() {
            *checksum ^= damage;
        }
    }
    let mut decoder = Decoder::new();
    let mut bytes = line.as_slice();
    while let Some(payload) = decoder.next(&mut bytes) {
        for part in Feedback::read(payload) {
            match part {
                Ok(feedback) => println!("{feedback}"),
                Err(error) => println!("{error}"),
            }
        }
    }
    println!("{:?}", decoder.statistics());
    Ok(())
}

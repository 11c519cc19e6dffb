//! Interprets the input as a recording in MCAP, from its beginning and from its summary. Checks: no panic; what is cut off
//! gives the first messages of the whole.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use mcap::records::Record;

// The reader alone: its package needs ROS.
#[path = "../../packages/dragoman_tools/src/bag/chunk.rs"]
mod chunk;
#[path = "../../packages/dragoman_tools/src/bag/layout.rs"]
mod layout;
#[path = "../../packages/dragoman_tools/src/bag/records.rs"]
mod records;

/// Times and data of the messages, and whether the end was reached without an error.
fn messages(mut input: &[u8]) -> (Vec<(u64, Vec<u8>)>, bool) {
    let (mut found, mut records) = (Vec::new(), records::Records::default());
    loop {
        let read = records.read_some(&mut input, |record| {
            if let Record::Message { header, data } = record {
                found.push((header.log_time, data.into_owned()));
            }
        });
        match read {
            Ok(true) => {}
            Ok(false) => return (found, true),
            Err(_) => return (found, false),
        }
    }
}

fuzz_target!(|input: &[u8]| {
    let (whole, is_good) = messages(input);
    for record in records::summary(&mut Cursor::new(input)).unwrap_or_default() {
        if let Record::ChunkIndex(index) = record {
            chunk::is_known(&index.compression);
        }
    }
    // In a chunk that is damaged, another part may be readable.
    if is_good {
        let (cut, _) = messages(input.get(..input.len() / 2).unwrap_or_default());
        assert!(whole.starts_with(&cut));
    }
});

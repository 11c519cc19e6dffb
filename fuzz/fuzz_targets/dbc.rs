//! Reads the input as a DBC file, and makes a description of each of its nodes. Checks: no panic, and each description is one.

#![no_main]

use dragoman_protocol::codec::{Codec, Values};
use dragoman_protocol::dbc::{Dbc, Options, describe};
use dragoman_protocol::model::{Code, Protocol};
use libfuzzer_sys::fuzz_target;

/// Nodes that are tried.
const MAX_NODES: usize = 4;

fuzz_target!(|input: &[u8]| {
    let Ok(dbc) = Dbc::read(input) else { return };
    let nodes = dbc.nodes.iter().map(|(name, _)| Some(name.as_str()));
    for machine in nodes.take(MAX_NODES).chain([None]) {
        let Ok(imported) = describe(&dbc, Options { name: "bus", file: "bus.dbc", machine }) else { continue };
        let protocol = Protocol::read(&imported.text).expect("what was made is a description");
        let codec = Codec::new(protocol).expect("what was made can be carried out");
        let mut values = Values::default();
        for message in &codec.protocol().messages {
            let Code::Number(id) = message.code else { continue };
            for size in [0, 4, 8] {
                let frame = input.get(..size).unwrap_or(&[0; 8]);
                let decoded = codec.decode_frame(Some(id), frame, message.from, None, &mut values);
                if let Ok(decoded) = decoded {
                    let mut again = Vec::new();
                    let _ = codec.encode(decoded, &mut values, &mut again);
                }
            }
        }
    }
});

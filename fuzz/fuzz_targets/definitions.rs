//! The text of an interface definition, and bytes as a message of it.
//!
//! Input: the text, a zero byte, the message. Checked: no panic; JSON and CBOR agree whether the bytes are a message.

#![no_main]

use std::borrow::Cow;

use dragoman_console::cbor;
use dragoman_types::json;
use dragoman_types::schema::{Builtin, Source, Types};
use libfuzzer_sys::fuzz_target;

struct Given(String);

impl Source for Given {
    fn definition(&self, package: &str, _kind: &str, _name: &str) -> Option<Cow<'static, str>> {
        (package == "given").then(|| self.0.clone().into())
    }
}

fuzz_target!(|input: &[u8]| {
    let end = input.iter().position(|byte| *byte == 0).unwrap_or(input.len());
    let (text, message) = input.split_at(end);
    let text = String::from_utf8_lossy(text).into_owned();
    let types = Types::new(vec![Box::new(Given(text)), Box::new(Builtin::default())]);
    let _ = types.service("given/Thing");
    let _ = types.action("given/Thing");
    let Ok(structure) = types.message("given/Thing") else { return };
    let data = [&[0, 1, 0, 0], message.get(1..).unwrap_or_default()].concat();
    let text = json::from_cdr(&structure, &data);
    assert_eq!(text.is_ok(), cbor::from_cdr(&structure, &data).is_ok());
    let _ = json::default_cdr(&structure);
});

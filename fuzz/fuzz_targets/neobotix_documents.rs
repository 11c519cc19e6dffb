//! Texts as Neobotix' maps, roadmaps, programs and parameter files.
//!
//! Input: the text. Checked: no panic, errors have a line, and a parsed document, once written, parses to the same; the
//! values of a parameter file are in range.

#![no_main]

use std::fmt::Debug;

use dragoman_bridge::neobotix::documents::{Document, Map, Program, Roadmap};
use dragoman_bridge::neobotix::parameters::{IniFile, Parameters};
use libfuzzer_sys::fuzz_target;

fn run<T: Document + PartialEq + Debug>(input: &[u8]) {
    match T::parse(input) {
        Ok(document) => {
            for error in document.check() {
                assert!(error.position.line > 0, "{error}");
            }
            let text = document.write().expect("what was read");
            assert_eq!(T::parse(text.as_bytes()).as_ref(), Ok(&document), "{text}");
        }
        Err(error) => assert!(error.position.line > 0, "{error}"),
    }
}

fuzz_target!(|input: &[u8]| {
    run::<Map>(input);
    run::<Roadmap>(input);
    run::<Program>(input);
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Ok(file) = IniFile::parse(text) else { return };
    for watchdog in file.watchdogs().flatten() {
        assert!((0.01..=60.0).contains(&watchdog.1.as_secs_f64()));
    }
    let mut parameters = Parameters::default();
    if parameters.read_ini(&file).is_ok() {
        for (declaration, value) in parameters.iter() {
            declaration.check(value).expect("a value in range");
        }
    }
});

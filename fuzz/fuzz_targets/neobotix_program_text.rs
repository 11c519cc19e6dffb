//! Texts as programs of a platform, in the readable form or XML.
//!
//! Input: the text. Checked: no panic, errors have a line; a program that is read is the same after text and XML, and
//! its text does not change any more.

#![no_main]

use dragoman_bridge::neobotix::documents::ProgramSource;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let source = match ProgramSource::parse(input) {
        Ok(source) => source,
        Err(errors) => {
            assert!(!errors.is_empty() && errors.iter().all(|error| error.position.line > 0), "{errors:?}");
            return;
        }
    };
    let (_, errors) = source.program();
    assert!(errors.iter().all(|error| error.position.line > 0), "{errors:?}");
    source.step_lines();
    let text = source.to_text();
    let again = ProgramSource::parse(text.as_bytes()).expect("what was written");
    assert_eq!(again, source, "{text}");
    assert_eq!(again.to_text(), text);
    // Only a document at the limits of its size cannot be written.
    if let Ok(xml) = source.to_xml() {
        assert_eq!(ProgramSource::parse(xml.as_bytes()).expect("what was written"), source, "{xml}");
    }
});

//! Text as a configuration file of Player's server, which includes itself. Checked: no panic, an end, and that errors
//! print; all values can be read, and then none is unread.

#![no_main]

use dragoman_bridge::player::server::config_file::ConfigFile;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let (first, second) = text.split_once('\0').unwrap_or((text, "b 1"));
    match ConfigFile::parse(first, |name| {
        if name == "itself" { Ok(first.to_owned()) } else { Ok(second.to_owned()) }
    }) {
        Ok(file) => {
            let drivers = file.drivers().expect("it was parsed");
            assert!(drivers.len() < file.sections().len());
            let options: Vec<String> = file.unread().iter().map(|one| one.option.to_owned()).collect();
            for name in options {
                for value in file.sections().iter().flat_map(|section| section.values(&name)) {
                    let _ = (
                        value.flag(),
                        value.integer(),
                        value.length(file.units()),
                        value.angle(file.units()),
                    );
                    assert!(value.place().line > 0 && value.place().column > 0);
                }
            }
            file.plugins().iter().for_each(|plugin| assert!(!plugin.text().contains('"')));
            assert!(file.unread().is_empty());
        }
        Err(error) => assert!(error.to_string().contains("line ")),
    }
});

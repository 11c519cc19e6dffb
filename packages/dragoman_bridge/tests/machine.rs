//! Machines by the descriptions of their protocols: any description with any history.

#[path = "machine/any.rs"]
mod any;

use proptest::prelude::*;

const KNOWN: [&str; 4] = [
    include_str!("../../dragoman_protocol/machines/rover.yaml"),
    include_str!("../../dragoman_protocol/machines/modbus_io.yaml"),
    include_str!("../../dragoman_protocol/machines/motor_can.yaml"),
    include_str!("../../dragoman_protocol/machines/nmea0183.yaml"),
];

/// What stands in a changed description instead of a word of it.
const WORDS: [&str; 40] = [
    "0",
    "1",
    "-1",
    "0.5",
    "1e-300",
    "1e300",
    "-1e300",
    ".nan",
    ".inf",
    "-.inf",
    "255",
    "65535",
    "65536",
    "16777216",
    "4294967296",
    "18446744073709551615",
    "340282366920938463463374607431768211456",
    "true",
    "null",
    "[]",
    "{}",
    "\"\"",
    "\"\\0\"",
    "\"'\"",
    "\"\u{6a5f}\u{1f916}\"",
    "\"a.b[0]\"",
    "u8",
    "f64",
    "text[65536]",
    "\"u8[65536]\"",
    "\"text[*]\"",
    "\"f64[u8]\"",
    "echo",
    "odometry",
    "drive",
    "left",
    "\"left / 0\"",
    "\"min(left, left << 90)\"",
    "\"((((((((((((((((((left))))))))))))))))))\"",
    "code",
];

/// How a description is changed.
#[derive(Debug, Clone)]
enum Change {
    /// The word at this place is another one.
    Word(usize, usize),
    /// The word at this place is that of another place.
    Other(usize, usize),
    /// The line at this place is there so many times more.
    Repeat(usize, usize),
    /// The line at this place is not there.
    Remove(usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        4 => (any::<usize>(), 0..WORDS.len()).prop_map(|(at, word)| Change::Word(at, word)),
        3 => (any::<usize>(), any::<usize>()).prop_map(|(at, other)| Change::Other(at, other)),
        1 => (any::<usize>(), prop_oneof![Just(1_usize), Just(300)]).prop_map(|(at, times)| Change::Repeat(at, times)),
        1 => any::<usize>().prop_map(Change::Remove),
    ]
}

/// Where words begin and end.
fn words(text: &str) -> Vec<(usize, usize)> {
    let mut all = Vec::new();
    let mut begin = None;
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        match (character.is_alphanumeric() || "_.-".contains(character), begin) {
            (true, None) => begin = Some(at),
            (false, Some(from)) => {
                all.push((from, at));
                begin = None;
            }
            _ => {}
        }
    }
    all
}

fn changed(text: &str, change: &Change) -> String {
    let mut text = text.to_owned();
    let words = words(&text);
    let mut lines: Vec<&str> = text.lines().collect();
    match *change {
        Change::Word(at, word) => {
            let (from, to) = words[at % words.len()];
            text.replace_range(from..to, WORDS[word]);
        }
        Change::Other(at, other) => {
            let (from, to) = words[other % words.len()];
            let word = text[from..to].to_owned();
            let (from, to) = words[at % words.len()];
            text.replace_range(from..to, &word);
        }
        Change::Repeat(at, times) => {
            let at = at % lines.len();
            lines.splice(at..at, std::iter::repeat_n(lines[at], times));
            text = lines.join("\n");
        }
        Change::Remove(at) => {
            lines.remove(at % lines.len());
            text = lines.join("\n");
        }
    }
    text
}

/// What the fuzz target keeps.
#[test]
fn kept_histories() {
    for input in crate::interpreted::kept("machine") {
        match input.iter().position(|byte| *byte == 0) {
            Some(at) => assert!(any::run(std::str::from_utf8(&input[..at]).unwrap(), &input[at + 1..])),
            None => assert!(any::run(KNOWN[usize::from(input[0]) % KNOWN.len()], &input[1..])),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn any_history(which in 0..KNOWN.len(), steps in proptest::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(any::run(KNOWN[which], &steps));
    }

    #[test]
    fn any_change(
        which in 0..KNOWN.len(),
        changes in proptest::collection::vec(change(), 1..4),
        steps in proptest::collection::vec(any::<u8>(), 0..100),
    ) {
        let mut text = KNOWN[which].to_owned();
        for change in &changes {
            if !words(&text).is_empty() {
                text = changed(&text, change);
            }
        }
        any::run(&text, &steps);
    }
}

//! Interprets the input as a candump log. Checks: no panic, frames print as they were read, a replay ends.

#![no_main]

use std::time::Duration;

use dragoman_io::can::Bus;
use dragoman_io::can::candump::{self, Content, LogLine, ReplayBus};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let lines: Vec<LogLine> = candump::read(input).filter_map(Result::ok).collect();
    for line in &lines {
        if let Content::Frame(frame) = &line.content {
            let again: LogLine = line.to_string().parse().expect("what was written can be read");
            assert_eq!(again.content, line.content);
            assert!((44..=160).contains(&frame.bits()));
        }
    }
    let most = 10 * lines.len();
    let mut bus = ReplayBus::in_virtual_time(lines);
    let mut received = 0;
    while !bus.is_finished() {
        bus.wait(Duration::MAX);
        while bus.receive().is_some() {
            received += 1;
        }
    }
    assert!(received <= most);
});

//! Interprets the input as lines of a differential drive, in both directions, and as input of its driver. Checks: no
//! panic, a parsed line prints as the same, the driver commands standstill after the timeout.
//!
//! The first byte selects how many bytes come in one piece, and the time between the pieces.

#![no_main]

use std::time::Duration;

use dragoman_base::differential::driver::{Config, Driver};
use dragoman_base::differential::line::{BaseAnswer, Lines, BaseRequest};
use dragoman_geometry::Twist;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some((first, stream)) = input.split_first() else { return };
    let piece = usize::from(first % 32) + 1;
    let mut lines = Lines::new();
    let mut driver = Driver::new(Config::default()).expect("valid options");
    let mut now = Duration::ZERO;
    driver.handle_connected(now);
    for bytes in stream.chunks(piece) {
        let mut rest = bytes;
        while let Some(line) = lines.next(&mut rest) {
            if let Ok(request) = line.parse::<BaseRequest>() {
                assert_eq!(request.to_string().parse(), Ok(request));
            }
            if let Ok(answer) = line.parse::<BaseAnswer>() {
                assert_eq!(answer.to_string().parse(), Ok(answer));
            }
        }
        let mut rest = bytes;
        while driver.handle_bytes(now, &mut rest) {
            assert!(driver.state().pose.is_finite());
        }
        let _ = driver.command(now, Twist::new(f64::from(bytes[0]) / 100.0, 0.5));
        driver.poll_transmit();
        now += Duration::from_millis(u64::from(first / 8));
        driver.handle_timeout(now);
    }
    driver.handle_timeout(now + Duration::from_secs(1));
    assert!(driver.state().standstill.is_some());
});

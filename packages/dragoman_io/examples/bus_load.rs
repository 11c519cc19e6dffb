//! The load of a CAN bus from a log of candump.
//!
//!     cargo run -p dragoman_io --example bus_load

use std::error::Error;
use std::time::Duration;

use dragoman_io::can::candump::{self, Content};
use dragoman_io::can::statistics::BusStatistics;

const LOG: &str = "\
(1600000000.000000) can0 080#
(1600000000.000200) can0 181#0102030405060708
(1600000000.000500) can0 182#0102030405060708
(1600000000.010000) can0 080#
this is not a frame
(1600000000.010200) can0 181#1112131415161718
";

fn main() -> Result<(), Box<dyn Error>> {
    let mut statistics = BusStatistics::new(1_000_000, Duration::from_millis(100));
    let mut start = None;
    for line in candump::read(LOG.as_bytes()) {
        match line {
            Ok(line) => {
                let time = line.time - *start.get_or_insert(line.time);
                if let Content::Frame(frame) = line.content {
                    println!("{time:?} {frame}");
                    statistics.count(time, &frame);
                }
            }
            Err(error) => println!("{error}"),
        }
    }
    statistics.advance(Duration::from_millis(100));
    println!("{} frames, load {:.2} %", statistics.total(), 100.0 * statistics.load());
    Ok(())
}

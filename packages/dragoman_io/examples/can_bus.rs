//! Two nodes on a CAN bus within this program. With `SocketCanBus` the same code runs on an interface of Linux.
//!
//!     cargo run -p dragoman_io --example can_bus

use std::error::Error;
use std::time::Duration;

use dragoman_io::can::{Bus, InProcessBus, Received, candump};

fn main() -> Result<(), Box<dyn Error>> {
    let mut master = InProcessBus::new();
    let mut drive = master.another();
    master.send(&"601#4018100100000000".parse()?)?;
    while let Some(received) = drive.receive() {
        if let Received::Frame(frame) = received {
            println!("{}", candump::line(Duration::ZERO, "lab", &frame));
            drive.send(&"581#431810019A000000".parse()?)?;
        }
    }
    while let Some(Received::Frame(frame)) = master.receive() {
        println!("{}", candump::line(Duration::from_millis(1), "lab", &frame));
    }
    Ok(())
}

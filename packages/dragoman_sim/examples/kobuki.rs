//! The driver of a Kobuki against a simulated one: byte by byte, on virtual time.
//!
//!     cargo run -p dragoman_sim --example kobuki

use std::error::Error;
use std::time::Duration;

use dragoman_base::kobuki::driver::{Config, Driver};
use dragoman_geometry::Twist;
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::{Kobuki, KobukiSettings};

fn main() -> Result<(), Box<dyn Error>> {
    let mut driver = Driver::new(Config::default())?;
    let mut kobuki = Kobuki::new(KobukiSettings::default());
    driver.handle_connected(Duration::ZERO);
    for milliseconds in 1..=3000 {
        let now = Duration::from_millis(milliseconds);
        kobuki.handle_timeout(now);
        while let Some(packet) = kobuki.poll_transmit() {
            let mut bytes = packet.as_slice();
            while driver.handle_bytes(now, &mut bytes) {}
        }
        driver.handle_timeout(now);
        kobuki.handle_bytes(now, driver.poll_transmit());
        if milliseconds >= 500 && milliseconds % 100 == 0 {
            kobuki.handle_bytes(now, driver.command(now, Twist::new(0.2, 0.5))?);
        }
        if milliseconds % 500 == 0 {
            println!("{now:?}: odometry {:?}, true pose {:?}", driver.state().pose, kobuki.pose());
        }
    }
    Ok(())
}

//! The driver of a WidowX against a simulated one, with a load on its gripper.
//!
//!     cargo run -p dragoman_sim --example widowx

use std::error::Error;
use std::time::Duration;

use dragoman_arm::dynamixel::driver::{Config, Driver};
use dragoman_sim::serial::SerialDevice;
use dragoman_sim::{Widowx, WidowxSettings};

fn main() -> Result<(), Box<dyn Error>> {
    let mut driver = Driver::new(Config::widowx())?;
    let mut arm = Widowx::new(WidowxSettings::default());
    arm.inputs.load = [0.0, 1.5, 0.8, 0.0, 0.0];
    driver.handle_connected(Duration::ZERO);
    for milliseconds in 1..=2000 {
        let now = Duration::from_millis(milliseconds);
        arm.handle_timeout(now);
        driver.handle_timeout(now);
        if milliseconds == 500 {
            driver.command(now, 1, 0.6)?;
        }
        // Passes bytes until neither side has any to send.
        loop {
            let request = driver.poll_transmit().to_vec();
            arm.handle_bytes(now, &request);
            let answer: Vec<u8> = std::iter::from_fn(|| arm.poll_transmit()).flatten().collect();
            let mut bytes = answer.as_slice();
            while driver.handle_bytes(now, &mut bytes) {}
            if request.is_empty() && answer.is_empty() {
                break;
            }
        }
        if milliseconds % 500 == 0 {
            let [_, shoulder, ..] = arm.positions();
            println!("{now:?}: shoulder at {shoulder:.3} rad");
        }
    }
    while let Some(event) = arm.poll_event() {
        println!("{event}");
    }
    Ok(())
}

//! Drives along a square within the limits of a Kobuki, and prints the corners that it reaches.
//!
//!     cargo run -p dragoman_geometry --example drive_a_square

use std::error::Error;
use std::f64::consts::FRAC_PI_2;
use std::time::Duration;

use dragoman_geometry::limits::{Limits, Ramp};
use dragoman_geometry::{Pose, Twist, compose};

const STEP: Duration = Duration::from_millis(20);

fn main() -> Result<(), Box<dyn Error>> {
    let mut ramp = Ramp::new(Limits::KOBUKI)?;
    let mut pose = Pose::ORIGIN;
    let side = [Twist::new(0.25, 0.0), Twist::ZERO, Twist::new(0.0, FRAC_PI_2 / 2.0), Twist::ZERO];
    for corner in 1..=4 {
        for target in side {
            for _ in 0..100 {
                let twist = ramp.step(target, STEP);
                let [ahead, turn] = [twist.linear, twist.angular].map(|speed| speed * STEP.as_secs_f64());
                pose = compose(pose, Pose::new(ahead, 0.0, turn));
            }
        }
        println!("corner {corner}: x {:.2} m, y {:.2} m, heading {:.2} rad", pose.x, pose.y, pose.heading);
    }
    Ok(())
}

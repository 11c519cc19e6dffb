//! The pose of a Kobuki from the counts of its encoders, which wrap after 65535.
//!
//!     cargo run -p dragoman_base --example odometry

use std::time::Duration;

use dragoman_base::odometry::{Measurement, Odometry, WheelGeometry};

fn main() {
    let mut odometry = Odometry::new(WheelGeometry::KOBUKI);
    let counts = [[65_000, 65_000], [65_300, 65_300], [64, 64], [64, 364], [64, 664]];
    for ticks in counts {
        let interval = Duration::from_millis(100);
        odometry.update(Measurement { ticks, interval, speeds: None, gyro: None });
        let (pose, twist) = (odometry.pose(), odometry.twist());
        println!("{ticks:?}: x {:.3} m, y {:.3} m, heading {:.3} rad; {twist}", pose.x, pose.y, pose.heading);
    }
}

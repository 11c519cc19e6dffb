//! A room with a robot and a laser: the robot drives until it is near the wall.
//!
//!     cargo run -p dragoman_world --example room

use std::error::Error;
use std::time::Duration;

use dragoman_geometry::Twist;
use dragoman_world::Worlds;

const ROOM: &str = "
worlds:
  - name: Small room
    bodies:
      - { name: floor, xyz: [0, 0, -0.05], shapes: [{ box: [10, 10, 0.1] }] }
      - { name: wall, xyz: [4, 0, 0.5], shapes: [{ box: [0.2, 8, 1] }] }
    wheeled_robots:
      - name: Rover
        body: [{ box: [0.4, 0.3, 0.2], xyz: [0, 0, 0.16] }]
        supports: [[0.15, 0.12], [0.15, -0.12], [-0.15, 0.12], [-0.15, -0.12]]
        wheel_radius: 0.08
    lasers:
      - { name: front, on: Rover, xyz: [0.1, 0, 0.3], model: lms100 }
";

fn main() -> Result<(), Box<dyn Error>> {
    let no_files = |name: &str| Err(format!("{name}: this world has no files"));
    let mut worlds = Worlds::from_yaml(ROOM, &no_files)?;
    for second in 0..30 {
        let ranges = worlds.laser_data(None, "front")?;
        let ahead = ranges.get(ranges.len() / 2).copied().unwrap_or(f64::NAN);
        println!("{second} s: {ahead:.2} m");
        if ahead < 1.0 {
            break;
        }
        worlds.set_twist(None, "Rover", Twist::new(0.4, 0.0))?;
        worlds.advance(Duration::from_secs(1));
    }
    Ok(())
}

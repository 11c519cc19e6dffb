//! Finds where a robot can stand beside an obstacle.
//!
//!     cargo run -p dragoman_geometry --example parking

use std::error::Error;

use dragoman_geometry::{Footprint, Point, Polygon, Pose};

fn main() -> Result<(), Box<dyn Error>> {
    let table = [[1.0, -0.5], [2.0, -0.5], [2.0, 0.5], [1.0, 0.5]];
    let table = Polygon::new(table.map(Point::from).into())?;
    let robot = Footprint { front: 0.4, rear: 0.3, side: 0.25 }.grown(0.05);
    println!("the robot needs {:.2} m to turn on the spot", robot.outer_radius());
    for x in [0.0, 0.5, 0.6, 1.5] {
        let place = Pose::new(x, 0.0, 0.0);
        let free = !robot.at(place).overlaps(&table);
        println!("x {x} m: {}", if free { "free" } else { "the table is in the way" });
    }
    Ok(())
}

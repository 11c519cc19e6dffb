//! Forward and inverse kinematics of the Ranger.
//!
//!     cargo run -p dragoman_kinematics --example inverse

use std::error::Error;

use dragoman_kinematics::nalgebra::Translation3;
use dragoman_kinematics::{IkOptions, Model, Robot};

const URDF: &str = include_str!("../../../urdf/ranger_mk1.urdf");

fn main() -> Result<(), Box<dyn Error>> {
    let robot = Robot::new(&Model::from_urdf(URDF, Some("base_link"), Some("tool0"))?)?;
    let start = [1.57, 0.3, 1.0, 0.0, 1.8, 0.0];
    let pose = robot.forward(&start);
    println!("start: the tool is at {:.3?}", pose.translation.vector.as_slice());
    for z in [0.02, -0.02, 5.0] {
        let target = Translation3::new(0.0, 0.0, z) * pose;
        let mut joints = vec![0.0; robot.joint_count()];
        match robot.inverse(&target, &start, &IkOptions::default(), &mut joints) {
            Ok(report) => println!("{z} m higher: {joints:.3?} after {} iterations", report.iterations),
            Err(error) => println!("{z} m higher: {error}"),
        }
    }
    Ok(())
}

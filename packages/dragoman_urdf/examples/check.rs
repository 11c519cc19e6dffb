//! Reads a robot description, and prints what was left out of it.
//!
//!     cargo run -p dragoman_urdf --example check -- urdf/ranger_mk1.urdf

use std::error::Error;

use dragoman_urdf::{About, Description, decode};

const LIFT: &str = r#"<robot name="lift">
<link name="base_link"/>
<link name="arm"><visual/></link>
<joint name="lift_joint" type="prismatic">
  <parent link="base_link"/><child link="arm"/><axis xyz="0 0 one"/><limit lower="0" upper="0.5" velocity="0.2" effort="100"/>
</joint>
</robot>"#;

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().find(|argument| argument.ends_with(".urdf"));
    let bytes = file.map_or_else(|| Ok(LIFT.into()), std::fs::read)?;
    let (text, _) = decode(&bytes);
    let description = Description::parse(&text)?;
    println!("{}, from {}", description.robot.name, description.root);
    for joint in &description.robot.joints {
        // Before it moves a joint, a program checks that the joint was read as written.
        match description.fault(&About::Joint(joint.name.clone())) {
            Some(note) => println!("{} cannot be moved: {}", joint.name, note.fault()),
            None => println!("{}: {:?}", joint.name, joint.joint_type),
        }
    }
    description.notes.iter().for_each(|note| println!("{note}"));
    Ok(())
}

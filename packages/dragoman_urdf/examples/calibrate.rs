//! Writes a measured origin into a description; everything else stays as it was written.
//!
//!     cargo run -p dragoman_urdf --example calibrate

use std::collections::BTreeMap;
use std::error::Error;

use dragoman_urdf::with_origins;
use urdf_rs::Pose;

const ARM: &str = r#"<robot name="arm">
  <link name="base_link"/> <!-- bolted to the table -->
  <link name="tool0"/>
  <joint name="tool_joint" type="fixed">
    <origin xyz="0.4 0 0"/>
    <parent link="base_link"/><child link="tool0"/>
  </joint>
</robot>"#;

fn main() -> Result<(), Box<dyn Error>> {
    let measured = Pose { xyz: urdf_rs::Vec3([0.4012, 0.0, -0.0003]), ..Pose::default() };
    println!("{}", with_origins(ARM, &BTreeMap::from([("tool_joint".to_owned(), measured)]))?);
    Ok(())
}

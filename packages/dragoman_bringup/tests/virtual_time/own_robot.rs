//! Arms of users, described as people describe them.

use crate::common::{self, Folder, Lab, Simulated, next, within};
use dragoman_ros::QosProfile;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::{Float64, String as Text};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A lift with a turning arm; what is odd about it concerns no motion.
const URDF: &str = r#"<robot name="lift">
<link name="base_link"/><link name="column"/><link name="arm"><visual><origin xyz="0 0 0"/></visual></link>
<link name="tool0"/><link name="hose"/>
<joint name="lift.joint" type="prismatic"><parent link="base_link"/><child link="column"/><origin xyz="0 0 0.2"/>
  <axis xyz="0 0 1"/><limit lower="0" upper="0.5" velocity="0.2" effort="100"/></joint>
<joint name="2nd joint" type="revolute"><parent link="column"/><child link="arm"/><axis xyz="0 0 1"/>
  <limit lower="-1e9" upper="1e9" velocity="1" effort="50"/></joint>
<joint name="tool_joint" type="fixed"><parent link="arm"/><child link="tool0"/><origin xyz="0.4 0 0"/></joint>
<joint name="hose_joint" type="floating"><parent link="arm"/><child link="hose"/><origin xyz="0 0"/></joint>
<gazebo reference="arm"><sensor:camera name="c"/></gazebo>
</robot>"#;

const SETTINGS: &str =
    "urdf: lift.urdf\nbase_link: base_link\ntip_link: tool0\nhome: [0.1, 0.0]\nacceleration: [0.5, 1.0]
drives: {node_ids: [11, 12], counts_per_revolution: [500000.0, 100000.0]}\n";

#[test]
fn an_arm_loads_and_moves_despite_faults_beside_it() {
    let folder = Folder::new();
    folder.write("lift.urdf", URDF);
    let robot = folder.write("lift.yaml", SETTINGS);
    let simulated = Simulated::new();
    let log = Arc::<Mutex<String>>::default();
    let observed = Arc::clone(&log);
    simulated.simulation().observe(move |event| {
        if event.kind == "log" {
            observed.lock().unwrap().push_str(&String::from_utf8_lossy(event.content));
        }
    });
    let lab = Lab::start_with(0, &["up", "--only", "ranger", "--robot", &robot], &[]);
    let mut node = common::node(lab.domain);
    let mut states = node.subscribe::<JointState>("/ranger/joint_states", QosProfile::default()).unwrap();
    let mut descriptions = node.subscribe::<Text>("/ranger/robot_description", common::latched()).unwrap();
    assert_eq!(next(&mut descriptions).data, URDF, "the user's text");
    assert_eq!(next(&mut states).name, ["lift.joint", "2nd joint"]);
    for (topic, position) in [("lift_x2ejoint", 0.3), ("x32nd_x20joint", 1.5)] {
        let topic = format!("/ranger/{topic}/command");
        let publisher = node.create_publisher::<Float64>(&topic, QosProfile::default()).unwrap();
        publisher.publish(&Float64 { data: position }).unwrap();
        let is_there = |state: JointState| state.position.iter().any(|found| (found - position).abs() < 1e-3);
        within(Duration::from_secs(5), &topic, || is_there(next(&mut states)));
    }
    let log = log.lock().unwrap();
    for note in [
        "line 2: link arm: <geometry> is missing; the <visual> is left out",
        "line 9: joint hose_joint: xyz=\"0 0\" of <origin> is not 3 numbers; the child is at its parent",
        "line 10: <sensor:camera>: the prefix sensor is not declared",
    ] {
        assert_eq!(log.matches(note).count(), 1, "{note}\n{log}");
    }
}

/// What the arm needs is strict: the error names file, line, joint and what is wrong.
#[test]
fn a_fault_of_the_arm_itself_stops_it() {
    let folder = Folder::new();
    folder.write("lift.urdf", &URDF.replace("upper=\"0.5\"", "upper=\"high\""));
    let robot = folder.write("lift.yaml", SETTINGS);
    let error = common::run(0, &["up", "--only", "ranger", "--robot", &robot]).unwrap_err();
    let reason = "robot description, line 5: joint lift.joint: upper=\"high\" of <limit> is no number";
    assert!(error.ends_with(reason), "{error}");
}

//! `launch/rviz/`: the tables of `docs/reference/` contain every displayed topic with its type and quality of service.
//! Its name is relative, so that rviz2 shows the robot of the namespace in which it is started.

use serde_norway::{Mapping, Value};

const PAGES: [&str; 4] = [
    include_str!("../../../../docs/reference/apolo.md"),
    include_str!("../../../../docs/reference/neobotix.md"),
    include_str!("../../../../docs/reference/ranger.md"),
    include_str!("../../../../docs/reference/turtlebot2-widowx.md"),
];

/// A display of rviz2.
const TYPES: [(&str, &str); 9] = [
    ("Camera", "sensor_msgs/msg/Image"),
    ("Image", "sensor_msgs/msg/Image"),
    ("LaserScan", "sensor_msgs/msg/LaserScan"),
    ("Map", "nav_msgs/msg/OccupancyGrid"),
    ("MarkerArray", "visualization_msgs/msg/MarkerArray"),
    ("Odometry", "nav_msgs/msg/Odometry"),
    ("Path", "nav_msgs/msg/Path"),
    ("Pose", "geometry_msgs/msg/PoseStamped"),
    ("RobotModel", "std_msgs/msg/String"),
];

/// Rows of published topics, without backticks: topic, type, quality of service.
fn published() -> Vec<[String; 3]> {
    let lines = PAGES.iter().flat_map(|text| text.lines());
    let rows = lines.filter_map(|line| {
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().replace('`', "")).collect();
        match cells.as_slice() {
            [_, topic, type_name, direction, qos, ..] if direction == "publishes" => {
                Some([topic.clone(), type_name.clone(), qos.clone()])
            }
            _ => None,
        }
    });
    rows.collect()
}

/// Whether a row is for this topic; `<...>` stands for one part of a name.
fn is_meant(row: &str, topic: &str) -> bool {
    let (row, topic): (Vec<_>, Vec<_>) = (row.split('/').collect(), topic.split('/').collect());
    row.len() == topic.len() && row.iter().zip(&topic).all(|(a, b)| a == b || a.starts_with('<'))
}

fn text<'a>(of: &'a Mapping, key: &str) -> &'a str {
    of.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("{key} of {of:?}"))
}

#[test]
fn topics_of_the_configurations_are_those_of_the_tables() {
    let rows = published();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../launch/rviz");
    let mut shown = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file = path.display();
        let config: Value = serde_norway::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let manager = &config["Visualization Manager"];
        assert!(
            manager["Global Options"]["Fixed Frame"].as_str().is_some_and(|frame| !frame.is_empty()),
            "{file}"
        );
        let displays = manager["Displays"].as_sequence().unwrap();
        for display in displays.iter().map(|display| display.as_mapping().unwrap()) {
            let class = text(display, "Class").strip_prefix("rviz_default_plugins/").unwrap();
            // rviz2 shows an image's panel from the start, which enables the display.
            let has_panel = ["Camera", "Image"].contains(&class);
            assert!(!has_panel || display["Enabled"] == Value::Bool(true), "{file}: {class} is not enabled");
            let topic = display.get("Topic").or_else(|| display.get("Description Topic"));
            let Some(topic) = topic else {
                assert!(["Grid", "TF"].contains(&class), "{file}: {class} shows no topic");
                continue;
            };
            let topic = topic.as_mapping().unwrap();
            let (name, type_name) =
                (text(topic, "Value"), TYPES.iter().find(|(of, _)| *of == class).unwrap().1);
            assert!(!name.starts_with('/'), "{file}: {name} is not relative");
            let name = &format!("/{name}");
            let policies =
                ["Reliability Policy", "Durability Policy"].map(|key| text(topic, key).to_lowercase());
            let qos = format!("{}, last {}", policies.join(", "), topic["Depth"].as_u64().unwrap());
            let known = rows
                .iter()
                .any(|[row, of, offered]| is_meant(row, name) && of == type_name && *offered == qos);
            assert!(known, "{file}: no table has {name}, {type_name}, {qos}");
            shown += 1;
        }
    }
    assert!(shown > 20, "{shown} topics");
}

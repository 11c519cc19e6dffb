//! The wire layer of the clients matches the descriptions. With `DRAGOMAN_UPDATE_REFERENCE=1` the files are written.

use std::path::Path;

use dragoman_protocol::clients::{ClientNames, cpp, python};
use dragoman_protocol::model::Type;
use dragoman_protocol::{Protocol, protocols};

fn compare(file: &str, made: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../dragoman_clients").join(file);
    if std::env::var_os("DRAGOMAN_UPDATE_REFERENCE").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, made).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == made, "{file} differs from the description: write it with DRAGOMAN_UPDATE_REFERENCE=1");
}

/// The names of Player's types begin with the name of their interface, except these.
const PLAYER_TYPES: [(&str, &str); 34] = [
    ("player.driver", "Driver"),
    ("player.subscription", "Subscription"),
    ("player.name_service", "NameService"),
    ("player.replace_rule", "ReplaceRule"),
    ("power.charging", "Charging"),
    ("gripper.fingers", "Fingers"),
    ("laser.filter_kind", "LaserFilter"),
    ("laser.filter", "LaserFilterSettings"),
    ("localize.hypothesis", "Hypothesis"),
    ("localize.hypotheses", "Hypotheses"),
    ("localize.estimate", "Estimate"),
    ("localize.particle", "Particle"),
    ("localize.particles", "Particles"),
    ("simulation.named_pose2d", "NamedPose2d"),
    ("simulation.named_pose3d", "NamedPose3d"),
    ("simulation.property", "ObjectProperty"),
    ("camera.format", "ImageFormat"),
    ("camera.compression", "ImageCompression"),
    ("camera.image", "Image"),
    ("camera.source", "ImageSource"),
    ("planner.waypoints", "Waypoints"),
    ("actarray.joint_state", "JointState"),
    ("actarray.joint_kind", "JointKind"),
    ("actarray.joint", "Joint"),
    ("actarray.joint_geometry", "JointGeometry"),
    ("imu.vector", "Vector"),
    ("vectormap.feature", "Feature"),
    ("vectormap.layer", "Layer"),
    ("vectormap.layer_info", "LayerInfo"),
    ("every_interface.bool_property", "BoolProperty"),
    ("every_interface.int_property", "IntProperty"),
    ("every_interface.double_property", "DoubleProperty"),
    ("every_interface.text_property", "TextProperty"),
    ("every_interface.capability", "Capability"),
];
const PLAYER_FIELDS: [(&str, &str); 2] =
    [("actarray.joint_geometry.min", "minimum"), ("actarray.joint_geometry.max", "maximum")];
const PLAYER_UNKNOWN: [&str; 3] = ["gripper.fingers", "actarray.joint_state", "actarray.joint_kind"];
const SENSORS: [&str; 7] = ["sonar", "laser", "bumper", "ir", "camera", "imu", "ranger"];
const OTHERS: [&str; 15] = [
    "",
    "player",
    "power",
    "gripper",
    "position2d",
    "localize",
    "simulation",
    "map",
    "planner",
    "log",
    "limb",
    "vectormap",
    "actarray",
    "every_interface",
    "opaque",
];

#[test]
fn player_in_python() {
    let player = Protocol::read(protocols::PLAYER).unwrap();
    let names = ClientNames {
        types: &PLAYER_TYPES,
        fields: &PLAYER_FIELDS,
        // The cells are compressed.
        by_hand: &[("map.map_data", "Tile")],
        unknown: &PLAYER_UNKNOWN,
        ..ClientNames::default()
    };
    let all = |_: &_| true;
    let structures = include_str!("clients/structures.py");
    compare(
        "python/dragoman_clients/player/structures.py",
        &python::types(&player, &names, &OTHERS, structures, all),
    );
    let readings = include_str!("clients/readings.py");
    compare(
        "python/dragoman_clients/player/readings.py",
        &python::types(&player, &names, &SENSORS, readings, all),
    );
    let head = include_str!("clients/messages.py");
    compare("python/dragoman_clients/player/messages.py", &python::messages(&player, &names, head));
}

/// PlatformCtrl's arguments of commands; the other structures are parts of replies.
const NEOBOTIX_BODIES: [&str; 21] = [
    "set_mode",
    "move_path",
    "move_to_station",
    "move_wheel_velocity",
    "move_velocity",
    "speak_text",
    "file_name",
    "head_position",
    "head_velocity",
    "pan_tilt_position",
    "mouse_move",
    "set_event",
    "named_document",
    "set_brake",
    "set_digital_output",
    "start_ultrasonic",
    "can_id",
    "send_can_message",
    "get_can_messages",
    "set_parameter",
    "get_parameter",
];

#[test]
fn neobotix_in_python() {
    let neobotix = Protocol::read(protocols::NEOBOTIX).unwrap();
    let names = ClientNames {
        types: &[
            ("operation", "OperationState"),
            ("emergency", "EmergencyState"),
            ("frame", "Pose"),
            ("document_reply", "Document"),
        ],
        fields: &[("document_reply.document", "xml")],
        by_hand: &[
            ("flag", "bool"),
            ("parameter_reply", "Parameter"),
            ("parameter_replies", "list[Parameter]"),
            ("can_messages", "list[CanMessage]"),
            ("program_document", "str"),
            ("queue_entry", "str"),
        ],
        texts: &[
            ("operation", "ST_OP_"),
            ("emergency", "ST_EM_"),
            ("motion_mode", "MODE_MOTION_"),
            ("planner_state", "PLANNER_"),
            ("application_error", "APP_ERR_"),
            ("parameter_category", ""),
            ("parameter_type", ""),
            ("mouse_button", "EV_MOUSE_"),
            ("graphical_kind", "TYPE_"),
            ("graphical_color", "COLOR_"),
        ],
        flat: &["io_board.board", "status.surveillance"],
        ..ClientNames::default()
    };
    let is_body = |one: &Type| NEOBOTIX_BODIES.contains(&one.name.as_str());
    let types =
        |head, is_wanted: &dyn Fn(&Type) -> bool| python::types(&neobotix, &names, &[""], head, is_wanted);
    let compare = |file: &str, made: &str| compare(&format!("python/dragoman_clients/neobotix/{file}"), made);
    compare("codes.py", &types(include_str!("clients/codes.py"), &|one| !one.codes.is_empty()));
    let replies = |one: &Type| one.codes.is_empty() && !is_body(one);
    compare("replies.py", &types(include_str!("clients/replies.py"), &replies));
    compare("bodies.py", &types(include_str!("clients/bodies.py"), &is_body));
    let head = include_str!("clients/neobotix_messages.py");
    compare("messages.py", &python::messages(&neobotix, &names, head));
}

#[test]
fn player_in_cpp() {
    let player = Protocol::read(protocols::PLAYER).unwrap();
    let other_types = [
        ("segment", "LineSegment"),
        ("bumper.bumper", "BumperPlace"),
        ("imu.vector", "ImuVector"),
        ("sonar.geometry", "Poses"),
        ("ranger.ranges", "RangerValues"),
        ("ranger.stamped_ranges", "RangerStampedValues"),
    ];
    let types: Vec<_> = other_types.into_iter().chain(PLAYER_TYPES).collect();
    let other_fields = [
        ("gripper.state.fingers", "fingers_state"),
        ("ranger.ranges.ranges", "values"),
        ("ranger.stamped_ranges.ranges", "values"),
    ];
    let fields: Vec<_> = other_fields.into_iter().chain(PLAYER_FIELDS).collect();
    let names = ClientNames {
        types: &types,
        fields: &fields,
        by_hand: &[
            ("map.map_data", "MapTile"),
            ("camera.format", "std::uint32_t"),
            ("camera.compression", "std::uint32_t"),
            ("ir.geometry", "Poses"),
            ("ranger.intensities", "RangerValues"),
            ("ranger.stamped_intensities", "RangerStampedValues"),
        ],
        unknown: &PLAYER_UNKNOWN,
        ..ClientNames::default()
    };
    let head = "// Structures and numbers, made of the description of Player's protocol. Included by ../player.hpp.\n\n";
    compare(
        "cpp/include/dragoman_clients/generated/player.hpp",
        &format!("{head}{}", cpp::types(&player, &names)),
    );
}

//! The lab's platform as ROS users use it, through a ROS node of another program.

use std::time::Duration;

use crate::common::platform::Operator;
use crate::common::sleep;
use dragoman_ros::dragoman_msgs::msg::{CanMessage, PlatformStatus};
use dragoman_ros::dragoman_msgs::srv::{
    PlatformAddCanListeningId, PlatformGetCanMessages, PlatformGetDocument, PlatformGetParameter,
    PlatformGetParameters, PlatformGetPosition, PlatformMoveToStation, PlatformMoveVelocity,
    PlatformMoveWheels, PlatformSetDocument, PlatformSetFile, PlatformSetParameter, PlatformSetText,
};
use dragoman_ros::nav_msgs::msg::{OccupancyGrid, Odometry, Path};
use dragoman_ros::std_msgs::msg::{Bool, String as Text};

#[test]
fn the_platform_goes_through_its_states_and_to_a_station() {
    let mut operator = Operator::new();
    operator.is(PlatformStatus::NOT_INITIALIZED);
    assert_eq!(operator.order("start"), Err("the platform is NotInitialized".to_owned()));
    assert_eq!(operator.set_mode(4), Err("the platform is NotInitialized".to_owned()));
    operator.order("init_pltf").unwrap();
    operator.is(PlatformStatus::READY);
    assert!(operator.set_mode(7).is_err());
    operator.set_mode(4).unwrap();
    operator.order("start").unwrap();
    operator.is(PlatformStatus::MOVING);
    assert!(operator.set_mode(3).is_err());
    operator.until("the platform knows where it is", |operator| !operator.status().localization_lost);

    let mut paths = operator.beside.latched::<Path>("/neobotix/path");
    let request = |station: &str| PlatformMoveToStation::Request { station: station.to_owned() };
    let answer = operator.call::<PlatformMoveToStation::Service>("move_to_station", request("nowhere"));
    assert!(!answer.success && answer.message.contains("nowhere"), "{}", answer.message);
    let answer = operator.call::<PlatformMoveToStation::Service>("move_to_station", request("middle"));
    assert!(answer.success, "{}", answer.message);
    let path = operator.beside.find("the way", &mut paths, |path| path.poses.len() > 1);
    assert_eq!(path.header.frame_id, "map");
    let start = operator.truth();
    operator.until("it moves", |operator| {
        let [x, y, _] = operator.truth();
        (x - start[0]).hypot(y - start[1]) > 0.3
    });
    operator.order("break").unwrap();
    operator.is(PlatformStatus::BROKEN);
    operator.until("it stands", |operator| operator.status().translation_velocity == 0.0);
    let broken = operator.truth();
    sleep(Duration::from_millis(500));
    let later = operator.truth();
    assert!((later[0] - broken[0]).hypot(later[1] - broken[1]) < 0.02, "{broken:?} {later:?}");
    operator.order("continue").unwrap();
    operator.until("it is there", |operator| operator.status().target_reached);
    let [x, y, heading] = operator.truth();
    let (away, wrong) = ((x - 1.0).hypot(y - 3.0), (heading - 170_f64.to_radians()).sin().asin().abs());
    println!("{:.1} mm and {:.3} degrees off", 1000.0 * away, wrong.to_degrees());
    assert!(away < 0.02 && wrong < 1_f64.to_radians(), "{x} {y} {heading}");
    let status = operator.status();
    assert!(status.scan.len() > 100 && status.initialized && !status.collision);
    assert!((status.estimated.x - x).hypot(status.estimated.y - y) < 0.03);
    // All points of the laser are in the room.
    assert!(status.scan.iter().all(|point| point.x.abs() < 6.2 && point.y.abs() < 5.2));
    assert_eq!((status.motion_mode, status.header.frame_id.as_str()), (4, "map"));

    // The session of clients in use: they stop, set mode 3, continue, and turn the wheels.
    operator.order("stop").unwrap();
    operator.set_mode(3).unwrap();
    operator.order("continue").unwrap();
    let before = operator.truth();
    for _ in 0..10 {
        let wheels = PlatformMoveWheels::Request { right: 0.05, left: -0.05 };
        assert!(operator.call::<PlatformMoveWheels::Service>("move_vel_wheel", wheels).success);
        sleep(Duration::from_millis(50));
    }
    let turned = operator.truth()[2] - before[2];
    assert!(turned.sin().atan2(turned.cos()) > 0.02, "{turned}");
    let answer = operator.call::<PlatformMoveToStation::Service>("move_to_station", request("west"));
    assert_eq!(answer.message, "the motion mode is Velocity");

    // The emergency stop, and its reset.
    let pressed = |operator: &mut Operator, data| {
        operator.beside.publish("/neobotix/emergency_stop", &Bool { data });
    };
    pressed(&mut operator, true);
    operator.until("emergency", |operator| operator.status().emergency_state == 1);
    operator.is(PlatformStatus::BROKEN);
    assert!(operator.order("continue").is_err() && operator.order("stop").is_err());
    pressed(&mut operator, false);
    operator.until("reset", |operator| operator.status().operation_state == 0);
    operator.order("exit").unwrap();
    operator.is(PlatformStatus::NOT_INITIALIZED);
    let velocity = PlatformMoveVelocity::Request { translation: f64::NAN, ..Default::default() };
    let answer = operator.call::<PlatformMoveVelocity::Service>("move_vel", velocity);
    assert_eq!(answer.message, "a value is not finite");
}

#[test]
fn documents_parameters_and_special_functions_are_served() {
    let mut operator = Operator::new();
    let mut maps = operator.beside.latched::<OccupancyGrid>("/neobotix/map");
    let grid = operator.beside.find("the map", &mut maps, |grid| !grid.data.is_empty());
    assert!(grid.data.contains(&100) && grid.data.contains(&0) && grid.info.width >= 240);

    // Unchanged, including a comment; saved to disk and loaded again.
    let text = "<map Version=\"1.0\"><!-- mine --><layer index=\"0\"><line><point x=\"0\" y=\"0\"/><point x=\"1000\" y=\"0\"/></line></layer></map>";
    let set = |operator: &mut Operator, name: &str, text: &str| {
        let request = PlatformSetDocument::Request { name: name.to_owned(), document: text.to_owned() };
        let answer = operator.call::<PlatformSetDocument::Service>("set_map", request);
        if answer.success { Ok(()) } else { Err(answer.message) }
    };
    let map = |operator: &mut Operator| {
        let answer = operator.call::<PlatformGetDocument::Service>("get_map", Default::default());
        (answer.name, answer.document)
    };
    let (name, lab) = map(&mut operator);
    assert_eq!((name.as_str(), lab.contains("<workarea>")), ("lab", true));
    set(&mut operator, "mine", text).unwrap();
    assert_eq!(map(&mut operator), ("mine".to_owned(), text.to_owned()));
    let refusal =
        set(&mut operator, "bad", "<map>\n<layer index=\"0\"><line></line></layer></map>").unwrap_err();
    assert!(refusal.contains("line 2"), "{refusal}");
    assert_eq!(map(&mut operator), ("mine".to_owned(), text.to_owned()));
    operator.order("save_map").unwrap();
    let file = operator.folder.join("maps/mine.xml");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    let changed = text.replace("mine", "yours");
    std::fs::write(&file, &changed).unwrap();
    operator.order("load_map").unwrap();
    assert_eq!(map(&mut operator).1, changed);
    set(&mut operator, "../mine", text).unwrap();
    assert!(operator.order("save_map").unwrap_err().contains("not a plain file name"));
    assert!(operator.order("load_map").is_err() && !operator.folder.join("mine.xml").exists());
    operator.beside.find("the new map", &mut maps, |grid| grid.info.width < 100);

    // Parameters take effect, and are ROS parameters.
    let set = |operator: &mut Operator, key: &str, value: &str| {
        let request = PlatformSetParameter::Request { key: key.to_owned(), value: value.to_owned() };
        operator.call::<PlatformSetParameter::Service>("set_pltf_param", request).message
    };
    assert_eq!(set(&mut operator, "SirenEnabled", "true"), "");
    assert!(operator.status().siren);
    assert_eq!(set(&mut operator, "Siren", "true"), "there is no parameter 'Siren'");
    assert!(set(&mut operator, "IpoTransVel", "-1").contains("from 0 to 10000 mm/s"));
    let request = PlatformGetParameter::Request { key: "Planning Enabled".to_owned() };
    let parameter = operator.call::<PlatformGetParameter::Service>("get_pltf_param", request).parameter;
    assert_eq!((parameter.key.as_str(), parameter.value.as_str()), ("PlanningEnabled", "true"));
    let all = operator.call::<PlatformGetParameters::Service>("get_pltf_param_vec", Default::default());
    assert_eq!(all.parameters.len(), 94);

    // Functions of other nodes: refused while those are missing.
    let speak = |operator: &mut Operator| {
        let request = PlatformSetText::Request { text: "Guten Tag".to_owned() };
        operator.call::<PlatformSetText::Service>("speak_text", request).success
    };
    assert!(!speak(&mut operator));
    let mut speech = operator.beside.subscribe::<Text>("/neobotix/speech");
    operator.until("the text is spoken", speak);
    assert_eq!(operator.beside.next("speech", &mut speech).data, "Guten Tag");
    for name in ["../x.png", "x.png"] {
        let request = PlatformSetFile::Request { file_name: name.to_owned() };
        assert!(!operator.call::<PlatformSetFile::Service>("grab_image", request).success);
    }

    // CAN messages with requested ids are kept until they are read.
    let request = PlatformAddCanListeningId::Request { id: 0x281 };
    let answer = operator.call::<PlatformAddCanListeningId::Service>("add_can_listening_id", request);
    assert!(answer.success);
    for id in [0x281, 0x282] {
        let message = CanMessage { id, data: (0..8).collect(), ..Default::default() };
        operator.beside.publish("/neobotix/can/received", &message);
    }
    let read = |operator: &mut Operator, delete_after_read| {
        let request = PlatformGetCanMessages::Request { delete_after_read };
        let answer = operator.call::<PlatformGetCanMessages::Service>("get_can_messages", request);
        answer.messages.iter().map(|message| message.id).collect::<Vec<_>>()
    };
    operator.until("a CAN message", |operator| read(operator, false) == [0x281]);
    assert_eq!((read(&mut operator, true), read(&mut operator, true)), (vec![0x281], vec![]));

    let mut odometry = operator.beside.subscribe::<Odometry>("/neobotix/odom");
    let odometry = operator.beside.next("odometry", &mut odometry);
    assert_eq!(
        (odometry.header.frame_id.as_str(), odometry.child_frame_id.as_str()),
        ("neobotix/odom", "neobotix/base_footprint")
    );
    let position = operator.call::<PlatformGetPosition::Service>("get_position", Default::default());
    assert!(position.success);
}

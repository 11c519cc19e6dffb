//! Functions of the original: the lab's platform over a restart, its further sensors, its
//! charger.

use std::time::Duration;

use crate::common::Folder;
use crate::common::platform::{Operator, PARTS};
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::dragoman_msgs::msg::PlatformBoard;
use dragoman_ros::dragoman_msgs::srv::{
    PlatformGetDebugData, PlatformGetDocument, PlatformGetParameter, PlatformGetParameters,
    PlatformRaiseEvent, PlatformSetDigitalOutput, PlatformSetDocument, PlatformSetParameter,
};
use dragoman_ros::geometry_msgs::msg::{Pose, Pose2D, PoseArray};
use dragoman_ros::rcl_interfaces::srv::GetParameters;
use dragoman_ros::sensor_msgs::msg::{BatteryState, JointState, NavSatFix};
use dragoman_ros::std_msgs::msg::{Bool, Float64MultiArray, UInt8, UInt16};

fn document(operator: &mut Operator, service: &str, name: &str, text: &str) {
    let request = PlatformSetDocument::Request { name: name.to_owned(), document: text.to_owned() };
    let answer = operator.call::<PlatformSetDocument::Service>(service, request);
    assert!(answer.success, "{}", answer.message);
}

fn set(operator: &mut Operator, key: &str, value: &str) {
    let request = PlatformSetParameter::Request { key: key.to_owned(), value: value.to_owned() };
    let answer = operator.call::<PlatformSetParameter::Service>("set_pltf_param", request);
    assert!(answer.success, "{}", answer.message);
}

/// The log on the first page of the guide: "init pose read from StartupPosition.dat", "load map".
#[test]
fn pose_and_map_are_those_of_the_last_run() {
    let keep = ["-p", "platform:keep_pose:=true"];
    let mut operator = Operator::with_arguments(&keep);
    operator.begin(3);
    let map = operator.call::<PlatformGetDocument::Service>("get_map", Default::default()).document;
    let mine = map.replacen("<!--", "<!-- mine,", 1);
    document(&mut operator, "set_map", "mine", &mine);
    operator.order("save_map").unwrap();
    let file = operator.folder.join("StartupPosition.dat");
    let [x, y, _] = operator.truth();
    operator.until("the pose is written", |_| {
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let numbers: Vec<f64> =
            text.split_whitespace().filter_map(|word| word.split_once(':')?.1.parse().ok()).collect();
        matches!(numbers[..], [at_x, at_y, _] if (at_x - x).hypot(at_y - y) < 0.05)
    });
    // After a restart elsewhere.
    let Operator { files, lab, beside, .. } = operator;
    drop((beside, lab));
    std::fs::write(file, "x:4.3 y:3.6 a:-1.6\n").unwrap();
    // Without a laser nothing corrects the pose: in the lab the robot is where its world puts it.
    let blind = [&keep[..], &["-p", "platform:base_scan:=''"]].concat();
    let mut again = Operator::in_folder(files, PARTS, &blind);
    let answer = again.call::<PlatformGetDocument::Service>("get_map", Default::default());
    assert_eq!((answer.name.as_str(), answer.document == mine), ("mine", true));
    let estimated = again.status().estimated;
    assert!((estimated.x - 4.3).hypot(estimated.y - 3.6) < 1e-6, "{estimated:?}");
    assert!((estimated.theta + 1.6).abs() < 1e-6, "{estimated:?}");
}

#[test]
fn the_lab_feeds_the_sensors_and_the_platform_charges() {
    let mut operator = Operator::new();
    operator.until("gyro and reflectors", |operator| {
        let status = operator.status();
        // It faces -y; landmark 2 is at (6, 4).
        let reflector =
            status.reflectors.iter().any(|at| (at.x - 6.0).abs() < 0.1 && (at.y - 4.0).abs() < 0.1);
        (status.gyro_angle + std::f64::consts::FRAC_PI_2).abs() < 0.05
            && status.acceleration[2] > 9.0
            && reflector
    });
    assert!(!operator.status().docked);

    // Siren, flash light and infrared sensors, by their parameters.
    let mut sirens = operator.beside.latched::<Bool>("/neobotix/siren");
    operator.beside.find("no siren", &mut sirens, |siren: &Bool| !siren.data);
    set(&mut operator, "SirenEnabled", "true");
    operator.beside.find("the siren", &mut sirens, |siren: &Bool| siren.data);
    let raise = |operator: &mut Operator, event: u32, id: &str| {
        let pose = Pose2D { x: 3.0, y: 3.0, theta: 0.0 };
        let request = PlatformRaiseEvent::Request { event: event as u8, id: id.to_owned(), pose };
        let answer = operator.call::<PlatformRaiseEvent::Service>("raise_event", request);
        if answer.success { Ok(()) } else { Err(answer.message) }
    };
    use PlatformRaiseEvent::Request as Event;
    let refused = raise(&mut operator, Event::INFRARED, "left").unwrap_err();
    assert_eq!(refused, "no effect: PIRSensorsEnabled is false");
    assert!(!operator.status().infrared.contains(&true));
    set(&mut operator, "PIRSensorsEnabled", "true");
    set(&mut operator, "SurveillanceModeEnabled", "true");
    raise(&mut operator, Event::INFRARED, "left").unwrap();
    let status = operator.status();
    assert_eq!((&status.infrared[..], status.ultrasonic_analog_in[1]), (&[false, true, false, false][..], 1));
    assert!(raise(&mut operator, Event::RADAR, "5").is_err());
    assert!(raise(&mut operator, Event::USER_EVENT, "go").unwrap_err().contains("no program is running"));
    set(&mut operator, "SurveillanceModeEnabled", "false");

    let mut outputs = operator.beside.latched::<UInt16>("/neobotix/digital_out/relay");
    operator.beside.find("no output", &mut outputs, |outputs: &UInt16| outputs.data == 0);
    let request = PlatformSetDigitalOutput::Request { board: 1, channel: 3, high: true };
    assert!(operator.call::<PlatformSetDigitalOutput::Service>("set_digout", request).success);
    operator.beside.find("the output", &mut outputs, |outputs: &UInt16| outputs.data == 0b1000);

    // A program waits for a user event and a person, then docks.
    let program = r#"<program version="1.0"><task name="t" version="1.0">
        <wait><userevent id="go"/></wait><parameter><set key="FlashlightEnabled" value="true"/></parameter>
        <wait><person/></wait>
        <motion><moveto><chargingstation/></moveto></motion><wait timeout="120000"><target/></wait>
      </task></program>"#;
    document(&mut operator, "set_program", "", program);
    operator.begin(5);
    operator.until("the event is taken", |operator| {
        raise(operator, Event::USER_EVENT, "go").unwrap();
        operator.status().flash_light
    });
    set(&mut operator, "PersonDetectionEnabled", "true");
    raise(&mut operator, Event::PERSON, "").unwrap();
    let mut wheels = operator.beside.subscribe::<JointState>("/neobotix/wheel_states");
    operator.until("it is docked", |operator| {
        let status = operator.status();
        status.docked && status.target_reached
    });
    let [x, y, heading] = operator.truth();
    assert!((x - 5.1).hypot(y - 2.2) < 0.05 && heading.sin().abs() < 0.1, "{x} {y} {heading}");
    assert_eq!(operator.status().application_error, 0);
    let turned =
        operator.beside.find("the wheels", &mut wheels, |wheels: &JointState| wheels.position[0] != 0.0);
    assert_eq!(turned.name, ["wheel_left_joint", "wheel_right_joint"]);
    let mut batteries = operator.beside.subscribe::<BatteryState>("/neobotix/battery_state");
    let charging = |battery: &BatteryState| battery.current > 0.0 && battery.power_supply_status == 1;
    operator.beside.find("the battery is charged", &mut batteries, charging);
}

/// PlatformCtrl guide, 6.4: fields of the status and of the debug data that come from boards and sensors.
#[test]
fn boards_and_sensors_that_parameters_name_fill_the_status() {
    let topics = [
        "relay_board_topic:=/boards/relay",
        "io_board_topic:=/boards/io",
        "motor_left_topic:=/boards/left",
        "gyro_board_topic:=/boards/gyro",
        "gps_topic:=/gps",
        "radar_topic:=/radar",
        "infrared_topic:=/infrared",
        "persons_topic:=/persons",
    ]
    .map(|topic| format!("platform:{topic}"));
    let arguments: Vec<&str> = topics.iter().flat_map(|topic| ["-p", topic.as_str()]).collect();
    let mut operator = Operator::with_arguments(&arguments);
    for key in ["RadarSensorsEnabled", "PIRSensorsEnabled", "PersonDetectionEnabled"] {
        set(&mut operator, key, "true");
    }
    let board = |number: i32| PlatformBoard {
        digital_in: number,
        status: number + 1,
        analog_in: (0..8).map(|channel| number + 10 + channel).collect(),
        optical_distance: (0..4).map(|channel| number + 20 + channel).collect(),
        temperature: number + 30,
    };
    let mut persons = PoseArray { poses: vec![Pose::default()], ..Default::default() };
    // Two metres ahead of the platform, which faces -y at (4.5, 3.8).
    persons.header.frame_id = "neobotix/base_footprint".to_owned();
    (persons.poses[0].position.x, persons.poses[0].orientation.w) = (2.0, 1.0);
    // A measurement is shown for 2 s, and publishing one takes a while: board by board.
    operator.until("the relay board", |operator| {
        operator.beside.publish("/boards/relay", &board(100));
        let status = operator.status();
        (status.relay_digital_in, status.relay_status, status.relay_analog_in[7]) == (100, 101, 117)
            && status.optical_distance == [120, 121, 122, 123]
    });
    operator.until("the IO-board", |operator| {
        operator.beside.publish("/boards/io", &board(200));
        let status = operator.status();
        (status.io_digital_in, status.io_status, status.io_analog_in[0]) == (200, 201, 210)
    });
    operator.until("the left motor", |operator| {
        operator.beside.publish("/boards/left", &board(300));
        let status = operator.status();
        (status.motor_left_status, status.motor_left_temperature, status.motor_right_status) == (301, 330, 0)
    });
    operator.until("the gyro board", |operator| {
        operator.beside.publish("/boards/gyro", &board(400));
        let status = operator.status();
        (status.gyro_status, status.gyro_temperature) == (401, 430)
    });
    operator.until("GPS", |operator| {
        let place = NavSatFix { latitude: 48.8, longitude: 9.1, ..Default::default() };
        operator.beside.publish("/gps", &place);
        let status = operator.status();
        (status.latitude, status.longitude) == (48.8, 9.1)
    });
    operator.until("radar", |operator| {
        operator.beside.publish("/radar", &Float64MultiArray { data: vec![0.0, -0.5], ..Default::default() });
        operator.status().radar_velocity == [0.0, -0.5, 0.0, 0.0]
    });
    operator.until("a person", |operator| {
        operator.beside.publish("/persons", &persons);
        let data = operator.call::<PlatformGetDebugData::Service>("get_debug_data", Default::default()).data;
        assert!(data.safe_velocities[0] > 0.5, "{:?}", data.safe_velocities);
        data.persons.iter().any(|at| (at.x - 4.5).abs() < 0.1 && (at.y - 1.8).abs() < 0.1)
    });
    operator.until("infrared", |operator| {
        operator.beside.publish("/infrared", &UInt8 { data: 0b100 });
        operator.status().infrared == [false, false, true, false]
    });
    // Values that are no longer published are hidden after 2 s.
    operator.within(Duration::from_millis(2050), "silence", |operator| {
        let status = operator.status();
        status.relay_digital_in == 0 && status.latitude == 0.0 && status.infrared == [false; 4]
    });
}

/// PlatformCtrl guide, 4.3 and 4.4: the watchdog is in a parameter file, whose key the guide does not name.
#[test]
fn unknown_keys_of_parameter_files_are_kept_and_a_watchdog_is_obeyed() {
    let files = Folder::new();
    let file = files.0.join("watchdog.ini");
    std::fs::write(&file, "[MOTION_CTRL]\nVelWatchdogTime = 400 ; ms\nDriveGain = 7\na=b\n").unwrap();
    let ini = format!("platform:parameters_file:={}", file.display());
    let mut operator = Operator::with_arguments(&["-p", &ini]);
    let kept = |operator: &mut Operator, key: &str| {
        let request = PlatformGetParameter::Request { key: key.to_owned() };
        operator.call::<PlatformGetParameter::Service>("get_pltf_param", request)
    };
    assert_eq!(kept(&mut operator, "DriveGain").parameter.value, "7");
    // The protocol has no type for a text.
    let text = kept(&mut operator, "a").parameter;
    assert_eq!((text.value.as_str(), text.type_), ("b", 2));
    let unknown = kept(&mut operator, "Nothing");
    assert_eq!((unknown.success, unknown.message.as_str()), (false, "there is no parameter 'Nothing'"));
    let all = operator.call::<PlatformGetParameters::Service>("get_pltf_param_vec", Default::default());
    let keys: Vec<&str> = all.parameters.iter().skip(94).map(|one| one.key.as_str()).collect();
    assert_eq!(keys, ["DriveGain", "VelWatchdogTime", "a"]);
    let request = PlatformSetParameter::Request { key: "a".to_owned(), value: "c".to_owned() };
    let set = operator.call::<PlatformSetParameter::Service>("set_pltf_param", request);
    let words = "parameter 'a' is kept from a file: it has no effect, and cannot be set";
    assert_eq!((set.success, set.message.as_str()), (false, words));
    let request = GetParameters::Request { names: vec!["watchdog".to_owned()] };
    let values = operator.call::<GetParameters::Service>("platform/get_parameters", request).values;
    assert_eq!(values.iter().map(|value| value.double_value).collect::<Vec<_>>(), [0.4]);
    let mut reports = operator.beside.subscribe::<DiagnosticArray>("/diagnostics");
    operator.beside.find("the report", &mut reports, |report: &DiagnosticArray| {
        let values = report.status.iter().flat_map(|status| &status.values);
        values.into_iter().any(|value| {
            (value.key.as_str(), value.value.as_str())
                == ("unknown parameters kept", "DriveGain, VelWatchdogTime, a")
        })
    });
}

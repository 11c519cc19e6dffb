//! The lab's platform at work: obstacles, prohibited areas, mapping, replayed motions, programs, its sensors; and a
//! platform in front of another base.

use std::time::Duration;

use crate::common::platform::Operator;
use crate::common::{Folder, Lab, sleep};
use dragoman_bridge::neobotix::status::ULTRASONIC_IDLE;
use dragoman_ros::diagnostic_msgs::msg::{DiagnosticArray, DiagnosticStatus, KeyValue};
use dragoman_ros::dragoman_msgs::msg::{PlatformStatus, ProgramState};
use dragoman_ros::dragoman_msgs::srv::{
    GetLocationMRobot, PlaceXyz, PlatformGetDocument, PlatformMoveToPose, PlatformMoveVelocity,
    PlatformSetDigitalOutput, PlatformSetDocument, PlatformSetEvent, PlatformSetFile, PlatformSetMode,
    PlatformSetParameter, PlatformStartUltrasonic,
};
use dragoman_ros::geometry_msgs::msg::Pose2D;
use dragoman_ros::sensor_msgs::msg::BatteryState;
use dragoman_ros::std_srvs::srv::Trigger;

/// Those of the protocol are the first platform's.
const PORTS: &str = "neobotix:ports:=[0,0]";

fn move_to(operator: &mut Operator, [x, y, theta]: [f64; 3]) {
    let request = PlatformMoveToPose::Request { pose: Pose2D { x, y, theta } };
    let answer = operator.call::<PlatformMoveToPose::Service>("move_abs", request);
    assert!(answer.success, "{}", answer.message);
}

fn put(operator: &mut Operator, object: &str, [x, y]: [f64; 2]) {
    let mut request = PlaceXyz::Request { object: object.to_owned(), ..Default::default() };
    (request.position.x, request.position.y) = (x, y);
    let answer = operator.beside.call::<PlaceXyz::Service>("/apolo/place_xyz", request);
    assert!(answer.success, "{}", answer.message);
}

fn set(operator: &mut Operator, key: &str, value: &str) {
    let request = PlatformSetParameter::Request { key: key.to_owned(), value: value.to_owned() };
    let answer = operator.call::<PlatformSetParameter::Service>("set_pltf_param", request);
    assert!(answer.success, "{}", answer.message);
}

fn velocity(operator: &mut Operator, translation: f64, rotation: f64) {
    let request = PlatformMoveVelocity::Request { translation, rotation, lateral: 0.0 };
    let answer = operator.call::<PlatformMoveVelocity::Service>("move_vel", request);
    assert!(answer.success, "{}", answer.message);
}

/// Points all over the platform, 0.9 m by 0.6 m, in the world.
fn covered([x, y, heading]: [f64; 3]) -> impl Iterator<Item = [f64; 2]> {
    let (sin, cos) = heading.sin_cos();
    let along = (0..=18).map(|part| f64::from(part) * 0.05 - 0.45);
    along.flat_map(move |ahead| {
        let across = (0..=12).map(|part| f64::from(part) * 0.05 - 0.3);
        across.map(move |left| [x + cos * ahead - sin * left, y + sin * ahead + cos * left])
    })
}

#[test]
fn it_stops_for_obstacles_goes_round_them_and_enters_nothing_prohibited() {
    let mut operator = Operator::new();
    operator.begin(4);
    // Without planning it stops before an obstacle, and continues when that is gone.
    set(&mut operator, "PlanningEnabled", "false");
    move_to(&mut operator, [2.0, 3.8, std::f64::consts::PI]);
    operator.until("it moves", |operator| operator.truth()[0] < 4.4);
    put(&mut operator, "Pioneer3AT", [2.9, 3.8]);
    operator.until("it has stopped", |operator| {
        let status = operator.status();
        status.collision && status.translation_velocity == 0.0
    });
    let stopped = operator.truth();
    assert!(stopped[0] > 2.9 + 0.25 + 0.45, "{stopped:?}");
    sleep(Duration::from_millis(700));
    assert!((operator.truth()[0] - stopped[0]).abs() < 0.01);
    put(&mut operator, "Pioneer3AT", [2.0, -1.0]);
    operator.until("it goes on to its goal", |operator| operator.status().target_reached);

    // With planning it drives round the obstacle, and avoids it and the prohibited area.
    set(&mut operator, "PlanningEnabled", "true");
    let (obstacle, goal) = ([0.9, 1.9], [-1.2, -1.5, -2.0]);
    move_to(&mut operator, goal);
    operator.until("it moves", |operator| operator.status().translation_velocity > 0.1);
    put(&mut operator, "Pioneer3AT", obstacle);
    let mut nearest = f64::INFINITY;
    operator.until("it is there", |operator| {
        let truth = operator.truth();
        for [x, y] in covered(truth) {
            assert!(!((-0.5..0.0).contains(&x) && (-0.05..0.45).contains(&y)), "prohibited: {truth:?}");
            assert!(x.abs() < 6.0 && y.abs() < 5.0, "left: {truth:?}");
            nearest = nearest.min((x - obstacle[0]).abs().max((y - obstacle[1]).abs()));
        }
        operator.status().target_reached
    });
    println!("nearest to the obstacle's middle: {nearest:.2} m");
    assert!(nearest > 0.26, "{nearest}");
    let [x, y, _] = operator.truth();
    assert!((x - goal[0]).hypot(y - goal[1]) < 0.02, "{x} {y}");
}

#[test]
fn sensors_pictures_and_recorded_motions() {
    let Folder(files) = &Folder::new();
    std::fs::write(files.join("Interpolation.ini"), "[IPO]\nIpoTransVel = 300 # mm/s\nNoSuch = 1\n").unwrap();
    std::fs::write(files.join("Platform.ini"), "SirenEnabled = true\n").unwrap();
    let ini = format!("platform:parameters_file:={}", files.display());
    let image = "platform:image_topic:=/camera/rgb/image_color";
    let mut operator = Operator::with("apolo,neobotix,turtlebot", &["-p", &ini, "-p", image]);
    assert!(operator.status().siren);

    // Battery, and only those ultrasonic sensors that measure.
    let mut batteries = operator.beside.subscribe::<BatteryState>("/neobotix/battery_state");
    let battery = operator.beside.next("the battery", &mut batteries);
    assert!((0.9..=1.0).contains(&battery.percentage), "{battery:?}");
    operator.until("the battery's voltage", |operator| {
        (22_000..26_000).contains(&operator.status().battery_voltage)
    });
    assert_eq!(operator.status().ultrasonic, [ULTRASONIC_IDLE; 16]);
    let start = |operator: &mut Operator, channel| {
        let request = PlatformStartUltrasonic::Request { channel };
        operator.call::<PlatformStartUltrasonic::Service>("start_ultrasonic", request).success
    };
    assert!(start(&mut operator, 0b1_0000) && !start(&mut operator, 0x10000) && !start(&mut operator, -1));
    // It is at (4.5, 3.8) facing -y; sensor 5, on its left, faces the wall at x = 6.
    operator.until("the fifth sensor detects the wall", |operator| {
        (operator.status().ultrasonic[4] - 1.2).abs() < 0.05
    });
    assert!(
        operator
            .status()
            .ultrasonic
            .iter()
            .enumerate()
            .all(|(at, range)| at == 4 || *range == ULTRASONIC_IDLE)
    );
    operator.order("stop_ultrasonic").unwrap();
    operator.until("it measures no more", |operator| operator.status().ultrasonic == [ULTRASONIC_IDLE; 16]);

    // An image of the lab's camera.
    operator.until("a picture", |operator| {
        let request = PlatformSetFile::Request { file_name: "lab.png".to_owned() };
        operator.call::<PlatformSetFile::Service>("grab_image", request).success
    });
    let picture = operator.folder.join("images/lab.png");
    operator.until("the file", |_| std::fs::metadata(&picture).is_ok_and(|file| file.len() > 1000));
    assert!(std::fs::read(&picture).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));

    // A motion is recorded, and replayed from its start.
    let event = |operator: &mut Operator, event: u32| {
        let request = PlatformSetEvent::Request { event: event as u8 };
        let answer = operator.call::<PlatformSetEvent::Service>("set_event", request);
        if answer.success { Ok(()) } else { Err(answer.message) }
    };
    use PlatformSetEvent::Request as Event;
    assert_eq!(event(&mut operator, Event::START_RECORDING).unwrap_err(), "the platform is not initialized");
    operator.begin(4);
    assert_eq!(event(&mut operator, Event::STOP_RECORDING).unwrap_err(), "nothing is recorded");
    assert!(event(&mut operator, Event::START_REPLAY).is_err() && event(&mut operator, 7).is_err());
    let begin = operator.truth();
    event(&mut operator, Event::START_RECORDING).unwrap();
    assert!(event(&mut operator, Event::START_RECORDING).is_err());
    move_to(&mut operator, [3.7, 3.3, 2.5]);
    operator.until("it is there", |operator| operator.status().target_reached);
    event(&mut operator, Event::STOP_RECORDING).unwrap();
    let end = operator.truth();
    let text = std::fs::read_to_string(operator.folder.join("recordings/motion.csv")).unwrap();
    assert!(text.lines().count() > 20 && text.starts_with("time,x,y,heading,linear,angular\n"), "{text}");
    assert!(event(&mut operator, Event::START_REPLAY).unwrap_err().contains("Automatic"));
    move_to(&mut operator, begin);
    operator.until("it is back", |operator| operator.status().target_reached);
    operator.order("stop").unwrap();
    operator.set_mode(6).unwrap();
    event(&mut operator, Event::START_REPLAY).unwrap();
    operator.is(PlatformStatus::MOVING);
    operator.until("it drives again", |operator| {
        let truth = operator.truth();
        (truth[0] - begin[0]).hypot(truth[1] - begin[1]) > 0.2
    });
    event(&mut operator, Event::BREAK_REPLAY).unwrap();
    operator.is(PlatformStatus::BROKEN);
    event(&mut operator, Event::CONTINUE_REPLAY).unwrap();
    operator.until("it is ready", |operator| {
        u32::from(operator.status().operation_state) == PlatformStatus::READY
    });
    let again = operator.truth();
    assert!((again[0] - end[0]).hypot(again[1] - end[1]) < 0.05, "{again:?} {end:?}");
    assert!(event(&mut operator, Event::START_REPLAY).unwrap_err().contains("begins"));
}

/// The numbers in the attribute after each occurrence of this name.
fn numbers(text: &str, name: &str) -> Vec<f64> {
    let mark = format!("{name}=\"");
    let parts = text.split(mark.as_str()).skip(1);
    parts.map(|part| part.split('"').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn maps_are_made_and_programs_run_to_their_ends() {
    let mut operator = Operator::new();
    let document = |operator: &mut Operator, service: &str, name: &str, document: &str| {
        let request = PlatformSetDocument::Request { name: name.to_owned(), document: document.to_owned() };
        operator.call::<PlatformSetDocument::Service>(service, request)
    };
    operator.begin(3);
    let lab = operator.call::<PlatformGetDocument::Service>("get_map", Default::default()).document;
    let empty = "<map Version=\"1.0\"><layer index=\"0\"></layer></map>";
    assert!(document(&mut operator, "set_map", "mine", empty).success);
    operator.order("mapping_start").unwrap();
    let start = operator.truth();
    let mut turned = false;
    operator.until("a turn", |operator| {
        // Slowly: a scan that is late by some milliseconds rotates the walls.
        velocity(operator, 0.0, 0.25);
        let heading = operator.truth()[2] - start[2];
        turned |= heading.sin().atan2(heading.cos()).abs() > 2.5;
        turned && heading.sin().atan2(heading.cos()).abs() < 0.3
    });
    operator.order("mapping_stop").unwrap();
    let map = operator.call::<PlatformGetDocument::Service>("get_map", Default::default());
    assert_eq!(map.name, "mine");
    let lines: Vec<[f64; 4]> = map
        .document
        .split("<linemapped")
        .skip(1)
        .map(|line| {
            let line = line.split("</linemapped>").next().unwrap();
            let (x, y) = (numbers(line, "x"), numbers(line, "y"));
            [x[0], y[0], x[1], y[1]]
        })
        .collect();
    for (place, value) in [(0, 6000.0), (0, -6000.0), (1, 5000.0), (1, -5000.0)] {
        let is_wall = |line: &&[f64; 4]| {
            let [a, b] = [line[place], line[place + 2]];
            (a - value).abs() < 100.0 && (b - value).abs() < 100.0
        };
        let longest = lines
            .iter()
            .filter(is_wall)
            .map(|line| (line[0] - line[2]).hypot(line[1] - line[3]))
            .fold(0.0, f64::max);
        assert!(longest > 1000.0, "the wall at {value}: {lines:?}");
    }
    // Objects already in the map are not added twice, once the platform is localized in it.
    assert!(document(&mut operator, "set_map", "lab", &lab).success);
    velocity(&mut operator, 0.0, 0.0);
    operator.until("it stands, and has found itself in the lab's map", |operator| {
        if operator.status().rotation_velocity != 0.0 {
            return false;
        }
        sleep(Duration::from_millis(500));
        let (believed, [x, y, heading]) = (operator.status().estimated, operator.truth());
        (believed.x - x).hypot(believed.y - y) < 0.02 && (believed.theta - heading).sin().abs() < 0.004
    });
    operator.order("mapping_reset").unwrap();
    operator.order("mapping_start").unwrap();
    operator.order("mapping_stop").unwrap();
    let again = operator.call::<PlatformGetDocument::Service>("get_map", Default::default()).document;
    let longest = |text: &str| {
        let lines = text.split("<linemapped").skip(1).map(|line| {
            let line = line.split("</linemapped>").next().unwrap();
            let (x, y) = (numbers(line, "x"), numbers(line, "y"));
            (x[0] - x[1]).hypot(y[0] - y[1])
        });
        lines.fold(0.0, f64::max)
    };
    assert!(longest(&again) < 1500.0, "{again}");
    operator.order("stop").unwrap();
    assert!(document(&mut operator, "set_map", "lab", &lab).success);

    // Two tasks: one drives, the other waits until its timeout and reports it; both end.
    let program = r#"<program version="1.0">
        <task name="drive" id="1" priority="1" version="1.0">
          <motion><settarget><coord x="3900" y="3800" angle="180"/></settarget></motion>
          <wait timeout="120000" timeoutlabel="late"><target/></wait>
          <wait><delay amount="300"/></wait>
          <parameter><set key="FlashlightEnabled" value="true"/></parameter>
          <ioevent><digitalout D1="-1" D2="-1" D3="1" D4="-1" D5="-1" D6="-1" D7="-1" D8="-1" D9="-1" D10="-1" D11="-1" D12="-1"/></ioevent>
          <goto label="end"/>
          <label name="late"/>
          <motion stop="1"/>
          <label name="end"/>
        </task>
        <task name="watch" id="2" priority="0" version="1.0">
          <wait timeout="500" timeoutlabel="nobody"><collision/></wait>
          <goto label="end"/>
          <label name="nobody"/>
          <parameter><set key="SirenEnabled" value="true"/></parameter>
          <label name="end"/>
        </task>
      </program>"#;
    let answer = document(&mut operator, "set_program", "", program);
    assert!(answer.success, "{}", answer.message);
    operator.set_mode(5).unwrap();
    let mut programs = operator.beside.subscribe::<ProgramState>("/neobotix/program_state");
    operator.order("start").unwrap();
    // Both wait; the first task in its second step, for its motion.
    operator.beside.find("the steps", &mut programs, |state| {
        state.tasks == ["drive", "watch"] && state.steps == [1, 0] && state.moving_task == "drive"
    });
    operator.beside.find("the end of the second task", &mut programs, |state| state.tasks == ["drive"]);
    assert!(!document(&mut operator, "set_program", "", program).success, "it is at work");
    operator.until("the second task has waited", |operator| operator.status().siren);
    operator.until("the first task is through", |operator| {
        let status = operator.status();
        status.flash_light && status.io_digital_out & 4 == 4
    });
    operator.beside.find("the end", &mut programs, |state| state.tasks.is_empty());
    let [x, y, _] = operator.truth();
    assert!(operator.status().target_reached && (x - 3.9).hypot(y - 3.8) < 0.03, "{x} {y}");
    operator.until("the program is at its end", |operator| {
        document(operator, "set_program", "", program).success
    });
    let request = PlatformSetDigitalOutput::Request { board: 0, channel: 2, high: false };
    assert!(operator.call::<PlatformSetDigitalOutput::Service>("set_digout", request).success);
    operator.until("the output is off", |operator| operator.status().io_digital_out == 0);
}

#[test]
fn a_platform_is_in_front_of_any_base() {
    let mut operator = Operator::new();
    let base = [
        "--cmd-vel",
        "/apolo/marvin/cmd_vel",
        "--odom",
        "/apolo/marvin/odom",
        "--scan",
        "/apolo/marvin/scan",
    ];
    let arguments = [&["platform", "--namespace", "/second"], &base[..]].concat();
    let data = format!("platform:data_folder:={}", operator.folder.join("second").display());
    let _second = Lab::start_with(operator.lab.domain, &arguments, &["-p", &data, "-p", PORTS]);
    let order = |operator: &mut Operator, name: &str| {
        operator.beside.call::<Trigger::Service>(&format!("/second/{name}"), Default::default()).success
    };
    operator.until("the base is connected", |operator| order(operator, "connect_to_pltf"));
    assert!(order(&mut operator, "init_pltf"));
    let mode = PlatformSetMode::Request { mode: 3 };
    assert!(operator.beside.call::<PlatformSetMode::Service>("/second/set_mode", mode).success);
    assert!(order(&mut operator, "start"));
    let place = |operator: &mut Operator| {
        let request = GetLocationMRobot::Request { robot: "Marvin".to_owned(), ..Default::default() };
        let answer =
            operator.beside.call::<GetLocationMRobot::Service>("/apolo/get_location_m_robot", request);
        [answer.position.x, answer.position.y, answer.yaw]
    };
    let (begin, own) = (place(&mut operator), operator.truth());
    operator.until("Marvin drives", |operator| {
        let request = PlatformMoveVelocity::Request { translation: 0.15, ..Default::default() };
        operator.beside.call::<PlatformMoveVelocity::Service>("/second/move_vel", request);
        let now = place(operator);
        (now[0] - begin[0]).hypot(now[1] - begin[1]) > 0.3
    });
    assert!(order(&mut operator, "stop"));
    assert_eq!(operator.truth().map(|value| (value * 1e3).round()), own.map(|value| (value * 1e3).round()));
}

#[test]
fn a_platform_that_sees_nothing_is_an_error_in_diagnostics_also_after_a_refusal() {
    let mut operator = Operator::new();
    let topics = [
        "--cmd-vel",
        "/apolo/marvin/cmd_vel",
        "--odom",
        "/apolo/marvin/odom",
        "--scan",
        "/apolo/marvin/no_such_scan",
    ];
    let arguments = [&["platform", "--namespace", "/second"], &topics[..]].concat();
    let data = format!("platform:data_folder:={}", operator.folder.join("second").display());
    let _second = Lab::start_with(operator.lab.domain, &arguments, &["-p", &data, "-p", PORTS]);
    let mut diagnostics = operator.beside.subscribe::<DiagnosticArray>("/diagnostics");
    let order = |operator: &mut Operator, name: &str| {
        operator.beside.call::<Trigger::Service>(&format!("/second/{name}"), Default::default()).success
    };
    operator.until("the base is connected", |operator| order(operator, "connect_to_pltf"));
    let blind = |status: &DiagnosticStatus| {
        status.name.starts_with("second/") && status.level == 2 && status.message.contains("blind")
    };
    operator.beside.find("the error", &mut diagnostics, |array| array.status.iter().any(blind));
    assert!(!order(&mut operator, "start"), "it is not initialized");
    // The first report with the refusal.
    let refused = |status: &DiagnosticStatus| {
        let counted = |value: &KeyValue| value.key == "requests refused" && value.value != "0";
        status.name.starts_with("second/") && status.values.iter().any(counted)
    };
    let report =
        operator.beside.find("the refusal", &mut diagnostics, |array| array.status.iter().any(refused));
    assert!(report.status.iter().filter(|status| refused(status)).all(blind), "{report:?}");
}

#[test]
fn invalid_parameter_files_end_the_start() {
    let Folder(files) = &Folder::new();
    let file = files.join("bad.ini");
    for (text, expected) in [
        ("IpoRotvel = 0.5\nIpoTransVel = fast\n", "line 2: "),
        ("[IPO]\n\nIpoRotvel = 11\n", "line 3: IpoRotvel = 11: it has to be from 0 to 10 rad/s"),
        ("IpoRotvel\n", "line 1: 'IpoRotvel' is neither a [section] nor key = value"),
    ] {
        std::fs::write(&file, text).unwrap();
        let file = file.display().to_string();
        let error = Lab::try_start(1, &[], 0, &["platform", "--ini", &file], &[]).err().expect("an error");
        assert!(error.contains(expected) && error.contains(&file), "{error}");
    }
}

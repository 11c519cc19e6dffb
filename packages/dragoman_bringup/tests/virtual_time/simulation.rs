//! The simulator's own topics and services: time, pose, console, buttons, LEDs, noise.

use std::collections::BTreeMap;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};
use std::time::Duration;

use crate::common::{Lab, Program, call, last, latched, sleep, until};
use dragoman_ros::dragoman_msgs::srv::{Place, PlaceXyz, PressButton};
use dragoman_ros::geometry_msgs::msg::PoseStamped;
use dragoman_ros::kobuki_ros_interfaces::msg::{
    ButtonEvent, DockInfraRed, Led, PowerSystemEvent, SensorState, WheelDropEvent,
};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::rcl_interfaces::msg::{Parameter, ParameterValue};
use dragoman_ros::rcl_interfaces::srv::SetParameters;
use dragoman_ros::sensor_msgs::msg::{Imu, JointState};
use dragoman_ros::std_msgs::msg::{ColorRGBA, Empty, Float64, String as Text};
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Publisher, QosProfile};

#[test]
fn time_goes_by_and_the_pose_is_the_true_one() {
    let lab = Lab::start();
    let mut program = Program::new(&lab);
    let times = program.record::<Float64>("/simulation/sim_time", QosProfile::default());
    let poses = program.record::<PoseStamped>("/simulation/pose", QosProfile::default());
    let drops = program.record::<WheelDropEvent>("/mobile_base/events/wheel_drop", QosProfile::default());
    let commanded = program.record::<Float64>("/vrep/last_cmd_time", latched());
    let place = program.client::<PlaceXyz::Service>("/apolo/place_xyz");
    let joint = program.publisher::<Float64>("/arm_3_joint/command");
    program.start();
    until("times come", || times.lock().unwrap().len() > 50);
    let times = times.lock().unwrap().iter().map(|time| time.data).collect::<Vec<_>>();
    assert!(times.windows(2).all(|pair| pair[0] < pair[1]));
    let passed = times[50] - times[0];
    assert!((passed - 1.0).abs() < 1e-6, "50 periods of 20 ms: {passed} s");

    let mut request = PlaceXyz::Request { object: "turtlebot2_widowx".into(), ..Default::default() };
    (request.position.x, request.position.y) = (2.5, -1.25);
    let placed = call(&place, &request);
    assert!(placed.success, "{}", placed.message);
    until("the pose is where it was put", || {
        last(&poses).is_some_and(|pose| {
            let at = &pose.pose.position;
            pose.header.frame_id == "map" && (at.x, at.y) == (2.5, -1.25)
        })
    });
    // Lifted and put down again.
    for (height, dropped) in [(0.3, 1), (0.0, 0)] {
        request.position.z = height;
        assert!(call(&place, &request).success);
        until("the wheels hang down, or do not", || {
            let events = drops.lock().unwrap();
            let of = |wheel| events.iter().rev().find(|event| event.wheel == wheel).map(|event| event.state);
            of(0) == Some(dropped) && of(1) == Some(dropped)
        });
    }
    until("a command has its time", || {
        joint.publish(&Float64 { data: 0.1 }).unwrap();
        sleep(Duration::from_millis(20));
        last(&commanded).is_some_and(|time| time.data > times[0])
    });
}

/// Names of the joints in the TurtleBot thesis, table B.13, with those that follow the gripper.
const JOINTS: [&str; 10] = [
    "wheel_left_joint",
    "wheel_right_joint",
    "arm_1_joint",
    "arm_2_joint",
    "arm_3_joint",
    "arm_4_joint",
    "arm_5_joint",
    "gripper_1_joint",
    "gripper_left_joint",
    "gripper_right_joint",
];

#[test]
fn the_robot_is_one_tree_with_one_publisher_for_each_transform() {
    let lab = Lab::start();
    let mut program = Program::new(&lab);
    let joints = program.record::<JointState>("/joint_states", QosProfile::default());
    let moving = program.record::<TFMessage>("/tf", QosProfile::default().keep_last(100));
    let fixed = program.record::<TFMessage>("/tf_static", latched());
    let description = program.record::<Text>("/robot_description", latched());
    program.start();
    until("wheels and arm are one message", || {
        last(&joints).is_some_and(|state| state.name.len() == JOINTS.len())
    });
    let state = last(&joints).unwrap();
    assert_eq!(state.name, JOINTS);
    assert!(state.position.iter().all(|position| position.is_finite()));
    assert!((state.position[2] - FRAC_PI_4).abs() < 0.01, "not at the start position: {}", state.position[2]);
    until("the description", || {
        last(&description).is_some_and(|text| text.data.contains("turtlebot2_widowx"))
    });

    let parents = || {
        let all = moving.lock().unwrap().clone().into_iter().chain(fixed.lock().unwrap().clone());
        let mut parents: BTreeMap<String, String> = BTreeMap::new();
        for transform in all.flat_map(|message| message.transforms) {
            let (child, parent) = (transform.child_frame_id, transform.header.frame_id);
            let before = parents.insert(child.clone(), parent.clone());
            assert!(before.is_none_or(|before| before == parent), "{child} hangs on two frames");
        }
        parents
    };
    let root_of = |parents: &BTreeMap<String, String>, frame: &str| {
        let mut frame = frame.to_owned();
        while let Some(parent) = parents.get(&frame) {
            frame.clone_from(parent);
        }
        frame
    };
    let leaves = [
        "tool0",
        "gripper_left_link",
        "camera_depth_optical_frame",
        "laser_link",
        "wheel_left_link",
        "gyro_link",
    ];
    until("all links are in the world", || {
        let parents = parents();
        leaves.iter().all(|leaf| root_of(&parents, leaf) == "map")
    });
    assert_eq!(parents()["base_footprint"], "odom");
}

#[test]
fn text_goes_to_the_console_and_to_the_status_bar() {
    let lab = Lab::start();
    let mut program = Program::new(&lab);
    let shown = program.record::<Text>("/vrep/aux_console/text", latched());
    let bar = program.record::<Text>("/vrep/status_bar", latched());
    let say = program.publisher::<Text>("/vrep/aux_console/print");
    let status = program.publisher::<Text>("/vrep/status_bar_message");
    let [create, hide, show, clear, delete] = ["create", "hide", "show", "clear", "delete"]
        .map(|name| program.publisher::<Empty>(&format!("/vrep/aux_console/{name}")));
    program.start();
    let readers = |publisher: &Publisher<Empty>| publisher.get_inter_process_subscription_count().unwrap();
    until("the simulator is there", || {
        [&create, &hide, &show, &clear, &delete].into_iter().all(|publisher| readers(publisher) > 0)
            && say.get_inter_process_subscription_count().unwrap() > 0
            && status.get_inter_process_subscription_count().unwrap() > 0
    });
    sleep(Duration::from_millis(500));
    let text = |text: &str| Text { data: text.to_owned() };
    let is = |wanted: &str| until(wanted, || last(&shown).is_some_and(|shown| shown.data == wanted));
    create.publish(&Empty::default()).unwrap();
    is("");
    say.publish(&text("Initialized OK.")).unwrap();
    is("Initialized OK.\n");
    say.publish(&text("X: 0.1, Y: 0")).unwrap();
    is("Initialized OK.\nX: 0.1, Y: 0\n");
    hide.publish(&Empty::default()).unwrap();
    is("");
    show.publish(&Empty::default()).unwrap();
    is("Initialized OK.\nX: 0.1, Y: 0\n");
    clear.publish(&Empty::default()).unwrap();
    is("");
    say.publish(&text("again")).unwrap();
    is("again\n");
    delete.publish(&Empty::default()).unwrap();
    is("");
    status.publish(&text("Program: MY PROGRAM")).unwrap();
    until("the status bar", || last(&bar) == Some(text("Program: MY PROGRAM")));
}

#[test]
fn buttons_are_pressed_and_leds_shine() {
    let lab = Lab::start();
    let mut program = Program::new(&lab);
    let buttons = program.record::<ButtonEvent>("/mobile_base/events/button", QosProfile::default());
    let lamps = program.record::<ColorRGBA>("/simulation/led2", latched());
    let press = program.client::<PressButton::Service>("/simulation/press_button");
    let led = program.publisher::<Led>("/mobile_base/commands/led2");
    program.start();

    let answer = call(&press, &PressButton::Request { button: 1, duration: 0.3 });
    assert!(answer.success, "{}", answer.message);
    until("pressed and released", || buttons.lock().unwrap().len() == 2);
    let events: Vec<_> = buttons.lock().unwrap().iter().map(|event| (event.button, event.state)).collect();
    assert_eq!(events, [(1, 1), (1, 0)]);
    for (button, duration, reason) in [
        (3, 0.1, "there is no button 3"),
        (0, 0.0, "not within"),
        (0, -1.0, "not within"),
        (0, f64::NAN, "not within"),
        (0, f64::INFINITY, "not within"),
        (0, 61.0, "not within"),
    ] {
        let answer = call(&press, &PressButton::Request { button, duration });
        assert!(
            !answer.success && answer.message.contains(reason),
            "{button} {duration}: {}",
            answer.message
        );
    }

    for (value, color) in [(1, [0.0, 1.0, 0.0]), (2, [1.0, 0.5, 0.0]), (3, [1.0, 0.0, 0.0]), (0, [0.4; 3])] {
        until("the LED has its colour", || {
            led.publish(&Led { value }).unwrap();
            sleep(Duration::from_millis(30));
            last(&lamps).is_some_and(|lamp| [lamp.r, lamp.g, lamp.b] == color)
        });
    }

    assert_eq!(buttons.lock().unwrap().len(), 2, "what was refused pressed nothing");
}

/// TurtleBot thesis, table 4.3: only `imu_data_raw` has noise, unless it is switched off (A.4) or the heading has it, too.
#[test]
fn noise_is_on_the_raw_gyro_alone_unless_the_parameters_say_otherwise() {
    let lab = Lab::start();
    let mut program = Program::new(&lab);
    let queue = || QosProfile::default().keep_last(100);
    let raw = program.record::<Imu>("/mobile_base/sensors/imu_data_raw", queue());
    let filtered = program.record::<Imu>("/mobile_base/sensors/imu_data", queue());
    let odometry = program.record::<Odometry>("/odom", queue());
    let set = program.client::<SetParameters::Service>("/simulation/set_parameters");
    program.start();
    // Whether the raw samples, the filtered rate, and the heading of the odometry have noise.
    let noisy = || {
        raw.lock().unwrap().clear();
        filtered.lock().unwrap().clear();
        odometry.lock().unwrap().clear();
        until("measurements", || {
            raw.lock().unwrap().len() > 100
                && filtered.lock().unwrap().len() > 100
                && odometry.lock().unwrap().len() > 100
        });
        [
            raw.lock().unwrap().iter().any(|imu| imu.angular_velocity.x != 0.0),
            filtered.lock().unwrap().iter().any(|imu| imu.angular_velocity.z != 0.0),
            odometry.lock().unwrap().iter().any(|message| message.twist.twist.angular.z != 0.0),
        ]
    };
    let switch = |name: &str, value: bool| {
        let value = ParameterValue { type_: 1, bool_value: value, ..Default::default() };
        let parameters = vec![Parameter { name: name.into(), value }];
        let results = call(&set, &SetParameters::Request { parameters }).results;
        assert!(results[0].successful, "{}", results[0].reason);
        sleep(Duration::from_millis(200));
    };
    assert_eq!(noisy(), [true, false, false]);
    let message = last(&odometry).unwrap();
    assert_eq!(message.pose.pose.orientation.z, 0.0, "the heading does not drift");
    switch("imu_noise", false);
    assert_eq!(noisy(), [false; 3]);
    switch("heading_noise", true);
    assert_eq!(noisy(), [true; 3]);
}

/// The station of the lab stands at the south wall and looks north.
#[test]
fn the_docking_station_is_seen_and_charges() {
    let lab = Lab::start();
    let mut program = Program::new(&lab);
    let core = program.record::<SensorState>("/mobile_base/sensors/core", QosProfile::default());
    let signals = program.record::<DockInfraRed>("/mobile_base/sensors/dock_ir", QosProfile::default());
    let power = program
        .record::<PowerSystemEvent>("/mobile_base/events/power_system", QosProfile::default().keep_last(10));
    let place = program.client::<Place::Service>("/apolo/place");
    program.start();
    let stand = |ahead: f64| {
        let mut request = Place::Request { object: "turtlebot2_widowx".into(), ..Default::default() };
        (request.position.x, request.position.y, request.rpy.z) = (-4.5, -4.9 + ahead, -FRAC_PI_2);
        assert!(call(&place, &request).success);
    };
    let has = |what: &str, data: [u8; 3], charger: i64| {
        until(what, || {
            last(&signals).is_some_and(|signals| signals.data == data)
                && last(&core).is_some_and(|core| i64::from(core.charger) == charger)
        });
    };
    has("far away", [0; 3], i64::from(SensorState::DISCHARGING));
    stand(1.5);
    has("in its field", [0, DockInfraRed::FAR_CENTER as u8, 0], i64::from(SensorState::DISCHARGING));
    stand(0.182);
    has("on its contacts", [0, DockInfraRed::NEAR_CENTER as u8, 0], i64::from(SensorState::DOCKING_CHARGING));
    until("the event", || {
        let plugged = PowerSystemEvent::PLUGGED_TO_DOCKBASE as u8;
        power.lock().unwrap().iter().any(|event| event.event == plugged)
    });
    stand(1.5);
    has("away again", [0, DockInfraRed::FAR_CENTER as u8, 0], i64::from(SensorState::DISCHARGING));
}

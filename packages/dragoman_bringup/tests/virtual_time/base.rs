//! A mobile base in use: `dragoman base` on one end of a serial line, a simulated base on the other, each a program of its
//! own, and a ROS node in the same domain.

use std::f64::consts::{FRAC_PI_2, TAU};
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::{Folder, Lab, TIME_LIMIT, sleep, until};
use crate::device::Device;
use dragoman_io::serial::SerialPort;
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::dragoman_msgs::srv::{GetGeometry, SetOdometry};
use dragoman_ros::geometry_msgs::msg::{Pose2D, Twist, TwistStamped};
use dragoman_ros::kobuki_ros_interfaces::msg as kobuki;
use dragoman_ros::lifecycle_msgs::srv::{ChangeState, GetState};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::{BatteryState, Imu, JointState};
use dragoman_ros::std_msgs::msg::{Empty, Int16MultiArray, String as Text};
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Publisher, QosProfile};
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};

const PORT: &str = "/dev/base";

/// A node in the domain of the base.
struct Operator {
    base: Lab,
    device: Device,
    beside: Beside,
    velocity: Publisher<Twist>,
}

impl Deref for Operator {
    type Target = Beside;

    fn deref(&self) -> &Beside {
        &self.beside
    }
}

impl DerefMut for Operator {
    fn deref_mut(&mut self) -> &mut Beside {
        &mut self.beside
    }
}

impl Operator {
    fn kobuki(ros_arguments: &[&str]) -> Self {
        Self::beside(&["kobuki", "--noise", "none"], &[], ros_arguments)
    }

    fn beside(device: &[&str], options: &[&str], ros_arguments: &[&str]) -> Self {
        let device = Device::start(PORT, device);
        let base = Lab::start_with(0, &[&["base", "--port", PORT], options].concat(), ros_arguments);
        let mut beside = Beside::new(base.domain);
        let velocity = beside.node.create_publisher("/cmd_vel", QosProfile::default()).unwrap();
        let operator = Self { base, device, beside, velocity };
        until("the base reads cmd_vel", || {
            operator.velocity.get_inter_process_subscription_count().unwrap() > 0
        });
        operator
    }

    fn command(&self, linear: f64, angular: f64) {
        let mut twist = Twist::default();
        (twist.linear.x, twist.angular.z) = (linear, angular);
        self.velocity.publish(&twist).unwrap();
    }

    /// Drives ahead until the base moves.
    #[track_caller]
    fn starts_moving(&self) {
        until("the base starts moving", || {
            self.command(0.2, 0.0);
            self.device.pose()[0] > 0.05
        });
    }

    /// Drives for a while, with a command every 50 ms.
    fn drive(&self, linear: f64, angular: f64, time: Duration) {
        let end = dragoman_time::now() + time;
        while dragoman_time::now() < end {
            self.command(linear, angular);
            sleep(Duration::from_millis(50));
        }
    }
}

/// x and y in m, heading in rad.
fn planar(odometry: &Odometry) -> [f64; 3] {
    let pose = &odometry.pose.pose;
    [pose.position.x, pose.position.y, 2.0 * pose.orientation.z.atan2(pose.orientation.w)]
}

fn turn(from: f64, to: f64) -> f64 {
    (to - from + TAU / 2.0).rem_euclid(TAU) - TAU / 2.0
}

/// Drives by its odometry until `error` is below `tolerance`; the speed is proportional to the error, and bounded.
#[track_caller]
fn approach(
    operator: &Operator,
    odometry: &mut BoxStream<'static, Odometry>,
    tolerance: f64,
    error: impl Fn([f64; 3]) -> f64,
    command: impl Fn(&Operator, f64),
) {
    let end = dragoman_time::now() + TIME_LIMIT;
    loop {
        while let Some(Some(_)) = odometry.next().now_or_never() {}
        let error = error(planar(&operator.next("odom", odometry)));
        if error.abs() < tolerance {
            command(operator, 0.0);
            sleep(Duration::from_millis(300));
            return;
        }
        assert!(dragoman_time::now() < end, "it does not arrive, {error} is left");
        command(operator, 2.0 * error);
    }
}

#[test]
fn a_square_returns_to_the_start() {
    let mut operator = Operator::kobuki(&[]);
    let mut odometry = operator.subscribe("/odom");
    let truth_before = operator.device.pose();
    let start = planar(&operator.next("odom", &mut odometry));
    for side in 0..4 {
        let begin = planar(&operator.next("odom", &mut odometry));
        let heading = start[2] + f64::from(side) * FRAC_PI_2;
        let driven = move |[x, y, _]: [f64; 3]| {
            2.0 - ((x - begin[0]) * heading.cos() + (y - begin[1]) * heading.sin())
        };
        approach(&operator, &mut odometry, 0.002, driven, |operator, speed| {
            operator.command(speed.clamp(-0.5, 0.5), 0.0);
        });
        let next = heading + FRAC_PI_2;
        approach(
            &operator,
            &mut odometry,
            0.002,
            |[_, _, now]| turn(now, next),
            |operator, rate| {
                // The base takes whole mm/s: 4 mrad/s would be none, with an error above the tolerance.
                operator.command(0.0, (1.5 * rate).clamp(-2.0, 2.0));
            },
        );
    }
    while let Some(Some(_)) = odometry.next().now_or_never() {}
    let odometry_after = planar(&operator.next("odom", &mut odometry));
    let truth = operator.device.pose();
    let [x, y] = [truth[0] - truth_before[0], truth[1] - truth_before[1]];
    // The two frames are rotated by the base's heading at the start of the odometry.
    let (sin, cos) = (truth_before[2] - start[2]).sin_cos();
    let [ox, oy] = [odometry_after[0] - start[0], odometry_after[1] - start[1]];
    let error = (x - (cos * ox - sin * oy)).hypot(y - (sin * ox + cos * oy));
    // 8 m in ticks of 0.085 mm, and a heading in steps of 0.01 degree.
    assert!(error < 0.005, "the odometry is {error} m off after 8 m");
    assert!(x.hypot(y) < 0.03, "the base stands {x} {y} m from where it began");
}

#[test]
fn commands_reach_the_firmware() {
    let mut operator = Operator::kobuki(&[]);
    type Send = Box<dyn Fn(&mut Operator)>;
    let cases: [(&str, Send, &str); 7] = [
        (
            "led1",
            Box::new(|o| o.publish("/mobile_base/commands/led1", &kobuki::Led { value: 2 })),
            "led1 orange",
        ),
        (
            "led2",
            Box::new(|o| o.publish("/mobile_base/commands/led2", &kobuki::Led { value: 3 })),
            "led2 red",
        ),
        (
            "sound",
            Box::new(|o| o.publish("/mobile_base/commands/sound", &kobuki::Sound { value: 4 })),
            "sound error",
        ),
        (
            "digital_output",
            Box::new(|o| {
                let message = kobuki::DigitalOutput {
                    values: vec![true, true, false, false],
                    mask: vec![false, true, false, false],
                };
                o.publish("/mobile_base/commands/digital_output", &message);
            }),
            "output 1 on",
        ),
        (
            "external_power",
            Box::new(|o| {
                let message = kobuki::ExternalPower { source: 1, state: 0 };
                o.publish("/mobile_base/commands/external_power", &message);
            }),
            "external power 5V off",
        ),
        (
            "controller_info",
            Box::new(|o| {
                let message = kobuki::ControllerInfo { type_: 1, p_gain: 90.0, i_gain: 0.2, d_gain: 1.5 };
                o.publish("/mobile_base/commands/controller_info", &message);
            }),
            "gains",
        ),
        (
            "velocity",
            Box::new(|o| {
                let mut twist = Twist::default();
                twist.linear.x = 0.1;
                o.publish("/mobile_base/commands/velocity", &twist);
            }),
            "speed 0.1",
        ),
    ];
    for (name, send, said) in cases {
        send(&mut operator);
        let line = operator.device.prints(said);
        println!("{name}: {line}");
    }
    let mut gains = operator.latched::<kobuki::ControllerInfo>("/mobile_base/controller_info");
    operator.find("the gains", &mut gains, |gains| gains.p_gain == 90.0 && gains.d_gain == 1.5);

    // With the motors off, velocities are refused and reported.
    operator.publish("/mobile_base/commands/motor_power", &kobuki::MotorPower { state: 0 });
    let before = operator.device.pose();
    operator.drive(0.3, 0.0, Duration::from_millis(500));
    let after = operator.device.pose();
    assert!((after[0] - before[0]).hypot(after[1] - before[1]) < 0.02, "{before:?} {after:?}");
    let mut diagnostics = operator.subscribe::<DiagnosticArray>("/diagnostics");
    operator.find("the refusal", &mut diagnostics, |array| {
        array.status.iter().any(|status| status.message.contains("the motors are off"))
    });
    operator.publish("/mobile_base/commands/motor_power", &kobuki::MotorPower { state: 1 });
    operator.drive(0.3, 0.0, Duration::from_secs(1));
    let moved = operator.device.pose();
    assert!((moved[0] - after[0]).hypot(moved[1] - after[1]) > 0.1, "{after:?} {moved:?}");

    // Invalid requests move nothing, change nothing, and are reported.
    for (linear, angular) in [(f64::NAN, 0.0), (0.0, f64::INFINITY), (f64::NEG_INFINITY, f64::NAN)] {
        operator.drive(0.2, 0.0, Duration::from_millis(200));
        operator.command(linear, angular);
        let before = operator.device.pose();
        sleep(Duration::from_millis(100));
        let after = operator.device.pose();
        assert!(after[0] - before[0] > 0.0, "the last command holds: {before:?} {after:?}");
        operator.find("the refusal", &mut diagnostics, |array| {
            array.status.iter().any(|status| status.message.contains("not finite"))
        });
    }
    operator.publish("/mobile_base/commands/led1", &kobuki::Led { value: 9 });
    operator.find("the refusal", &mut diagnostics, |array| {
        array.status.iter().any(|status| status.message.contains("no colour 9"))
    });
}

#[test]
fn velocities_may_have_a_header() {
    let device = Device::start(PORT, &["kobuki", "--noise", "none"]);
    let stamped = ["-p", "enable_stamped_cmd_vel:=true"];
    let base = Lab::start_with(0, &["base", "--port", PORT], &stamped);
    let mut beside = Beside::new(base.domain);
    let mut command = TwistStamped::default();
    command.twist.angular.z = 1.0;
    beside.publish("/cmd_vel", &command);
    device.prints("speed 0.000 m/s 1.000 rad/s");
}

#[test]
fn measurements_arrive_with_their_units() {
    let mut operator = Operator::kobuki(&[]);
    for line in [
        "battery 15.0",
        "analog 2 2047",
        "input 1 on",
        "dock ir left 1",
        "cliff right 321",
        "charger adapter",
    ] {
        operator.device.send(line);
    }
    let mut core = operator.subscribe::<kobuki::SensorState>("/mobile_base/sensors/core");
    let state = operator.find("the device's new state", &mut core, |state| {
        state.analog_input.get(2) == Some(&2047) && state.charger == 22 && state.bottom.first() == Some(&321)
    });
    assert_eq!((state.digital_input & 0xf, state.bottom.len(), state.current.len()), (2, 3, 2));
    for (line, fits) in [
        ("bump right on", (|state| state.bumper == 1) as fn(&kobuki::SensorState) -> bool),
        ("drop left on", |state| state.wheel_drop == 2),
        ("drop left off", |state| state.wheel_drop == 0),
        ("cliff left on", |state| state.cliff == 5),
        ("press 1", |state| state.buttons == 2),
    ] {
        operator.device.send(line);
        operator.find(line, &mut core, fits);
    }
    operator.device.send("stall right on");
    operator.drive(0.2, 0.0, Duration::from_millis(300));
    operator.find("a wheel that is held", &mut core, |state| {
        state.over_current == 2 && state.current[1] > state.current[0] && state.right_pwm > 0
    });
    operator.device.send("stall right off");
    let ticks = operator.next("core", &mut core).left_encoder;
    operator.find("ticks", &mut core, |state| state.left_encoder != ticks);
    assert!((148..=152).contains(&state.battery), "{} dV", state.battery);
    let mut dock = operator.subscribe::<kobuki::DockInfraRed>("/mobile_base/sensors/dock_ir");
    assert_eq!(operator.next("dock_ir", &mut dock).data, [0, 0, 1], "right, centre, left");
    let mut battery = operator.subscribe::<BatteryState>("/mobile_base/sensors/battery_state");
    let battery = operator.next("battery_state", &mut battery);
    assert!((battery.voltage - 15.0).abs() < 0.25, "{}", battery.voltage);
    assert_eq!((battery.power_supply_status, battery.present), (1, true));
    assert!((0.4..0.8).contains(&battery.percentage), "{}", battery.percentage);

    let mut version = operator.latched::<kobuki::VersionInfo>("/mobile_base/version_info");
    let version = operator.next("version_info", &mut version);
    assert_eq!(version.udid, [98434864, 959859523, 1126263088], "those of the TurtleBot thesis");
    assert_eq!(version.features, 3);
    let mut gains = operator.latched::<kobuki::ControllerInfo>("/mobile_base/controller_info");
    let gains = operator.next("controller_info", &mut gains);
    assert_eq!((gains.type_, gains.p_gain, gains.i_gain, gains.d_gain), (0, 100.0, 0.1, 2.0));
    let mut robot = operator.latched::<kobuki::RobotStateEvent>("/mobile_base/events/robot_state");
    assert_eq!(operator.next("robot_state", &mut robot).state, 1);

    let mut imu = operator.subscribe::<Imu>("/mobile_base/sensors/imu_data");
    let mut raw = operator.subscribe::<Imu>("/mobile_base/sensors/imu_data_raw");
    let mut joints = operator.subscribe::<JointState>("/joint_states");
    let mut odometry = operator.subscribe::<Odometry>("/odom");
    let mut transforms = operator.subscribe::<TFMessage>("/tf");
    operator.drive(0.0, 1.0, Duration::from_secs(1));
    let turning = |imu: &Imu| (imu.angular_velocity.z - 1.0).abs() < 0.05;
    let measured = operator.find("the turn", &mut imu, turning);
    assert_eq!(measured.header.frame_id, "gyro_link");
    assert!((measured.orientation.z.hypot(measured.orientation.w) - 1.0).abs() < 1e-9);
    operator.find("the turn, raw", &mut raw, turning);
    // 1 rad/s: the wheels, 0.115 m from the centre and 0.035 m in radius, turn at 3.29 rad/s in opposite directions.
    let wheels = operator.find("the wheels' turn", &mut joints, |joints| {
        (joints.velocity[1] - 3.286).abs() < 0.2 && (joints.velocity[0] + 3.286).abs() < 0.2
    });
    assert_eq!(wheels.name, ["wheel_left_joint", "wheel_right_joint"]);
    let odometry =
        operator.find("the turn in odom", &mut odometry, |odometry| odometry.twist.twist.angular.z > 0.9);
    assert_eq!(
        (odometry.header.frame_id.as_str(), odometry.child_frame_id.as_str()),
        ("odom", "base_footprint")
    );
    assert_eq!((odometry.pose.covariance[0], odometry.pose.covariance[35]), (0.1, 0.05));
    let transform = operator.next("tf", &mut transforms).transforms.remove(0);
    assert_eq!(
        (transform.header.frame_id.as_str(), transform.child_frame_id.as_str()),
        ("odom", "base_footprint")
    );
}

#[test]
fn events_are_published_once() {
    let mut operator = Operator::kobuki(&[]);
    let mut bumper = operator.subscribe::<kobuki::BumperEvent>("/mobile_base/events/bumper");
    let mut button = operator.subscribe::<kobuki::ButtonEvent>("/mobile_base/events/button");
    let mut cliff = operator.subscribe::<kobuki::CliffEvent>("/mobile_base/events/cliff");
    let mut drop = operator.subscribe::<kobuki::WheelDropEvent>("/mobile_base/events/wheel_drop");
    let mut power = operator.subscribe::<kobuki::PowerSystemEvent>("/mobile_base/events/power_system");
    let mut input = operator.subscribe::<kobuki::DigitalInputEvent>("/mobile_base/events/digital_input");
    sleep(Duration::from_millis(500));
    macro_rules! publishes {
        ($stream:ident, $line:literal, $event:pat if $fits:expr) => {
            operator.device.send($line);
            let received = operator.next($line, &mut $stream);
            assert!(matches!(&received, $event if $fits), "{}: {received:?}", $line);
        };
    }
    publishes!(bumper, "bump left on", event if (event.bumper, event.state) == (0, 1));
    publishes!(bumper, "bump left off", event if (event.bumper, event.state) == (0, 0));
    publishes!(bumper, "bump center on", event if (event.bumper, event.state) == (1, 1));
    publishes!(bumper, "bump right on", event if (event.bumper, event.state) == (2, 1));
    publishes!(button, "press 2", event if (event.button, event.state) == (2, 1));
    publishes!(button, "release 2", event if (event.button, event.state) == (2, 0));
    publishes!(button, "press 0", event if (event.button, event.state) == (0, 1));
    publishes!(cliff, "cliff center on", event if (event.sensor, event.state) == (1, 1) && event.bottom < 1000);
    publishes!(cliff, "cliff center off", event if (event.sensor, event.state) == (1, 0) && event.bottom > 1000);
    publishes!(drop, "drop left on", event if (event.wheel, event.state) == (0, 1));
    publishes!(drop, "drop right on", event if (event.wheel, event.state) == (1, 1));
    publishes!(drop, "drop left off", event if (event.wheel, event.state) == (0, 0));
    publishes!(power, "charger docking", event if event.event == kobuki::PowerSystemEvent::PLUGGED_TO_DOCKBASE as u8);
    publishes!(power, "charger none", event if event.event == kobuki::PowerSystemEvent::UNPLUGGED as u8);
    publishes!(power, "battery 13.8", event if event.event == kobuki::PowerSystemEvent::BATTERY_LOW as u8);
    publishes!(power, "battery 13.0", event if event.event == kobuki::PowerSystemEvent::BATTERY_CRITICAL as u8);
    publishes!(input, "input 3 on", event if event.values == [false, false, false, true]);
    sleep(Duration::from_millis(500));
    let more = [
        bumper.next().now_or_never().is_some(),
        button.next().now_or_never().is_some(),
        cliff.next().now_or_never().is_some(),
        drop.next().now_or_never().is_some(),
        power.next().now_or_never().is_some(),
        input.next().now_or_never().is_some(),
    ];
    assert_eq!(more, [false; 6], "nothing is published twice");
}

#[test]
fn the_bytes_on_the_line_are_published() {
    let mut operator = Operator::kobuki(&[]);
    let mut stream = operator.subscribe::<Text>("/mobile_base/debug/raw_data_stream");
    let mut command = operator.subscribe::<Text>("/mobile_base/debug/raw_data_command");
    let mut control = operator.subscribe::<Int16MultiArray>("/mobile_base/debug/raw_control_command");
    let frame = operator.next("a frame from the base", &mut stream).data;
    assert!(frame.starts_with("{ AA 55 ") && frame.ends_with(" }"), "{frame}");
    operator.drive(0.1, 0.0, Duration::from_secs(1));
    operator.find("the velocity", &mut control, |received| received.data == [100, 0, 100, 0]);
    // Speed 100 mm/s and radius 0 in a frame of six bytes of payload.
    operator.find("its frame", &mut command, |sent| sent.data == "{ AA 55 06 01 04 64 00 00 00 67 }");
}

#[test]
fn position2d_answers() {
    let mut operator = Operator::kobuki(&[]);
    let geometry =
        operator.call::<GetGeometry::Service>("/mobile_base/get_geometry", GetGeometry::Request::default());
    assert!(geometry.success);
    assert_eq!((geometry.size.x, geometry.size.y, geometry.size.z), (0.354, 0.354, 0.42));
    let mut odometry = operator.subscribe::<Odometry>("/odom");
    let set = |operator: &mut Operator, x, y, theta| {
        let request = SetOdometry::Request { pose: Pose2D { x, y, theta } };
        operator.call::<SetOdometry::Service>("/mobile_base/set_odometry", request)
    };
    assert!(set(&mut operator, 3.0, -2.0, 1.0).success);
    let near = |a: [f64; 3], b: [f64; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3);
    operator.find("the pose that was set", &mut odometry, |now| near(planar(now), [3.0, -2.0, 1.0]));
    let refused = set(&mut operator, f64::NAN, 0.0, 0.0);
    assert!(!refused.success && refused.message.contains("finite"), "{refused:?}");
    let reset = set(&mut operator, 0.0, 0.0, 0.0);
    assert_eq!((reset.success, reset.message.as_str()), (true, "reset"));
    operator.find("the origin", &mut odometry, |now| near(planar(now), [0.0; 3]));
    assert!(set(&mut operator, 1.0, 0.0, 0.0).success);
    let reset = operator.call::<Trigger::Service>("/mobile_base/reset_odometry", Trigger::Request::default());
    assert!(reset.success);
    operator.find("the origin", &mut odometry, |now| near(planar(now), [0.0; 3]));
    assert!(set(&mut operator, 2.0, 2.0, 0.0).success);
    operator.find("the pose that was set", &mut odometry, |now| near(planar(now), [2.0, 2.0, 0.0]));
    operator.publish("/mobile_base/commands/reset_odometry", &Empty::default());
    operator.find("the origin", &mut odometry, |now| near(planar(now), [0.0; 3]));
    let power = |operator: &mut Operator, data| {
        operator.call::<SetBool::Service>("/mobile_base/set_motor_power", SetBool::Request { data })
    };
    assert_eq!(power(&mut operator, false).message, "motors off");
    let before = operator.device.pose();
    operator.drive(0.3, 0.0, Duration::from_millis(300));
    assert_eq!(operator.device.pose(), before);
    assert_eq!(power(&mut operator, true).message, "motors on");
}

/// Severity and message of the status.
fn wait_for_report(operator: &Operator, diagnostics: &mut BoxStream<'static, DiagnosticArray>, text: &str) {
    operator.find(text, diagnostics, |array| array.status.iter().any(|status| status.message.contains(text)));
}

#[test]
fn a_lost_base_stops_and_reconnects() {
    let mut operator = Operator::kobuki(&[]);
    let mut diagnostics = operator.subscribe::<DiagnosticArray>("/diagnostics");
    let mut robot = operator.subscribe::<kobuki::RobotStateEvent>("/mobile_base/events/robot_state");
    operator.drive(0.2, 0.0, Duration::from_millis(500));

    operator.device.send("silence 3");
    wait_for_report(&operator, &mut diagnostics, "has stopped sending");
    operator.find("offline", &mut robot, |event| event.state == 0);
    operator.find("online", &mut robot, |event| event.state == 1);
    wait_for_report(&operator, &mut diagnostics, "there is no command");

    operator.device.send("cut 2");
    wait_for_report(&operator, &mut diagnostics, "the line is down");
    operator.find("online", &mut robot, |event| event.state == 1);
    wait_for_report(&operator, &mut diagnostics, "there is no command");

    for _ in 0..50 {
        operator.device.send("garbage 200");
    }
    operator.device.send("corrupt 20");
    operator.drive(0.2, 0.0, Duration::from_secs(1));
    operator.device.send("corrupt 0");
    for _ in 0..30 {
        operator.device.send("cut 0.05");
        operator.find("offline", &mut robot, |event| event.state == 0);
        operator.find("online", &mut robot, |event| event.state == 1);
    }
    operator.device.send("reset");
    operator.drive(0.0, 0.0, Duration::from_secs(1));
    let before = operator.device.pose();
    operator.drive(0.2, 0.0, Duration::from_secs(1));
    let after = operator.device.pose();
    assert!(
        (after[0] - before[0]).hypot(after[1] - before[1]) > 0.1,
        "it drives again: {before:?} {after:?}"
    );
}

/// Waits until the base stands; returns the time.
#[track_caller]
fn stands(operator: &Operator) -> Duration {
    let gone = dragoman_time::now();
    let mut before = operator.device.pose();
    until("it stands", || {
        sleep(Duration::from_millis(20));
        let now = operator.device.pose();
        std::mem::replace(&mut before, now) == now
    });
    dragoman_time::since(gone)
}

/// Time from 0.2 m/s until nothing moves, with the 20 ms after which that is seen.
const ROLL_OUT: Duration = Duration::from_millis(400);
/// The base stops 0.6 s after the last command.
const STOPPED: Duration = Duration::from_millis(600 + 400);

#[test]
fn the_base_stops_when_its_commands_end() {
    let operator = Operator::kobuki(&[]);
    operator.drive(0.2, 0.0, Duration::from_millis(500));
    let time = stands(&operator);
    assert!(time < STOPPED, "no commands: it stood after {time:?} only");
    let before = operator.device.pose()[0];
    until("it drives again", || {
        operator.command(0.2, 0.0);
        operator.device.pose()[0] > before + 0.05
    });
}

#[test]
fn an_ordinary_end_stops_the_base() {
    let operator = Operator::kobuki(&[]);
    operator.starts_moving();
    // The node stops the base at once, without waiting for its watchdog.
    let (ended, _) = operator.base.end();
    assert_eq!(ended, Ok(()));
    let time = stands(&operator);
    assert!(time < ROLL_OUT, "it stood after {time:?} only");
}

#[test]
fn the_base_stops_when_its_cable_is_pulled() {
    for what in ["cut 5", "silence 5"] {
        let operator = Operator::kobuki(&[]);
        operator.starts_moving();
        operator.device.send(what);
        let time = stands(&operator);
        assert!(time < STOPPED, "{what}: it stood after {time:?} only");
    }
}

#[test]
fn the_life_cycle_gives_the_port_to_others() {
    let mut operator = Operator::kobuki(&[]);
    let change = |operator: &mut Operator, id: u8| {
        let mut request = ChangeState::Request::default();
        request.transition.id = id;
        operator.call::<ChangeState::Service>("/mobile_base/change_state", request).success
    };
    let wait_for = |operator: &mut Operator, label: &str| {
        until(label, || {
            let name = "/mobile_base/get_state";
            operator.call::<GetState::Service>(name, GetState::Request::default()).current_state.label
                == label
        });
    };
    wait_for(&mut operator, "active");
    let other = |expected: &str| {
        let is_free = SerialPort::open(Path::new(PORT), 115_200).is_ok();
        assert_eq!(is_free, expected == "free", "the port is {expected}");
    };
    other("taken");
    assert!(change(&mut operator, 4), "deactivate");
    wait_for(&mut operator, "inactive");
    assert!(change(&mut operator, 2), "clean up");
    wait_for(&mut operator, "unconfigured");
    other("free");
    assert!(change(&mut operator, 1), "configure");
    wait_for(&mut operator, "inactive");
    other("taken");
    assert!(change(&mut operator, 3), "activate");
    operator.drive(0.2, 0.0, Duration::from_secs(1));
    assert!(operator.device.pose()[0] > 0.05);
}

#[test]
fn any_base_with_two_wheels_drives() {
    let device = ["wheels", "--separation", "0.4", "--ticks", "2000"];
    let parameters = ["-p", "wheel_separation:=0.4", "-p", "ticks_per_turn:=2000.0"];
    let mut operator = Operator::beside(&device, &["--kind", "differential"], &parameters);
    let mut odometry = operator.subscribe::<Odometry>("/odom");
    approach(
        &operator,
        &mut odometry,
        0.005,
        |[x, _, _]| 1.0 - x,
        |operator, speed| {
            operator.command(speed.clamp(-0.3, 0.3), 0.0);
        },
    );
    approach(
        &operator,
        &mut odometry,
        0.01,
        |[_, _, now]| turn(now, FRAC_PI_2),
        |operator, rate| {
            operator.command(0.0, rate.clamp(-1.0, 1.0));
        },
    );
    let odometry = planar(&operator.next("odom", &mut odometry));
    let truth = operator.device.pose();
    let error = (truth[0] - odometry[0]).hypot(truth[1] - odometry[1]);
    assert!(error < 0.02, "the odometry says {odometry:?}, true is {truth:?}");
    assert!((turn(truth[2], FRAC_PI_2)).abs() < 0.05, "{truth:?}");
}

/// The settings that come with it, on wheels of its size.
#[test]
fn a_romaa_on_a_serial_port_has_its_geometry_and_its_limits() {
    let settings = concat!(env!("CARGO_MANIFEST_DIR"), "/../../launch/config/romaa.yaml");
    let options = ["--kind", "differential", "--config", settings];
    let device = ["wheels", "--separation", "0.44", "--radius", "0.07"];
    let mut operator = Operator::beside(&device, &options, &[]);
    let geometry =
        operator.call::<GetGeometry::Service>("/mobile_base/get_geometry", GetGeometry::Request::default());
    assert!(geometry.success, "{}", geometry.message);
    assert_eq!((geometry.size.x, geometry.size.y, geometry.size.z), (0.57, 0.52, 0.195));
    assert_eq!((geometry.pose.x, geometry.pose.y), (-0.111, 0.0));
    let mut odometry = operator.subscribe::<Odometry>("/odom");
    // Faster than it may drive, and turn.
    type Speed = fn(&Odometry) -> f64;
    let cases: [([f64; 2], Speed, f64); 2] = [
        ([10.0, 0.0], |odometry| odometry.twist.twist.linear.x, 0.5),
        ([0.0, 10.0], |odometry| odometry.twist.twist.angular.z, 2.0),
    ];
    for ([linear, angular], speed, limit) in cases {
        let end = dragoman_time::now() + TIME_LIMIT;
        let mut fast = 0;
        while fast < 10 {
            operator.command(linear, angular);
            let reached = speed(&operator.next("odom", &mut odometry));
            assert!(reached < 1.1 * limit, "{reached}");
            fast += u32::from(reached > 0.9 * limit);
            assert!(dragoman_time::now() < end, "{reached} instead of {limit}");
        }
        operator.command(0.0, 0.0);
        operator.find("it stands", &mut odometry, |odometry| speed(odometry).abs() < 0.01);
    }
}

/// The configuration file of its Player server has the dimensions and limits: half the distance of the true wheels makes
/// the odometry turn twice as far.
#[test]
fn a_configuration_file_of_player_has_the_dimensions_and_limits_of_a_base() {
    let folder = Folder::new();
    let file = folder.0.join("base.cfg");
    let text = "driver ( name \"romaa\" provides [\"position2d:0\"] port \"/dev/nowhere\"
        wheel_separation 0.22 wheel_radius 0.07 max_xspeed 0.4 max_yawspeed 40 )";
    std::fs::write(&file, text).unwrap();
    let options = ["--kind", "differential", "--player-config", file.to_str().unwrap()];
    // The command line takes precedence over the file.
    let limit = "mobile_base:linear.max_velocity:=0.2";
    let device = ["wheels", "--separation", "0.44", "--radius", "0.07"];
    let mut operator = Operator::beside(&device, &options, &["-p", limit]);
    let mut odometry = operator.subscribe::<Odometry>("/odom");
    let end = dragoman_time::now() + TIME_LIMIT;
    let mut fast = 0;
    while fast < 10 {
        operator.command(10.0, 0.0);
        let reached = operator.next("odom", &mut odometry).twist.twist.linear.x;
        assert!(reached < 0.22, "{reached}");
        fast += u32::from(reached > 0.18);
        assert!(dragoman_time::now() < end, "{reached} instead of 0.2");
    }
    operator.command(0.0, 0.0);
    let stands = |odometry: &Odometry| odometry.twist.twist.linear.x.abs() < 0.01;
    operator.find("it stands", &mut odometry, stands);
    let before = operator.device.pose()[2];
    let start = planar(&operator.next("odom", &mut odometry))[2];
    let begun = dragoman_time::now();
    let turned = loop {
        operator.command(0.0, 10.0);
        let turned = turn(start, planar(&operator.next("odom", &mut odometry))[2]);
        if turned > 1.5 {
            break turned;
        }
        assert!(dragoman_time::since(begun) < TIME_LIMIT, "it does not turn");
    };
    // 40 degrees per second; without the file's limit it would be 2 rad/s.
    let rate = turned / dragoman_time::since(begun).as_secs_f64();
    assert!(rate < 0.9, "{rate} rad/s");
    let truth = turn(before, operator.device.pose()[2]);
    assert!((0.3..0.7).contains(&(truth / turned)), "{truth} {turned}");
}

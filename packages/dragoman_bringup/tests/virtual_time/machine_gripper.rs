//! `dragoman bridge FILE` with the gripper of `machines/gripper.yaml`: its action, its motor, its parameters.

use std::time::Duration;

use crate::common::beside::Beside;
use crate::common::{Folder, Lab, block_on, sleep};
use crate::device::Device;
use dragoman_ros::control_msgs::action::GripperCommand::{Action, Goal};
use dragoman_ros::rcl_interfaces::msg::{Parameter, ParameterValue};
use dragoman_ros::rcl_interfaces::srv::{DescribeParameters, GetParameters, SetParameters};
use dragoman_ros::std_msgs::msg::Float64;
use dragoman_ros::std_srvs::srv::{SetBool, Trigger};
use dragoman_ros::{ActionClient, GoalStatus, Node};
use futures::StreamExt;

const GRIPPER: &str = include_str!("../../../dragoman_protocol/machines/gripper.yaml");
const PORT: &str = "/dev/gripper";
const ACTION: &str = "/gripper/gripper_cmd";

struct Operator {
    device: Device,
    beside: Beside,
    client: ActionClient<Action>,
    _lab: Lab,
    _folder: Folder,
}

impl Operator {
    fn new(arguments: &[&str]) -> Self {
        let folder = Folder::new();
        let file = folder.write("gripper.yaml", GRIPPER);
        let device = Device::start_at(PORT, &["machine", &file, "--pty", PORT]);
        let lab = Lab::start_with(0, &[&["bridge", &file, "--link", PORT], arguments].concat(), &[]);
        let mut beside = Beside::new(lab.domain);
        let client = beside.node.create_action_client::<Action>(ACTION).unwrap();
        let mut width = beside.subscribe::<Float64>("/gripper/width");
        beside.next("the width", &mut width);
        let available = Node::is_available(&client).unwrap();
        block_on(available).unwrap();
        Self { device, beside, client, _lab: lab, _folder: folder }
    }

    /// A value of the machine.
    fn value(&self, name: &str) -> f64 {
        self.device.send(&format!("show {name}"));
        let line = self.device.prints(name);
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    fn motors(&mut self, data: bool) -> (bool, String) {
        let request = SetBool::Request { data };
        let answer = self.beside.call::<SetBool::Service>("/gripper/set_motor_power", request);
        (answer.success, answer.message)
    }

    /// Sets a parameter; the reason of a refusal.
    fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        let value = ParameterValue { type_: 3, double_value: value, ..Default::default() };
        let request = SetParameters::Request { parameters: vec![Parameter { name: name.to_owned(), value }] };
        let answer = self.beside.call::<SetParameters::Service>("/gripper/machine/set_parameters", request);
        let [result] = &answer.results[..] else { panic!("{answer:?}") };
        if result.successful { Ok(()) } else { Err(result.reason.clone()) }
    }

    fn get(&mut self, names: &[&str]) -> Vec<ParameterValue> {
        let request = GetParameters::Request { names: names.iter().map(|&name| name.to_owned()).collect() };
        self.beside.call::<GetParameters::Service>("/gripper/machine/get_parameters", request).values
    }
}

fn goal(position: f64) -> Goal {
    let mut goal = Goal::default();
    (goal.command.position, goal.command.max_effort) = (position, 20.0);
    goal
}

#[test]
fn a_goal_is_carried_out_refused_ended_and_replaced() {
    let gripper = Operator::new(&[]);
    let client = &gripper.client.clone();
    let send = |goal: Goal| async move { client.send_goal_request(goal).unwrap().await };
    block_on(async {
        let (_goal, result, feedback) = send(goal(0.08)).await.expect("accepted");
        let (status, result) = result.await.unwrap();
        assert_eq!(status, GoalStatus::Succeeded);
        assert!(result.reached_goal && (result.position - 0.08).abs() < 0.001, "{result:?}");
        let feedback: Vec<_> = feedback.collect().await;
        assert!(feedback.len() > 3 && feedback[0].position < 0.08, "{feedback:?}");
        // Outside of the limits.
        for wrong in [0.2, -0.01, f64::NAN] {
            assert!(send(goal(wrong)).await.is_err(), "{wrong}");
        }
    });
    // Ended on request: the fingers stop where they are.
    let (_handle, result) = block_on(async {
        let (handle, result, mut feedback) = send(goal(0.01)).await.unwrap();
        feedback.next().await.expect("it moves");
        handle.cancel().unwrap().await.unwrap();
        (handle, result)
    });
    assert_eq!(block_on(result).unwrap().0, GoalStatus::Canceled);
    let stopped = gripper.value("wanted");
    assert!(stopped > 0.011 && (gripper.value("position") - stopped).abs() < 1e-6, "{stopped}");
    // Another goal takes its place.
    block_on(async {
        let (_first, first, _) = send(goal(0.01)).await.unwrap();
        let (_second, second, _) = send(goal(0.03)).await.unwrap();
        assert_eq!(first.await.unwrap().0, GoalStatus::Aborted);
        assert_eq!(second.await.unwrap().0, GoalStatus::Succeeded);
    });
    // The machine refuses.
    gripper.device.send("set hot 1");
    sleep(Duration::from_millis(100));
    block_on(async {
        let (_goal, result, _) = send(goal(0.05)).await.unwrap();
        assert_eq!(result.await.unwrap().0, GoalStatus::Aborted);
    });
    assert_eq!(gripper.value("wanted"), gripper.value("position"));
}

#[test]
fn a_goal_that_jams_is_late_or_loses_its_link_fails_and_the_machine_is_stopped() {
    let mut gripper = Operator::new(&[]);
    let client = &gripper.client.clone();
    let send = |goal: Goal| async move { client.send_goal_request(goal).unwrap().await };
    // It says that it jams.
    let (_goal, result, _) = block_on(send(goal(0.08))).unwrap();
    gripper.device.send("set jams 1");
    let (status, result) = block_on(result).unwrap();
    assert!(status == GoalStatus::Aborted && result.stalled && !result.reached_goal, "{status} {result:?}");
    gripper.device.send("set jams 0");
    sleep(Duration::from_millis(100));
    assert!((gripper.value("wanted") - 0.08).abs() > 0.001, "stopped");
    // The service stop.
    let (_goal, result, _) = block_on(send(goal(0.08))).unwrap();
    assert!(gripper.beside.call::<Trigger::Service>("/gripper/stop", Trigger::Request::default()).success);
    assert_eq!(block_on(result).unwrap().0, GoalStatus::Aborted);
    // A machine that moves for ever.
    let (_goal, result, _) = block_on(send(goal(0.08))).unwrap();
    for _ in 0..40 {
        gripper.device.send("set position 0.01");
        sleep(Duration::from_millis(100));
    }
    assert_eq!(block_on(result).unwrap().0, GoalStatus::Aborted);
    assert!((gripper.value("wanted") - 0.08).abs() > 0.001, "stopped");
    let (_goal, result, _) = block_on(send(goal(0.08))).unwrap();
    gripper.device.send("cut 1");
    assert_eq!(block_on(result).unwrap().0, GoalStatus::Aborted);
}

#[test]
fn motors_are_on_when_the_machine_has_said_so() {
    let mut gripper = Operator::new(&[]);
    assert_eq!(gripper.motors(true), (true, "motors on".to_owned()));
    assert_eq!(gripper.value("powered"), 1.0);
    gripper.device.send("set hot 1");
    sleep(Duration::from_millis(100));
    assert_eq!(gripper.motors(false), (false, "too hot".to_owned()));
    assert_eq!(gripper.value("powered"), 1.0);
    gripper.device.send("silence 1");
    sleep(Duration::from_millis(100));
    assert_eq!(gripper.motors(false), (false, "no answer to power within 0.3 s".to_owned()));
}

#[test]
fn constants_and_times_are_parameters() {
    let arguments = ["--ros-args", "-p", "machine:width_scale:=2.0", "-p", "timing.answer:=0.2", "--"];
    let mut gripper = Operator::new(&arguments);
    let values = gripper.get(&["width_scale", "timing.answer", "link"]);
    let [scale, answer, link] = &values[..] else { panic!("{values:?}") };
    assert_eq!((scale.double_value, answer.double_value, &*link.string_value), (2.0, 0.2, PORT));
    let request = DescribeParameters::Request { names: vec!["width_scale".to_owned(), "link".to_owned()] };
    let described =
        gripper.beside.call::<DescribeParameters::Service>("/gripper/machine/describe_parameters", request);
    let [scale, link] = &described.descriptors[..] else { panic!("{described:?}") };
    assert_eq!(scale.description, "width of the fingers by that of the motor");
    let range = &scale.floating_point_range[0];
    assert_eq!((range.from_value, range.to_value, scale.read_only, link.read_only), (0.5, 2.0, false, true));
    // 0.05 m at the motor.
    let mut width = gripper.beside.subscribe::<Float64>("/gripper/width");
    let is = |expected: f64| move |width: &Float64| (width.data - expected).abs() < 1e-9;
    gripper.beside.find("the width", &mut width, is(0.1));
    assert_eq!(gripper.set("width_scale", 0.5), Ok(()));
    gripper.beside.find("the width", &mut width, is(0.025));
    let refused = gripper.set("width_scale", 3.0).unwrap_err();
    assert_eq!(refused, "parameter 'width_scale' must lie between 0.5 and 2; 3 was given");
    let refused = gripper.set("width_scale", f64::NAN).unwrap_err();
    assert_eq!(refused, "parameter 'width_scale' must be finite; NaN was given");
    assert!(gripper.set("timing.answer", -1.0).is_err());
    assert_eq!(gripper.get(&["width_scale"])[0].double_value, 0.5);
    // A new time is that of the next question.
    assert_eq!(gripper.set("timing.answer", 0.1), Ok(()));
    gripper.device.send("silence 1");
    sleep(Duration::from_millis(100));
    assert_eq!(gripper.motors(true).1, "no answer to power within 0.1 s");
    sleep(Duration::from_secs(2));
    assert!(gripper.motors(true).0);
}

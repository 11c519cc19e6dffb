//! The applications of `dragoman_apps` over ROS, against the lab.

use std::f64::consts::FRAC_PI_4;
use std::time::Duration;

use crate::common::{Lab, Log, Program as Witness, block_on, call, context, last, latched, sleep, until};
use dragoman_apps::carry::Carry;
use dragoman_apps::navigate::{Navigate, NavigateSettings};
use dragoman_apps::node::{AppError, End, run};
use dragoman_apps::program::{Failure, Program, Status};
use dragoman_ros::QosProfile;
use dragoman_ros::arbotix_msgs::srv::{Enable, SetSpeed};
use dragoman_ros::dragoman_msgs::srv::{GetLocation, PlaceXyz};
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::JointState;
use dragoman_ros::std_msgs::msg::String as Text;
use dragoman_ros::std_srvs::srv::Trigger;
use dragoman_ros::supervision::Supervisor;

const LIMIT: Duration = Duration::from_secs(60);
/// Time in which a base stops, with a margin.
const WHILE: Duration = Duration::from_secs(1);

fn lab(world: &str) -> Lab {
    Lab::start_with(0, &["up", "--only", "turtlebot,apolo", "--world", world], &[])
}

/// Runs a program for at most `limit`. Returns its result and output.
fn end(domain: u16, program: impl Program, limit: Duration) -> (Result<End, AppError>, Vec<String>) {
    let mut said = Vec::new();
    let print = |text: &str| said.push(text.to_owned());
    let ended = block_on(async {
        let supervisor = Supervisor::new(Vec::new());
        let stop = dragoman_time::sleep(limit);
        let ended = run(&context(domain), &supervisor, "app", program, print, stop).await;
        supervisor.shut_down(std::future::pending()).await;
        ended
    });
    (ended, said)
}

/// Odometry and console, recorded by another node from before the program starts.
fn witness(lab: &Lab) -> (Log<Odometry>, Log<Text>) {
    let mut witness = Witness::new(lab);
    let odometry = witness.record("/odom", QosProfile::default().keep_last(1));
    let console = witness.record("/vrep/aux_console/text", latched());
    witness.start();
    (odometry, console)
}

/// The newest odometry, after a while.
fn odometry(log: &Log<Odometry>) -> Odometry {
    sleep(WHILE);
    last(log).unwrap()
}

#[test]
fn a_target_is_reached_and_the_base_stands() {
    let lab = lab("corridor");
    let (driven, console) = witness(&lab);
    let settings = NavigateSettings { targets: vec![[0.6, 0.1]], ..NavigateSettings::default() };
    let (ended, said) = end(lab.domain, Navigate::new(settings), LIMIT);
    assert_eq!(ended.unwrap(), End::Program(Status::Done), "{said:?}");
    assert!(said.iter().any(|text| text.starts_with("target 1 of 1 reached")), "{said:?}");
    let odometry = odometry(&driven);
    let position = odometry.pose.pose.position;
    // Its radius for a target.
    assert!((position.x - 0.6).hypot(position.y - 0.1) < 0.07, "{position:?}");
    assert!(odometry.twist.twist.linear.x.abs() < 1e-3);
    // Its output is on the console too.
    until("the console", || last(&console).is_some_and(|text| text.data.contains("target 1 of 1 reached")));
}

/// The effect of Ctrl-C.
#[test]
fn a_program_that_is_stopped_stops_the_base() {
    let lab = lab("laboratory");
    let (driven, _) = witness(&lab);
    let (ended, said) = end(lab.domain, Carry::new(), Duration::from_secs(8));
    assert_eq!(ended.unwrap(), End::Stopped, "{said:?}");
    assert!(said.iter().any(|text| text == "to the far table"), "{said:?}");
    let odometry = odometry(&driven);
    assert!(
        odometry.pose.pose.position.x > 0.1 && odometry.twist.twist.linear.x.abs() < 1e-3,
        "{odometry:?}"
    );
}

#[test]
fn a_missing_robot_is_reported() {
    // The lab is in another domain.
    let lab = lab("laboratory");
    let (ended, _) = end(lab.domain + 1, Carry::new(), LIMIT);
    let error = ended.unwrap_err().to_string();
    assert!(error.contains("/odom, /mobile_base/sensors/core") && error.contains("domain"), "{error}");
}

#[test]
fn the_cube_is_carried_over_ros() {
    let lab = lab("laboratory");
    let mut asker = Witness::new(&lab);
    let location = asker.client::<GetLocation::Service>("/apolo/get_location");
    asker.start();
    let (ended, said) = end(lab.domain, Carry::new(), Duration::from_secs(150));
    assert_eq!(ended.unwrap(), End::Program(Status::Done), "{said:?}");
    let answer = call(&location, &GetLocation::Request { object: "cube".into(), ..Default::default() });
    assert!(answer.found, "{}", answer.message);
    let cube = answer.position;
    assert!((cube.x + 3.32).abs() < 0.05 && cube.y.abs() < 0.05 && (cube.z - 0.475).abs() < 1e-3, "{cube:?}");
}

/// Positions of the arm's joints at the start, and the distance at which one has left it: a relaxed arm falls.
const START: [(&str, f64); 3] =
    [("arm_1_joint", FRAC_PI_4), ("arm_2_joint", 0.0), ("arm_3_joint", -FRAC_PI_4)];
const AWAY: f64 = 0.05;

#[test]
fn after_a_reset_an_application_finds_everything_as_at_the_start() {
    let lab = lab("laboratory");
    let mut user = Witness::new(&lab);
    let location = user.client::<GetLocation::Service>("/apolo/get_location");
    let place = user.client::<PlaceXyz::Service>("/apolo/place_xyz");
    let reset = user.client::<Trigger::Service>("/simulation/reset");
    let slow = user.client::<SetSpeed::Service>("/arm_3_joint/set_speed");
    let disable = user.client::<Enable::Service>("/arm_2_joint/enable");
    let joints = user.record::<JointState>("/joint_states", QosProfile::default());
    user.start();
    let reset = || {
        let answer = call(&reset, &Trigger::Request::default());
        assert!(answer.success, "{}", answer.message);
        sleep(Duration::from_secs(1));
    };
    let arm = || {
        joints.lock().unwrap().clear();
        until("joints", || last(&joints).is_some());
        let state = last(&joints).unwrap();
        START.map(|(name, _)| state.position[state.name.iter().position(|other| other == name).unwrap()])
    };
    for run in 0..2 {
        let (ended, said) = end(lab.domain, Carry::new(), Duration::from_secs(150));
        assert_eq!(ended.unwrap(), End::Program(Status::Done), "run {run}: {said:?}");
        let answer = call(&location, &GetLocation::Request { object: "cube".into(), ..Default::default() });
        assert!((answer.position.x + 3.32).abs() < 0.05, "run {run}: {:?}", answer.position);
        // The program has relaxed the arm. Another one slows a joint and disables one.
        call(&slow, &SetSpeed::Request { speed: 0.1 });
        call(&disable, &Enable::Request { enable: false });
        reset();
        for _ in 0..5 {
            for ((name, start), position) in START.into_iter().zip(arm()) {
                assert!((position - start).abs() < AWAY, "run {run}: {name} at {position}");
            }
            sleep(Duration::from_secs(1));
        }
    }
    // A program that reached nothing says so.
    let mut request = PlaceXyz::Request { object: "cube".into(), ..Default::default() };
    (request.position.x, request.position.y, request.position.z) = (2.0, 2.0, 0.02);
    assert!(call(&place, &request).success);
    let (ended, said) = end(lab.domain, Carry::new(), Duration::from_secs(150));
    let End::Program(Status::Failed(Failure::NotHeld { when, .. })) = ended.unwrap() else {
        panic!("{said:?}")
    };
    assert_eq!(when, "after grasping");
}

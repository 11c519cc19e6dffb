//! The applications of `dragoman_apps` over ROS, against the lab.

use std::time::Duration;

use crate::common::{Lab, Log, Program as Witness, block_on, call, context, last, latched, sleep, until};
use dragoman_apps::carry::Carry;
use dragoman_apps::navigate::{Navigate, NavigateSettings};
use dragoman_apps::node::{AppError, End, run};
use dragoman_apps::program::{Program, Status};
use dragoman_ros::QosProfile;
use dragoman_ros::dragoman_msgs::srv::GetLocation;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::std_msgs::msg::String as Text;
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
fn without_a_robot_the_program_says_so() {
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

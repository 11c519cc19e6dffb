//! The applications of `dragoman_apps` over ROS, against the lab in a process of its own, in real time.

mod common;

use std::time::Duration;

use common::{Lab, domain};
use dragoman_apps::carry::Carry;
use dragoman_apps::navigate::{Navigate, NavigateSettings};
use dragoman_apps::node::{AppError, End, run};
use dragoman_apps::program::{Program, Status};
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::std_msgs::msg::String as Text;
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
use futures::{FutureExt, StreamExt};

const LIMIT: Duration = Duration::from_secs(60);

fn context(domain: u16) -> Context {
    let discovery =
        Discovery { domain_id: domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    Context::with_options(&discovery, Arguments::default()).unwrap()
}

fn lab(world: &str) -> Lab {
    Lab::start_with(domain(), &["up", "--world", world], &["-p", "arm31:port:=0"])
}

/// Runs a program for `limit` at most. How it ended, and what it said.
fn end(domain: u16, program: impl Program, limit: Duration) -> (Result<End, AppError>, Vec<String>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut said = Vec::new();
    let ended = runtime.block_on(run(
        &context(domain),
        "app",
        program,
        |text| said.push(text.to_owned()),
        tokio::time::sleep(limit),
    ));
    (ended, said)
}

/// Another node's subscriptions, before the program begins.
struct Witness {
    node: Node,
    odometry: futures::stream::BoxStream<'static, Odometry>,
    velocity: futures::stream::BoxStream<'static, Twist>,
    console: futures::stream::BoxStream<'static, Text>,
}

impl Witness {
    fn new(domain: u16) -> Self {
        let mut node = Node::create(context(domain), "witness", "").unwrap();
        Self {
            odometry: node.subscribe("/odom", QosProfile::default().keep_last(1)).unwrap().boxed(),
            velocity: node
                .subscribe("/mobile_base/commands/velocity", QosProfile::default().keep_last(5))
                .unwrap()
                .boxed(),
            console: node
                .subscribe("/vrep/aux_console/print", QosProfile::default().keep_last(100))
                .unwrap()
                .boxed(),
            node,
        }
    }

    /// Where the robot is and how it moves.
    fn odometry(&mut self) -> Odometry {
        loop {
            self.node.spin_once(Duration::from_millis(20));
            if let Some(odometry) = self.odometry.next().now_or_never().flatten() {
                return odometry;
            }
        }
    }
}

#[test]
fn a_target_is_reached_and_the_base_stands() {
    let lab = lab("corridor");
    let mut witness = Witness::new(lab.domain);
    let settings = NavigateSettings { targets: vec![[0.6, 0.1]], ..NavigateSettings::default() };
    let (ended, said) = end(lab.domain, Navigate::new(settings), LIMIT);
    assert_eq!(ended.unwrap(), End::Program(Status::Done), "{said:?}");
    assert!(said.iter().any(|text| text.starts_with("target 1 of 1 reached")), "{said:?}");
    std::thread::sleep(Duration::from_millis(500));
    let _ = witness.odometry();
    std::thread::sleep(Duration::from_millis(100));
    let odometry = witness.odometry();
    let position = odometry.pose.pose.position;
    assert!((position.x - 0.6).hypot(position.y - 0.1) < 0.07, "{position:?}");
    assert!(odometry.twist.twist.linear.x.abs() < 1e-3);
    // What it says is on the console too.
    let console: Vec<Text> = std::iter::from_fn(|| witness.console.next().now_or_never().flatten()).collect();
    assert!(console.iter().any(|text| text.data.starts_with("target 1 of 1 reached")), "{console:?}");
}

/// What Ctrl-C does.
#[test]
fn a_program_that_is_stopped_stops_the_base() {
    let lab = lab("laboratory");
    let mut witness = Witness::new(lab.domain);
    let (ended, said) = end(lab.domain, Carry::new(), Duration::from_secs(6));
    assert_eq!(ended.unwrap(), End::Stopped, "{said:?}");
    assert!(said.iter().any(|text| text == "to the far table"), "{said:?}");
    let mut last = Twist::default();
    let mut driven = false;
    witness.node.spin_once(Duration::from_millis(100));
    while let Some(velocity) = witness.velocity.next().now_or_never().flatten() {
        driven |= velocity.linear.x > 0.1;
        last = velocity;
    }
    assert!(driven || witness.odometry().pose.pose.position.x > 0.1, "it had been driving");
    assert_eq!(last, Twist::default());
}

#[test]
fn without_a_robot_the_program_says_so() {
    let (ended, _) = end(domain(), Carry::new(), LIMIT);
    let error = ended.unwrap_err().to_string();
    assert!(error.contains("/odom, /mobile_base/sensors/core") && error.contains("domain"), "{error}");
}

/// The whole of it, in 80 s of real time.
#[test]
#[ignore = "takes 80 s; tests/carry.rs of dragoman_apps does the same on virtual time"]
fn the_cube_is_carried_over_ros() {
    let lab = lab("laboratory");
    let (ended, said) = end(lab.domain, Carry::new(), Duration::from_secs(150));
    assert_eq!(ended.unwrap(), End::Program(Status::Done), "{said:?}");
}

//! The applications of `dragoman_apps` over ROS, against the lab in another process, in real time.

use std::time::{Duration, Instant};

use crate::common::{Lab, domain};
use dragoman_apps::carry::Carry;
use dragoman_apps::navigate::{Navigate, NavigateSettings};
use dragoman_apps::node::{AppError, End, run};
use dragoman_apps::program::{Program, Status};
use dragoman_ros::dragoman_msgs::srv::GetLocation;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::std_msgs::msg::String as Text;
use dragoman_ros::supervision::Supervisor;
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
use futures::{FutureExt, StreamExt};

const LIMIT: Duration = Duration::from_secs(60);
/// Time in which a base stops, with a margin.
const WHILE: Duration = Duration::from_secs(1);

fn context(domain: u16) -> Context {
    let discovery =
        Discovery { domain_id: domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
    Context::with_options(&discovery, Arguments::default()).unwrap()
}

fn lab(world: &str) -> Lab {
    Lab::start_with(domain(), &["up", "--world", world], &["-p", "arm31:port:=0"])
}

/// Runs a program for at most `limit`. Returns its result and output.
fn end(domain: u16, program: impl Program, limit: Duration) -> (Result<End, AppError>, Vec<String>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let mut said = Vec::new();
    let print = |text: &str| said.push(text.to_owned());
    let ended = runtime.block_on(async {
        let supervisor = Supervisor::new(Vec::new());
        let stop = tokio::time::sleep(limit);
        let ended = run(&context(domain), &supervisor, "app", program, print, stop).await;
        supervisor.shut_down(std::future::pending()).await;
        ended
    });
    (ended, said)
}

/// Subscriptions of another node, made before the program starts.
struct Witness {
    node: Node,
    odometry: futures::stream::BoxStream<'static, Odometry>,
    console: futures::stream::BoxStream<'static, Text>,
}

impl Witness {
    fn new(domain: u16) -> Self {
        let mut node = Node::create(context(domain), "witness", "").unwrap();
        Self {
            odometry: node.subscribe("/odom", QosProfile::default().keep_last(1)).unwrap().boxed(),
            console: node
                .subscribe("/vrep/aux_console/text", QosProfile::default().keep_last(1).transient_local())
                .unwrap()
                .boxed(),
            node,
        }
    }

    /// Receives for a while, and returns the newest odometry.
    fn odometry(&mut self) -> Odometry {
        let (began, mut newest) = (Instant::now(), None);
        while newest.is_none() || began.elapsed() < WHILE {
            assert!(began.elapsed() < LIMIT, "no odometry");
            self.node.spin_once(Duration::from_millis(10));
            while let Some(odometry) = self.odometry.next().now_or_never().flatten() {
                newest = Some(odometry);
            }
        }
        newest.unwrap_or_default()
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
    let odometry = witness.odometry();
    let position = odometry.pose.pose.position;
    // 5 cm, and the distance until a busy machine forwards the stop.
    assert!((position.x - 0.6).hypot(position.y - 0.1) < 0.25, "{position:?}");
    assert!(odometry.twist.twist.linear.x.abs() < 1e-3);
    // Its output is on the console too.
    let began = Instant::now();
    let mut console = String::new();
    while !console.contains("target 1 of 1 reached") {
        assert!(began.elapsed() < Duration::from_secs(10), "{console}");
        witness.node.spin_once(Duration::from_millis(10));
        if let Some(text) = witness.console.next().now_or_never().flatten() {
            console = text.data;
        }
    }
}

/// The effect of Ctrl-C.
#[test]
fn a_program_that_is_stopped_stops_the_base() {
    let lab = lab("laboratory");
    let mut witness = Witness::new(lab.domain);
    let (ended, said) = end(lab.domain, Carry::new(), Duration::from_secs(8));
    assert_eq!(ended.unwrap(), End::Stopped, "{said:?}");
    assert!(said.iter().any(|text| text == "to the far table"), "{said:?}");
    let odometry = witness.odometry();
    assert!(
        odometry.pose.pose.position.x > 0.1 && odometry.twist.twist.linear.x.abs() < 1e-3,
        "{odometry:?}"
    );
}

#[test]
fn without_a_robot_the_program_says_so() {
    let (ended, _) = end(domain(), Carry::new(), LIMIT);
    let error = ended.unwrap_err().to_string();
    assert!(error.contains("/odom, /mobile_base/sensors/core") && error.contains("domain"), "{error}");
}

/// Position of an object in the world.
fn location(domain: u16, name: &str) -> dragoman_ros::geometry_msgs::msg::Point {
    let mut node = Node::create(context(domain), "asker", "").unwrap();
    let client = node
        .create_client::<GetLocation::Service>("/apolo/get_location", QosProfile::services_default())
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut asked = std::pin::pin!(async {
        Node::is_available(&client).unwrap().await.unwrap();
        client.request(&GetLocation::Request { object: name.to_owned(), ..Default::default() }).unwrap().await
    });
    let answer = runtime.block_on(async {
        loop {
            tokio::select! {
                answer = &mut asked => break answer.unwrap(),
                () = tokio::time::sleep(Duration::from_millis(5)) => node.spin_once(Duration::from_millis(5)),
            }
        }
    });
    assert!(answer.found, "{name}: {}", answer.message);
    answer.position
}

/// The whole application, in 80 s of real time.
#[test]
#[ignore = "takes 80 s; tests/carry.rs of dragoman_apps does the same on virtual time"]
fn the_cube_is_carried_over_ros() {
    let lab = lab("laboratory");
    let (ended, said) = end(lab.domain, Carry::new(), Duration::from_secs(150));
    assert_eq!(ended.unwrap(), End::Program(Status::Done), "{said:?}");
    let cube = location(lab.domain, "cube");
    assert!((cube.x + 3.32).abs() < 0.05 && cube.y.abs() < 0.05 && (cube.z - 0.475).abs() < 1e-3, "{cube:?}");
}

//! One program and two robots: simulated ones in other processes, and robots that are missing, slow or answer
//! differently.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::common::{Lab, domain, until};
use dragoman_ros::arbotix_msgs::srv::{Enable, Relax};
use dragoman_ros::dragoman_msgs::msg::RelayReport;
use dragoman_ros::dragoman_msgs::srv::GetGeometry;
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::{JointState, LaserScan};
use dragoman_ros::std_msgs::msg::Float64;
use dragoman_ros::tasks::{NodeTasks, RunningNode};
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{
    Arguments, Context, Discovery, DiscoveryRange, Node, Publisher, QosProfile, WrappedServiceTypeSupport,
    WrappedTypesupport,
};
use futures::executor::block_on;
use futures::future::Either;
use futures::{FutureExt, StreamExt};

const PATIENCE: Duration = Duration::from_secs(20);

/// A program, or robots that log the received commands.
struct Peer {
    tasks: NodeTasks,
}

type Log<T> = Arc<Mutex<Vec<T>>>;

impl Peer {
    fn new(domain_id: u16) -> Self {
        let discovery = Discovery { domain_id, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        let context = Context::with_options(&discovery, Arguments::default()).unwrap();
        Self { tasks: NodeTasks::new(Node::create(context, "peer", "").unwrap()) }
    }

    fn record<T: WrappedTypesupport + Send + 'static>(&mut self, topic: &str) -> Log<T> {
        let log = Log::default();
        let sink = Arc::clone(&log);
        let qos = QosProfile::default().keep_last(100);
        self.tasks.subscribe(topic, qos, move |message: T| sink.lock().unwrap().push(message)).unwrap();
        log
    }

    fn publisher<T: WrappedTypesupport + 'static>(&mut self, topic: &str) -> Publisher<T> {
        self.tasks.node().create_publisher(topic, QosProfile::default()).unwrap()
    }

    fn client<S: WrappedServiceTypeSupport + 'static>(&mut self, name: &str) -> Client<S> {
        Client { client: self.tasks.node().create_client(name, QosProfile::services_default()).unwrap() }
    }

    fn start(self) {
        let node: RunningNode = self.tasks.start().unwrap();
        std::thread::spawn(move || block_on(node));
    }
}

struct Client<S: WrappedServiceTypeSupport + 'static> {
    client: dragoman_ros::Client<S>,
}

impl<S: WrappedServiceTypeSupport + 'static> Client<S> {
    fn wait(&self) {
        block_on(async { Node::is_available(&self.client).unwrap().await.unwrap() });
    }

    /// The response, if it comes within `patience`.
    fn call(&self, request: &S::Request, patience: Duration) -> Option<S::Response> {
        let answer = self.client.request(request).unwrap();
        let late = futures_timer(patience);
        match block_on(futures::future::select(answer, late)) {
            Either::Left((answer, _)) => Some(answer.unwrap()),
            Either::Right(_) => None,
        }
    }
}

fn futures_timer(time: Duration) -> futures::channel::oneshot::Receiver<()> {
    let (sender, receiver) = futures::channel::oneshot::channel();
    std::thread::spawn(move || {
        std::thread::sleep(time);
        drop(sender);
    });
    receiver
}

fn last<T: Clone>(log: &Log<T>) -> Option<T> {
    log.lock().unwrap().last().cloned()
}

#[test]
fn a_program_drives_two_simulated_robots_and_hears_the_first() {
    let domain = domain();
    // The first runs in another process, like a real one; the other comes with the relay.
    let remaps = ["-r", "__ns:=/real", "-r", "/tf:=tf", "-p", "arm31:port:=0"];
    let _real = Lab::start_with(domain, &["up"], &remaps);
    let _mixed = Lab::start_with(domain, &["up", "--mode", "mixed"], &["-p", "arm31:port:=0"]);
    let mut peer = Peer::new(domain);
    let received = peer.record::<Odometry>("/odom");
    let real = peer.record::<Odometry>("/real/odom");
    let sim = peer.record::<Odometry>("/sim/odom");
    let joints = peer.record::<JointState>("/joint_states");
    let sim_joints = peer.record::<JointState>("/sim/joint_states");
    let transforms = peer.record::<TFMessage>("/tf");
    let reports = peer.record::<RelayReport>("/relay/reports");
    let velocity = peer.publisher::<Twist>("/mobile_base/commands/velocity");
    let command = peer.publisher::<Float64>("/arm_5_joint/command");
    let enable = peer.client::<Enable::Service>("/arm_5_joint/enable");
    let geometry = peer.client::<GetGeometry::Service>("/mobile_base/get_geometry");
    peer.start();
    until("data of both robots arrive", || {
        last(&real).is_some() && last(&sim).is_some() && last(&received).is_some()
    });
    let mut forward = Twist::default();
    forward.linear.x = 0.2;
    let moved = |log: &Log<Odometry>| last(log).unwrap().pose.pose.position.x > 0.05;
    until("both move", || {
        velocity.publish(&forward).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        moved(&real) && moved(&sim) && moved(&received)
    });
    let wrist = |log: &Log<JointState>| {
        let state = last(log)?;
        let at = state.name.iter().position(|name| name == "arm_5_joint")?;
        Some(state.position[at])
    };
    until("both arms are at their commanded positions", || {
        command.publish(&Float64 { data: 0.2 }).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        let reached = |log| wrist(log).is_some_and(|position| (position - 0.2).abs() < 0.02);
        reached(&joints) && reached(&sim_joints)
    });
    let bases = |message: &TFMessage| message.transforms.iter().any(|t| t.child_frame_id == "base_footprint");
    until("the first robot's transform arrives", || transforms.lock().unwrap().iter().any(bases));
    let stamps: Vec<_> = real.lock().unwrap().iter().map(|odometry| odometry.header.stamp.clone()).collect();
    let own =
        received.lock().unwrap().iter().filter(|odometry| stamps.contains(&odometry.header.stamp)).count();
    assert!(own > 10, "the program receives the first robot's data: {own}");

    geometry.wait();
    until("both answer", || {
        let answer = geometry.call(&GetGeometry::Request::default(), PATIENCE).expect("an answer");
        assert!(answer.success);
        std::thread::sleep(Duration::from_millis(100));
        last(&reports).is_some_and(|report| report.agree)
    });
    let report = last(&reports).unwrap();
    assert_eq!(
        (report.service.as_str(), report.robots.as_slice()),
        ("/mobile_base/get_geometry", &["/real".to_owned(), "/sim".to_owned()][..])
    );
    assert_eq!((report.outcomes, report.returned), (vec![0, 0], 0));
    assert!(report.seconds.iter().all(|seconds| *seconds < 1.0) && report.answers[0].contains("0.354"));
    enable.wait();
    let answer = enable.call(&Enable::Request { enable: false }, PATIENCE).expect("an answer");
    assert!(!answer.state);
    until("both arms answered alike", || {
        last(&reports).is_some_and(|report| report.service == "/arm_5_joint/enable" && report.agree)
    });
}

#[test]
fn a_robot_that_is_missing_or_slow_does_not_hold_up_the_other() {
    let domain = domain();
    let _relay = Lab::start_with(domain, &["relay"], &["-p", "relay:service_timeout:=0.5"]);
    let mut peer = Peer::new(domain);
    // The second robot is running, the first is not; one service of the first robot's joints is slow.
    let commands = peer.record::<Float64>("/sim/arm_1_joint/command");
    let reports = peer.record::<RelayReport>("/relay/reports");
    let enable = |request: Enable::Request| Enable::Response { state: request.enable };
    peer.tasks.serve::<Enable::Service>("/sim/arm_1_joint/enable", enable).unwrap();
    peer.tasks.serve::<Enable::Service>("/sim/arm_2_joint/enable", enable).unwrap();
    let other = |request: Enable::Request| Enable::Response { state: !request.enable };
    peer.tasks.serve::<Enable::Service>("/real/arm_2_joint/enable", other).unwrap();
    peer.tasks.serve::<Enable::Service>("/sim/arm_3_joint/enable", enable).unwrap();
    let slow = |_| async {
        std::future::pending::<()>().await;
        Enable::Response::default()
    };
    peer.tasks.serve_later::<Enable::Service, _>("/real/arm_3_joint/enable", slow).unwrap();
    let command = peer.publisher::<Float64>("/arm_1_joint/command");
    let clients: Vec<_> =
        (1..=3).map(|n| peer.client::<Enable::Service>(&format!("/arm_{n}_joint/enable"))).collect();
    let unserved = peer.client::<Relax::Service>("/arm_4_joint/relax");
    peer.start();

    until("the robot that is there is commanded", || {
        command.publish(&Float64 { data: 0.5 }).unwrap();
        std::thread::sleep(Duration::from_millis(20));
        last(&commands) == Some(Float64 { data: 0.5 })
    });
    clients.iter().for_each(Client::wait);
    // Servers and clients of services discover each other one after the other.
    std::thread::sleep(Duration::from_millis(1000));
    let ask = |client: &Client<Enable::Service>| {
        let before = reports.lock().unwrap().len();
        let start = Instant::now();
        let answer = client.call(&Enable::Request { enable: true }, PATIENCE).expect("an answer");
        let took = start.elapsed();
        until("it is reported", || reports.lock().unwrap().len() > before);
        (answer.state, took, last(&reports).unwrap())
    };
    let (state, took, report) = ask(&clients[0]);
    assert!(state && took < Duration::from_millis(400), "{took:?}");
    assert_eq!((report.outcomes.as_slice(), report.returned, report.agree), (&[2, 0][..], 1, false));
    assert_eq!(report.answers, ["", r#"{"state":true}"#]);
    let (state, _, report) = ask(&clients[1]);
    assert!(!state, "the first robot's answer");
    assert_eq!((report.outcomes.as_slice(), report.returned, report.agree), (&[0, 0][..], 0, false));
    let (state, took, report) = ask(&clients[2]);
    assert!(state && (0.4..1.5).contains(&took.as_secs_f64()), "{took:?}");
    assert_eq!((report.outcomes.as_slice(), report.returned), (&[1, 0][..], 1));

    unserved.wait();
    let answer = unserved.call(&Relax::Request::default(), Duration::from_millis(1500));
    assert_eq!(answer, None, "no joint was relaxed, and no response came");
    until("that is reported", || last(&reports).is_some_and(|report| report.returned == -1));
}

#[test]
#[cfg(target_os = "linux")]
fn the_real_robot_is_where_programs_look_for_it() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("real_{}", std::process::id()));
    let mut machine = std::process::Command::new(env!("CARGO_BIN_EXE_dragoman"))
        .args(["device", "kobuki", "--pty"])
        .arg(&path)
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    until("the machine is at its port", || path.exists());
    let port = format!("mobile_base:device_port:={}", path.display());
    let domain = domain();
    let lab = Lab::start_with(domain, &["up", "--mode", "real"], &["-p", &port, "-p", "arm31:port:=0"]);
    let row = lab.banner.iter().find(|row| row.starts_with("kobuki"));
    let row = row.unwrap_or_else(|| panic!("{:?}", lab.banner));
    assert!(row.contains(path.to_str().unwrap()) && row.ends_with("/mobile_base"), "{row}");
    let mut peer = Peer::new(domain);
    let received = peer.record::<Odometry>("/odom");
    let joints = peer.record::<JointState>("/joint_states");
    let nothing = peer.record::<Float64>("/simulation/sim_time");
    peer.start();
    until("data of the machine arrive", || {
        received.lock().unwrap().len() > 20 && joints.lock().unwrap().len() > 20
    });
    assert_eq!(last(&joints).unwrap().name, ["wheel_left_joint", "wheel_right_joint"], "it has no arm");
    assert!(nothing.lock().unwrap().is_empty(), "nothing of it is simulated");
    drop(lab);
    machine.kill().unwrap();
    machine.wait().unwrap();
    let _ = std::fs::remove_file(&path);

    let lab = Lab::start_with(domain, &["up", "--mode", "real"], &["-p", "arm31:port:=0"]);
    assert!(
        lab.banner.iter().any(|row| row.starts_with("(in ROS)") && row.contains("TurtleBot")),
        "{:?}",
        lab.banner
    );
}

#[test]
fn a_laser_is_listened_to_only_while_a_program_listens() {
    let domain = domain();
    let _relay = Lab::start_with(domain, &["relay"], &[]);
    let mut node = Peer::new(domain).tasks;
    let scans = node.node().create_publisher::<LaserScan>("/real/scan", QosProfile::default()).unwrap();
    let listeners = || scans.get_inter_process_subscription_count().unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(listeners(), 0);
    for round in 0..2 {
        let mut received = node.node().subscribe::<LaserScan>("/scan", QosProfile::default()).unwrap();
        until("the laser is listened to", || listeners() == 1);
        let mut scan = LaserScan { ranges: vec![1.5; 684], ..Default::default() };
        scan.header.stamp.sec = round + 1;
        until("a scan arrives", || {
            scans.publish(&scan).unwrap();
            std::thread::sleep(Duration::from_millis(20));
            matches!(received.next().now_or_never(), Some(Some(passed)) if passed == scan)
        });
        drop(received);
        until("no subscriber is left", || listeners() == 0);
    }
}

#[test]
fn circles_and_strange_tables_are_refused() {
    let refused = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_dragoman"))
            .args(arguments)
            .args(["--domain", &domain().to_string()])
            .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let circle = refused(&["relay", "--robots", "/,/sim"]);
    assert!(circle.contains("in a circle"), "{circle}");
    let circle = refused(&[
        "up",
        "--mode",
        "mixed",
        "--real-namespace",
        "/",
        "--console",
        "off",
        "--ros-args",
        "-p",
        "apolo:port:=0",
        "-p",
        "arm31:port:=0",
        "-p",
        "neobotix:ports:=[0,0]",
        "--",
    ]);
    assert!(circle.contains("in a circle"), "{circle}");
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("strange.yaml");
    std::fs::write(&path, "topics: [{name: a, type: no_msgs/msg/None, to: robots}]").unwrap();
    let strange = refused(&["relay", "--table", path.to_str().unwrap()]);
    assert!(strange.contains("no_msgs/msg/None cannot be relayed"), "{strange}");
}

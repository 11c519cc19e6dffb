//! One program and two robots: simulated ones in other programs, and robots that are missing, slow or answer
//! differently.

use std::time::Duration;

use crate::common::{Folder, Lab, Log, block_on, call, context, last, sleep, until};
use crate::device::Device;
use dragoman_ros::arbotix_msgs::srv::{Enable, Relax};
use dragoman_ros::dragoman_msgs::msg::RelayReport;
use dragoman_ros::dragoman_msgs::srv::GetGeometry;
use dragoman_ros::geometry_msgs::msg::Twist;
use dragoman_ros::nav_msgs::msg::Odometry;
use dragoman_ros::sensor_msgs::msg::{JointState, LaserScan};
use dragoman_ros::std_msgs::msg::Float64;
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::tf2_msgs::msg::TFMessage;
use dragoman_ros::{Client, Node, Publisher, QosProfile, WrappedServiceTypeSupport, WrappedTypesupport};
use futures::{FutureExt, StreamExt};

/// A program, or robots that log the received commands.
struct Peer {
    tasks: NodeTasks,
}

impl Peer {
    fn new(domain: u16) -> Self {
        Self { tasks: NodeTasks::new(Node::create(context(domain), "peer", "").unwrap()) }
    }

    fn record<T: WrappedTypesupport + Send + 'static>(&mut self, topic: &str) -> Log<T> {
        let log = Log::default();
        let sink = std::sync::Arc::clone(&log);
        let qos = QosProfile::default().keep_last(100);
        self.tasks.subscribe(topic, qos, move |message: T| sink.lock().unwrap().push(message)).unwrap();
        log
    }

    fn publisher<T: WrappedTypesupport + 'static>(&mut self, topic: &str) -> Publisher<T> {
        self.tasks.node().create_publisher(topic, QosProfile::default()).unwrap()
    }

    fn client<S: WrappedServiceTypeSupport + 'static>(&mut self, name: &str) -> Client<S> {
        self.tasks.node().create_client(name, QosProfile::services_default()).unwrap()
    }

    fn start(self) {
        dragoman_time::spawn(self.tasks.start().unwrap());
    }
}

/// The response, if it comes within `time_limit`.
fn call_within<S: WrappedServiceTypeSupport + 'static>(
    client: &Client<S>,
    request: &S::Request,
    time_limit: Duration,
) -> Option<S::Response> {
    block_on(async {
        Node::is_available(client).unwrap().await.unwrap();
        let answer = client.request(request).unwrap();
        dragoman_time::timeout(time_limit, answer).await.ok().map(Result::unwrap)
    })
}

#[test]
fn a_program_drives_two_simulated_robots_and_receives_the_data_of_the_first() {
    let domain = 0;
    // The first runs in another program, like a real one; the other comes with the relay.
    let only = ["up", "--only", "turtlebot"];
    let _real = Lab::start_with(domain, &only, &["-r", "__ns:=/real", "-r", "/tf:=tf"]);
    let _mixed = Lab::start_with(domain, &[&only[..], &["--mode", "mixed"]].concat(), &[]);
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
        sleep(Duration::from_millis(50));
        moved(&real) && moved(&sim) && moved(&received)
    });
    let wrist = |log: &Log<JointState>| {
        let state = last(log)?;
        let at = state.name.iter().position(|name| name == "arm_5_joint")?;
        Some(state.position[at])
    };
    until("both arms are at their commanded positions", || {
        command.publish(&Float64 { data: 0.2 }).unwrap();
        sleep(Duration::from_millis(50));
        let reached = |log| wrist(log).is_some_and(|position| (position - 0.2).abs() < 0.02);
        reached(&joints) && reached(&sim_joints)
    });
    let bases = |message: &TFMessage| message.transforms.iter().any(|t| t.child_frame_id == "base_footprint");
    until("the first robot's transform arrives", || transforms.lock().unwrap().iter().any(bases));
    let stamps: Vec<_> = real.lock().unwrap().iter().map(|odometry| odometry.header.stamp.clone()).collect();
    let own =
        received.lock().unwrap().iter().filter(|odometry| stamps.contains(&odometry.header.stamp)).count();
    assert!(own > 10, "the program receives the first robot's data: {own}");

    until("both answer", || {
        assert!(call(&geometry, &GetGeometry::Request::default()).success);
        sleep(Duration::from_millis(100));
        last(&reports).is_some_and(|report| report.agree)
    });
    let report = last(&reports).unwrap();
    assert_eq!(
        (report.service.as_str(), report.robots.as_slice()),
        ("/mobile_base/get_geometry", &["/real".to_owned(), "/sim".to_owned()][..])
    );
    assert_eq!((report.outcomes, report.returned), (vec![0, 0], 0));
    assert!(report.seconds.iter().all(|seconds| *seconds < 1.0) && report.answers[0].contains("0.354"));
    assert!(!call(&enable, &Enable::Request { enable: false }).state);
    until("both arms answered alike", || {
        last(&reports).is_some_and(|report| report.service == "/arm_5_joint/enable" && report.agree)
    });
}

#[test]
fn a_robot_that_is_missing_or_slow_does_not_hold_up_the_other() {
    let domain = 0;
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
        sleep(Duration::from_millis(20));
        last(&commands) == Some(Float64 { data: 0.5 })
    });
    let ask = |client: &Client<Enable::Service>| {
        let before = reports.lock().unwrap().len();
        let start = dragoman_time::now();
        let answer = call(client, &Enable::Request { enable: true });
        let took = dragoman_time::since(start);
        until("it is reported", || reports.lock().unwrap().len() > before);
        (answer.state, took, last(&reports).unwrap())
    };
    let (state, took, report) = ask(&clients[0]);
    // The time in which a service is looked for.
    assert!(state && (0.05..0.06).contains(&took.as_secs_f64()), "{took:?}");
    assert_eq!((report.outcomes.as_slice(), report.returned, report.agree), (&[2, 0][..], 1, false));
    assert_eq!(report.answers, ["", r#"{"state":true}"#]);
    let (state, _, report) = ask(&clients[1]);
    assert!(!state, "the first robot's answer");
    assert_eq!((report.outcomes.as_slice(), report.returned, report.agree), (&[0, 0][..], 0, false));
    let (state, took, report) = ask(&clients[2]);
    // The time limit of a robot's answer.
    assert!(state && (0.5..0.51).contains(&took.as_secs_f64()), "{took:?}");
    assert_eq!((report.outcomes.as_slice(), report.returned), (&[1, 0][..], 1));

    let answer = call_within(&unserved, &Relax::Request::default(), Duration::from_millis(1500));
    assert_eq!(answer, None, "no joint was relaxed, and no response came");
    until("that is reported", || last(&reports).is_some_and(|report| report.returned == -1));
}

#[test]
fn the_real_robot_is_where_programs_look_for_it() {
    let port = "/dev/kobuki";
    let machine = Device::start(port, &["kobuki"]);
    let domain = 0;
    let parameter = format!("mobile_base:device_port:={port}");
    let real = ["up", "--only", "turtlebot", "--mode", "real"];
    let lab = Lab::start_with(domain, &real, &["-p", &parameter]);
    let row = lab.banner.iter().find(|row| row.starts_with("kobuki"));
    let row = row.unwrap_or_else(|| panic!("{:?}", lab.banner));
    assert!(row.contains(port) && row.ends_with("/mobile_base"), "{row}");
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
    drop(machine);

    // Another domain: the first lab runs on.
    let lab = Lab::start_with(domain + 1, &real, &[]);
    assert!(
        lab.banner.iter().any(|row| row.starts_with("(in ROS)") && row.contains("TurtleBot")),
        "{:?}",
        lab.banner
    );
}

#[test]
fn a_laser_is_subscribed_to_only_while_a_program_subscribes() {
    let domain = 0;
    let _relay = Lab::start_with(domain, &["relay"], &[]);
    let mut node = Peer::new(domain).tasks;
    let scans = node.node().create_publisher::<LaserScan>("/real/scan", QosProfile::default()).unwrap();
    let listeners = || scans.get_inter_process_subscription_count().unwrap();
    sleep(Duration::from_secs(1));
    assert_eq!(listeners(), 0);
    for round in 0..2 {
        let mut received = node.node().subscribe::<LaserScan>("/scan", QosProfile::default()).unwrap();
        until("the laser is listened to", || listeners() == 1);
        let mut scan = LaserScan { ranges: vec![1.5; 684], ..Default::default() };
        scan.header.stamp.sec = round + 1;
        until("a scan arrives", || {
            scans.publish(&scan).unwrap();
            sleep(Duration::from_millis(20));
            matches!(received.next().now_or_never(), Some(Some(passed)) if passed == scan)
        });
        drop(received);
        until("no subscriber is left", || listeners() == 0);
    }
}

#[test]
fn circles_and_invalid_tables_are_refused() {
    let refused =
        |arguments: &[&str]| Lab::try_start(1, &[], 0, arguments, &[]).err().expect("it is refused");
    let circle = refused(&["relay", "--robots", "/,/sim"]);
    assert!(circle.contains("in a circle"), "{circle}");
    let circle = refused(&["up", "--mode", "mixed", "--real-namespace", "/", "--console", "off"]);
    assert!(circle.contains("in a circle"), "{circle}");
    let folder = Folder::new();
    let path = folder.write("strange.yaml", "topics: [{name: a, type: no_msgs/msg/None, to: robots}]");
    let strange = refused(&["relay", "--table", &path]);
    assert!(strange.contains("no_msgs/msg/None cannot be relayed"), "{strange}");
}

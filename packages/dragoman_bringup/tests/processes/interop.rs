//! Independent DDS and ROS peers use a running lab: Cyclone DDS, Fast DDS, and rclpy of ROS 2 Jazzy, or of the sourced one,
//! and of Kilted.
//!
//! The peers are programs in `peers/`; they measure and print, and the tests check the output. A peer that is not
//! installed is skipped, unless `DRAGOMAN_REQUIRE_PEERS` is set. All traffic stays on the loopback interface.
//!
//! In real time, since the peers are programs of others.

use std::net::{Ipv4Addr, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::common::implementation::embedded_does;
use crate::common::peers::{Facts, Peer, Running, distribution, lab_middleware, report};
use crate::common::{ArmReply, Lab, domain, roll_pitch_yaw};
use dragoman_ros::WrappedTypesupport;
use dragoman_ros::sensor_msgs::msg::JointState;

/// Two labs at a time: rates measured on a busy machine mean nothing.
fn among_two() -> MutexGuard<'static, ()> {
    static PLACES: [Mutex<()>; 2] = [Mutex::new(()), Mutex::new(())];
    static COMERS: AtomicUsize = AtomicUsize::new(0);
    let place = &PLACES[COMERS.fetch_add(1, Ordering::Relaxed) % PLACES.len()];
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a peer to its end in the domain of `lab`.
fn run(peer: Command, lab: &Lab, arguments: &[&str], time_limit: u64) -> Facts {
    Running::start(peer, lab.domain, arguments).facts(Duration::from_secs(time_limit))
}

/// Topics arrive. How often they do is shown: the rates are tested on virtual time.
fn check_topics(facts: &Facts) {
    assert!(facts.number("joint_states_hz") > 0.0, "{facts:#?}");
    assert!(facts.number("pose_hz") > 0.0, "{facts:#?}");
    assert_eq!(facts.text("joints"), "6");
    assert!(facts.number("quaternion_error") < 1e-9, "{facts:#?}");
}

fn check_parameters(facts: &Facts) {
    facts.contains("parameters", &["via_points.cartesian", "workspace.bounds", "use_sim_time"]);
    assert!(facts.text("parameter_get").starts_with("type 3 value 0.002"), "{facts:#?}");
    assert_eq!(facts.text("parameter_get_undeclared"), "0 values");
    // More than fits in a datagram, also on the loopback interface.
    assert_eq!(facts.text("parameter_get_often"), "3000 values");
    assert!(facts.text("parameter_describe").contains("counts as reached"), "{facts:#?}");
    facts.refused("parameter_set_undeclared", "was not declared");
    facts.refused("parameter_set_out_of_range", "'via_points.cartesian' must lie between 0.000001 and 1000");
    facts.refused("parameter_set_type", "via_points.cartesian");
    assert_eq!(facts.text("parameter_unchanged"), "True");
}

fn check_graph(facts: &Facts) {
    facts.contains("nodes", &["/ranger/arm", "/ranger/kinematics", "/ranger/arm31", "/dragoman"]);
    assert!(facts.number("gids_listed") > 50.0, "{facts:#?}");
    assert_eq!(facts.text("gids_unknown_to_dds"), "0", "every listed endpoint exists");
    assert_eq!(facts.text("gids_of_participant"), facts.text("gids_listed"));
}

/// The session of the two DDS peers.
fn check_session(facts: &Facts) {
    check_topics(facts);
    assert_eq!(facts.text("drive_status"), "6 joints, enabled True");
    assert!(facts.number("latched_samples") <= 2.0, "a late joiner gets the last sample only: {facts:#?}");
    assert!(facts.text("robot_description").ends_with(" bytes, robot True"), "{facts:#?}");
    assert_eq!(facts.text("motion_status"), "mode 0, moving False");
    check_graph(facts);

    facts.refused("mode_7", "not a command mode");
    facts.accepted("mode_2");
    facts.refused("begin_without_goal", "no goal");
    facts.refused("goal_nan", "NaN");
    facts.refused("goal_zero_quaternion", "zero");
    facts.refused("begin_after_refusals", "no goal");
    facts.accepted("set_goal_pose");
    facts.accepted("begin_motion");
    assert!(facts.number("arrival_error_m") < 1e-4, "{facts:#?}");
    check_parameters(facts);
    assert!(facts.number("nonsense_moved_rad") < 1e-4, "{facts:#?}");
    assert_eq!(facts.text("calls"), "200");
    assert_eq!(facts.text("done"), "session");
}

const FIGURES: [&str; 7] = [
    "joint_states_hz",
    "pose_hz",
    "arrival_error_m",
    "arrival_seconds",
    "first_call_ms",
    "call_median_ms",
    "call_longest_ms",
];

#[test]
fn cyclone_dds_uses_the_lab() {
    let Some(peer) = Peer::Cyclone.caller() else { return };
    let _place = among_two();
    let facts = run(peer, &Lab::start(), &["session"], 120);
    check_session(&facts);
    let hashed = if distribution() == "humble" { "0" } else { facts.text("gids_listed") };
    assert_eq!(facts.text("gids_with_type_hash"), hashed, "rmw_cyclonedds warns of each that has none");
    facts.show("Cyclone DDS", &FIGURES);
}

/// The graph, as a peer sees it, of a lab where another program holds the user port of the first participant, but not its
/// discovery port (RTPS 2.5, 9.6.2.3), as a discovery server of Fast DDS does.
fn graph_beside_a_taken_port(peer: Command) -> Facts {
    let _place = among_two();
    let domain = domain();
    let _stranger = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 7400 + 250 * domain + 11)).unwrap();
    let lab = Lab::start_with(domain, &["up"], &["-p", "arm31:port:=0"]);
    run(peer, &lab, &["graph"], 60)
}

/// The lab announced the port that the other program holds: acknowledgements went there, and the latched list of nodes
/// was never sent again.
#[test]
fn cyclone_dds_uses_a_lab_whose_user_port_is_taken() {
    let Some(peer) = Peer::Cyclone.command() else { return };
    check_graph(&graph_beside_a_taken_port(peer));
}

#[test]
fn ros_2_uses_a_lab_whose_user_port_is_taken() {
    let Some(peer) = Peer::Ros.command() else { return };
    let facts = graph_beside_a_taken_port(peer);
    facts.contains("nodes", &["/ranger/arm", "/ranger/kinematics", "/ranger/arm31", "/dragoman"]);
    assert_eq!(facts.text("joint_states"), "received");
}

#[test]
fn cyclone_dds_sees_the_nodes_of_a_lab_in_humble() {
    if !embedded_does("messages of another distribution") {
        return;
    }
    const HUMBLE: (&str, &str) = ("ROS_DISTRO", "humble");
    let Some(mut peer) = Peer::Cyclone.command() else { return };
    let _place = among_two();
    let lab = Lab::start_in(&[HUMBLE], domain(), &["up"], &["-p", "arm31:port:=0"]);
    peer.envs([HUMBLE]);
    let facts = run(peer, &lab, &["graph"], 60);
    assert_eq!(facts.text("gid_bytes"), "24");
    assert_eq!(facts.text("gids_with_type_hash"), "0", "Humble has no type hashes");
    check_graph(&facts);
}

#[test]
fn fast_dds_uses_the_lab() {
    let Some(peer) = Peer::FastDds.caller() else { return };
    let _place = among_two();
    let facts = run(peer, &Lab::start(), &["session"], 120);
    check_session(&facts);
    facts.show("Fast DDS", &FIGURES);
}

#[test]
fn ros_2_uses_the_lab() {
    let Some(peer) = Peer::Ros.caller() else { return };
    let _place = among_two();
    let facts = run(peer, &Lab::start(), &["session"], 120);
    check_topics(&facts);
    assert!(facts.text("robot_description").ends_with(" bytes, robot True"), "{facts:#?}");
    facts.contains("nodes", &["/ranger/arm", "/ranger/kinematics", "/ranger/arm31", "/dragoman"]);
    facts.contains(
        "topics",
        &[
            "/ranger/joint_states=sensor_msgs/msg/JointState",
            "/ranger/pose=geometry_msgs/msg/PoseStamped",
            "/ranger/drive_status=dragoman_msgs/msg/DriveStatus",
            "/rosout=rcl_interfaces/msg/Log",
        ],
    );
    facts.contains(
        "services",
        &[
            "/ranger/begin_motion=std_srvs/srv/Trigger",
            "/ranger/set_goal_pose=dragoman_msgs/srv/SetGoalPose",
            "/ranger/kinematics/set_parameters=rcl_interfaces/srv/SetParameters",
        ],
    );
    assert_eq!(facts.text("joint_states_publishers"), "/ranger/arm");
    if distribution() != "humble" {
        assert_eq!(facts.text("joint_states_hashes"), JointState::TYPE_HASH, "what ros2 topic info -v shows");
    }
    facts.refused("begin_without_goal", "");
    for service in ["stop", "disable", "enable", "stop_beside_wrong_type"] {
        facts.accepted(service);
    }
    assert_eq!(facts.text("calls"), "200");
    check_parameters(&facts);
    facts.refused("parameter_set_atomically", "via_points.cartesian");
    assert_eq!(facts.text("log_names_refusal"), "True");
    assert_eq!(facts.text("done"), "session");
    facts.show(
        &format!("ROS 2 {}", distribution()),
        &["joint_states_hz", "pose_hz", "first_call_ms", "call_median_ms", "call_longest_ms"],
    );
}

/// Feedback of joint trajectories has other fields in Kilted: a reader with Jazzy's gets an index for the length of a list.
#[test]
fn ros_2_kilted_follows_a_trajectory_of_a_lab_in_kilted() {
    if !embedded_does("messages of another distribution") {
        return;
    }
    const KILTED: (&str, &str) = ("ROS_DISTRO", "kilted");
    let Some(mut peer) = Peer::RosKilted.command() else { return };
    let _place = among_two();
    let lab = Lab::start_in(&[KILTED], domain(), &["up"], &["-p", "arm31:port:=0"]);
    peer.envs([KILTED]);
    let facts = run(peer, &lab, &["trajectory"], 120);
    assert_eq!(
        facts.text("feedback_hashes"),
        "RIHS01_95618cc73912d99b9acaa17d2da5e832cb0bfdeede7534fa8ec600feca2a6c4b",
        "the lab's and the peer's"
    );
    facts.accepted("accepted");
    assert_eq!(facts.text("result"), "status 4 code 0");
    assert!(facts.number("feedback") > 30.0, "{facts:#?}");
    assert_eq!(facts.text("indices"), "0 1 2", "of the point to which the arm moves");
    facts.accepted("indices_rise");
    assert_eq!(facts.text("multi_dof"), "[(0, 0)]");
    assert_eq!(facts.text("joints"), "[6]");
    facts.accepted("stop");
    assert_eq!(facts.text("done"), "trajectory");
}

#[test]
fn ros_2_slows_the_arm_down_by_a_parameter() {
    let (Some(fast), Some(slow)) = (Peer::Ros.caller(), Peer::Ros.caller()) else { return };
    let _place = among_two();
    let lab = Lab::start();
    let client = lab.client();
    let home = client.ask("PS", [0.0; 7], 0).values();
    client.ask("CM", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0);
    let [roll, pitch, yaw] = roll_pitch_yaw(home);
    let goal = [home[0], home[1], home[2] + 0.03];

    const VELOCITY: &str = "cartesian.max_velocity";
    let facts = run(fast, &lab, &["set", VELOCITY, "9999", "1", "1", "1", "1", "1"], 30);
    facts.refused("set", "must lie between 0.000001 and 1000; 9999 was given");
    assert_eq!(facts.text("value"), "0.03 0.03 0.03 0.05 0.05 0.05");

    let speeds = ["0.03", "0.03", "0.006", "0.05", "0.05", "0.05"];
    let facts = run(slow, &lab, &[["set", VELOCITY].as_slice(), &speeds].concat(), 30);
    facts.accepted("set");
    assert_eq!(facts.text("value"), speeds.join(" "));

    client.ask("GT", [goal[0], goal[1], goal[2], roll, pitch, yaw, 0.0], 0);
    let start = Instant::now();
    assert!(matches!(client.ask("BG", [0.0; 7], 0), ArmReply::Values(..)));
    assert!(client.arrives(goal, 1e-4, Duration::from_secs(60)));
    // 0.03 m at 0.006 m/s and 0.01 m/s^2: 5.6 s. With the default speed the acceleration alone would allow 3.5 s.
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds > 5.0, "{seconds}");
}

/// Memory that remains after peers have joined: kept by the lab's allocator, not by a peer's proxies.
const LEFT_BEHIND_KIB: u64 = 4096;
/// On another middleware. Fast DDS keeps proxies until about 800 participants have come and gone, for every endpoint:
/// for 200 nodes with one publisher 4.5 MB, for 200 labs 16 MB.
const LEFT_BEHIND_BY_OTHERS_KIB: u64 = 32 * 1024;

fn joins_and_leaves(peer: Peer, name: &str) {
    const COUNT: &str = "200";
    let (Some(first), Some(second), Some(last)) = (peer.command(), peer.command(), peer.command()) else {
        return;
    };
    let _place = among_two();
    let lab = Lab::start();
    run(first, &lab, &["joins", "20"], 60);
    let before = lab.resident_kib();
    let facts = run(second, &lab, &["joins", COUNT], 300);
    let after = lab.resident_kib();
    facts.show(name, &["joins", "join_median_s", "join_longest_s"]);
    report(&format!(
        "{name}: resident memory {before} KiB before, {after} KiB after {COUNT} joins and leaves"
    ));
    assert_eq!(facts.text("joins"), COUNT);
    let all = embedded_does("memory back after joins and leaves");
    let most = if all { LEFT_BEHIND_KIB } else { LEFT_BEHIND_BY_OTHERS_KIB };
    assert!(after < before + most, "{before} KiB before, {after} KiB after");
    check_topics(&run(last, &lab, &["watch", "3"], 60));
}

#[test]
fn cyclone_dds_joins_and_leaves_two_hundred_times() {
    joins_and_leaves(Peer::Cyclone, "Cyclone DDS");
}

#[test]
fn fast_dds_joins_and_leaves_two_hundred_times() {
    // A plain publisher of Humble's rclpy does not support so many of them either; those of Cyclone DDS it does.
    if distribution() == "humble" && lab_middleware().is_some_and(|name| name == "rmw_fastrtps_cpp") {
        report(
            "NOT MEANT: participants of Fast DDS 2.9 that come and go, for a lab on Humble's Fast DDS 2.6",
        );
        return;
    }
    joins_and_leaves(Peer::FastDds, "Fast DDS");
}

/// `holder` reads joint_states, is stopped for 20 s while it stays a matched reader, and is then killed; `watcher` must
/// receive all of it all the time.
fn a_reader_is_stopped_and_killed(holder: Peer, watcher: Peer, name: &str) {
    let (Some(held), Some(during), Some(after)) = (holder.command(), watcher.command(), watcher.command())
    else {
        return;
    };
    let _place = among_two();
    let lab = Lab::start();
    let held = Running::start(held, lab.domain, &["hold"]);
    let line = held.line(Duration::from_secs(30));
    assert_eq!(line, "receiving: joint_states");
    let before = lab.resident_kib();
    let stopped = Instant::now();
    held.signal("-STOP");
    let facts = run(during, &lab, &["watch", "18"], 60);
    std::thread::sleep(Duration::from_secs(20).saturating_sub(stopped.elapsed()));
    let title = format!("{name} reader stopped for {:.0} s", stopped.elapsed().as_secs_f64());
    facts.show(&title, &["joint_states_hz", "joint_states_longest_gap_ms", "pose_hz"]);
    check_topics(&facts);
    held.signal("-CONT");
    std::thread::sleep(Duration::from_millis(500));
    held.signal("-KILL");
    let facts = run(after, &lab, &["watch", "3"], 60);
    facts.show(
        &format!("{name} reader killed"),
        &["joint_states_hz", "joint_states_longest_gap_ms", "pose_hz"],
    );
    check_topics(&facts);
    let after = lab.resident_kib();
    report(&format!("{name} reader: resident memory {before} KiB before, {after} KiB after"));
    assert!(after < before + 16 * 1024, "{before} KiB before, {after} KiB after");
}

#[test]
fn a_stuck_cyclone_reader_delays_no_other() {
    a_reader_is_stopped_and_killed(Peer::Cyclone, Peer::FastDds, "Cyclone DDS");
}

#[test]
fn a_stuck_fast_dds_reader_delays_no_other() {
    a_reader_is_stopped_and_killed(Peer::FastDds, Peer::Cyclone, "Fast DDS");
}

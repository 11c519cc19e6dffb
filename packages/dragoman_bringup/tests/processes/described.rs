//! Machines of `packages/dragoman_protocol/machines/` that speak text, with programs that are not ours: as the machine, or as its
//! client. What their bridges do is tested on virtual time.

#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::beside::Beside;
use crate::common::device::{Device, TIME_LIMIT, TestPath};
use crate::common::peers::{Peer, Running, report};
use crate::common::{Lab, domain};
use dragoman_ros::diagnostic_msgs::msg::DiagnosticArray;
use dragoman_ros::geometry_msgs::msg::TwistStamped;
use dragoman_ros::sensor_msgs::msg::{NavSatFix, TimeReference};

const MACHINES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dragoman_protocol/machines");

/// `dragoman device machine` at this TCP port, or on a serial line, which is its path.
fn machine(name: &str, address: Option<&str>) -> Device {
    let path = TestPath::new(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.args(["device", "machine", &format!("{MACHINES}/{name}.yaml"), "--link"]);
    match address {
        Some(address) => command.arg(address),
        None => command.arg(&path.0),
    };
    Device::spawn(path, command)
}

/// The machine is another program.
#[test]
fn a_receiver_of_somebody_else_is_read() {
    let Some(command) = Peer::NmeaReceiver.command() else { return };
    let receiver = Running::start(command, domain(), &[]);
    let line = receiver.line(TIME_LIMIT);
    let port = line.strip_prefix("line ").unwrap();
    let file = format!("{MACHINES}/nmea0183.yaml");
    let bridge = Lab::start_with(domain(), &["bridge", &file, "--link", port], &[]);
    let mut beside = Beside::new(bridge.domain);
    let mut fixes = beside.subscribe::<NavSatFix>("/nmea0183/fix");
    let mut velocities = beside.subscribe::<TwistStamped>("/nmea0183/vel");
    let mut times = beside.subscribe::<TimeReference>("/nmea0183/time_reference");
    let mut diagnostics = beside.subscribe::<DiagnosticArray>("/diagnostics");
    let fix = beside.find("nmeasim's position", &mut fixes, |fix| fix.latitude > 0.0);
    assert!((fix.latitude - 12.5).abs() < 1e-5 && (fix.longitude - 7.25).abs() < 1e-5, "{fix:?}");
    assert!((fix.altitude - 120.0).abs() < 0.1 && fix.status.status == 0, "{fix:?}");
    let fix = beside.find("pynmea2's position", &mut fixes, |fix| fix.latitude < 0.0);
    assert!((fix.latitude + 33.75).abs() < 1e-9 && (fix.longitude + 70.5).abs() < 1e-9, "{fix:?}");
    assert!((fix.altitude - 547.75).abs() < 1e-9 && fix.status.status == 2, "{fix:?}");
    assert!((fix.position_covariance[0] - 0.01 * 0.01).abs() < 1e-12, "{:?}", fix.position_covariance);
    let fix = beside.find("no reception", &mut fixes, |fix| fix.status.status == -1);
    assert!(fix.latitude.is_nan() && fix.altitude.is_nan(), "{fix:?}");
    beside.find("the way east", &mut velocities, |one| {
        (one.twist.linear.x - 10.0).abs() < 0.06 && one.twist.linear.y.abs() < 1e-6
    });
    beside.find("the way south", &mut velocities, |one| {
        (one.twist.linear.y + 5.144).abs() < 0.01 && one.twist.linear.x.abs() < 1e-6
    });
    beside.find("2026", &mut times, |time| time.time_ref.sec == 1_796_040_000);
    // 29 February 2024, 10:11:12.5 UTC.
    let leap =
        |time: &TimeReference| (time.time_ref.sec, time.time_ref.nanosec) == (1_709_201_472, 500_000_000);
    beside.find("2024", &mut times, leap);
    // Sentences that are not used are no faults.
    let is_running = |array: &DiagnosticArray| array.status.iter().any(|status| status.message == "running");
    beside.find("diagnostics", &mut diagnostics, is_running);
}

/// A daemon; killed when dropped.
struct Gpsd(Child);

impl Drop for Gpsd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port()
}

/// The client is another program.
#[test]
fn gpsd_reads_the_simulated_receiver() {
    let receiver = machine("nmea0183", None);
    let line = std::fs::read_link(&receiver.path.0).unwrap();
    let port = free_port();
    let daemon = Command::new("gpsd")
        .args(["-N", "-n", "-S", &port.to_string()])
        .arg(&line)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let _daemon = match daemon {
        Err(error) if std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_none() => {
            report(&format!("skipped: there is no gpsd here ({error})"));
            return;
        }
        daemon => Gpsd(daemon.unwrap()),
    };
    let end = Instant::now() + TIME_LIMIT;
    let mut stream = loop {
        match TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
            Ok(stream) => break stream,
            Err(error) => assert!(Instant::now() < end, "gpsd: {error}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
    stream.write_all(b"?WATCH={\"enable\":true,\"json\":true};\n").unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    // Its first reports have no date yet.
    let parts = ["\"class\":\"TPV\"", "\"mode\":3", "\"time\":\"2026-11-30T12:"];
    let fix = lines.find(|line| parts.iter().all(|part| line.contains(part)));
    let fix: serde_json::Value = serde_json::from_str(&fix.expect("a position")).unwrap();
    let number = |name: &str| fix[name].as_f64().unwrap_or(f64::NAN);
    assert!((number("lat") - 40.44).abs() < 1e-4 && (number("lon") + 3.689).abs() < 1e-2, "{fix}");
    assert!((number("altMSL") - 650.0).abs() < 0.1, "{fix}");
}

/// The clients are other programs.
#[test]
fn an_arm_is_read_and_switched_on_by_clients_of_somebody_else() {
    let Some(command) = Peer::UniversalRobots.command() else { return };
    // The monitor's port is fixed, so the address is one that only this test uses.
    let [high, low] = domain().to_be_bytes();
    let address = Ipv4Addr::new(127, 29, high, low);
    let mut arm = machine("ur_realtime", Some(&format!("{address}:30003")));
    arm.send("set q0 0.25");
    arm.send("set to0 0.25");
    let port = free_port();
    let _dashboard = machine("ur_dashboard", Some(&format!("{address}:{port}")));
    let facts = Running::start(command, 0, &[&address.to_string(), &port.to_string()]).facts(TIME_LIMIT);
    assert_eq!(facts.text("joints"), "0.25 -1.57 1.57 -1.57 -1.57 0.0");
    assert_eq!(facts.text("tool"), "-0.3 -0.2 0.4 0.0 3.14 0.0");
    facts.accepted("connected");
    for (name, text) in [
        ("mode", "Robotmode: POWER_OFF"),
        ("powered", "Robotmode: IDLE"),
        ("released", "Robotmode: RUNNING"),
        ("loaded", "STOPPED pick.urp"),
        ("playing", "PLAYING pick.urp"),
        ("stopped", "STOPPED pick.urp"),
        ("safety", "Safetystatus: NORMAL"),
    ] {
        assert_eq!(facts.text(name), text, "{name}: {facts:?}");
    }
    facts.accepted("remote");
}

/// On r2r too all types of the descriptions are possible.
#[test]
fn every_simulated_machine_is_heard() {
    let mut count = 0;
    for file in std::fs::read_dir(MACHINES).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // A bus needs an interface of the system: tests of socketcan.
        if path.extension().is_none_or(|extension| extension != "yaml") || text.contains("link: { can:") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        let address = format!("127.0.0.1:{}", free_port());
        let is_tcp = text.contains("link: { tcp:");
        let device = machine(name, is_tcp.then_some(&address));
        let link = if is_tcp { address } else { device.path.0.to_str().unwrap().to_owned() };
        let bridge = Lab::start_with(domain(), &["bridge", path.to_str().unwrap(), "--link", &link], &[]);
        let mut beside = Beside::new(bridge.domain);
        let mut diagnostics = beside.subscribe::<DiagnosticArray>("/diagnostics");
        beside.find(name, &mut diagnostics, |array| {
            array
                .status
                .iter()
                .any(|status| status.name.contains(name) && status.level == 0 && status.message == "running")
        });
        count += 1;
    }
    assert_eq!(count, 10, "machines");
}

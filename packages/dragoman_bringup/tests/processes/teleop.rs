//! `dragoman teleop` at a pseudo-terminal: keys become velocities, and the base stops when the user leaves. Real: it needs a
//! terminal of the system and signals.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dragoman_ros::geometry_msgs::msg::{Twist, TwistStamped};
use dragoman_ros::{Arguments, Context, Discovery, DiscoveryRange, Node, QosProfile};
use futures::StreamExt;
use nix::pty::{Winsize, openpty};

const TIME_LIMIT: Duration = Duration::from_secs(120);

struct Driver {
    child: Child,
    keyboard: File,
    runtime: tokio::runtime::Runtime,
    node: Node,
}

impl Driver {
    fn new(options: &[&str]) -> Self {
        let domain = crate::common::domain();
        let discovery =
            Discovery { domain_id: domain, range: DiscoveryRange::Localhost, static_peers: Vec::new() };
        let node = Node::create(Context::with_options(&discovery, Arguments::default()).unwrap(), "base", "")
            .unwrap();
        let size = Winsize { ws_row: 24, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0 };
        let pty = openpty(&size, None).unwrap();
        let terminal = || Stdio::from(pty.slave.try_clone().unwrap());
        let child = Command::new(env!("CARGO_BIN_EXE_dragoman"))
            .args(["teleop", "--domain", &domain.to_string()])
            .args(options)
            .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
            .stdin(terminal())
            .stdout(terminal())
            .spawn()
            .unwrap();
        let mut driver = Self {
            child,
            keyboard: File::from(pty.master),
            runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
            node,
        };
        driver.reads("ahead +0.00");
        driver
    }

    /// Reads the screen until `text` has appeared.
    #[track_caller]
    fn reads(&mut self, text: &str) -> String {
        let mut screen = String::new();
        let mut bytes = [0; 512];
        while !screen.contains(text) {
            let count = self.keyboard.read(&mut bytes).unwrap_or(0);
            assert!(count > 0, "'{text}' does not appear in {screen:?}");
            screen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        screen
    }

    fn types(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Waits for a command with these speeds.
    #[track_caller]
    fn receives(
        &self,
        commands: &mut (impl futures::Stream<Item = Twist> + Unpin),
        linear: f64,
        angular: f64,
    ) {
        let received = async {
            loop {
                let twist = commands.next().await.expect("the stream goes on");
                if (twist.linear.x - linear).abs() < 1e-9 && (twist.angular.z - angular).abs() < 1e-9 {
                    return;
                }
            }
        };
        let received = self.runtime.block_on(async { tokio::time::timeout(TIME_LIMIT, received).await });
        assert!(received.is_ok(), "{linear} m/s, {angular} rad/s are not received");
    }

    /// Its exit status.
    fn leaves(mut self) -> std::process::ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(start.elapsed() < TIME_LIMIT, "it does not leave");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn keys_drive_and_leaving_stops() {
    let mut driver = Driver::new(&[]);
    let mut commands = driver.node.subscribe::<Twist>("/cmd_vel", QosProfile::default()).unwrap();
    driver.types("ww\x1b[D"); // twice forward, once left
    driver.receives(&mut commands, 0.1, 0.2);
    driver.reads("ahead +0.10 m/s   turn +0.20 rad/s");
    // It repeats commands: a base without commands stops after 0.6 s.
    driver.receives(&mut commands, 0.1, 0.2);
    driver.types(" ");
    driver.receives(&mut commands, 0.0, 0.0);
    driver.types("ss");
    driver.receives(&mut commands, -0.1, 0.0);
    driver.types("q");
    driver.receives(&mut commands, 0.0, 0.0);
    assert!(driver.leaves().success());
}

#[test]
fn a_signal_stops_the_base() {
    let mut driver = Driver::new(&["--stamped", "--topic", "/robot/cmd_vel"]);
    let stamped = driver.node.subscribe::<TwistStamped>("/robot/cmd_vel", QosProfile::default()).unwrap();
    let mut commands = stamped.map(|stamped| {
        assert!(stamped.header.stamp.sec > 0);
        stamped.twist
    });
    driver.types("w");
    driver.receives(&mut commands, 0.05, 0.0);
    let pid = nix::unistd::Pid::from_raw(i32::try_from(driver.child.id()).unwrap());
    nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGTERM).unwrap();
    driver.receives(&mut commands, 0.0, 0.0);
    assert!(driver.leaves().success());
}

#[test]
fn motors_without_a_base_are_reported_as_missing() {
    let mut driver = Driver::new(&[]);
    driver.types("p");
    driver.reads("motors: no answer");
    driver.types("q");
    assert!(driver.leaves().success());
}

#[test]
fn input_from_a_file_is_refused() {
    let output = Command::new(env!("CARGO_BIN_EXE_dragoman"))
        .args(["teleop", "--domain", &crate::common::domain().to_string()])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!output.status.success());
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.contains("keyboard"), "{message}");
}

//! Programs of the documentation, as printed except for ports: they do what they say. Real, since they are programs of
//! Python.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::peers::Peer;
use crate::common::web::{Client, TIME_LIMIT};
use crate::common::{ArmClient, Lab, domain};

/// What stands between these two texts of a page.
fn between<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = page.split_once(begin).unwrap_or_else(|| panic!("the page has no {begin:?}"));
    rest.split_once(end).unwrap().0
}

/// Runs a program of Python, and returns what it prints; `None` without Python.
fn run(python: Command, program: &str) -> Option<String> {
    let mut python = python;
    let child = python.arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        let _ = writeln!(std::io::stderr(), "SKIPPED: a printed program: there is no python3");
        return None;
    };
    child.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn the_program_of_the_readme_moves_the_arm_up() {
    let page = include_str!("../../../../README.md");
    let program = between(page, "$ python3 - <<'EOF'\n", "\nEOF\n");
    let lab = Lab::start_with(domain(), &["up", "--only", "ranger"], &[]);
    let client = ArmClient::new(lab.address);
    let [x, y, z] = client.position();
    let program = program.replace("5031", &lab.address.port().to_string());
    let Some(printed) = run(Command::new("python3"), &program) else { return };
    assert!(printed.starts_with(&format!("b'GB' moving up from z = {z:.4} m")), "{printed}");
    assert!(client.arrives([x, y, z + 0.03], 1e-3, TIME_LIMIT), "{:?}", client.position());
}

#[test]
fn the_program_with_roslibpy_drives_the_turtlebot() {
    let Some(peer) = Peer::Roslibpy.command() else { return };
    let python = Command::new(peer.get_program());
    let page = include_str!("../../../../docs/console.md");
    let program = format!("import time\n{}", between(page, "```python\nimport time\n", "```"));
    let lab = Lab::start();
    // A new client each time: unread messages of an old one are outdated.
    let x = || {
        let mut listener = Client::connect(lab.console);
        listener.subscribe("/odom", "nav_msgs/Odometry");
        listener.message("/odom")["pose"]["pose"]["position"]["x"].as_f64().unwrap()
    };
    let before = x();
    let printed = run(python, &program.replace("8080", &lab.console.port().to_string())).unwrap();
    assert!(printed.contains("0.354"), "{printed}");
    let moved = x() - before;
    assert!(moved > 0.01, "it has gone {moved} m");
}

//! The example of `docs/protocol-neobotix.md`, as printed except for the port. Real, since it is a program of Python.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::common::apolo::ApoloClient;
use crate::common::neobotix::{CONNECT, NeobotixClient};
use crate::common::{Lab, domain, until};

const PAGE: &str = include_str!("../../../../../docs/protocol-neobotix.md");

#[test]
fn the_printed_example_drives_the_platform() {
    let (_, example) = PAGE.split_once("import socket, struct, time\n").expect("the page has the example");
    let (program, rest) = example.split_once("\nEOF\n").unwrap();
    let (printed, _) = rest.split_once("\n$").unwrap();
    let folder = std::env::temp_dir().join(format!("dragoman_neobotix_example_{}", std::process::id()));
    let data = format!("platform:data_folder:={}", folder.display());
    let lab = Lab::start_with(domain(), &["up", "--only", "apolo,neobotix"], &["-p", &data]);
    let mut world = ApoloClient::new(lab.apolo);
    // Data of the base must have been received.
    let mut client = NeobotixClient::new(lab.neobotix[1]);
    until("the platform is connected", || {
        client.order(&[CONNECT]);
        !client.status().scan.is_empty()
    });
    let program = format!(
        "import socket, struct, time\n{}",
        program.replace("10000", &lab.neobotix[0].port().to_string())
    );
    let child = Command::new("python3").arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        let _ = writeln!(std::io::stderr(), "SKIPPED: the printed example: there is no python3");
        return;
    };
    child.stdin.take().unwrap().write_all(program.as_bytes()).unwrap();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    // The distance after three seconds depends on the machine.
    let (begin, end) = output.trim().split_once('\n').unwrap_or_else(|| panic!("{output}"));
    assert_eq!(Some(begin), printed.lines().next());
    assert!(end.starts_with("x 4.5 m, y 3.") && end < begin, "{output}, not {printed}");
    assert!(world.values(b'g', "neobotix_platform")[1] < 3.6);
    drop(lab);
    let _ = std::fs::remove_dir_all(folder);
}

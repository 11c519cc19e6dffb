//! Runs scripts in GNU Octave with the functions of `dragoman_clients/matlab/apolo`. The tests of processes in
//! `dragoman_bringup` use it as well.

use std::io::Write;
use std::process::Command;

const FUNCTIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dragoman_clients/matlab/apolo");

/// Whether Octave is installed, with the package that has `tcpclient`. Panics if peers are required and it is not.
pub(super) fn has_octave() -> bool {
    let asked =
        Command::new("octave-cli").args(["--quiet", "--eval", "pkg load instrument-control"]).output();
    let is_there = asked.is_ok_and(|output| output.status.success());
    assert!(
        is_there || std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_none(),
        "octave-cli with instrument-control is required"
    );
    if !is_there {
        // Shown for passing tests too, unlike with `println!`.
        let _ = writeln!(std::io::stdout(), "SKIPPED: no octave-cli with its package instrument-control");
    }
    is_there
}

/// Runs `script` for the server at this port of this machine; returns its output.
pub(super) fn run(port: u16, script: &str) -> String {
    let output = Command::new("octave-cli")
        .args(["--quiet", "--no-init-file", "--path", FUNCTIONS, "--eval", script])
        .env("APOLO_HOST", "127.0.0.1")
        .env("APOLO_PORT", port.to_string())
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{script}\n{out}\n{err}");
    out.into_owned()
}

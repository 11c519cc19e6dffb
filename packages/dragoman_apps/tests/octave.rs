//! The programs of `matlab/` in GNU Octave, with stand-ins for the functions of the ROS Toolbox (`tests/octave/`) that
//! control a scripted robot: syntax, order of commands, fields and types of messages, ends. Not tested: MATLAB's own
//! functions.

use std::process::Command;

/// Whether Octave is installed. Panics if peers are required and it is not.
fn has_octave() -> bool {
    let asked = Command::new("octave-cli").arg("--version").output();
    let is_there = asked.is_ok_and(|output| output.status.success());
    assert!(is_there || std::env::var_os("DRAGOMAN_REQUIRE_PEERS").is_none(), "octave-cli is required");
    if !is_there {
        println!("skipped: octave-cli is not installed");
    }
    is_there
}

/// Runs a script of `tests/octave` with this folder of functions on the path.
#[track_caller]
fn check(folder: &str, script: &str) {
    if !has_octave() {
        return;
    }
    let package = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let output = Command::new("octave-cli")
        .args(["--quiet", "--no-init-file", "--path", &format!("{package}{folder}")])
        .args(["--path", &format!("{package}tests/octave"), "--eval", script])
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("all passed"), "{out}\n{err}");
}

#[test]
fn the_programs_run_on_a_scripted_robot() {
    check("matlab", "checkPrograms");
}

/// TurtleBot thesis, tables A.1 to A.4.
#[test]
fn the_toolbox_of_the_thesis_runs_on_a_scripted_robot() {
    check("matlab/toolbox", "checkToolbox");
}

/// The first line of every function's help text is its name, and it has an example.
#[test]
fn every_function_has_a_help_text() {
    let folders = ["/matlab", "/matlab/toolbox/tools"]
        .map(|folder| std::fs::read_dir(format!("{}{folder}", env!("CARGO_MANIFEST_DIR"))).unwrap());
    let files: Vec<_> = folders.into_iter().flatten().map(|file| file.unwrap().path()).collect();
    let programs = files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "m"));
    for file in programs.inspect(|file| println!("{}", file.display())) {
        let (text, name) =
            (std::fs::read_to_string(file).unwrap(), file.file_stem().unwrap().to_string_lossy());
        assert!(text.lines().nth(1).is_some_and(|line| line.starts_with(&format!("% {name}  "))));
        assert!(text.contains("%   Example:") && text.lines().all(|line| line.len() <= 120));
    }
}

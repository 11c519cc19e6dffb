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

#[test]
fn the_programs_run_on_a_scripted_robot() {
    if !has_octave() {
        return;
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let output = Command::new("octave-cli")
        .args(["--quiet", "--no-init-file", "--path", &format!("{folder}matlab")])
        .args(["--path", &format!("{folder}tests/octave"), "--eval", "checkPrograms"])
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("all passed"), "{out}\n{err}");
}

/// The first line of every function's help text is its name, and it has an example.
#[test]
fn every_function_has_a_help_text() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/matlab")).unwrap();
    let files: Vec<_> = folder.map(|file| file.unwrap().path()).collect();
    let programs = files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "m"));
    for file in programs.inspect(|file| println!("{}", file.display())) {
        let (text, name) =
            (std::fs::read_to_string(file).unwrap(), file.file_stem().unwrap().to_string_lossy());
        assert!(text.lines().nth(1).is_some_and(|line| line.starts_with(&format!("% {name}  "))));
        assert!(text.contains("%   Example:") && text.lines().all(|line| line.len() <= 120));
    }
}

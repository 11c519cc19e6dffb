//! `dragoman up --fast` as a command: its files, its exit status, what it prints. Two runs are two processes.

use std::path::PathBuf;
use std::process::{Command, Output};

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("fast_{}_{test}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(folder: &Folder, arguments: &[&str]) -> (Output, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    let output = command
        .current_dir(&folder.0)
        .env_remove("RUST_LOG")
        .args(["up", "--fast", "--for", "20s"])
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    (output, stdout, stderr)
}

/// The line with the history of a run.
fn history(stdout: &str) -> &str {
    stdout.lines().find(|line| line.starts_with("seed ")).expect("the history")
}

#[test]
fn two_runs_of_a_seed_give_the_same_file() {
    let folder = Folder::new("equal");
    let runs = ["a.mcap", "b.mcap"].map(|file| {
        let (output, stdout, stderr) = run(&folder, &["--seed", "7", "-o", file]);
        assert!(output.status.success(), "{stdout}{stderr}");
        assert!(stdout.contains(&format!("recorded {file}: ")), "{stdout}");
        assert!(stdout.contains("pictures of cameras are left out"), "{stdout}");
        (history(&stdout).to_owned(), std::fs::read(folder.0.join(file)).unwrap())
    });
    assert_eq!(runs[0].0, runs[1].0);
    assert!(runs[0].1 == runs[1].1 && runs[0].1.len() > 1_000_000, "the files differ");
    // Another seed has another noise. An existing file is not overwritten.
    let (_, other, _) = run(&folder, &["--seed", "8"]);
    assert_ne!(history(&other), runs[0].0);
    let (output, _, stderr) = run(&folder, &["-o", "a.mcap"]);
    assert!(!output.status.success() && stderr.contains("cannot create a.mcap"), "{stderr}");
}

#[test]
fn a_script_drives_what_it_names() {
    let folder = Folder::new("script");
    let script = "steps:
  - publish: {topic: /cmd_vel, type: geometry_msgs/msg/Twist, message: {linear: {x: 0.1}}, for: 5}
  - call: {service: /nothing}
  - arm31: jG nan
";
    std::fs::write(folder.0.join("a.yaml"), script).unwrap();
    let (output, stdout, stderr) = run(&folder, &["--script", "a.yaml"]);
    assert!(output.status.code() == Some(1), "{stdout}{stderr}");
    assert!(stderr.contains("2 steps of the script were refused"), "{stderr}");
    for line in [
        "3 steps of the script, 2 refused",
        "step 2: /nothing: there is no such service",
        "step 3: jG: ER",
        "TurtleBot 2: 0.5",
        "Neo: 0.00 m",
    ] {
        assert!(stdout.contains(line), "{line}: {stdout}");
    }
    for (wait, is_done) in [(5, true), (25, false)] {
        std::fs::write(folder.0.join("b.yaml"), format!("steps:\n  - wait: {wait}\n  - wait: 1\n")).unwrap();
        let (output, _, stderr) = run(&folder, &["--only", "apolo", "--script", "b.yaml"]);
        assert_eq!(output.status.success(), is_done, "{stderr}");
        assert_eq!(stderr.contains("the time was over before the last 2 steps of the script"), !is_done);
    }
    std::fs::write(folder.0.join("wrong.yaml"), "steps:\n  - hop: 1\n").unwrap();
    let (output, _, stderr) = run(&folder, &["--script", "wrong.yaml"]);
    assert!(
        !output.status.success() && stderr.contains("wrong.yaml: ") && stderr.contains("hop"),
        "{stderr}"
    );
}

#[test]
fn options_of_virtual_time_need_it() {
    for (arguments, text) in [
        (&["up", "--seed", "3"][..], "--fast"),
        (&["up", "--fast", "--for", "5"], "unit"),
        (&["up", "--fast", "--pictures"], "--output"),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_dragoman")).args(arguments).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains(text), "{arguments:?}: {stderr}");
    }
}

//! `dragoman task`: programs checked and converted, with exit codes and what is printed. Real, since a user sees those of
//! the process.

#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dragoman-task-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.path(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.arg("task").args(arguments);
    command.env_remove("ROS_DOMAIN_ID").env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
    command
}

fn task(arguments: &[&str]) -> Output {
    command(arguments).stdin(Stdio::null()).output().unwrap()
}

#[track_caller]
fn succeeds(arguments: &[&str]) -> String {
    let output = task(arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn fails(arguments: &[&str]) -> String {
    let output = task(arguments);
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn programs_are_checked_and_converted_without_a_platform() {
    let folder = Folder::new("convert");
    let lab = concat!(env!("CARGO_MANIFEST_DIR"), "/../../launch/config/neobotix/program.xml");
    let roadmap = concat!(env!("CARGO_MANIFEST_DIR"), "/../../launch/config/neobotix/roadmap.xml");
    let text = succeeds(&["convert", lab, "-"]);
    assert!(text.starts_with("# For the default lab: "), "{text}");
    assert!(text.contains(
        "\n    motion > settarget > station middle\n    wait timeout=120000 timeoutlabel=late > target\n"
    ));
    let [file, xml] = ["lab.txt", "lab.xml"].map(|name| folder.path(name));
    succeeds(&["convert", lab, &file]);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
    succeeds(&["convert", &file, &xml]);
    assert_eq!(succeeds(&["convert", &xml, "-"]), text);
    let error = fails(&["convert", &file, &xml]);
    assert!(error.contains("exists: use --force"), "{error}");
    succeeds(&["convert", "--force", &file, &xml]);
    for file in [lab, &file, &xml] {
        assert!(succeeds(&["check", "--roadmap", roadmap, file]).contains("no errors; tasks: 2, steps: 17"));
    }
    // Each error has its place in the file, in both forms.
    let wrong = folder.write(
        "wrong.txt",
        "program\n  task t\n    goto nowhere\n    turnhead 900\n    motion > settarget > station x\n",
    );
    let error = fails(&["check", &wrong]);
    for expected in
        [":3:5: there is no label 'nowhere'", ":4:5: an angle in degrees is 900", "wrong.txt: 2 errors"]
    {
        assert!(error.contains(expected), "{error}");
    }
    let wrong = folder.write("wrong.xml", "<program>\n<task name='t'>\n<dance/>\n<wait/></task></program>");
    let error = fails(&["check", &wrong]);
    assert!(
        error.contains(":3:1: <dance> is not known") && error.contains(":4:1: the wait has neither"),
        "{error}"
    );
    let station = folder.write("station.txt", "program\n  task t\n    motion > settarget > station x\n");
    let error = fails(&["check", "--roadmap", roadmap, &station]);
    assert!(error.contains(":3:26: there is no station 'x'"), "{error}");
    // Nothing is sent.
    let error = fails(&["run", "--remote", "--server", "127.0.0.1:1", &wrong]);
    assert!(error.contains("<dance> is not known"), "{error}");
    let charge = folder.write("charge.txt", "program\n  task t\n    wait > batterycharge 80\n");
    let error = fails(&["run", "--remote", "--server", "127.0.0.1:1", &charge]);
    assert!(error.contains(":3:5: the protocol has the battery's voltage"), "{error}");
    let error = fails(&["run", "--remote", "--server", "127.0.0.1:1", &station]);
    assert!(error.contains("127.0.0.1:1: "), "{error}");
}

//! `dragoman can monitor` on recordings; on an interface it is tested in `dragoman_arm/tests/socketcan`.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

const LOG: &str = "(1600000000.000100) can0 000#0100\n\
    (1600000000.001300) can0 365#50580000\n\
    (1600000000.001700) can0 2E5#5058000039300000\n\
    (1600000000.002000) can1 366#4D50040036000000\n\
    (1600000000.100000) can0 20000040#0000000000000000\n";

fn monitor(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dragoman"));
    command.args(["can", "monitor"]).args(arguments).env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> (bool, String, String) {
    let Output { status, stdout, stderr } = monitor(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.success(), text(stdout), text(stderr))
}

/// A recording with this content; its name is unique to the process.
struct Recording(PathBuf);

impl Recording {
    fn new(test: &str, content: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dragoman_can_{}_{test}.log", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_recording_is_shown_in_words() {
    let log = Recording::new("words", LOG);
    let (success, shown, errors) = run(&["--replay", log.path()]);
    assert!(success && errors.is_empty(), "{errors}");
    let expected = "    0.000000  NMT              000#0100              start: all nodes\n    \
        0.001200  RPDO2 101        365#50580000          PX (position, counts)\n    \
        0.001600  TPDO2 101        2E5#5058000039300000  PX: 12345 (position, counts)\n    \
        0.001900  RPDO2 102        366#4D50040036000000  MP[4]=54 (set-up of PT motion)\n    \
        0.099900  BUS              the CAN controller is off the bus\n";
    assert!(shown.starts_with(expected), "{shown}");
    assert!(shown.trim_end().ends_with("4 frames, 0 emergencies, 1 bus faults"), "{shown}");
}

#[test]
fn one_interface_of_a_recording_can_be_selected() {
    let log = Recording::new("interface", LOG);
    let (_, shown, _) = run(&["--replay", log.path(), "--can", "can1"]);
    assert_eq!(shown.lines().count(), 2, "{shown}");
    let (success, _, errors) = run(&["--replay", log.path(), "--can", "can7"]);
    assert!(!success && errors.contains("no frames to show; it has frames of can0, can1"), "{errors}");
}

#[test]
fn the_summary_is_a_table_without_terminal_codes() {
    let log = Recording::new("table", LOG);
    let (success, shown, _) = run(&["--replay", log.path(), "--summary"]);
    assert!(success && !shown.contains('\x1b'), "{shown}");
    assert_eq!(shown.lines().count(), 6, "{shown}");
}

#[test]
fn incomplete_lines_are_skipped_and_other_files_are_refused() {
    let cut = Recording::new("cut", &format!("{LOG}(1600000000.2000"));
    let (success, shown, errors) = run(&["--replay", cut.path()]);
    assert!(success && shown.contains("PX: 12345"), "{errors}");
    assert!(errors.contains("not understood: 1 lines, the first: line 6"), "{errors}");
    let other = Recording::new("other", "rubbish\n");
    let (success, shown, errors) = run(&["--replay", other.path()]);
    assert!(!success && shown.is_empty(), "{shown}");
    assert!(errors.contains("line 1: 'rubbish'"), "{errors}");
    let (success, _, errors) = run(&["--replay", "/nowhere/a.log"]);
    assert!(!success && errors.contains("cannot read /nowhere/a.log"), "{errors}");
}

/// Output of `candump -t d -x -a` is shown in the same words.
#[test]
fn the_output_of_candump_is_accepted_as_a_recording() {
    let screen = Recording::new(
        "screen",
        " (000.000000)  can0  TX - -  000   [2]  01 00                     '..'\n \
        (000.001200)  can0  TX - -  365   [4]  50 58 00 00               'PX..'\n \
        (000.000400)  can0  RX - -  2E5   [8]  50 58 00 00 39 30 00 00   'PX..90..'\n \
        (000.000300)  can1  TX - -  366   [8]  4D 50 04 00 36 00 00 00   'MP..6...'\n \
        (000.098000)  can0  RX - -  20000040   [8]  00 00 00 00 00 00 00 00   ERRORFRAME\n",
    );
    let log = Recording::new("screen_log", LOG);
    let [(success, shown, errors), expected] = [&screen, &log].map(|file| run(&["--replay", file.path()]));
    assert!(success && errors.is_empty(), "{errors}");
    assert_eq!(shown, expected.1);
}

#[test]
fn frames_of_can_fd_are_counted_and_nothing_else_is_an_error() {
    let fd = "(1600000000.132000) can0 123##1112233445566778899AABB\n\
        (1600000000.133000) can0 12345678##500112233445566778899AABBCCDDEEFF\n";
    let mixed = Recording::new("mixed", &format!("{LOG}{fd}(1600000000.2) can0 garbage\nrubbish\n"));
    let (success, shown, errors) = run(&["--replay", mixed.path()]);
    assert!(success && shown.contains("PX: 12345"), "{errors}");
    assert!(errors.contains("left out: 2 frames of CAN FD or CAN XL; not understood: 2 lines"), "{errors}");
    assert!(errors.contains("the first: line 8: '(1600000000.2) can0 garbage'"), "{errors}");
    let alone = Recording::new("fd", fd);
    let (success, shown, errors) = run(&["--replay", alone.path()]);
    assert!(!success && shown.is_empty(), "{shown}");
    assert!(errors.contains("has no frames to show; left out: 2 frames of CAN FD or CAN XL"), "{errors}");
}

#[test]
fn a_closed_output_ends_it_without_an_error() {
    let long: String = (0..200_000).map(|second| format!("({second}.000000) can0 080#\n")).collect();
    let log = Recording::new("head", &long);
    let mut child =
        monitor(&["--replay", log.path()]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let Output { status, stderr, .. } = child.wait_with_output().unwrap();
    assert!(status.success() && stderr.is_empty(), "{}", String::from_utf8_lossy(&stderr));
}

#[test]
fn a_missing_interface_is_reported() {
    let (success, _, errors) = run(&["--can", "can_nowhere"]);
    // Without CAN in the kernel the error differs.
    let reason =
        errors.contains("no interface can_nowhere") || errors.contains("kernel does not support CAN");
    assert!(!success && (reason || errors.contains("on Linux only")), "{errors}");
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

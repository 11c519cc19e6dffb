//! `dragoman can monitor` on an interface.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use dragoman_io::can::Bus;
use dragoman_io::can::candump::{self, Content};

use crate::support::{TIMEOUT, Vcan, dragoman, frame};
use crate::test_name;

#[test]
fn the_monitor_shows_and_records_what_others_send() {
    let test = test_name!();
    let Some(vcan) = Vcan::new(test, "vcan_monitor") else { return };
    let Some(mut dragoman) = dragoman(test) else { return };
    let log = std::env::temp_dir().join(format!("{test}_{}.log", std::process::id()));
    dragoman.args(["can", "monitor", "--can", vcan.name, "--log"]).arg(&log);
    let mut child = dragoman.stdout(Stdio::piped()).spawn().unwrap();
    let (lines, shown) = std::sync::mpsc::channel();
    let output = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || output.lines().map_while(Result::ok).try_for_each(|line| lines.send(line)));
    let mut bus = vcan.bus();
    // It does not report when it is ready.
    let began = Instant::now();
    while shown.recv_timeout(Duration::from_millis(20)).is_err() {
        assert!(began.elapsed() < TIMEOUT, "the monitor shows nothing");
        bus.send(&frame("080#")).unwrap();
    }
    bus.send(&frame("2E5#5058000039300000")).unwrap();
    let until = |what: &str| while !shown.recv_timeout(TIMEOUT).unwrap().contains(what) {};
    until("TPDO2 101        2E5#5058000039300000  PX: 12345");
    until("frames/s, load");
    vcan.down();
    until("BUS              the CAN interface is down");
    vcan.up();
    until("BUS              the CAN interface is up");
    let stopped = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(stopped.success() && child.wait().unwrap().success());
    let recorded = candump::read(BufReader::new(std::fs::File::open(&log).unwrap()));
    let last = recorded.map(Result::unwrap).last().unwrap();
    assert_eq!(last.content, Content::Frame(frame("2E5#5058000039300000")));
    assert_eq!(last.interface, vcan.name);
    std::fs::remove_file(log).unwrap();
}

//! `dragoman device whistles` on an interface, with can-utils as the other side.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use dragoman_io::can::{Bus, BusFault, Received, SocketCanBus};

use crate::support::{Vcan, can_utils, cansend, dragoman, frame, next};
use crate::test_name;

/// The next frame, whatever happens to the interface.
fn next_frame(bus: &mut SocketCanBus) -> String {
    loop {
        if let Received::Frame(frame) = next(bus) {
            return frame.to_string();
        }
    }
}

/// Skips frames until this one, which must come soon.
fn wait_for(bus: &mut SocketCanBus, wanted: &str) {
    let before: Vec<String> =
        std::iter::from_fn(|| Some(next_frame(bus)).filter(|frame| frame != wanted)).take(500).collect();
    assert!(before.len() < 500, "{wanted} is not among {before:?}");
}

#[test]
fn simulated_drives_answer_on_an_interface_and_survive_its_going_down() {
    let test = test_name!();
    let Some(vcan) = Vcan::new(test, "vcan_whistles") else { return };
    let Some(mut dragoman) = dragoman(test) else { return };
    if can_utils(test, "cansend").is_none() {
        return;
    }
    let mut bus = vcan.bus();
    dragoman.args(["device", "whistles", "--can", vcan.name, "--nodes", "101,102"]);
    let mut child = dragoman.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "Whistle drives, nodes 101, 102, on vcan_whistles");
    assert_eq!(lines.next().unwrap(), "ready");
    assert_eq!([next_frame(&mut bus), next_frame(&mut bus)], ["765#00", "766#00"]);

    cansend(vcan.name, "000#0100");
    cansend(vcan.name, "366#4D4F000001000000");
    let asked = [next_frame(&mut bus), next_frame(&mut bus)];
    assert_eq!(asked, ["000#0100", "366#4D4F000001000000"]);
    assert_eq!(next_frame(&mut bus), "2E6#4D4F000001000000");
    // A heartbeat every 20 ms, and the status register (object 0x1002): the motor is on.
    cansend(vcan.name, "666#2B17100014000000");
    cansend(vcan.name, "666#4002100000000000");
    for wanted in ["5E6#6017100000000000", "5E6#4302100010000000", "766#05"] {
        wait_for(&mut bus, wanted);
    }

    vcan.down();
    while next(&mut bus) != Received::Fault(BusFault::Down) {}
    vcan.up();
    // They continue without input.
    wait_for(&mut bus, "766#05");
    bus.send(&frame("365#50580000")).unwrap();
    wait_for(&mut bus, "2E5#5058000000000000");

    let stopped = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    assert_eq!(lines.next().unwrap(), "stopping");
    assert!(child.wait().unwrap().success());
}

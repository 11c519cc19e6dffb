//! `dragoman device kobuki` and `wheels` on their pseudo-terminals, used by a program that opens the serial line.
//! Real: terminals of the system, links, signals, exit codes.

#![cfg(target_os = "linux")]

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, symlink};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::device::{Device, TIME_LIMIT, TestPath, command, wheels};
use crate::common::processor_time;
use dragoman_base::differential::line::{BaseAnswer, BaseRequest};
use dragoman_base::kobuki::wire::{
    BaseControl, Command as KobukiCommand, CoreSensors, Decoder, DockIr, Feedback, GeneralPurposeInput,
    Outputs, SoundSequence,
};
use nix::fcntl::OFlag;
use nix::sys::termios::{SetArg, cfmakeraw, tcgetattr, tcsetattr};

/// The fields of a packet that the tests use.
#[derive(Debug, Clone, Copy, Default)]
struct Packet {
    core: CoreSensors,
    dock_ir: DockIr,
    inputs: GeneralPurposeInput,
}

impl Packet {
    fn of(payload: &[u8]) -> Self {
        let mut packet = Self::default();
        for part in Feedback::read(payload).map(Result::unwrap) {
            match part {
                Feedback::Core(part) => packet.core = part,
                Feedback::DockIr(part) => packet.dock_ir = part,
                Feedback::Input(part) => packet.inputs = part,
                _ => {}
            }
        }
        packet
    }
}

fn speed(speed_mm_per_s: i16, radius_mm: i16) -> KobukiCommand {
    KobukiCommand::BaseControl(BaseControl { speed_mm_per_s, radius_mm })
}

/// A program that has opened the line.
struct Client {
    line: File,
    decoder: Decoder,
    found: VecDeque<Packet>,
}

impl Client {
    fn open(path: &Path) -> Self {
        let flags = OFlag::O_NOCTTY | OFlag::O_NONBLOCK;
        let line = OpenOptions::new().read(true).write(true).custom_flags(flags.bits()).open(path).unwrap();
        let mut termios = tcgetattr(&line).unwrap();
        cfmakeraw(&mut termios);
        tcsetattr(&line, SetArg::TCSANOW, &termios).unwrap();
        Self { line, decoder: Decoder::new(), found: VecDeque::new() }
    }

    fn send(&mut self, command: KobukiCommand) {
        let mut bytes = Vec::new();
        command.encode_frame(&mut bytes);
        self.line.write_all(&bytes).unwrap();
    }

    /// The next packet; `None` at the end of the line.
    fn packet(&mut self) -> Option<Packet> {
        let end = Instant::now() + TIME_LIMIT;
        while self.found.is_empty() {
            let mut bytes = [0; 512];
            match self.line.read(&mut bytes) {
                Ok(0) => return None,
                Ok(count) => {
                    let mut bytes = &bytes[..count];
                    while let Some(payload) = self.decoder.next(&mut bytes) {
                        self.found.push_back(Packet::of(payload));
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    assert!(Instant::now() < end, "no packet");
                    std::thread::sleep(Duration::from_millis(2));
                }
                Err(_) => return None,
            }
        }
        self.found.pop_front()
    }

    fn core(&mut self) -> CoreSensors {
        self.packet().expect("the line is there").core
    }

    /// Drives for some time by the machine's clock, and returns the last packet.
    fn drive(&mut self, speed_mm_per_s: i16, radius_mm: i16, time_ms: u16) -> CoreSensors {
        let start = self.core().timestamp_ms;
        loop {
            self.send(speed(speed_mm_per_s, radius_mm));
            let core = self.core();
            if core.timestamp_ms.wrapping_sub(start) >= time_ms {
                return core;
            }
        }
    }
}

#[test]
fn packets_come_at_50_hz() {
    let start = Instant::now();
    let device = Device::start("rate", &[]);
    let mut client = Client::open(&device.path.0);
    let first = client.core().timestamp_ms;
    let mut last = first;
    for _ in 0..150 {
        let now = client.core().timestamp_ms;
        // A reader that pauses for long loses packets.
        let step = now.wrapping_sub(last);
        assert!(step > 0 && step.is_multiple_of(20), "{step} ms after the last one");
        last = now;
    }
    let machine = Duration::from_millis(last.wrapping_sub(first).into());
    // They may have waited to be read, but none came before its time, which begins with the device.
    assert!(start.elapsed() > machine, "{:?} for 3 s", start.elapsed());
}

#[test]
fn speed_commands_move_it_and_their_absence_stops_it() {
    let mut device = Device::start("speed", &[]);
    let mut client = Client::open(&device.path.0);
    let before = client.core();
    client.drive(200, 0, 1500);
    device.prints("motors on");
    assert_eq!(device.prints("speed"), "speed 0.200 m/s 0.000 rad/s");
    device.prints("motors off");
    assert_eq!(device.prints("speed"), "speed 0.000 m/s 0.000 rad/s");
    // It may have stopped and gone on while this program waited for a processor. It rests when the packets agree with it.
    let end = Instant::now() + TIME_LIMIT;
    loop {
        let [x, y, heading] = device.pose();
        let ticks = client.core().left_encoder_ticks.wrapping_sub(before.left_encoder_ticks);
        let way = f64::from(ticks) / 2_578.333_869_740_464 * std::f64::consts::TAU * 0.035;
        assert_eq!((y, heading), (0.0, 0.0));
        if x > 0.0 && (x - way).abs() < 1e-4 {
            break;
        }
        assert!(Instant::now() < end, "{way} m by the packets, {x} m by the device");
    }
}

#[test]
fn user_input_is_in_the_packets_and_reports_are_printed() {
    let mut device = Device::start("user", &["--battery", "13.9"]);
    let mut client = Client::open(&device.path.0);
    client.core();
    for line in
        ["bump left on", "cliff center on", "drop right on", "press 1", "dock ir far-left 1", "analog 1 2047"]
    {
        device.send(line);
    }
    let end = Instant::now() + TIME_LIMIT;
    let packet = loop {
        let packet = client.packet().unwrap();
        if packet.inputs.analog[1] == 2047 {
            break packet;
        }
        assert!(Instant::now() < end);
    };
    let core = packet.core;
    let bits = [core.bumpers.bits(), core.cliffs.bits(), core.wheel_drops.bits(), core.buttons.bits()];
    assert_eq!(bits, [4, 2, 1, 2]);
    assert!((138..=139).contains(&core.battery_decivolts), "{}", core.battery_decivolts);
    assert_eq!(packet.dock_ir.left.bits(), 16);
    client.send(KobukiCommand::SetOutputs(Outputs::LED_1_GREEN | (Outputs::POWER - Outputs::POWER_5V)));
    device.prints("led1 green");
    device.prints("external power 5V off");
    client.send(KobukiCommand::SoundSequence(SoundSequence::Error));
    device.prints("sound error");
}

#[test]
fn a_cable_that_is_unplugged_comes_back() {
    let mut device = Device::start("cut", &["--fault", "cut@1.5"]);
    for cut in [None, Some("cut"), Some("cut 0.3")] {
        let mut client = Client::open(&device.path.0);
        client.send(speed(100, 0));
        client.core();
        if let Some(cut) = cut {
            device.send(cut);
        }
        while client.packet().is_some() {}
        let end = Instant::now() + TIME_LIMIT;
        while !device.path.0.exists() {
            assert!(Instant::now() < end, "no new line");
            std::thread::sleep(Duration::from_millis(5));
        }
        // It continued meanwhile.
        assert!(Client::open(&device.path.0).core().timestamp_ms > 1000);
    }
}

#[test]
fn clients_come_and_go() {
    let device = Device::start("clients", &[]);
    // They follow each other faster than the device polls.
    for number in 0..500 {
        let mut client = Client::open(&device.path.0);
        if number % 3 > 0 {
            client.send(speed(0, 0));
        }
    }
    for _ in 0..20 {
        let mut client = Client::open(&device.path.0);
        client.send(speed(100, 1));
        client.core();
    }
    device.prints("motors on");
    // The last client left no data for the next.
    device.prints("motors off");
    let mut client = Client::open(&device.path.0);
    let stamps: Vec<u16> = (0..5).map(|_| client.core().timestamp_ms).collect();
    assert!(stamps.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == 20), "{stamps:?}");
}

#[test]
fn a_client_that_did_not_read_gets_fresh_packets_afterwards() {
    let mut device = Device::start("lazy", &[]);
    let mut client = Client::open(&device.path.0);
    let first = client.core().timestamp_ms;
    let start = Instant::now();
    std::thread::sleep(Duration::from_secs(8));
    device.pose();
    loop {
        let age = start
            .elapsed()
            .saturating_sub(Duration::from_millis(client.core().timestamp_ms.wrapping_sub(first).into()));
        if age < Duration::from_millis(100) {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(8) + TIME_LIMIT, "{age:?} old");
    }
}

#[test]
fn damaged_bytes_on_the_line_are_tolerated() {
    let mut device = Device::start("damage", &[]);
    let mut client = Client::open(&device.path.0);
    client.core();
    device.send("corrupt 30");
    for _ in 0..5 {
        device.send("garbage 300");
        client.line.write_all(&[0xaa, 0x55, 0xff, 0x01, 0x02]).unwrap();
    }
    let end = Instant::now() + TIME_LIMIT;
    while device.pose()[0] < 0.05 {
        client.drive(150, 0, 200);
        assert!(Instant::now() < end, "it does not move");
    }
    device.send("corrupt 0");
    let stamp = client.core().timestamp_ms;
    client.drive(0, 0, 1000);
    assert!(client.core().timestamp_ms != stamp);
}

#[test]
fn a_path_that_is_taken_is_refused() {
    let refused = |path: &Path| {
        let output = command(path, &[]).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let file = TestPath::new("file");
    std::fs::write(&file.0, "mine").unwrap();
    let error = refused(&file.0);
    assert!(error.contains("already exists"), "{error}");
    assert_eq!(std::fs::read_to_string(&file.0).unwrap(), "mine");

    let device = Device::start("taken", &[]);
    let error = refused(&device.path.0);
    assert!(error.contains("is already a link to /dev/pts/"), "{error}");
    Client::open(&device.path.0).core();

    let error = refused(Path::new("/nowhere/at/all"));
    assert!(error.contains("/nowhere/at/all: No such file"), "{error}");
}

#[test]
fn the_link_of_a_killed_device_is_replaced_and_removed_at_the_end() {
    for signal in ["-INT", "-TERM"] {
        let path = TestPath::new(&format!("stale{signal}"));
        symlink("/dev/pts/99999", &path.0).unwrap();
        let name = path.0.clone();
        let device = Device::start_at(path, &[]);
        Client::open(&device.path.0).core();
        assert!(device.end(signal).success());
        assert!(std::fs::symlink_metadata(&name).is_err(), "the link is gone");
    }
}

#[test]
fn the_device_continues_after_the_end_of_standard_input() {
    let mut device = Device::start("input", &[]);
    device.send("fly");
    device.input = None;
    let before = processor_time(device.child.id());
    std::thread::sleep(Duration::from_secs(3));
    let used = processor_time(device.child.id()) - before;
    assert!(used < 0.45, "{used} s of a core in 3 s");
    Client::open(&device.path.0).core();
}

#[test]
fn faults_are_checked_at_the_start() {
    let path = TestPath::new("faults");
    for (fault, reason) in [
        ("fly@1", "'fly' is not a command"),
        ("reset", "has no time"),
        ("press 9@1", "'9' is not a whole number"),
    ] {
        let output = command(&path.0, &["--fault", fault]).stdin(Stdio::null()).output().unwrap();
        assert!(!output.status.success());
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn wheels_answer_move_and_stop_by_themselves() {
    let path = TestPath::new("wheels");
    let command = wheels(&path.0, &["--ticks", "1000", "--rate", "50"]);
    let mut device = Device::spawn(path, command);
    let mut client = Client::open(&device.path.0);
    let mut ask = |request: BaseRequest| {
        client.line.write_all(request.to_string().as_bytes()).unwrap();
        let end = Instant::now() + TIME_LIMIT;
        let mut answer = Vec::new();
        while !answer.ends_with(b"\n") {
            let mut bytes = [0; 64];
            match client.line.read(&mut bytes) {
                Ok(count) => answer.extend_from_slice(&bytes[..count]),
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
            assert!(Instant::now() < end, "no answer to {request}");
        }
        String::from_utf8(answer).unwrap().parse::<BaseAnswer>().unwrap()
    };
    assert_eq!(ask(BaseRequest::Encoders), BaseAnswer::Encoders([0, 0]));
    // 20 ticks at 50 Hz: one turn per second.
    assert_eq!(ask(BaseRequest::SetSpeeds([20, 20])), BaseAnswer::Done);
    assert_eq!(device.prints("speeds"), "speeds 0.204 m/s 0.204 m/s");
    device.prints("motors off");
    std::thread::sleep(Duration::from_secs(1));
    let BaseAnswer::Encoders([left, right]) = ask(BaseRequest::Encoders) else { panic!("no encoders") };
    assert!(left == right && (1900..2200).contains(&left), "{left} {right}");
    let [x, ..] = device.pose();
    assert!((x - f64::from(left) * std::f64::consts::TAU * 0.0325 / 1000.0).abs() < 0.0003, "{x}");
    let refused = wheels(Path::new("/nowhere"), &["--radius", "0"]).stdin(Stdio::null()).output().unwrap();
    assert!(String::from_utf8(refused.stderr).unwrap().contains("wheel radius cannot be 0"));
}

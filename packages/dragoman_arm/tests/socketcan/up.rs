//! `dragoman up` with its arm on an interface, as users start it.

use std::cell::Cell;
use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use dragoman_arm::canopen::Service;
use dragoman_io::can::candump::{Content, LogLine};

use crate::recorder::Candump;
use crate::support::{TIMEOUT, Vcan, alone, available, dragoman};
use crate::test_name;

/// A ROS domain that no other test uses.
const DOMAIN: u16 = 99;

/// An emulated machine may pause driver or drives for so long that the arm stops and stays off. One clean run proves
/// that all parts work together.
const ATTEMPTS: usize = 4;
/// Time for which a client repeats a refused command.
const ACCEPTED: Duration = Duration::from_secs(12);

#[test]
fn a_client_of_the_31_byte_protocol_moves_drives_on_an_interface() {
    let test = test_name!();
    let _alone = alone();
    let Some(vcan) = Vcan::new(test, "vcan_client") else { return };
    let Some(candump) = Candump::start(test, &vcan) else { return };
    let Some(drives) =
        Program::start(test, &["device", "whistles", "--can", vcan.name, "--nodes", "101-106"], DOMAIN)
    else {
        return;
    };
    drives.until_printed("ready");
    let mut failures = Vec::new();
    while let Err(failure) = lift(test, vcan.name) {
        failures.push(failure);
        assert!(failures.len() < ATTEMPTS, "{failures:#?}");
    }
    let seen = candump.stop();
    let counts: Vec<i32> = seen.iter().filter_map(reported).collect();
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(most - least > 1000, "candump sees a drive move: {least} to {most}");
}

/// Starts `dragoman up` and lets a client lift the tool by 3 cm.
fn lift(test: &str, interface: &str) -> Result<(), String> {
    let can = format!("arm:can:={interface}");
    let up = Program::start(
        test,
        &[
            // The arm alone: an emulated machine is too slow for a whole lab.
            ["up", "--only", "ranger", "--ros-args", "-p", &can].as_slice(),
            &["-p", "arm31:port:=0", "-p", "arm:enable_at_start:=true"],
            &["-p", "arm:lead:=0.2", "-p", "arm:heartbeat_loss:=0.5", "-p", "arm:feedback_loss:=0.5"],
        ]
        .concat(),
        DOMAIN,
    );
    let up = up.ok_or("no program")?;
    let client = Client::of(&up);
    client.until_accepted("CM", [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])?;
    let pose = client.until_accepted("PS", [0.0; 7])?;
    let [x, y, z, ..] = pose;
    let [roll, pitch, yaw] = roll_pitch_yaw(pose);
    client.until_accepted("GT", [x, y, z + 0.03, roll, pitch, yaw, 0.0])?;
    client.until_accepted("BG", [0.0; 7])?;
    let began = Instant::now();
    loop {
        let [at_x, at_y, at_z, ..] = client.until_accepted("PS", [0.0; 7])?;
        let off = [at_x - x, at_y - y, at_z - z - 0.03].iter().map(|d| d * d).sum::<f32>().sqrt();
        if off < 1e-3 {
            return Ok(());
        }
        if began.elapsed() > ACCEPTED {
            return Err(format!("{off} m off the goal: {}", up.all_printed()));
        }
    }
}

/// The position that the drive of the second joint reports.
fn reported(line: &LogLine) -> Option<i32> {
    let Content::Frame(frame) = line.content else { return None };
    match Service::of(frame.standard_id()?)? {
        Service::Tpdo(4, node) if node.raw() == 102 => {
            let [a, b, c, d, ..] = *<&[u8; 8]>::try_from(frame.data()).ok()?;
            Some(i32::from_le_bytes([a, b, c, d]))
        }
        _ => None,
    }
}

/// Starts `dragoman up` on an unusable interface, and waits for these words in its log.
fn logs_of(test: &str, interface: &str, words: &str) -> Option<Program> {
    let can = format!("arm:can:={interface}");
    let up = Program::start(
        test,
        &["up", "--only", "ranger", "--ros-args", "-p", &can, "-p", "arm31:port:=0"],
        DOMAIN,
    )?;
    up.until_printed(words);
    Some(up)
}

#[test]
fn a_missing_interface_is_reported_and_awaited() {
    let test = test_name!();
    if !available(test) {
        return;
    }
    let _alone = alone();
    let Some(mut up) = logs_of(test, "can_nowhere", "there is no interface can_nowhere") else { return };
    up.until_printed("ready");
    assert!(up.child.try_wait().unwrap().is_none(), "it goes on");
}

#[test]
fn an_interface_that_is_not_can_is_refused() {
    let test = test_name!();
    if !available(test) {
        return;
    }
    let _alone = alone();
    let Some(mut up) = logs_of(test, "lo", "lo is not a CAN interface") else { return };
    assert!(!up.child.wait().unwrap().success());
}

/// The program `dragoman`; killed when dropped.
pub(crate) struct Program {
    child: Child,
    said: Receiver<String>,
    /// Its output up to the last wait.
    before: Cell<Vec<String>>,
}

impl Program {
    pub(crate) fn start(test: &str, arguments: &[&str], domain: u16) -> Option<Self> {
        let mut command = dragoman(test)?;
        command.args(arguments).env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
        command.env("ROS_DOMAIN_ID", domain.to_string());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (sender, said) = channel();
        let outputs: [Box<dyn std::io::Read + Send>; 2] =
            [Box::new(child.stdout.take().unwrap()), Box::new(child.stderr.take().unwrap())];
        for output in outputs {
            let sender = sender.clone();
            let lines = BufReader::new(output).lines().map_while(Result::ok);
            std::thread::spawn(move || lines.for_each(|line| drop(sender.send(line))));
        }
        Some(Self { child, said, before: Cell::default() })
    }

    /// Waits for a line with these words; returns the output up to it.
    #[track_caller]
    pub(crate) fn until_printed(&self, what: &str) -> Vec<String> {
        let mut said: Vec<String> = Vec::new();
        while !said.last().is_some_and(|line| line.contains(what)) {
            let line = self.said.recv_timeout(TIMEOUT);
            said.push(line.unwrap_or_else(|_| panic!("'{what}' is not among {said:?}")));
        }
        self.before.set(said.clone());
        said
    }

    /// Its output, without the lines about refused commands.
    fn all_printed(&self) -> String {
        let mut lines = self.before.take();
        lines.extend(self.said.try_iter().filter(|line| !line.contains("refused command")));
        lines.join("\n")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A client like those of the Ranger thesis.
struct Client<'a> {
    socket: UdpSocket,
    up: &'a Program,
}

impl<'a> Client<'a> {
    /// Connects to the address that the program prints.
    fn of(up: &'a Program) -> Self {
        let said = up.until_printed("ready");
        let words = said.iter().flat_map(|line| line.split_whitespace());
        let server: std::net::SocketAddr = words.filter_map(|word| word.parse().ok()).next().unwrap();
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.connect(server).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        Self { socket, up }
    }

    /// Repeats a command until it is answered with values, which it returns.
    fn until_accepted(&self, letters: &str, values: [f32; 7]) -> Result<[f32; 7], String> {
        let mut request = letters.as_bytes().to_vec();
        request.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        request.push(0);
        let answer_letters: Vec<u8> = letters.bytes().rev().collect();
        let began = Instant::now();
        loop {
            self.socket.send(&request).unwrap();
            let mut answer = [0; 31];
            if let Ok(31) = self.socket.recv(&mut answer)
                && answer.starts_with(&answer_letters)
            {
                let value = |at: usize| f32::from_le_bytes(answer[at..at + 4].try_into().unwrap());
                return Ok(std::array::from_fn(|index| value(2 + 4 * index)));
            }
            if began.elapsed() > ACCEPTED {
                return Err(format!("{letters} is not accepted: {}", self.up.all_printed()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The orientation that `PS` answers, converted for `GT`.
fn roll_pitch_yaw([_, _, _, x, y, z, w]: [f32; 7]) -> [f32; 3] {
    [
        (2.0 * (w * x + y * z)).atan2(1.0 - 2.0 * (x * x + y * y)),
        (2.0 * (w * y - z * x)).clamp(-1.0, 1.0).asin(),
        (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z)),
    ]
}

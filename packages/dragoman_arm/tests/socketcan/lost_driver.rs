//! Drives whose driver is killed or stopped: they stop by themselves.
//!
//! The driver is this program, started again with [`the_driver`] as its only test.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use dragoman_arm::driver::{Event, GroupConfig};
use dragoman_io::can::SocketCanBus;
use dragoman_io::can::candump::Content;
use dragoman_sim::whistle::Whistle;

use crate::arm::{SimulatedDrives, six, start_driver};
use crate::recorder::Candump;
use crate::support::{TIMEOUT, Vcan, frame};
use crate::test_name;

/// The interface name for the driver in the other process.
const INTERFACE: &str = "DRAGOMAN_TEST_DRIVER_CAN";

/// Time within which the drives must stop.
const LIMIT: Duration = Duration::from_millis(100);
/// On an emulated machine the drives or the test itself may have to wait that long for a processor, and the driver may
/// lose its drives before it is stopped. One clean run is sufficient proof.
const ATTEMPTS: usize = 5;

#[test]
fn drives_stand_within_a_tenth_of_a_second_after_the_driver_was_killed() {
    until_clean(test_name!(), "vcan_killed", |scene| {
        scene.signal("-KILL");
        let took = scene.time_to_stand();
        scene.stays_at_rest();
        took
    });
}

#[test]
fn drives_stand_within_a_tenth_of_a_second_after_the_driver_was_stopped_and_stay_when_it_goes_on() {
    until_clean(test_name!(), "vcan_stopped", |scene| {
        scene.signal("-STOP");
        let took = scene.time_to_stand();
        scene.stays_at_rest();
        scene.signal("-CONT");
        scene.until_printed("fault: ");
        scene.stays_at_rest();
        took
    });
}

/// Repeats until the drives stop in time.
fn until_clean(test: &str, interface: &'static str, mut attempt: impl FnMut(&mut Scene) -> Duration) {
    let Some(vcan) = Vcan::new(test, interface) else { return };
    let mut took = Vec::new();
    while took.len() < ATTEMPTS {
        let Some(mut scene) = Scene::moving(test, &vcan) else { return };
        took.push(attempt(&mut scene));
        if took.last().is_some_and(|time| *time <= LIMIT) {
            return;
        }
    }
    panic!("the drives took {took:?}");
}

/// Simulated drives in this process, and their driver in another.
struct Scene {
    driver: Child,
    said: Receiver<String>,
    recorder: Option<Candump>,
    simulated: SimulatedDrives,
}

impl Scene {
    /// Waits until the drives move.
    fn moving(test: &str, vcan: &Vcan) -> Option<Self> {
        let recorder = Some(Candump::start(test, vcan)?);
        let simulated = SimulatedDrives::start(101..=106, vcan.bus());
        let arguments = ["--exact", "lost_driver::the_driver", "--ignored", "--nocapture", "--quiet"];
        let mut driver = Command::new(std::env::current_exe().unwrap())
            .args(arguments)
            .env(INTERFACE, vcan.name)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let (sender, said) = channel();
        std::thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let scene = Self { driver, said, recorder, simulated };
        let began = Instant::now();
        let shafts = scene.shafts();
        let far = |scene: &Self| {
            scene.shafts().iter().zip(&shafts).all(|(now, before)| (now - before).abs() > 5000.0)
        };
        while !far(&scene) {
            assert!(began.elapsed() < TIMEOUT, "the driver moves nothing");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(scene.is_moving());
        Some(scene)
    }

    fn signal(&self, signal: &str) {
        let status = Command::new("kill").args([signal, &self.driver.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// The time from the driver's last heartbeat on the bus, by the kernel's clock, until no drive moves.
    fn time_to_stand(&mut self) -> Duration {
        let began = Instant::now();
        while self.is_moving() {
            assert!(began.elapsed() < TIMEOUT, "the drives do not stop");
            std::thread::sleep(Duration::from_millis(1));
        }
        let stood = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let seen = self.recorder.take().unwrap().stop();
        let heartbeat = Content::Frame(frame("77F#05"));
        let last = seen.iter().rfind(|line| line.content == heartbeat).unwrap();
        stood.saturating_sub(last.time)
    }

    fn stays_at_rest(&self) {
        let shafts = self.shafts();
        std::thread::sleep(Duration::from_millis(500));
        assert_eq!(self.shafts(), shafts);
    }

    fn until_printed(&self, what: &str) {
        while !self.said.recv_timeout(TIMEOUT).unwrap().contains(what) {}
    }

    fn shafts(&self) -> Vec<f64> {
        self.simulated.rack.drives().iter().map(Whistle::shaft_counts).collect()
    }

    fn is_moving(&self) -> bool {
        self.simulated.rack.drives().iter().any(Whistle::is_moving)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Switches the drives on and moves them to and fro until its input ends; prints errors.
#[test]
#[ignore = "the other tests start it in a process of its own"]
fn the_driver() {
    let Ok(interface) = std::env::var(INTERFACE) else { return };
    let given = GroupConfig::default();
    // With the default timeouts.
    let config = GroupConfig { heartbeat_loss: given.heartbeat_loss, lead: given.lead, ..six() };
    let drives = start_driver(config, Box::new(SocketCanBus::open(&interface, &[]).unwrap()));
    std::thread::spawn(move || {
        let mut moved = Instant::now();
        let mut direction = 1.0;
        loop {
            drives.with(|now, group| {
                while let Some(event) = group.poll_event() {
                    if let Event::Fault(fault) = event {
                        println!("fault: {fault}");
                    }
                }
                // Refused while not yet possible.
                let _ = group.enable();
                if moved.elapsed() > Duration::from_secs(2) {
                    (moved, direction) = (Instant::now(), -direction);
                }
                let target: Vec<f64> = group.positions().map(|position| position + direction).collect();
                let _ = group.command(now, None, &target);
            });
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

//! `candump -L` that sees all of a test.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use dragoman_io::can::SocketCanBus;
use dragoman_io::can::candump::{self, LogLine};

use crate::support::{PATIENCE, Vcan, can_utils, frame, send_patiently};

/// The program, which writes a file; it ends with it.
pub(crate) struct Candump {
    child: Child,
    log: PathBuf,
    bus: SocketCanBus,
}

impl Candump {
    /// Returns when it listens.
    pub(crate) fn start(test: &str, vcan: &Vcan) -> Option<Self> {
        let mut candump = can_utils(test, "candump")?;
        let log = std::env::temp_dir().join(format!("{test}_{}.log", std::process::id()));
        // A queue for what is not written at once, and a word about what it could not hold.
        candump.args(["-r", "8000000", "-d", "-L", vcan.name]).stdout(File::create(&log).unwrap());
        let mut this = Self { child: candump.stderr(Stdio::null()).spawn().unwrap(), log, bus: vcan.bus() };
        this.wait_for_marker("7EE#00");
        Some(this)
    }

    /// Ends it; what it has seen, at the times of the kernel.
    pub(crate) fn stop(mut self) -> Vec<LogLine> {
        self.wait_for_marker("7EE#01");
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        // If it has lost any it says so there as well, which is no line of a log.
        let lines =
            candump::read(BufReader::new(File::open(&self.log).unwrap())).map(Result::unwrap).collect();
        std::fs::remove_file(&self.log).unwrap();
        lines
    }

    fn wait_for_marker(&mut self, marker: &str) {
        let began = Instant::now();
        loop {
            send_patiently(&mut self.bus, &frame(marker));
            std::thread::sleep(Duration::from_millis(10));
            if std::fs::read_to_string(&self.log).unwrap().contains(marker) {
                return;
            }
            assert!(began.elapsed() < PATIENCE, "candump does not see {marker}");
        }
    }
}

impl Drop for Candump {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

//! `candump -L` that records a whole test.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use dragoman_io::can::SocketCanBus;
use dragoman_io::can::candump::{self, LogLine};

use crate::support::{TIMEOUT, Vcan, can_utils, frame, send_with_retry};

/// The program, which writes a file; killed when dropped.
pub(crate) struct Candump {
    child: Child,
    log: PathBuf,
    bus: SocketCanBus,
}

impl Candump {
    /// Returns when it receives.
    pub(crate) fn start(test: &str, vcan: &Vcan) -> Option<Self> {
        let mut candump = can_utils(test, "candump")?;
        let log = std::env::temp_dir().join(format!("{test}_{}.log", std::process::id()));
        // A buffer for pending writes, and a report of dropped frames.
        candump.args(["-r", "8000000", "-d", "-L", vcan.name]).stdout(File::create(&log).unwrap());
        let mut this = Self { child: candump.stderr(Stdio::null()).spawn().unwrap(), log, bus: vcan.bus() };
        this.wait_for_marker("7EE#00");
        Some(this)
    }

    /// Stops it; returns the recorded frames, with the kernel's times.
    pub(crate) fn stop(mut self) -> Vec<LogLine> {
        self.wait_for_marker("7EE#01");
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        // A report of lost frames is in the log as well, and fails to parse as a frame.
        let lines =
            candump::read(BufReader::new(File::open(&self.log).unwrap())).map(Result::unwrap).collect();
        std::fs::remove_file(&self.log).unwrap();
        lines
    }

    fn wait_for_marker(&mut self, marker: &str) {
        let began = Instant::now();
        loop {
            send_with_retry(&mut self.bus, &frame(marker));
            std::thread::sleep(Duration::from_millis(10));
            if std::fs::read_to_string(&self.log).unwrap().contains(marker) {
                return;
            }
            assert!(began.elapsed() < TIMEOUT, "candump does not see {marker}");
        }
    }
}

impl Drop for Candump {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

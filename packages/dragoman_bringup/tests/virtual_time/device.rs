//! A simulated device on a serial line of the lab: `dragoman device`, on virtual time.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

use clap::Parser;
use dragoman_time::{Program, Surroundings, Task};
use dragoman_tools::device::{DeviceCommand, simulate};
use tokio::sync::mpsc;

use crate::common::{Simulated, TIME_LIMIT, sleep};

/// The words behind `dragoman device`.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct Words {
    #[command(subcommand)]
    command: DeviceCommand,
}

/// A device, while it exists.
pub(crate) struct Device {
    /// The path of its serial port.
    pub(crate) port: String,
    program: Program,
    input: mpsc::Sender<String>,
    lines: RefCell<VecDeque<String>>,
    task: Task<()>,
    _simulated: Simulated,
}

impl Device {
    /// `arguments` stand behind `dragoman device`, without `--pty`.
    #[track_caller]
    pub(crate) fn start(port: &str, arguments: &[&str]) -> Self {
        Self::start_at(port, &[arguments, &["--pty", port]].concat())
    }

    /// As [`start`](Self::start), with all arguments: it may be at another place than a serial line.
    #[track_caller]
    pub(crate) fn start_at(port: &str, arguments: &[&str]) -> Self {
        // The simulation may have no other program yet.
        let simulated = Simulated::new();
        let Words { command } = Words::try_parse_from(arguments).unwrap();
        let (input, typed) = mpsc::channel(1024);
        let program = Program::new(Surroundings::default());
        let task = program.enter(|| {
            dragoman_time::spawn(async move {
                let ended = simulate(command, typed, std::future::pending()).await;
                ended.unwrap_or_else(|error| panic!("the device has ended: {error}"));
            })
        });
        let device = Self {
            port: port.to_owned(),
            program,
            input,
            lines: RefCell::default(),
            task,
            _simulated: simulated,
        };
        device.prints("ready");
        device
    }

    pub(crate) fn send(&self, line: &str) {
        self.input.try_send(line.to_owned()).unwrap();
    }

    /// The next line with this prefix.
    #[track_caller]
    pub(crate) fn prints(&self, start: &str) -> String {
        let begun = dragoman_time::now();
        let mut others = Vec::new();
        loop {
            self.lines.borrow_mut().extend(self.program.take_output().lines().map(str::to_owned));
            while let Some(line) = self.lines.borrow_mut().pop_front() {
                if line.starts_with(start) {
                    return line;
                }
                others.push(line);
            }
            assert!(dragoman_time::since(begun) < TIME_LIMIT, "no line '{start}', but {others:?}");
            sleep(Duration::from_millis(1));
        }
    }

    /// The numbers that it prints when it is asked for `what`.
    #[track_caller]
    pub(crate) fn numbers<const N: usize>(&self, what: &str) -> [f64; N] {
        self.send(what);
        let line = self.prints(what);
        let values: Vec<f64> = line.split_whitespace().skip(1).map(|word| word.parse().unwrap()).collect();
        values.try_into().unwrap()
    }

    /// Its true pose.
    #[track_caller]
    pub(crate) fn pose(&self) -> [f64; 3] {
        self.numbers("pose")
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.task.abort();
    }
}

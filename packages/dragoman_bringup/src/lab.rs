//! A lab on virtual time, in one thread: for tests and for `dragoman up --fast`.
//!
//! It runs the nodes of `dragoman up` as they are, without network and without threads. Time passes only in
//! [`Lab::block_on`] and what is built on it. The same seed gives the same history.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use clap::Parser;
use dragoman_ros::{Context, Node, command_line, logging, process};
use dragoman_time::{Fingerprint, Simulation, Surroundings};
use futures::channel::oneshot;
use tokio::sync::Notify;
use tracing::dispatcher::DefaultGuard;

use crate::{Cli, Command, Server, serve_until};

/// How a lab is started.
#[derive(Debug, Clone, Default)]
pub struct LabOptions {
    /// The source of all chance.
    pub seed: u64,
    /// What stands behind `dragoman` on the command line: `up` with its options and ROS arguments.
    pub arguments: Vec<String>,
    /// Environment variables.
    pub variables: BTreeMap<String, String>,
    /// The folder of the lab's files; it is created. Without one the lab gets a new one, which is removed at its end.
    pub folder: Option<PathBuf>,
    /// Whether the log is written to standard error.
    pub is_log_shown: bool,
}

/// A running lab. The thread that has started it is the only one that may use it.
pub struct Lab {
    /// `None` after its end.
    process: Option<Running>,
    stop: Arc<Notify>,
    context: Context,
    simulation: Simulation,
    _log: DefaultGuard,
    _folder: Folder,
}

type Running = Pin<Box<dyn Future<Output = Result<(), String>>>>;

impl Lab {
    /// Starts a lab, and runs it until it is ready.
    ///
    /// # Errors
    /// Arguments of another command than `up`; the reason why the lab cannot start.
    pub fn start(options: LabOptions) -> Result<Self, Box<dyn Error>> {
        let arguments: Vec<String> =
            std::iter::once("dragoman".to_owned()).chain(options.arguments).collect();
        let (own, _) = command_line::split(arguments.iter().cloned());
        let cli = Cli::try_parse_from(own)?;
        let up = match cli.command.unwrap_or(Command::Up(cli.up)) {
            Command::Up(up) => up,
            _ => return Err("only `up` runs on virtual time".into()),
        };
        let folder = Folder::new(options.folder)?;
        let mut variables = options.variables;
        let path = folder.path.to_str().ok_or("the path of the lab's folder is not valid UTF-8")?;
        for name in ["HOME", "XDG_DATA_HOME", "TMPDIR"] {
            variables.entry(name.to_owned()).or_insert_with(|| path.to_owned());
        }
        let surroundings = Surroundings { arguments, variables, ..Surroundings::default() };
        let simulation = Simulation::with_surroundings(options.seed, surroundings);
        let log = simulation.enter(|| logging::of_lab(up.common.log(), options.is_log_shown))?;
        let log = tracing::dispatcher::set_default(&log);

        let stop = Arc::new(Notify::new());
        let (ready, is_ready) = oneshot::channel();
        let stopped = Arc::clone(&stop);
        let mut process: Running = Box::pin(async move {
            let preset = up.options.preset().map_err(|error| error.to_string())?;
            let signal = async || stopped.notified().await;
            let ended =
                process::simulate("dragoman up", &up.common, &preset, signal, async |process, stop| {
                    let context = process.context.clone();
                    serve_until(stop, process, &up.options, || {
                        // Who waits for it cannot be gone.
                        let _ = ready.send(context);
                    })
                    .await
                });
            ended.await.map_err(|error| error.to_string())
        });
        let context = simulation.block_on(async {
            let mut is_ready = pin!(is_ready);
            std::future::poll_fn(|task| {
                if let Poll::Ready(ended) = process.as_mut().poll(task) {
                    return Poll::Ready(Err(ended.err().unwrap_or_else(|| "the lab has ended".to_owned())));
                }
                is_ready.as_mut().poll(task).map(|ready| ready.map_err(|_| "the lab has ended".to_owned()))
            })
            .await
        });
        let context = match context {
            Ok(context) => context,
            Err(reason) => {
                simulation.enter(|| drop(process));
                return Err(reason.into());
            }
        };
        Ok(Self { process: Some(process), stop, context, simulation, _log: log, _folder: folder })
    }

    /// Runs the lab until `future` is ready.
    ///
    /// # Panics
    /// The lab ends; `future` panics.
    #[track_caller]
    pub fn block_on<F: Future>(&mut self, future: F) -> F::Output {
        let process = &mut self.process;
        self.simulation.block_on(async {
            let mut future = pin!(future);
            std::future::poll_fn(|task| {
                // First, as what it has to do was there before.
                if let Some(running) = process
                    && let Poll::Ready(ended) = running.as_mut().poll(task)
                {
                    *process = None;
                    panic!("the lab has ended: {}", ended.err().unwrap_or_default());
                }
                future.as_mut().poll(task)
            })
            .await
        })
    }

    /// Runs the lab for `time`.
    #[track_caller]
    pub fn run_for(&mut self, time: Duration) {
        self.block_on(async { dragoman_time::sleep(time).await });
    }

    /// A node in the lab's graph, in the namespace `/`.
    ///
    /// # Errors
    /// An invalid name.
    pub fn node(&self, name: &str) -> dragoman_ros::Result<Node> {
        self.enter(|| Node::create(self.context.clone(), name, ""))
    }

    /// The context of the lab's nodes.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Calls `act` as if in a task of the lab. What takes the time, or makes endpoints and sockets, belongs here.
    pub fn enter<R>(&self, act: impl FnOnce() -> R) -> R {
        self.simulation.enter(act)
    }

    /// The simulation in which it runs.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Virtual time since the start.
    pub fn elapsed(&self) -> Duration {
        self.simulation.elapsed()
    }

    /// Its history up to now, as a number.
    pub fn fingerprint(&self) -> Fingerprint {
        self.simulation.fingerprint()
    }

    /// Ends the lab as a signal does.
    ///
    /// # Errors
    /// Why the lab has failed.
    pub fn end(mut self) -> Result<(), String> {
        let Some(process) = self.process.take() else { return Ok(()) };
        self.stop.notify_one();
        self.simulation.block_on(process)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let process = self.process.take();
        self.simulation.enter(|| drop(process));
    }
}

impl std::fmt::Debug for Lab {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Lab").field("simulation", &self.simulation).finish_non_exhaustive()
    }
}

/// The folder of a lab's files.
struct Folder {
    path: PathBuf,
    /// Removed at the end.
    is_temporary: bool,
}

impl Folder {
    fn new(given: Option<PathBuf>) -> std::io::Result<Self> {
        let is_temporary = given.is_none();
        let path = given.unwrap_or_else(|| {
            let name: [u8; 8] = dragoman_time::random_bytes("folder of a lab");
            let name = u64::from_le_bytes(name);
            std::env::temp_dir().join(format!("dragoman_lab_{name:016x}"))
        });
        std::fs::create_dir_all(&path)?;
        Ok(Self { path, is_temporary })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_temporary {
            remove(&self.path);
        }
    }
}

fn remove(folder: &Path) {
    if let Err(error) = std::fs::remove_dir_all(folder) {
        eprintln!("cannot remove {}: {error}", folder.display());
    }
}

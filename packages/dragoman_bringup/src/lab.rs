//! Programs on virtual time, in one thread: for tests and for `dragoman up --fast`.
//!
//! A [`Lab`] runs the nodes of `dragoman up`, or of another command in ROS, as they are, without network and threads. Several of them may share a [`Simulation`]; those of one domain see each other in ROS, and all share the simulated
//! network. Time passes only in [`Simulation::block_on`] and what is built on it. The same seed gives the same history.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use clap::Args;
use dragoman_ros::process::CommonOptions;
use dragoman_ros::{command_line, process};
use dragoman_time::{LAB_FOLDER, Program, Run, Simulation, Surroundings};
use futures::channel::oneshot;
use tokio::sync::Notify;

use crate::command_line::{Cli, Command};
use crate::commands::calibrate::CalibrateCommand;
use crate::commands::evaluate::EvaluateCommand;
use crate::known;
use crate::program::{Server, Tool, WithCommon, serve_until};

/// A running program: a lab, the server of a single machine, or a tool.
pub struct Lab {
    /// `None` after its end.
    process: Option<Run<Running>>,
    /// How it has ended while it was started: a tool that had nothing to do.
    ended: Option<Result<(), String>>,
    program: Program,
    stop: Arc<Notify>,
    /// What was printed up to `ready`.
    banner: String,
    domain: u16,
}

type Running = Pin<Box<dyn Future<Output = Result<(), String>>>>;

/// Command line and environment of a lab.
#[derive(Debug, Clone, Default)]
pub struct LabOptions {
    /// The arguments of `dragoman`: a command, for example `up`, with its options and ROS arguments.
    pub arguments: Vec<String>,
    /// The environment.
    pub variables: BTreeMap<String, String>,
    /// The existing folder for its files, which it sees as `/lab`. `HOME` and `TMPDIR` are there unless the environment has
    /// others.
    pub folder: PathBuf,
}

impl Lab {
    /// Starts a program in `simulation`, and runs it until it is ready. A tool is ready as soon as it has begun.
    ///
    /// # Errors
    /// Arguments of a command that does not work in ROS; the reason why the program cannot start.
    pub fn start(simulation: &Simulation, options: LabOptions) -> Result<Self, Box<dyn Error>> {
        let mut lab = Starting::new(simulation, options)?;
        match simulation.block_on(std::future::poll_fn(|task| lab.poll(task))) {
            Ok(()) => lab.started().ok_or_else(|| "it has ended".into()),
            Err(reason) => {
                simulation.enter(|| drop(lab));
                Err(reason.into())
            }
        }
    }

    /// As [`Lab::start`], several programs at the same time.
    ///
    /// # Errors
    /// As [`Lab::start`]: of the first program that has one.
    pub fn start_together(
        simulation: &Simulation,
        options: impl IntoIterator<Item = LabOptions>,
    ) -> Result<Vec<Self>, Box<dyn Error>> {
        let labs: Result<Vec<_>, _> =
            options.into_iter().map(|options| Starting::new(simulation, options)).collect();
        let mut labs = labs?;
        let started = simulation.block_on(std::future::poll_fn(|task| {
            let mut are_ready = true;
            for lab in &mut labs {
                match lab.poll(task) {
                    Poll::Ready(Ok(())) => {}
                    Poll::Ready(Err(reason)) => return Poll::Ready(Err(reason)),
                    Poll::Pending => are_ready = false,
                }
            }
            if are_ready { Poll::Ready(Ok(())) } else { Poll::Pending }
        }));
        if let Err(reason) = started {
            simulation.enter(|| drop(labs));
            return Err(reason.into());
        }
        Ok(labs.into_iter().filter_map(Starting::started).collect())
    }

    /// The lines that were printed up to `ready`.
    pub fn banner(&self) -> &str {
        &self.banner
    }

    /// The program, with its later output.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// The domain of its nodes.
    pub fn domain(&self) -> u16 {
        self.domain
    }

    /// Whether it is running.
    pub fn is_running(&self) -> bool {
        self.process.is_some()
    }

    /// Asks it to end, as a signal does.
    pub fn stop(&self) {
        self.stop.notify_one();
    }

    /// Runs its part of the simulation.
    fn poll(&mut self, task: &mut TaskContext<'_>) -> Poll<Result<(), String>> {
        let Some(process) = &mut self.process else { return Poll::Pending };
        let ended = match self.ended.take() {
            Some(ended) => Poll::Ready(ended),
            None => Pin::new(process).poll(task),
        };
        if ended.is_ready() {
            self.process = None;
        }
        ended
    }
}

/// A program that is not ready yet.
struct Starting {
    process: Run<Running>,
    program: Program,
    stop: Arc<Notify>,
    is_ready: oneshot::Receiver<u16>,
    /// Its domain, when it is ready.
    domain: Option<u16>,
    /// How it has ended since then.
    ended: Option<Result<(), String>>,
}

impl Starting {
    fn new(simulation: &Simulation, options: LabOptions) -> Result<Self, Box<dyn Error>> {
        let LabOptions { arguments, mut variables, folder } = options;
        let arguments: Vec<String> = std::iter::once("dragoman".to_owned()).chain(arguments).collect();
        for name in ["HOME", "TMPDIR"] {
            variables.entry(name.to_owned()).or_insert_with(|| LAB_FOLDER.to_owned());
        }
        let folder = Some(folder);
        let program = Program::new(Surroundings { arguments, variables, folder, ..Surroundings::default() });
        let stop = Arc::new(Notify::new());
        let (ready, is_ready) = oneshot::channel();
        let process = simulation.enter(|| program.enter(|| command(Arc::clone(&stop), ready)))?;
        let process = program.run(process);
        Ok(Self { process, program, stop, is_ready, domain: None, ended: None })
    }

    /// Runs it; ready when it is, or has ended before that.
    fn poll(&mut self, task: &mut TaskContext<'_>) -> Poll<Result<(), String>> {
        if self.ended.is_none()
            && let Poll::Ready(ended) = Pin::new(&mut self.process).poll(task)
        {
            self.ended = Some(ended);
        }
        if self.domain.is_none()
            && let Poll::Ready(Ok(domain)) = Pin::new(&mut self.is_ready).poll(task)
        {
            self.domain = Some(domain);
        }
        match (&self.domain, &self.ended) {
            (Some(_), _) => Poll::Ready(Ok(())),
            (None, Some(ended)) => {
                Poll::Ready(Err(ended.clone().err().unwrap_or_else(|| "it has ended".to_owned())))
            }
            (None, None) => Poll::Pending,
        }
    }

    /// `None` if it is not ready.
    fn started(self) -> Option<Lab> {
        let Self { process, program, stop, is_ready: _, domain, ended } = self;
        let banner = program.take_output();
        Some(Lab { process: Some(process), ended, program, stop, banner, domain: domain? })
    }
}

impl std::fmt::Debug for Lab {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Lab").field("program", &self.program).finish_non_exhaustive()
    }
}

/// Runs these programs until `future` is ready, or one of them ends. What they have to do was there before `future`,
/// and comes first.
///
/// # Errors
/// The number of the program that has ended, and how.
pub async fn run_until<F: Future>(
    labs: &mut [Lab],
    future: F,
) -> Result<F::Output, (usize, Result<(), String>)> {
    let mut future = pin!(future);
    std::future::poll_fn(|task| {
        for (number, lab) in labs.iter_mut().enumerate() {
            if let Poll::Ready(ended) = lab.poll(task) {
                return Poll::Ready(Err((number, ended)));
            }
        }
        future.as_mut().poll(task).map(Ok)
    })
    .await
}

/// The command of the present program's command line.
fn command(stop: Arc<Notify>, ready: oneshot::Sender<u16>) -> Result<Running, Box<dyn Error>> {
    let cli = command_line::parse::<Cli>()?;
    Ok(match cli.command.unwrap_or(Command::Up(cli.up)) {
        Command::Up(up) => serve("up", up, stop, ready),
        Command::Arm31(arm31) => serve("arm31", arm31, stop, ready),
        Command::Apolo(apolo) => serve("apolo", apolo, stop, ready),
        Command::Base(base) => serve("base", base, stop, ready),
        Command::Arm(arm) => serve("arm", arm, stop, ready),
        Command::Neobotix(neobotix) => serve("neobotix", neobotix, stop, ready),
        Command::Player(player) => serve("player", player, stop, ready),
        Command::Bridge { command: None, machine } => serve("bridge", machine, stop, ready),
        Command::Platform(platform) => serve("platform", platform, stop, ready),
        Command::Relay(relay) => serve("relay", relay, stop, ready),
        Command::Console(console) => serve("console", console, stop, ready),
        Command::Latency(latency) => work("latency", latency, stop, ready),
        Command::Play(play) => work("play", play, stop, ready),
        Command::Record(record) => work("record", record, stop, ready),
        Command::Calibrate { command: CalibrateCommand::Measure(measure) } => {
            work("calibrate measure", measure, stop, ready)
        }
        Command::Evaluate { command: EvaluateCommand::Run(run) } => work("evaluate run", run, stop, ready),
        _ => return Err("only servers and tools in ROS run on virtual time".into()),
    })
}

fn work<T: Tool + 'static>(
    name: &str,
    command: WithCommon<T>,
    stop: Arc<Notify>,
    ready: oneshot::Sender<u16>,
) -> Running {
    let name = format!("dragoman {name}");
    Box::pin(async move {
        let WithCommon { options, common } = command;
        let (preset, signal) = (known::preset(), async || stop.notified().await);
        let worked = process::simulate(&name, &common, &preset, signal, async |process, stop| {
            // The receiver may be gone.
            let _ = ready.send(process.context.domain_id());
            options.run(&process.context, stop).await
        });
        worked.await.map_err(|error| error.to_string())
    })
}

fn serve<T: Server + Args + 'static>(
    name: &str,
    command: WithCommon<T>,
    stop: Arc<Notify>,
    ready: oneshot::Sender<u16>,
) -> Running {
    let name = format!("dragoman {name}");
    Box::pin(async move {
        let WithCommon { options, common } = command;
        simulate(&name, &common, &options, &stop, ready).await.map_err(|error| error.to_string())
    })
}

async fn simulate<T: Server>(
    name: &str,
    common: &CommonOptions,
    options: &T,
    stop: &Notify,
    ready: oneshot::Sender<u16>,
) -> Result<(), Box<dyn Error>> {
    let preset = options.preset()?;
    let signal = async || stop.notified().await;
    process::simulate(name, common, &preset, signal, async |process, stop| {
        serve_until(stop, process, options, || {
            // The receiver may be gone.
            let _ = ready.send(process.context.domain_id());
        })
        .await
    })
    .await
}

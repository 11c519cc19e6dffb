//! `dragoman task`: programs of a platform (PlatformCtrl guide, 4.5 and 6.5).
//!
//! | file | holds |
//! | --- | --- |
//! | `task.rs` | the options; `check` and `convert`, without a platform |
//! | `task/local.rs` | local mode: the platform executes the program |
//! | `task/remote.rs` | remote mode: this computer executes it, and sends commands |
//! | `task/battery.rs` | the charge of the platform's battery, in ROS |
//! | `task/view.rs` | the view of a running program |

mod battery;
mod local;
mod remote;
mod view;

use std::error::Error;
use std::fs::{self, File};
use std::io::{self, BufRead as _, Read as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use dragoman_bridge::neobotix::documents::{
    Document, DocumentError, MAX_DOCUMENT_LEN, Program, ProgramSource, Roadmap,
};
use dragoman_bridge::neobotix::node::PlatformPort;
use dragoman_bridge::neobotix::program::remote::{ChargeSource, Equipment};
use dragoman_bridge::neobotix::status::{Emergency, MotionMode, Operation};
use dragoman_bridge::neobotix::wire::{Command, Reply, SetMode, Status};
use dragoman_bridge::neobotix::{Outcome, Refusal};
use dragoman_ros::tasks::NodeTasks;
use dragoman_ros::{Context, Node, out, outln};
use tokio::sync::mpsc;

use battery::Battery;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The command line of `dragoman task check`.
#[derive(Debug, Clone, Args)]
pub struct CheckCommand {
    /// The program: XML or the text form; - is standard input.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A roadmap, which must have the stations of the program.
    #[arg(long, value_name = "FILE.xml")]
    roadmap: Option<PathBuf>,
}

/// The command line of `dragoman task convert`.
#[derive(Debug, Clone, Args)]
pub struct ConvertCommand {
    /// The program: XML or the text form; - is standard input.
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The new file: XML if it ends in .xml, otherwise text; - is text on standard output.
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
}

/// The command line of `dragoman task run`.
#[derive(Debug, Clone, Args)]
#[allow(missing_docs, reason = "the type says it")]
pub struct RunCommand {
    /// Remote mode: this computer executes the program, and sends the platform commands. Lines of standard input are
    /// names of user events. Without --server the commands are calls of the platform's services in ROS.
    #[arg(long)]
    remote: bool,
    #[command(flatten)]
    pub options: TaskOptions,
}

/// The command line of `dragoman task step`.
#[derive(Debug, Clone, Args)]
#[allow(missing_docs, reason = "the type says it")]
pub struct StepCommand {
    #[command(flatten)]
    pub options: TaskOptions,
}

/// Options of a program that is executed.
#[derive(Debug, Clone, Args)]
pub struct TaskOptions {
    /// The program: XML or the text form.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Remote mode over the socket, without ROS: address of PlatformCtrl, or of another server of its protocol; its port is
    /// 10000 unless you name another.
    #[arg(long, value_name = "HOST[:PORT]")]
    pub server: Option<String>,
    /// The platform in ROS.
    #[arg(long, value_name = "NAMESPACE", default_value = "/neobotix")]
    namespace: String,
    /// Connect and initialize the platform first, if it is not initialized.
    #[arg(long)]
    init: bool,
    /// Remote mode: folder of the program's maps and roadmaps, and of its scans.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    data: PathBuf,
    /// Remote mode: directions of the infrared and radar sensors 1 to 4.
    #[arg(
        long,
        value_name = "DIRECTION,DIRECTION,DIRECTION,DIRECTION",
        default_value = "front,left,rear,right"
    )]
    #[arg(value_parser = sensors)]
    sensors: [String; 4],
    /// Remote mode: voltages of the empty and of the full battery, V, for programs that wait for its charge. Needed with
    /// --server; in ROS the default is the charge of battery_state.
    #[arg(long, value_name = "EMPTY,FULL", value_parser = battery)]
    battery: Option<[f64; 2]>,
}

impl TaskOptions {
    /// The platform; `otherwise`: where the charge of its battery comes from without --battery.
    fn equipment(&self, otherwise: ChargeSource) -> Equipment {
        let sensor_directions = self.sensors.clone();
        let charge = self.battery.map_or(otherwise, ChargeSource::Voltage);
        Equipment { sensor_directions, charge, ..Equipment::default() }
    }
}

fn sensors(text: &str) -> std::result::Result<[String; 4], String> {
    let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).collect();
    names.try_into().map_err(|names: Vec<_>| format!("four directions are needed, not {}", names.len()))
}

fn battery(text: &str) -> std::result::Result<[f64; 2], String> {
    let number = |text: &str| text.trim().parse().ok().filter(|volts: &f64| volts.is_finite());
    let voltages = text.split_once(',').and_then(|(empty, full)| Some([number(empty)?, number(full)?]));
    match voltages {
        Some([empty, full]) if empty < full => Ok([empty, full]),
        _ => Err("two voltages are needed, the smaller one first".to_owned()),
    }
}

/// Time limit of a call, also on a loaded machine.
const CALL_TIME: Duration = Duration::from_secs(10);
/// Time for a platform's base to appear, which [`Command::ConnectToPltf`] needs.
const SEARCH_TIME: Duration = Duration::from_secs(10);
/// Time between two attempts, and between two cycles of the remote mode.
const PERIOD: Duration = Duration::from_millis(100);

/// Prints all errors of a program.
///
/// # Errors
/// The program has errors, or cannot be read.
pub fn check(command: &CheckCommand) -> Result<()> {
    let (_, program) = read(&command.file)?;
    if let Some(file) = &command.roadmap {
        let bytes = read_bytes(file)?;
        let roadmap = Roadmap::read(&bytes).map_err(|error| report(file, &[error]))?;
        warn(file, &roadmap.unknown());
        let missing = program.check_stations(&roadmap);
        if !missing.is_empty() {
            return Err(report(&command.file, &missing).into());
        }
    }
    warn(&command.file, &program.unknown());
    for (position, part) in program.without_effect() {
        eprintln!("{}:{}:{}: warning: {part}", command.file.display(), position.line, position.column);
    }
    let steps: usize = program.tasks.iter().map(|task| task.steps.len()).sum();
    outln!("{}: no errors; tasks: {}, steps: {steps}", command.file.display(), program.tasks.len());
    Ok(())
}

/// Prints the parts without effect.
fn warn(file: &Path, parts: &[DocumentError]) {
    for DocumentError { position, problem } in parts {
        eprintln!("{}:{}:{}: warning: {problem}", file.display(), position.line, position.column);
    }
}

/// Converts a program from XML to text or back.
///
/// # Errors
/// It cannot be read or written.
pub fn convert(command: &ConvertCommand) -> Result<()> {
    let source = parse(&command.input)?;
    if command.output == Path::new("-") {
        out!("{}", source.to_text());
        return Ok(());
    }
    let is_xml = command.output.extension().is_some_and(|suffix| suffix.eq_ignore_ascii_case("xml"));
    let text = if is_xml { source.to_xml()? } else { source.to_text() };
    let path = command.output.display();
    if command.output.exists() && !command.force {
        return Err(format!("{path} exists: use --force to overwrite it").into());
    }
    fs::write(&command.output, text).map_err(|error| format!("cannot write {path}: {error}"))?;
    Ok(())
}

/// Executes a program over the socket, without ROS. `is_stepped`: step by step.
///
/// # Errors
/// An invalid program; then nothing is sent. The program did not come to its end.
pub fn over_socket(options: &TaskOptions, server: SocketAddr, is_stepped: bool) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let result = runtime.block_on(async {
        let stop = dragoman_ros::signals::first()?;
        on_socket(options, server, is_stepped, stdin_lines, stop).await
    });
    // A thread may wait for standard input.
    runtime.shutdown_background();
    result
}

/// As [`over_socket`], until `stop`. `input` opens what the user types.
///
/// # Errors
/// As [`over_socket`].
pub async fn on_socket(
    options: &TaskOptions,
    server: SocketAddr,
    is_stepped: bool,
    input: impl FnOnce() -> Lines,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let prepared = remote::Prepared::new(options, ChargeSource::Unknown)?;
    let port = PlatformPort::connect(server).await?;
    remote::run(prepared, options, port, None, is_stepped, input, stop).await
}

/// Lines that the user types.
pub type Lines = mpsc::UnboundedReceiver<String>;

/// Lines of standard input; a thread of its own reads them, because reading cannot be interrupted.
pub fn stdin_lines() -> Lines {
    let (sender, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in io::stdin().lock().lines().map_while(std::result::Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// Executes a program on a platform in ROS. `input` opens what the user types, in the remote mode.
///
/// # Errors
/// An invalid program; then nothing is sent. The program did not come to its end.
pub async fn run(
    context: &Context,
    command: &RunCommand,
    input: impl FnOnce() -> Lines,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    if command.is_remote() {
        return remotely(context, &command.options, false, input, stop).await;
    }
    local::run(context, &command.options, stop).await
}

/// Executes a program step by step on a platform in ROS, in the remote mode.
///
/// # Errors
/// As [`run`].
pub async fn step(
    context: &Context,
    command: &StepCommand,
    input: impl FnOnce() -> Lines,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    remotely(context, &command.options, true, input, stop).await
}

async fn remotely(
    context: &Context,
    options: &TaskOptions,
    is_stepped: bool,
    input: impl FnOnce() -> Lines,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let prepared = remote::Prepared::new(options, ChargeSource::Observed)?;
    let mut tasks = NodeTasks::new(Node::create(context.clone(), "task", &options.namespace)?);
    let port = PlatformPort::services(tasks.node(), CALL_TIME)?;
    let battery = if prepared.needs_battery_state() { Some(Battery::subscribe(&mut tasks)?) } else { None };
    // Without the battery it has no tasks, and ends at once.
    let has_tasks = battery.is_some();
    let node = tasks.start()?;
    let mut node = std::pin::pin!(node);
    tokio::select! {
        biased;
        ended = remote::run(prepared, options, port, battery, is_stepped, input, stop) => ended,
        () = &mut node, if has_tasks => Err("the node has ended".into()),
    }
}

impl RunCommand {
    /// Whether this computer executes the program.
    pub fn is_remote(&self) -> bool {
        self.remote
    }

    /// The address of `--server`, if it is used.
    ///
    /// # Errors
    /// `--server` without `--remote`.
    pub fn server(&self) -> Result<Option<&str>> {
        match self.options.server.as_deref() {
            Some(_) if !self.remote => Err("--server is for --remote: in the local mode use ROS".into()),
            server => Ok(server),
        }
    }
}

fn read_bytes(file: &Path) -> Result<Vec<u8>> {
    let limit = u64::try_from(MAX_DOCUMENT_LEN).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        io::stdin().take(limit).read_to_end(&mut bytes)
    } else {
        File::open(file).and_then(|open| open.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    Ok(bytes)
}

fn parse(file: &Path) -> Result<ProgramSource> {
    Ok(ProgramSource::parse(&read_bytes(file)?).map_err(|errors| report(file, &errors))?)
}

/// A program without errors.
fn read(file: &Path) -> Result<(ProgramSource, Program)> {
    let source = parse(file)?;
    let (program, errors) = source.program();
    if errors.is_empty() { Ok((source, program)) } else { Err(report(file, &errors).into()) }
}

/// Prints errors, and returns their number.
fn report(file: &Path, errors: &[DocumentError]) -> String {
    for DocumentError { position, problem } in errors {
        eprintln!("{}:{}:{}: {problem}", file.display(), position.line, position.column);
    }
    let plural = if errors.len() == 1 { "error" } else { "errors" };
    format!("{}: {} {plural}", file.display(), errors.len())
}

/// Calls the platform.
async fn call(port: &mut PlatformPort, command: Command) -> std::result::Result<Option<Reply>, Refusal> {
    match port.call(command).await {
        Outcome::Done => Ok(None),
        Outcome::Answered(reply) => Ok(Some(reply)),
        Outcome::Refused(refusal) => Err(refusal),
    }
}

async fn status(port: &mut PlatformPort) -> Result<Box<Status>> {
    match call(port, Command::GetStatus).await {
        Ok(Some(Reply::GetStatus(status))) => Ok(status),
        Ok(_) => Err("the platform does not report its status".into()),
        Err(refusal) => Err(format!("the platform does not report its status: {refusal}").into()),
    }
}

async fn order(port: &mut PlatformPort, command: Command) -> Result<()> {
    let kind = command.kind();
    call(port, command).await.map(|_| ()).map_err(|refusal| format!("{kind}: {refusal}").into())
}

/// Makes the platform ready in this motion mode. A platform that moves is refused.
async fn make_ready(port: &mut PlatformPort, options: &TaskOptions, mode: MotionMode) -> Result<()> {
    let mut before = status(port).await?;
    if before.operation_state.known() == Some(Operation::NotInitialized) {
        if !options.init {
            return Err("the platform is not initialized: use --init".into());
        }
        let end = dragoman_time::now() + SEARCH_TIME;
        while let Err(error) = order(port, Command::ConnectToPltf).await {
            if dragoman_time::now() > end {
                return Err(error);
            }
            dragoman_time::sleep(PERIOD).await;
        }
        order(port, Command::InitPltf).await?;
        before = status(port).await?;
    }
    if before.emergency_state.known() != Some(Emergency::Inactive) {
        return Err(format!("emergency stop: {:?}", before.emergency_state).into());
    }
    if before.operation_state.known() != Some(Operation::Ready) {
        let (operation, mode) = (before.operation_state, before.motion_mode);
        return Err(format!("the platform is {operation:?} in {mode:?}: stop it first").into());
    }
    order(port, Command::SetMode(SetMode { mode })).await
}
